"""All lookups that ignore case agree with Unicode's simple case folding, also in difficult alphabets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import Connection

from sentgen.case_folding import fold, fold_sql, plain, plain_text
from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

#: Sigmas, Turkish i, sharp s, ligatures, long s, Kelvin, titlecase digraphs, Cherokee, Georgian, marks.
_LETTERS = "ΣσςΆά" + "İiIı\u0307" + "ßẞsSſﬁ" + "kKK" + "ǅǆǄ" + "ᎠꭰᏰᏸ" + "აᲐⴀႠ" + "ΐΐµμΜ" + "xX"


def reference(word: str) -> str:
    """Return a word by simple case folding: the full folding of a letter, if that is one letter."""
    return "".join(next((f for f in (c.casefold(), c.lower()) if len(f) == 1), c) for c in word)


def _awkward_words() -> list[str]:
    draw = random.Random(39)
    words = ["".join(draw.choices(_LETTERS, k=draw.randint(1, 3))) for _ in range(150)]
    # Each word with its other spellings, which must be found together.
    return [one for word in words for one in (word, word.upper(), word.lower(), word.title())]


WORDS = _awkward_words()
ASKED = WORDS[::83]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store of the words as they are and lower-cased, as lines and in trees, there also as values of MISC."""
    folder = tmp_path_factory.mktemp("folding")
    lines, trees = folder / "a.lines", folder / "a.conllu"
    lines.write_text("".join(f"{word} a\n" for word in WORDS))
    trees.write_text(
        "".join(f"# as = {word}\n1\t{word}\t{word}\t_\t_\t_\t0\troot\t_\tAs={word}\n\n" for word in WORDS)
    )
    with Store(folder / "store.duckdb", create=True) as made:
        for name, path in (("lines", lines), ("trees", trees)):
            ingest(made, [str(path)], Settings(f"{name}"))
            ingest(made, [str(path)], Settings(f"{name}-lower", lowercase=True))
        with made.connect() as connection:
            yield connection


def _hits(question: Kwic | Match, connection: Connection) -> int:
    return int(question.ask(connection).total or 0)


def test_every_letter_is_folded_as_by_unicode() -> None:
    """Python, SQL and the flag of RE2 agree on which letters are the same."""
    # Without letters newer than the oldest Unicode version in use, as libraries have different versions.
    letters = [chr(n) for n in range(1, 0x10D50) if not 0xD800 <= n < 0xE000 and not 0x1C89 <= n <= 0x1C8A]
    letters = [one for one in letters if not 0xA7CB <= ord(one) <= 0xA7DC]
    cased = [one for one in letters if {one.lower(), one.upper(), one.casefold()} != {one}]
    duck = duckdb.connect()
    asked = f"select {fold_sql('one')}, {plain('one')} from (select unnest($1) as one)"
    told = duck.execute(asked, [cased]).fetchall()
    classes = duck.execute(
        "select regexp_extract_all($1, one, 0, 'i') from (select unnest($2) as one)", ["".join(cased), cased]
    ).fetchall()

    assert told == [(fold(one), plain_text(one)) for one in cased]
    by_fold = Counter(map(fold, cased))
    assert len(by_fold) == len(set(map(reference, cased)))
    for letter, (alike,) in zip(cased, classes, strict=True):
        assert {reference(one) for one in alike} == {reference(letter)}, letter
        assert len(alike) == by_fold[fold(letter)]


def test_words_are_folded_alike_in_python_and_sql() -> None:
    """Python and SQL fold a final sigma in the same way, whatever characters are around it."""
    words = [*WORDS, "ΟΔΟΣ ΟΔΟΣ", "ΣΣ\nΣ", "5Σ", "Σ.", "Ά\u0301Σ", "", "a\tΑΣ"]
    query = f"select {fold_sql('one')}, {fold_sql('(select one)')} from (select unnest($1) as one)"
    found = duckdb.connect().execute(query, [words]).fetchall()

    assert found == [(fold(word), fold(word)) for word in words]
    assert [fold(word) for word in ("ΟΔΟΣ", "οδοσ", "οδος", "Σ", "5Σ")] == ["οδος", "οδος", "οδος", "σ", "5σ"]
    assert all(reference(fold(word)) == reference(word) for word in words)


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("word", ASKED)
def test_all_ways_to_ignore_case_find_the_same(store: Connection, word: str) -> None:
    """%c, (?i), the option, patterns with a star, lower-cased corpora and Grew find as many as the reference."""
    alike = sum(reference(one) == reference(word) for one in WORDS)
    begin = sum(reference(one).startswith(reference(word)) for one in WORDS)
    name = {"form": f"/{word}/i", "lemma": f"/{word}/i", "As": f"/{word}/i"}
    exact = [
        *(Kwic(cql=f'"{word}"{flag}', corpus=[corpus]) for flag in ("%c", "") for corpus in ("lines-lower",)),
        Kwic(cql=f'"{word}"%c', corpus=["lines"]),
        Kwic(cql=f'"(?i){word}"', corpus=["lines"]),
        Kwic(cql=f'"({word})"%c', corpus=["lines"]),
        Kwic(cql=f'"{word}"', corpus=["lines"], ignore_case=True),
        Kwic(cql=f'[lemma="{word}"%c]', corpus=["trees"]),
        Kwic(cql=f'[As="{word}"%c]', corpus=["trees"]),
        Kwic(cql=f'[] :: match.as="{word}"%c', corpus=["trees"]),
        Kwic(pattern=word, corpus=["lines"], ignore_case=True),
        Kwic(pattern=word, corpus=["lines-lower"]),
        Kwic(pattern=f"lemma:{word}", corpus=["trees-lower"]),
        *(Match(request=f"pattern {{ X [{key}={value}] }}", corpus=["trees"]) for key, value in name.items()),
        Match(request=f'pattern {{ X [form="{word}"] }}', corpus=["trees"], ignore_case=True),
        Match(request=f'pattern {{ X [form="{word}"] }}', corpus=["trees-lower"]),
        Match(request=f'pattern {{ X [form=re"{word}"] }}', corpus=["trees-lower"]),
    ]
    parts = [
        Kwic(pattern=f"{word}*", corpus=["lines"], ignore_case=True),
        Kwic(pattern=f"{word}*", corpus=["lines-lower"]),
        Kwic(cql=f'"{word}.*"%c', corpus=["lines"]),
        Kwic(cql=f'"{word}.*"', corpus=["lines-lower"]),
    ]

    assert {str(one): _hits(one, store) for one in exact} == {str(one): alike for one in exact}
    assert {str(one): _hits(one, store) for one in parts} == {str(one): begin for one in parts}


@pytest.mark.parametrize("corpus", ["lines", "trees"])
def test_lists_are_those_of_a_lower_cased_corpus(store: Connection, corpus: str) -> None:
    """Frequency lists and n-grams, of lines and of trees, have the folded words of the store."""
    counts = Counter(map(fold, WORDS))
    for question in (Ngrams(pattern="*", limit=0), Frequencies(limit=0)):
        asked = (
            replace(question, corpus=[corpus], ignore_case=True),
            replace(question, corpus=[f"{corpus}-lower"]),
        )
        found = [one.ask(store).table.to_pylist() for one in asked]

        assert found[0] == found[1]
        told = {one.get("w1", one.get("word")): one["count"] for one in found[0]}
        assert {word: told[word] for word in counts} == counts


def test_surface_words_are_lower_cased(tmp_path: Path) -> None:
    """A word of several tokens is found in a lower-cased corpus as its tokens are."""
    path = tmp_path / "a.conllu"
    path.write_text(
        "1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\tde\t_\t_\t_\t0\troot\t_\t_\n2\tle\tle\t_\t_\t_\t1\tdet\t_\t_\n\n"
    )
    with Store(tmp_path / "store.duckdb", create=True) as made:
        ingest(made, [str(path)], Settings("lower", lowercase=True))
        with made.connect() as connection:
            assert _hits(Kwic(pattern="DU", corpus=["lower"]), connection) == 1
