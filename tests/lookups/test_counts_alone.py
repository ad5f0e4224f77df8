"""A counted lake has no sentences: questions that need them are refused, never answered without rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from counted_lake import counted_lake
from sqlalchemy import Connection
from typer.testing import CliRunner

import sentgen
from sentgen.cli import build
from sentgen.errors import NotFoundError
from sentgen.lookups.base.question import Question
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.schema import Store

VERBS = "pattern { V [upos=VERB] }"
REFUSED = "this lake holds counts, no sentences; ask it for n-grams"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with counts only."""
    return counted_lake(tmp_path_factory.mktemp("counted"))


@pytest.fixture
def opened(lake: Path) -> Iterator[Connection]:
    """The lake, opened for reading."""
    with Store(lake, read_only=True) as store, store.connect() as connection:
        yield connection


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    "question",
    [
        Kwic(pattern="camp"),
        Kwic(pattern="camp", count=True),
        Kwic(cql='[word="camp"]'),
        Match(request=VERBS),
        Match(request=VERBS, count=True),
        Match(request=VERBS, key=["V.lemma"]),
        Frequencies(),
        Frequencies(by=["lemma"]),
        Frequencies(by=["corpus"]),
        Frequencies(query="camp", corpus=["c"]),
        Collocations(word="camp"),
        Collocations(word="camp", dependency="*"),
        Collocations(cql='[word="camp"]'),
        Sketch(word="camp"),
        Ngrams(pattern="the", where="length > 2"),
        Dependencies(head="camp", where="length > 2"),
    ],
    ids=repr,
)
def test_what_needs_sentences_is_refused(question: Question, opened: Connection) -> None:
    """Concordances, requests, lists of tokens, collocations and conditions on metadata are refused."""
    with pytest.raises(NotFoundError, match=REFUSED):
        question.ask(opened)


@pytest.mark.parametrize(
    "question", [Ngrams(pattern="the *"), Dependencies(head="said"), Arguments(word="said")], ids=repr
)
def test_counts_are_answered(question: Question, opened: Connection) -> None:
    """N-grams, dependencies and arguments are answered from the counts."""
    assert question.ask(opened).rows.num_rows


@pytest.mark.parametrize(
    "words",
    [
        ("kwic", "camp"),
        ("kwic", "camp", "--limit", "0"),
        ("match", VERBS, "--conllu"),
        ("freq", "--query", "camp"),
        ("collocations", "camp"),
        ("sketch", "camp"),
    ],
)
def test_commands_end_with_one_line(words: tuple[str, ...], lake: Path) -> None:
    """Commands fail with an exit code that is not zero, and print nothing on standard output."""
    told = CliRunner().invoke(build(), [*words, "--db", str(lake)])

    assert told.exit_code == 1
    assert told.stdout == ""
    assert REFUSED in (told.stderr or str(told.exception))


def test_python_refuses_at_once(lake: Path) -> None:
    """Python refuses a question when it is asked, also one whose answer is computed later."""
    with sentgen.open(lake) as db:
        for ask in (lambda: db.kwic("camp"), lambda: db.match(VERBS), lambda: db.frequencies("lemma")):
            with pytest.raises(NotFoundError, match=REFUSED):
                ask()
