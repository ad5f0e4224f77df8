"""A subcorpus can be named like a corpus, and has the sentences that meet its condition at that time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import meta_treebank
import pytest
from meta_treebank import Sentence

from sentgen.counts.corpora import remove as remove_corpus
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError, QueryError, SentgenError
from sentgen.lookups import subcorpora
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.ngram_search import Ngrams
from sentgen.schema import Store

ROWS = meta_treebank.sentences()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two corpora, with subcorpora of one, of both, and of other subcorpora."""
    path = meta_treebank.store_of(tmp_path_factory.mktemp("subcorpora") / "store.duckdb", ROWS)
    with Store(path) as store, store.begin() as connection:
        subcorpora.define(connection, "ann", "speaker = Ann", ["first"])
        subcorpora.define(connection, "short", "length < 4 or genre = speech")
        subcorpora.define(connection, "narrow", "exists year", ["ann", "second"])
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of the store, open for writing."""
    path = tmp_path / "store.duckdb"
    path.write_bytes(made.read_bytes())
    with Store(path) as opened:
        yield opened


def ann(row: Sentence) -> bool:
    return row.corpus == "first" and row.value("speaker") == "Ann"


def short(row: Sentence) -> bool:
    return len(row.tokens) < 4 or row.value("genre") == "speech"


def narrow(row: Sentence) -> bool:
    return (ann(row) or row.corpus == "second") and row.value("year") is not None


@pytest.mark.parametrize(
    ("names", "condition", "meets"),
    [
        (["ann"], None, ann),
        (["short"], None, short),
        (["narrow"], None, narrow),
        (["ann", "second"], None, lambda row: ann(row) or row.corpus == "second"),
        (["ann", "narrow", "short"], None, lambda row: ann(row) or narrow(row) or short(row)),
        (
            ["ann", "second"],
            "length > 2",
            lambda row: (ann(row) or row.corpus == "second") and len(row.tokens) > 2,
        ),
        (["first", "ann"], None, lambda row: row.corpus == "first"),
    ],
)
def test_names_of_both_kinds_stand_beside_each_other(
    made: Path, names: list[str], condition: str | None, meets: object
) -> None:
    """Names of corpora and subcorpora select the sentences of all; a condition holds for each."""
    assert callable(meets)
    with Store(made, read_only=True) as store, store.connect() as connection:
        selection, bindings = Selection.named(connection, names, condition=condition), Bindings()
        (*_, chosen) = selection.of_sentences(bindings)
        found = Statement(f"select sent_id from sentence where {chosen} order by id", bindings).run(
            connection
        )
        assert found["sent_id"].to_pylist() == [row.sent_id for row in ROWS if meets(row)]
        # Lookups of tokens and of counts agree.
        words = Kwic(pattern="the", corpus=names, where=condition, count=True).ask(connection)
        counted = Ngrams(pattern="the", corpus=names, where=condition).ask(connection)
        (hits,), (row,) = words.rows.to_pylist(), counted.rows.to_pylist()
        assert (
            hits["hits"] == row["count"] == sum(one[0] == "the" for r in ROWS if meets(r) for one in r.tokens)
        )


def test_a_corpus_without_subcorpora_has_no_condition(made: Path) -> None:
    """Whole corpora are selected without a condition, so that their counts can be read."""
    with Store(made, read_only=True) as store, store.connect() as connection:
        assert Selection.named(connection, ["first"]) == Selection(("first",))
        with pytest.raises(NotFoundError, match="the store has: first, second, ann, narrow, short"):
            Selection.named(connection, ["third"])


def test_overview_and_properties(made: Path) -> None:
    """The overview lists subcorpora with their conditions; the properties have their sizes."""
    among = [row for row in ROWS if ann(row)]
    with Store(made, read_only=True) as store, store.connect() as connection:
        whole = '((corpus in ("second")) or ((corpus in ("first")) and (speaker = Ann))) and (exists year)'
        assert [tuple(row.values())[:3] for row in subcorpora.overview(store).to_pylist()] == [
            ("ann", "first", "speaker = Ann"),
            ("narrow", None, whole),
            ("short", None, "length < 4 or genre = speech"),
        ]
        rows = subcorpora.properties(connection, "ann").to_pylist()
    told = {row["property"]: row["value"] for row in rows}
    assert told["sentences"] == str(len(among))
    assert told["tokens"] == str(sum(len(row.tokens) for row in among))
    assert told["documents"] == str(len({row.document for row in among}))


@pytest.mark.parametrize(
    ("name", "expression", "corpora", "error", "message"),
    [
        ("first", "length > 1", [], InputError, "'first' is a corpus; give the subcorpus another name"),
        ("ann", "length > 1", [], InputError, "there is a subcorpus 'ann'; remove it first"),
        (" ", "length > 1", [], InputError, "needs a name"),
        ("two\nlines", "length > 1", [], InputError, "needs a name of one line"),
        (
            "none",
            "speaker = Anne",
            [],
            InputError,
            "'none' is not defined: speaker is never 'Anne', did",
        ),
        ("none", "length < 4 and length > 4", ["first"], InputError, "no sentence meets the condition"),
        ("new", "lenght > 1", ["ann"], QueryError, "column 1: no metadata 'lenght'"),
        ("new", "length > 1", ["third"], NotFoundError, "no corpus 'third'"),
    ],
)
def test_what_is_no_subcorpus_is_refused(
    store: Store, name: str, expression: str, corpora: list[str], error: type[SentgenError], message: str
) -> None:
    """A wrong definition is refused in one line."""
    with pytest.raises(error, match=message), store.begin() as connection:
        subcorpora.define(connection, name, expression, corpora)


def test_a_corpus_does_not_take_its_name(store: Store, tmp_path: Path) -> None:
    """A corpus cannot get the name of a subcorpus, as both are named in the same places."""
    text = tmp_path / "new.conllu"
    text.write_text(meta_treebank.conllu(ROWS[:1]))
    with pytest.raises(InputError, match="'ann' is a subcorpus"):
        ingest(store, [str(text)], Settings("ann"))


def test_it_follows_its_corpora_and_goes_by_its_name(store: Store) -> None:
    """A subcorpus of a removed corpus is refused in questions; a removed subcorpus is unknown."""
    remove_corpus(store, "first")
    with store.connect() as connection:
        with pytest.raises(NotFoundError, match="'ann' is of 'first', which the store has no more"):
            Selection.named(connection, ["ann"])
        short_ones = [row for row in ROWS if short(row) and row.corpus == "second"]
        about = subcorpora.properties(connection, "short").to_pylist()
        assert {"property": "sentences", "value": str(len(short_ones))} in about
    with store.begin() as connection:
        assert subcorpora.remove(connection, "ann").expression == "speaker = Ann"
        with pytest.raises(NotFoundError, match="no subcorpus 'ann'; there are: narrow, short"):
            subcorpora.remove(connection, "ann")
