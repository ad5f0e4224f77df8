"""Perplexity of the models of clusters: distributions, against traces word by word, and refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from cluster_examples import LETTERS, RELIEF, Parsed, fill

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.papers.wan2005 import MODELS, held_out_perplexity, next_word
from sentgen.generation.clusters.prepared import CorpusDependencies, PreparedCluster
from sentgen.generation.clusters.settings import GenerationSettings
from sentgen.schema import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The companion's letters, each string as a cluster of its own, and the paper's sentences."""
    folder = tmp_path_factory.mktemp("held-out")
    with Store(folder / "store.duckdb", create=True) as opened:
        fill(opened, folder, {"first": LETTERS[:1], "second": LETTERS[1:]}, "letters")
        fill(opened, folder, {"relief": RELIEF}, "paper")
        yield opened


def sentences(parsed: Sequence[Parsed]) -> list[Sentence]:
    return [
        Sentence(
            [form for form, _ in one],
            upos=["X"] * len(one),
            heads=[head for _, head in one],
            deprels=["dep" if head else "root" for _, head in one],
        )
        for one in parsed
    ]


@pytest.mark.parametrize("weight", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("corpus", [False, True])
def test_each_model_is_a_distribution(store: Store, weight: float, corpus: bool) -> None:
    """Each model sums to 1 over words and end, after each word and with any stack; p_tr as stated does not."""
    dependencies = CorpusDependencies(store, ("letters",)) if corpus else None
    settings = GenerationSettings(weight=weight)
    (prepared,) = PreparedCluster.of_corpus(store, "paper", None, settings, dependencies=dependencies)
    n = len(prepared.model.words)
    rng = np.random.default_rng(1)
    totals = []
    for before in range(n + 1):
        stack = rng.choice(n, int(rng.integers(0, 4)), replace=False).tolist()
        distributions, total = next_word(prepared, before, stack)
        totals.append(total)
        assert len(distributions) == len(MODELS)
        for each in distributions:
            assert each.shape == (n + 1,)
            assert (each >= 0).all()
            assert each.sum() == pytest.approx(1)
    assert (max(totals) - min(totals) > 0.1) == (weight > 0)


@pytest.mark.parametrize("weight", [0.3, 0.5])
def test_perplexity_is_that_of_the_traces(store: Store, weight: float) -> None:
    """Each string is scored by the model of the other one; the sum of p_tr is found by trying every word.

    Both have the same five letters, so that no event is left out: 2 * 6 of them.
    """
    settings = GenerationSettings(weight=weight)
    first, second = PreparedCluster.of_corpus(store, "letters", None, settings)
    logs, totals = dict.fromkeys(MODELS, 0.0), []
    for held, prepared in ((LETTERS[0], second), (LETTERS[1], first)):
        words = [prepared.model.words.index(form) for form, _ in held]
        for at, word in enumerate([*words, len(prepared.model.words)]):
            options = following(prepared, words[:at])
            totals.append(sum(p for _, _, p in options))
            deps = sum(dep for _, dep, _ in options)
            ngram, dep, transition = options[word]
            share = (1 - weight) * ngram + weight * dep / deps if deps else ngram
            for name, p in zip(MODELS, (ngram, transition / totals[-1], share), strict=True):
                logs[name] += math.log(p)

    for one in held_out_perplexity([sentences(LETTERS)], settings=settings):
        assert one.perplexity == pytest.approx(math.exp(-logs[one.model] / len(totals)))
        assert (one.events, one.unknown) == (len(totals), 0) == (12, 0)
        assert one.sum == pytest.approx(sum(totals) / len(totals))
        assert (one.p is None) == (one.model == "bigram")


def following(prepared: PreparedCluster, prefix: list[int]) -> list[tuple[float, float, float]]:
    """Return p_ngram, p_dep and p_tr of each word after a beginning, and of the end, by their traces."""
    traces = [prepared.reader().read([*prefix, x])[0] for x in range(len(prepared.model.words))]
    found = [(trace[-2].ngram, trace[-2].dep, trace[-2].transition) for trace in traces]
    if prefix:
        end = prepared.reader().read(prefix)[0][-1]
        return [*found, (end.ngram, end.dep, end.transition)]
    # There is no trace of an empty sentence: the end has the remaining probability.
    left = 1 - sum(ngram for ngram, _, _ in found)
    return [*found, (left, 0.0, (1 - prepared.weight) * left)]


def test_unknown_words_and_what_follows_them_are_left_out() -> None:
    """Events with unknown words are left out; `we` and ends after known words count.

    Sentences `we ate`, `we ate`, `we slept`: held out, the first two have 3 events each, as the third one
    knows nothing that the others do not; the third has `we`, and neither `slept` nor the end behind it.
    """
    clusters = [sentences([[("we", 2), (verb, 0)] for verb in ("ate", "ate", "slept")])]
    found = held_out_perplexity(clusters)

    assert {(one.events, one.unknown) for one in found} == {(3 + 3 + 1, 2)}


def test_a_sentence_to_hold_out_is_needed() -> None:
    """Clusters of one sentence are left out; if all are such, the comparison is refused."""
    with pytest.raises(InputError, match="no cluster has two sentences"):
        held_out_perplexity([sentences(LETTERS[:1])])
