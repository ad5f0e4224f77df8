"""Pairs that do not fit into memory: blocks of rows, links in files, and words looked up in parts.

What comes out is the same to the last bit as all at once, which `test_pbhmm_inference` compares with enumeration.
"""

from __future__ import annotations

import shutil
from collections import namedtuple
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
from pbhmm_examples import Oracle, random_chain, random_emission, random_pairs, random_parameters
from toy_pairs import PAIRS, fill
from whole_pairs import infer

from sentgen.alignment import Pair
from sentgen.alignment.pairs.budget import BASE, Budget, PairSizes, RowBlocks
from sentgen.alignment.phrase_hmm.decode import LinkChoice, decode_path, decode_posterior, viterbi
from sentgen.alignment.phrase_hmm.em import ExpectedCounts, explain
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.inference import Posteriors, infer_rows
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.stored_pairs import pair_batches
from sentgen.arrays import Floats
from sentgen.errors import MemoryLimitError
from sentgen.schema import Store

SENTENCES = (
    "a dog barks .",
    "the cats ran ,",
    "dogs bark at the old cat .",
    "it ran to a cat .",
    "we saw it .",
)


@dataclass(frozen=True)
class InBlocks(Budget):
    """A budget that cuts even small pairs: so many words of the abstract, or of the document, at a time."""

    rows: int = 3
    columns: int = 5

    def plan(self, sizes: PairSizes, *, table: bool, events: int = 0) -> RowBlocks:
        return RowBlocks(self.rows, self.columns, in_file=self.folder is not None)


def example(seed: int, *, words: tuple[int, int] = (60, 25)) -> tuple[PairIds, Lexicon]:
    """Return a pair with many copied words."""
    rng = np.random.default_rng(seed)
    document, abstract = (" ".join(rng.choice(SENTENCES, size)).split()[:size] for size in words)
    lexicon = Lexicon()
    pair = lexicon.encode(Pair("1", tuple(document), tuple(abstract)))
    return lexicon.with_kinship(pair, wordnet=None), lexicon


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("seed", range(12))
def test_blocks_of_rows_are_all_rows(seed: int) -> None:
    """Posteriors, counts and best path do not depend on the number of rows in a block, to the last bit."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 12)), int(rng.integers(1, 15))
    emission = random_emission(rng, m, n, forgetting=0.5, longest=4)
    transitions = random_chain(rng, n, position=seed % 2 == 0, null_moves=seed % 4 < 2)
    whole, path = infer(emission, transitions), viterbi(emission, transitions)
    ends = emission.events.start + emission.events.length
    for rows in (1, 2, 3, 5, m, m + 1):
        firsts: list[int] = []

        def take(first: int, words: Floats, events: Floats, firsts: list[int] = firsts) -> None:
            assert np.array_equal(words, whole.words[first : first + len(words)])
            known = ends > first
            assert np.array_equal(events[known], whole.events[known])
            firsts.append(first)

        seen = infer_rows(emission, transitions, take, rows=rows)
        assert firsts == list(reversed(range(0, m, rows)))
        for field in fields(Posteriors):
            assert np.array_equal(getattr(seen, field.name), getattr(whole, field.name)), field.name
        logp, segments = viterbi(emission, transitions, rows=rows)
        assert (logp, segments.tolist()) == (path[0], path[1].tolist())


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("seed", range(8))
def test_blocks_of_rows_are_those_of_enumeration(seed: int) -> None:
    """One row at a time, P(null) and the best path are those of all segmentations, phrases over rows included."""
    rng = np.random.default_rng(seed)
    settings = PbhmmSettings(max_document_phrase=3, max_abstract_phrase=3, min_documents=1, window=2, reach=8)
    lexicon = Lexicon()
    pairs = [lexicon.encode(pair) for pair in random_pairs(rng, 2)]
    parameters = random_parameters(rng, pairs, lexicon, settings)
    oracle = Oracle(pairs[0], parameters, settings)
    emission = rewriting(pairs[0], parameters, settings).emission
    transitions = parameters.chain(settings, oracle.n)
    null = np.zeros(oracle.m)
    for prob, path in oracle.paths:
        for one in path[:-1]:
            null[one.start] += (one.width == 0) * prob / oracle.likelihood

    seen = infer_rows(emission, transitions, lambda *_: None, rows=1)
    assert seen.logp == pytest.approx(np.log(oracle.likelihood), abs=1e-9)
    assert seen.null == pytest.approx(null, abs=1e-9)
    best = max(prob for prob, _ in oracle.paths)
    assert viterbi(emission, transitions, rows=1)[0] == pytest.approx(np.log(best), abs=1e-9)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_alignments_in_blocks_are_the_same(seed: int, in_file: bool, tmp_path: Path) -> None:
    """Links, posteriors, P(null) and log-probability, of paths and posteriors, in one direction and in both."""
    pair, _ = example(seed)
    folder = tmp_path if in_file else None
    for name in ("best", "paper"):
        for both in (True, False):
            settings = replace(PbhmmSettings.preset(name), both=both, threshold=0.05)
            of = RewriteParameters.prior(settings)
            whole = decode_posterior(pair, of, settings, reverse=of)
            assert whole.phrases
            for rows, columns in ((1, 1), (4, 7), (25, 9)):
                tight = InBlocks(folder=folder, rows=rows, columns=columns)
                assert decode_posterior(pair, of, settings, reverse=of, budget=tight) == whole
        settings = PbhmmSettings.preset(name)
        path = decode_path(pair, RewriteParameters.prior(settings), settings)
        for rows in (1, 4):
            assert (
                decode_path(pair, RewriteParameters.prior(settings), settings, budget=InBlocks(rows=rows))
                == path
            )
    assert not list(tmp_path.iterdir())


def counted(pair: PairIds, of: RewriteParameters, settings: PbhmmSettings, budget: Budget) -> list[Floats]:
    """Return all expected counts of a pair."""
    expected = ExpectedCounts.zeros(of, np.zeros(len(of.table)), np.zeros(len(of.stems)))
    expected.add(explain(pair, of, settings, budget), of, settings)
    return [np.atleast_1d(getattr(expected, field.name)) for field in fields(expected)]


@pytest.mark.parametrize("name", ["best", "paper"])
def test_expected_counts_in_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words looked up in parts change nothing; sums over blocks are the same but for rounding."""
    pair, lexicon = example(3)
    settings = replace(PbhmmSettings.preset(name), min_documents=1)
    of = RewriteParameters.initial([pair], lexicon.stem_of, settings)
    whole = counted(pair, of, settings, Budget())
    for found, wanted in zip(counted(pair, of, settings, InBlocks()), whole, strict=True):
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    monkeypatch.setattr("sentgen.alignment.phrase_hmm.emission.WORD_CELLS", 30)
    assert rewriting(pair, of, settings).all_parts is None
    for found, wanted in zip(counted(pair, of, settings, Budget()), whole, strict=True):
        assert np.array_equal(found, wanted)


def test_kinship_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Similar spelling does not depend on how many words are compared at a time."""
    lexicon = Lexicon()
    pair = lexicon.encode(
        Pair(
            "1",
            ("threats", "barked", "colour", "runners", "dog"),
            ("threat", "color", "barks", "run"),
        )
    )
    whole = lexicon.with_kinship(pair, wordnet=None).kinship
    monkeypatch.setattr("sentgen.alignment.words.kinship.WORD_CELLS", 6)
    parts = lexicon.with_kinship(pair, wordnet=None).kinship

    assert whole is not None
    assert parts is not None
    assert whole.kinds.any()
    assert np.array_equal(parts.kinds, whole.kinds)


def test_more_memory_is_used_before_files_and_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at once if it fits, then checkpoints, then a file for the links, and else one line with what it takes."""
    sizes = PairSizes(1_000, 50_000, 400, 6_000, 50, 2_500)
    whole = Budget(4 << 30, tmp_path).plan(sizes, table=True)
    checkpoints = Budget(1 << 30, tmp_path).plan(sizes, table=True)
    with_file = Budget(400 << 20, tmp_path).plan(sizes, table=True)
    assert whole == RowBlocks(1_000, 50_000, in_file=False)
    # The square root of half the rows: 8 * (2 * rows + m / rows) * n is least there.
    assert checkpoints == RowBlocks(22, 158, in_file=False)
    assert with_file == RowBlocks(22, 158, in_file=True)

    with pytest.raises(
        MemoryLimitError, match=r"50,000 words and an abstract of 1,000 take .* of memory and"
    ):
        Budget(100 << 20, tmp_path).plan(sizes, table=True)
    with pytest.raises(MemoryLimitError) as refused:
        Budget.of_limit(500 << 20).plan(sizes, table=True)
    # What the error says is enough.
    wanted = int(str(refused.value).split("`memory_limit` ")[1].split("MB")[0])
    assert Budget.of_limit(wanted << 20).plan(sizes, table=True) == checkpoints
    with pytest.raises(MemoryLimitError):
        Budget.of_limit((wanted - 100) << 20).plan(sizes, table=True)
    Usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1, 1, 100 << 20))
    with pytest.raises(MemoryLimitError, match=r"take 381 MB in files, and .* has 100 MB left"):
        Budget(400 << 20, tmp_path).plan(sizes, table=True)


def test_small_pairs_fit_under_any_limit() -> None:
    """A limit below what Python takes is no reason to refuse a few words."""
    pair = Pair("1", ("a", "dog"), ("dog",))
    settings = PbhmmSettings.preset("best")
    tight = PhraseHmm(
        "x", settings, RewriteParameters.prior(settings), Lexicon(), budget=Budget.of_limit(1 << 20)
    )

    assert [answer.links for answer in tight.align([pair])] == [{(1, 0)}]
    assert Budget.of_limit(BASE + (200 << 20), parts=2).memory == 100 << 20


def test_too_many_links_and_events_are_refused() -> None:
    """Links are counted as they are chosen, events before they are listed."""
    choice = LinkChoice(0.0, most=3)
    choice.take(2, np.zeros((1, 2)))
    with pytest.raises(MemoryLimitError, match=r"^more than 3 links reach the threshold 0, too many"):
        choice.take(0, np.zeros((1, 2)))
    pair, _ = example(1)
    settings = PbhmmSettings.preset("paper")
    with pytest.raises(MemoryLimitError, match=r"^the texts have \d+ phrases in common, for which"):
        rewriting(pair, RewriteParameters.prior(settings), settings, most_events=10)


def test_runs_beyond_the_most_are_not_even_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are more runs of two words than the limit, there are no events."""
    words = np.zeros(8, np.int32)
    pair = PairIds(words, words[:5], words, words[:5])
    settings = PbhmmSettings()
    # Runs of 2 or more begin at 4 x 7 places.
    monkeypatch.setattr("sentgen.alignment.phrase_hmm.emission.MOST_COPIES", 27)
    assert not len(rewriting(pair, RewriteParameters.prior(settings), settings).emission.events.start)
    monkeypatch.setattr("sentgen.alignment.phrase_hmm.emission.MOST_COPIES", 28)
    assert len(rewriting(pair, RewriteParameters.prior(settings), settings).emission.events.start) == 28


def test_batches_hold_so_many_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch ends before it has too many words; a pair that has more alone is a batch."""
    monkeypatch.setattr("sentgen.alignment.stored.stored_pairs.BATCH_WORDS", 20)
    with Store(fill(tmp_path / "toy.duckdb")) as store:
        batches = [[pair.key for _, pair in batch] for batch in pair_batches(store, "toy")]
        few = [len(batch) for batch in pair_batches(store, "toy", batch=1)]

    sizes = {pair: len(document.split()) + len(abstract.split()) for pair, document, abstract in PAIRS}
    assert [key for batch in batches for key in batch] == list(sizes)
    for batch, following in zip(batches, [*batches[1:], []], strict=True):
        assert sum(sizes[key] for key in batch) <= 20
        assert not following or sum(sizes[key] for key in (*batch, following[0])) > 20
    assert few == [1] * 6


def test_large_files_lie_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Large files are in the folder of TMPDIR, or else in /var/tmp, which is not in memory."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert Budget.to_align(1 << 30, with_store=False).folder == tmp_path
    monkeypatch.delenv("TMPDIR")
    assert Budget.to_align(1 << 30, with_store=False).folder == Path("/var/tmp")
