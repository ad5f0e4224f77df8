"""Mixtures: weighted sums of probabilities by definition; weights by EM; refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from stored import copied, model_problems
from toy_corpus import Gram, add_corpus, assert_sums_to_one, lookup, ngrams

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError
from sentgen.generation.answers import OrderingRequest
from sentgen.models import ModelInfo, build, export_arpa, find, import_arpa, remove
from sentgen.models.base.symbols import Symbols
from sentgen.models.lookup import explain
from sentgen.models.mix import MixRequest, best_weights
from sentgen.models.ngrams.ngram_table import score_words
from sentgen.models.scoring import score_sentences
from sentgen.models.submodel import prefetch
from sentgen.schema import Store
from sentgen.schema.tables.corpus import EOS

Arpa = dict[Gram, tuple[float, float]]
few = settings(
    max_examples=settings.default.max_examples // 7,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
texts = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=6)
others = st.lists(
    st.lists(st.sampled_from(["b", "c", "e", "f", "<unk>"]), min_size=1, max_size=6), min_size=1, max_size=6
)


def mix(store: Store, of: str, **options: object) -> ModelInfo:
    return MixRequest(name="both", of=of, **options).make(store)


def given_by(model: Arpa, gram: Gram) -> float:
    """Return p of the last word: 0 if only other models know it; unknown words of the context are <unk>."""
    known = {gram[0] for gram in model if len(gram) == 1}
    if gram[-1] not in known:
        return 0.0
    read = tuple(word if word in known else "<unk>" for word in gram)
    order = max(map(len, model))
    return 10 ** lookup(model, read[-order:])


def two_models(store: Store, one: Sequence, other: Sequence, orders: tuple[int, int]) -> None:
    for name, text, order in zip(("one", "other"), (one, other), orders, strict=True):
        add_corpus(store, name, text)
        build(store, name, [name], order=order)


@few
@given(
    one=texts,
    other=others,
    orders=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    share=st.floats(0.01, 0.99),
)
def test_each_stored_ngram_has_the_sum(
    tmp_path_factory: pytest.TempPathFactory, one: list, other: list, orders: tuple[int, int], share: float
) -> None:
    """Each n-gram of the union has the sum by definition; probabilities sum to 1 after each context."""
    with Store(tmp_path_factory.mktemp("s") / "s.duckdb", create=True, threads=1) as store:
        two_models(store, one, other, orders)
        parts = [ngrams(store, find(store, name)) for name in ("one", "other")]

        model = mix(store, "one,other", weights=f"{share},{1 - share}")
        mixed = ngrams(store, model)

        assert set(mixed) == set(parts[0]) | set(parts[1])
        for gram, (logp, _) in mixed.items():
            if gram != ("<s>",):
                expected = share * given_by(parts[0], gram) + (1 - share) * given_by(parts[1], gram)
                assert 10**logp == pytest.approx(expected, rel=1e-9), gram
        assert_sums_to_one(mixed, max(orders))


@few
@given(
    one=texts,
    other=others,
    orders=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    sentences=st.lists(st.lists(st.sampled_from([*"abcdefz"]), max_size=6), min_size=1, max_size=5),
)
def test_a_dynamic_mixture_is_the_sum(
    tmp_path_factory: pytest.TempPathFactory, one: list, other: list, orders: tuple[int, int], sentences: list
) -> None:
    """The mixture is the sum for any sentence, as text and as an order of a bag."""
    with Store(tmp_path_factory.mktemp("s") / "s.duckdb", create=True, threads=1) as store:
        two_models(store, one, other, orders)
        parts = [ngrams(store, find(store, name)) for name in ("one", "other")]
        known = {gram[0] for part in parts for gram in part if len(gram) == 1}

        model = mix(store, "one,other", weights=".3,.7", dynamic=True)

        bags = prefetch(store, model, sentences)
        for words, score in zip(sentences, score_sentences(store, model, sentences), strict=True):
            read = ["<s>", *(word if word in known else "<unk>" for word in words), "</s>"]
            expected = 0.0
            for end in range(2, len(read) + 1):
                first, second = (given_by(part, tuple(read[:end])) for part in parts)
                expected += math.log10(0.3 * first + 0.7 * second)
            assert score.log10 == pytest.approx(expected, abs=1e-9)
            logp, state = score_words(bags.table, bags.table.start, bags.encode(words))
            logp += score_words(bags.table, state, np.array([EOS], np.int32))[0]
            assert logp / math.log(10) == pytest.approx(expected, abs=1e-9)


def test_weights_are_the_best_ones() -> None:
    """EM finds the weights of a full search; for three models no small change is better."""
    p = np.random.default_rng(1).dirichlet([0.3] * 40, 3)[:, np.random.default_rng(2).integers(0, 40, 500)]

    found, _ = best_weights(p[:2])
    best = minimize_scalar(
        lambda w: -np.log(w * p[0] + (1 - w) * p[1]).sum(), bounds=(0, 1), method="bounded"
    )
    assert found == pytest.approx([best.x, 1 - best.x], abs=1e-4)
    found, _ = best_weights(p)
    for step in ([1, -1, 0], [0, 1, -1], [1, 0, -1]):
        for sign in (1, -1):
            aside = found + sign * 1e-3 * np.array(step)
            assert np.log(found @ p).sum() >= np.log(aside @ p).sum()
    assert found.sum() == pytest.approx(1)


@pytest.fixture(scope="module")
def unmixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two models; no test changes it."""
    path = tmp_path_factory.mktemp("unmixed") / "store.duckdb"
    with Store(path, create=True) as store:
        two_models(store, ["a b a c", "b a", "c a b"], ["b c e", "e c b b", "c f"], (3, 2))
    return path


@pytest.fixture
def mixable(unmixed: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of that store, open for writing."""
    with copied(unmixed, tmp_path) as store:
        yield store


def test_weights_are_learnt_from_a_file_or_a_corpus(mixable: Store, tmp_path: Path) -> None:
    """Text that is more like one model gives it a greater weight."""
    held = ["a b a", "c a b a", "e c"]
    (tmp_path / "held.lines").write_text("\n".join(held) + "\n")
    ingest(mixable, [str(tmp_path / "held.lines")], Settings("held"))

    by_file = mix(mixable, "one,other", tune=str(tmp_path / "held.lines"))
    by_corpus = mix(mixable, "one,other", tune_corpus="held", dynamic=True)

    assert by_file.parts == by_corpus.parts
    weights = dict(by_file.parts)
    assert weights["one@1"] > 0.6
    with pytest.raises(InputError, match="one@1 was built from corpus 'one'; learn weights from other text"):
        mix(mixable, "one,other", tune_corpus="one")


def test_what_is_noted(mixable: Store) -> None:
    """A mixture records the corpora, sizes and parts of its models, and becomes stale with them."""
    model = mix(mixable, "one,other@1")

    assert (model.smoothing, model.order, model.parts) == ("mixture", 3, (("one@1", 0.5), ("other@1", 0.5)))
    assert (model.corpora, model.sentences, model.tokens) == (("one", "other"), 6, 18)
    assert model.vocabulary == len({"a", "b", "c", "e", "f", "</s>", "<unk>"})
    assert not model.is_stale(mixable)
    add_corpus(mixable, "other", ["b"])
    assert model.is_stale(mixable)


def test_contexts_may_go_on_in_no_model(store: Store) -> None:
    """One model has d and <s> d of order 4, which nothing but the end follows."""
    two_models(store, ["d", "a b"], ["b"], (4, 2))

    mixed = ngrams(store, mix(store, "one,other"))

    assert set(mixed) == set(ngrams(store, find(store, "one"))) | set(ngrams(store, find(store, "other")))
    assert_sums_to_one(mixed, 4)


def test_the_checks_of_a_store_hold(mixable: Store) -> None:
    """The checks of sums, sizes and corpora pass for both kinds, and for orders with fewer contexts."""
    mix(mixable, "one,other")
    mix(mixable, "one,other", dynamic=True)

    assert model_problems(mixable) == {}


def test_a_dynamic_mixture_needs_its_models(mixable: Store, tmp_path: Path) -> None:
    model = mix(mixable, "one,other", dynamic=True)

    with pytest.raises(ModelError, match=r"both@1 looks one@1 up; first: sentgen models remove both@1"):
        remove(mixable, "one")
    with pytest.raises(ModelError, match=r"sentgen models mix NAME --of one@1,other@1 --weights 0.5,0.5"):
        export_arpa(mixable, model, tmp_path / "both.arpa")
    with pytest.raises(ModelError, match="name the models that it looks up: one@1,other@1"):
        mix(mixable, "both,one")
    with pytest.raises(ModelError, match="ask for one@1, other@1"):
        explain(mixable, model, ["a", "b"])
    assert {"one@1 0.5, other@1 0.5"} <= {value for name, _, value in model.describe(mixable) if name == "of"}
    remove(mixable, "both")
    remove(mixable, "one")


def test_an_exported_mixture_is_read_again(mixable: Store, tmp_path: Path) -> None:
    model = mix(mixable, "one,other")

    export_arpa(mixable, model, tmp_path / "both.arpa")

    again = import_arpa(mixable, "again", tmp_path / "both.arpa")
    assert ngrams(mixable, again).keys() == ngrams(mixable, model).keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "one"}, "two models or more"),
        ({"of": "one,one@1"}, "named twice"),
        ({"of": "one,other", "weights": ".5"}, "1 numbers for 2 models"),
        ({"of": "one,other", "weights": ".5,.6"}, "sum to 1.1"),
        ({"of": "one,other", "weights": "1,0"}, "no numbers above 0"),
        ({"of": "one,other", "weights": ".5,nan"}, "no numbers above 0"),
        ({"of": "one,other", "weights": ".5,.5", "tune": "x"}, "from one place"),
    ],
)
def test_what_is_wrong_is_said(mixable: Store, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mix(mixable, options.pop("of"), **options)


def test_models_of_different_kinds_are_refused(mixable: Store) -> None:
    add_corpus(mixable, "tagged", ["a/X b/Y"], tags="xpos_id")
    build(mixable, "tags", ["tagged"], order=2, symbols=Symbols("tags"))
    build(mixable, "counts", ["one"], order=2, smoothing="stupid-backoff")

    with pytest.raises(ModelError, match=r"differ in what n-grams are made of .*one@1 words, tags@1 tags"):
        mix(mixable, "one,tags")
    with pytest.raises(ModelError, match="counts@1: scores of stupid-backoff are no probabilities"):
        mix(mixable, "one,counts")


def test_models_of_lower_cased_corpora_and_others_are_refused(mixable: Store, tmp_path: Path) -> None:
    """Models of different case are refused, as one cannot have words of the other; imported ones may be either."""
    (tmp_path / "lower.lines").write_text("A b A\nB c\n")
    ingest(mixable, [str(tmp_path / "lower.lines")], Settings("lower", lowercase=True))
    lower = build(mixable, "lower", ["lower"], order=2)
    export_arpa(mixable, lower, tmp_path / "lower.arpa")
    import_arpa(mixable, "read", tmp_path / "lower.arpa")

    for dynamic in (False, True):
        with pytest.raises(ModelError, match=r"differ in case cannot be mixed \(one@1 kept, lower@1 lower\)"):
            mix(mixable, "one,lower", dynamic=dynamic)
        assert mix(mixable, "lower,read", dynamic=dynamic).parts
        assert mix(mixable, "one,read", dynamic=dynamic).parts


@pytest.mark.parametrize("algorithm", ["greedy", "viterbi", "lmo"])
def test_words_are_ordered_by_a_dynamic_mixture(mixable: Store, algorithm: str) -> None:
    """The order that is found has the score that it has as a sentence."""
    model = mix(mixable, "one,other", weights=".4,.6", dynamic=True)
    asked = OrderingRequest(bag=["a b c e f z"], model="both", algorithm=algorithm)

    (found,) = asked.answer(mixable, lambda notation: [notation.bag("a b c e f z")]).sentences

    (score,) = score_sentences(mixable, model, [found.words])
    assert found.logp / math.log(10) == pytest.approx(score.log10, abs=1e-9)
    assert sorted(found.words) == ["a", "b", "c", "e", "f", "z"]
