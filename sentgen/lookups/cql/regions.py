"""What a query says of regions, in SQL.

All of it is asked of the parts of regions: what of one is in each sentence, or where matches reach over the
ends of sentences all of it, as a place in its document. A part is a row: where it is (``sentence_id``,
``first``, ``last``), of which region (``began``, ``place``), and whether that ``begins`` and ``ends`` there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sentgen.lookups.base.attributes import Value
from sentgen.lookups.base.keys import MetadataKey, StoreKeys
from sentgen.lookups.base.regions import INNER, of_kinds, parts_of, with_attribute
from sentgen.lookups.base.statement import where
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.tokens import TokenConditions

#: What is before a key of metadata that is asked of sentences, or of documents; and the key of their names.
_OWNERS = {"s": ("s_", "sent_id"), "doc": ("doc_", "document")}
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
#: By kind, and by whether matches reach over the ends of sentences.
_BUILT_IN = {
    ("s", False): _SENTENCES,
    ("s", True): _PLACED_SENTENCES,
    ("doc", False): _DOCUMENTS,
    ("doc", True): _PLACED_DOCUMENTS,
}
_AT = "({sentence}, {gap}) in (select p.sentence_id, p.{place} from ({parts}) as p where p.{there})"
#: Of which all sentences are asked about.
_CHOSEN = "p.sentence_id in ({chosen})"
_ALL_CHOSEN = """\
not exists (
    select 1
    from placed as s
    where s.start = p.sentence_id and s.length > 0 and s.before < p.last and s.before + s.length >= p.first
      and s.id not in ({chosen})
  )"""
_WITHIN = """\
  select m.*
  from {found} as m
  semi join ({parts}) as p on p.sentence_id = m.sentence_id and p.first <= m.first and p.last >= m.last"""
#: To the innermost region around all, else around each end where matches reach over the ends of sentences.
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


def find_property(keys: StoreKeys, region: syntax.RegionPattern, attribute: str) -> MetadataKey | None:
    """Return the key of metadata that an attribute of a sentence or a document is; none if it has none."""
    owner, name = _OWNERS[region.kind]
    return MetadataKey(name) if attribute == "id" else keys.find_metadata(owner + attribute)


@dataclass(frozen=True, slots=True)
class RegionConditions:
    """Writes what a query says of regions into its statement.

    Args:
        conditions: writes those on tokens.
        across: whether matches reach over the ends of sentences.
    """

    conditions: TokenConditions
    across: bool = False

    def at(self, edges: Iterable[syntax.CqlEdge], sentence: str, gap: str) -> list[str]:
        """Return the conditions that regions begin or end at a place, behind so many tokens."""
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
        """Return the query for the parts of regions, as spans; ``labels``: their columns."""
        conditions = self.conditions
        # Only a document of one sentence is in one.
        tests = ["p.first <= p.last", *(["p.begins", "p.ends"] if region.kind == "doc" else [])]
        if among := conditions.selection.of_sentences(conditions.bindings, "s"):
            chosen = f"select s.id from sentence as s{where(among)}"
            tests.append((_ALL_CHOSEN if self.across else _CHOSEN).format(chosen=chosen))
        parts = self.parts(region)
        return f"  select p.sentence_id, p.first, p.last{labels}\n  from ({parts}) as p{where(tests, '  ')}"

    def within(self, region: syntax.RegionPattern, spans: str) -> str:
        """Return the query for the spans of a table that lie in such a region."""
        return _WITHIN.format(found=spans, parts=self.parts(region))

    def expand(self, region: syntax.RegionPattern, spans: str, labels: Iterable[str]) -> str:
        """Return the query for the spans of a table, with ends at those of regions."""
        return _EXPANDED.format(
            found=spans,
            parts=self.parts(region),
            labels="".join(f", m.{column}" for column in labels),
            order=INNER,
            whole_p="" if self.across else " and p.last >= m.last",
            whole_q="" if self.across else " and q.first <= m.first",
        )

    def parts(self, region: syntax.RegionPattern) -> str:
        """Return the query for the parts of such regions."""
        if region.built_in:
            conditions = self.in_sentences(region, "s.id")
            return _BUILT_IN[region.kind, self.across].format(conditions=where(conditions, "    "))
        if self.across:
            return _PLACED.format(conditions=where([self.meets(region)], "    "))
        return parts_of(self.meets(region), lengths=True)

    def in_sentences(self, region: syntax.RegionPattern, sentence: str) -> list[str]:
        """Return the condition that a sentence, or its document, is such a region: none for any of them."""
        conditions = list[str]()
        for test in region.tests:
            key = find_property(self.conditions.keys, region, test.left.attribute)
            assert key is not None
            string = f"coalesce({key.of_row('s', self.conditions.bindings)}, '')"
            conditions.append(self._passes(test, string))
        if not conditions:
            return []
        return [f"{sentence} in (select s.id from sentence as s where {' and '.join(conditions)})"]

    def meets(self, region: syntax.RegionPattern) -> str:
        """Return the condition that a row ``r`` of `region` is such a region."""
        keys, bindings = self.conditions.keys, self.conditions.bindings
        kinds = keys.find_kinds(region.kind)
        conditions = [of_kinds(kinds, bindings)]
        for test in region.tests:
            assert isinstance(test.right, Value)
            attribute = keys.find_attribute(kinds, test.left.attribute)
            assert attribute is not None
            # One that a region lacks is the empty string.
            lacks = test.right in self.conditions.empty
            condition = test.right.condition("a.value", bindings)
            has = with_attribute(attribute.keys, f"not {condition}" if lacks else condition, bindings)
            conditions.append(f"not {has}" if lacks != test.negated else has)
        return " and ".join(conditions)

    def _passes(self, test: syntax.CqlComparison, string: str) -> str:
        assert isinstance(test.right, Value)
        condition = test.right.condition(string, self.conditions.bindings)
        return f"not {condition}" if test.negated else condition
