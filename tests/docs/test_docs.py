"""The documentation is complete and current, and its examples work."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import doc_pages
import pytest
import windows_rules
from doc_pages import DOCS, HAND_WRITTEN, PAGES, ROOT, generator

from sentgen.corpus.formats import READERS
from sentgen.demo import TREEBANK
from sentgen.schema import Store, readonly

#: Lines of the tutorial that run by day.
_BY_DAY = 12
#: Lines of the tutorial that run by day if each is a process.
_PROCESSES_BY_DAY = 8
COMMANDS = {name: command for name, command, _ in generator.commands()}
LEAVES = sorted(name for name, command in COMMANDS.items() if not hasattr(command, "commands"))


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo treebank only, for the store of all commands."""
    shutil.copy(TREEBANK, tmp_path / "relief.conllu")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTGEN_DB", "relief.duckdb")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def _section(name: str) -> str:
    """Return the section of the reference on a command."""
    page = doc_pages.text(DOCS / "reference" / "cli.md")
    found = re.search(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_reference_has_every_command_with_every_option(name: str) -> None:
    """The generated page has all commands and options."""
    section = _section(name)
    options = [option for parameter in COMMANDS[name].params for option in parameter.opts]
    missing = [option for option in options if option.startswith("-") and option not in section]

    assert section
    assert not missing


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_and_argument_has_help(name: str) -> None:
    """Every option and argument has help."""
    unexplained = [
        parameter.name for parameter in COMMANDS[name].params if not getattr(parameter, "help", "")
    ]

    assert not unexplained


def own(words: list[str]) -> list[str]:
    """Return the words of a command line before `--`, after which another command follows."""
    return words[: words.index("--")] if "--" in words else words


@pytest.mark.parametrize("name", LEAVES)
def test_every_help_has_an_example_of_its_own_command(name: str) -> None:
    """The example in a help text calls that command, with options that exist."""
    found = re.search(r"Example: (.+)", COMMANDS[name].help or "")
    assert found, "add a line: Example: `sentgen ...`"

    examples = re.findall(r"`(.+?)`", found[1]) or [found[1]]
    known = {
        option
        for parameter in COMMANDS[name].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    for example in examples:
        words = own(shlex.split(example))
        used = {word for word in words if word.startswith("-") and word != "-"}

        assert words[: len(name.split())] == name.split()
        assert used <= known


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_is_in_a_hand_written_page(name: str) -> None:
    """A written page explains the purpose of each command, which the reference does not."""
    text = "\n".join(page.read_text("utf-8") for page in HAND_WRITTEN if page != ROOT / "CHANGELOG.md")

    assert re.search(rf"{re.escape(name)}\b", text)


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_format_is_in_the_page_on_ingestion(name: str) -> None:
    """The table of formats has a row for every reader."""
    assert f"| `{name}` |" in (DOCS / "ingest.md").read_text("utf-8")


@pytest.mark.parametrize("path", generator.parts(), ids=lambda path: path.name)
def test_the_generated_parts_are_current(path: Path) -> None:
    """The generated files are those that docs/generate_reference.py would write."""
    assert path.read_text("utf-8") == generator.parts()[path](), "run: python docs/generate_reference.py"


def test_options_of_methods_are_described_to_the_end() -> None:
    """The reference of Python has every line of a description that takes several in the docstring."""
    rows = re.findall(r"^\| `\w+` \| `.+` \| .*\| (.+) \|$", generator.python_page(), re.MULTILINE)

    assert len(rows) > 100
    assert [row for row in rows if not row.endswith(".")] == []


def test_the_tutorial_runs_and_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    """Every command of the tutorial succeeds with the output on the page; by day, only the first ones run."""
    doc_pages.checkout(tmp_path, monkeypatch)
    ran, enough = 0, 30 if nightly else _BY_DAY
    for command, code, output in doc_pages.follow((DOCS / "tutorial.md").read_text("utf-8"), monkeypatch):
        assert code == 0, f"{command.line}\n{output}"
        assert doc_pages.shows(command.output, output), f"{command.line}\n{output}"
        ran += 1
        if not nightly and ran == enough:
            break
    assert ran >= enough


@pytest.mark.nightly
def test_the_tutorial_runs_by_the_rules_of_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    """Each command is a process with a console of cp1252, which shows other characters as escapes."""
    doc_pages.checkout(tmp_path, monkeypatch)
    rules = windows_rules.environment(tmp_path / "rules")

    def run(line: str) -> tuple[int, str]:
        done = subprocess.run(shlex.split(line), capture_output=True, env=os.environ | rules, check=False)
        return done.returncode, (done.stdout + done.stderr).decode("cp1252").replace("\r\n", "\n")

    ran, page = 0, (DOCS / "tutorial.md").read_text("utf-8")
    for command, code, output in doc_pages.follow(page, monkeypatch, run):
        shown = command.output.encode("cp1252", "backslashreplace").decode("cp1252")
        assert code == 0, f"{command.line}\n{output}"
        assert doc_pages.shows(shown, output), f"{command.line}\n{output}"
        ran += 1
        if not nightly and ran == _PROCESSES_BY_DAY:
            break
    assert ran >= (30 if nightly else _PROCESSES_BY_DAY)


@pytest.mark.parametrize("name", ["python.md", "reference/api.md"])
def test_the_python_pages_run(workplace: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The examples of the Python API give the results on the pages."""
    monkeypatch.setenv("COLUMNS", "80")
    text = (DOCS / name).read_text("utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, None, 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)

    assert result.attempted > 20
    assert not result.failed


def test_the_queries_on_the_pages_run(workplace: Path) -> None:
    """Every SQL example passes the guard and names columns that exist."""
    Store("relief.duckdb", create=True).close()
    queries = [query for page in HAND_WRITTEN for query in doc_pages.queries(page.read_text("utf-8"))]
    for query in queries:
        readonly.query(Path("relief.duckdb"), query)

    assert queries


@pytest.mark.parametrize("page", doc_pages.by_day(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_resolve(page: Path) -> None:
    """Every relative link leads to a file, and its anchor to a heading."""
    for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(doc_pages.text(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page

        assert file.exists() or file in doc_pages.GENERATED, target
        assert not anchor or anchor in _anchors(file), target


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_on_the_pages_exist(page: Path) -> None:
    """A command line on a page names a command and options that exist."""
    for block in re.findall(
        r"^```(?:sh|console)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        for line in re.findall(r"^(?:\$ )?(sentgen .+)$", block, re.MULTILINE):
            words = own(shlex.split(line, comments=True))
            name = next((" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in COMMANDS), "")
            assert name in LEAVES or words[1].startswith("--"), line

            known = {o for p in COMMANDS[name].params for o in (*p.opts, *p.secondary_opts)}
            assert {word for word in words if re.match(r"--?[a-z]", word)} <= known | {"-h", "--help"}, line


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of the headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", doc_pages.text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
