"""`--sort` and `--offset` say which rows of how many are shown; what is not there is one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sentgen.cli import build

REQUEST = "pattern { V -[nsubj]-> S }"


@pytest.fixture(scope="module")
def asked(relief: Path) -> Callable[..., Result]:
    """Ask the demo treebank."""
    return lambda *words: CliRunner().invoke(build(), [*words, "--db", str(relief)])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["freq", "--sort", "-documents", "-n", "3"], "3 of 693 rows (--limit 0 for all)"),
        (["freq", "--offset", "4", "-n", "3"], "rows 5 to 7; there are more (--limit 0 for all)"),
        (["kwic", "camp", "--offset", "4", "-n", "3"], "5 to 7 of 13 lines (--limit 0 for all)"),
        (["match", REQUEST, "--key", "V.lemma", "--sort", "V.lemma", "-n", "2"], " rows (--limit 0 for all)"),
        (["match", REQUEST, "--offset", "2", "-n", "2"], "3 to 4 of "),
    ],
)
def test_the_last_line_says_which_rows_these_are(
    words: list[str], told: str, asked: Callable[..., Result]
) -> None:
    """With the total number, if all rows were counted."""
    result = asked(*words)
    assert result.exit_code == 0
    assert told in result.stderr


def test_all_lines_behind_others_are_written(asked: Callable[..., Result]) -> None:
    """Without a limit, those that are left."""
    every, rest = (asked("kwic", "camp", "-n", "0", "--csv", *words) for words in ([], ["--offset", "10"]))
    assert rest.stdout.splitlines()[1:] == every.stdout.splitlines()[11:]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["freq", "--sort", "cuont"], "no column 'cuont' to sort by; did you mean count?"),
        (["freq", "--offset", "9999"], "--offset 9999 leaves out all there is, 693 rows; give a smaller one"),
        (["kwic", "camp", "--random", "1", "--offset", "1"], "give --sample N instead"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(
    words: list[str], told: str, asked: Callable[..., Result]
) -> None:
    """A wrong column, offset or combination prints nothing but the error."""
    result = asked(*words)
    assert result.exit_code != 0
    assert result.stdout == ""
    # What a mistake in an option says has a frame; others are told by `main`.
    assert told in f"{result.exception} {' '.join(result.stderr.replace('│', ' ').split())}"
