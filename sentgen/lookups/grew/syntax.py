"""What a Grew request says, as `reading` finds it in the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from sentgen.lookups.base.attributes import Test, Value

#: The key of the position of a node.
POSITION = "__id__"
#: The form of the anchor node, which stands at position 0 of every sentence and has nothing else.
ANCHOR = "__0__"


#: Digits of the number of a part of a relation.
_DIGITS = 3


def is_part(key: str) -> bool:
    """Return whether a relation may have such a part: 1, 2, ... between colons, or deep after ``@``."""
    return key == "deep" or (key.isdecimal() and len(key) <= _DIGITS and int(key) > 0)


class FeatureRelation(StrEnum):
    """How the value of a feature is compared."""

    IS = "="
    IS_NOT = "<>"
    PRESENT = "present"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class FeatureCondition:
    """A condition on the value under a key, of a node, of a label, or of the metadata.

    ``values`` are alternatives; ``IS_NOT`` asks for a value that is none of them.
    """

    key: str
    relation: FeatureRelation
    values: tuple[Test, ...] = ()


#: All of them must hold.
Description = tuple[FeatureCondition, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A node; one of its descriptions must fit. ``free``: may be the same token as another node (``X$``)."""

    name: str
    descriptions: tuple[Description, ...] = ()
    free: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """What a relation may be: one of ``values`` (none of them if ``negated``), or of certain parts.

    Without values and parts, it is any relation. ``enhanced`` asks for an edge of the enhanced graph.
    """

    values: tuple[Value, ...] = ()
    negated: bool = False
    parts: Description = ()
    enhanced: bool = False


@dataclass(frozen=True, slots=True)
class GrewEdge:
    """An edge from a head to its modifier; an end that is None is any node (``*``)."""

    source: str | None
    target: str | None
    label: Label = field(default_factory=Label)
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Dominance:
    """A path of one edge or more from a node down to another."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class LinearOrder:
    """How two nodes, a node and an edge, or two edges lie: ``<``, ``<<``, ``><`` or ``<>``."""

    left: str
    operator: str
    right: str


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two nodes: ``delta`` with a sign, ``length`` without."""

    function: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of a node or of an edge under a key."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class GrewComparison:
    """A value beside another one, a number, or strings."""

    left: Reference | Distance
    operator: str
    right: Reference | str | tuple[Value, ...]


Clause = Node | GrewEdge | Dominance | LinearOrder | GrewComparison


@dataclass(frozen=True, slots=True)
class Filter:
    """A block that must match as well, or must not (``negated``)."""

    clauses: tuple[Clause, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class GrewRequest:
    """A request.

    Args:
        clauses: of all ``pattern`` blocks.
        filters: the ``with`` and ``without`` blocks.
        structures: what ``global`` asks of the tree, such as ``is_projective``.
        metadata: what it asks of the sentence and its document.
    """

    clauses: tuple[Clause, ...] = ()
    filters: tuple[Filter, ...] = ()
    structures: tuple[str, ...] = ()
    metadata: Description = ()

    def every_clause(self, others: Iterable[Filter] = ()) -> list[Clause]:
        """Return the clauses of its pattern and of its filters, and of others."""
        filters = [clause for block in (*self.filters, *others) for clause in block.clauses]
        return [*self.clauses, *filters]


@dataclass(frozen=True, slots=True)
class Placement:
    """The order of some nodes in the sentence, as a key (``S#V#O``)."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountKey:
    """What hits are counted by, with the text that names it; a reference may be to metadata."""

    text: str
    value: Reference | Distance | Placement
