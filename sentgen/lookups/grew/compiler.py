"""Compile a request to the from and where clauses of the statement that finds its hits.

A node is a row of `token`, or only the position of a head if the request needs nothing else of it; an edge is
``modifier.head = head.position`` in one sentence, each filter one ``exists``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, count

from sentgen.case_folding import fold_sql
from sentgen.errors import InputError
from sentgen.lookups.base.attributes import Key, compare_numbers
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.grew.conditions import FeatureConditions, part_of, path_table, structure_condition
from sentgen.lookups.grew.syntax import (
    POSITION,
    Clause,
    CountKey,
    Description,
    Distance,
    Dominance,
    Filter,
    GrewComparison,
    GrewEdge,
    GrewRequest,
    LinearOrder,
    Node,
    Reference,
    is_part,
    own_nodes,
)

#: The keys of an edge besides the parts of its relation.
_EDGE_KEYS = ("label", "length", "delta")


@dataclass(frozen=True, slots=True)
class _BoundNode:
    """A node in the statement.

    Args:
        alias: alias of the row of the node; empty for a head of which only the position is needed.
        sentence: SQL for the id of the sentence of the node.
        position: SQL for the position of the node.
        anchored: whether the node may be the anchor.
        free: whether the node may be the same token as another node.
        descriptions: the descriptions of the node in its block, which must all fit.
    """

    alias: str
    sentence: str
    position: str
    anchored: bool = False
    free: bool = False
    descriptions: tuple[tuple[Description, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _BoundEdge:
    """A named edge: its ends, and the row with its relation."""

    source: _BoundNode
    target: _BoundNode
    alias: str

    @property
    def span(self) -> tuple[str, str]:
        """The SQL for the lower and the higher position of its ends."""
        ends = f"{self.source.position}, {self.target.position}"
        return f"least({ends})", f"greatest({ends})"


@dataclass(slots=True)
class Scope:
    """The names that clauses may use; a filter may use those of the pattern, and define further ones."""

    nodes: dict[str, _BoundNode] = field(default_factory=dict)
    edges: dict[str, _BoundEdge] = field(default_factory=dict)

    def node(self, name: str) -> _BoundNode:
        """Return a node.

        Raises:
            InputError: there is no node of this name.
        """
        if name in self.nodes:
            return self.nodes[name]
        if name in self.edges:
            raise InputError(f"{name} is an edge, and a node is wanted here")
        raise InputError(f"no node {name!r} in the request{self._known(self.nodes)}")

    def either(self, name: str) -> _BoundNode | _BoundEdge:
        """Return a node or an edge.

        Raises:
            InputError: there is no node or edge of this name.
        """
        if bound := self.nodes.get(name) or self.edges.get(name):
            return bound
        raise InputError(
            f"no node or edge {name!r} in the request{self._known({**self.nodes, **self.edges})}"
        )

    @property
    def first(self) -> str:
        """The SQL for the position of the first token of a hit; without nodes, the begin of the sentence."""
        positions = [node.position for node in self.nodes.values()]
        return f"least({', '.join(positions)})" if positions else "1"

    def within(self) -> Scope:
        """Return the scope of a filter: a copy of this scope, to which names can be added."""
        return Scope(dict(self.nodes), dict(self.edges))

    @staticmethod
    def _known(names: Mapping[str, object]) -> str:
        return f"; it has {', '.join(names)}" if names else ", which has none"


def _bind_nodes(
    clauses: Sequence[Clause], outer: Scope, with_rows: frozenset[str], numbers: Iterator[int]
) -> dict[str, _BoundNode]:
    """Return the nodes that clauses define, by name, with their rows or positions."""
    names = own_nodes(clauses, outer.nodes)
    heads: dict[str, str] = {}
    for edge in clauses if names else ():
        if not isinstance(edge, GrewEdge) or edge.label.enhanced or None in (edge.source, edge.target):
            continue
        if edge.source not in with_rows and edge.source != edge.target:
            heads.setdefault(str(edge.source), str(edge.target))
    bound: dict[str, _BoundNode] = {}
    # Heads without a row are bound last, as their position is in the row of a modifier.
    for name in sorted(names, key=heads.__contains__):
        nodes = [clause for clause in clauses if isinstance(clause, Node) and clause.name == name]
        free = any(node.free for node in nodes)
        if modifier := heads.get(name):
            below = bound[modifier] if modifier in bound else outer.nodes[modifier]
            bound[name] = _BoundNode("", below.sentence, f"{below.alias}.head", True, free)
            continue
        described = tuple(node.descriptions for node in nodes if node.descriptions)
        alias = f"node_{next(numbers)}"  # names of nodes may be no valid aliases
        # Nodes that have a head or a token before them cannot be the anchor.
        anchored = not any(map(partial(_is_behind, name), clauses)) and all(
            any(all(feature.fits_anchor for feature in description) for description in alternatives)
            for alternatives in described
        )
        bound[name] = _BoundNode(
            alias, f"{alias}.sentence_id", f"{alias}.position", anchored, free, described
        )
    return {name: bound[name] for name in names}


def _is_behind(name: str, clause: Clause) -> bool:
    """Return whether a clause gives a node a head, or a token before it."""
    if isinstance(clause, LinearOrder):
        return clause.operator in ("<", "<<") and clause.right == name
    return isinstance(clause, GrewEdge | Dominance) and clause.target == name


#: Rows of `token`, and one for the anchor node of each sentence.
_ANCHORED = """\
(
    select corpus_id, sentence_id, position, word_id, lemma_id, upos_id, xpos_id, feats_id, head, deprel_id
    from token
    union all
    select corpus_id, id, 0, null, null, null, null, null, null, null
    from sentence
  )"""
_ENHANCED = """\
(
    select {columns} from enhanced_edge
    where {conditions}
  )"""
_EQUAL_COLUMNS = re.compile(r"(\w+)\.\w+ = (\w+)\.\w+")
_MOST_WHOLE = 2**53
_NODES_ONLY = {"<": "{left} + 1 = {right}", "<<": "{left} < {right}"}


@dataclass(slots=True)
class _Block:
    """The tables and conditions of a pattern, or of a filter.

    ``apart`` are pairs of positions that are known to differ, ``together`` pairs of equal sentences.
    """

    tables: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    apart: set[frozenset[str]] = field(default_factory=set)
    together: set[frozenset[str]] = field(default_factory=set)

    def exists(self, indent: str) -> str:
        """Return the condition that the block has a match; it may be null."""
        tables, others = _join_tables(self.tables, self.conditions, f"\n{indent}  ")
        conditions = f"\n{indent}    and ".join(others) or "true"
        if not self.tables:
            return f"({conditions})"
        return f"exists (\n{indent}  select 1 from {tables}\n{indent}  where {conditions}\n{indent})"


@dataclass(frozen=True, slots=True)
class HitStatement:
    """The parts of the statement that finds the hits of a request."""

    paths: Sequence[str]
    tables: Sequence[str]
    conditions: Sequence[str]
    sentence: str
    scope: Scope

    @property
    def text(self) -> str:
        """The from and where clauses."""
        tables, conditions = _join_tables(self.tables, self.conditions, "\n  ")
        return f"from {tables}" + ("\nwhere " + "\n  and ".join(conditions) if conditions else "")

    def head(self, more: Iterable[str] = ()) -> str:
        """Return the with clause of the paths and further expressions; empty if there are none."""
        parts = [*self.paths, *more]
        if not parts:
            return ""
        return f"with {'recursive ' if self.paths else ''}" + ",\n".join(parts) + "\n"


class Compiler:
    """Compiles a request and the keys of its hits, for all sentences or the ``first`` ones."""

    def __init__(self, bindings: Bindings, selection: Selection, keys: StoreKeys, first: int = 0) -> None:
        self._first = first
        self.conditions = FeatureConditions(bindings, selection, keys)
        self._bindings, self._selection, self.ignore_case = bindings, selection, selection.ignore_case
        self._numbers = count(1)
        self._paths: list[str] = []

    def source(
        self, request: GrewRequest, keys: Sequence[CountKey] = (), whether: Sequence[Filter] = ()
    ) -> HitStatement:
        """Return the statement of the hits of a request, which are counted by ``keys`` and ``whether``."""
        self._with_rows = request.names_with_rows(keys, whether)
        scope, block = Scope(), _Block()
        self._fill(block, request.clauses, scope)
        rows = [node for node in scope.nodes.values() if node.alias]
        if not rows:
            block.tables.append("sentence")
        sentence = rows[0].sentence if rows else "sentence.id"
        self._sentence = sentence
        self._join(block, scope.nodes, {sentence})
        chosen = self._selection.of_tokens if rows else self._selection.of_sentences
        conditions = [*chosen(self._bindings, rows[0].alias if rows else "sentence"), *block.conditions]
        conditions += [] if rows else self._among("sentence.id")
        conditions += [structure_condition(name, sentence, self._corpora("t")) for name in request.structures]
        conditions += [self.conditions.metadata(sentence, feature) for feature in request.metadata]
        conditions += [self.filter(block, scope) for block in request.filters]
        return HitStatement(self._paths, block.tables, conditions, sentence, scope)

    def filter(self, block: Filter, scope: Scope) -> str:
        """Return the condition that a filter lets a hit pass."""
        inner, statement = scope.within(), _Block()
        self._fill(statement, block.clauses, inner)
        own = {name: bound for name, bound in inner.nodes.items() if name not in scope.nodes}
        self._join(statement, own, {self._sentence, *(bound.sentence for bound in scope.nodes.values())})
        self._distinct(statement, ((a, b) for a in own.values() for b in scope.nodes.values()))
        text = statement.exists("  ")
        if statement.tables:
            return f"not {text}" if block.negated else text
        return f"{text} is not true" if block.negated else f"coalesce({text}, false)"

    def value(self, value: Reference | Distance, scope: Scope) -> str:
        """Return the SQL for a reference or a distance: a string, or a number for positions."""
        if isinstance(value, Distance):
            return _distance(value.function, scope.node(value.left), scope.node(value.right))
        bound = scope.either(value.name)
        if isinstance(bound, _BoundNode):
            key = self.key(value, scope)
            return key.string(bound.alias, self._bindings) if key else bound.position
        if value.key in ("length", "delta"):
            return _distance(value.key, bound.source, bound.target)
        label = f"(select name from tag where id = {bound.alias}.deprel_id)"
        if value.key == "label":
            return label
        if is_part(value.key):
            return part_of(label, value.key)
        raise InputError(
            f"{value.name}.{value.key}: an edge has {', '.join(_EDGE_KEYS)}, deep, and 1, 2, ..."
        )

    def key(self, value: Reference | Distance, scope: Scope) -> Key | None:
        """Return the attribute of tokens to which a value refers; None for other values."""
        if isinstance(value, Distance) or value.key == POSITION:
            return None
        is_edge = isinstance(scope.either(value.name), _BoundEdge)
        return None if is_edge else self.conditions.key(value.key, value.name)

    def _fill(self, block: _Block, clauses: Sequence[Clause], scope: Scope) -> None:
        outer = dict(scope.nodes)
        own = _bind_nodes(clauses, scope, self._with_rows, self._numbers)
        scope.nodes |= own
        for bound in own.values():
            if bound.alias:
                table = _ANCHORED if bound.anchored else "token"
                block.tables.append(f"{table} as {bound.alias}")
                block.conditions += self._among(bound.sentence)
            for descriptions in bound.descriptions:
                block.conditions += self._node_conditions(bound, descriptions)
        for clause in clauses:
            if isinstance(clause, GrewEdge):
                self._edge(block, clause, scope)
            elif isinstance(clause, Dominance):
                self._path(block, clause, scope)
            elif isinstance(clause, Node) and clause.name in outer:
                block.conditions += self._node_conditions(outer[clause.name], clause.descriptions)
        # Edges first, as other clauses may name them.
        for clause in clauses:
            if isinstance(clause, LinearOrder):
                block.conditions.append(self._order(block, clause, scope))
            elif isinstance(clause, GrewComparison):
                block.conditions.append(self._comparison(clause, scope))
        self._distinct(block, combinations(own.values(), 2))

    def _node_conditions(self, node: _BoundNode, descriptions: Sequence[Description]) -> list[str]:
        return self.conditions.of_descriptions(node.alias, descriptions, anchored=node.anchored)

    def _edge(self, block: _Block, edge: GrewEdge, scope: Scope) -> None:
        if edge.name in scope.edges or edge.name in scope.nodes:
            raise InputError(f"{edge.name} names two things in the request; call the edge otherwise")
        if edge.label.enhanced:
            self._enhanced_edge(block, edge, scope)
            return
        if edge.target is None:
            alias, source = f"child_{next(self._numbers)}", scope.node(str(edge.source))
            conditions = [f"{alias}.sentence_id = {source.sentence}", f"{alias}.head = {source.position}"]
            conditions += [*self.conditions.label(alias, edge.label), *self._among(f"{alias}.sentence_id")]
            block.conditions.append(
                f"exists (select 1 from token as {alias} where {' and '.join(conditions)})"
            )
            return
        target = scope.node(edge.target)
        block.conditions += self.conditions.label(target.alias, edge.label)
        if edge.source is None:
            block.conditions.append(f"{target.alias}.head is not null")
            return
        source = scope.node(edge.source)
        head = f"{target.alias}.head"
        if source.position == head:
            block.conditions.append(f"{head} is not null")
        else:
            if source.sentence != target.sentence:
                block.conditions.append(f"{target.sentence} = {source.sentence}")
            block.conditions.append(f"{head} = {source.position}")
        block.together.add(frozenset((source.sentence, target.sentence)))
        block.apart.add(frozenset((source.position, target.position)))
        if edge.name is not None:
            scope.edges[edge.name] = _BoundEdge(source, target, target.alias)

    def _enhanced_edge(self, block: _Block, edge: GrewEdge, scope: Scope) -> None:
        label = [*self.conditions.label("enhanced_edge", edge.label), *self._among("sentence_id")]
        source, target = (None if name is None else scope.node(name) for name in (edge.source, edge.target))
        alias = f"enhanced_{next(self._numbers)}"
        ends = [(target, "position"), (source, "head")]
        conditions = [f"{alias}.{column} = {bound.position}" for bound, column in ends if bound is not None]
        some = target or source
        assert some is not None
        conditions.insert(0, f"{alias}.sentence_id = {some.sentence}")
        columns = "sentence_id, position, head"
        if source is not None and target is not None:
            # Several edges without a name give one hit.
            columns = f"{columns}, deprel_id" if edge.name else f"distinct {columns}"
        table = _ENHANCED.format(
            columns=columns, conditions=" and ".join(["minor = 0", "head_minor = 0", *label])
        )
        if source is None or target is None:
            block.conditions.append(
                f"exists (select 1 from {table} as {alias} where {' and '.join(conditions)})"
            )
            return
        block.tables.append(f"{table} as {alias}")
        block.conditions += conditions
        if edge.name is not None:
            scope.edges[edge.name] = _BoundEdge(source, target, alias)

    def _path(self, block: _Block, clause: Dominance, scope: Scope) -> None:
        above, below = scope.node(clause.source), scope.node(clause.target)
        # Paths down begin at a token, which the anchor is not.
        upward = below.descriptions or not above.descriptions or above.anchored
        seed = below if upward else above
        conditions = [
            text
            for descriptions in seed.descriptions
            for text in self.conditions.of_descriptions("seed", descriptions, anchored=False)
        ]
        conditions += self._corpora("seed")
        name, down = f"path_{next(self._numbers)}", seed is above and above is not below
        self._paths.append(path_table(name, conditions, self._among("step.sentence_id"), down=down))
        block.tables.append(name)
        block.conditions += [
            f"{name}.sentence_id = {below.sentence}",
            f"{name}.below = {below.position}",
            f"{name}.above = {above.position}",
        ]
        if above.sentence != below.sentence:
            # Joined through the path: else DuckDB would first join all pairs of tokens of a sentence.
            block.conditions.append(f"{name}.sentence_id = {above.sentence}")
            block.together.add(frozenset((above.sentence, below.sentence)))
        block.apart.add(frozenset((above.position, below.position)))

    def _order(self, block: _Block, clause: LinearOrder, scope: Scope) -> str:
        left, right = scope.either(clause.left), scope.either(clause.right)
        if isinstance(left, _BoundNode) and isinstance(right, _BoundNode):
            if clause.operator not in _NODES_ONLY:
                raise InputError(f"{clause.operator} stands between edges; nodes have < and <<")
            block.apart.add(frozenset((left.position, right.position)))
            return _NODES_ONLY[clause.operator].format(left=left.position, right=right.position)
        if clause.operator == "<":
            raise InputError("< stands between nodes; edges have <<, >< and <>")
        if isinstance(right, _BoundEdge):
            low, high = right.span
            if isinstance(left, _BoundEdge):
                return _edges_lie(clause.operator, left.span, right.span)
            if clause.operator == "<<":
                return f"({left.position} > {low} and {left.position} < {high})"
        raise InputError(
            f"{clause.left} {clause.operator} {clause.right}: of a node and an edge, only node << edge can be"
            " asked, that it lies within"
        )

    def _comparison(self, clause: GrewComparison, scope: Scope) -> str:
        left, right, operator = clause.left, clause.right, clause.operator
        string = self.value(left, scope)
        if isinstance(right, tuple):
            if not right:
                return f"{string} is {'not ' if operator == '=' else ''}null"
            among = self.conditions.values(f"{string}::varchar", right, self.key(left, scope))
            return among if operator == "=" else f"({string} is not null and ({among}) is not true)"
        if isinstance(right, Reference):
            other = self.value(right, scope)
            if operator in ("=", "<>"):
                first, second = self._same(left, right, scope) or (string, other)
                return f"{first} {operator} {second}"
            if _is_numeric(left) and _is_numeric(right):
                return f"{string} {operator} {other}"
            return compare_numbers(f"{string}::varchar", operator, f"{other}::varchar")
        if not _is_numeric(left):
            return compare_numbers(string, operator, self._bindings.bind("number", right))
        # Beyond `_MOST_WHOLE`, the digits of a double are not exact, so that it is compared as a double.
        number = float(right)
        whole = abs(number) < _MOST_WHOLE and number.is_integer()
        return f"{string} {operator} {self._bindings.bind('number', int(number) if whole else number)}"

    def _same(self, left: Reference | Distance, right: Reference, scope: Scope) -> tuple[str, str] | None:
        """Return the SQL to compare two attributes for equality: ids, or folded words; None for neither."""
        keys = [key for key in (self.key(left, scope), self.key(right, scope)) if key]
        if len(keys) < 2:
            return None
        bounds = [scope.either(side.name) for side in (left, right) if isinstance(side, Reference)]
        if self.ignore_case and all(key.is_word for key in keys):
            first, second = (fold_sql(self.value(value, scope)) for value in (left, right))
            return first, second
        if both := keys[0].shared_columns(keys[1]):
            return f"{bounds[0].alias}.{both[0]}", f"{bounds[1].alias}.{both[1]}"
        return None

    def _join(self, block: _Block, own: dict[str, _BoundNode], joined: set[str]) -> None:
        """Join the nodes of a block that no edge has joined with the sentence of the pattern."""
        joined = set(joined)
        for bound in own.values():
            while near := next((pair for pair in block.together if pair & joined and pair - joined), None):
                joined |= near
            if bound.sentence not in joined:
                block.conditions.append(f"{bound.sentence} = {self._sentence}")
                joined.add(bound.sentence)

    def _distinct(self, block: _Block, pairs: Iterable[tuple[_BoundNode, _BoundNode]]) -> None:
        """Add the condition that two nodes are different tokens, unless another condition implies it."""
        for first, second in pairs:
            pair = frozenset((first.position, second.position))
            if not (first.free or second.free or pair in block.apart):
                block.conditions.append(f"{first.position} <> {second.position}")

    def _corpora(self, alias: str) -> list[str]:
        corpora = self._selection.of_tokens(self._bindings, alias)
        return [*corpora, *self._among(f"{alias}.sentence_id")]

    def _among(self, sentence: str) -> list[str]:
        """Return the condition that a sentence is among the first; with it, a part of each table is read."""
        return [f"{sentence} <= {self._first}"] if self._first else []


def _join_tables(tables: Sequence[str], conditions: Sequence[str], line: str) -> tuple[str, list[str]]:
    """Return tables joined on the columns that must be equal, and the other conditions.

    In the ``where`` clause, DuckDB would apply these equalities behind other conditions, and first compute
    all combinations of rows. With 2.0.1, this takes 0.58 s, and with ``join ... on`` under 0.01 s
    (2026-11-25, not reported yet)::

        create table t as select i // 10 as s, i % 10 as p from range(300) as r(i);
        create table m as select 1 as s, 2 as low, 3 as high;
        select count(*) from t as a, t as b, t as c
        where (select high from m where m.s = a.s and a.p between low and high) = 3
            and a.p in (select low from m)
            and b.s = a.s and c.s = a.s;
    """
    positions = {table.rsplit(maxsplit=1)[-1]: number for number, table in enumerate(tables)}
    on: list[list[str]] = [[] for _ in tables]
    others: list[str] = []
    for condition in conditions:
        ends = _EQUAL_COLUMNS.fullmatch(condition)
        numbers = [positions.get(alias) for alias in ends.groups()] if ends else []
        joined = [number for number in numbers if number is not None]
        (on[max(joined)] if len({*joined}) > 1 else others).append(condition)
    text = "".join(
        f"{line}join {table} on {' and '.join(on[number])}" if on[number] else f"{line}cross join {table}"
        for number, table in enumerate(tables)
        if number
    )
    return "".join(tables[:1]) + text, others


def _edges_lie(operator: str, first: tuple[str, str], second: tuple[str, str]) -> str:
    """Return the condition on the spans of two edges: within, crossing, apart."""
    (low, high), (start, end) = first, second
    if operator == "<<":
        return f"({start} <= {low} and {high} <= {end})"
    if operator == "<>":
        return f"({high} <= {start} or {end} <= {low})"
    return (
        f"({low} < {start} and {start} < {high} and {high} < {end}"
        f" or {start} < {low} and {low} < {end} and {end} < {high})"
    )


def _distance(function: str, left: _BoundNode, right: _BoundNode) -> str:
    difference = f"{right.position} - {left.position}"
    return f"({difference})" if function == "delta" else f"abs({difference})"


def _is_numeric(value: Reference | Distance) -> bool:
    """Return whether a value is a number in SQL; other values are strings."""
    return isinstance(value, Distance) or value.key in (POSITION, "length", "delta")
