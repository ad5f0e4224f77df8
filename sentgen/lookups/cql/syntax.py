"""The abstract syntax of CQL: conditions on tokens and labels, and patterns of tokens.

A pattern matches spans of tokens within a sentence, or a document, with the tokens of its labels. Parts have
their column in the query, for errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sentgen.lookups.base.attributes import Test, Value
from sentgen.lookups.base.languages import Either, Every


@dataclass(frozen=True, slots=True)
class Term:
    """An attribute of the token itself, or of a labelled token."""

    attribute: str
    label: str = ""
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CqlComparison:
    """The condition that an attribute has a value, or equals another attribute.

    ``column`` is that of the right side; ``operator`` compares attributes as numbers, unless it is empty.
    """

    left: Term
    right: Test | Term
    negated: bool = False
    column: int = field(default=0, compare=False)
    operator: str = "="


@dataclass(frozen=True, slots=True)
class LabelTest:
    """The condition that a label has a token in the match, or, if ``negated``, that it has none."""

    label: str
    column: int = field(default=0, compare=False)
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """A comparison of a function of labels with a number, as in CQP.

    Args:
        function: ``distance``, the position of the second label minus that of the first one; ``distabs``, its
            absolute value; ``f``, how often the attribute of a label occurs in the corpora.
        terms: the arguments of the function; for a distance, the words of two labels.
        number: the number that the value is compared with.
    """

    function: str
    terms: tuple[Term, ...]
    operator: str
    number: int


@dataclass(frozen=True, slots=True)
class NoSpace:
    """The condition that no space follows the token in the text; queries cannot express it, see `written`."""


_Single: TypeAlias = CqlComparison | LabelTest | Measured | NoSpace
Condition: TypeAlias = "_Single | Every[Condition] | Either[Condition]"
#: The opposite of each comparison operator.
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
        """Return a pattern with a function applied to its parts."""
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
        """Return the number of tokens in a pattern, where a token that is repeated n times counts n times."""
        of_parts = sum(part.size for part in self.children)
        if isinstance(self, Repetition):
            return of_parts * (self.most or max(self.least, 1))
        return of_parts or 1

    @property
    def is_one_token(self) -> bool:
        """Return whether every match of a pattern is one token."""
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
        """Return the distinct labels of a pattern, in order."""
        names = dict.fromkeys(self.labels if isinstance(self, Token | Multiword) else ())
        for part in self.children:
            names |= dict.fromkeys(part.all_labels)
        return tuple(names)

    @property
    def bound_labels(self) -> frozenset[str]:
        """Return the labels that have a token in every match."""
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
        """Return conditions each of which some token meets in every sentence with a match."""
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
    """One token that meets a condition; without a condition, any token."""

    condition: Condition | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Multiword(Pattern):
    """The tokens of a multiword token, such as *de* and *le* of *du*, by its form; see `written`.

    Args:
        form: the form as it is written.
        joined: whether no space follows the multiword token.
        labels: labels of its first token.
    """

    form: Value
    joined: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegionPattern(Pattern):
    """A whole sentence (``s``) or document (``doc``), or the part of another region in a sentence.

    Args:
        tests: comparisons of its attributes, which must all hold.
        column: column of the kind in the query.
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
    """The begin or the end of a region, which matches an edge between tokens."""

    region: RegionPattern
    end: bool


@dataclass(frozen=True, slots=True)
class Sequence(Pattern):
    """Parts that follow each other."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Alternatives(Pattern):
    """Parts of which one matches."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repetition(Pattern):
    """A part repeated ``least`` to ``most`` times; ``None``: any number of times."""

    part: Pattern
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Both(Pattern):
    """Spans that match both patterns."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Within(Pattern):
    """Spans of ``inner`` that lie within a span of ``outer``."""

    inner: Pattern
    outer: Pattern


@dataclass(frozen=True, slots=True)
class Containing(Pattern):
    """Spans of ``outer`` that contain a span of ``inner``."""

    outer: Pattern
    inner: Pattern


@dataclass(frozen=True, slots=True)
class Meet(Pattern):
    """Tokens of ``part`` with a token of ``other`` near them, or, if ``negated``, without one.

    Near is a range of offsets in tokens (below 0: before the token), or the same region.
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
    """Spans of ``part``, each extended to the innermost region of a kind around it, if there is one."""

    part: Pattern
    region: RegionPattern


#: Patterns that no automaton of tokens can express; they match at least one token.
Joined = Multiword | RegionPattern | Both | Within | Containing | Meet | Constrained | Expanded


def negate(condition: Condition) -> Condition:
    """Return the negation of a condition; with a label that has no token, both are false.

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
    raise AssertionError(condition)  # queries cannot express that a space follows


def leaves(condition: Condition | None) -> tuple[_Single, ...]:
    """Return the atomic conditions in a condition, in order."""
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
    """Return the terms of a condition, in order."""
    attributes = list[Term]()
    for leaf in leaves(condition):
        if isinstance(leaf, Measured):
            attributes += leaf.terms
        elif isinstance(leaf, CqlComparison):
            attributes += [leaf.left, *([leaf.right] if isinstance(leaf.right, Term) else [])]
    return tuple(attributes)
