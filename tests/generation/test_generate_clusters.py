"""Generation from clusters: the paper's two sentences, the settings, and refusals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster_examples import FOX, LETTERS, RELIEF, fill

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.depviterbi import follow
from sentgen.generation.clusters.generate import (
    CANDIDATES,
    GeneratedSentence,
    GenerationSettings,
    Reranker,
    generate,
    length_logp,
    score,
)
from sentgen.generation.clusters.prepared import MixedModel
from sentgen.generation.clusters.settings import DocumentFrequencies, emission, parse_weights
from sentgen.models import build, find
from sentgen.models.dependency.cluster_counts import ClusterCounts, TokenReading, cluster_names
from sentgen.models.dependency.cluster_model import ClusterModel
from sentgen.models.scorer import scorer_for
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

#: A corpus of relief news, of which only the bigrams matter: blankets are distributed more often than food.
NEWS = [
    "The UN relief workers distributed blankets",
    "The UN relief workers distributed blankets",
    "The UN relief workers distributed food",
    "UN relief came to the hungry",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The paper's two sentences as the corpus `paper`, relief news and a model `news` of it, the demo's clusters."""
    folder = tmp_path_factory.mktemp("generate")
    with Store(folder / "store.duckdb", create=True) as opened:
        fill(opened, folder, {"relief": RELIEF}, "paper")
        fill(opened, folder, {"fox": FOX}, "fox")
        fill(opened, folder, {"letters": LETTERS}, "letters")
        (folder / "news.lines").write_text("\n".join(NEWS) + "\n")
        ingest(opened, [str(folder / "news.lines")], Settings("news", order=2))
        build(opened, "news", ["news"], order=2, smoothing="katz")
        ingest(opened, [str(TREEBANK)], Settings("demo", kind="cluster"))
        yield opened


def run(
    store: Store, corpus: str = "paper", length: int | range = 8, nbest: int = 1, **settings: Any
) -> list[GeneratedSentence]:
    lm = settings.pop("lm", None)
    chosen = GenerationSettings(**settings)
    lengths = [length] if isinstance(length, int) else length
    return list(generate(store, corpus, lengths=lengths, settings=chosen, nbest=nbest, lm=lm))


def test_food_is_distributed_not_blankets(store: Store) -> None:
    """The paper's figure 3: by its bigrams, blankets are distributed; food is, by the cluster's dependencies."""
    news = MixedModel(store, find(store, "news"), weight=0.0)
    (bigrams,) = run(store, length=6, algorithm="bigram", lm=news)
    found = [one.text for one in run(store, length=6, lm=news, nbest=200)]

    assert bigrams.text == "The UN relief workers distributed blankets"
    assert "distributed food" in found[0]
    food, blankets = (f"The UN relief workers distributed {what}" for what in ("food", "blankets"))
    assert food in found[: found.index(blankets)]


def test_the_sentence_of_the_paper(store: Store) -> None:
    """Figure 4: `The UN relief workers distributed food to the hungry`, which no source has, is the best of nine."""
    (found,) = run(store, length=9, lm=MixedModel(store, find(store, "news")))

    assert found.text == "The UN relief workers distributed food to the hungry"
    assert found.exact
    assert [" ".join(step.stack) for step in found.trace] == [
        "The",
        "The UN",
        "The UN relief",
        "workers",
        "distributed",
        "distributed food",
        "distributed to",
        "distributed to the",
        "distributed to hungry",
        "distributed to hungry",
    ]
    assert found.tree is not None
    assert found.tree.heads == (3, 3, 3, 4, ROOT, 4, 4, 8, 6)


def test_the_first_transition_by_hand(store: Store) -> None:
    """Both sentences begin with The, and The is before workers twice and modifies it twice.

    Bigrams: 16 tokens and ends, 2 counts of counts, so absolute discounting: p(The | <s>) = (2 - .5) / 2. Nothing is
    on the stack: p_dep = 0. Then p(workers | The) backs off; p_dep = 1, and p_tr is the average.
    """
    (found,) = run(store, length=2)
    the, workers, end = found.trace

    assert found.text == "The workers"
    assert (the.ngram, the.dep, the.transition) == (0.75, 0.0, 0.375)
    assert workers.dep == 1.0
    assert workers.transition == pytest.approx((workers.ngram + 1) / 2)
    assert (end.word, end.dep, end.transition) == ("</s>", 0.0, end.ngram / 2)
    assert found.logp == pytest.approx(
        math.log(the.transition) + math.log(workers.transition) + math.log(end.transition)
    )


def test_weight_is_that_of_dependencies(store: Store) -> None:
    """A fifth of the dependency probability and four fifths of the bigram's."""
    (found,) = run(store, length=5, weight=0.2)

    for step in found.trace:
        assert step.transition == pytest.approx(0.8 * step.ngram + 0.2 * step.dep)


def test_supported_arguments_are_those_of_the_sources(store: Store) -> None:
    """Every arc of every tree is in a sentence of the cluster, on its side, and all words hang on one root."""
    clusters = cluster_names(store, "demo")[:2]
    counts = {
        one.name: one for one in ClusterCounts.of_corpus(store, "demo", clusters, TokenReading(trees=True))
    }
    settings = GenerationSettings(arguments="supported", beam=4)
    sentences = list(generate(store, "demo", lengths=range(3, 15), settings=settings, clusters=clusters))

    assert len(sentences) > 12
    for found in sentences:
        of = counts[found.cluster]
        sources = {
            (of.words[tree.words[head]], of.words[tree.words[place]], head < place)
            for tree in of.trees
            for place, head in enumerate(tree.heads.tolist())
            if head >= 0
        }
        assert found.tree is not None
        assert found.tree.heads.count(ROOT) == 1
        for place, head in enumerate(found.tree.heads):
            assert head == ROOT or (found.words[head], found.words[place], head < place) in sources
        assert found.trace[-1].logp == pytest.approx(found.logp)


def test_lengths_are_those_of_the_sources() -> None:
    """Lengths have a distribution around those of the sentences, which balances the cost of longer strings."""
    probabilities = [math.exp(length_logp(length, [3, 9])) for length in range(1, 200)]

    assert sum(probabilities) == pytest.approx(1)
    assert probabilities[2] == max(probabilities)  # no lengths below 1, so that there is more for 3
    assert probabilities[8] > probabilities[7] > probabilities[5]
    assert score(-10.0, 9, [9]) > score(-10.0, 4, [4])


def test_the_best_of_all_lengths(store: Store) -> None:
    """As many sentences a cluster as were asked for, ranked by `score`, of those that every length has."""
    clusters = cluster_names(store, "demo")[:2]
    (counts, _) = ClusterCounts.of_corpus(store, "demo", clusters, TokenReading(trees=True))
    sources = [len(tree.words) for tree in counts.trees]
    asked: dict[str, Any] = {"lengths": range(5, 9), "clusters": clusters, "nbest": 2}
    every, found = list(generate(store, "demo", **asked)), list(generate(store, "demo", best=True, **asked))

    assert [(one.cluster, one.rank) for one in found] == [
        (name, rank) for _, name in clusters for rank in (1, 2)
    ]
    mine = [one for one in every if one.cluster == counts.name]
    expected = sorted((score(one.logp, one.length, sources) for one in mine), reverse=True)
    assert [score(one.logp, one.length, sources) for one in found[:2]] == expected[:2]


def test_bigram_is_weight_zero(store: Store) -> None:
    """The baseline is the same search without dependencies."""
    baseline, weightless = (run(store, length=7, **s) for s in ({"algorithm": "bigram"}, {"weight": 0.0}))

    assert [one.text for one in baseline] == [one.text for one in weightless]
    assert [one.logp for one in baseline] == [one.logp for one in weightless]


@pytest.mark.parametrize("reuse", ["none", "counts", "free"])
def test_reuse_limits_words(store: Store, reuse: str) -> None:
    """Each token once, each word as often as in one sentence, or without limit."""
    clusters = cluster_names(store, "demo")[:3]
    counts = {one.name: one for one in ClusterCounts.of_corpus(store, "demo", clusters)}
    settings = GenerationSettings(reuse=reuse)  # type: ignore[arg-type]
    over = 0
    for found in generate(store, "demo", lengths=[30], settings=settings, clusters=clusters, nbest=3):
        of = counts[found.cluster]
        limits = {
            "none": dict(zip(of.words, of.count.tolist(), strict=True)),
            "counts": dict(zip(of.words, of.most.tolist(), strict=True)),
        }.get(reuse)
        used = Counter(found.words)
        over += any(times > of.count[of.words.index(word)] for word, times in used.items())
        if limits is not None:
            assert all(times <= limits[word] for word, times in used.items())
    assert (over > 0) == (reuse == "free")


def test_free_reuse_is_exact(store: Store) -> None:
    """With free reuse every answer of some clusters is exact, at every tenth length."""
    clusters = cluster_names(store, "demo")[:5]
    settings = GenerationSettings(reuse="free")
    found = list(generate(store, "demo", lengths=[1, 10, 20, 30, 40], settings=settings, clusters=clusters))

    assert len(found) == 5 * 5
    assert all(one.exact for one in found)


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.8])
def test_free_reuse_is_the_best_of_all_strings_of_a_cluster(store: Store, weight: float) -> None:
    """No string of up to five of the companion's letters beats the answer, by the definition."""
    (counts,) = ClusterCounts.of_corpus(store, "letters", cluster_names(store, "letters"))
    model = ClusterModel.estimate(counts)
    right, left = model.head_right.tolist(), model.head_left.tolist()
    n = len(model.words)
    for found in run(store, "letters", range(1, 6), reuse="free", weight=weight):
        best = 0.0
        for words in product(range(n), repeat=found.length):
            deps = [step.dep for step in follow(words, right, left)[0]] + [0.0]
            edges = zip((n, *words), (*words, n), deps, strict=True)
            best = max(
                best, math.prod((1 - weight) * model.bigrams[a, b] + weight * dep for a, b, dep in edges)
            )

        assert found.exact
        assert found.logp == pytest.approx(math.log(best))


def test_without_reuse_the_beam_is_the_bound(store: Store) -> None:
    """A long answer is not marked as exact; a wider beam is no worse."""
    clusters = cluster_names(store, "demo")[:1]
    narrow, wide = (
        next(generate(store, "demo", lengths=[30], settings=GenerationSettings(beam=beam), clusters=clusters))
        for beam in (2, 50)
    )

    assert not narrow.exact
    assert narrow.logp <= wide.logp


def test_more_words_than_there_are(store: Store) -> None:
    """Nine tokens make no sentence of ten words, unless they may be used again."""
    assert run(store, "fox", 10) == []
    assert len(run(store, "fox", 10, reuse="free")) == 1


def test_the_nbest_are_different_and_ranked(store: Store) -> None:
    """Ranks count from 1, log-probabilities fall, no sentence comes twice."""
    found = run(store, length=8, nbest=20)

    assert [one.rank for one in found] == list(range(1, 21))
    assert [one.logp for one in found] == sorted((one.logp for one in found), reverse=True)
    assert len({one.words for one in found}) == 20


def test_trees_are_those_of_the_head_stack(store: Store) -> None:
    """Sides, earlier modifiers and weights agree with the heads."""
    (found,) = run(store, length=9, lm=MixedModel(store, find(store, "news")))
    tree = found.tree
    assert tree is not None

    # The, UN and relief hang left of workers, relief the nearest; food and to right of distributed.
    assert tree.sides[:4] == (0, 0, 0, 0)
    assert tree.sides[5:7] == (1, 1)
    assert (tree.earlier[0], tree.earlier[1], tree.earlier[2]) == (2, 1, 0)
    assert (tree.earlier[5], tree.earlier[6]) == (0, 1)
    assert tree.weights[0] == 0.0  # log 1: The is always a modifier of workers
    assert math.isnan(tree.weights[4])  # the root


def test_no_trees_for_the_baseline_without_parses(store: Store) -> None:
    """Bigrams take plain text; dependencies need parses, and the error says how to get them."""
    (found,) = run(store, "news", 4, algorithm="bigram")

    assert found.tree is None
    with pytest.raises(ModelError, match="no dependency trees; parse it with `parser`"):
        run(store, "news", 4)


def test_collins_relates_what_never_met(store: Store) -> None:
    """With one tag for all words, back-off relates every pair, and the search still finds the best string."""
    (plain,) = run(store, length=6, reuse="free")
    (smoothed,) = run(store, length=6, reuse="free", smoothing="collins")

    assert plain.trace[0].dep == smoothed.trace[0].dep == 0
    assert smoothed.exact
    assert all(step.dep > 0 for step in smoothed.trace[1:-1])


def test_clusters_do_not_mix(store: Store) -> None:
    """A cluster has its own words, and the same answers alone and among others."""
    clusters = cluster_names(store, "demo")
    together = [one for one in generate(store, "demo", lengths=[6]) if one.cluster == "relief-005"]
    alone = list(generate(store, "demo", lengths=[6], clusters=[c for c in clusters if c[1] == "relief-005"]))

    assert [(one.text, one.logp) for one in together] == [(one.text, one.logp) for one in alone]
    assert {one.cluster for one in generate(store, "demo", lengths=[3])} == {name for _, name in clusters}


def test_the_corpora_beside_do_not_matter(store: Store, tmp_path: Path) -> None:
    """A store with this corpus alone gives the same sentences: word ids do not matter."""
    with Store(tmp_path / "alone.duckdb", create=True) as alone:
        fill(alone, tmp_path, {"relief": RELIEF}, "paper")

        assert [one.text for one in run(alone, nbest=30)] == [one.text for one in run(store, nbest=30)]


def test_lower_case_and_no_punctuation(store: Store) -> None:
    """Strings have the words as they were counted."""
    (cluster,) = cluster_names(store, "demo", names=["relief-001"])
    settings = GenerationSettings(lowercase=True, punctuation=False)
    for found in generate(store, "demo", lengths=[5, 20], settings=settings, clusters=[cluster]):
        assert found.text == found.text.lower()
        assert not {".", ","} & set(found.words)


def test_salience_by_frequency(store: Store) -> None:
    """The relative frequency of a word in its cluster; uniform is the paper's 1."""
    (counts,) = ClusterCounts.of_corpus(store, "fox", cluster_names(store, "fox"))
    the = counts.words.index("the")

    assert emission(counts).tolist() == [0.0] * 8
    assert np.exp(emission(counts, "unigram"))[the] == pytest.approx(2 / 9)
    assert np.exp(emission(counts, "unigram")).sum() == pytest.approx(1)


def test_salience_by_document_frequency(store: Store) -> None:
    """A word of one of three clusters has idf ln(4 / 2) + 1, a word of all has 1."""
    (counts,) = ClusterCounts.of_corpus(store, "fox", cluster_names(store, "fox"))
    frequencies = DocumentFrequencies(dict.fromkeys(counts.words, 3) | {"fox": 1}, 3)
    weights = np.exp(emission(counts, "tfidf", frequencies))
    fox, dog, the = (counts.words.index(word) for word in ("fox", "dog", "the"))

    assert weights.sum() == pytest.approx(1)
    assert weights[fox] / weights[dog] == pytest.approx(math.log(2) + 1)
    assert weights[the] / weights[dog] == pytest.approx(2)
    with pytest.raises(ValueError, match="document frequencies"):
        emission(counts, "tfidf")


def test_salience_chooses_words(store: Store) -> None:
    """A word with a great weight is used, one with weight 0 is not; words without a line have 1."""
    heavy = run(store, length=3, salience={"blankets": 1e6})
    without = run(store, length=5, nbest=10, salience={"The": 0.0, "the": 0.0})

    assert "blankets" in heavy[0].words
    assert not any("The" in one.words or "the" in one.words for one in without)


def test_salience_over_clusters(store: Store) -> None:
    """tfidf asks the corpus how many clusters have a word."""
    found = list(generate(store, "demo", lengths=[4], settings=GenerationSettings(salience="tfidf")))

    assert len(found) == 34


def test_weights_are_read_with_their_lines() -> None:
    """A line that is not a word and a number is refused with its number."""
    assert parse_weights(["a 1", "", "b\t2.5"], path="w") == {"a": 1.0, "b": 2.5}
    for line in ("a", "a b", "a -1", "a nan", "a b 1", "a inf"):
        with pytest.raises(InputError, match="w:2: "):
            parse_weights(["x 1", line], path="w")


def test_negative_weights_are_refused(store: Store) -> None:
    """Weights that come from a program are checked, too."""
    with pytest.raises(InputError, match="weight -1 of 'food'"):
        run(store, salience={"food": -1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "beam"}, "algorithm 'beam' is none of: depviterbi, bigram"),
        ({"reuse": "some"}, "reuse 'some' is none of: none, counts, free"),
        ({"smoothing": "katz"}, "smoothing 'katz' is none of: none, collins"),
        ({"salience": "idf"}, "salience 'idf' is none of: uniform, unigram, tfidf"),
        ({"weight": 1.0}, "weight 1.0 is not from 0 to less than 1"),
        ({"weight": -0.1}, "weight -0.1 is not"),
        ({"weight": math.nan}, "weight nan is not"),
        ({"beam": 0}, "a beam of 0 holds nothing"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    """A setting that makes no sense is refused in one line."""
    with pytest.raises(InputError, match=message):
        GenerationSettings(**settings)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_model_chooses_among_the_best(store: Store, weight: float) -> None:
    """The answers are the best of twenty a length by cluster and model together."""
    news, lengths = find(store, "news"), range(5, 9)
    found = list(generate(store, "paper", lengths=lengths, nbest=CANDIDATES))
    model = [
        one.log10 * math.log(10) for one in score_sentences(store, news, [one.text.split() for one in found])
    ]
    wanted = {
        length: sorted(
            (-(1 - weight) * one.logp - weight * logp, one.rank, one.text)
            for one, logp in zip(found, model, strict=True)
            if one.length == length
        )[:3]
        for length in lengths
    }

    chosen = list(
        generate(
            store, "paper", lengths=lengths, nbest=3, reranker=Reranker(scorer_for(store, "news"), weight)
        )
    )

    assert [(one.length, one.rank) for one in chosen] == [(n, k) for n in lengths for k in (1, 2, 3)]
    for one in chosen:
        score, _, text = wanted[one.length][one.rank - 1]
        assert one.score == pytest.approx(-score)
        assert one.text == text
        assert not one.exact


def test_requests_are_checked(store: Store) -> None:
    """Lengths and n count from 1, models weigh 0 to 1, and corpora exist."""
    with pytest.raises(InputError, match="length 0 is too short"):
        generate(store, "paper", lengths=[0, 3])
    with pytest.raises(InputError, match="0 sentences a length is too few"):
        generate(store, "paper", nbest=0)
    with pytest.raises(InputError, match=r"lm-weight 1.5 is not from 0 to 1"):
        MixedModel(store, find(store, "news"), weight=1.5)
    with pytest.raises(InputError, match=r"rerank-weight -1 is not from 0 to 1"):
        Reranker(scorer_for(store, "news"), weight=-1)
    with pytest.raises(NotFoundError, match="no corpus 'clusters'"):
        generate(store, "clusters")


def test_traces_follow_the_definition(store: Store) -> None:
    """Stacks, relations and probabilities of traces are those of `head_stack.follow` over the counts."""
    clusters = cluster_names(store, "demo")[:4]
    counts = {one.name: one for one in ClusterCounts.of_corpus(store, "demo", clusters)}
    for found in generate(store, "demo", lengths=[12], clusters=clusters, nbest=3):
        of = counts[found.cluster]
        together = np.maximum(of.pairs.together, 1)
        steps, heads = follow(
            [of.words.index(word) for word in found.words],
            (of.pairs.to_right / together).tolist(),
            (of.pairs.to_left / together).tolist(),
        )

        assert [step.dep for step in steps] == pytest.approx([step.dep for step in found.trace[:-1]])
        assert found.tree is not None
        assert list(found.tree.heads) == heads
        assert found.logp == pytest.approx(found.trace[-1].logp)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"nearness": 0.0}, "nearness 0.0 is not more than 0"),
        ({"nearness": 1.5}, "at most 1"),
        ({"nearness": 0.5, "algorithm": "bigram"}, "not used here"),
        ({"nearness": 0.5, "arguments": "supported"}, "not used here"),
    ],
)
def test_nearness_is_a_share_of_what_is_used(settings: dict[str, Any], why: str) -> None:
    """Nearness must be above 0, and needs a head stack."""
    with pytest.raises(InputError, match=why):
        GenerationSettings(**settings)


def test_near_relations_are_favored(store: Store) -> None:
    """With nearness 1/2, strings of the demo change, and their traces add up."""
    clusters = cluster_names(store, "demo")[:2]
    far, near = (
        list(
            generate(
                store, "demo", lengths=[8, 12], settings=GenerationSettings(nearness=share), clusters=clusters
            )
        )
        for share in (1.0, 0.5)
    )

    assert [one.text for one in far] != [one.text for one in near]
    for one in near:
        assert one.trace[-1].logp == pytest.approx(one.logp)
