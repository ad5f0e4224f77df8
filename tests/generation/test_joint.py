"""Joint decoding in a store: choice of algorithm, models and weights, and scores of its answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_features import BAG, TREEBANK
from test_projective import is_projective_tree

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.generation import RegeneratedSentence, parse_bag, regenerate
from sentgen.generation.algorithms import settings_record
from sentgen.generation.answers import OrderingRequest
from sentgen.generation.bags.problem import Problem
from sentgen.generation.ngrams import beam
from sentgen.generation.ngrams.features import FeatureSettings, companions
from sentgen.generation.notes import notes
from sentgen.generation.plan import Search, SearchPlan
from sentgen.generation.prepare import prepare
from sentgen.generation.trees.factors import FACTORS, FactorSettings
from sentgen.generation.trees.joint import candidates, tree_scores, value
from sentgen.generation.trees.projective import new_chart, tree_score
from sentgen.models import build, find, remove
from sentgen.models.base.symbols import Symbols
from sentgen.models.companions import LearntWeights
from sentgen.schema import Store

LEARNT = LearntWeights({"tags@1": 0.125}, {"relations": 0.5, "siblings": 0.25})
DEFAULTS = FactorSettings().factors.text


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two treebanks and a text; models of words with weights and without, and others beside them."""
    folder = tmp_path_factory.mktemp("joint")
    trees, plain = folder / "trees.conllu", folder / "plain.lines"
    trees.write_text(TREEBANK)
    plain.write_text("the dog saw it\nit chased the big cat\n")
    with Store(folder / "joint.duckdb", create=True, threads=2) as store:
        for name in ("trees", "more"):
            ingest(store, [str(trees)], Settings(name, order=3))
        ingest(store, [str(plain)], Settings("plain", order=3))
        for name in ("words", "tuned"):
            build(store, name, ["trees"], order=3)
        build(store, "both", ["trees", "more", "plain"], order=3)
        build(store, "plain", ["plain"], order=3)
        build(store, "tags", ["trees"], order=3, symbols=Symbols("tags"))
        # A name that cannot be written in a list.
        build(store, "tags,2", ["trees", "more"], order=2, symbols=Symbols("tags"))
        build(store, "classes", ["trees", "more"], order=3, symbols=Symbols("classes", 2))
        for _ in range(2):
            build(store, "tags-of-both", ["trees", "more"], order=3, symbols=Symbols("tags"))
        tuned = find(store, "tuned")
        LearntWeights({}, {"lexical": 1.0}).add(store, tuned.id, "joint", 1)
        LEARNT.add(store, tuned.id, "joint", 2)
        yield store


def planned(store: Store, model: str, algorithm: str = "auto", **changes: Any) -> SearchPlan:
    return Search(algorithm=algorithm, changes=changes).plan(store, model)


def weights_of(plan: SearchPlan) -> tuple[str, str]:
    return plan.settings.of(FeatureSettings).features.text, plan.settings.of(FactorSettings).factors.text


def prepared(store: Store, bag: str, **changes: Any) -> Problem:
    """One bag as `joint` gets it."""
    plan = planned(store, "words", "joint", **changes)
    ((found,),) = prepare(store, plan, [parse_bag(bag)])
    return found.problem


def answers(store: Store, *bags: str, model: str = "words", **options: Any) -> list[RegeneratedSentence]:
    return list(regenerate(store, find(store, model), [parse_bag(bag) for bag in bags], **options))


def test_auto_is_joint_where_there_are_trees(made: Store) -> None:
    """`auto` is joint if one of the corpora, or of those that are named, has trees."""
    assert [planned(made, model).algorithm.name for model in ("words", "both", "plain")] == [
        "joint",
        "joint",
        "beam",
    ]
    elsewhere = Search(dependencies=["more"]).plan(made, "plain")
    assert elsewhere.algorithm.name == "joint"
    assert elsewhere.treebank is not None
    with pytest.raises(ModelError, match="no dependency trees"):
        planned(made, "plain", "joint")


def test_companions_cover_most_of_the_corpora(made: Store) -> None:
    """The newest companion of most of the model's corpora is used, never one with other text."""
    assert companions(made, find(made, "words")) == {"tags": "tags@1"}
    assert companions(made, find(made, "both")) == {
        "tags": "tags-of-both@2",
        "classes": "classes@1",
    }
    assert companions(made, find(made, "plain")) == {}


def test_beside_more_text_other_weights_hold(empty_store: Path, tmp_path: Path) -> None:
    """With a model of more text, other weights are the defaults, of trees, too; given ones stay."""
    trees = tmp_path / "trees.conllu"
    trees.write_text(TREEBANK)
    shutil.copy(empty_store, tmp_path / "more.duckdb")
    with Store(tmp_path / "more.duckdb") as store:
        ingest(store, [str(trees)], Settings("trees", order=3))
        for name in ("words", "text"):
            build(store, name, ["trees"], order=3)
        build(store, "tags", ["trees"], order=3, symbols=Symbols("tags"))
        beside = "relations=1.1,lexical=0.15,distances=0.65,arguments=0.15,siblings=0.6"

        assert weights_of(planned(store, "words")) == ("tags@1=0.9,text@1=1.6", beside)
        assert weights_of(planned(store, "words", features="auto,text@1=.5"))[0] == "tags@1=0.9,text@1=0.5"
        assert weights_of(planned(store, "words", factors="lexical=1"))[1] == "lexical=1"
        assert weights_of(planned(store, "words", features="tags@1=.2")) == ("tags@1=.2", DEFAULTS)
        feature = planned(store, "words", "beam", features="auto").settings.of(FeatureSettings).features.text
        assert feature == "tags@1=0.9,text@1=1.6"
        LEARNT.add(store, find(store, "words").id, "joint", 1)
        assert weights_of(planned(store, "words")) == ("tags@1=0.125", "relations=0.5,siblings=0.25")
        assert weights_of(planned(store, "words", weights="default")) == ("tags@1=0.9,text@1=1.6", beside)


def test_learnt_weights_go_before_defaults(made: Store) -> None:
    learnt = ("tags@1=0.125", "relations=0.5,siblings=0.25")
    default = ("tags@1=0.2", DEFAULTS)

    assert weights_of(planned(made, "words")) == default
    assert weights_of(planned(made, "tuned")) == learnt
    assert weights_of(planned(made, "tuned", weights="learnt")) == learnt
    assert weights_of(planned(made, "tuned", weights="2")) == learnt
    assert weights_of(planned(made, "tuned", weights="1")) == ("", "lexical=1")
    assert weights_of(planned(made, "tuned", weights="default")) == default
    assert [one.model.name for one in planned(made, "tuned").features] == ["tags"]


def test_what_is_asked_for_goes_before_learnt_weights(made: Store) -> None:
    """Given features and given tree weights each replace the learnt ones; an empty text means no features."""
    plans = {
        "features": planned(made, "tuned", features="plain=.5"),
        "none": planned(made, "tuned", features=""),
        "factors": planned(made, "tuned", factors="arguments=2"),
        "named": planned(made, "tuned", "joint:factors=arguments=2"),
    }

    assert {name: weights_of(plan) for name, plan in plans.items()} == {
        "features": ("plain=.5", "relations=0.5,siblings=0.25"),
        "none": ("", "relations=0.5,siblings=0.25"),
        "factors": ("tags@1=0.125", "arguments=2"),
        "named": ("tags@1=0.125", "arguments=2"),
    }
    assert settings_record(plans["features"].algorithm, plans["features"].settings)["features"] == "plain=.5"


@pytest.mark.parametrize(
    ("model", "weights", "error", "message"),
    [
        ("tuned", "7", NotFoundError, "no weights 7 for joint with this model; there are: 1, 2"),
        ("words", "1", NotFoundError, "no weights 1 for joint with this model; there are: none"),
        ("tuned", "best", InputError, "weights 'best' are not learnt, default or a version"),
        ("tuned", "-1", InputError, "weights '-1' are not"),
        ("tuned", "", InputError, "weights '' are not"),
    ],
)
def test_weights_are_checked(
    made: Store, model: str, weights: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        planned(made, model, weights=weights)


def test_settings_of_joint_are_its_own(made: Store) -> None:
    with pytest.raises(InputError, match="beam does not look at factors; it is for: joint"):
        planned(made, "words", "beam", factors="relations")
    with pytest.raises(InputError, match="no factor 'relation'"):
        planned(made, "words", factors="relation")


def test_companions_are_there_for_the_beam_too(made: Store) -> None:
    """The beam uses companions by name only."""
    assert planned(made, "words", "beam").features == ()
    assert [one.model.name for one in planned(made, "words", "beam", features="auto").features] == ["tags"]


def test_a_model_without_companions_is_told_of_them(made: Store) -> None:
    """A note appears once, if companions are used and can be built, not otherwise."""
    build(made, "alone", ["more"], order=2)
    try:
        plan = planned(made, "alone")
        request = OrderingRequest(bag=["a"], model="alone")
        told = list(notes(request.answer(made, lambda notation: [notation.bag("a"), notation.bag("b")])))
        others = [
            planned(made, "words", "joint"),
            planned(made, "alone", "beam", features="auto"),
            planned(made, "alone", "joint", features="words"),
            Search(algorithm="joint", dependencies=["trees"]).plan(made, "alone"),
        ]
    finally:
        remove(made, "alone")

    assert plan.hints[0].startswith("alone has no companions, with which joint is better")
    assert [one for one in told if "companions" in one] == [*plan.hints]
    assert [one.hints for one in others] == [()] * 4


def test_a_model_that_was_learnt_with_may_be_gone(made: Store) -> None:
    """If a model of the learnt weights was removed, the error says what to do."""
    build(made, "short-lived", ["trees"], order=2, symbols=Symbols("tags"))
    model = build(made, "left", ["trees"], order=2)
    LearntWeights({"short-lived@1": 1.0}, {"relations": 1.0}).add(made, model.id, "joint", 1)
    assert [one.model.name for one in planned(made, "left").features] == ["short-lived"]
    remove(made, "short-lived")

    with pytest.raises(
        NotFoundError, match=r"left@1 were learnt with short-lived@1, which was removed; tune"
    ):
        planned(made, "left")
    assert weights_of(planned(made, "left", weights="default")) == ("tags@1=0.2", DEFAULTS)
    assert weights_of(planned(made, "left", features="")) == ("", "relations=1")


def test_answers_are_the_best_that_were_found(made: Store) -> None:
    """Against all orders: answers have the scores of their orders, the best is first, trees fit."""
    problem = prepared(made, BAG)
    best: dict[tuple[int, ...], float] = {}
    for order in permutations(range(problem.size)):
        sentence = beam.value(problem, order, None)
        tree = tree_score(tree_scores(problem), np.array(order, np.int32), new_chart(problem.size))
        assert value(problem, order, None) == pytest.approx(sentence + tree)
        best[problem.string_of(order)] = sentence + tree
    found = answers(made, BAG, nbest=5)

    assert [one.score for one in found] == pytest.approx(sorted(best.values(), reverse=True)[:5])
    assert [one.rank for one in found] == [1, 2, 3, 4, 5]
    assert len({one.text for one in found}) == 5
    for one in found:
        assert one.tree is not None
        assert is_projective_tree(one.tree.heads)


def test_trees_say_where_their_modifiers_stand(made: Store) -> None:
    """Sides and numbers agree with the places of an answer."""
    (one,) = answers(made, BAG)
    assert one.tree is not None
    for place, (head, side) in enumerate(zip(one.tree.heads, one.tree.sides, strict=True)):
        assert (place > head) == (side == 1)
        inside = one.tree.heads[min(place, head) + 1 : max(place, head)]
        assert one.tree.earlier[place] == inside.count(head)


def test_no_units_and_one_unit(made: Store) -> None:
    """Alone, and beside others in a batch."""
    nothing, one, more = answers(made, "", "it/PRP", BAG)

    assert (nothing.text, nothing.tree.heads if nothing.tree else None) == ("", ())
    assert (one.text, one.tree.heads if one.tree else None) == ("it", (-1,))
    assert len(more.units) == 4


def test_identical_units(made: Store) -> None:
    """Orders that differ by identical units are one answer."""
    found = answers(made, "it/PRP it/PRP it/PRP", nbest=5)

    assert [one.text for one in found] == ["it it it"]


def test_an_answer_does_not_depend_on_the_other_bags(made: Store) -> None:
    (alone,) = answers(made, "it/PRP ran/VBD")
    together, _ = answers(made, "it/PRP ran/VBD", BAG)

    assert (together.text, together.score) == (alone.text, alone.score)


def test_words_without_tags_get_guessed_ones(made: Store) -> None:
    """Words without tags get their most frequent ones, for the model over tags, too."""
    (plain,) = answers(made, "saw it [the cat]")
    (tagged,) = answers(made, "saw/VBD it/PRP [the/DT cat/NN]")

    assert (plain.text, plain.score) == (tagged.text, pytest.approx(tagged.score))
    assert (plain.guessed, tagged.guessed) == (4, 0)


def test_real_orders_are_valued(made: Store) -> None:
    """A given order has the score of its best tree, not of the tree of the corpus."""
    problem = prepared(made, BAG)
    order = (2, 0, 3, 1)

    assert value(problem, order, (-1, 0, 0, 0)) == value(problem, order, None)
    assert value(prepared(made, ""), (), None) == beam.value(prepared(made, ""), (), None)


def test_candidates_have_what_each_factor_says(made: Store) -> None:
    """Weighted values of candidates are their scores, in falling order, of different strings."""
    problem = prepared(made, BAG)
    found = candidates(problem, 10)
    weights = [1.0, 0.2, *(FactorSettings().weights[name] for name in FACTORS)]
    scores = (found.values @ weights).tolist()

    assert weights_of(planned(made, "words"))[0] == "tags@1=0.2"
    assert found.values.shape == (10, 2 + len(FACTORS))
    assert scores == pytest.approx([value(problem, tuple(order), None) for order in found.orders.tolist()])
    assert scores == sorted(scores, reverse=True)
    assert len({problem.string_of(tuple(order)) for order in found.orders.tolist()}) == 10
    assert len(candidates(prepared(made, ""), 10).orders) == 0


def test_without_weights_of_trees_it_climbs_from_the_beam(made: Store) -> None:
    """Without weights of trees, the search by n-grams is never worse than the beam."""
    narrow = {"beam": 1, "features": ""}
    (one,) = answers(made, BAG, algorithm="beam", changes=narrow)
    (joint,) = answers(made, BAG, algorithm="joint", changes={**narrow, "factors": ""})

    assert joint.score >= one.score - 1e-9
    assert joint.score == pytest.approx(joint.logp)


def test_other_weights_share_what_is_looked_up(made: Store) -> None:
    """The same look-ups serve other weights, as in tuning."""
    problem = prepared(made, BAG)
    settings = planned(made, "words", factors="relations=2").settings
    other = replace(problem, settings=settings)

    assert value(other, (0, 1, 2, 3), None) == pytest.approx(
        value(prepared(made, BAG, factors="relations=2"), (0, 1, 2, 3), None)
    )
    assert value(other, (0, 1, 2, 3), None) != value(problem, (0, 1, 2, 3), None)
