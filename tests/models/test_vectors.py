"""Vectors of words: counts, PPMI and SVD against plain numpy on a corpus that is small enough for it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError, NotFoundError, SentgenError, StoreError
from sentgen.lookups.base.selection import Selection
from sentgen.models import vector_building, vectors
from sentgen.models.vector_building import ContextCounts, VectorRequest, VectorWords
from sentgen.models.vectors import Near, SpaceInfo, WordVectors
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

#: "Dog" and "dog" are one word; "once" is rare, but keeps its place.
LINES = """\
the dog chased the cat
The cat chased a mouse
a Dog saw the cat once at night
the mouse saw a dog
at night the dog slept
at night a cat slept
"""
#: "chased" governs "dog" and "cat"; in the second sentence "slept" governs "dog".
TREES = """\
1\tdog\tdog\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tchased\tchase\tVERB\tVBD\t_\t0\troot\t_\t_
3\tcat\tcat\tNOUN\tNN\t_\t2\tobj\t_\t_

1\tdog\tdog\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t_\t_

"""
SENTENCES = [line.lower().split() for line in LINES.splitlines()]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with both corpora."""
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "toy.lines").write_text(LINES)
    (folder / "trees.conllu").write_text(TREES)
    with Store(folder / "toy.duckdb", create=True) as store:
        ingest(store, [str(folder / "toy.lines")], Settings("toy"))
        ingest(store, [str(folder / "trees.conllu")], Settings("trees"))
        asked(name="company").build(store)
    return folder / "toy.duckdb"


@pytest.fixture
def store(path: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of that store, open for writing."""
    (tmp_path / "copy.duckdb").write_bytes(path.read_bytes())
    with Store(tmp_path / "copy.duckdb") as opened:
        yield opened


def asked(**options: Any) -> VectorRequest:
    return VectorRequest(**{"name": "v", "corpus": ["toy"], "dimensions": 4, "min_count": 2, **options})


def counted(
    store: Store, corpus: str = "toy", *, least: int = 2, **options: Any
) -> dict[tuple[str, Any], int]:
    """Return the counts by word and number of the context, which is a word where contexts are those of a window."""
    options = {"window": 2, "dependencies": False, "memory": 1 << 20, **options}
    with store.connect() as connection:
        selection = Selection.named(connection, [corpus])
        words = VectorWords.find(connection, selection, least, 100)
        cells = ContextCounts.count(connection, selection, words, **options)
    keys = zip(cells.rows.tolist(), cells.columns.tolist(), strict=True)
    named = ((words.forms[row], column) for row, column in keys)
    return dict(zip(named, cells.counts.tolist(), strict=True))


def reference(window: int, least: int = 2) -> tuple[list[str], np.ndarray]:
    """Return words by frequency, and counts of their pairs by a loop over all pairs of places."""
    frequency = Counter(word for sentence in SENTENCES for word in sentence)
    forms = sorted((word for word in frequency if frequency[word] >= least), key=lambda w: (-frequency[w], w))
    counts = np.zeros((len(forms), len(forms)))
    for sentence in SENTENCES:
        for i, word in enumerate(sentence):
            for j, other in enumerate(sentence):
                if i != j and abs(i - j) <= window and word in forms and other in forms:
                    counts[forms.index(word), forms.index(other)] += 1
    return forms, counts


def reference_vectors(counts: np.ndarray, dimensions: int, power: float = 0.5) -> np.ndarray:
    """Return vectors by the formulas, with all of the SVD."""
    smoothed = counts.sum(axis=0) ** 0.75
    with np.errstate(divide="ignore"):
        cells = np.maximum(0, np.log(counts * smoothed.sum() / np.outer(counts.sum(axis=1), smoothed)))
    left, singular, _ = np.linalg.svd(cells)
    vectors = left[:, :dimensions] * singular[:dimensions] ** power
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("window", [1, 2, 5])
@pytest.mark.parametrize("block", [1, 7, 1_000_000])
def test_counts_of_a_window(store: Store, monkeypatch: pytest.MonkeyPatch, window: int, block: int) -> None:
    """Sentences end a window, capitals do not count, rare words keep their place; in any blocks."""
    monkeypatch.setattr(vector_building, "_BLOCK_TOKENS", block)
    forms, counts = reference(window)
    found = counted(store, window=window)

    assert found == {
        (forms[row], column): counts[row, column] for row, column in np.argwhere(counts).tolist()
    }


def test_counts_of_dependencies(store: Store) -> None:
    """Each edge counts in both directions, as different contexts; "dog" is the subject of two verbs."""
    found = counted(store, "trees", least=1, window=0, dependencies=True)

    assert sorted(found.values()) == [1] * 6
    of_dog = {context for word, context in found if word == "dog"}
    shared = {context for word, context in found if word == "chased"} & {
        context for word, context in found if word == "slept"
    }
    assert len(of_dog) == 2  # subject of chased, subject of slept
    assert len(shared) == 1  # has dog for a subject
    assert not shared & of_dog


def test_both_contexts_are_the_sum(store: Store) -> None:
    """With both kinds of contexts, counts are those of the window and those of relations."""
    both = counted(store, "trees", least=1, dependencies=True)
    apart = [counted(store, "trees", least=1, window=window, dependencies=not window) for window in (0, 2)]

    assert sum(both.values()) == sum(sum(one.values()) for one in apart)
    assert len(both) == sum(map(len, apart))


def test_vectors_are_those_of_numpy(store: Store) -> None:
    """The same cosines, and the same vectors: of two signs, the one that makes the largest number positive."""
    forms, counts = reference(2)
    expected = reference_vectors(counts, 4)
    vectors = WordVectors.load(store, "company")
    rows = vectors.vectors[vectors.numbers(forms)]

    assert list(vectors.rows) == forms
    assert rows @ rows.T == pytest.approx(expected @ expected.T, abs=1e-5)
    assert np.abs(rows) == pytest.approx(np.abs(expected), abs=1e-4)


def test_shift_and_smoothing(store: Store) -> None:
    """log(#(w,c) N / (#(w) #(c)^a)) - log k, by hand: 2 words and 2 contexts."""
    numbers = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    cells = ContextCounts(*numbers, np.array([8, 1, 1, 2]), (2, 2), 12)
    plain, values = cells.ppmi(smoothing=1, shift=1)
    smoothed = np.log(8 * (9**0.5 + 3**0.5) / (9 * 9**0.5))
    only, shifted = cells.ppmi(smoothing=0.5, shift=1.2)

    # 8 * 12 / (9 * 9), 2 * 12 / (3 * 3); the others are rarer than chance.
    assert plain.tolist() == [True, False, False, True]
    assert values == pytest.approx(np.log([96 / 81, 24 / 9]))
    assert only[0]
    assert shifted[0] == pytest.approx(smoothed - np.log(1.2))


def test_same_seed_same_bytes(store: Store) -> None:
    """Two builds differ in their names only."""
    made = [asked(name=name).build(store) for name in ("one", "two")]
    query = "select * exclude (space) from v_vectors where space = '{}' order by rank"
    with store.connect() as connection:
        first, second = (fetch_arrow(connection, query.format(one.name)) for one in made)

    assert first.num_rows == made[0].words > 0
    assert first.equals(second)


def test_a_word_without_company_has_no_vector(store: Store, tmp_path: Path) -> None:
    """A word alone in its sentences gets no vector, as zeros would be equally near to all words."""
    (tmp_path / "alone.lines").write_text(f"{LINES}hm\nhm\n")
    ingest(store, [str(tmp_path / "alone.lines")], Settings("alone"))
    asked(corpus=["alone"]).build(store)

    assert "hm" not in WordVectors.load(store, "v").rows
    assert "dog" in WordVectors.load(store, "v").rows


def test_only_sentences_that_meet_a_condition(store: Store) -> None:
    """Only one sentence has seven words or more, and it alone has "once"."""
    made = asked(where="length < 7", min_count=1, dimensions=3).build(store)

    assert made.tokens == sum(len(sentence) for sentence in SENTENCES if len(sentence) < 7)
    assert "once" not in WordVectors.load(store, "v").rows


def test_near(store: Store) -> None:
    """Cosines of vectors, the nearest first; of a phrase, with the mean of its words."""
    vectors = WordVectors.load(store, "company")

    def rows(word: str, **options: Any) -> list[tuple[str, float]]:
        with store.connect() as connection:
            found = Near(word=word, **options).ask(connection).table
        return list(zip(found["word"].to_pylist(), found["cosine"].to_pylist(), strict=True))

    def expected(words: list[str]) -> list[tuple[str, float]]:
        mean = vectors.vectors[vectors.numbers(words)].mean(axis=0)
        cosines = vectors.vectors @ (mean / np.linalg.norm(mean))
        return [(form, cosines[row]) for form, row in vectors.rows.items() if form not in words]

    for phrase in ("dog", "The DOG", "at night night"):
        found, wanted = rows(phrase, limit=0), dict(expected(phrase.lower().split()))
        assert dict(found) == pytest.approx(wanted, abs=1e-4), phrase
        assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert len(rows("dog", limit=2)) == 2
    assert {word for word, _ in rows("cat", min_count=4)} == {"the", "dog", "a"}


def test_the_newest_is_asked_if_none_is_named(store: Store) -> None:
    """The newest vectors by their id are used if none are named."""
    asked(name="another", dimensions=2).build(store)
    with store.connect() as connection:
        assert SpaceInfo.find(connection, None).name == "another"
    vectors.remove(store, "another")
    with store.connect() as connection:
        assert SpaceInfo.find(connection, None).name == "company"
    with store.connect() as connection:
        rows = fetch_arrow(connection, "select distinct space from v_vectors")
    assert rows["space"].to_pylist() == ["company"]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"name": "company"}, InputError, "there are vectors 'company'; take another name"),
        ({"corpus": ["nope"]}, NotFoundError, "no corpus 'nope'"),
        ({"dimensions": 10}, ModelError, "too few words for 10 dimensions, 10, or"),
        ({"min_count": 99}, ModelError, "no words that occur 99 times or more in these corpora"),
        ({"contexts": "dependencies"}, ModelError, "no word stands with another one"),
        ({"where": "genre = news"}, SentgenError, "genre"),
    ],
)
def test_refusals(store: Store, options: dict[str, Any], kind: type[Exception], message: str) -> None:
    """Errors say what to do, and nothing is stored."""
    with pytest.raises(kind, match=message):
        asked(**options).build(store)

    assert [row[0] for row in vectors.overview(store).rows] == ["company"]


def test_refused_words_and_names(store: Store) -> None:
    """A word without a vector, no word, unknown vectors, and a blank name are refused."""
    for near, message in (
        (Near(word="dog once"), "no vector of 'once' in 'company', whose words occur 2 times"),
        (Near(word=" "), "no word is given"),
        (Near(word="dog", vectors="x"), "no vectors 'x'; there are: company"),
    ):
        with store.connect() as connection, pytest.raises(SentgenError, match=message):
            near.ask(connection)
    with pytest.raises(InputError, match="a blank is no name"):
        asked(name=" ")
    vectors.remove(store, "company")
    with (
        store.connect() as connection,
        pytest.raises(NotFoundError, match="build some with: sentgen vectors"),
    ):
        Near(word="dog").ask(connection)


def test_too_many_pairs_are_refused(store: Store) -> None:
    """Too many pairs are refused before they fill the memory."""
    with pytest.raises(StoreError, match=r"pairs of words do not fit into memory; lower `words` or `window`"):
        counted(store, memory=100)


def test_threads_of_others_are_left_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of threads of other libraries are restored, set or unset."""
    cells = ContextCounts(*(np.arange(5, dtype=np.int32),) * 2, np.ones(5, np.int64), (5, 5), 5)
    options = {"dimensions": 2, "smoothing": 1, "shift": 1, "power": 1, "seed": 1}
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    cells.decomposed(**options)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    cells.decomposed(**options)
    assert "OPENBLAS_NUM_THREADS" not in os.environ
