"""Input and output of an algorithm: arrays of a bag and settings in; orders of its units, and trees, out.

Settings are in groups, each a declaration of options (see `sentgen.options`). An algorithm names the groups
that it uses; its own groups are declared in its file. A value out of range is refused when its group is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Annotated, Literal, TypeVar, get_args

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.errors import InputError
from sentgen.generation.bags.bag import Unit
from sentgen.models.dependency.dependencies import Automata
from sentgen.models.ngrams.ngram_table import NgramTable, NgramTables
from sentgen.options import Option


@dataclass(frozen=True, slots=True)
class Weights:
    """Names with their weights; ``text`` is their notation on the command line and in records."""

    named: tuple[tuple[str, float], ...] = ()
    text: str = ""

    @classmethod
    def read(cls, text: str, kind: str) -> Weights:
        """Read ``NAME[=WEIGHT]`` joined by commas or +; a name alone has the weight 1.

        Raises:
            InputError: a weight is not a number of at least 0, or a name is repeated; ``kind`` is what errors
                call a name.

        >>> Weights.read("tags=.5,novels@2", "feature").named
        (('tags', 0.5), ('novels@2', 1.0))
        """
        weights = [
            _weighted(part.strip(), kind) for part in text.replace("+", ",").split(",") if part.strip()
        ]
        names = [name for name, _ in weights]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{kind} {twice} is there twice; name each one once")
        return cls(tuple(weights), text)

    @classmethod
    def rounded(cls, named: Iterable[tuple[str, float]]) -> Weights:
        """Return weights rounded to four digits, as in records, so that a record reproduces the search."""
        digits = [(name, f"{weight:.4g}") for name, weight in named]
        # Not 1e+06: a + joins two names.
        text = ",".join(f"{name}={weight.replace('+', '')}" for name, weight in digits)
        return cls(tuple((name, float(weight)) for name, weight in digits), text)


def is_writable(name: str) -> bool:
    """Return whether a name can be joined with others in the notation."""
    return not set(name) & set("+,") and name == name.strip()


def _weighted(text: str, kind: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    if not equals:
        return text, 1.0
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not name or not math.isfinite(weight) or weight < 0:
        raise InputError(f"{kind} {text!r} has no weight; write NAME=WEIGHT with a number from 0")
    return name, weight


ROOT = -1
LEFT, RIGHT = 0, 1

Paper = Literal["2007", "2009"]
PAPERS: tuple[Paper, ...] = get_args(Paper)

#: Events of a step of a search (see `SearchStep`).
StepEvent = Literal["attached", "cheapest", "forced", "empty", "moved", "kept"]

#: The panel of the help about searches.
SEARCH_PANEL = "Search; defaults are the algorithm's own"
#: An option of a search.
Setting = partial(Option, panel=SEARCH_PANEL)
Group = TypeVar("Group")
_NO_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class NgramSettings:
    """Settings of every search; ``order`` is n of the n-grams, at most that of the model."""

    order: Annotated[int, Setting("Order of the n-grams.", least=2, most=5)] = 4

    def __post_init__(self) -> None:
        if self.order < 2:
            raise InputError(f"n-grams of order {self.order} cannot order words; give 2 or more")


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Models that rerank the best sentences of any search; the score of the search has the weight 1."""

    rerank: Annotated[
        Weights,
        Setting(
            "Models or scorers that choose among the best sentences, and what they weigh beside the 1 of the"
            " algorithm's score, joined by commas or +.",
            metavar="NAME[=WEIGHT],...",
            read=partial(Weights.read, kind="reranker"),
            api={"max_length": 1000},
        ),
    ] = _NO_WEIGHTS


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The settings of a search: an object of each group that it uses; other groups have their defaults."""

    groups: tuple[object, ...] = ()

    def of(self, group: type[Group]) -> Group:
        """Return the settings of a group."""
        return next((settings for settings in self.groups if isinstance(settings, group)), None) or group()

    def having(self, *groups: object) -> SearchSettings:
        """Return these settings with some groups replaced."""
        kinds = {type(group) for group in groups}
        return SearchSettings((*groups, *(group for group in self.groups if type(group) not in kinds)))


@dataclass(frozen=True, slots=True)
class TreeModel:
    """The dependency model of one bag of n units (`sentgen.models.dependency.dependencies`); row 0: root."""

    prob: Floats  # (n + 1, n, 2) log prob(head, modifier, side of the modifier); -inf for a unit and itself
    arguments: Floats  # (n + 1, 2, 8) p_arg(head, side, number of modifiers); 7 stands for seven and more
    verb: Bools  # (n,)
    noun: Bools  # (n,)
    preposition: Bools  # (n,)
    distance: Floats | None = None  # (n + 1, n, 2, 3) log prob by distance 1, 2, 3 and more, where asked for
    automata: Automata | None = None  # where asked for


@dataclass(frozen=True, slots=True)
class Features:
    """The M - 1 further models of the same units, behind that of the words."""

    tables: NgramTables  # of all M models
    words: tuple[Ints, ...]  # the local word ids of all units in each of the others, one after the other
    offsets: tuple[Ints, ...]  # (n + 1,) unit u is words[offsets[u]:offsets[u + 1]] there


@dataclass(frozen=True, slots=True)
class Problem:
    """One bag as arrays.

    ``words`` holds the local word ids of all units one after the other, and unit u is
    ``words[offsets[u]:offsets[u + 1]]``. Units of the same ``kind`` are identical: words, tags and all.
    ``trees`` and ``features`` are set for algorithms that need them. ``bag`` are the units of all arrays.
    """

    table: NgramTable
    words: Ints
    offsets: Ints
    kinds: Ints
    settings: SearchSettings
    order: int
    trees: TreeModel | None = None
    features: Features | None = None
    bag: tuple[Unit, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of units."""
        return len(self.offsets) - 1

    @property
    def forms(self) -> list[tuple[str, ...]]:
        """Return the words of each unit as they were given, not as the models spell them."""
        return [unit.words for unit in self.bag]

    @property
    def tags(self) -> list[tuple[str, ...]]:
        """Return the tags of each unit, one a word; none if no tags are given and no trees are needed."""
        return [unit.tags for unit in self.bag]

    @property
    def columns(self) -> list[tuple[Ints, Ints]]:
        """Return the words and offsets of the units in all models, those of features behind the words'."""
        others = self.features
        return [
            (self.words, self.offsets),
            *(zip(others.words, others.offsets, strict=True) if others else ()),
        ]

    def require_trees(self) -> TreeModel:
        """Return the dependency model, which the caller must have set."""
        if self.trees is None:
            raise ValueError("this algorithm needs a dependency model")
        return self.trees

    def sentence_logp(self, units: tuple[int, ...]) -> float:
        """Return the log-probability of the whole sentence in some order, with its end."""
        return self.table.sentence_logp(_string(self.words, self.offsets, units))

    def string_of(self, units: tuple[int, ...]) -> tuple[int, ...]:
        """Return the words of an order; orders that differ only in identical units have the same string."""
        return tuple(_string(self.words, self.offsets, units).tolist())

    def strings_of(self, units: tuple[int, ...]) -> list[Ints]:
        """Return the words of an order in all models, those of features behind that of the words."""
        return [_string(words, offsets, units) for words, offsets in self.columns]

    @property
    def tables(self) -> NgramTables:
        """Return the models of a search, that of the words first."""
        return self.features.tables if self.features else NgramTables.side_by_side([self.table])


@dataclass(frozen=True, slots=True)
class Tree:
    """A dependency tree over the units of a bag, an entry a unit.

    ``heads`` are positions of units, `ROOT` for the root; ``sides`` are those of the modifier, `LEFT` or
    `RIGHT` of its head; ``earlier`` is the number of modifiers of the head on that side when this modifier
    was attached; ``weights`` are the natural logarithms of the weights with which edges were attached.
    """

    heads: tuple[int, ...]
    sides: tuple[int, ...]
    earlier: tuple[int, ...]
    weights: tuple[float, ...]

    def reordered(self, units: Sequence[int]) -> Tree:
        """Return the same tree over the units in another order: entry p is for ``units[p]``."""
        position_of = {unit: position for position, unit in enumerate(units)}
        return Tree(
            tuple(position_of.get(self.heads[unit], ROOT) for unit in units),
            tuple(self.sides[unit] for unit in units),
            tuple(self.earlier[unit] for unit in units),
            tuple(self.weights[unit] for unit in units),
        )

    @classmethod
    def of_heads(cls, heads: Sequence[int], weights: Sequence[float]) -> Tree:
        """Return the tree; the weight of an edge is the logarithm of its probability, NaN at a root."""
        sides, earlier = [], []
        for position, head in enumerate(heads):
            sides.append(RIGHT if head < position else LEFT)
            nearer = range(min(position, head) + 1, max(position, head)) if head != ROOT else ()
            earlier.append(sum(heads[other] == head for other in nearer))
        return cls(tuple(heads), tuple(sides), tuple(earlier), tuple(weights))


@dataclass(frozen=True, slots=True)
class SearchStep:
    """An event of a tree search about one edge.

    Attributes:
        step: number of the step, from 1: of the round, or of the unit that joins the tree.
        event: `attached` if the edge joins the tree; `cheapest` if it does although no position is worth its
            cost, `forced` if it does although a constraint forbids it, as no other edge is left; `empty` if a
            position stays empty, for which this modifier would be the cheapest; `moved` if a unit waits for
            this head from now on, `kept` if it would but for the factor against theft from its rival.
        modifier: a unit.
        head: a unit, `ROOT` for the root.
        side: the side of the modifier, `LEFT` or `RIGHT`.
        earlier: modifiers that the head already has on that side.
        logp: log prob(head, modifier, side), minus the penalty if a constraint forbids the edge.
        weight: ``logp`` plus the factors of the arguments.
        rival: the head that the modifier waited for until now, if it is compared.
        rival_weight: weight of the edge from the rival.
    """

    step: int
    event: StepEvent
    modifier: int
    head: int
    side: int
    earlier: int
    logp: float
    weight: float
    rival: int | None = None
    rival_weight: float | None = None

    def renumbered(self, position_of: Mapping[int, int]) -> SearchStep:
        """Return the same step over units with other numbers; the root stays."""
        return replace(
            self,
            modifier=position_of[self.modifier],
            head=position_of.get(self.head, ROOT),
            rival=None if self.rival is None else position_of.get(self.rival, ROOT),
        )


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order of the units, as indices into the bag, with the score that was optimized, and its tree."""

    units: tuple[int, ...]
    score: float
    tree: Tree | None = None


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A named way to order a bag.

    Attributes:
        order: takes a problem and a number n and returns at most n different orderings, the best one first.
        value: the score that `Ordering.score` would be of any given order, with the heads of the units if
            there is a tree; None if it cannot be computed. It serves to count search errors.
        steps: returns the steps of the search of a problem; slow, for explanations.
        settings: the groups of settings of the algorithm, besides `NgramSettings` and `RerankSettings`.
        defaults: values that are best on development data, if they are not those of the groups.
        published: the values of the literal reading of a paper.
        trees: whether the algorithm needs a dependency model, and returns trees.
        distances: whether the dependency model must have distances of modifiers from heads.
        words: whether phrases are split into words.
        max_units: most units of a bag, so that a search takes seconds.
    """

    name: str
    title: str
    order: Callable[[Problem, int], list[Ordering]]
    value: Callable[[Problem, tuple[int, ...], tuple[int, ...] | None], float | None]
    steps: Callable[[Problem], list[SearchStep]] | None = None
    settings: tuple[type, ...] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    published: Mapping[Paper, Mapping[str, object]] = field(default_factory=dict)
    trees: bool = False
    distances: bool = False
    words: bool = False
    max_units: int = 1000

    @property
    def groups(self) -> tuple[type, ...]:
        """Return all groups of settings of the algorithm."""
        return NgramSettings, RerankSettings, *self.settings

    @property
    def options(self) -> frozenset[str]:
        """Return the names of the settings of the algorithm; others cannot be changed."""
        return frozenset(setting.name for group in self.groups for setting in fields(group))


def _string(words: Ints, offsets: Ints, units: tuple[int, ...]) -> Ints:
    pieces = [words[offsets[u] : offsets[u + 1]] for u in units]
    return np.concatenate(pieces) if pieces else words[:0]
