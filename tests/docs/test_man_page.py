"""The manual page: nothing is missing, and roff shows every character as it is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import doc_pages
import pytest
from doc_pages import DOCS, ROOT
from typer.main import get_command

from sentgen.cli import build
from sentgen.cli.commands import COMMANDS

TEXT = doc_pages.text(DOCS / "man" / "sentgen.1")


def test_every_command_has_a_section() -> None:
    """Every command, and every command of a group, has a section."""
    names = [
        name for one in COMMANDS for name in (one.name, *(f"{one.name} {two.name}" for two in one.commands))
    ]
    titles = re.findall(r'^\.SS "sentgen (.+)"$', TEXT.replace(r"\-", "-"), re.MULTILINE)

    assert sorted(titles) == sorted(names)


def test_an_option_of_many_commands_is_told_once() -> None:
    """An option of many commands is described once, and each of these commands names it."""
    plain = TEXT.replace(r"\-", "-").replace(r"\fB", "").replace(r"\fR", "")
    commands, _, common = plain.partition(".SH COMMON OPTIONS")
    kwic = commands.partition('.SS "sentgen kwic"')[2].partition(".SS")[0]

    assert "\n--parquet FILE\n" in common
    assert "\n--parquet FILE\n" not in commands
    assert re.search(r"^Also .*--parquet.*: see COMMON OPTIONS\.$", kwic, re.MULTILINE)


def test_every_variable_of_the_environment_is_there() -> None:
    """Every environment variable that the code reads is described."""
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "sentgen").rglob("*.py"))
    variables = set(re.findall(r"\bSENTGEN_[A-Z_]*[A-Z]\b", code))

    assert "SENTGEN_DB" in variables
    assert {name for name in variables if name not in TEXT} == set()


def test_help_is_shown_as_it_is() -> None:
    """Quotes, backslashes and hyphens are unchanged, so that text can be copied from the page."""
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("no groff; apt-get install groff")
    shown = subprocess.run(
        [groff, "-man", "-Tutf8", "-Kutf8", "-P-cbou", "-rLL=4000n", "-ww"],
        input=TEXT,
        capture_output=True,
        text=True,
    )
    ngrams = get_command(build()).commands["kwic"].help.partition("Example: ")[2].replace("`", "")  # type: ignore[attr-defined]

    assert shown.stderr == ""
    assert ngrams in shown.stdout


def test_examples_of_what_makes_pages() -> None:
    """The examples in docstrings hold."""
    modules = [str(path) for path in DOCS.glob("*.py") if ">>> " in path.read_text("utf-8")]
    ran = subprocess.run([sys.executable, "-m", "doctest", *modules], capture_output=True, text=True)

    assert len(modules) > 1
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
