"""Compile a request: what stands between ``from`` and ``limit`` in the statement that finds its hits.

A node is a row of `token`, or only the place of a head if nothing else is asked of it; an edge is
``modifier.head = head.position`` in one sentence, each filter one ``exists``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count

from sentgen.case_folding import folded
from sentgen.errors import InputError
from sentgen.lookups.attributes import Key, same_numbers
from sentgen.lookups.grew.features import FeatureConditions, part_of
from sentgen.lookups.grew.scopes import (
    EDGE_KEYS,
    BoundEdge,
    BoundNode,
    Scope,
    bind_nodes,
    names_with_rows,
)
from sentgen.lookups.grew.syntax import (
    POSITION,
    Clause,
    CountKey,
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
)
from sentgen.lookups.grew.trees import path_table, structure_condition
from sentgen.lookups.keys import StoreKeys
from sentgen.lookups.numbers import compared
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings

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
class PatternStatement:
    """The tables and conditions of a pattern, or of a filter.

    ``apart`` are pairs of positions that cannot be one, ``together`` pairs of sentences that are.
    """

    tables: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    apart: set[frozenset[str]] = field(default_factory=set)
    together: set[frozenset[str]] = field(default_factory=set)

    def exists(self, indent: str) -> str:
        """Return the condition that there is such a thing; it may be null."""
        tables, others = _joined(self.tables, self.conditions, f"\n{indent}  ")
        conditions = f"\n{indent}    and ".join(others) or "true"
        if not self.tables:
            return f"({conditions})"
        return f"exists (\n{indent}  select 1 from {tables}\n{indent}  where {conditions}\n{indent})"


@dataclass(frozen=True, slots=True)
class HitStatement:
    """What finds the hits of a request.

    Args:
        paths: common table expressions that it names.
        tables: after ``from``.
        conditions: after ``where``.
        sentence: the sentence of a hit, in SQL.
        scope: its nodes and edges.
    """

    paths: Sequence[str]
    tables: Sequence[str]
    conditions: Sequence[str]
    sentence: str
    scope: Scope

    @property
    def text(self) -> str:
        """The tables and conditions."""
        tables, conditions = _joined(self.tables, self.conditions, "\n  ")
        return f"from {tables}" + ("\nwhere " + "\n  and ".join(conditions) if conditions else "")

    def head(self, more: Iterable[str] = ()) -> str:
        """Return the ``with`` clause, of the paths and of others; nothing for none."""
        parts = [*self.paths, *more]
        if not parts:
            return ""
        return f"with {'recursive ' if self.paths else ''}" + ",\n".join(parts) + "\n"


class Compiler:
    """Compiles one request, and what is asked of its hits, in all sentences or the ``first`` ones."""

    def __init__(
        self,
        bindings: Bindings,
        selection: Selection,
        keys: StoreKeys,
        first: int = 0,
    ) -> None:
        self._first = first
        self.conditions = FeatureConditions(bindings, selection, keys)
        self._bindings, self._selection, self.ignore_case = bindings, selection, selection.ignore_case
        self._numbers = count(1)
        self._paths: list[str] = []

    def source(
        self, request: GrewRequest, keys: Sequence[CountKey] = (), whether: Sequence[Filter] = ()
    ) -> HitStatement:
        """Return what finds the hits of a request; ``keys`` and ``whether`` are asked of them later."""
        self._with_rows = names_with_rows(request, keys, whether)
        scope, block = Scope(), PatternStatement()
        self._fill(block, request.clauses, scope)
        rows = [one for one in scope.nodes.values() if one.alias]
        if not rows:
            block.tables.append("sentence")
        sentence = rows[0].sentence if rows else "sentence.id"
        self._sentence = sentence
        self._join(block, scope.nodes, {sentence})
        chosen = self._selection.of_tokens if rows else self._selection.of_sentences
        conditions = [*chosen(self._bindings, rows[0].alias if rows else "sentence"), *block.conditions]
        conditions += [] if rows else self._among("sentence.id")
        conditions += [structure_condition(one, sentence, self._corpora("t")) for one in request.structures]
        conditions += [self.conditions.metadata(sentence, one) for one in request.metadata]
        for one in request.filters:
            conditions.append(self.filter(one, scope))
        return HitStatement(self._paths, block.tables, conditions, sentence, scope)

    def filter(self, one: Filter, scope: Scope) -> str:
        """Return the condition that a filter lets a hit pass."""
        inner, block = scope.within(), PatternStatement()
        self._fill(block, one.clauses, inner)
        own = {name: bound for name, bound in inner.nodes.items() if name not in scope.nodes}
        self._join(block, own, {self._sentence, *(bound.sentence for bound in scope.nodes.values())})
        self._distinct(block, ((a, b) for a in own.values() for b in scope.nodes.values()))
        text = block.exists("  ")
        if block.tables:
            return f"not {text}" if one.negated else text
        return f"{text} is not true" if one.negated else f"coalesce({text}, false)"

    def value(self, of: Reference | Distance, scope: Scope) -> str:
        """Return what a reference or a distance stands for: a string, or a number for positions."""
        if isinstance(of, Distance):
            left, right = scope.node(of.left).position, scope.node(of.right).position
            return f"({right} - {left})" if of.function == "delta" else f"abs({right} - {left})"
        bound = scope.either(of.name)
        if isinstance(bound, BoundNode):
            key = self.key(of, scope)
            return key.string(bound.alias, self._bindings) if key else bound.position
        ends = bound.target.position, bound.source.position
        if of.key in ("length", "delta"):
            return f"({ends[0]} - {ends[1]})" if of.key == "delta" else f"abs({ends[0]} - {ends[1]})"
        label = f"(select name from tag where id = {bound.alias}.deprel_id)"
        return label if of.key == "label" else part_of(label, _edge_key(of))

    def key(self, of: Reference | Distance, scope: Scope) -> Key | None:
        """Return the attribute of tokens that is asked of a node; none if something else is."""
        if isinstance(of, Distance) or of.key == POSITION or isinstance(scope.either(of.name), BoundEdge):
            return None
        return self.conditions.key(of.key, of.name)

    def _fill(self, block: PatternStatement, clauses: Sequence[Clause], scope: Scope) -> None:
        """Bring in the nodes of some clauses, and their conditions."""
        outer = dict(scope.nodes)
        own = bind_nodes(clauses, scope, self._with_rows, self._numbers)
        scope.nodes |= own
        for bound in own.values():
            if bound.alias:
                table = _ANCHORED if bound.anchored else "token"
                block.tables.append(f"{table} as {bound.alias}")
                block.conditions += self._among(bound.sentence)
            for each in bound.descriptions:
                block.conditions += self.conditions.described(bound.alias, each, anchored=bound.anchored)
        for clause in clauses:
            if isinstance(clause, GrewEdge):
                self._edge(block, clause, scope)
            elif isinstance(clause, Dominance):
                self._path(block, clause, scope)
            elif isinstance(clause, Node) and clause.name in outer:
                bound = outer[clause.name]
                block.conditions += self.conditions.described(
                    bound.alias, clause.descriptions, anchored=bound.anchored
                )
        # Edges first, which these may name.
        for clause in clauses:
            if isinstance(clause, LinearOrder):
                block.conditions.append(self._order(block, clause, scope))
            elif isinstance(clause, GrewComparison):
                block.conditions.append(self._comparison(clause, scope))
        self._distinct(block, combinations(own.values(), 2))

    def _edge(self, block: PatternStatement, edge: GrewEdge, scope: Scope) -> None:
        if edge.name in scope.edges or edge.name in scope.nodes:
            raise InputError(f"{edge.name} names two things in the request; call the edge otherwise")
        if edge.label.enhanced:
            self._enhanced_edge(block, edge, scope)
            return
        if edge.target is None:
            alias, source = f"child_{next(self._numbers)}", scope.node(str(edge.source))
            asked = [f"{alias}.sentence_id = {source.sentence}", f"{alias}.head = {source.position}"]
            asked += [*self.conditions.label(alias, edge.label), *self._among(f"{alias}.sentence_id")]
            block.conditions.append(f"exists (select 1 from token as {alias} where {' and '.join(asked)})")
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
            scope.edges[edge.name] = BoundEdge(source, target, target.alias)

    def _enhanced_edge(self, block: PatternStatement, edge: GrewEdge, scope: Scope) -> None:
        label = [*self.conditions.label("enhanced_edge", edge.label), *self._among("sentence_id")]
        source, target = (None if name is None else scope.node(name) for name in (edge.source, edge.target))
        alias = f"enhanced_{next(self._numbers)}"
        ends = [(target, "position"), (source, "head")]
        asked = [f"{alias}.{column} = {bound.position}" for bound, column in ends if bound is not None]
        some = target or source
        assert some is not None
        asked.insert(0, f"{alias}.sentence_id = {some.sentence}")
        # Of edges without a name it counts once that there is one.
        columns = "sentence_id, position, head"
        columns = f"{columns}, deprel_id" if edge.name else f"distinct {columns}"
        if source is None or target is None:
            columns = "sentence_id, position, head"
        table = _ENHANCED.format(
            columns=columns, conditions=" and ".join(["minor = 0", "head_minor = 0", *label])
        )
        if source is None or target is None:
            block.conditions.append(f"exists (select 1 from {table} as {alias} where {' and '.join(asked)})")
            return
        block.tables.append(f"{table} as {alias}")
        block.conditions += asked
        if edge.name is not None:
            scope.edges[edge.name] = BoundEdge(source, target, alias)

    def _path(self, block: PatternStatement, clause: Dominance, scope: Scope) -> None:
        above, below = scope.node(clause.source), scope.node(clause.target)
        # Paths down begin at a token, and the anchor is none.
        upward = below.descriptions or not above.descriptions or above.anchored
        seed = below if upward else above
        conditions = [
            text
            for each in seed.descriptions
            for text in self.conditions.described("seed", each, anchored=False)
        ]
        name, down = f"path_{next(self._numbers)}", seed is above and above is not below
        asked = [*conditions, *self._corpora("seed")]
        self._paths.append(path_table(name, asked, self._among("step.sentence_id"), down=down))
        block.tables.append(name)
        block.conditions += [
            f"{name}.sentence_id = {below.sentence}",
            f"{name}.below = {below.position}",
            f"{name}.above = {above.position}",
        ]
        if above.sentence != below.sentence:
            # By way of the path: said of the two as well, all pairs of a sentence would be joined first.
            block.conditions.append(f"{name}.sentence_id = {above.sentence}")
            block.together.add(frozenset((above.sentence, below.sentence)))
        block.apart.add(frozenset((above.position, below.position)))

    def _order(self, block: PatternStatement, clause: LinearOrder, scope: Scope) -> str:
        left, right = scope.either(clause.left), scope.either(clause.right)
        if isinstance(left, BoundNode) and isinstance(right, BoundNode):
            if clause.operator not in _NODES_ONLY:
                raise InputError(f"{clause.operator} stands between edges; nodes have < and <<")
            block.apart.add(frozenset((left.position, right.position)))
            return _NODES_ONLY[clause.operator].format(left=left.position, right=right.position)
        if clause.operator == "<":
            raise InputError("< stands between nodes; edges have <<, >< and <>")
        if isinstance(right, BoundEdge):
            low, high = right.span
            if isinstance(left, BoundEdge):
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
            found = self.conditions.values(f"{string}::varchar", right, self.key(left, scope))
            return found if operator == "=" else f"({string} is not null and ({found}) is not true)"
        if isinstance(right, Reference):
            other = self.value(right, scope)
            if operator in ("=", "<>"):
                one, two = self._same(left, right, scope) or (string, other)
                return f"{one} {operator} {two}"
            if _is_numeric(left) and _is_numeric(right):
                return f"{string} {operator} {other}"
            return compared(f"{string}::varchar", operator, f"{other}::varchar")
        if not _is_numeric(left):
            return compared(string, operator, self._bindings.bind("number", right))
        # Beyond what it has digits for, a double is no whole number.
        number = float(right)
        whole = abs(number) < _MOST_WHOLE and number.is_integer()
        return f"{string} {operator} {self._bindings.bind('number', int(number) if whole else number)}"

    def _same(self, left: Reference | Distance, right: Reference, scope: Scope) -> tuple[str, str] | None:
        """Return what tells of nodes whether two strings are the same: numbers, or folded words."""
        keys = [key for key in (self.key(left, scope), self.key(right, scope)) if key]
        if len(keys) < 2:
            return None
        bounds = [scope.either(one.name) for one in (left, right) if isinstance(one, Reference)]
        if self.ignore_case and all(key.spelled for key in keys):
            one, other = (folded(self.value(of, scope)) for of in (left, right))
            return one, other
        if both := same_numbers(*keys):
            return f"{bounds[0].alias}.{both[0]}", f"{bounds[1].alias}.{both[1]}"
        return None

    def _join(self, block: PatternStatement, own: dict[str, BoundNode], joined: set[str]) -> None:
        """Put the nodes of a block that no edge has put there into the sentence of the pattern."""
        joined = set(joined)
        for bound in own.values():
            while near := next((pair for pair in block.together if pair & joined and pair - joined), None):
                joined |= near
            if bound.sentence not in joined:
                block.conditions.append(f"{bound.sentence} = {self._sentence}")
                joined.add(bound.sentence)

    def _distinct(self, block: PatternStatement, pairs: Iterable[tuple[BoundNode, BoundNode]]) -> None:
        """Ask that two names are two tokens, where nothing else says so."""
        for one, other in pairs:
            places = frozenset((one.position, other.position))
            if not (one.free or other.free or places in block.apart):
                block.conditions.append(f"{one.position} <> {other.position}")

    def _corpora(self, alias: str) -> list[str]:
        corpora = self._selection.of_tokens(self._bindings, alias)
        return [*corpora, *self._among(f"{alias}.sentence_id")]

    def _among(self, sentence: str) -> list[str]:
        """Return the condition that a sentence is searched; every table has it, to be read in part."""
        return [f"{sentence} <= {self._first}"] if self._first else []


def _joined(tables: Sequence[str], conditions: Sequence[str], line: str) -> tuple[str, list[str]]:
    """Return tables joined on the columns that must be equal, and the other conditions.

    In the ``where`` clause, DuckDB sees these only behind what asks more of a hit, and first makes all
    combinations of all rows (`docs/design.md` has a case).
    """
    places = {table.rsplit(maxsplit=1)[-1]: number for number, table in enumerate(tables)}
    on: list[list[str]] = [[] for _ in tables]
    others: list[str] = []
    for condition in conditions:
        ends = _EQUAL_COLUMNS.fullmatch(condition)
        numbers = [places.get(alias) for alias in ends.groups()] if ends else []
        found = [number for number in numbers if number is not None]
        (on[max(found)] if len({*found}) > 1 else others).append(condition)
    joined = "".join(
        f"{line}join {table} on {' and '.join(on[number])}" if on[number] else f"{line}cross join {table}"
        for number, table in enumerate(tables)
        if number
    )
    return "".join(tables[:1]) + joined, others


def _edges_lie(operator: str, one: tuple[str, str], other: tuple[str, str]) -> str:
    """Return the condition on the spans of two edges: within, crossing, apart."""
    (low, high), (start, end) = one, other
    if operator == "<<":
        return f"({start} <= {low} and {high} <= {end})"
    if operator == "<>":
        return f"({high} <= {start} or {end} <= {low})"
    return (
        f"({low} < {start} and {start} < {high} and {high} < {end}"
        f" or {start} < {low} and {low} < {end} and {end} < {high})"
    )


def _edge_key(of: Reference) -> str:
    if is_part(of.key):
        return of.key
    raise InputError(f"{of.name}.{of.key}: an edge has {', '.join(EDGE_KEYS)}, deep, and 1, 2, ...")


def _is_numeric(of: Reference | Distance) -> bool:
    """Return whether a value is a number in SQL; others are strings."""
    return isinstance(of, Distance) or of.key in (POSITION, "length", "delta")
