"""CQL as one statement: the spans of tokens that match, with the places of their labels.

The tokens that some token pattern of the query matches are looked up once (``tok``), each under the number of
that pattern; a recursive query walks from token to token along the steps of the automaton (``walk``). What is
no automaton (``within``, ``containing``, ``&``, ``::``) is a join of spans, and what it finds a symbol of the
automaton around it. This is what a query means; `sentgen.lookups.search` finds the same in arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges, automaton
from sentgen.lookups.cql.region_places import BLOCK, DocumentRegions, in_blocks
from sentgen.lookups.cql.regions import RegionConditions
from sentgen.lookups.cql.tokens import ENDS, TokenConditions, is_attribute
from sentgen.lookups.reach import DOCUMENT, SENTENCE, Reach, TableExpression, running
from sentgen.lookups.statement import where

#: How a token is read: the condition that it meets, and what must be true right before it.
Read: TypeAlias = "tuple[syntax.Condition | None, Edges]"
_ANYTHING: Read = (None, frozenset())

_LYING = """\
  select m.sentence_id, m.first, m.last, p.began, p.place
  from {found} as m
  join {parts} as p on p.sentence_id = m.sentence_id and m.first between p.first and p.last{in_block}"""
_STEP = """\
  select walk.sentence_id, walk.first, t.last, step.target{carried}
  from {walk} as walk
  join {step} as step on step.source = walk.state
  join {symbols} as t on t.sentence_id = walk.sentence_id and t.first = walk.last + 1
    and t.class = step.class"""
#: To any token: there has to be one.
_FREE_STEP = """\
  select walk.sentence_id, walk.first, walk.last + 1, step.target{carried}
  from {walk} as walk
  join {step} as step on step.source = walk.state and step.class is null
  where walk.last < walk.length"""


@dataclass(frozen=True, slots=True)
class _States:
    """An automaton with the class of each state: what `tok` calls its tokens; None for any token."""

    states: Automaton
    classes: tuple[int | None, ...]
    any_token: bool

    @property
    def length(self) -> tuple[str, ...]:
        """The column with the length of the sentence, if a walk has to know it."""
        return ("length",) if self.any_token else ()

    def told(self, state: int) -> str:
        """Return the class of a state in SQL."""
        number = self.classes[state]
        return "null" if number is None else str(number)


@dataclass(slots=True)
class SpanStatement:
    """Writes the parts of the statement.

    Args:
        conditions: writes those on tokens.
        reach: how far matches reach.
    """

    conditions: TokenConditions
    reach: Reach = SENTENCE
    parts: list[TableExpression] = field(default_factory=list)
    _classes: dict[Read, int] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    @property
    def _across(self) -> bool:
        return self.reach is DOCUMENT

    def write(self, pattern: syntax.Pattern) -> str:
        """Write the parts for a pattern, and return the name of the last one, which has its spans."""
        for one in _read(pattern, self._across):
            if one != _ANYTHING:
                self._classes.setdefault(one, len(self._classes))
        for label in syntax.labels(pattern):
            self._names[label] = f"label_{len(self._names) + 1}"
        if self._across:
            self.parts += running()
        if self._classes:
            scans = (self._scan(one, number) for one, number in self._classes.items())
            self.parts.append(TableExpression("tok", "\n  union all\n".join(scans), kept=True))
        return self._spans(pattern)

    @property
    def _regions(self) -> RegionConditions:
        return (DocumentRegions if self._across else RegionConditions)(self.conditions)

    def _of_corpora(self, alias: str) -> list[str]:
        """Return the conditions on the corpora, and the sentences of them, that are asked about."""
        return self.conditions.selection.of_tokens(self.conditions.bindings, alias)

    def _scan(self, one: Read, number: int) -> str:
        """Return the query for the tokens that are read in one way, under a number."""
        condition, entry = one
        sentence, position = f"t.{self.reach.sentence}", f"t.{self.reach.position}"
        told = [] if condition is None else [self.conditions.of_token(condition, "t")]
        told += [*self._regions.before(entry, sentence, position), *self._of_corpora("t")]
        renamed = f"{sentence} as sentence_id" if self._across else sentence
        return (
            f"  select {renamed}, {position} as first, {position} as last, {number} as class"
            f"\n  from {self.reach.tokens} as t{where(told, '  ')}"
        )

    @property
    def labels(self) -> dict[str, str]:
        """Label to its column."""
        return dict(self._names)

    def _name(self, kind: str) -> str:
        return f"{kind}_{sum(part.name.startswith(f'{kind}_') for part in self.parts) + 1}"

    def _add(self, kind: str, text: str, *, kept: bool = False, columns: Sequence[str] = ()) -> str:
        name = self._name(kind)
        told = f"{name}({', '.join(columns)})" if columns else name
        self.parts.append(TableExpression(told, text, kept))
        return name

    def _spans(self, pattern: syntax.Pattern) -> str:
        match pattern:
            case syntax.RegionPattern():
                return self._region(pattern)
            case syntax.Multiword():
                return self._multiword(pattern)
            case syntax.Both(left, right):
                return self._together(left, right, "o.first = m.first and o.last = m.last")
            case syntax.Within(inner, syntax.RegionPattern() as region):
                found = self._spans(inner)
                told = self._regions.within(region, found)
                return self._add("match", told) if told else found
            case syntax.Expanded(part, region):
                return self._add(
                    "match", self._regions.expanded(region, self._spans(part), self._names.values())
                )
            case syntax.Within(inner, outer):
                return self._together(inner, outer, "o.first <= m.first and o.last >= m.last", "o")
            case syntax.Containing(outer, inner):
                return self._together(outer, inner, "o.first >= m.first and o.last <= m.last", "m")
            case syntax.Meet():
                return self._met(pattern)
            case syntax.Constrained(part, condition):
                return self._constrained(part, condition)
        return self._walked(automaton(pattern, across=self._across))

    def _region(self, region: syntax.RegionPattern) -> str:
        told = self.conditions.selection.of_sentences(self.conditions.bindings, "s")
        return self._add("match", self._regions.whole(region, told, self._labels("", ())))

    def _multiword(self, word: syntax.Multiword) -> str:
        form = self.conditions.compared("word", word.form).condition("m.form", self.conditions.bindings)
        sentence, before, joins = "m.sentence_id", "", ""
        if self._across:
            sentence, before, joins = "p.start", "p.before + ", "\n  join placed as p on p.id = m.sentence_id"
        first, last = (f'{before}m."{end}"' for end in ("first", "last"))
        told = [form, *self._of_corpora("m")]
        if word.joined:
            joins += '\n  join token as t on t.sentence_id = m.sentence_id and t.position = m."last"'
            told.append(self.conditions.of_token(syntax.NoSpace(), "t"))
        labels = "".join(
            f", {first if label in word.labels else 'null::integer'} as {column}"
            for label, column in self._names.items()
        )
        return self._add(
            "match",
            f"  select {sentence} as sentence_id, {first} as first, {last} as last{labels}\n"
            f"  from multiword as m{joins}{where(told, '  ')}",
        )

    def _labels(self, alias: str, bound: Sequence[str]) -> str:
        """Return the columns of all labels, of which only some are bound."""
        told = (
            f"{alias}.{column}" if label in bound else f"null::integer as {column}"
            for label, column in self._names.items()
        )
        return "".join(f", {one}" for one in told)

    def _met(self, pattern: syntax.Meet) -> str:
        """Write the tokens near which there is another one, or in whose region."""
        part, other = self._spans(pattern.part), self._spans(pattern.other)
        across = self._across
        if not isinstance(pattern.near, syntax.RegionPattern):
            low, high = pattern.near
            key, near = "sentence_id, first", f"sentence_id, unnest(range(first - {high}, first - {low} + 1))"
        elif pattern.near.built_in and not across:
            key = near = "sentence_id"
        else:
            regions = self._regions
            parts = f"({regions.parts(pattern.near)})"
            in_block = f"\n    and p.block = m.first // {BLOCK}" if across else ""
            lying = {"parts": in_blocks(parts) if across else parts, "in_block": in_block}
            part, other = (self._add("lying", _LYING.format(found=one, **lying)) for one in (part, other))
            key = near = "sentence_id, began, place"
        word = "not in" if pattern.negated else "in"
        return self._add(
            "match",
            f"  select distinct sentence_id, first, last\n  from {part}\n"
            f"  where ({key}) {word} (select {near} from {other})",
        )

    def _together(self, one: syntax.Pattern, other: syntax.Pattern, on: str, outer: str = "") -> str:
        """Write the spans of a pattern that stand to one of another as ``on`` says.

        ``outer``: which of the two the other one lies in; documents are too long to compare all in them.
        """
        of_one, of_other = syntax.labels(one), syntax.labels(other)
        first, second = self._spans(one), self._spans(other)
        if outer and self._across:
            on += f" and {outer}.block = {'m' if outer == 'o' else 'o'}.first // {BLOCK}"
            first, second = (in_blocks(first), second) if outer == "m" else (first, in_blocks(second))
        carried = "".join(
            f", coalesce(m.{column}, o.{column}) as {column}"
            if label in of_one and label in of_other
            else f", {'o' if label in of_other else 'm'}.{column}"
            for label, column in self._names.items()
        )
        return self._add(
            "match",
            f"  select distinct m.sentence_id, m.first, m.last{carried}\n  from {first} as m\n"
            f"  join {second} as o on o.sentence_id = m.sentence_id and {on}",
        )

    def _constrained(self, part: syntax.Pattern, condition: syntax.Condition) -> str:
        inner = self._spans(part)
        places = ENDS | self._names
        terms = _of_tokens(condition)
        # What is around a token is told by its place alone, but for one that counts from elsewhere.
        across = self._across
        named = {one.label for one in terms if across or is_attribute(self.conditions.keys, one.attribute)}
        others = sorted({places[one.label] for one in terms if one.label not in named})
        of_places = "".join(
            f", {{'sentence_id': sentence_id, 'position': {place}}} as t_{place}" for place in others
        )
        left_out = f" exclude ({', '.join(f't_{place}' for place in others)})" if others else ""
        bound = syntax.bound(part) | ENDS.keys()
        # Not an inner join where a label may stand for nothing.
        joins = "".join(
            f"\n  {'' if label in bound else 'left '}join {self.reach.tokens} as t_{place}"
            f" on t_{place}.{self.reach.sentence} = m.sentence_id"
            f" and t_{place}.{self.reach.position} = m.{place}"
            for label, place in sorted((label, places[label]) for label in named)
        )
        chosen = () if across else self.conditions.sentences_of_labels(condition)
        among = [f"sentence_id in ({one})" for one in chosen]
        if among or others:
            inner = f"(select *{of_places} from {inner}{where(among)})"
        told = self.conditions.of_labels(condition, places)
        return self._add("match", f"  select m.*{left_out}\n  from {inner} as m{joins}\n  where {told}")

    def _walked(self, states: Automaton) -> str:
        once: dict[syntax.Pattern, str] = {}
        inner = dict[int, str]()
        for number, symbol in enumerate(states.symbols):
            if not isinstance(symbol, syntax.Token):
                if symbol not in once:
                    once[symbol] = self._spans(symbol)
                inner[number] = once[symbol]
        known = _States(
            states,
            tuple(
                self._classes.get((symbol.condition, entry))
                if isinstance(symbol, syntax.Token)
                else len(self._classes) + number
                for number, (symbol, entry) in enumerate(zip(states.symbols, states.entries, strict=True))
            ),
            any(map(states.free, range(len(states.symbols)))),
        )
        symbols = self._symbols(inner, known) if inner else "tok"
        firsts = [
            self._first(known, number, edges, symbols)
            for number, edges in states.firsts
            if not states.free(number) or states.ahead(number) != {}  # which leads nowhere
        ]
        if not firsts:
            none = self._labels("", ())
            return self._add(
                "match", f"  select 0 as sentence_id, 0 as first, 0 as last{none}\n  where false"
            )
        names = ["sentence_id", "first", "last", "state", *self._names.values(), *known.length]
        texts = ["\n  union\n".join(firsts)]
        if states.steps:
            rows = (f"({one}, {two}, {known.told(two)})" for one, two in states.steps)
            step = self._add("step", f"  values {', '.join(rows)}", columns=("source", "target", "class"))
            texts.append(self._steps(known, step, symbols, bool(inner)))
        walk = self._add("walk", "\n  union\n".join(texts), columns=names)
        return self._accepted(states, walk)

    def _steps(self, states: _States, step: str, symbols: str, inner: bool) -> str:
        told = {"walk": self._name("walk"), "step": step, "symbols": symbols}
        length = ", walk.length" if states.length else ""
        targets = {target for _, target in states.states.steps}
        free = {one for one in targets if states.states.free(one)}
        found = []
        if targets - free:
            found.append(_STEP.format(carried=self._carried(states, inner, "t.first") + length, **told))
        if free:
            carried = self._carried(states, False, "walk.last + 1") + length
            found.append(_FREE_STEP.format(carried=carried, **told))
        return found[0] if len(found) == 1 else "  (\n" + "\n  union all\n".join(found) + "\n  )"

    def _symbols(self, inner: dict[int, str], states: _States) -> str:
        """Write the tokens and the spans that stand for one symbol; both with all labels."""
        tokens = [f"  select tok.*{self._labels('', ())}\n  from tok"] if self._classes else []
        spans = [
            f"  select m.sentence_id, m.first, m.last, {states.classes[number]} as class"
            f"{self._labels('m', tuple(self._names))}\n  from {name} as m"
            + where(self._regions.before(states.states.entries[number], "m.sentence_id", "m.first"), "  ")
            for number, name in inner.items()
        ]
        return self._add("symbol", "\n  union all\n".join(tokens + spans), kept=True)

    def _first(self, states: _States, number: int, edges: Edges, symbols: str) -> str:
        symbol = states.states.symbols[number]
        source, sentence, first, last = f"{symbols} as t", "t.sentence_id", "t.first", "t.last"
        told = [f"t.class = {states.told(number)}"]
        if states.states.free(number):
            source, told = self._begins(states, number, symbols)
            last = first
        labels = "".join(f", t.{column}" for column in self._names.values())
        if isinstance(symbol, syntax.Token):
            own = symbol.labels
            labels = "".join(f", {first if label in own else 'null::integer'}" for label in self._names)
        length = ", s.length" if states.length else ""
        if length:
            source += f"\n  join {self._lengths()} = t.sentence_id"
        told += self._regions.before(edges, sentence, first)
        return (
            f"  select {sentence}, {first}, {last}, {number}{labels}{length}"
            f"\n  from {source}{where(told, '  ')}"
        )

    def _lengths(self) -> str:
        """Return what says how many tokens there are to reach, up to the number of their sentence."""
        if not self._across:
            return "sentence as s on s.id"
        if not any(part.name == "whole" for part in self.parts):
            text = "  select start, sum(length)::integer as length\n  from placed\n  group by start"
            self.parts.append(TableExpression("whole", text, kept=True))
        return "whole as s on s.start"

    def _begins(self, states: _States, number: int, symbols: str) -> tuple[str, list[str]]:
        """Return where any token begins a match: the table and its conditions."""
        ahead = states.states.ahead(number)
        if ahead is None:
            reach, renamed = self.reach, " as sentence_id" if self._across else ""
            told = self._of_corpora("n")
            text = (
                f"select n.{reach.sentence}{renamed}, n.{reach.position} as first\n"
                f"    from {reach.tokens} as n{where(told, '    ')}"
            )
            return f"(\n    {text}\n  ) as t", []
        parts = []
        for one, (least, most) in sorted(ahead.items()):
            low = "1" if most is None else f"greatest(n.first - {most}, 1)"
            place = f"n.first - {least}" if least == most else f"unnest(range({low}, n.first - {least} + 1))"
            parts.append(
                f"select n.sentence_id, ({place})::integer as first\n    from {symbols} as n\n"
                f"    where n.class = {states.told(one)} and n.first > {least}"
            )
        return f"(\n    {f'{chr(10)}    union{chr(10)}    '.join(parts)}\n  ) as t", []

    def _carried(self, states: _States, inner: bool, place: str) -> str:
        told = []
        for label, column in self._names.items():
            own = [
                str(number)
                for number, one in enumerate(states.states.symbols)
                if isinstance(one, syntax.Token) and label in one.labels
            ]
            kept = f"coalesce(t.{column}, walk.{column})" if inner else f"walk.{column}"
            chosen = f"case when step.target in ({', '.join(own)}) then {place} else {kept} end"
            told.append(f", {chosen if own else kept}")
        return "".join(told)

    def _accepted(self, states: Automaton, walk: str) -> str:
        free = sorted({number for number, edges in states.lasts if not edges})
        told = [f"w.state in ({', '.join(map(str, free))})"] if free else []
        for number, edges in states.lasts:
            if number not in free:
                at = self._regions.behind(edges, "w.sentence_id", "w.last")
                told.append(f"(w.state = {number} and {' and '.join(at)})")
        accepted = " or ".join(told) or "false"
        # One state alone yields no span twice.
        distinct = "distinct " if states.steps or len(states.firsts) > 1 else ""
        labels = "".join(f", w.{column}" for column in self._names.values())
        read = f"{distinct}w.sentence_id, w.first, w.last{labels}"
        return self._add("match", f"  select {read}\n  from {walk} as w\n  where {accepted}")


def _of_tokens(condition: syntax.Condition) -> list[syntax.Term]:
    """Return the attributes that a condition asks of tokens: a distance is one of places alone."""
    return [
        term
        for one in syntax.leaves(condition)
        if not (isinstance(one, syntax.Measured) and one.function != "f")
        for term in syntax.terms(one)
    ]


def _read(pattern: syntax.Pattern, across: bool) -> Iterator[Read]:
    """Yield how tokens are read by the automata of a pattern."""
    if isinstance(pattern, syntax.Joined):
        for part in syntax.children(pattern):
            yield from _read(part, across)
        return
    states = automaton(pattern, across=across)
    for symbol, entry in zip(states.symbols, states.entries, strict=True):
        if isinstance(symbol, syntax.Token):
            yield symbol.condition, entry
        else:
            yield from _read(symbol, across)
