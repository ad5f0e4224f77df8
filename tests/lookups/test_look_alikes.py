"""A word of other characters that looks the same as a stored one is not found; the answer names the stored one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.schema import Store

#: Pairs of words: as stored, and as typed.
PAIRS = [
    ("e\u0301te\u0301", "\u00e9t\u00e9"),
    ("na\u00efve", "nai\u0308ve"),
    ("o\u2019clock", "o'clock"),
    ("cat's", "cat\u2019s"),
    ("e\ufb03cient", "efficient"),
    ("co\u00adop", "coop"),
    ("\u1112\u1161\u11ab", "\ud55c"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store of the words, each as form, lemma, and value of metadata."""
    folder = tmp_path_factory.mktemp("alike")
    path = folder / "a.conllu"
    row = "# genre = {0}\n1\t{0}\t{0}\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n2\tx\tx\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
    path.write_text("".join(row.format(stored) for stored, _ in PAIRS))
    with Store(folder / "store.duckdb", create=True) as made:
        ingest(made, [str(path)], Settings("c"))
        with made.connect() as connection:
            yield connection


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(("stored", "asked"), PAIRS, ids=ascii)
def test_the_answer_names_what_looks_the_same(store: Connection, stored: str, asked: str) -> None:
    """All questions about a word name the stored one, also for other capitals."""
    questions: list[Any] = [
        Kwic(pattern=asked),
        Kwic(pattern=asked.capitalize()),
        Kwic(pattern=f"lemma:{asked}"),
        Kwic(cql=f'"{asked}"%l'),
        Match(request=f'pattern {{ X [lemma="{asked}"] }}'),
        Ngrams(pattern=f"{asked} x"),
        Frequencies(pattern=f"{asked}*"),
        Collocations(word=asked),
        Sketch(word=asked),
        Dependencies(head=asked),
        Arguments(word=asked),
        Kwic(pattern="x", where=f'genre = "{asked}"'),
    ]

    for question in questions:
        answer = question.ask(store)
        assert answer.is_empty
        assert stored in answer.notes[0], question
        if "*" not in str(getattr(question, "pattern", "")):
            assert "(it looks the same, with" in answer.notes[0]
    assert Kwic(pattern=stored).ask(store).total == 1


def test_regular_expressions_are_compared_with_composed_letters(store: Connection) -> None:
    """A regular expression that matches no stored word is compared with composed letters."""
    for question in (Kwic(cql='"\u00e9.*"'), Match(request='pattern { X [form=re"\u00e9.*"] }')):
        assert "did you mean" in question.ask(store).notes[0]
        assert PAIRS[0][0] in question.ask(store).notes[0]
    assert Kwic(cql='"z.*"').ask(store).hints == ()


def test_what_is_found_is_not_commented(store: Connection) -> None:
    """A word that is found gets no note, nor does one with different letters."""
    assert Kwic(pattern="x").ask(store).notes == []
    assert "looks the same" not in "".join(Kwic(pattern="ete").ask(store).notes)
    assert unicodedata.normalize("NFC", PAIRS[0][0]) == PAIRS[0][1]
