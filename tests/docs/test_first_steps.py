"""The first commands for newcomers work as written in the README and on the first pages."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import doc_pages
import pytest

from sentgen.server.operations import operations

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")
#: Pages that begin without an installation, and others that begin with one.
FROM_NOTHING = [ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md"]
FIRST = [*FROM_NOTHING, DOCS / "pages.md", ROOT / "CONTRIBUTING.md"]
ACTIVATE = "source .venv/bin/activate"


def blocks(page: str, language: str) -> list[str]:
    """Return the text of the blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def test_the_readme_runs_and_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of its first command, and all later commands, run in one shell with the output shown."""
    doc_pages.checkout(tmp_path, monkeypatch)
    environment, _, demo = blocks(README, "sh")[0].strip().rpartition("/bin/")
    code, output = doc_pages.run(demo)
    lines = iter(doc_pages.plain(output))

    assert (environment[-5:], code) == (".venv", 0)
    assert all(line in lines for line in doc_pages.plain(blocks(README, "text")[0]))

    ran = []
    for command, code, output in doc_pages.follow(README, monkeypatch):
        assert code == 0, f"{command.line}\n{output}"
        assert doc_pages.shows(command.output, output), f"{command.line}\n{output}"
        ran.append(command.line)
    assert ran[0] == ACTIVATE
    assert len(ran) > 8


def test_the_readme_is_short_and_shows_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The README is short, and its picture is one of those that are generated with the pages."""
    monkeypatch.syspath_prepend(str(DOCS))
    taken = importlib.import_module("page_pictures").PICTURES
    (picture,) = re.findall(r'<img src="(.+?)".* alt="\w.+?">', README)

    assert len(README.splitlines()) <= 90
    assert ROOT / picture in {one.file for one in taken if one.file.exists()}


def test_a_fresh_clone_runs_the_second_command_of_the_readme() -> None:
    """The second command runs in a fresh clone; .ci/run has the same steps, one a line."""
    steps = (ROOT / ".ci" / "run").read_text("utf-8").replace(" --quiet", "").splitlines()[-3:]

    assert " && ".join(steps) == blocks(README, "sh")[1].strip()


def test_sentgen_is_installed_by_one_command() -> None:
    """The command is the same, and the first one, on every page that begins without an installation."""
    first = {blocks(page.read_text("utf-8"), "sh")[0].strip() for page in FROM_NOTHING}

    assert {re.split(r" && .venv/bin/sentgen|\n", block)[0] for block in first} == {
        "python3 -m venv .venv && .venv/bin/pip install '.[all]'"
    }


@pytest.mark.parametrize("page", FIRST, ids=lambda page: page.name)
def test_a_fresh_shell_finds_what_is_typed(page: Path) -> None:
    """Until the environment is active, its commands are called by path."""
    typed = "".join(blocks(page.read_text("utf-8"), "(?:sh|console)"))
    early = typed.partition(ACTIVATE)[0]

    assert ".venv" in typed
    assert re.findall(r"^(?:\$ )?(?:sentgen|python|pip|mkdocs) .*", early, re.MULTILINE) == []


def test_what_has_no_page_is_named() -> None:
    """Operations of the API without a page are named."""
    pages = ROOT / "sentgen" / "server" / "pages"
    asked = "".join(path.read_text("utf-8") for path in pages.rglob("*") if path.suffix in (".py", ".j2"))
    answered = {**operations("lookup"), **operations("compute"), **operations("sql")}
    without = {name for name, one in answered.items() if one.api and f'"{name}"' not in asked}
    (said,) = re.findall(r"^(.*) have no page;", (DOCS / "pages.md").read_text("utf-8"), re.MULTILINE)

    assert set(re.findall(r"`(?:sentgen )?(\w+)`", said)) == without
