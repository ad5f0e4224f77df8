"""Gold standards in padded documents: added text must not take links away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.tuning import TuningExample, TuningPlan, tune
from sentgen.evaluation.alignment.experiment import Target
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair, GoldStandard
from sentgen.evaluation.alignment.gold_readers import read_gold

RTE = "rte2", "rte"
EDINBURGH = "edinburgh/gold.train.sure.json", "edinburgh"
MTREF = "mtref/mt-reference.dev.json", "mtref"
WIKI = "multimwa-wiki/wiki-dev.tsv", "multimwa"

#: Number of pairs of a set, and how many times as many words are added around each document.
PAIRS, TIMES = 150, 10


@pytest.mark.nightly(by_day=1)
@pytest.mark.data
# Texts of another set, so that none has the same subject.
@pytest.mark.parametrize(("of", "among"), [(RTE, MTREF), (EDINBURGH, RTE), (MTREF, RTE), (WIKI, RTE)])
def test_other_texts_move_little(data_dir: Path, of: tuple[str, str], among: tuple[str, str]) -> None:
    """Ten times as many words before, behind and around documents cost less than two points of F1."""
    gold, others = (read_gold(str(data_dir / "alignment" / path), form) for path, form in (of, among))
    words = [word for one in others.pairs for word in one.pair.document]
    rng = np.random.default_rng(1)
    alone = replace(gold, pairs=gold.pairs[:PAIRS])
    padded = replace(gold, pairs=tuple(padded_pair(one, words, rng) for one in alone.pairs))

    assert f1(padded) > f1(alone) - 0.02


@pytest.mark.nightly
@pytest.mark.data
def test_other_texts_move_tuned_models_little(data_dir: Path) -> None:
    """Padding costs as little with a model that is tuned on other pairs of the set."""
    gold, others = (read_gold(str(data_dir / "alignment" / path), form) for path, form in (MTREF, RTE))
    words = [word for one in others.pairs for word in one.pair.document]
    more = replace(gold, pairs=gold.pairs[60:100])
    examples = [
        TuningExample.of_links(one.pair, links.sure, links.possible)
        for one, links in zip(more.pairs, more.combined(), strict=True)
    ]
    tuned = tune(examples, TuningPlan(iterations=8)).aligner("tuned")
    rng = np.random.default_rng(1)
    alone = replace(gold, pairs=gold.pairs[:60])
    padded = replace(gold, pairs=tuple(padded_pair(one, words, rng) for one in alone.pairs))

    # With whole documents it falls by more than four.
    assert f1(padded, tuned) > f1(alone, tuned) - 0.02


def f1(gold: GoldStandard, aligner: PhraseHmm | None = None) -> float:
    target = Target(gold)
    return target.measure(list((aligner or PhraseHmm.untrained("best")).align(target.pairs)))["f1"].value


def padded_pair(one: GoldPair, words: Sequence[str], rng: np.random.Generator) -> GoldPair:
    pair, size = one.pair, TIMES * len(one.pair.document)
    begin, before = int(rng.integers(len(words) - size)), int(rng.integers(1, size))
    around = tuple(words[begin : begin + size])
    document = (*around[:before], *pair.document, *around[before:])
    moved = tuple(
        GoldLinks(*(frozenset((i + before, j) for i, j in links) for links in (each.sure, each.possible)))
        for each in one.annotations
    )
    starts = 0, before, before + len(pair.document)
    return GoldPair(replace(pair, document=document, document_starts=starts), moved)
