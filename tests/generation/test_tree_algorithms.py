"""What holds for every algorithm that builds a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bleu_scores import corpus_bleu
from hypothesis import given
from hypothesis import strategies as st
from linearize_reference import by_ngrams_reference, by_weight_reference
from toy_problems import FLOOR, logp, permuted, problem_of, problems

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.generation import (
    ALGORITHMS,
    Algorithm,
    Problem,
    Unit,
    parse_bag,
    regenerate,
    settings_for,
    shuffled,
    units_of,
)
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, Ordering, Tree
from sentgen.generation.trees.trees import FORBIDDEN
from sentgen.models import ModelInfo, build
from sentgen.schema import Store

# joint has tests of its own (test_joint): it asks for more than the toy problems have.
TREES = [one for one in ALGORITHMS.values() if one.trees and not one.distances]
every = pytest.mark.parametrize("algorithm", TREES, ids=lambda algorithm: algorithm.name)


def answers(problem: Problem, algorithm: Algorithm, nbest: int = 1, **changes: object) -> list[Ordering]:
    looked_at = {name: value for name, value in changes.items() if name in algorithm.options}
    return algorithm.order(replace(problem, settings=settings_for(algorithm, changes=looked_at)), nbest)


def answer(problem: Problem, algorithm: Algorithm, **changes: object) -> tuple[tuple[int, ...], Tree, float]:
    (found,) = answers(problem, algorithm, **changes)
    assert found.tree is not None
    return found.units, found.tree, found.score


def floor_bag(size: int, tags: str = "") -> Problem:
    """Return a bag of which the dependency model knows nothing."""
    arguments = np.zeros((size + 1, 2, 8))
    return problem_of(np.full((size + 1, size, 2), FLOOR), arguments=arguments, tags=tags)


def words(problem: Problem) -> list[list[int]]:
    return [
        problem.words[begin:end].tolist()
        for begin, end in zip(problem.offsets[:-1], problem.offsets[1:], strict=True)
    ]


@every
@given(problem=problems())
def test_order_tree_and_score_belong_together(algorithm: Algorithm, problem: Problem) -> None:
    """Every unit once; the order is that of the tree; the score is the sum of its weights, and its value."""
    units, tree, score = answer(problem, algorithm)
    problem = replace(problem, settings=settings_for(algorithm))
    if algorithm.name == "prim":
        expected = by_weight_reference(tree.heads, tree.sides, tree.earlier, tree.weights)
    else:
        expected = by_ngrams_reference(
            logp, words(problem), problem.order, tree.heads, tree.sides, whole_string=False
        )

    assert sorted(units) == list(range(problem.size))
    assert list(units) == expected
    assert score == pytest.approx(sum(tree.weights))
    assert score == pytest.approx(algorithm.value(problem, units, tree.heads))


@every
@given(problem=problems())
def test_trees_are_trees(algorithm: Algorithm, problem: Problem) -> None:
    """The root is reached from everywhere; modifiers stand where the tree says; the root's are on its right."""
    units, tree, _ = answer(problem, algorithm)
    place = {unit: position for position, unit in enumerate(units)}
    for unit, head in enumerate(tree.heads):
        above, steps = head, 0
        while above != ROOT and steps <= problem.size:
            above, steps = tree.heads[above], steps + 1
        assert above == ROOT
        assert (tree.sides[unit] == RIGHT) == (head == ROOT or place[unit] > place[head])


@every
def test_no_tree_no_value(algorithm: Algorithm) -> None:
    """The score of an order without a tree cannot be told."""
    assert algorithm.value(floor_bag(2), (0, 1), None) is None


@every
@given(problem=problems(distinct=True), data=st.data())
def test_the_order_of_the_bag_does_not_matter(
    algorithm: Algorithm, problem: Problem, data: st.DataObject
) -> None:
    """Without ties, the units of a bag may come in any order: the answer has the same words and score."""
    order = data.draw(st.permutations(range(problem.size)))
    other = permuted(problem, order)
    units, _, score = answer(problem, algorithm)
    units_again, _, score_again = answer(other, algorithm)

    assert problem.string_of(units) == other.string_of(units_again)
    assert score == pytest.approx(score_again)


@every
def test_ties_do_not_prefer_the_gold_order(algorithm: Algorithm) -> None:
    """Five different units that are all the same to the model, and two pairs that are identical.

    With gold order a a b b c there are 5! / (2! 2!) = 30 strings; an answer that is as good as chosen by the
    shuffle is the gold one in about 300 / 30 = 10 of 300 shuffles. All strings come up.
    """
    gold = [Unit((word,)) for word in "aabbc"]
    strings: Counter[tuple[int, ...]] = Counter()
    for seed in range(300):
        bag = shuffled(gold, seed)
        kinds = {"a": 4, "b": 5, "c": 6}
        size = len(bag)
        problem = problem_of(np.full((size + 1, size, 2), -3.0), strings=[[kinds[u.words[0]]] for u in bag])
        problem = replace(problem, words=np.zeros(size, np.int32))  # the same to the language model, too
        units, _, _ = answer(problem, algorithm)
        strings[tuple(kinds[bag[unit].words[0]] for unit in units)] += 1

    assert strings[4, 4, 5, 5, 6] < 25
    assert len(strings) > 25


@every
def test_identical_units_can_be_exchanged(algorithm: Algorithm) -> None:
    """A bag with twice the same word gives one string, whichever of the two comes first."""
    rng = np.random.default_rng(3)
    prob = rng.uniform(-9, 0, (5, 4, 2))
    prob[:, 1], prob[2] = prob[:, 0], prob[1]
    prob[1, :2] = prob[2, :2] = -4
    problem = problem_of(prob, strings=[[5], [5], [6], [7]], tags="xxvn")
    strings = set()
    for order in ((0, 1, 2, 3), (1, 0, 2, 3), (2, 1, 3, 0), (3, 0, 1, 2)):
        other = permuted(problem, order)
        strings.add(other.string_of(answer(other, algorithm)[0]))

    assert len(strings) == 1


@every
def test_nothing_to_order(algorithm: Algorithm) -> None:
    """An empty bag has an empty answer, with n-best, too."""
    found = answers(floor_bag(0), algorithm, 3)

    assert [(one.units, one.score, one.tree) for one in found] == [((), 0, Tree((), (), (), ()))]


@every
def test_one_unit(algorithm: Algorithm) -> None:
    """It is the root, and that is all there is."""
    (found,) = answers(floor_bag(1, "n"), algorithm, 3)

    assert found.units == (0,)
    assert found.tree is not None
    assert (found.tree.heads, found.tree.sides) == ((ROOT,), (RIGHT,))


@every
@pytest.mark.parametrize("tags", ["", "v" * 60, "n" * 60, "vn" * 30])
def test_nothing_known(algorithm: Algorithm, tags: str) -> None:
    """Sixty units at the floor, with and without a verb, nouns only."""
    units, _, score = answer(floor_bag(60, tags), algorithm)

    assert sorted(units) == list(range(60))
    assert np.isfinite(score)


@every
def test_probability_zero_is_as_low_as_the_floor(algorithm: Algorithm) -> None:
    """Models without a floor have -inf."""
    prob = np.full((4, 3, 2), -np.inf)

    assert answer(problem_of(prob, tags="vnn"), algorithm)[2] > 4 * FORBIDDEN


@every
def test_a_thousand_units(algorithm: Algorithm) -> None:
    """A bag may have as many as the algorithm says."""
    size = algorithm.max_units
    prob = np.random.default_rng(1).uniform(-20, 0, (size + 1, size, 2)).round(1)
    problem = problem_of(prob, strings=[[4]] * size, tags="vnpx" * (size // 4))

    assert size == 1000
    assert sorted(answer(problem, algorithm)[0]) == list(range(size))


@every
@given(problem=problems())
def test_only_a_verb_is_the_root(algorithm: Algorithm, problem: Problem) -> None:
    """With `verb_root`, wherever the bag has a verb."""
    model = problem.require_trees()
    _, tree, _ = answer(problem, algorithm, verb_root=True, noun_under_noun=True)
    roots = [unit for unit, head in enumerate(tree.heads) if head == ROOT]

    assert all(model.verb[roots]) or not model.verb.any()


@every
@given(problem=problems())
def test_no_noun_is_under_a_noun(algorithm: Algorithm, problem: Problem) -> None:
    """Without `noun_under_noun`, wherever another unit can be the head of all nouns."""
    noun = problem.require_trees().noun
    _, tree, _ = answer(problem, algorithm, verb_root=False, noun_under_noun=False, **anything(algorithm))
    pairs = [(head, unit) for unit, head in enumerate(tree.heads) if head != ROOT]

    assert noun.all() or not any(noun[head] and noun[unit] for head, unit in pairs)


def anything(algorithm: Algorithm) -> dict[str, object]:
    """Return settings under which a unit that is no noun can be reached, and be a head."""
    return {"padding_cost": 0.0} if algorithm.name == "ab" else {"one_root": False}


@every
def test_constraints_give_way(algorithm: Algorithm) -> None:
    """Nouns only: one is the root, and the others hang on nouns, since they must hang on something."""
    prob = np.full((4, 3, 2), -5.0)
    _, tree, score = answer(
        problem_of(prob, tags="nnn"), algorithm, verb_root=True, noun_under_noun=False, one_root=True
    )

    assert sum(head == ROOT for head in tree.heads) == 1
    assert score < 2 * FORBIDDEN


@every
@given(problem=problems(most=5), wanted=st.integers(2, 12))
def test_further_answers(algorithm: Algorithm, problem: Problem, wanted: int) -> None:
    """The answer itself comes first, then others by score; no string comes twice."""
    found = answers(problem, algorithm, wanted)
    rest = [one.score for one in found[1:]]
    problem = replace(problem, settings=settings_for(algorithm))

    assert found[0] == answers(problem, algorithm)[0]
    assert rest == sorted(rest, reverse=True)
    assert len({problem.string_of(one.units) for one in found}) == len(found) <= wanted
    assert len(found) >= len({problem.string_of(found[0].units[::step]) for step in (1, -1)})
    for one in found:
        assert one.tree is not None
        assert algorithm.value(problem, one.units, one.tree.heads) == pytest.approx(one.score)


@every
def test_both_orders_of_two_units_come(algorithm: Algorithm) -> None:
    """Two units have two orders."""
    prob = np.full((3, 2, 2), -5.0)
    prob[0, 0, RIGHT], prob[1, 1, LEFT] = -1, -1
    found = answers(problem_of(prob, tags="vx"), algorithm, 9)

    assert [one.units for one in found] == [(1, 0), (0, 1)]


Trained = tuple[Store, ModelInfo]


@pytest.fixture(scope="module")
def relief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    """Yield a store with the demo's treebank and its language model."""
    with Store(tmp_path_factory.mktemp("relief") / "relief.duckdb", create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief", order=3))
        yield store, build(store, "relief", ["relief"], order=3)


@every
def test_a_sentence_of_the_treebank(algorithm: Algorithm, relief: Trained) -> None:
    """The verb is the root, and its subject stands on its left: from text to tree."""
    bag = parse_bag("on/IN [Tuesday/NNP] [the/DT camp/NN] ./. in/IN arrived/VBD [The/DT first/JJ trucks/NNS]")
    (found,) = regenerate(*relief, [bag], algorithm=algorithm.name)
    assert found.tree is not None
    verb, trucks = (next(i for i, u in enumerate(found.units) if u.head == w) for w in ("arrived", "trucks"))

    assert found.tree.heads[verb] == ROOT
    assert (found.tree.heads[trucks], found.tree.sides[trucks]) == (verb, LEFT)
    assert trucks < verb


@pytest.mark.data
@pytest.mark.nightly
def test_trees_help(data_dir: Path, tmp_path: Path) -> None:
    """Every tree algorithm is better than LMO on the Wall Street Journal, by 3 points of BLEU and more."""
    dep = data_dir / "wsj01/dep"
    with Store(tmp_path / "wsj.duckdb", create=True) as store:
        ingest(store, [str(dep / "wsj_01[0-5]*.dp")], Settings("wsj", order=4))
        model = build(store, "wsj", ["wsj"], order=4, smoothing="katz")
        test = list(read_test_set(str(dep / "wsj_01[67]*.dp")))
        bags = [units_of(sentence) for sentence in test]
        references = [" ".join(sentence.forms) for sentence in test]
        bleu = {}
        for name in ("lmo", "joint", *(algorithm.name for algorithm in TREES)):
            outputs = [one.text for one in regenerate(store, model, bags, algorithm=name)]
            bleu[name] = corpus_bleu(outputs, references)[-1].value
    lmo = bleu.pop("lmo")

    assert min(bleu.values()) > lmo + 3
