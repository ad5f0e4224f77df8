"""The abstract syntax of CQL: conditions on tokens and labels, and patterns of tokens.

A pattern matches spans of tokens within a sentence, or a document, each with the places of its labels. Parts
know the column where they stand in the query, for errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sentgen.lookups.base.attributes import Test, Value
from sentgen.lookups.base.languages import Either, Every


@dataclass(frozen=True, slots=True)
class Term:
    """An attribute of the token itself, or of a labelled one."""

    attribute: str
    label: str = ""
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CqlComparison:
    """Whether an attribute is a value, or the same as another attribute; ``column`` is that of the latter.

    ``operator`` is one of numbers, if attributes are compared by their size.
    """

    left: Term
    right: Test | Term
    negated: bool = False
    column: int = field(default=0, compare=False)
    operator: str = "="


@dataclass(frozen=True, slots=True)
class LabelTest:
    """Whether a label stands for a token in this match, or for none if ``negated``."""

    label: str
    column: int = field(default=0, compare=False)
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """Whether a number that a function says of labels stands in a relation to another one, as in CQP.

    Args:
        function: ``distance``, how many tokens the second label stands behind the first one; ``distabs``, the
            same without its sign; ``f``, how often the attribute of a label occurs in the corpora.
        terms: what the function is asked of; for a distance, the words of two labels.
        operator: the relation.
        number: the number that the value is compared with.
    """

    function: str
    terms: tuple[Term, ...]
    operator: str
    number: int


@dataclass(frozen=True, slots=True)
class NoSpace:
    """Whether no space follows the token where it stands in the text; no query can ask it, see `written`."""


_Single: TypeAlias = CqlComparison | LabelTest | Measured | NoSpace
Condition: TypeAlias = "_Single | Every[Condition] | Either[Condition]"
#: Relations of numbers, and what is true where one is not.
_OTHERWISE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "="}


class Pattern:
    """What matches spans of tokens."""

    __slots__ = ()

    @property
    def children(self) -> tuple[Pattern, ...]:
        """Return the parts of a pattern, in their order."""
        match self:
            case Sequence(parts) | Alternatives(parts):
                return parts
            case Repetition(part) | Constrained(part) | Expanded(part):
                return (part,)
            case Both(left, right) | Within(left, right) | Containing(left, right) | Meet(left, right):
                return (left, right)
        return ()

    def map_parts(self, change: Callable[[Pattern], Pattern]) -> Pattern:
        """Return a pattern with its parts changed."""
        match self:
            case Sequence(parts) | Alternatives(parts):
                return replace(self, parts=tuple(map(change, parts)))
            case Repetition(part) | Constrained(part) | Expanded(part):
                return replace(self, part=change(part))
            case Both(left, right) | Within(left, right) | Containing(left, right):
                return type(self)(change(left), change(right))
            case Meet(part, other):
                return replace(self, part=change(part), other=change(other))
        return self

    @property
    def size(self) -> int:
        """Return how many tokens a pattern has, those that are repeated by a number so many times."""
        of_parts = sum(part.size for part in self.children)
        if isinstance(self, Repetition):
            return of_parts * (self.most or max(self.least, 1))
        return of_parts or 1

    @property
    def is_one_token(self) -> bool:
        """Return whether all that a pattern matches is one token."""
        match self:
            case Token():
                return True
            case Alternatives(parts):
                return all(part.is_one_token for part in parts)
            case Constrained(part) | Within(part) | Containing(part) | Meet(part):
                return part.is_one_token
            case Both(left, right):
                return left.is_one_token or right.is_one_token
        return False

    @property
    def all_labels(self) -> tuple[str, ...]:
        """Return the labels of a pattern, each once, in their order."""
        names = dict.fromkeys(self.labels if isinstance(self, Token | Multiword) else ())
        for part in self.children:
            names |= dict.fromkeys(part.all_labels)
        return tuple(names)

    @property
    def bound_labels(self) -> frozenset[str]:
        """Return the labels that stand for a token in every match."""
        match self:
            case Token(labels=labels) | Multiword(labels=labels):
                return frozenset(labels)
            case Alternatives(parts):
                return frozenset.intersection(*(part.bound_labels for part in parts))
            case Repetition(_, 0):
                return frozenset()
            case Meet(part):
                return part.bound_labels
        return frozenset[str]().union(*(part.bound_labels for part in self.children))

    @property
    def comparisons(self) -> tuple[CqlComparison, ...]:
        """Return the comparisons of all conditions of a pattern, in their order."""
        return tuple(comparison for condition in self.conditions for comparison in comparisons(condition))

    @property
    def regions(self) -> tuple[RegionPattern, ...]:
        """Return the regions of a pattern, those of tags among them, in their order."""
        inner = tuple(region for part in self.children for region in part.regions)
        match self:
            case RegionPattern():
                return (self,)
            case CqlEdge(region) | Expanded(_, region) | Meet(_, _, RegionPattern() as region):
                return (*inner, region)
        return inner

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions of a pattern on tokens and labels, in their order."""
        own = self.condition if isinstance(self, Token | Constrained) else None
        inner = tuple(condition for part in self.children for condition in part.conditions)
        return (*inner, *([own] if own else []))

    @property
    def required_conditions(self) -> set[Condition | None]:
        """Return conditions that some token meets in every sentence that has a match."""
        match self:
            case Token(condition):
                return {condition}
            case Alternatives(parts):
                first, *others = (part.required_conditions for part in parts)
                return first.intersection(*others)
            case Repetition(_, 0):
                return set()
            case Meet(part, negated=True):
                return part.required_conditions
        return {condition for part in self.children for condition in part.required_conditions}


@dataclass(frozen=True, slots=True)
class Token(Pattern):
    """One token; without a condition any one."""

    condition: Condition | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Multiword(Pattern):
    """The tokens of a multiword token, such as *de* and *le* of *du*, by its form; see `written`.

    Args:
        form: how it is written.
        joined: whether no space follows it.
        labels: labels of its first token.
    """

    form: Value
    joined: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegionPattern(Pattern):
    """A whole sentence (``s``) or document (``doc``), or what of another region is in a sentence.

    Args:
        kind: kind of the region.
        tests: what all hold of its attributes.
        column: where the kind stands.
    """

    kind: str
    tests: tuple[CqlComparison, ...] = ()
    column: int = field(default=0, compare=False)

    @property
    def built_in(self) -> bool:
        """Whether the region is a sentence or a document."""
        return self.kind in ("s", "doc")


@dataclass(frozen=True, slots=True)
class CqlEdge(Pattern):
    """The begin or the end of a region; no token."""

    region: RegionPattern
    end: bool


@dataclass(frozen=True, slots=True)
class Sequence(Pattern):
    """One after the other."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Alternatives(Pattern):
    """One of them."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repetition(Pattern):
    """From ``least`` to ``most`` times, one after the other; ``None``: any number."""

    part: Pattern
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Both(Pattern):
    """Spans that match both."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Within(Pattern):
    """Spans of ``inner`` that lie within one of ``outer``."""

    inner: Pattern
    outer: Pattern


@dataclass(frozen=True, slots=True)
class Containing(Pattern):
    """Spans of ``outer`` in which one of ``inner`` lies."""

    outer: Pattern
    inner: Pattern


@dataclass(frozen=True, slots=True)
class Meet(Pattern):
    """Tokens of ``part`` near which there is one of ``other``, or none if ``negated``.

    Near is from so many tokens behind it to so many (before it, if less than 0), or in the same region.
    """

    part: Pattern
    other: Pattern
    near: tuple[int, int] | RegionPattern
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Constrained(Pattern):
    """Spans whose labels meet a condition."""

    part: Pattern
    condition: Condition


@dataclass(frozen=True, slots=True)
class Expanded(Pattern):
    """Spans of ``part``, each become the innermost region of a kind that it lies in, if there is one."""

    part: Pattern
    region: RegionPattern


#: Patterns that no automaton of tokens knows; they match one token at least.
Joined = Multiword | RegionPattern | Both | Within | Containing | Meet | Constrained | Expanded


def negate(condition: Condition) -> Condition:
    """Return what is true where a condition is not; of labels that stand for nothing neither is.

    >>> negate(Measured("f", (), "<", 2)).operator, type(negate(Every((LabelTest("a"),)))).__name__
    ('>=', 'Either')
    """
    match condition:
        case Every(parts):
            return Either(tuple(map(negate, parts)))
        case Either(parts):
            return Every(tuple(map(negate, parts)))
        case Measured(operator=operator):
            return replace(condition, operator=_OTHERWISE[operator])
        case CqlComparison() | LabelTest():
            return replace(condition, negated=not condition.negated)
    raise AssertionError(condition)  # no query says that a space follows


def leaves(condition: Condition | None) -> tuple[_Single, ...]:
    """Return what a condition is composed of, in its order."""
    match condition:
        case None:
            return ()
        case Every(parts) | Either(parts):
            return tuple(leaf for part in parts for leaf in leaves(part))
    return (condition,)


def comparisons(condition: Condition | None) -> tuple[CqlComparison, ...]:
    """Return the comparisons of a condition, in their order."""
    return tuple(leaf for leaf in leaves(condition) if isinstance(leaf, CqlComparison))


def terms(condition: Condition | None) -> tuple[Term, ...]:
    """Return the attributes that a condition asks for, in their order."""
    attributes = list[Term]()
    for leaf in leaves(condition):
        if isinstance(leaf, Measured):
            attributes += leaf.terms
        elif isinstance(leaf, CqlComparison):
            attributes += [leaf.left, *([leaf.right] if isinstance(leaf.right, Term) else [])]
    return tuple(attributes)
