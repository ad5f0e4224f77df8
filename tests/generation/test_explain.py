"""The reasons add up to the scores of the searches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import NEW_SENTENCES, TREEBANK
from sentgen.generation import Search, SearchPlan, order_bags, parse_bag
from sentgen.generation.answers import explain_sentence, explain_trees
from sentgen.generation.bags.problem import ROOT
from sentgen.models import ModelInfo, build
from sentgen.models.dependency.dependencies import ROOT_UNIT
from sentgen.output.display import natural
from sentgen.schema import Store

BAGS = [parse_bag(sentence) for sentence in (*NEW_SENTENCES, "zebras [the zebra]", "")]


@pytest.fixture(scope="module")
def relief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, ModelInfo]]:
    """The demo treebank with a model."""
    path: Path = tmp_path_factory.mktemp("relief") / "relief.duckdb"
    with Store(path, create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief"))
        yield store, build(store, "relief", ["relief"], order=3, smoothing="kneser-ney", unknown="tag")


def plan_for(relief: tuple[Store, ModelInfo], algorithm: str, **changes: object) -> SearchPlan:
    """Return the plan of an algorithm, with some settings changed."""
    return Search(algorithm=algorithm, changes=changes).plan(*relief)


@pytest.mark.parametrize("order", [2, 3])
def test_words_add_up_to_the_sentence(relief: tuple[Store, ModelInfo], order: int) -> None:
    """Each word's last total is its log-probability, unknown words classed by their tags included."""
    bags = [BAGS[0], BAGS[-1], parse_bag("zebras/NNS ran/VBD")]
    plan = plan_for(relief, "lmo", order=order)
    for one in order_bags(relief[0], plan, bags):
        found = explain_sentence(relief[0], plan, one)

        assert [word.word for word in found] == [*one.words, "</s>"]
        assert sum(natural(word.steps[-1].total) for word in found) == pytest.approx(one.logp)
        assert all(len(step.ngram) <= order for word in found for step in word.steps)


def test_brackets_are_words(relief: tuple[Store, ModelInfo]) -> None:
    """A model that counts the brackets of phrases has a probability for each of them."""
    model = build(relief[0], "brackets", ["relief"], order=3, brackets=True)
    plan = plan_for((relief[0], model), "lmo")
    (one,) = order_bags(relief[0], plan, BAGS[:1])
    found = explain_sentence(relief[0], plan, one)

    assert "<np>" in [word.word for word in found]
    assert sum(natural(word.steps[-1].total) for word in found) == pytest.approx(one.logp)


@pytest.mark.parametrize(
    ("algorithm", "changes"), [("prim", {}), ("cle", {}), ("prim-arg", {"theft": "off"}), ("ab", {})]
)
def test_attachments_have_the_weights_of_the_search(
    relief: tuple[Store, ModelInfo], algorithm: str, changes: dict[str, object]
) -> None:
    """The weight is the logarithm of the probability, times the argument factor where there is one.

    prim-arg takes p_arg of exactly one modifier more (2007), ab that of at least one more (2009).
    """
    bags = BAGS[: len(NEW_SENTENCES)]
    plan = plan_for(relief, algorithm, **changes)
    sentences = list(order_bags(relief[0], plan, bags))
    explained = explain_trees(relief[0], plan, sentences)

    for one, edges in zip(sentences, explained, strict=True):
        assert one.tree is not None
        assert [edge.place for edge in edges] == list(range(len(one.units)))
        for edge, unit, head in zip(edges, one.units, one.tree.heads, strict=True):
            evidence = edge.evidence
            factor = {"prim-arg": evidence.arguments.exactly, "ab": evidence.arguments.at_least}.get(
                algorithm, 1.0
            )
            names = one.units[head].head if head != ROOT else ROOT_UNIT[0]

            assert (evidence.attachment.modifier[0], evidence.attachment.head[0]) == (unit.head, names)
            if evidence.prob * factor > 1e-11:  # else floored
                assert edge.weight == pytest.approx(math.log(evidence.prob * factor))


def test_levels_give_the_probability(relief: tuple[Store, ModelInfo]) -> None:
    """prob = l1 p + (1 - l1) (l2 p1 + (1 - l2) p2), with events / pairs at each level and c / (c + 1)."""
    plan = plan_for(relief, "cle")
    sentences = list(order_bags(relief[0], plan, BAGS))
    for edges in explain_trees(relief[0], plan, sentences):
        for edge in edges:
            words, mixed, tags = edge.evidence.levels
            for level in (words, mixed):
                assert level.weight == pytest.approx(level.together / (level.together + 1))
            below = mixed.weight * mixed.ratio + (1 - mixed.weight) * tags.ratio

            assert edge.evidence.prob == pytest.approx(
                words.weight * words.ratio + (1 - words.weight) * below
            )


def test_nothing_to_explain(relief: tuple[Store, ModelInfo]) -> None:
    """No sentences, or one without words, have no attachments."""
    plan = plan_for(relief, "cle")
    empty = list(order_bags(relief[0], plan, [[]]))

    assert explain_trees(relief[0], plan, []) == []
    assert explain_trees(relief[0], plan, empty) == [[]]
    assert len(explain_sentence(relief[0], plan, empty[0])) == 1
