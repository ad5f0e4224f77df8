"""Pruning: it removes the n-grams of least relative entropy, and the rest sums to 1."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_corpus import Gram, add_corpus, assert_sums_to_one, lookup, ngrams

from sentgen.errors import InputError, ModelError
from sentgen.models import ModelInfo, build, find, remove
from sentgen.models.prune import PruneRequest
from sentgen.schema import Store

Arpa = dict[Gram, tuple[float, float]]
TEXT = ["a b a c", "a c b", "b a", "a b a", "c c a b", "b c"]


def prune(store: Store, of: str, **options: object) -> ModelInfo:
    return PruneRequest(name="small", of=of, **options).make(store)


def likelihood(model: Arpa, words: Gram) -> float:
    """Return the probability of a context: the product of its words, with </s> for <s>."""
    p = 1.0
    for i, word in enumerate(words):
        p *= 10 ** lookup(model, ("</s>",) if word == "<s>" else words[: i + 1])
    return p


def without(model: Arpa, gram: Gram) -> Arpa:
    """Return the model without an n-gram, with a new weight of its context."""
    less = {known: value for known, value in model.items() if known != gram}
    context = gram[:-1]
    after = [known for known in less if known[:-1] == context]
    left = 1 - sum(10 ** less[known][0] for known in after)
    shorter = 1 - sum(10 ** lookup(less, known[1:]) for known in after)
    less[context] = (less[context][0], math.log10(left / shorter))
    return less


def divergence(model: Arpa, gram: Gram) -> float:
    """Return the relative entropy of a model and of itself without an n-gram, by definition, over all words."""
    less, context = without(model, gram), gram[:-1]
    words = [known[0] for known in model if len(known) == 1 and known != ("<s>",)]
    change = 0.0
    for word in words:
        p, q = lookup(model, (*context, word)), lookup(less, (*context, word))
        change += 10**p * (p - q) * math.log(10)
    return likelihood(model, context) * change


def pruned(model: Arpa, threshold: float) -> Arpa:
    """Return the remaining model; n-grams are judged by the whole model, the longest first."""
    stays = dict(model)
    for n in range(max(map(len, model)), 1, -1):
        needed = {gram[:-1] for gram in stays if len(gram) == n + 1}
        for gram in [gram for gram in stays if len(gram) == n and gram not in needed]:
            lower = {known: value for known, value in model.items() if len(known) <= n}
            if math.expm1(divergence(lower, gram)) < threshold:
                del stays[gram]
    return stays


texts = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=2, max_size=6)


@settings(
    max_examples=settings.default.max_examples // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=texts,
    order=st.integers(1, 4),
    smoothing=st.sampled_from(["kneser-ney", "katz"]),
    log=st.floats(-5, -0.5),
)
def test_what_goes_changes_least(
    tmp_path_factory: pytest.TempPathFactory, text: list[list[str]], order: int, smoothing: str, log: float
) -> None:
    """The n-grams below the threshold are removed, and the model still sums to 1."""
    with Store(tmp_path_factory.mktemp("s") / "s.duckdb", create=True, threads=1) as store:
        add_corpus(store, "text", text)
        whole = ngrams(store, build(store, "whole", ["text"], order=order, smoothing=smoothing))

        small = ngrams(store, prune(store, "whole", entropy=10**log))

    assert set(small) == set(pruned(whole, 10**log))
    assert all(logp == pytest.approx(whole[gram][0], abs=1e-9) for gram, (logp, _) in small.items())
    assert_sums_to_one(small, order)


def test_a_threshold_of_nothing_keeps_what_tells_anything(store: Store) -> None:
    """With threshold 0, only n-grams go whose removal changes nothing: their suffix gives the same value."""
    add_corpus(store, "text", TEXT)
    whole = ngrams(store, build(store, "whole", ["text"], order=3))

    model = prune(store, "whole@1", entropy=1e-15)

    small = ngrams(store, model)
    assert set(small) <= set(whole)
    for words in ("a b a", "c a b", "b b"):
        gram = ("<s>", *words.split(), "</s>")
        for i in range(1, len(gram)):
            read = gram[max(0, i - 2) : i + 1]
            assert lookup(small, read) == pytest.approx(lookup(whole, read), abs=1e-6)
    assert (model.smoothing, model.parts, model.corpora) == ("pruned", (("whole@1", 1.0),), ("text",))


def test_rare_ngrams_go_as_if_built_so(store: Store) -> None:
    """Discounts are those of all counts, and the lowest counts of the model still apply."""
    add_corpus(store, "text", TEXT)
    build(store, "whole", ["text"], order=3, min_count=[1, 2])
    expected = ngrams(store, build(store, "expected", ["text"], order=3, min_count=[1, 2, 3]))

    model = prune(store, "whole", min_count="1,1,3")

    assert ngrams(store, model) == expected
    assert model.min_count == (1, 2, 3)
    assert model.smoothing == "kneser-ney"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give `entropy` or `min_count`"),
        ({"entropy": 1e-8, "min_count": "1"}, "give `entropy` or `min_count`"),
        ({"entropy": 0.0}, "no share above 0"),
        ({"entropy": math.nan}, "no share above 0"),
        ({"min_count": "x"}, "no list of numbers"),
    ],
)
def test_one_threshold(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PruneRequest(name="small", of="whole", **options)


def test_what_has_no_counts_is_refused(store: Store, tmp_path: Path) -> None:
    add_corpus(store, "text", TEXT)
    build(store, "whole", ["text"], order=2)
    prune(store, "whole", entropy=1e-3)
    build(store, "counts", ["text"], order=2, smoothing="stupid-backoff")

    with pytest.raises(ModelError, match="small@1 has no counts"):
        prune(store, "small", min_count="2")
    with pytest.raises(ModelError, match="no probabilities"):
        prune(store, "counts", entropy=1e-8)
    add_corpus(store, "text", ["a a"])
    with pytest.raises(ModelError, match="whole@1 is stale"):
        prune(store, "whole", min_count="2")
    # The pruned model works without the whole one.
    remove(store, "whole")
    assert find(store, "small").parts == (("whole@1", 1.0),)
