"""Rewrite tables for many pairs: the cells, their priors, and arrays in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import (
    RewriteTable,
    _stems_as_words,
    phrase_pairs,
    support,
)
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.cells import TEXTS, PartBuffer, RewriteCells, batches, lay_out
from sentgen.arrays import Space

WORDS = st.lists(st.sampled_from(["run", "runs", "a", "dog", "barks"]), min_size=1, max_size=6)
ROOM = 1 << 20


def encoded(texts: list[tuple[list[str], list[str]]]) -> tuple[list[PairIds], Lexicon]:
    """Return pairs as integers."""
    lexicon = Lexicon()
    return [lexicon.encode(Pair("", tuple(d), tuple(a))) for d, a in texts], lexicon


def same(cells: RewriteCells, table: RewriteTable) -> None:
    """Check that two tables have the same cells and probabilities."""
    assert np.repeat(cells.rows, np.diff(cells.starts)).tolist() == table.document.tolist()
    assert cells.columns[cells.targets].tolist() == table.abstract.tolist()
    assert cells.fake[cells.kinds] == pytest.approx(table.fake)
    assert cells.prob == pytest.approx(table.prob)


@example([(["runs", "runs", "a", "run"], ["dog", "run", "a"])], 3, 1)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5), st.integers(1, 3), st.integers(1, 3))
def test_cells_are_the_support(texts: list[tuple[list[str], list[str]]], longest: int, least: int) -> None:
    """Cells are all word pairs, and phrase pairs of enough text pairs, with the prior means."""
    pairs, lexicon = encoded(texts)
    settings = PbhmmSettings(max_document_phrase=longest, max_abstract_phrase=2, min_documents=least)

    cells, _, _ = lay_out(lambda: iter(pairs), settings, Space(ROOM, Path()))

    same(cells, support(pairs, lexicon.stem_of, settings))


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_cells_of_stems_are_their_support(texts: list[tuple[list[str], list[str]]]) -> None:
    """The table of stems is that of the pairs with their stems for words."""
    pairs, lexicon = encoded(texts)
    settings = PbhmmSettings()

    cells, _, _ = lay_out(lambda: iter(pairs), settings, Space(ROOM, Path()), stems=True)

    stemmed = [_stems_as_words(pair) for pair in pairs]
    same(cells, support(stemmed, np.arange(len(lexicon.stems)), settings, stems=True))


def test_arrays_in_files_are_like_those_in_memory(tmp_path: Path) -> None:
    """Without any memory for arrays, the result is the same, and no file is left behind."""
    pairs, _ = encoded([(["a", "dog", "runs"], ["dogs", "run"]), (["a", "dog", "barks"], ["dogs", "run"])])
    space = Space(0, tmp_path)

    there, _, _ = lay_out(lambda: iter(pairs), PbhmmSettings(), space)
    here, _, _ = lay_out(lambda: iter(pairs), PbhmmSettings(), Space(ROOM, tmp_path))
    there.counts[:] = here.counts[:] = np.arange(here.size)
    space.relax()
    there.maximize()
    here.maximize()

    assert space.used == 0
    assert there.prob.tolist() == here.prob.tolist()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("block", [1, 7, 40])
def test_going_through_cells_in_blocks_changes_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are laid out, dropped, re-estimated and weighed a few rows at a time with the same result."""
    words = ["a", "dog", "runs", "dogs", "run", "the", "cat"]
    rng = np.random.default_rng(5)
    pairs, _ = encoded([(rng.choice(words, 6).tolist(), rng.choice(words, 5).tolist()) for _ in range(9)])

    def gone_through() -> tuple[RewriteCells, float, int]:
        cells, _, _ = lay_out(lambda: iter(pairs), PbhmmSettings(min_documents=1), Space(ROOM, Path()))
        cells.counts[:] = np.random.default_rng(6).random(cells.size)
        before = cells.size
        cells.drop(0.6)
        cells.maximize()
        return cells, cells.log_prior(), before

    whole, prior, before = gone_through()
    monkeypatch.setattr("sentgen.alignment.stored.cells._BLOCK", block)
    parts, same_prior, same_before = gone_through()

    assert 0 < whole.size < before == same_before
    assert parts.starts.tolist() == whole.starts.tolist()
    for name in ("targets", "kinds", "prob"):
        one, other = (getattr(cells, name)[: cells.size].tolist() for cells in (parts, whole))
        assert one == other, name
    assert same_prior == pytest.approx(prior)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=5), st.integers(1, 6))
def test_parts_have_what_pairs_need(texts: list[tuple[list[str], list[str]]], room: int) -> None:
    """Batches have all pairs in their order, each with its cells; counts come back to their places."""
    pairs, _ = encoded(texts)
    settings = PbhmmSettings(min_documents=1)
    cells, _, _ = lay_out(lambda: iter(pairs), settings, Space(ROOM, Path()))
    places = dict(
        zip(zip(cells.table().document, cells.table().abstract, strict=True), range(cells.size), strict=True)
    )
    rooms = {"words": PartBuffer(cells, TEXTS["words"], settings, 0)}
    rooms["words"]._make(room)
    wanted, seen = np.zeros(cells.size), list[PairIds]()
    for some, parts in batches(iter(pairs), rooms):
        seen += some
        part = parts["words"]
        keys = list(zip(part.table.document, part.table.abstract, strict=True))
        needed = {key for pair in some for key in map(tuple, phrase_pairs(pair, settings).tolist())}
        assert needed <= set(keys)
        assert [places[key] for key in keys] == part.places.tolist() == sorted(part.places)
        assert part.table.prob.tolist() == cells.prob[part.places].tolist()
        part.counts[:] += 1.0
        wanted[part.places] += 1.0

    assert [one.document.tolist() for one in seen] == [one.document.tolist() for one in pairs]
    assert cells.counts[: cells.size].tolist() == wanted.tolist()


@pytest.fixture
def small() -> RewriteCells:
    """Two rows of two cells: a word pair and a phrase pair each; only words have a fake count, 2."""
    return RewriteCells(
        rows=np.array([-5, 3]),
        starts=np.array([0, 2, 4]),
        columns=np.array([-9, 7]),
        targets=np.array([0, 1, 0, 1], np.int32),
        kinds=np.array([0, 1, 0, 1], np.uint8),
        prob=np.array([0.5, 0.5, 0.25, 0.75]),
        counts=np.array([1.0, 1.0, 0.0, 6.0]),
        fake=np.array([0.0, 2.0, 3.0, 4.0]),
    )


def test_maximize_adds_the_fake_counts(small: RewriteCells) -> None:
    """Row 1: 1 and 1 + 2 of 4; row 2: 0 and 6 + 2 of 8. Then the counts are 0."""
    small.maximize()

    assert small.prob.tolist() == [0.25, 0.75, 0.0, 1.0]
    assert not small.counts.any()


def test_log_prior_is_that_of_the_cells_with_fake_counts(small: RewriteCells) -> None:
    """2 log 0.5 + 2 log 0.75."""
    assert small.log_prior() == pytest.approx(2 * np.log(0.5) + 2 * np.log(0.75))


def test_cells_that_are_expected_too_rarely_go(small: RewriteCells) -> None:
    """The phrase of the second row is dropped; the other cells keep their rows and order."""
    small.drop(1e-6)

    assert small.starts.tolist() == [0, 2, 3]
    assert small.table().abstract.tolist() == [-9, 7, 7]
    assert small.counts[: small.size].tolist() == [1.0, 1.0, 6.0]
    assert small.table().rows.tolist() == [-5, 3]


def test_table_is_what_inference_expects(small: RewriteCells) -> None:
    """The rewrite table of the cells has the form of a table that is made from keys."""
    plain = RewriteTable.prior_mean(
        np.array([-5, -5, 3, 3]), np.array([-9, 7, -9, 7]), small.fake[small.kinds]
    )

    assert small.table().rows.tolist() == plain.rows.tolist()
    assert small.table().starts.tolist() == plain.starts.tolist()
    assert len(small.table()) == len(plain)
