"""Counts in arrays: their rows are those of the shown statement in plain DuckDB, in the same order."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_queries import TOKENS
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.base import tokens
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.cql.dialects import Strategy
from sentgen.lookups.statistics import hit_counts, listed_tokens
from sentgen.lookups.statistics.collocations import CollocateUnit, Collocations
from sentgen.lookups.statistics.frequencies import By, Frequencies
from sentgen.lookups.statistics.measures import Measure
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.schema import Store
from sentgen.schema.store import raw

#: Forms that differ in case, that mean a missing value, or that are equal when joined with others.
FORMS = ("a", "b", "A", "_", "a b", "ä", "Ä", "10", "2.5")
#: Relations of links through prepositions in all annotation schemes, of function words, and none.
RELATIONS = (
    *("obl", "nmod", "nmod:poss", "case", "case", "fixed", "conj", "comp:obj", "pobj", "obj", "obj", "det"),
    *("nsubj:pass", "_"),
)
KEYS = (
    *("word", "lemma", "upos", "pos", "tag", "feats", "Number", "X", "Score", "genre", "mood", "document"),
    *("corpus", "length", "sent_id", "p.x", "q.y"),
)
#: Keys with labels; metadata are those of the hit, or of a label.
LABELLED = ("x.word", "x.lemma", "x.pos", "y.word", "y.Score", "match.genre", "y.mood", "matchend.word")


def sentence(rng: random.Random, number: int) -> str:
    """Return a sentence in CoNLL-U."""
    told = [f"# sent_id = s{number}"]
    if number % 4 == 0:
        told = [f"# newdoc id = d{number % 20}", f"# meta::genre = {rng.choice('fgG')}", *told]
    if rng.random() < 0.6:
        told.append(f"# mood = {rng.choice('uv')}")
    rows = []
    size = rng.randint(1, 7)
    order = rng.sample(range(1, size + 1), size)
    heads = {one: rng.choice(order[:n]) if n else 0 for n, one in enumerate(order)}
    for place in range(1, size + 1):
        lemma, upos, xpos = (
            rng.choice((*FORMS, "_")),
            rng.choice(("N", "V", "ADP", "_")),
            rng.choice(("N", "VB", "_")),
        )
        feats = rng.choice(("_", "Number=Sing", "Number=Plur|X=a", "X=a"))
        misc = rng.choice(("_", "_", "Score=1.5", "Score=3|Y=b", "Score=_"))
        head = heads[place]
        deprel = rng.choice(RELATIONS) if head else "root"
        row = (place, rng.choice(FORMS), lemma, upos, xpos, feats, head, deprel, "_", misc)
        rows.append("\t".join(map(str, row)))
    return "\n".join([*told, *rows]) + "\n\n"


@pytest.fixture(scope="module")
def random_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Two corpora of random sentences, in documents and regions."""
    folder, rng = tmp_path_factory.mktemp("arrays"), random.Random(40)
    with Store(folder / "s.duckdb", create=True) as store:
        for name in ("one", "two"):
            text = "".join(sentence(rng, number) for number in range(30))
            (folder / f"{name}.conllu").write_text(text, "utf-8")
            ingest(store, [str(folder / f"{name}.conllu")], Settings(name))
        with store.begin() as opened:
            mark(raw(opened))
            yield opened


def mark(duck: duckdb.DuckDBPyConnection) -> None:
    """Put regions into sentences: one in another, and one that goes on into the next sentence."""
    rows = duck.execute(
        "select s.corpus_id, s.id, s.length, n.id, n.length from sentence s"
        " left join sentence n on n.id = s.id + 1 and n.document_id = s.document_id order by s.id"
    ).fetchall()
    for corpus, number, length, after, behind in rows:
        if number % 3:
            end = (after, behind) if after and number % 3 == 1 else (number, length)
            duck.execute("insert into region values (?, ?, 1, 'p', 1, ?, ?)", [corpus, number, *end])
            duck.execute(
                "insert into region_meta values (?, ?, 1, 'x', ?)", [corpus, number, "ab"[number % 2]]
            )
        if number % 2:
            values = [corpus, number, "pq"[number % 3 == 0], min(length, 2), number, length]
            duck.execute("insert into region values (?, ?, 2, ?, ?, ?, ?)", values)
            duck.execute(
                "insert into region_meta values (?, ?, 2, 'y', ?)", [corpus, number, "cd"[number % 5 == 0]]
            )


def shown(connection: Connection, answer: Answer, loose: tuple[str, ...] = ()) -> None:
    """Compare rows with the shown statement; ``loose`` columns are differences of nearly equal numbers."""
    expected = answer.query.run(connection)
    found = answer.table
    assert found.column_names == expected.column_names
    if found.num_rows:
        assert found.schema.types == expected.schema.types
    for name in found.column_names:
        one, other = found[name].to_pylist(), expected[name].to_pylist()
        if pa.types.is_floating(found.schema.field(name).type):
            # A difference of nearly equal numbers has few exact digits.
            near = 1e-6 if name in loose else 1e-12
            told = [
                (x, pytest.approx(y, rel=near, abs=near))
                for x, y in zip(one, other, strict=True)
                if y is not None
            ]
            assert [x is None for x in one] == [y is None for y in other], name
            assert all(x == y for x, y in told), name
        else:
            assert one == other, name


QUERIES = st.one_of(
    TOKENS,
    st.tuples(TOKENS, TOKENS).map(" ".join),
    st.tuples(TOKENS, st.sampled_from(("?", "*", "{1,3}"))).map("".join),
    st.sampled_from(("a *", "a/N", "lemma:b", "[] within <p/>", '"none" []')),
)
WITH_LABELS = st.tuples(TOKENS, TOKENS, TOKENS).map(
    lambda one: f"(x:{one[0]} {one[1]}? y:{one[2]} | y:{one[1]} x:{one[0]})"
)
ASKED = st.one_of(
    st.tuples(QUERIES, st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True)),
    st.tuples(
        WITH_LABELS, st.lists(st.sampled_from((*KEYS, *LABELLED)), min_size=1, max_size=3, unique=True)
    ),
)
COMMON = st.fixed_dictionaries(
    {
        "ignore_case": st.booleans(),
        "across": st.booleans(),
        "corpus": st.sampled_from(([], [], ["one"], ["two", "one"])),
        "where": st.sampled_from((None, None, "mood = u", "genre in (f, G)", "length > 3")),
        "filter": st.sampled_from(([], [], ['"b" in 3'])),
        "limit": st.sampled_from((0, 0, 1, 3)),
    }
)


@settings(max_examples=settings.default.max_examples // 5, suppress_health_check=list(HealthCheck))
@given(
    ASKED,
    COMMON,
    st.sampled_from((None, None, "p", "q")),
    st.sampled_from((None, None, None, "Score", "length", "lemma")),
    st.sampled_from((None, *Strategy)),
    st.sampled_from((0, hit_counts.HELD)),
    st.sampled_from((20, tokens.SIZE)),
)
def test_frequencies_are_those_of_the_statement(
    random_store: Connection,
    asked: tuple[str, list[str]],
    common: dict[str, object],
    parts: str | None,
    mean: str | None,
    strategy: Strategy | None,
    held: int,
    size: int,
) -> None:
    """Random queries by random keys, over documents and regions, also as if blocks or groups were many."""
    query, by = asked
    question = Frequencies(query=query, by=by, parts=parts, mean=mean, strategy=strategy, **common)  # type: ignore[arg-type]
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hit_counts, "HELD", held)
            patch.setattr(tokens, "SIZE", size)
            answer = question.ask(random_store)
    except InputError:  # never a number, or a pattern that matches everywhere
        return
    shown(random_store, answer, ("juilland_d", "mean", "mean_low", "mean_high"))


@pytest.mark.parametrize("by", [["word"], ["a.word"], ["genre"], ["word", "match.document"]])
def test_no_hits_make_no_rows(random_store: Connection, by: list[str]) -> None:
    """A query without hits gives no rows, by any keys and for hits of any length."""
    answer = Frequencies(query='a:"none" []', by=by).ask(random_store)

    assert not answer.table.num_rows
    shown(random_store, answer)


@settings(max_examples=settings.default.max_examples // 4, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(By),
    st.sampled_from(("*", "*", "a", "A*", "*b*", "?", "ä", "N", "V*", "dep", "none")),
    COMMON.map(lambda common: common | {"filter": []}),
    st.sampled_from((0, 8)),
)
def test_lists_are_those_of_the_statement(
    random_store: Connection, by: By, pattern: str, common: dict[str, object], many: int
) -> None:
    """Lists of words, lemmas and tags, looked up by their occurrences and by a scan of all tokens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listed_tokens, "_MANY", many)
        answer = Frequencies(by=[by], pattern=pattern, **common).ask(random_store)  # type: ignore[arg-type]
    shown(random_store, answer, ("juilland_d",))


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=list(HealthCheck))
@given(
    QUERIES,
    COMMON,
    st.sampled_from((None, "1", "R2", "L3", "40")),
    st.sampled_from(CollocateUnit),
    st.sampled_from((None, None, "N", "V*")),
    st.sampled_from(Measure),
)
def test_collocations_are_those_of_the_statement(
    random_store: Connection,
    query: str,
    common: dict[str, object],
    window: str | None,
    by: CollocateUnit,
    pos: str | None,
    measure: Measure,
) -> None:
    """Collocates of random queries, in windows of any size."""
    question = Collocations(
        cql=query,
        window=window,
        by=by,
        pos=pos,
        measure=measure,
        min_count=1,
        **common,  # type: ignore[arg-type]
    )
    _check(random_store, question)


def _check(connection: Connection, question: Collocations | Sketch | Thesaurus) -> None:
    try:
        answer = question.ask(connection)
    except InputError:
        return
    shown(connection, answer)


@settings(max_examples=settings.default.max_examples // 5, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(('"a"', "[]", "[upos='N']", "A/V", "lemma:b", '[word="a" & lemma="b"]', "10")),
    COMMON,
    st.sampled_from(("*", "obj", "n*", "case")),
    st.sampled_from(CollocateUnit),
    st.sampled_from((None, None, "N", "V*")),
    st.sampled_from(Measure),
    st.integers(1, 2),
)
def test_collocations_by_relation_are_those_of_the_statement(
    random_store: Connection,
    query: str,
    common: dict[str, object],
    dependency: str,
    by: CollocateUnit,
    pos: str | None,
    measure: Measure,
    min_count: int,
) -> None:
    """Heads and modifiers of random words."""
    asked = {"dependency": dependency, "by": by, "pos": pos, "measure": measure, "min_count": min_count}
    _check(random_store, Collocations(word=query, **asked, **{**common, "across": False}))  # type: ignore[arg-type]


@settings(max_examples=settings.default.max_examples // 8, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(("a", "lemma:a", "A", "ä/N", "lemma:10")),
    COMMON,
    st.sampled_from(CollocateUnit),
    st.sampled_from(Measure),
    st.booleans(),
    st.integers(1, 2),
)
def test_sketches_and_thesauri_are_those_of_the_statement(
    random_store: Connection,
    word: str,
    common: dict[str, object],
    by: CollocateUnit,
    measure: Measure,
    function_words: bool,
    min_count: int,
) -> None:
    """Sketches with links through prepositions, differences of two words, and similar words."""
    asked: dict[str, object] = {"word": word, "by": by, "function_words": function_words}
    asked |= {name: common[name] for name in ("ignore_case", "corpus", "where", "limit")}
    _check(random_store, Sketch(measure=measure, min_count=min_count, **asked))  # type: ignore[arg-type]
    _check(random_store, Sketch(measure=measure, min_count=min_count, against="lemma:b", **asked))  # type: ignore[arg-type]
    _check(random_store, Thesaurus(min_count=min_count, **asked))  # type: ignore[arg-type]
