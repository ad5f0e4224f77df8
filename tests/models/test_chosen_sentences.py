"""A model of chosen sentences is that of a corpus that holds these alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import meta_treebank
import pytest
from meta_treebank import Sentence
from stored import model_problems
from toy_corpus import ngrams

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import ModelError, NotFoundError, QueryError, SentgenError
from sentgen.generation.ngrams.features import companions
from sentgen.lookups import subcorpora
from sentgen.models import ModelInfo, build, find
from sentgen.models.base.registry import overview
from sentgen.models.base.symbols import Symbols
from sentgen.models.build_request import BuildRequest
from sentgen.models.building.recipe import Chosen, Draw
from sentgen.models.prune import PruneRequest
from sentgen.schema import Store
from sentgen.schema.store import raw

ROWS = meta_treebank.sentences()
CONDITION = "genre in (news, speech) or exists speaker"


def meets(row: Sentence) -> bool:
    return row.value("genre") in ("news", "speech") or row.value("speaker") is not None


def first(row: Sentence) -> bool:
    return meets(row) and row.corpus == "first"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of all sentences, and a store for each selection of them."""
    folder = tmp_path_factory.mktemp("chosen")
    meta_treebank.store_of(folder / "both.duckdb", filter(meets, ROWS))
    meta_treebank.store_of(folder / "first.duckdb", filter(first, ROWS))
    path = meta_treebank.store_of(folder / "all.duckdb", ROWS)
    with Store(path) as store, store.begin() as connection:
        subcorpora.define(connection, "chosen", CONDITION, ["first"])
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    """The store of all sentences, to be written to."""
    path = tmp_path / "all.duckdb"
    path.write_bytes(made.read_bytes())
    with Store(path, threads=2) as opened:
        yield opened


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("corpora", "condition", "alone", "names"),
    [
        (["first", "second"], CONDITION, "both", ["first", "second"]),
        (["chosen"], None, "first", ["first"]),
    ],
)
@pytest.mark.parametrize(
    ("smoothing", "settings"),
    [
        ("kneser-ney", {}),
        ("katz", {"unknown": "tag", "brackets": True}),
        ("kneser-ney", {"min_count": [1, 1, 2]}),
        pytest.param("katz", {}, marks=pytest.mark.nightly),
        pytest.param("kneser-ney", {"unknown": "tag", "brackets": True}, marks=pytest.mark.nightly),
        pytest.param("katz", {"min_count": [1, 1, 2]}, marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_it_is_the_model_of_these_sentences_alone(
    store: Store,
    made: Path,
    tmp_path: Path,
    smoothing: str,
    corpora: list[str],
    condition: str | None,
    alone: str,
    names: list[str],
    settings: dict[str, object],
) -> None:
    """All orders, probabilities, back-off weights and sizes are those of a corpus of these sentences."""
    given = {"order": 4, "smoothing": smoothing, **settings}
    path = tmp_path / "alone.duckdb"
    path.write_bytes((made.parent / f"{alone}.duckdb").read_bytes())
    with Store(path, threads=2) as other:
        expected = build(other, "m", names, **given)  # type: ignore[arg-type]
        wanted = ngrams(other, expected)
    model = build(store, "m", corpora, condition=condition, **given)  # type: ignore[arg-type]
    found = ngrams(store, model)

    assert found.keys() == wanted.keys()
    for gram, values in wanted.items():
        assert found[gram] == pytest.approx(values, abs=1e-9), gram
    assert sizes(model) == sizes(expected)
    assert model.corpora == expected.corpora
    assert model_problems(store) == {}


def sizes(model: ModelInfo) -> tuple[int, int, int]:
    return model.vocabulary, model.sentences, model.tokens


def test_the_condition_is_shown_and_the_model_gets_stale(store: Store, tmp_path: Path) -> None:
    """The condition is that of the subcorpus at the build; new sentences in the corpus make the model stale."""
    build(store, "plain", ["first"], order=2)
    model = build(store, "m", ["chosen"], order=2, condition="length > 1")
    told = {key: value for key, _, value in model.describe(store)}
    assert told["where"] == f'((corpus in ("first")) and ({CONDITION})) and (length > 1)'
    assert not [key for key in told if key.startswith("where:")]
    assert "where" not in {key for key, _, _ in find(store, "plain").describe(store)}
    conditions = {row["name"]: row["where"] for row in overview(store).to_pylist()}
    assert conditions == {"m": told["where"], "plain": None}
    assert model.changes(store) == []

    more = tmp_path / "more.conllu"
    more.write_text(meta_treebank.conllu([row for row in ROWS if row.corpus == "second"][:1]))
    ingest(store, [str(more)], Settings("first"))
    assert len(model.changes(store)) == 1


def test_a_check_finds_a_model_of_other_sentences(store: Store) -> None:
    """The n-grams are counted again with the condition of the model."""
    build(store, "m", ["first"], order=2, condition=CONDITION)
    with store.begin() as connection:
        raw(connection).execute(
            "update model_parameter set name = 'where: length > 3' where starts_with(name, 'where: ')"
        )
    assert "m@1: n-grams recounted" in model_problems(store)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"smoothing": "stupid-backoff", "condition": CONDITION}, ModelError, "counts of whole corpora"),
        ({"condition": "genre = nwes"}, ModelError, "genre is never 'nwes', did you mean news?"),
        ({"condition": "length > 99"}, ModelError, "no sentences for a model where length > 99"),
        ({"condition": "gerne = news"}, QueryError, "no metadata 'gerne'"),
    ],
)
def test_what_makes_no_model_is_refused(
    store: Store, given: dict[str, str], error: type[Exception], message: str
) -> None:
    """The refusal is one line, and nothing is stored."""
    with pytest.raises(error, match=message):
        build(store, "m", ["first"], order=2, **given)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        find(store, "m")


def test_companions_have_seen_the_same_sentences(store: Store) -> None:
    """A model of chosen sentences has no companion of other sentences, which may be test sentences."""
    tags = Symbols("tags")
    words = build(store, "words", ["first"], order=2, condition=CONDITION)
    build(store, "all-tags", ["first"], order=2, symbols=tags)
    assert companions(store, words) == {}

    build(store, "tags", ["first"], order=2, symbols=tags, condition=CONDITION)
    assert [*companions(store, words).values()] == ["tags@1"]
    whole = build(store, "whole", ["first"], order=2)
    assert [*companions(store, whole).values()] == ["all-tags@1"]

    # Of more text that holds them as well.
    build(store, "text", ["first"], order=2)
    assert [*companions(store, words).values()] == ["tags@1"]
    assert [*companions(store, whole).values()] == ["all-tags@1", "text@1"]


def test_drawn_sentences_are_nested(store: Store) -> None:
    """With one seed, a smaller draw is within a larger one; another seed draws other sentences."""
    taken: dict[object, set[int]] = {}
    with store.connect() as connection:
        for number, seed in ((5, 1), (10, 1), (10, 2)):
            found = Chosen.choose(connection, None, Draw(number, None, seed), [1, 2])
            taken[number, seed] = {n for (n,) in raw(connection).execute("select id from chosen").fetchall()}
            assert found.sentences == len(taken[number, seed]) == number
        half = Chosen.choose(connection, None, Draw(None, 0.5, 1), [1, 2])

    assert taken[5, 1] < taken[10, 1] != taken[10, 2]
    assert half.sentences == round(0.5 * len(ROWS))


def test_models_of_drawn_sentences(store: Store) -> None:
    """The record has number, seed and condition, also after recounting and pruning."""
    asked = BuildRequest(name="m", corpus=["first"], order=3, where=CONDITION, sentences=4, seed=7)
    (model,) = asked.build(store)
    pruned = PruneRequest(name="small", of="m", min_count="1").make(store)

    assert model.sentences == 4
    assert model.condition.endswith("; 4 sentences drawn with seed 7")
    assert ("where", None, model.condition) in model.describe(store)
    assert ngrams(store, model) == ngrams(store, pruned)
    assert pruned.condition == model.condition
    assert model_problems(store) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": 100_000}, "100000 of .* sentences cannot be drawn; ask for 1 to"),
        ({"share": 0.0}, "0 of .* sentences cannot be drawn"),
        ({"sentences": 2, "smoothing": "stupid-backoff"}, "reads the counts of whole corpora"),
        ({"sentences": 2, "share": 0.5}, "exclude each other"),
    ],
)
def test_what_cannot_be_drawn(store: Store, options: dict[str, object], message: str) -> None:
    """Draws of too many or no sentences, from counts of whole corpora, and in two ways are refused."""
    with pytest.raises(SentgenError, match=message):
        BuildRequest(name="m", corpus=["first"], order=2, **options).build(store)  # type: ignore[arg-type]
