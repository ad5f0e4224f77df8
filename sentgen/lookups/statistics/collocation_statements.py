"""The statements for collocations: of the whole store, and of parts of it whose counts are added."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.concordances.hits import ReadPattern, TokenHits
from sentgen.lookups.concordances.places import SentenceRange, sentences_of
from sentgen.lookups.patterns import tag_among
from sentgen.lookups.reach import DOCUMENT, running, written
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, gathered, where
from sentgen.lookups.statistics.collocation_measures import scores

#: One number for all words that differ in capital letters only.
SPELLING = """spelling as (
  select id, min(id) over (partition by lower(form)) as folded
  from word
),
"""

_SPOTS = """\
{beginning}{spelling}node as (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}
),
spot as (
  select distinct t.sentence_id, t.position, {t} as id
  from node
  join token as t on t.sentence_id = node.sentence_id
    and t.position between node.first - $left and node.last + $right
    and t.position not between node.first and node.last{in_part}{spelled_t}
),
"""
#: The same over the ends of sentences, by each place of a window: documents are too long to look in.
_SPOTS_ACROSS = """\
{beginning}{places}{spelling}node as (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}
),
beside as (
  select distinct sentence_id,
    unnest(list_concat(range(first - $left, first), range(last + 1, last + $right + 1))) as place
  from {counted}
),
spot as (
  select t.sentence_id, t.position, {t} as id
  from beside
  join running as t on t.start = beside.sentence_id and t.place = beside.place{in_part}{spelled_t}
),
"""
_TOGETHER = """\
together as (
  select id, count(*) as o11
  from spot
  where id is not null
  group by id
  having count(*) >= $min_count
),
"""
#: Nodes within a sentence, as places in its document.
_PLACED_NODES = """(
    select p.start as sentence_id, p.before + n.first as first, p.before + n.last as last
    from node as n
    join placed as p on p.id = n.sentence_id
  )"""
#: Of a part of the store: what occurs with the nodes, and under no number the nodes themselves.
_PART_OF_WINDOW = """
select id, count(*) as o11, 0 as nodes
from spot
group by id
union all
select null, 0, count(*)
from node"""
_GATHERED_WINDOW = """\
with {spelling}together as (
  select id, sum(o11)::bigint as o11
  from gathered
  where id is not null
  group by id
  having sum(o11) >= $min_count
),
"""
_ALONE = """\
alone as (
  select {t} as id, count(*) as c1
  from token as t{spelled_t}
  where {t} in (select id from together){and_corpora}
  group by {t}
),
"""
#: The same of words, which are counted already.
_ALONE_COUNTED = """\
alone as (
  select w1 as id, sum(count)::bigint as c1
  from ngram_1
  where w1 in (select id from together){and_segments}
  group by w1
),
"""
_WINDOW = """\
{alone}pair as (
  select id, o11::double as o11, (select {spots})::double as r1, c1::double as c1,
    (select count(*) from token{corpora})::double as n, (select {nodes})::double as f
  from together
  join alone using (id)
),
{scores}
select {form} as collocate, o11::bigint as count, c1::bigint as frequency,
  {shown}
from scored
join word on word.id = scored.id
order by {measure} desc nulls last, o11 desc, collocate"""

_LINKS = """\
{beginning}{spelling}modifier_of_node as (
  select d.deprel_id, {d} as id, count(*) as o11
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_d}{node_is_head}
  group by d.deprel_id, {d}
),
head_of_node as (
  select d.deprel_id, {h} as id, count(*) as o11
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_h}{node_is_modifier}
  group by d.deprel_id, {h}
),
"""
#: Of a part of the store: its pairs with the node, and all of them.
_PART_OF_LINKS = """\
arc as (
  select d.deprel_id, {d} as modifier, {h} as head
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_d}{spelled_h}{is_arc}
)
select 'modifier' as role, *, 0 as c1 from modifier_of_node
union all
select 'head', *, 0 from head_of_node
union all
select 'modifier', deprel_id, modifier, 0, count(*) from arc group by deprel_id, modifier
union all
select 'head', deprel_id, head, 0, count(*) from arc group by deprel_id, head"""
_GATHERED_LINKS = """\
with {spelling}modifier_of_node as (
  select deprel_id, id, sum(o11)::bigint as o11
  from gathered
  where role = 'modifier' and o11 > 0
  group by deprel_id, id
),
head_of_node as (
  select deprel_id, id, sum(o11)::bigint as o11
  from gathered
  where role = 'head' and o11 > 0
  group by deprel_id, id
),
"""
_GATHERED_ALONE = """\
alone as (
  select deprel_id, role, id, sum(c1)::bigint as c1
  from gathered
  group by deprel_id, role, id
),
"""
_LINKED = """\
linked as (
  select *, 'modifier' as role, sum(o11) over (partition by deprel_id) as r1 from modifier_of_node
  union all
  select *, 'head' as role, sum(o11) over (partition by deprel_id) as r1 from head_of_node
),
together as (
  select * from linked
  where o11 >= $min_count and id is not null
),
"""
_ALONE_LINKED = """\
alone as (
  select d.deprel_id, 'modifier' as role, {d} as id, count(*) as c1
  from token as d{spelled_d}
  where d.head > 0
    and {d} in (select id from together where role = 'modifier'){and_arcs}
  group by d.deprel_id, {d}
  union all
  select d.deprel_id, 'head' as role, {h} as id, count(*) as c1
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_h}
  where {h} in (select id from together where role = 'head'){and_arcs}
  group by d.deprel_id, {h}
),
"""
_RELATED = """\
relation as (
  select d.deprel_id, count(*) as n
  from token as d
  where d.head > 0{and_arcs}
  group by d.deprel_id
),
pair as (
  select deprel_id, role, id, o11::double as o11, r1::double as r1, c1::double as c1, n::double as n,
    r1::double as f
  from together
  join alone using (deprel_id, role, id)
  join relation using (deprel_id)
),
{scores}
select tag.name as relation, role, {form} as collocate, o11::bigint as count, c1::bigint as frequency,
  {shown}
from scored
join word on word.id = scored.id
join tag on tag.id = deprel_id
order by {measure} desc nulls last, o11 desc, relation, role, collocate"""


@dataclass(frozen=True, slots=True)
class CollocationStatements:
    """Writes the statements for the collocates of a node.

    Args:
        node: the node.
        within: words before and after it, or a pattern of dependency relations.
        column: column of `token` with the number of a collocate.
        measure: column to rank by.
        selection: the corpora.
        shown: the columns of measures, with commas between them.
    """

    node: ReadPattern
    within: tuple[int, int] | str
    column: str
    measure: str
    selection: Selection
    shown: str

    @contextmanager
    def asked(self, connection: Connection, bindings: Bindings) -> Iterator[tuple[str, str]]:
        """Yield the statement for all collocates, and one with the same rows whose memory is bounded.

        Neither has a limit yet; ``min_count`` is bound.
        """
        whole, sentences = self.whole(bindings), sentences_of(connection)
        if self.node.at_once(sentences):
            yield whole, whole
            return
        with gathered(connection, "gathered", self._parts(connection, sentences)):
            yield whole, self._summed(bindings)

    def whole(self, bindings: Bindings) -> str:
        """Return the statement for all of the store."""
        if isinstance(self.within, str):
            head, alone = self._links(bindings) + _LINKED, _ALONE_LINKED
            return self._filled(head + alone + _RELATED, bindings)
        return self._filled(self._spots(bindings) + _TOGETHER + _WINDOW, bindings)

    def _summed(self, bindings: Bindings) -> str:
        """Return the statement over what was counted in parts."""
        if isinstance(self.within, str):
            return self._filled(_GATHERED_LINKS + _LINKED + _GATHERED_ALONE + _RELATED, bindings)
        text = _GATHERED_WINDOW + _WINDOW
        return self._filled(text, bindings, spots="sum(o11) from gathered", nodes="sum(nodes) from gathered")

    def _parts(self, connection: Connection, sentences: int) -> Iterator[Statement]:
        """Yield the statements that count in parts of the store."""
        for within in self.node.parts(connection, sentences):
            bindings = Bindings()
            if isinstance(self.within, str):
                text = self._links(bindings, within) + _PART_OF_LINKS
                text = text.replace("{is_arc}", where(self._arcs(bindings, within), "  "))
            else:
                # What is rare in one part may be frequent in another one.
                text = self._spots(bindings, within).rstrip().removesuffix(",") + _PART_OF_WINDOW
            yield Statement(self._filled(text, bindings), bindings)

    def _filled(
        self,
        text: str,
        bindings: Bindings,
        spots: str = "count(*) from spot",
        nodes: str = "count(*) from node",
    ) -> str:
        """Fill in the numbers of words, the same for words that are one, and what is asked of them."""
        folded = self.selection.ignore_case
        counted = self.column == "word_id" and self.selection.condition is None and not folded
        text = text.replace("{alone}", _ALONE_COUNTED if counted else _ALONE)
        for alias in "tdh":
            place, of_alias = f"{alias}.{self.column}", f"spelling_{alias}"
            # Not an inner join: tokens without a lemma are tokens of the window, too.
            join = f"\n  left join spelling as {of_alias} on {of_alias}.id = {place}"
            text = text.replace(f"{{spelled_{alias}}}", join if folded else "")
            text = text.replace(f"{{{alias}}}", f"{of_alias}.folded" if folded else place)
        of_tokens = self.selection.of_tokens
        told = {
            "spelling": SPELLING if folded else "",
            "form": self.selection.spelled("word.form"),
            "scores": scores(self.shown),
            "shown": self.shown,
            "measure": self.measure,
            "spots": spots,
            "nodes": nodes,
            "and_corpora": _and(of_tokens(bindings, "t")) if "{and_corpora}" in text else "",
            "corpora": where(of_tokens(bindings), "      ") if "{corpora}" in text else "",
            "and_segments": _and(self.selection.of_segments(bindings)) if "{and_segments}" in text else "",
            "and_arcs": _and(self._arcs(bindings)) if "{and_arcs}" in text else "",
        }
        for name, string in told.items():
            text = text.replace(f"{{{name}}}", string)
        return text

    def _spots(self, bindings: Bindings, within: SentenceRange | None = None) -> str:
        assert not isinstance(self.within, str)
        bindings.update(left=self.within[0], right=self.within[1])
        source = self.node.source(bindings, within)
        template, in_part = _SPOTS, [f"t.sentence_id {within.part}"] if within else []
        if self.node.across:
            template, placed_already = _SPOTS_ACROSS, source.reach is DOCUMENT
            places = "" if placed_already else written(running([f"s.id {within.part}"] if within else []))
            template = template.replace("{places}", places)
            template = template.replace("{counted}", "node" if placed_already else _PLACED_NODES)
            if self.selection.condition is not None:
                in_part += self.selection.of_tokens(bindings, "t")
        return (
            template.replace("{beginning}", source.beginning)
            .replace("{sentence}", source.sentence)
            .replace("{first}", source.first)
            .replace("{last}", source.last)
            .replace("{source}", source.table)
            .replace("{in_part}", _and(in_part))
        )

    def _links(self, bindings: Bindings, within: SentenceRange | None = None) -> str:
        beginning, arcs = "with ", self._arcs(bindings, within)
        if isinstance(self.node, TokenHits):
            of_node = {alias: self.node.tokens[0].conditions(alias, bindings) for alias in "hd"}
        elif not self.node.one_token:
            raise InputError(
                "by relation a node is one token; ask for collocates in a window, or for one token"
            )
        else:
            source = self.node.source(bindings, within)
            beginning = source.beginning
            among = f"in (select {source.sentence}, {source.first} from {source.table})"
            of_node = {alias: [f"({alias}.sentence_id, {alias}.position) {among}"] for alias in "hd"}
        return (
            _LINKS.replace("{beginning}", beginning)
            .replace("{node_is_head}", where([*of_node["h"], *arcs], "  "))
            .replace("{node_is_modifier}", where([*of_node["d"], *arcs], "  "))
        )

    def _arcs(self, bindings: Bindings, within: SentenceRange | None = None) -> list[str]:
        """Return the conditions on a modifier ``d``, and in a part on its head ``h``."""
        assert isinstance(self.within, str)
        related = tag_among("d.deprel_id", self.within, bindings)
        arcs = [*([related] if related else []), *self.selection.of_tokens(bindings, "d")]
        return arcs + [f"{alias}.sentence_id {within.part}" for alias in "dh" if within]


def _and(conditions: list[str]) -> str:
    return "".join(f"\n    and {one}" for one in conditions)
