"""Extras: commands that need a missing package name it in one line, and all others run without it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, Sentgen, Told, refused

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
#: Modules of the packages that extras install, and of those that they bring; not pydantic, which Typer brings.
OPTIONAL = (
    *("fastapi", "starlette", "uvicorn", "uvloop", "httptools", "h11", "segno", "ifaddr"),
    *("sacrebleu", "lxml"),
    *("matplotlib", "ufal", "spacy", "stanza", "wn", "dask", "distributed", "fsspec", "mcp", "anyio"),
    *("pypdfium2", "python_calamine"),
)
TREEBANK = ROOT / "sentgen" / "demo" / "relief.conllu"
EXPERIMENT = ("--test", TREEBANK, "--model", "pets", "--algorithms", "lmo")


def without(modules: tuple[str, ...], *words: object) -> Told:
    """Run a command where these modules are not installed."""
    code = """
import sys
modules, sys.argv = sys.argv[1], ["sentgen", *sys.argv[2:]]
sys.modules.update(dict.fromkeys(modules.split(",")))
from sentgen.cli import program
program()
"""
    command = [sys.executable, "-c", code, ",".join(modules), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return Told(done.returncode, done.stdout, done.stderr)


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("module", "extra", "words"),
    [
        ("fsspec", "cluster", ("ngrams", "the *", "--db", "s3://bucket/lake")),
        ("fastapi", "server", ("serve",)),
        ("uvicorn", "server", ("serve",)),
        ("segno", "server", ("serve", "--class")),
        ("ifaddr", "server", ("serve", "--class")),
        ("mcp", "mcp", ("mcp",)),
        ("sacrebleu", "evaluate", ("evaluate", "regeneration", *EXPERIMENT)),
        ("sacrebleu", "evaluate", ("reproduce", "wan2009", "--ptb", "wsj")),
        ("matplotlib", "plots", ("evaluate", "regeneration", *EXPERIMENT, "--report", "report")),
        ("matplotlib", "plots", ("align", "model", "best", "--plot", "jumps.svg")),
        ("matplotlib", "plots", ("kwic", "dog", "--plot", "f.svg")),
        ("ufal", "udpipe", ("parser", "run", TREEBANK, "--parser", "udpipe:x")),
        ("spacy", "spacy", ("parser", "run", TREEBANK, "--parser", "spacy:x")),
        ("stanza", "stanza", ("parser", "run", TREEBANK, "--parser", "stanza:x")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(str, value[:2])),
)
def test_missing_packages_are_named(
    module: str, extra: str, words: tuple[object, ...], filled: Sentgen, tmp_path: Path
) -> None:
    """One line, with a command that installs what is missing; nothing was done before."""
    folder = tmp_path / "wsj"
    folder.mkdir()
    for name in ("wsj_0100.mrg", "wsj_0180.mrg"):
        (folder / name).write_text("( (S (NP (DT the) (NN dog)) (VP (VBD slept)) (. .)) )\n")
    if words[0] == "align":
        (tmp_path / "text.txt").write_text("The dog chased a cat .\n")
        assert filled("pairs", "ingest", "text.txt", "text.txt", "--corpus", "pairs").code == 0
        training = ("--pairs", "pairs", "--model", "best", "--iterations", "1")
        assert filled("align", "train", *training).code == 0

    refused(without((module,), *words), "is not installed", f"pip install 'sentgen[{extra}]'")

    distributions = {re.split(r"[\[.>=]", line)[0] for line in EXTRAS[extra]}
    assert module in distributions
    assert [path.name for path in tmp_path.iterdir() if path.name in ("report", "jumps.svg")] == []


@pytest.mark.slow
def test_all_others_do_without(filled: Sentgen, tmp_path: Path, nightly: bool) -> None:
    """No other command imports a package of an extra."""
    (tmp_path / "text.txt").write_text("The dog chased a cat .\nThe cat saw the dog .\n")
    (tmp_path / "gold.txt").write_text("The dog sat . ||| A dog sat . ||| 1-1 2-2 3-3\n")
    texts = ("align", "text", "--document", "text.txt", "--abstract", "text.txt")
    commands: list[tuple[object, ...]] = [
        ("demo",),
        ("ngrams", "the *"),
        ("score", "--model", "pets", "the dog saw a cat ."),
        ("regenerate", "--model", "pets", "--algorithm", "ab", "--tree", "[the dog] chased [the cat] ."),
        ("generate", "pets.conllu", "--lengths", "4"),
        ("fuse", "relief-002-1", "--with", TREEBANK),
        ("check", "pets.conllu", "--against", "pets.conllu", "--html", "check.html"),
        (*texts, "--html", "text.html"),
        (*texts, "--system", "hmm"),
        ("evaluate", "alignment", "--gold", "gold.txt", "--format", "pharaoh", "--systems", "hmm,pbhmm"),
        ("evaluate", "--help"),
        ("serve", "--help"),
        ("db", "check"),
    ]

    code = """
import contextlib, io, json, sys
modules, commands = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(modules))
from sentgen import never_loaded
from sentgen.cli import main
never_loaded.refuse_pandas()  # as the program does
failed = []
for words in commands:
    sys.argv = ["sentgen", *words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main()
        except SystemExit as end:
            if end.code:
                failed.append([words, end.code, said.getvalue()])
json.dump(failed, sys.stdout)
"""
    chosen = commands if nightly else commands[2:3]
    given = json.dumps([OPTIONAL, [list(map(str, words)) for words in chosen]])
    done = subprocess.run([sys.executable, "-c", code, given], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == []


def test_the_documentation_names_all_extras() -> None:
    """With what they bring, on the page about installing."""
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}

    assert set(EXTRAS) <= told


def test_modules_of_all_extras_are_blocked() -> None:
    """An extra that is added is tried here, too; `all` has all but large parsers, data frames and WordNet."""
    names = {extra for extra in EXTRAS if extra not in ("all", "docs", "test", "bench", "release")}
    distributions = {re.split(r"[\[.>=;]", line)[0] for extra in names for line in EXTRAS[extra]}
    modules = {one.replace("python-calamine", "python_calamine") for one in distributions}

    # Data frames are for Python alone (tests/api); Arrow takes a pandas that is blocked for one that is there.
    assert modules - {"sentgen", "pydantic", "pydantic-core", "pandas", "polars"} <= set(OPTIONAL)
    (everything,) = EXTRAS["all"]
    assert (
        everything
        == f"sentgen[{','.join(sorted(names - {'spacy', 'stanza', 'pandas', 'polars', 'wordnet'}))}]"
    )
