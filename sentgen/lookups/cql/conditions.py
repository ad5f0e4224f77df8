"""Conditions on one token, on the labels of a match, and on regions, in SQL.

An attribute that a token lacks is the empty string, as in CWB and BlackLab, so that a condition is true or
false, and ``[Number != "Sing"]`` finds tokens without a number. A comparison with a label that has no token
is false, whatever its operator.

Conditions on regions are tested on their parts: a row for each sentence of the region, or, if matches may
cross the ends of sentences, one row with its positions in the document. A row has the tokens
(``sentence_id``, ``first``, ``last``), the key of the region (``began``, ``place``), and whether it
``begins`` and ``ends`` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.case_folding import fold_sql
from sentgen.lookups.base.attributes import COLUMNS, TAGS, Key, Test, TokenKey, Value, compare_numbers
from sentgen.lookups.base.keys import MetadataKey, StoreKeys
from sentgen.lookups.base.languages import Either, Every
from sentgen.lookups.base.regions import INNER, of_kinds, parts_of
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, where
from sentgen.lookups.base.surface import Surface
from sentgen.lookups.cql import syntax

#: The first token of a match and the last one, as labels.
ENDS = {"match": "first", "matchend": "last"}

#: The tokens of multiword tokens but their last ones.
_WITHIN = 'select sentence_id, unnest(range("first", "last")) from multiword'

_SENTENCES = """\
select s.id as sentence_id, 1 as first, s.length as last, s.id as began, 0 as place,
      true as begins, true as ends
    from sentence as s{conditions}"""
_DOCUMENTS = """\
select s.id as sentence_id, 1 as first, s.length as last, d.first_sentence as began, 0 as place,
      s.id = d.first_sentence as begins, s.id = d.first_sentence + d.sentences - 1 as ends
    from sentence as s
    join document as d on d.id = s.document_id{conditions}"""
_PLACED_SENTENCES = """\
select s.start as sentence_id, s.before + 1 as first, s.before + s.length as last, s.id as began, 0 as place,
      true as begins, true as ends
    from placed as s{conditions}"""
_PLACED_DOCUMENTS = """\
select s.start as sentence_id, 1 as first, sum(s.length)::integer as last, s.start as began, 0 as place,
      true as begins, true as ends
    from placed as s{conditions}
    group by s.start"""
_PLACED = """\
select b.start as sentence_id, b.before + r.position as first, e.before + r.last_position as last,
      r.sentence_id as began, r.place, true as begins, true as ends
    from region as r
    join placed as b on b.id = r.sentence_id
    join placed as e on e.id = r.last_sentence_id{conditions}"""
#: The parts of built-in regions by kind, and by whether matches may cross the ends of sentences.
_BUILT_IN = {
    ("s", False): _SENTENCES,
    ("s", True): _PLACED_SENTENCES,
    ("doc", False): _DOCUMENTS,
    ("doc", True): _PLACED_DOCUMENTS,
}
_WITH_ATTRIBUTE = """\
(r.sentence_id, r.place) in (
    select a.sentence_id, a.place from region_meta as a where a.key in {keys} and {test})"""
_AT = "({sentence}, {gap}) in (select p.sentence_id, p.{place} from ({parts}) as p where p.{there})"
#: The condition that all sentences of a part are selected.
_CHOSEN = "p.sentence_id in ({chosen})"
_ALL_CHOSEN = """\
not exists (
    select 1
    from placed as s
    where s.start = p.sentence_id and s.length > 0 and s.before < p.last and s.before + s.length >= p.first
      and s.id not in ({chosen})
  )"""
_WITHIN_REGION = """\
  select m.*
  from {found} as m
  semi join ({parts}) as p on p.sentence_id = m.sentence_id and p.first <= m.first and p.last >= m.last"""
#: Spans extended to the innermost region around them, else, across the ends of sentences, around each end.
_EXPANDED = """\
  select m.sentence_id,
    coalesce(arg_max(p.first, {order}) filter (where p.last >= m.last), arg_max(p.first, {order}), m.first)
      as first,
    coalesce(
      arg_max(p.last, {order}) filter (where p.last >= m.last), arg_max(q.last, (q.began, q.place)), m.last
    ) as last{labels}
  from {found} as m
  left join ({parts}) as p on p.sentence_id = m.sentence_id and m.first between p.first and p.last{whole_p}
  left join ({parts}) as q on q.sentence_id = m.sentence_id and m.last between q.first and q.last{whole_q}
  group by m.sentence_id, m.first, m.last{labels}"""


@dataclass(frozen=True, slots=True)
class TokenConditions:
    """Writes conditions on tokens and labels into a statement.

    Args:
        selection: the corpora, for how words and lemmas are compared.
        empty: the values that match the empty string.
    """

    selection: Selection
    bindings: Bindings
    empty: frozenset[Test]
    keys: StoreKeys

    def of_token(self, condition: syntax.Condition, alias: str) -> str:
        """Return a condition on a row of `token`, which may be null in place of false."""
        match condition:
            case syntax.CqlComparison():
                return self._comparison(condition, alias, alias)
            case syntax.NoSpace():
                return _no_space(self.keys.connection, alias)
        return _compose(condition, lambda part: self.of_token(part, alias))

    def of_labels(self, condition: syntax.Condition, columns: Mapping[str, str]) -> str:
        """Return a condition on the labels of a match.

        Args:
            condition: the condition, whose terms have labels.
            columns: for each label its column in ``m``; the row of `token` at it has the alias ``t_COLUMN``.
        """
        match condition:
            case syntax.LabelTest(name, negated=negated):
                return f"m.{columns[name]} is {'' if negated else 'not '}null"
            case syntax.Measured(function, terms, operator, number):
                limit = self.bindings.bind("number", number)
                # A condition on a label without a token fails.
                return f"coalesce({self._measure(function, terms, columns)} {operator} {limit}, false)"
            case syntax.CqlComparison(left, right):
                of_right = right.label if isinstance(right, syntax.Term) else left.label
                # Labels are no aliases: SQL does not allow all of them, and ignores their case.
                comparison = self._comparison(condition, f"t_{columns[left.label]}", f"t_{columns[of_right]}")
                optional = [label for label in dict.fromkeys((left.label, of_right)) if label not in ENDS]
                bound = [f"m.{columns[label]} is not null" for label in optional]
                return f"({' and '.join([*bound, comparison])})"
        return _compose(condition, lambda part: self.of_labels(part, columns))

    def _measure(self, function: str, terms: Sequence[syntax.Term], columns: Mapping[str, str]) -> str:
        if function == "f":
            (term,) = terms
            column = COLUMNS[term.attribute][0]
            conditions = [f"f.{column} = t_{columns[term.label]}.{column}"]
            conditions += self.selection.of_corpora(self.bindings, "f.corpus_id")
            count = f"(select count(*) from token as f where {' and '.join(conditions)})"
            return f"case when m.{columns[term.label]} is not null then {count} end"
        first, second = (f"m.{columns[term.label]}" for term in terms)
        return f"abs({second} - {first})" if function == "distabs" else f"({second} - {first})"

    def comparison(self, comparison: syntax.CqlComparison, left: str, right: str, bindings: Bindings) -> str:
        """Return the condition for a comparison of two rows of `token`, or of one, in another statement."""
        return replace(self, bindings=bindings)._comparison(comparison, left, right)

    def of_document(self, comparison: syntax.CqlComparison, alias: str, bindings: Bindings) -> str:
        """Return the condition that a comparison holds for the metadata of a document.

        Args:
            comparison: comparison of the metadata with a value.
            alias: alias of a row with ``document_id``.
        """
        key = self.key(comparison.left.attribute)
        assert isinstance(key, MetadataKey)
        assert not isinstance(comparison.right, syntax.Term)
        value = self.selection.with_case(key, comparison.right)
        condition = value.condition(key.of_row(alias, bindings), bindings)
        return f"coalesce({condition}, {str(comparison.right in self.empty).lower()})"

    def _comparison(self, comparison: syntax.CqlComparison, left: str, right: str) -> str:
        negated = comparison.negated
        if isinstance(comparison.right, syntax.Term):
            return self._compare_terms(comparison, (comparison.left, comparison.right), (left, right))
        key, lacks = self.key(comparison.left.attribute), comparison.right in self.empty
        value = self.selection.with_case(key, comparison.right)
        if not key.of_tokens:
            condition = f"coalesce({key.condition(left, value, self.bindings)}, {str(lacks).lower()})"
            return f"not {condition}" if negated else condition
        condition = key.condition(left, value, self.bindings)
        if lacks:
            # The attribute must be present: then a value that differs passes.
            present = key.condition(left, None, self.bindings)
            other = f"({present}) and not coalesce({condition}, false)"
            return f"({other})" if negated else f"({other}) is not true"
        return f"({condition}) is not true" if negated else condition

    def key(self, name: str) -> Key:
        """Return the key of an attribute of a query that was checked."""
        key = self.keys.find(name)
        assert key is not None
        return key

    def _compare_terms(
        self,
        comparison: syntax.CqlComparison,
        terms: tuple[syntax.Term, syntax.Term],
        aliases: tuple[str, str],
    ) -> str:
        negated = comparison.negated
        if comparison.operator != "=":
            sides = self._strings(terms, aliases)
            condition = compare_numbers(sides[0], comparison.operator, sides[1])
            return f"({condition}) is not true" if negated else condition
        keys = [self.key(term.attribute) for term in terms]
        if (both := keys[0].shared_columns(keys[1])) and not self.selection.ignore_case:
            # Strings are equal if their ids are.
            left, right = (f"{alias}.{column}" for alias, column in zip(aliases, both, strict=True))
            return f"{left} is {'' if negated else 'not '}distinct from {right}"
        first, second = (f"coalesce({side}, '')" for side in self._strings(terms, aliases))
        if all(key.is_word for key in keys) and self.selection.ignore_case:
            first, second = fold_sql(first), fold_sql(second)
        return f"{first} {'<>' if negated else '='} {second}"

    def _strings(self, terms: Sequence[syntax.Term], aliases: Sequence[str]) -> list[str]:
        return [self.string(term.attribute, alias) for term, alias in zip(terms, aliases, strict=True)]

    def string(self, name: str, alias: str) -> str:
        """Return the SQL for the string of an attribute of a row of `token`; null without the attribute."""
        return self.key(name).string(alias, self.bindings)


def _compose(condition: syntax.Condition, write: Callable[[syntax.Condition], str]) -> str:
    assert isinstance(condition, Every | Either)
    word = " and " if isinstance(condition, Every) else " or "
    return f"({word.join(map(write, condition.parts))})"


def _no_space(connection: Connection, alias: str) -> str:
    """Return the condition that no space follows a row of `token`, which ends any multiword token."""
    condition = f"{alias}.space_after = false"
    if not Surface.of_store(connection).multiwords:
        return condition
    return f"{condition} and ({alias}.sentence_id, {alias}.position) not in ({_WITHIN})"


def columns(condition: syntax.Condition | None) -> set[str]:
    """Return the columns of `token` that a condition reads."""
    names = set[str]()
    for comparison in syntax.comparisons(condition):
        for term in (comparison.left, comparison.right):
            if isinstance(term, syntax.Term):
                known = term.attribute in (*COLUMNS, *TAGS)
                names |= set(TokenKey.of_name(term.attribute if known else "feats").columns)
    return names


@dataclass(frozen=True, slots=True)
class RegionConditions:
    """Writes the conditions of a query on regions; ``across``: matches may cross the ends of sentences."""

    conditions: TokenConditions
    across: bool = False

    def at(self, edges: Iterable[syntax.CqlEdge], sentence: str, gap: str) -> list[str]:
        """Return the conditions that regions begin or end behind ``gap`` tokens of a sentence."""
        return [
            _AT.format(
                sentence=sentence,
                gap=gap,
                place="last" if edge.end else "first - 1",
                there="ends" if edge.end else "begins",
                parts=self.parts(edge.region),
            )
            for edge in sorted(edges, key=repr)
        ]

    def whole(self, region: syntax.RegionPattern, labels: str) -> str:
        """Return the query for the parts of regions, as spans; ``labels``: columns of labels."""
        conditions = self.conditions
        # A document lies within a sentence only if it has no other.
        tests = ["p.first <= p.last", *(["p.begins", "p.ends"] if region.kind == "doc" else [])]
        if among := conditions.selection.of_sentences(conditions.bindings, "s"):
            chosen = f"select s.id from sentence as s{where(among)}"
            tests.append((_ALL_CHOSEN if self.across else _CHOSEN).format(chosen=chosen))
        parts = self.parts(region)
        return f"  select p.sentence_id, p.first, p.last{labels}\n  from ({parts}) as p{where(tests, '  ')}"

    def within(self, region: syntax.RegionPattern, spans: str) -> str:
        """Return the query for the spans of a table that lie in a region of a pattern."""
        return _WITHIN_REGION.format(found=spans, parts=self.parts(region))

    def expand(self, region: syntax.RegionPattern, spans: str, labels: Iterable[str]) -> str:
        """Return the query for the spans of a table extended to the innermost region around them."""
        return _EXPANDED.format(
            found=spans,
            parts=self.parts(region),
            labels="".join(f", m.{column}" for column in labels),
            order=INNER,
            whole_p="" if self.across else " and p.last >= m.last",
            whole_q="" if self.across else " and q.first <= m.first",
        )

    def parts(self, region: syntax.RegionPattern) -> str:
        """Return the query for the parts of the regions of a pattern."""
        if region.built_in:
            conditions = self.in_sentences(region, "s.id")
            return _BUILT_IN[region.kind, self.across].format(conditions=where(conditions, "    "))
        if self.across:
            return _PLACED.format(conditions=where([self.meets(region)], "    "))
        return parts_of(self.meets(region), lengths=True)

    def in_sentences(self, region: syntax.RegionPattern, sentence: str) -> list[str]:
        """Return the conditions that a sentence, or its document, passes the tests of a pattern."""
        conditions = list[str]()
        for test in region.tests:
            key = self.conditions.keys.find_property(region.kind, test.left.attribute)
            assert key is not None
            assert isinstance(test.right, Value)
            string = f"coalesce({key.of_row('s', self.conditions.bindings)}, '')"
            condition = test.right.condition(string, self.conditions.bindings)
            conditions.append(f"not {condition}" if test.negated else condition)
        if not conditions:
            return []
        return [f"{sentence} in (select s.id from sentence as s where {' and '.join(conditions)})"]

    def meets(self, region: syntax.RegionPattern) -> str:
        """Return the condition that a row ``r`` of `region` matches a pattern."""
        keys, bindings = self.conditions.keys, self.conditions.bindings
        kinds = keys.find_kinds(region.kind)
        conditions = [of_kinds(kinds, bindings)]
        for test in region.tests:
            assert isinstance(test.right, Value)
            attribute = keys.find_attribute(kinds, test.left.attribute)
            assert attribute is not None
            # An attribute that a region lacks is the empty string.
            lacks = test.right in self.conditions.empty
            condition = test.right.condition("a.value", bindings)
            has = _WITH_ATTRIBUTE.format(
                keys=bindings.bind("attribute", list(attribute.keys)),
                test=f"not {condition}" if lacks else condition,
            )
            conditions.append(f"not {has}" if lacks != test.negated else has)
        return " and ".join(conditions)
