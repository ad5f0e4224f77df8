"""A large store is searched block by block: the answers are those of a search in one block."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.base import tokens
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.statistics.frequencies import By, Frequencies
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

ORDERS = ("none", "left", "right", "1L,2L", "-node%c,1R", "document,-1L,left", "length")

#: Few words, so that sequences repeat; some in two spellings.
WORDS = ("a", "A", "b", "B", "ab", "c", "d", "rare")
WEIGHTS = (20, 5, 15, 2, 8, 6, 4, 1)
TAGS = ("NOUN", "VERB")
#: Corpus to the highest order of n-grams that is counted, and whether it is lower-cased.
CORPORA = {"whole": (5, False), "pairs": (2, False), "low": (3, True)}


def write(folder: Path, rng: random.Random) -> list[str]:
    """Write random sources, lines and trees."""
    for number in range(3):
        sentences = [rng.choices(WORDS, WEIGHTS, k=rng.randint(1, 9)) for _ in range(rng.randint(1, 14))]
        trees = number % 2
        path = folder / f"{number}.{'conllu' if trees else 'lines'}"
        with path.open("w") as sink:
            for place, words in enumerate(sentences):
                if not trees:
                    sink.write(" ".join(words) + "\n")
                    continue
                sink.write(f"# newdoc id = {number}-{place}\n" if place % 4 == 0 else "")
                for position, word in enumerate(words, 1):
                    head, relation = (1, "dep") if position > 1 else (0, "root")
                    row = (position, word, word.lower(), rng.choice(TAGS), "_", "_", head, relation, "_", "_")
                    sink.write("\t".join(map(str, row)) + "\n")
                sink.write("\n")
    return [str(path) for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def connections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Connection]]:
    """Two random stores."""
    opened = []
    for seed in range(2):
        rng, path = random.Random(seed), tmp_path_factory.mktemp("large") / "s.duckdb"
        with Store(path, create=True) as store:
            for corpus, (order, lowercase) in CORPORA.items():
                paths = write(tmp_path_factory.mktemp(corpus), rng)
                ingest(store, paths, Settings(corpus, order=order, lowercase=lowercase))
        opened.append(Store(path, read_only=True))
    connected = [store.engine.connect() for store in opened]
    yield connected
    for connection, store in zip(connected, opened, strict=True):
        connection.close()
        store.close()


@contextmanager
def as_if_large() -> Iterator[None]:
    """Lower all bounds, so that a small store exceeds them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "SIZE", 20)
        patch.setattr(line_search, "LINES", 3)
        patch.setattr(line_search, "TOKENS", 9)
        yield


def told(answer: Answer) -> tuple[Any, ...]:
    """Return all parts of an answer that a user sees."""
    return answer.table.to_pylist(), answer.total, answer.truncated, answer.notes, answer.query.with_values()


PATTERNS = st.lists(
    st.sampled_from([*WORDS, "a", "b", "*", "a*", "?b", "none", "b/NOUN", "lemma:a", "upos:VERB"]),
    min_size=1,
    max_size=6,
).filter(lambda words: set(words) != {"*"})
ASKED = {
    "corpus": st.sampled_from([[], ["whole"], ["pairs", "whole"], ["low"]]),
    "ignore_case": st.booleans(),
    "limit": st.sampled_from([0, 1, 2, 5, 20]),
}


@settings(max_examples=settings.default.max_examples // 5)
@given(
    number=st.integers(0, 1),
    words=PATTERNS,
    order=st.sampled_from(ORDERS),
    seed=st.none() | st.integers(0, 3),
    placed=st.booleans(),
    asked=st.fixed_dictionaries(ASKED),
)
@example(0, ["rare", "lemma:a"], "none", None, False, {"limit": 2})
@example(0, ["a", "*"], "none", None, False, {"limit": 2})
@example(0, ["upos:VERB"], "left", None, False, {"limit": 10})
@example(0, ["*", "a"], "none", None, False, {"limit": 0})
@example(0, ["a", "*", "b"], "left", 1, False, {"limit": 2})
def test_concordances(
    connections: list[Connection],
    number: int,
    words: list[str],
    order: str,
    seed: int | None,
    placed: bool,
    asked: dict[str, Any],
) -> None:
    connection = connections[number]

    def answer() -> Answer:
        question = Kwic(pattern=" ".join(words), sort=order, random=seed, context=2, **asked)
        return question.lines(connection, placed=placed)

    whole = answer()
    with as_if_large():
        assert told(answer()) == told(whole)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    number=st.integers(0, 1),
    by=st.sampled_from([By.WORD, By.WORD, By.LEMMA, By.UPOS]),
    pattern=st.sampled_from(["*", "*", "a*", "a", "A", "NOUN", "none"]),
    asked=st.fixed_dictionaries(ASKED),
)
def test_frequencies(
    connections: list[Connection], number: int, by: By, pattern: str, asked: dict[str, Any]
) -> None:
    def answer() -> tuple[Any, ...]:
        rows, *others = told(Frequencies(by=[by], pattern=pattern, **asked).ask(connections[number]))
        # Sums of floats depend on the order.
        sums = ("dp", "juilland_d")
        return [
            row | {name: row[name] and pytest.approx(row[name]) for name in sums} for row in rows
        ], *others

    whole = answer()
    with as_if_large():
        assert answer() == whole


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("corpora", [(), ("whole",), ("low", "pairs")])
def test_words_are_counted_as_tokens_are(
    connections: list[Connection], corpora: tuple[str, ...], ignore_case: bool
) -> None:
    """Unigram counts agree with simple SQL that counts tokens and documents."""
    of = f"where c.name in {(*corpora, '')}" if corpora else ""
    form = "lower(w.form)" if ignore_case else "w.form"
    query = f"""
        select {form} as word, count(*) as count, count(distinct s.document_id) as documents
        from token t
        join word w on w.id = t.word_id
        join sentence s on s.id = t.sentence_id
        join corpus c on c.id = t.corpus_id
        {of}
        group by all
        order by count desc, word
    """
    for connection in connections:
        found = Frequencies(corpus=corpora, ignore_case=ignore_case, limit=0).ask(connection).table
        assert (
            found.select(["word", "count", "documents"]).to_pylist()
            == fetch_arrow(connection, query).to_pylist()
        )
        assert found["coverage"].to_pylist()[-1] == pytest.approx(1)


def test_one_document_has_no_dispersion(tmp_path: Path) -> None:
    """With one document, dispersion is null."""
    (tmp_path / "one.lines").write_text("a b a\nb a\n")
    with Store(tmp_path / "one.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "one.lines")], Settings("one"))
        with store.connect() as connection:
            answer = Frequencies().ask(connection)

    of_one = {"documents": 1, "dp": None, "juilland_d": None, "document_share": 1}
    assert answer.table.to_pylist() == [
        {"word": "a", "count": 3, "per_million": 6e5, "coverage": 0.6} | of_one,
        {"word": "b", "count": 2, "per_million": 4e5, "coverage": 1.0} | of_one,
    ]
