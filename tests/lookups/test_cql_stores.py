"""Random queries over a store of several corpora, one of them removed, over its snapshot and its lake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import cast

import pytest
from cql_reference import Document, Multiword, Part, Sentence
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_queries import QUERIES, WORDS
from sqlalchemy import Connection
from test_cql_property import ROOMS, check_hits

from sentgen.counts import corpora
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import QueryError
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import DOCUMENT, SENTENCE
from sentgen.lookups.cql.dialects import Reading, Strategy
from sentgen.lookups.cql.search import Cql
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place
from sentgen.schema.snapshots import publish
from sentgen.schema.store import raw

PLACES = ("store", "snapshot", "lake")
#: Selections of sentences: corpora, a condition, and the highest length that meets it.
SELECTIONS: tuple[tuple[tuple[str, ...], str | None, int], ...] = (
    ((), None, 99),
    (("marked",), None, 99),
    (("trees",), None, 99),
    ((), "length < 4", 3),
    (("marked",), "length < 3", 2),
)


@dataclass(frozen=True)
class Stored:
    """A stored sentence, with its id, its corpus and its document."""

    number: int
    corpus: str
    document: int
    sentence: Sentence


def marked(rng: Random, documents: int) -> str:
    """Write a vertical file: paragraphs of sentences, and regions within these."""
    lines = list[str]()
    for _ in range(documents):
        lines.append("<doc>")
        for _ in range(rng.randint(1, 2)):
            lines.append(f'<p x="{rng.choice("abA")}"{_more(rng, "y")}>')
            for _ in range(rng.randint(1, 2)):
                lines += ["<s>", *_tokens(rng), *_region(rng), "</s>"]
            lines.append("</p>")
        lines.append("</doc>")
    return "\n".join(lines) + "\n"


def _region(rng: Random) -> list[str]:
    start = f'<q y="{rng.choice("ab")}"{_more(rng, "x")}>'
    return [start, *_tokens(rng), "</q>"] if rng.random() < 0.5 else []


def _more(rng: Random, name: str) -> str:
    """Return an attribute that not every region has."""
    return f' {name}="{rng.choice("ab")}"' if rng.random() < 0.5 else ""


def _tokens(rng: Random) -> list[str]:
    lines = list[str]()
    for i in range(rng.randint(1, 2)):
        lines += ["<g/>"] if i and rng.random() < 0.4 else []
        feats = rng.choice(("_", "Number=Sing", "Number=Plur|X=a"))
        lines.append(f"{rng.choice(WORDS)}\t{rng.choice((*WORDS, '_'))}\t{rng.choice('NV_')}\t{feats}")
    return lines


def trees(rng: Random, sentences: int) -> str:
    """Write CoNLL-U: sentences with multiword tokens, and tokens without a space behind them."""
    lines = list[str]()
    for number in range(sentences):
        lines += ["# newdoc"] if number % 2 == 0 else []
        size, whole = rng.randint(1, 4), 0
        for i in range(1, size + 1):
            if i > whole and i < size and rng.random() < 0.3:
                whole = min(i + rng.randint(1, 2), size)
                lines.append(f"{i}-{whole}\t{rng.choice(('a', 'ab', 'ba', 'Aab'))}" + "\t_" * 8)
            misc = "SpaceAfter=No" if i > whole and rng.random() < 0.4 else "_"
            lemma, upos = rng.choice((*WORDS, "_")), rng.choice("NV_")
            lines.append(f"{i}\t{rng.choice(WORDS)}\t{lemma}\t{upos}\t_\t_\t{i - 1}\tx\t_\t{misc}")
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[dict[str, Connection]]:
    """The store, its snapshot and its lake; files of corpora were added in turn, and one was removed."""
    folder, rng = tmp_path_factory.mktemp("stores"), Random(15)
    path = folder / "s.duckdb"
    path.write_bytes(empty_store.read_bytes())
    with Store(path) as store:
        for number, corpus in enumerate(("marked", "gone", "trees", "gone", "marked")):
            file = folder / (f"{number}.conllu" if corpus == "trees" else f"{number}.vrt")
            file.write_text(trees(rng, 9) if corpus == "trees" else marked(rng, 3))
            columns = None if corpus == "trees" else "word,lemma,upos,feats"
            ingest(store, [str(file)], Settings(corpus, columns=columns))
        corpora.remove(store, "gone")
        export(store, Place(folder / "lake"))
    there = path, publish(path, folder / "published").snapshot.path, folder / "lake"
    with ExitStack() as opened:
        stores = [opened.enter_context(Store(one, read_only=True)) for one in there]
        yield dict(zip(PLACES, [opened.enter_context(one.connect()) for one in stores], strict=True))


@pytest.fixture(scope="module")
def sentences(places: dict[str, Connection]) -> list[Stored]:
    """The sentences of the store, in order."""
    return list(read(places["store"]))


def read(connection: Connection) -> Iterator[Stored]:
    """Yield the sentences of a store."""
    duck = raw(connection)
    query = """
        select s.id, c.name, s.document_id from sentence s join corpus c on c.id = s.corpus_id order by s.id
    """
    rows = duck.execute(query).fetchall()
    made = {number: _sentence(connection, number) for number, _, _ in rows}
    for _, group in groupby(rows, key=lambda row: row[2]):
        numbers = [row[0] for row in group]
        made[numbers[0]].first, made[numbers[-1]].last = True, True
    query = """
        select sentence_id, place, kind, position, last_sentence_id, last_position
        from region where kind in ('p', 'q') order by sentence_id, place
    """
    for first, place, kind, start, last, end in duck.execute(query).fetchall():
        key = "select key, value from region_meta where sentence_id = $1 and place = $2"
        told = dict(duck.execute(key, [first, place]).fetchall())
        for number in [one for one in made if first <= one <= last]:
            begins, ends = number == first, number == last
            begin, behind = start - 1 if begins else 0, end if ends else len(made[number].words)
            part = Part(begin, behind, kind, told, begins, ends)
            cast(list[Part], made[number].parts).append(part)
    for number, corpus, document in rows:
        yield Stored(number, corpus, document, made[number])


def _sentence(connection: Connection, number: int) -> Sentence:
    duck = raw(connection)
    query = """
        select form, lemma, upos, feats, space_after from v_tokens where sentence_id = $1 order by position
    """
    rows = duck.execute(query, [number]).fetchall()
    words = []
    for row in rows:
        told = {name: one for name, one in zip(("word", "lemma", "upos", "feats"), row, strict=False) if one}
        features = dict(part.split("=") for part in told.get("feats", "").split("|") if part)
        words.append({**told, **features, "pos": told.get("upos", "")})
    query = "select first - 1, last, form from multiword where sentence_id = $1 order by all"
    multiwords = [Multiword(*row) for row in duck.execute(query, [number]).fetchall()]
    unspaced = [i for i, row in enumerate(rows) if row[4] is False]
    return Sentence(words, first=False, last=False, parts=[], multiwords=multiwords, unspaced=unspaced)


def test_there_is_something_to_find(sentences: Sequence[Stored], places: dict[str, Connection]) -> None:
    """The store has alternating corpora with a gap, regions over sentences, multiword tokens, missing spaces."""
    assert [name for name, _ in groupby(one.corpus for one in sentences)] == ["marked", "trees", "marked"]
    numbers = [one.number for one in sentences]
    assert numbers != list(range(numbers[0], numbers[0] + len(numbers)))
    assert any(not part.ends for one in sentences for part in one.sentence.parts)
    assert any(one.sentence.multiwords for one in sentences)
    assert any(one.sentence.unspaced for one in sentences)
    assert [len(list(read(one))) for one in places.values()] == [len(sentences)] * len(PLACES)


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=list(HealthCheck))
@given(
    QUERIES,
    st.sampled_from(("", "", " expand to p", " expand to s")),
    st.sampled_from(Strategy),
    st.sampled_from(SELECTIONS),
    st.booleans(),
    st.sampled_from(PLACES),
    st.sampled_from(ROOMS),
)
def test_the_statement_finds_what_the_definition_says(
    places: dict[str, Connection],
    sentences: Sequence[Stored],
    query: str,
    expanded: str,
    strategy: Strategy,
    selected: tuple[tuple[str, ...], str | None, int],
    across: bool,
    place: str,
    room: tuple[int, int],
) -> None:
    """Hits are those of the reference in all corpora, in one, and in some of their sentences."""
    names, condition, longest = selected
    # Across sentences, whole documents are searched, without a condition on sentences.
    condition, longest = (None, 99) if across else (condition, longest)
    selection = Selection.named(places[place], names, condition=condition)
    reading = Reading(strategy=strategy, across=across)
    try:
        cql = Cql.read(places[place], f"{query}{expanded}", selection, reading)
    except QueryError:
        assert names == ("trees",), "which has no regions"
        return
    if across and cql.extent is SENTENCE:
        cql = replace(cql, extent=DOCUMENT)
    asked = [
        one for one in sentences if (not names or one.corpus in names) and len(one.sentence.words) <= longest
    ]
    texts: list[tuple[int, Sentence]] = [(one.number, one.sentence) for one in asked]
    if across:
        documents = [list(group) for _, group in groupby(asked, key=lambda one: one.document)]
        texts = [(one[0].number, Document([each.sentence for each in one])) for one in documents]
    expected = [(number, *hit) for number, text in texts for hit in text.hits(cql.original, strategy)]

    check_hits(places[place], cql, expected, [room])
