"""Surface text: the SQL by which all look-ups turn tokens into text as it is written.

A surface word may cover several tokens, as French *du* covers *de* and *le*, and is then a row of the table
`multiword`. Its form is written in place of its first token, and nothing for the other tokens. In a store
without multi-word tokens, statements do not read that table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.lookups.base.statement import DOCUMENT, SENTENCE, Extent, any_row
from sentgen.schema.engine import connection_cache

#: Columns of the lines of a concordance, from a table ``line`` with the three columns of its text.
LINE_COLUMNS = """\
select corpus.name as corpus, document.name as document,
  coalesce(sentence.sent_id, sentence.id::varchar) as sent_id,{shown}
  rtrim(coalesce("left", '')) as "left", rtrim({node}) as node, rtrim(coalesce("right", '')) as "right"{more}
from line
join sentence on sentence.id = line.sentence_id
join corpus on corpus.id = sentence.corpus_id
join document on document.id = sentence.document_id"""
#: The table ``line`` from hits, with further columns of theirs.
_LINE = """\
line as (
  select {place},{more}
    {columns}
  from {hits}
  join {tokens} as c on c.sentence_id = hit.{home} and c.{position} between {low} and {high}
  join word on word.id = c.word_id{surface}
  group by hit.sentence_id, hit.first, hit.last{group}
)
"""
#: Hits in documents, once for each sentence of which their lines show a part. Without the join by sentences,
#: DuckDB would compare all tokens of a document with a range of positions.
_STRETCHES = """\
(
    select hit.*, unnest(range(a.id, b.id + 1)) as home_id
    from {hits}
    asof join placed as a on a.start = hit.sentence_id and a.before < greatest({low}, 1)
    asof join placed as b on b.start = hit.sentence_id and b.before < {high}
  ) as hit"""
#: Converts the positions of a hit in a document to those in the sentence of its first token.
_IN_SENTENCE = """\
arg_min(c.sentence_id, c.place) filter (where c.place = hit.first) as sentence_id,
    min(c.position) filter (where c.place = hit.first) as first,
    min(c.position) filter (where c.place = hit.first) + hit.last - hit.first as last"""
#: Alias of `multiword` in the statements.
_ALIAS = "written"


@dataclass(frozen=True, slots=True)
class Surface:
    """Writes the SQL that turns tokens into text.

    Attributes:
        multiwords: whether the store has multi-word tokens.
    """

    multiwords: bool

    @property
    def join(self) -> str:
        """The join of `multiword`, behind those of `token` and `word`; empty without multi-word tokens."""
        if not self.multiwords:
            return ""
        return (
            f"\n  left join multiword as {_ALIAS} on {_ALIAS}.sentence_id = c.sentence_id"
            f'\n    and c.position between {_ALIAS}."first" and {_ALIAS}."last"'
        )

    def columns(self, first: str, last: str, start: str, extent: Extent = SENTENCE) -> str:
        """Return the SQL that aggregates the columns ``left``, ``node`` and ``right`` of a concordance.

        A surface word belongs to the node if one of its tokens does; a surface word that begins before the
        context is written at the first token of the context.

        Args:
            first, last: SQL for the positions of the first and the last token of the node.
            start: SQL for the position of the first token of the context.
            extent: whether positions count from sentences or documents.
        """
        position, before = f"c.{extent.position}", "c.place - c.position + " if extent is DOCUMENT else ""
        begins, ends, form, unspaced = position, position, "word.form", "c.space_after = false"
        if self.multiwords:
            begins, ends = (f'coalesce({before}{_ALIAS}."{end}", {position})' for end in ("first", "last"))
            own = f'when {position} = greatest({before}{_ALIAS}."first", {start}) then {_ALIAS}.form'
            form = f"case when {_ALIAS}.form is null then {form} {own} else '' end"
            unspaced = f'{unspaced} or c.position < {_ALIAS}."last"'
        word = f"{form} || case when {unspaced} then '' else ' ' end"
        text = f"string_agg({word}, '' order by {position})"
        return (
            f'{text} filter (where {ends} < {first}) as "left",\n'
            f"    {text} filter (where {ends} >= {first} and {begins} <= {last}) as node,\n"
            f'    {text} filter (where {begins} > {last}) as "right"'
        )

    def lines(
        self,
        hits: str,
        more: Sequence[str] = (),
        *,
        extent: Extent = SENTENCE,
        low: str = "hit.first - $context",
        high: str = "hit.last + $context",
    ) -> str:
        """Return the common table expression ``line``: three columns of text and the position of each hit.

        Args:
            more: further columns of ``hits`` that lines are to have.
            extent: whether positions of hits count from sentences or documents.
            low, high: SQL for the positions of the first and the last token of the context.
        """
        across = extent is DOCUMENT
        hits = hits if hits == "hit" else f"{hits} as hit"
        return _LINE.format(
            place=_IN_SENTENCE if across else "hit.sentence_id, hit.first, hit.last",
            more="".join(f" hit.{name}," for name in more),
            columns=self.columns("hit.first", "hit.last", low, extent),
            hits=_STRETCHES.format(hits=hits, low=low, high=high) if across else hits,
            home="home_id" if across else "sentence_id",
            tokens=extent.tokens,
            position=extent.position,
            low=low,
            high=high,
            surface=self.join,
            group="".join(f", hit.{name}" for name in more),
        )

    @classmethod
    def of_store(cls, connection: Connection) -> Surface:
        """Return how the tokens of a store become text; looked up once where nobody can change the store."""
        known = connection_cache(connection)
        if cls not in known:
            known[cls] = any_row(connection, "multiword")
        return cls(known[cls])
