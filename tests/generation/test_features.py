"""Several models in one beam: against all permutations, against the plain reference, and against scored texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from beam_reference import best_path
from hypothesis import given
from hypothesis import strategies as st
from test_beam import FIRST_WORD, random_table

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.generation import Problem, SearchSettings, parse_bag, regenerate
from sentgen.generation.algorithms import algorithm_named, settings_record
from sentgen.generation.bags.problem import Features, Weights
from sentgen.generation.ngrams.beam import BeamSettings, order_units, value
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.generation.plan import Search
from sentgen.generation.prepare import prepare
from sentgen.generation.regenerate import order_bags, solve
from sentgen.models import build, find
from sentgen.models.base.symbols import Symbols
from sentgen.models.ngrams.ngram_table import EMPTY, NgramTables, extend, table_at
from sentgen.models.scoring import score_sentences
from sentgen.output.display import natural
from sentgen.schema import Store
from sentgen.schema.tables.corpus import EOS

#: The symbols of one unit in each of three models; in the first one they are words.
Spelled = tuple[tuple[int, ...], ...]
SYMBOLS = st.lists(st.integers(FIRST_WORD, FIRST_WORD + 4), min_size=1, max_size=2).map(tuple)
UNITS = st.lists(st.tuples(SYMBOLS, SYMBOLS, SYMBOLS), min_size=1, max_size=5)
#: Sums of halves are exact in any order of addition.
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def problem_of(units: Sequence[Spelled], seed: int, weights: Sequence[float], beam: int = 10**6) -> Problem:
    """A bag with three random models, of which the first knows the words."""
    tables = [random_table(3 * seed + model, halves=True) for model in range(3)]
    words = [np.array([one for unit in units for one in unit[model]], np.int32) for model in range(3)]
    offsets = [np.cumsum([0, *(len(unit[model]) for unit in units)], dtype=np.int32) for model in range(3)]
    return Problem(
        tables[0],
        words[0],
        offsets[0],
        np.arange(len(units), dtype=np.int32),
        SearchSettings(
            (BeamSettings(beam), FeatureSettings(Weights.read(f"a={weights[0]},b={weights[1]}", "feature")))
        ),
        3,
        features=Features(NgramTables.side_by_side(tables), tuple(words[1:]), tuple(offsets[1:])),
    )


def logp_of(problem: Problem, units: Sequence[Spelled], weights: Sequence[float]) -> float:
    """The weighted sum of three sentences, word by word."""
    total = 0.0
    for model, weight in enumerate([1.0, *weights]):
        table = random_table_of(problem, model)
        state = int(problem.features.tables.start[model]) if problem.features else 0
        for word in [*(one for unit in units for one in unit[model]), EOS]:
            logp, state = extend(table, state, word)
            total += weight * logp
    return total


def random_table_of(problem: Problem, model: int) -> Any:
    assert problem.features
    return table_at(problem.features.tables, model)


@given(UNITS, st.integers(0, 5), st.tuples(WEIGHTS, WEIGHTS))
def test_an_infinite_beam_finds_the_best_sums_of_all_permutations(
    units: list[Spelled], seed: int, weights: tuple[float, float]
) -> None:
    """Units of different lengths by model, and duplicates: all strings of words, ranked by their sums."""
    problem = problem_of(units, seed, weights)
    best: dict[tuple[int, ...], float] = {}
    for order in permutations(range(len(units))):
        score = logp_of(problem, [units[unit] for unit in order], weights)
        assert value(problem, order, None) == score
        string = problem.string_of(order)
        best[string] = max(score, best.get(string, score))
    ranked = sorted(best.values(), reverse=True)
    (one,), nbest = order_units(problem), order_units(problem, 10)

    assert one.score == ranked[0]
    assert [found.score for found in nbest] == ranked[:10]
    assert [best[problem.string_of(found.units)] for found in nbest] == ranked[:10]


@given(UNITS, st.integers(0, 5), st.tuples(WEIGHTS, WEIGHTS), st.integers(1, 5))
def test_kernel_agrees_with_reference(
    units: list[Spelled], seed: int, weights: tuple[float, float], beam: int
) -> None:
    """Narrow beams and many ties: recombined by the states of all models, ranked with their future costs."""
    problem = problem_of(units, seed, weights, beam)
    tables = [random_table_of(problem, model) for model in range(3)]
    factors = (1.0, *weights)
    different = sorted(dict.fromkeys(units), key=lambda unit: len(unit[0]))

    def together(state: Any, step: Any) -> tuple[float, Any]:
        """Extend all models by the end or by a word of the first one; the others add theirs at its first word."""
        total, states = 0.0, []
        for model, symbols in enumerate([(EOS,)] * 3 if step == EOS else step):
            mine = state[model]
            for symbol in symbols:
                logp, mine = extend(tables[model], mine, symbol)
                total += factors[model] * logp
            states.append(mine)
        return total, tuple(states)

    def steps(unit: Spelled) -> list[Any]:
        return [((word,), *(unit[1:] if place == 0 else ((), ()))) for place, word in enumerate(unit[0])]

    def ahead(unit: Spelled) -> float:
        return sum(
            factors[model] * extend(tables[model], EMPTY, symbol)[0]
            for model, symbols in enumerate(unit)
            for symbol in symbols
        )

    assert problem.features
    start: Any = tuple(problem.features.tables.start.tolist())
    found = best_path(
        together,
        start,
        [steps(unit) for unit in different],
        [units.count(unit) for unit in different],
        [ahead(unit) for unit in different],
        problem.settings.of(BeamSettings).beam,
    )
    (one,) = order_units(problem)

    assert ([units[unit] for unit in one.units], one.score) == (
        [different[k] for k in found.path],
        found.logp,
    )


TREEBANK = """\
1	the	the	DET	DT	_	2	det	_	_
2	dog	dog	NOUN	NN	_	3	nsubj	_	_
3	chased	chase	VERB	VBD	_	0	root	_	_
4	a	a	DET	DT	_	5	det	_	_
5	cat	cat	NOUN	NN	_	3	obj	_	_

1	it	it	PRON	PRP	_	2	nsubj	_	_
2	ran	run	VERB	VBD	_	0	root	_	_

1	it	it	PRON	PRP	_	2	nsubj	_	_
2	saw	see	VERB	VBD	_	0	root	_	_
3	the	the	DET	DT	_	5	det	_	_
4	big	big	ADJ	JJ	_	5	amod	_	_
5	cat	cat	NOUN	NN	_	2	obj	_	_

"""
BAG = "saw/VBD [the/DT horse/NN] it/PRP quickly/RB"
#: Each unit of the bag in each model; *horse* and *quickly* are unknown, and *cat* and *it* are kept.
SPELLED: dict[str, dict[str, str]] = {
    "saw": {"tags": "<tag:VBD>", "classes": "<tag:VBD>", "items": "<tag:VBD>", "more": "saw"},
    "the horse": {
        "tags": "<np> <tag:DT> <tag:NN> </np>",
        "classes": "<tag:DT> <tag:NN>",
        "items": "<np:NN>",
        "more": "the horse",
    },
    "it": {"tags": "<tag:PRP>", "classes": "it", "items": "it", "more": "it"},
    "quickly": {"tags": "<tag:RB>", "classes": "<tag:RB>", "items": "<tag:RB>", "more": "quickly"},
}
FEATURES = "tags=.5,classes=.25,items=2,more"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A treebank with a model of each kind, and lower-cased text with another one of words."""
    folder = tmp_path_factory.mktemp("features")
    (folder / "trees.conllu").write_text(TREEBANK)
    (folder / "more.lines").write_text("It quickly saw the horse\nthe horse ran quickly\n")
    with Store(folder / "features.duckdb", create=True, threads=2) as store:
        ingest(store, [str(folder / "trees.conllu")], Settings("trees", order=3))
        ingest(store, [str(folder / "more.lines")], Settings("more", order=3, lowercase=True))
        build(store, "words", ["trees"], order=3)
        build(store, "more", ["more"], order=3)
        build(store, "tags", ["trees"], order=3, brackets=True, symbols=Symbols("tags"))
        build(store, "brackets", ["trees"], order=2, brackets=True)
        for over in ("classes", "items"):
            build(store, over, ["trees"], order=3, symbols=Symbols(over, 2))
        yield store


def asked(store: Store, bag: str, algorithm: str = "beam", **options: Any) -> list[Any]:
    return list(regenerate(store, find(store, "words"), [parse_bag(bag)], algorithm=algorithm, **options))


def test_sentences_score_what_their_symbols_score(made: Store) -> None:
    """All orders of a bag are ranked by the weighted sum of `sentgen score` over the texts of symbols."""
    models = {name: find(made, name) for name in ("words", "tags", "classes", "items", "more")}
    weights = {"words": 1.0, **dict(Weights.read(FEATURES, "feature").named)}
    expected = {}
    for order in permutations(SPELLED):
        texts = {name: " ".join(SPELLED[unit].get(name, unit) for unit in order).split() for name in models}
        scores = {
            name: next(score_sentences(made, models[name], [text])).log10 for name, text in texts.items()
        }
        expected[" ".join(order)] = natural(sum(weights[name] * scores[name] for name in models))
    found = asked(made, BAG, changes={"features": FEATURES}, nbest=24)

    assert {one.text: one.score for one in found} == pytest.approx(expected)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[0].logp != pytest.approx(found[0].score)


def test_words_need_tags_only_where_features_do(made: Store) -> None:
    assert asked(made, "the cat", changes={"features": "more"})
    with pytest.raises(
        InputError, match="bag 1 has words without tags, which items, a model over items, needs"
    ):
        asked(made, "the cat", changes={"features": "more,items"})


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ("tags=much", InputError, "feature 'tags=much' has no weight"),
        ("tags=-1", InputError, "has no weight"),
        ("=1", InputError, "has no weight"),
        ("tags,tags=2", InputError, "feature tags is there twice"),
        ("none", NotFoundError, "no model 'none'"),
    ],
)
def test_features_are_checked(made: Store, features: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asked(made, BAG, changes={"features": features})


def test_they_stand_behind_the_name_of_a_system(made: Store) -> None:
    """Features of a system are joined by +, since commas separate systems; records have them."""
    one = asked(made, BAG, algorithm="beam:features=tags=.5+items=2")
    other = asked(made, BAG, changes={"features": "tags=.5,items=2"})
    plan = Search(algorithm="beam", changes={"features": "tags=.5"}).plan(made, "words")

    assert [(found.text, found.score) for found in one] == [(found.text, found.score) for found in other]
    assert settings_record(plan.algorithm, plan.settings)["features"] == "tags=.5"
    alone = Search(algorithm="beam").plan(made, "words")
    assert "features" not in settings_record(alone.algorithm, alone.settings)
    with pytest.raises(InputError, match="lmo does not look at features; it is for: beam, joint"):
        Search(algorithm="lmo", changes={"features": "tags"}).plan(made, "words")
    assert "features" in algorithm_named("beam").options


def test_weights_may_change_after_looking_up(made: Store) -> None:
    """Weights may change after look-ups, which systems with the same models share in evaluations."""
    one, other = (
        Search(algorithm="beam", changes={"features": f"tags={weight},items"}).plan(made, "words")
        for weight in (0, 3)
    )
    bag = parse_bag(BAG)
    ((prepared,),) = prepare(made, one, [bag])
    (shared,) = solve(prepared, other)
    (alone,) = asked(made, BAG, changes={"features": "tags=3,items"})

    assert one.features == other.features
    assert (shared.text, shared.score) == (alone.text, alone.score)
    assert next(solve(prepared, one)).score != shared.score


def test_a_model_chooses_among_the_best_of_any_algorithm(made: Store) -> None:
    """Its log-probability is added to the score of the algorithm; empty bags have nothing to choose from."""
    plain = {one.text: one.score for one in asked(made, "the the dog chased cat", nbest=60)}
    logps = {
        text: natural(next(score_sentences(made, find(made, "more"), [text.split()])).log10) for text in plain
    }
    expected = {text: plain[text] + 2 * logps[text] for text in plain}
    found = asked(made, "the the dog chased cat", changes={"rerank": "more=2"}, nbest=60)

    assert {one.text: one.score for one in found} == pytest.approx(expected)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert [one.rank for one in found] == list(range(1, len(found) + 1))
    # One sentence a bag is the best of fifty, too.
    best = asked(made, "the the dog chased cat", changes={"rerank": "more=2"})
    assert [one.text for one in best] == [found[0].text]
    assert [(one.text, one.rank) for one in asked(made, "", changes={"rerank": "more"})] == [("", 1)]


def test_the_score_is_the_sum_of_its_parts(made: Store) -> None:
    """The score is the weighted sum of models and rerankers, computed only on request."""
    changes = {"features": FEATURES, "rerank": "more=.5"}
    plan = Search(algorithm="beam", nbest=9, changes=changes).plan(made, "words")
    weights = plan.part_weights()
    for one in order_bags(made, replace(plan, parts=True), [parse_bag(BAG)]):
        assert one.parts.keys() == weights.keys()
        assert sum(weights[name] * part for name, part in one.parts.items()) == pytest.approx(one.score)
        assert one.parts["words@1"] == pytest.approx(one.logp)
    assert not any(one.parts for one in order_bags(made, plan, [parse_bag(BAG)]))


def test_no_sentence_comes_twice(made: Store) -> None:
    """Sentences that differ only in tags of a word are returned once, though models distinguish them."""
    found = asked(made, "zebra/NN zebra/VB the/DT", nbest=6, changes={"features": "tags"})

    assert sorted(one.text for one in found) == ["the zebra zebra", "zebra the zebra", "zebra zebra the"]


def test_what_reranks_is_checked(made: Store) -> None:
    for rerank, error, message in (
        ("more=x", InputError, "reranker 'more=x' has no weight"),
        ("tags", ModelError, "tags is a model over tags, which knows no words"),
        ("none", NotFoundError, "no model 'none'"),
        (
            "brackets",
            ModelError,
            "counts the brackets of base noun phrases, which whole sentences do not have",
        ),
    ):
        with pytest.raises(error, match=message):
            asked(made, BAG, changes={"rerank": rerank})
