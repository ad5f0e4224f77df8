"""The abstract syntax of CQL: conditions on tokens and labels, and patterns of tokens.

A pattern matches spans of tokens within a sentence, or a document, each with the places of its labels. Parts
know the column where they stand in the query, for errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from sentgen.lookups.attributes import Test
from sentgen.lookups.languages import Either, Every, Negation


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
    """Whether a label stands for a token in this match."""

    label: str
    column: int = field(default=0, compare=False)


Condition: TypeAlias = (
    "CqlComparison | LabelTest | Every[Condition] | Either[Condition] | Negation[Condition]"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token; without a condition any one."""

    condition: Condition | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegionPattern:
    """A whole sentence (``s``) or document (``doc``), or what of another region is in a sentence.

    Args:
        kind: of the region.
        tests: what all hold of its attributes.
        column: where the kind stands.
    """

    kind: str
    tests: tuple[CqlComparison, ...] = ()
    column: int = field(default=0, compare=False)

    @property
    def built_in(self) -> bool:
        """Whether it is a sentence or a document."""
        return self.kind in ("s", "doc")


@dataclass(frozen=True, slots=True)
class CqlEdge:
    """The begin or the end of a region; no token."""

    region: RegionPattern
    end: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of them."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """From ``least`` to ``most`` times, one after the other; ``None``: any number."""

    part: Pattern
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Both:
    """Spans that match both."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Within:
    """Spans of ``inner`` that lie within one of ``outer``."""

    inner: Pattern
    outer: Pattern


@dataclass(frozen=True, slots=True)
class Containing:
    """Spans of ``outer`` in which one of ``inner`` lies."""

    outer: Pattern
    inner: Pattern


@dataclass(frozen=True, slots=True)
class Meet:
    """Tokens of ``part`` near which there is one of ``other``, or none if ``negated``.

    Near is from so many tokens behind it to so many (before it, if less than 0), or in the same region.
    """

    part: Pattern
    other: Pattern
    near: tuple[int, int] | RegionPattern
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Constrained:
    """Spans whose labels meet a condition."""

    part: Pattern
    condition: Condition


@dataclass(frozen=True, slots=True)
class Expanded:
    """Spans of ``part``, each become the innermost region of a kind that it lies in, if there is one."""

    part: Pattern
    region: RegionPattern


#: Patterns that no automaton of tokens knows; they match one token at least.
Joined = RegionPattern | Both | Within | Containing | Meet | Constrained | Expanded
Pattern = Token | CqlEdge | Sequence | Alternatives | Repetition | Joined


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return the parts of a pattern, in their order."""
    match pattern:
        case Sequence(parts) | Alternatives(parts):
            return parts
        case Repetition(part) | Constrained(part) | Expanded(part):
            return (part,)
        case Both(left, right) | Within(left, right) | Containing(left, right) | Meet(left, right):
            return (left, right)
    return ()


def size(pattern: Pattern) -> int:
    """Return how many tokens a pattern has, those that are repeated by a number so many times."""
    of_parts = sum(map(size, children(pattern)))
    if isinstance(pattern, Repetition):
        return of_parts * (pattern.most or max(pattern.least, 1))
    return of_parts or 1


def one_token(pattern: Pattern) -> bool:
    """Return whether all that a pattern matches is one token."""
    match pattern:
        case Token():
            return True
        case Alternatives(parts):
            return all(map(one_token, parts))
        case Constrained(part) | Within(part) | Containing(part) | Meet(part):
            return one_token(part)
        case Both(left, right):
            return one_token(left) or one_token(right)
    return False


def longest(pattern: Pattern) -> int | None:
    """Return how far apart tokens are at most that a match, or what it depends on, has; none: any number."""
    sizes = [longest(part) for part in children(pattern)]
    match pattern:
        case Token():
            return 1
        case CqlEdge():
            return 0
        case Within(_, RegionPattern()):
            return sizes[0]
        case Repetition(_, _, most):
            return sizes[0] * most if sizes[0] is not None and most is not None else None
        case Meet(_, _, RegionPattern()) | RegionPattern():
            return None
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    if isinstance(pattern, Sequence):
        return sum(known)
    near = (
        pattern.near if isinstance(pattern, Meet) and not isinstance(pattern.near, RegionPattern) else (0, 0)
    )
    return max(known, default=0) + max(map(abs, near))


def labels(pattern: Pattern) -> tuple[str, ...]:
    """Return the labels of a pattern, each once, in their order."""
    found = dict.fromkeys(pattern.labels if isinstance(pattern, Token) else ())
    for part in children(pattern):
        found |= dict.fromkeys(labels(part))
    return tuple(found)


def bound(pattern: Pattern) -> frozenset[str]:
    """Return the labels that stand for a token in every match."""
    match pattern:
        case Token(_, labels):
            return frozenset(labels)
        case Alternatives(parts):
            return frozenset.intersection(*map(bound, parts))
        case Repetition(_, 0):
            return frozenset()
        case Meet(part):
            return bound(part)
    return frozenset[str]().union(*map(bound, children(pattern)))


def comparisons(condition: Condition | None) -> tuple[CqlComparison, ...]:
    """Return the comparisons of a condition, in their order."""
    match condition:
        case CqlComparison():
            return (condition,)
        case Every(parts) | Either(parts):
            return tuple(one for part in parts for one in comparisons(part))
        case Negation(part):
            return comparisons(part)
    return ()


def regions(pattern: Pattern) -> tuple[RegionPattern, ...]:
    """Return the regions of a pattern, those of tags among them, in their order."""
    inner = tuple(one for part in children(pattern) for one in regions(part))
    match pattern:
        case RegionPattern():
            return (pattern,)
        case CqlEdge(region) | Expanded(_, region) | Meet(_, _, RegionPattern() as region):
            return (*inner, region)
    return inner


def conditions(pattern: Pattern) -> tuple[Condition, ...]:
    """Return the conditions of a pattern on tokens and labels, in their order."""
    own = pattern.condition if isinstance(pattern, Token | Constrained) else None
    inner = tuple(one for part in children(pattern) for one in conditions(part))
    return (*inner, *([own] if own else []))
