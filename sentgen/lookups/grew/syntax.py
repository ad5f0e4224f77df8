"""The abstract syntax of Grew requests, which `reading` builds from a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sentgen.errors import InputError
from sentgen.lookups.base.attributes import Test, Value

#: The key of the position of a node.
POSITION = "__id__"
#: The form of the anchor node, which is at position 0 of every sentence and has no other feature.
ANCHOR = "__0__"
#: Both names of the form, which is the only feature of the anchor.
FORM = ("form", "word")


#: Digits of the number of a part of a relation.
_DIGITS = 3


def is_part(key: str) -> bool:
    """Return whether a key is a part of relations: 1, 2, ... between colons, or deep after ``@``."""
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

    @property
    def fits_anchor(self) -> bool:
        """Whether the anchor node has the feature: it has a form, and nothing else."""
        if self.key not in FORM:
            return self.relation is FeatureRelation.ABSENT
        if self.relation in (FeatureRelation.PRESENT, FeatureRelation.ABSENT):
            return self.relation is FeatureRelation.PRESENT
        return any(map(_fits_anchor, self.values)) == (self.relation is FeatureRelation.IS)


def _fits_anchor(value: Test) -> bool:
    if not isinstance(value, Value):  # a bound of numbers: the anchor has none
        return False
    if not value.regex:
        return ANCHOR in value.texts
    try:
        return any(re.fullmatch(pattern, ANCHOR) for pattern in value.texts)
    except re.error:  # the check by DuckDB reports the error
        return False


#: Conditions on a node, which must all hold.
Description = tuple[FeatureCondition, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A node, of which one description must fit; ``free`` (``X$``): it may be the token of another node."""

    name: str
    descriptions: tuple[Description, ...] = ()
    free: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A condition on a relation: one of ``values`` (none of them if ``negated``), or conditions on its parts.

    Without values and parts, it matches any relation. ``enhanced``: the edge is of the enhanced graph.
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
    """A path of one or more edges from a node down to another node."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class LinearOrder:
    """The relative position of nodes or edges: ``<``, ``<<``, ``><`` or ``<>``."""

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
    """A comparison of a value with another value, a number, or strings."""

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
        clauses: clauses of all ``pattern`` blocks.
        filters: the ``with`` and ``without`` blocks.
        structures: structures of the tree that ``global`` requires, such as ``is_projective``.
        metadata: the conditions on the sentence and its document.
    """

    clauses: tuple[Clause, ...] = ()
    filters: tuple[Filter, ...] = ()
    structures: tuple[str, ...] = ()
    metadata: Description = ()

    @property
    def names(self) -> set[str]:
        """The names of the nodes and edges of its hits."""
        edges = {clause.name for clause in self.clauses if isinstance(clause, GrewEdge) and clause.name}
        return {*own_nodes(self.clauses, {}), *edges}

    def names_with_rows(self, keys: Iterable[CountKey], others: Iterable[Filter]) -> frozenset[str]:
        """Return the names of nodes of which some clause or key needs more than the position."""
        names: set[str | None] = set()
        filters = [clause for block in (*self.filters, *others) for clause in block.clauses]
        for clause in (*self.clauses, *filters):
            if isinstance(clause, Node) and clause.descriptions:
                names.add(clause.name)
            elif isinstance(clause, GrewEdge) and not clause.label.enhanced:
                names.add(clause.target)
            elif isinstance(clause, GrewComparison):
                names |= {_name_read(side) for side in (clause.left, clause.right)}
        names |= {_name_read(key.value) for key in keys}
        return frozenset(name for name in names if name is not None)


@dataclass(frozen=True, slots=True)
class Placement:
    """The order of some nodes in the sentence, as a key (``S#V#O``)."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountKey:
    """A key by which hits are counted, with the text that names it; a reference may be to metadata."""

    text: str
    value: Reference | Distance | Placement


def own_nodes(clauses: Sequence[Clause], outer: Mapping[str, object]) -> list[str]:
    """Return the nodes that node clauses, edges and paths define, in order, without those of ``outer``."""
    names: dict[str, None] = {}
    for clause in clauses:
        ends: tuple[str | None, ...] = ()
        if isinstance(clause, Node):
            ends = (clause.name,)
        elif isinstance(clause, GrewEdge | Dominance):
            ends = (clause.source, clause.target)
        names |= dict.fromkeys(name for name in ends if name is not None and name not in outer)
    edges = {clause.name for clause in clauses if isinstance(clause, GrewEdge)}
    for name in names:
        if name in edges:
            raise InputError(f"{name} is an edge, and a node is wanted here")
        if name == "meta":
            raise InputError("a node cannot be called meta, which stands for the metadata; call it otherwise")
    return list(names)


def _name_read(value: object) -> str | None:
    """Return the node or edge of which a value reads more than the position."""
    return value.name if isinstance(value, Reference) and value.key != POSITION else None
