"""Regions of a query in SQL: the conditions that one begins or ends at a place, and what of it is where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentgen.lookups.attributes import Value
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.tokens import TokenConditions
from sentgen.lookups.keys import MetadataKey, StoreKeys
from sentgen.lookups.regions import INNER, of_kinds, parts_of, with_attribute
from sentgen.lookups.statement import where

#: What is before a key of metadata that is asked of sentences, or of documents; and the key of their names.
_OWNERS = {"s": ("s_", "sent_id"), "doc": ("doc_", "document")}
_AT_EDGE = {
    ("s", False): "{after} = 1",
    ("s", True): "({sentence}, {before}) in (select id, length from sentence)",
    ("doc", False): "{after} = 1 and {sentence} in (select first_sentence from document where sentences > 0)",
    ("doc", True): "({sentence}, {before}) in (select s.id, s.length from sentence as s join document as d"
    " on s.id = d.first_sentence + d.sentences - 1)",
}
_BEGINS = "({sentence}, {after}) in (select r.sentence_id, r.position from region as r where {conditions})"
_ENDS = (
    "({sentence}, {before}) in"
    " (select r.last_sentence_id, r.last_position from region as r where {conditions})"
)
_WHOLE = {
    "s": "  select s.id as sentence_id, 1 as first, s.length as last{labels}\n"
    "  from sentence as s{conditions}",
    "doc": "  select s.id as sentence_id, 1 as first, s.length as last{labels}\n  from sentence as s\n"
    "  join document as d on d.id = s.document_id and d.sentences = 1{conditions}",
}
_WITHIN = """\
  select m.*
  from {found} as m
  semi join ({parts}) as p on p.sentence_id = m.sentence_id and p.first <= m.first and p.last >= m.last"""
_TO_SENTENCE = """\
  select m.sentence_id, 1 as first, s.length as last{labels}
  from {found} as m
  join sentence as s on s.id = m.sentence_id"""
_EXPANDED = """\
  select m.sentence_id, coalesce(arg_max(p.first, {order}), m.first) as first,
    coalesce(arg_max(p.last, {order}), m.last) as last{labels}
  from {found} as m
  left join ({parts}) as p on p.sentence_id = m.sentence_id and p.first <= m.first and p.last >= m.last
  group by m.sentence_id, m.first, m.last{labels}"""


def find_property(keys: StoreKeys, region: syntax.RegionPattern, attribute: str) -> MetadataKey | None:
    """Return the key of metadata that an attribute of a sentence or a document is; none if it has none."""
    owner, name = _OWNERS[region.kind]
    return MetadataKey(name) if attribute == "id" else keys.find_metadata(owner + attribute)


@dataclass(frozen=True, slots=True)
class RegionConditions:
    """Writes what a query says of regions into its statement.

    Args:
        conditions: writes those on tokens.
    """

    conditions: TokenConditions

    def before(self, edges: Iterable[syntax.CqlEdge], sentence: str, position: str) -> list[str]:
        """Return the conditions that regions begin or end right before a token."""
        return self._at(edges, sentence, f"{position} - 1", position)

    def behind(self, edges: Iterable[syntax.CqlEdge], sentence: str, position: str) -> list[str]:
        """Return the conditions that regions begin or end right behind a token."""
        return self._at(edges, sentence, position, f"{position} + 1")

    def _at(self, edges: Iterable[syntax.CqlEdge], sentence: str, before: str, after: str) -> list[str]:
        found = []
        for edge in sorted(edges, key=repr):
            places = {"sentence": sentence, "before": before, "after": after}
            if edge.region.built_in:
                found.append(_AT_EDGE[edge.region.kind, edge.end].format(**places))
                found += self.in_sentences(edge.region, sentence)
            else:
                text = _ENDS if edge.end else _BEGINS
                found.append(text.format(**places, conditions=self.meets(edge.region)))
        return found

    def in_sentences(self, region: syntax.RegionPattern, sentence: str) -> list[str]:
        """Return the condition that a sentence, or its document, is such a region: none for any of them."""
        told = list[str]()
        for one in region.tests:
            key = find_property(self.conditions.keys, region, one.left.attribute)
            assert key is not None
            told.append(self._passes(one, f"coalesce({key.value('s', self.conditions.bindings)}, '')"))
        return [f"{sentence} in (select s.id from sentence as s where {' and '.join(told)})"] if told else []

    def whole(self, region: syntax.RegionPattern, among: Sequence[str], labels: str) -> str:
        """Return the query for the parts of regions in sentences, as spans.

        Args:
            region: which ones.
            among: conditions on the rows ``s`` of `sentence`.
            labels: the columns of labels behind the others.
        """
        if region.built_in:
            told = [*among, *self.in_sentences(region, "s.id")]
            return _WHOLE[region.kind].format(labels=labels, conditions=where(told, "  "))
        parts = parts_of(self.meets(region), lengths=True) + where(among, "  ")
        return f"  select p.sentence_id, p.first, p.last{labels}\n  from ({parts}) as p"

    def within(self, region: syntax.RegionPattern, found: str) -> str:
        """Return the query for the spans of a table that lie in such a region; empty if all of them do."""
        if not region.built_in:
            return _WITHIN.format(found=found, parts=self._parts(region))
        # No match leaves its sentence.
        told = self.in_sentences(region, "m.sentence_id")
        return f"  select m.*\n  from {found} as m{where(told, '  ')}" if told else ""

    def expanded(self, region: syntax.RegionPattern, found: str, labels: Iterable[str]) -> str:
        """Return the query for the spans of a table, each as the part of the region around it."""
        of_labels = "".join(f", m.{column}" for column in labels)
        if region.built_in:
            # What of a document is in the sentence, too.
            return _TO_SENTENCE.format(found=found, labels=of_labels)
        return _EXPANDED.format(
            found=found, parts=self._parts(region, lengths=True), labels=of_labels, order=INNER
        )

    def parts(self, region: syntax.RegionPattern) -> str:
        """Return the query for what of such regions is in sentences: their key, and where."""
        return self._parts(region)

    def _parts(self, region: syntax.RegionPattern, *, lengths: bool = False) -> str:
        return parts_of(self.meets(region), lengths=lengths)

    def meets(self, region: syntax.RegionPattern) -> str:
        """Return the condition that a row ``r`` of `region` is such a region."""
        keys, bindings = self.conditions.keys, self.conditions.bindings
        kinds = keys.find_kinds(region.kind)
        told = [of_kinds(kinds, bindings)]
        for one in region.tests:
            assert isinstance(one.right, Value)
            found = keys.find_attribute(kinds, one.left.attribute)
            assert found is not None
            # One that a region lacks is the empty string.
            lacks = one.right in self.conditions.empty
            test = one.right.condition("a.value", bindings)
            has = with_attribute(found.keys, f"not {test}" if lacks else test, bindings)
            told.append(f"not {has}" if lacks != one.negated else has)
        return " and ".join(told)

    def _passes(self, one: syntax.CqlComparison, string: str) -> str:
        assert isinstance(one.right, Value)
        told = one.right.condition(string, self.conditions.bindings)
        return f"not {told}" if one.negated else told
