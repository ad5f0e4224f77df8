"""The statements for collocations in a window: of the whole store, and of parts whose counts are added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.case_folding import folded
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.parts_of_speech import has_pos
from sentgen.lookups.reach import DOCUMENT, running, written
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, where
from sentgen.lookups.statistics.collocation_measures import scores
from sentgen.lookups.windows import Window
from sentgen.schema.engine import raw, registered

#: One number for all words that differ in capital letters only.
SPELLINGS = f"select id, min(id) over (partition by {folded('form')}) as folded from word"
SPELLING = f"spelling as (\n  {SPELLINGS}\n),\n"

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
    and t.position not between node.first and node.last{chosen}{spelled_t}
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
  join running as t on t.start = beside.sentence_id and t.place = beside.place{chosen}{spelled_t}
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
#: The same of what was counted already.
_COUNTED = """\
with together as (
  select id, o11
  from gathered
  where id is not null and o11 >= $min_count
),
alone as (
  select id, c1
  from gathered
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
_WINDOW = """\
pair as (
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


@dataclass(frozen=True, slots=True)
class CollocationStatements(ABC):
    """Writes the statements for the collocates of a node.

    Args:
        node: the node.
        column: column of `token` with the number of a collocate.
        measure: column to rank by.
        selection: the corpora.
        shown: the columns of measures, with commas between them.
        pos: patterns of parts of speech, one of which a collocate has; none for all.
    """

    node: Query
    column: str
    measure: str
    selection: Selection
    shown: str
    pos: Sequence[str] = ()

    @contextmanager
    def asked(self, connection: Connection, bindings: Bindings) -> Iterator[tuple[str, str]]:
        """Yield the statement for all collocates, and one with the same rows whose memory is bounded.

        Neither has a limit yet; ``min_count`` is bound.
        """
        whole = self.whole(bindings)
        with self._counted(connection, bindings):
            yield whole, self._summed(bindings)

    @abstractmethod
    def whole(self, bindings: Bindings) -> str:
        """Return the statement for all of the store."""

    @abstractmethod
    def _counted(self, connection: Connection, bindings: Bindings) -> AbstractContextManager[None]:
        """Count in parts of the store, into tables of the connection."""

    @abstractmethod
    def _summed(self, bindings: Bindings) -> str:
        """Return the statement over what was counted in parts."""

    def _filled(self, text: str, bindings: Bindings, **told: str) -> str:
        """Fill in the numbers of words, the same for words that are one, and what is asked of them."""
        ignoring = self.selection.ignore_case
        for alias in "tdh":
            place, of_alias = f"{alias}.{self.column}", f"spelling_{alias}"
            # Others are tokens of the window, too, as those without a lemma are.
            if f"{{{alias}}}" in text and (wanted := has_pos(alias, self.pos, bindings)):
                place = f"case when {wanted[0]} then {place} end"
            # Not an inner join: tokens without a lemma are tokens of the window, too.
            join = f"\n  left join spelling as {of_alias} on {of_alias}.id = {place}"
            text = text.replace(f"{{spelled_{alias}}}", join if ignoring else "")
            text = text.replace(f"{{{alias}}}", f"{of_alias}.folded" if ignoring else place)
        told |= {
            "spelling": SPELLING if ignoring else "",
            "form": self.selection.spelled("word.form"),
            "scores": scores(self.shown),
            "shown": self.shown,
            "measure": self.measure,
        }
        for name, string in told.items():
            text = text.replace(f"{{{name}}}", string)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStatements(CollocationStatements):
    """Those for what stands near a node: ``window`` words before and after it."""

    window: Window

    def whole(self, bindings: Bindings) -> str:
        """Return the statement for all of the store."""
        return self._measured(self._spots(bindings) + _TOGETHER + _ALONE, bindings)

    def _summed(self, bindings: Bindings) -> str:
        spots, nodes = "sum(o11) from gathered", "sum(nodes) from gathered"
        return self._measured(_COUNTED, bindings, spots, nodes)

    @contextmanager
    def _counted(self, connection: Connection, bindings: Bindings) -> Iterator[None]:
        from sentgen.lookups.statistics.window_counts import window_counts

        spelling = SPELLINGS if self.selection.ignore_case else ""
        asked = (self.node, self.window, self.column, self.selection, self.pos, spelling)
        with registered(raw(connection), gathered=window_counts(connection, *asked)):
            yield

    def _measured(
        self,
        counted: str,
        bindings: Bindings,
        spots: str = "count(*) from spot",
        nodes: str = "count(*) from node",
    ) -> str:
        of_tokens = self.selection.of_tokens
        return self._filled(
            counted + _WINDOW,
            bindings,
            spots=spots,
            nodes=nodes,
            and_corpora=also(of_tokens(bindings, "t")),
            corpora=where(of_tokens(bindings), "      "),
        )

    def _spots(self, bindings: Bindings) -> str:
        bindings.update(left=self.window.left, right=self.window.right)
        source = self.node.source(bindings)
        template, chosen = _SPOTS, list[str]()
        if self.node.across:
            template, placed_already = _SPOTS_ACROSS, source.reach is DOCUMENT
            places = "" if placed_already else written(running())
            template = template.replace("{places}", places)
            template = template.replace("{counted}", "node" if placed_already else _PLACED_NODES)
            if self.selection.condition is not None:
                chosen = self.selection.of_tokens(bindings, "t")
        return (
            template.replace("{beginning}", source.beginning)
            .replace("{sentence}", source.sentence)
            .replace("{first}", source.first)
            .replace("{last}", source.last)
            .replace("{source}", source.table)
            .replace("{chosen}", also(chosen))
        )


def also(conditions: Sequence[str]) -> str:
    """Return more conditions of a where clause, one a line."""
    return "".join(f"\n    and {one}" for one in conditions)
