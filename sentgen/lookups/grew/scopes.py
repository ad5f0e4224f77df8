"""What the names of a request stand for: nodes and edges of the pattern, and of the blocks that filter it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sentgen.errors import InputError
from sentgen.lookups.grew.features import fits_anchor
from sentgen.lookups.grew.syntax import (
    POSITION,
    Clause,
    CountKey,
    Description,
    Dominance,
    Filter,
    GrewComparison,
    GrewEdge,
    GrewRequest,
    LinearOrder,
    Node,
    Reference,
)

#: What an edge has beside the parts of its relation.
EDGE_KEYS = ("label", "length", "delta")


@dataclass(frozen=True, slots=True)
class BoundNode:
    """A node in the statement.

    Args:
        alias: of its row; empty for a node of which only the place is asked, which is that of a head.
        sentence: its sentence, in SQL.
        position: its position, in SQL.
        anchored: whether it may be the anchor.
        free: whether it may be the same token as another node.
        descriptions: what its own block says of it: all of these must fit.
    """

    alias: str
    sentence: str
    position: str
    anchored: bool = False
    free: bool = False
    descriptions: tuple[tuple[Description, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class BoundEdge:
    """An edge with a name: its ends, and the row that has its relation."""

    source: BoundNode
    target: BoundNode
    alias: str

    @property
    def span(self) -> tuple[str, str]:
        """The positions between which it lies, in SQL."""
        ends = f"{self.source.position}, {self.target.position}"
        return f"least({ends})", f"greatest({ends})"


@dataclass(slots=True)
class Scope:
    """The names that clauses may use; a filter sees those of the pattern, and has some of its own."""

    nodes: dict[str, BoundNode] = field(default_factory=dict)
    edges: dict[str, BoundEdge] = field(default_factory=dict)

    def node(self, name: str) -> BoundNode:
        """Return a node.

        Raises:
            InputError: there is none of this name.
        """
        if name in self.nodes:
            return self.nodes[name]
        if name in self.edges:
            raise InputError(f"{name} is an edge, and a node is wanted here")
        raise InputError(f"no node {name!r} in the request{self._known(self.nodes)}")

    def either(self, name: str) -> BoundNode | BoundEdge:
        """Return a node or an edge.

        Raises:
            InputError: there is none of this name.
        """
        if name in self.nodes or name in self.edges:
            return self.nodes[name] if name in self.nodes else self.edges[name]
        raise InputError(
            f"no node or edge {name!r} in the request{self._known({**self.nodes, **self.edges})}"
        )

    def within(self) -> Scope:
        """Return the scope of a filter, which begins with these names."""
        return Scope(dict(self.nodes), dict(self.edges))

    @staticmethod
    def _known(names: Mapping[str, object]) -> str:
        return f"; it has {', '.join(names)}" if names else ", which has none"


def _own_nodes(clauses: Sequence[Clause], outer: Mapping[str, object]) -> list[str]:
    """Return the nodes that clauses bring in, in their order: those of node clauses, edges and paths."""
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


def bind_nodes(
    clauses: Sequence[Clause], outer: Scope, with_rows: frozenset[str], number: Iterator[int]
) -> dict[str, BoundNode]:
    """Return what the nodes stand for that clauses bring in.

    Args:
        clauses: of one block.
        outer: the names that are known.
        with_rows: names of nodes of which more than the place is asked.
        number: numbers for aliases.
    """
    names = _own_nodes(clauses, outer.nodes)
    heads = {} if not names else _heads(clauses, with_rows)
    found: dict[str, BoundNode] = {}
    for name in (one for one in names if one not in heads):
        own = [one for one in clauses if isinstance(one, Node) and one.name == name]
        described = tuple(one.descriptions for one in own if one.descriptions)
        alias = f"node_{next(number)}"  # whatever it is called
        anchored = name not in _below(clauses) and all(
            any(all(map(fits_anchor, every)) for every in each) for each in described
        )
        free = any(one.free for one in own)
        found[name] = BoundNode(alias, f"{alias}.sentence_id", f"{alias}.position", anchored, free, described)
    for name, modifier in ((name, heads[name]) for name in names if name in heads):
        below = found[modifier] if modifier in found else outer.nodes[modifier]
        free = any(isinstance(one, Node) and one.name == name and one.free for one in clauses)
        found[name] = BoundNode("", below.sentence, f"{below.alias}.head", True, free)
    return {name: found[name] for name in names}


def _heads(clauses: Sequence[Clause], with_rows: frozenset[str]) -> dict[str, str]:
    """Return the nodes that need no row, as they are the head of another one, with that one."""
    found: dict[str, str] = {}
    for one in clauses:
        if not isinstance(one, GrewEdge) or one.source is None or one.target is None or one.label.enhanced:
            continue
        if one.source not in with_rows and one.source != one.target:
            found.setdefault(one.source, one.target)
    return found


def _below(clauses: Sequence[Clause]) -> set[str | None]:
    """Return the nodes that have something above or before them, so that they are no anchor."""
    edges = {one.target for one in clauses if isinstance(one, GrewEdge | Dominance)}
    return edges | {
        one.right for one in clauses if isinstance(one, LinearOrder) and one.operator in ("<", "<<")
    }


def names_with_rows(
    request: GrewRequest, keys: Iterable[CountKey], others: Iterable[Filter]
) -> frozenset[str]:
    """Return the names of nodes of which more than the place is asked anywhere."""
    found: set[str | None] = set()
    for clause in request.every_clause(others):
        if isinstance(clause, Node) and clause.descriptions:
            found.add(clause.name)
        elif isinstance(clause, GrewEdge) and not clause.label.enhanced:
            found.add(clause.target)
        elif isinstance(clause, GrewComparison):
            found |= {_read(one) for one in (clause.left, clause.right)}
    found |= {_read(key.of) for key in keys}
    return frozenset(name for name in found if name is not None)


def _read(one: object) -> str | None:
    """Return the name of which a value reads more than the place."""
    return one.name if isinstance(one, Reference) and one.key != POSITION else None
