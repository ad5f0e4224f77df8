"""CQL as one statement: the spans of tokens that match, with the positions of their labels.

The table ``read`` has the spans that each state of an automaton can read, under a number for states that read
the same. The recursive query ``walk`` goes from token to token along the steps of the automaton. Operators
that no automaton can express (``within``, ``containing``, ``&``, ``::``) are joins of spans, which the
automaton around them reads. The statement defines the meaning of a query; `sentgen.lookups.search` finds the
same hits in arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sentgen.lookups.base.attributes import TokenKey
from sentgen.lookups.base.statement import (
    DOCUMENT,
    SENTENCE,
    Extent,
    HitSource,
    TableExpression,
    document_tokens,
    expressions_text,
    where,
)
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges, Symbol
from sentgen.lookups.cql.conditions import ENDS, RegionConditions, TokenConditions
from sentgen.lookups.cql.dialects import Strategy

#: The symbol that is read, and the conditions on the edge before it.
ReadKind: TypeAlias = "tuple[Symbol, Edges]"

#: The number of tokens of each unit: sentence or document.
_UNITS = "  select s.id as sentence_id, s.length\n  from sentence as s{conditions}"
_PLACED_UNITS = """\
  select p.start as sentence_id, sum(p.length)::integer as length
  from placed as p
  join sentence as s on s.id = p.id{conditions}
  group by p.start"""
_LYING = """\
  select m.sentence_id, m.first, m.last, p.began, p.place
  from {found} as m
  join ({parts}) as p on p.sentence_id = m.sentence_id and m.first between p.first and p.last"""
#: A walk begins with any token, or with a span that its first state reads, if the edge meets the conditions.
_ANY_FIRST = """\
  select t.sentence_id, t.first, t.first, {state}{labels}
  from (select sentence_id, unnest(range(1, length + 1))::integer as first from unit) as t{conditions}"""
_FIRST = """\
  select t.sentence_id, t.first, t.last, {state}{labels}
  from {read} as t{conditions}"""
_STEP = """\
  select walk.sentence_id, walk.first, t.last, step.target{labels}
  from {walk} as walk
  join {step} as step on step.source = walk.state
  join {read} as t on t.sentence_id = walk.sentence_id and t.first = walk.last + 1 and t.class = step.class"""
#: A step to any token, which has to exist.
_ANY_STEP = """\
  select walk.sentence_id, walk.first, walk.last + 1, step.target{labels}
  from {walk} as walk
  join {step} as step on step.source = walk.state and step.class is null
  join unit on unit.sentence_id = walk.sentence_id and walk.last < unit.length"""


_SPANS = "select distinct sentence_id, first, last from {match}"
#: A span is one of the longest if none that begins before it, or with it and is longer, ends behind it.
_LONGEST = f"""\
  select sentence_id, first, last
  from ({_SPANS})
  qualify coalesce(max(last) over (
    partition by sentence_id order by first, last desc rows between unbounded preceding and 1 preceding
  ) < last, true)"""
_SHORTEST = f"""\
  select sentence_id, first, last
  from ({_SPANS})
  qualify coalesce(min(last) over (
    partition by sentence_id order by first desc, last rows between unbounded preceding and 1 preceding
  ) > last, true)"""
#: As CQP: the shortest span for each first token, and of these the longest for each last token.
_STANDARD = """\
  select sentence_id, min(first) as first, last
  from (select sentence_id, first, min(last) as last from {match} group by sentence_id, first)
  group by sentence_id, last"""
_TRADITIONAL = """\
  select sentence_id, first, min(last) as last
  from {match}
  group by sentence_id, first"""
_HITS = {
    Strategy.ALL: f"  {_SPANS}",
    Strategy.LONGEST: _LONGEST,
    Strategy.SHORTEST: _SHORTEST,
    Strategy.STANDARD: _STANDARD,
    Strategy.TRADITIONAL: _TRADITIONAL,
}


@dataclass(slots=True)
class SpanStatement:
    """Writes the common table expressions of the statement; matches lie within sentences, or documents."""

    conditions: TokenConditions
    extent: Extent = SENTENCE
    parts: list[TableExpression] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    @property
    def _across(self) -> bool:
        return self.extent is DOCUMENT

    @property
    def _regions(self) -> RegionConditions:
        return RegionConditions(self.conditions, self._across)

    def find(self, pattern: syntax.Pattern, strategy: Strategy) -> HitSource:
        """Write the expressions for a pattern, and return its hits."""
        for label in pattern.all_labels:
            self._names[label] = f"label_{len(self._names) + 1}"
        if self._across:
            self.parts += document_tokens()
        match = self._spans(pattern)
        self.parts.append(TableExpression("found", _HITS[strategy].format(match=match)))
        parts = expressions_text(self.parts)
        return HitSource("found", parts=parts, extent=self.extent, match=match, labels=self._names)

    def _count_units(self) -> None:
        """Write the table ``unit`` once, for walks that read any token."""
        if all(part.name != "unit" for part in self.parts):
            conditions = where(self.conditions.selection.of_sentences(self.conditions.bindings, "s"), "  ")
            text = (_PLACED_UNITS if self._across else _UNITS).format(conditions=conditions)
            self.parts.append(TableExpression("unit", text))

    def _of_corpora(self, alias: str) -> list[str]:
        return self.conditions.selection.of_tokens(self.conditions.bindings, alias)

    def _name(self, kind: str) -> str:
        return f"{kind}_{sum(part.name.startswith(f'{kind}_') for part in self.parts) + 1}"

    def _add(self, kind: str, text: str, *, materialized: bool = False, columns: Sequence[str] = ()) -> str:
        name = self._name(kind)
        table = f"{name}({', '.join(columns)})" if columns else name
        self.parts.append(TableExpression(table, text, materialized))
        return name

    def _spans(self, pattern: syntax.Pattern) -> str:
        match pattern:
            case syntax.RegionPattern():
                return self._add("match", self._regions.whole(pattern, self._no_labels()))
            case syntax.Multiword():
                return self._multiword(pattern)
            case syntax.Both(left, right):
                return self._together(left, right, "o.first = m.first and o.last = m.last")
            case syntax.Within(inner, syntax.RegionPattern() as region):
                return self._add("match", self._regions.within(region, self._spans(inner)))
            case syntax.Expanded(part, region):
                spans = self._spans(part)
                return self._add("match", self._regions.expand(region, spans, self._names.values()))
            case syntax.Within(inner, outer):
                return self._together(inner, outer, "o.first <= m.first and o.last >= m.last")
            case syntax.Containing(outer, inner):
                return self._together(outer, inner, "o.first >= m.first and o.last <= m.last")
            case syntax.Meet():
                return self._meet(pattern)
            case syntax.Constrained(part, condition):
                return self._constrain(part, condition)
        return self._walk(Automaton.of_pattern(pattern, across=self._across))

    def _labels(self, alias: str) -> str:
        return "".join(f", {alias}.{column}" for column in self._names.values())

    def _no_labels(self) -> str:
        return self._labels_at((), "")

    def _labels_at(self, bound: Sequence[str], position: str) -> str:
        """Return the columns of all labels: a position for those in ``bound``, and null for the others."""
        return "".join(
            f", {position if label in bound else 'null::integer'} as {column}"
            for label, column in self._names.items()
        )

    def _multiword(self, word: syntax.Multiword) -> str:
        compared = self.conditions.selection.with_case(TokenKey.of_name("word"), word.form)
        form = compared.condition("m.form", self.conditions.bindings)
        sentence, before, joins = "m.sentence_id", "", ""
        if self._across:
            sentence, before, joins = "p.start", "p.before + ", "\n  join placed as p on p.id = m.sentence_id"
        first, last = (f'{before}m."{end}"' for end in ("first", "last"))
        conditions = [form, *self._of_corpora("m")]
        if word.joined:
            joins += '\n  join token as t on t.sentence_id = m.sentence_id and t.position = m."last"'
            conditions.append(self.conditions.of_token(syntax.NoSpace(), "t"))
        return self._add(
            "match",
            f"  select {sentence} as sentence_id, {first} as first, {last} as last"
            f"{self._labels_at(word.labels, first)}\n  from multiword as m{joins}{where(conditions, '  ')}",
        )

    def _meet(self, pattern: syntax.Meet) -> str:
        part, other = self._spans(pattern.part), self._spans(pattern.other)
        if isinstance(pattern.near, syntax.RegionPattern):
            parts = self._regions.parts(pattern.near)
            part, other = (
                self._add("lying", _LYING.format(found=spans, parts=parts)) for spans in (part, other)
            )
            key = near = "sentence_id, began, place"
        else:
            low, high = pattern.near
            key, near = "sentence_id, first", f"sentence_id, unnest(range(first - {high}, first - {low} + 1))"
        word = "not in" if pattern.negated else "in"
        return self._add(
            "match",
            f"  select distinct sentence_id, first, last\n  from {part}\n"
            f"  where ({key}) {word} (select {near} from {other})",
        )

    def _together(self, left: syntax.Pattern, right: syntax.Pattern, on: str) -> str:
        """Write the spans of ``left`` joined with those of ``right`` by ``on``, with the labels of both."""
        first, second = self._spans(left), self._spans(right)
        labels = "".join(f", coalesce(m.{column}, o.{column}) as {column}" for column in self._names.values())
        return self._add(
            "match",
            f"  select distinct m.sentence_id, m.first, m.last{labels}\n  from {first} as m\n"
            f"  join {second} as o on o.sentence_id = m.sentence_id and {on}",
        )

    def _constrain(self, part: syntax.Pattern, condition: syntax.Condition) -> str:
        inner, bound = self._spans(part), part.bound_labels | ENDS.keys()
        columns = ENDS | self._names
        # A label that may have no token needs an outer join.
        joins = "".join(
            f"\n  {'' if label in bound else 'left '}join {self.extent.tokens} as t_{column}"
            f" on t_{column}.{self.extent.sentence} = m.sentence_id"
            f" and t_{column}.{self.extent.position} = m.{column}"
            for label, column in sorted((label, columns[label]) for label in _labels_of_tokens(condition))
        )
        of_labels = self.conditions.of_labels(condition, columns)
        return self._add("match", f"  select m.*\n  from {inner} as m{joins}\n  where {of_labels}")

    def _walk(self, states: Automaton) -> str:
        kinds = list(zip(states.symbols, states.entries, strict=True))
        reads = [kind for kind in dict.fromkeys(kinds) if not self._is_any(kind)]
        numbers = {kind: number for number, kind in enumerate(reads)}
        classes = [numbers.get(kind) for kind in kinds]
        if None in classes:
            self._count_units()
        inner = {symbol: self._spans(symbol) for symbol, _ in reads if not isinstance(symbol, syntax.Token)}
        texts = [self._read(kind, number, inner) for kind, number in numbers.items()]
        read = self._add("read", "\n  union all\n".join(texts), materialized=True) if texts else ""
        if not states.firsts:
            nothing = f"  select 0 as sentence_id, 0 as first, 0 as last{self._no_labels()}\n  where false"
            return self._add("match", nothing)
        texts = [self._first(state, classes[state], edges, read) for state, edges in states.firsts]
        if states.steps:
            texts += self._steps(states, classes, read)
        names = ["sentence_id", "first", "last", "state", *self._names.values()]
        walk = self._add("walk", "\n  union\n".join(texts), columns=names)
        return self._accept(states, walk)

    def _is_any(self, kind: ReadKind) -> bool:
        """Return whether every token of a unit can be read; in a document some may not be selected."""
        chosen = self._across and self.conditions.selection.condition is not None
        return kind == (syntax.Token(), frozenset()) and not chosen

    def _read(self, kind: ReadKind, number: int, inner: Mapping[syntax.Joined, str]) -> str:
        symbol, entry = kind
        if not isinstance(symbol, syntax.Token):
            conditions = self._regions.at(entry, "m.sentence_id", "m.first - 1")
            return (
                f"  select m.sentence_id, m.first, m.last, {number} as class{self._labels('m')}"
                f"\n  from {inner[symbol]} as m{where(conditions, '  ')}"
            )
        sentence, position = f"t.{self.extent.sentence}", f"t.{self.extent.position}"
        conditions = [] if symbol.condition is None else [self.conditions.of_token(symbol.condition, "t")]
        conditions += [*self._regions.at(entry, sentence, f"{position} - 1"), *self._of_corpora("t")]
        return (
            f"  select {sentence} as sentence_id, {position} as first, {position} as last, {number} as class"
            f"{self._labels_at(symbol.labels, position)}"
            f"\n  from {self.extent.tokens} as t{where(conditions, '  ')}"
        )

    def _first(self, state: int, number: int | None, edges: Edges, read: str) -> str:
        at = self._regions.at(edges, "t.sentence_id", "t.first - 1")
        if number is None:
            return _ANY_FIRST.format(state=state, labels=self._no_labels(), conditions=where(at, "  "))
        conditions = where([f"t.class = {number}", *at], "  ")
        return _FIRST.format(state=state, labels=self._labels("t"), read=read, conditions=conditions)

    def _steps(self, states: Automaton, classes: Sequence[int | None], read: str) -> list[str]:
        rows = (
            f"({source}, {target}, {'null' if classes[target] is None else classes[target]})"
            for source, target in states.steps
        )
        step = self._add("step", f"  values {', '.join(rows)}", columns=("source", "target", "class"))
        walk, targets = self._name("walk"), {classes[target] for _, target in states.steps}
        texts = list[str]()
        if targets - {None}:
            labels = "".join(f", coalesce(t.{column}, walk.{column})" for column in self._names.values())
            texts.append(_STEP.format(walk=walk, step=step, read=read, labels=labels))
        if None in targets:
            texts.append(_ANY_STEP.format(walk=walk, step=step, labels=self._labels("walk")))
        return texts if len(texts) == 1 else ["  (\n" + "\n  union all\n".join(texts) + "\n  )"]

    def _accept(self, states: Automaton, walk: str) -> str:
        always = sorted({number for number, edges in states.lasts if not edges})
        conditions = [f"w.state in ({', '.join(map(str, always))})"] if always else []
        for number, edges in states.lasts:
            if number not in always:
                at = self._regions.at(edges, "w.sentence_id", "w.last")
                conditions.append(f"(w.state = {number} and {' and '.join(at)})")
        return self._add(
            "match",
            f"  select distinct w.sentence_id, w.first, w.last{self._labels('w')}\n"
            f"  from {walk} as w\n  where {' or '.join(conditions) or 'false'}",
        )


def _labels_of_tokens(condition: syntax.Condition) -> set[str]:
    """Return the labels whose tokens a condition reads; a distance needs their positions only."""
    return {
        term.label
        for leaf in syntax.leaves(condition)
        if not (isinstance(leaf, syntax.Measured) and leaf.function != "f")
        for term in syntax.terms(leaf)
    }
