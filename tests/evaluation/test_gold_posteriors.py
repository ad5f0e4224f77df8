"""Gold links and the posteriors of the preset ``best`` without training."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.words.word_states import word_states
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.evaluation.alignment.measures import measure

#: Each set with the least macro F1: a tenth of a point below that without WordNet when states were added.
SETS = {
    "rte": ("rte2", 0.881),
    "edinburgh": ("edinburgh", 0.898),
    "mtref": ("mtref/mt-reference.dev.json", 0.851),
    "multimwa": ("multimwa-wiki/wiki-dev.tsv", 0.975),
}
#: Fewest links of a state for which a share is given.
ENOUGH = 50


@pytest.mark.nightly(by_day=1)
@pytest.mark.data
@pytest.mark.parametrize("form", SETS)
def test_posteriors_of_a_sample(data_dir: Path, form: str) -> None:
    """Of the links of 0.9 to 1 in the first pairs, nine of ten or more are right, in every state."""
    shares = certain_links(data_dir, form, 30)

    assert min(shares.values()) >= 0.9


@pytest.mark.nightly
@pytest.mark.data
@pytest.mark.parametrize(("form", "least"), [(form, least) for form, (_, least) in SETS.items()])
def test_gold_links(data_dir: Path, form: str, least: float) -> None:
    """Macro F1 does not fall."""
    gold = read_gold(str(data_dir / "alignment" / SETS[form][0]), form)
    pairs = [one.pair for one in gold.pairs]

    assert measure(pairs, list(PhraseHmm.untrained().align(pairs)), gold.combined())["macro-f1"].value > least


def certain_links(data_dir: Path, form: str, count: int) -> dict[str, float]:
    """Return the share of right links among those of 0.9 to 1: of all, and by state if there are enough.

    Links that are only possible are neither right nor wrong.
    """
    gold = read_gold(str(data_dir / "alignment" / SETS[form][0]), form).first(count)
    pairs, right = [one.pair for one in gold.pairs], defaultdict[str, list[bool]](list)
    for pair, answer, links in zip(pairs, PhraseHmm.untrained().align(pairs), gold.combined(), strict=True):
        states = word_states(pair, answer)
        certain = (one for one in answer.phrases if one.posterior is not None and one.posterior >= 0.9)
        for i, j in (link for phrase in certain for link in phrase.links):
            if (i, j) in links.sure or (i, j) not in links.possible:
                for row in ("all", states[j].state):
                    right[row].append((i, j) in links.sure)
    return {row: sum(found) / len(found) for row, found in right.items() if len(found) >= ENOUGH}
