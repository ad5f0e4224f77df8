"""N-gram counting against counting by hand and against a dictionary."""

from __future__ import annotations

import errno
import resource
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.counts.ngrams import PAD, NgramCounter, merge_runs, rolled_up, sort_records, wrap
from sentgen.schema.tables.corpus import BOS, EOS

SENTENCES = st.lists(st.lists(st.integers(3, 8), min_size=1, max_size=7), min_size=1, max_size=12)


def by_dictionary(sentences: list[list[int]], order: int) -> Counter[tuple[int, ...]]:
    wrapped = [[BOS, *sentence, EOS] for sentence in sentences]
    return Counter(tuple(w[i : i + order]) for w in wrapped for i in range(len(w) - order + 1))


def streamed(sentences: list[list[int]]) -> np.ndarray:
    words = np.array([word for sentence in sentences for word in sentence], np.int32)
    return wrap(words, np.array([len(sentence) for sentence in sentences], np.int32), BOS, EOS)


def collected(counter: NgramCounter) -> list[list[tuple[tuple[int, ...], int]]]:
    rows: list[list[tuple[tuple[int, ...], int]]] = [[] for _ in range(counter.highest)]
    for block in counter.results():
        for order, counted in enumerate(block):
            rows[order] += zip(map(tuple, counted.words.T.tolist()), counted.counts.tolist(), strict=True)
    return rows


def sorted_records(stream: np.ndarray, names: np.ndarray, *, ends: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all records, sorted in blocks of two."""
    blocks = [(r.copy(), c.copy()) for r, c in sort_records(stream, names, ends=ends, block=2)]
    return np.concatenate([r for r, _ in blocks]), np.concatenate([c for _, c in blocks])


def test_records_of_one_sentence() -> None:
    """Every token starts one record that ends with its sentence."""
    # <s> a b </s> with a = 7 and b = 4: records start at each of the four tokens.
    stream = np.array([0, 3, 2, 1], np.int32)  # dense numbers in the order of the ids 1, 2, 4, 7
    records, counts = sorted_records(stream, np.array([1, 2, 4, 7], np.int32), ends=1)

    assert records.tolist() == [
        [1, 7, 4, 2, PAD],
        [2, *[PAD] * 4],
        [4, 2, PAD, PAD, PAD],
        [7, 4, 2, PAD, PAD],
    ]
    assert counts.tolist() == [1, 1, 1, 1]


def test_roll_up_by_hand() -> None:
    """Records that share their first words are one n-gram of that order."""
    # Twice "a b", once "a c" (a=3 b=4 c=5), ends left out: unigram a 3, bigrams a b 2 and a c 1.
    records = np.array([[3, 4, PAD, PAD, PAD], [3, 5, PAD, PAD, PAD], [4, PAD, PAD, PAD, PAD]], np.int32)
    blocks = [
        [(counted.words.T.tolist(), counted.counts.tolist()) for counted in block]
        for block in rolled_up([(records, np.array([2, 1, 2]))], 2, 2)
    ]

    # The block of two bigrams is full with the last record; the unigrams come only at the end.
    [full, both, nothing] = blocks
    assert full == [([], []), ([[3, 4], [3, 5]], [2, 1])]
    assert both[0] == ([[3], [4]], [3, 2])
    assert nothing == [([], []), ([], [])]


@given(SENTENCES, st.integers(1, 5))
def test_counts_equal_a_dictionary(sentences: list[list[int]], highest: int) -> None:
    """All orders come out of one sort, each sorted, each complete."""
    counter = NgramCounter(highest=highest, memory=1 << 20, folder=Path("/nonexistent"))
    counter.add(streamed(sentences))

    for order, rows in enumerate(collected(counter), 1):
        assert rows == sorted(by_dictionary(sentences, order).items())


@given(SENTENCES, st.integers(1, 6), st.integers(2, 5))
def test_spilled_runs_equal_one_sort(tmp_path_factory, sentences, chunk, block) -> None:  # type: ignore[no-untyped-def]
    """However the stream is cut into runs and the merge into blocks, the counts are the same."""
    folder = tmp_path_factory.mktemp("runs") / "runs"
    counter = NgramCounter(highest=5, memory=0, folder=folder)
    counter.chunk, counter.block = chunk, block
    for sentence in sentences:
        counter.add(streamed([sentence]))

    for order, rows in enumerate(collected(counter), 1):
        assert rows == sorted(by_dictionary(sentences, order).items())
    counter.close()
    assert not folder.exists()


def test_a_run_that_does_not_fit_on_the_disk_says_so(tmp_path: Path) -> None:
    """An error of writing keeps its number, from which the store knows that the disk is full."""
    counter = NgramCounter(highest=5, memory=0, folder=tmp_path / "runs")
    counter.chunk = 1
    counter.add(streamed([[3, 4, 5, 6, 7, 8] * 100]))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError) as raised:
            counter.add(streamed([[3]]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        counter.close()

    assert raised.value.errno == errno.EFBIG


def test_wide_vocabulary_takes_the_other_road() -> None:
    """If a rank, a word and a position do not fit into 64 bits, an index is sorted instead."""
    rng = np.random.default_rng(1)
    names = np.arange(1 << 22, dtype=np.int32)
    stream = rng.integers(0, names.size, 5000).astype(np.int32)
    stream[9::10] = 2
    stream[-1] = 2
    records, counts = sorted_records(stream, names, ends=2)
    narrow_names, narrow = np.unique(stream, return_inverse=True)
    expected, expected_counts = sorted_records(
        narrow.astype(np.int32), narrow_names, ends=int(np.searchsorted(narrow_names, 2))
    )

    assert (records == expected).all()
    assert (counts == expected_counts).all()


def test_no_sentences_no_counts() -> None:
    """An empty stream has no n-grams."""
    counter = NgramCounter(highest=5, memory=0, folder=Path("/nonexistent"))

    assert collected(counter) == [[], [], [], [], []]


def test_merge_of_equal_records(tmp_path: Path) -> None:
    """A record in every run is yielded once, with the sum of its counts."""
    record = np.array([[3, 4, 5, 6, 7]], np.int32)
    paths = []
    for run in range(5):
        paths.append((tmp_path / f"{run}.records", tmp_path / f"{run}.counts"))
        record.tofile(paths[-1][0])
        np.array([run + 1], np.int32).tofile(paths[-1][1])
    merged = [(r.tolist(), c.tolist()) for r, c in merge_runs(paths, block=2) if c.size]

    assert merged == [([[3, 4, 5, 6, 7]], [15])]
