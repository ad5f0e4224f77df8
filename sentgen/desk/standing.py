"""Where lines are in a store: how a set knows them, and what has become of them since.

A line is known by the names of its corpus, its document and its sentence, and by the positions of its node; a
sentence without a name by its place in the document. So it is found again when files were read anew, and in
every snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.lookups.base.statement import Statement
from sentgen.output.tabular import Rows, arrow_of
from sentgen.schema.engine import raw, registered

if TYPE_CHECKING:
    import pyarrow as pa

#: What is said of a line whose sentence is gone, and of one whose node has other words now.
GONE, CHANGED = "gone", "changed"

_KNOWN = """\
select any_value(hit.corpus) as corpus, any_value(hit.document) as document,
  any_value(s.sent_id) as sent_id, any_value(s.id - d.first_sentence) as ordinal, hit.first, hit.last,
  to_json(list(w.form order by t.position)) as forms,
  any_value(hit."left") as "left", any_value(hit.node) as node, any_value(hit."right") as "right"
from drawn_line as hit
join sentence s on s.id = hit.sentence_id
join document d on d.id = s.document_id
join token t on t.sentence_id = s.id and t.position between hit.first and hit.last
join word w on w.id = t.word_id
group by hit.place, hit.first, hit.last
order by hit.place"""

_NOW = """\
with home as (
  select l.*, d.id as document_id, d.first_sentence, d.sentences
  from kept_line as l
  join corpus c on c.name = l.corpus
  join document d on d.corpus_id = c.id and d.name = l.document
),
found as (
  select home.*, s.id
  from home
  join sentence s on s.document_id = home.document_id and s.sent_id = home.sent_id
  union all
  select home.*, s.id
  from home
  join sentence s on s.id = home.first_sentence + home.ordinal and s.document_id = home.document_id
  where home.sent_id is null
    and s.sent_id is null
)
select found.number, coalesce(any_value(found.sent_id), found.id::varchar) as sentence,
  coalesce(to_json(list(w.form order by t.position) filter (where w.form is not null)), '[]') as forms
from found
left join token t on t.sentence_id = found.id and t.position between found.first and found.last
left join word w on w.id = t.word_id
group by found.number, found.id
order by found.number, found.id"""


@dataclass(frozen=True, slots=True)
class Standing:
    """What has become of a line.

    Attributes:
        state: `GONE` or `CHANGED`; empty where all is as it was.
        sentence: what names its sentence now, if there is one.
    """

    state: str = GONE
    sentence: str | None = None


def known_lines(connection: Connection, lines: pa.Table | Rows) -> Iterator[dict[str, Any]]:
    """Yield what a set keeps of lines (see `sentgen.desk.tables.line`), in their order.

    Args:
        connection: the store.
        lines: a concordance with the places of its nodes (`Kwic.lines`).
    """
    import pyarrow as pa

    table = arrow_of(lines)
    numbered = table.append_column("place", pa.array(range(table.num_rows), pa.int64()))
    with registered(raw(connection), drawn_line=numbered):
        yield from Statement(_KNOWN).run(connection).to_pylist()


def standings(connection: Connection, lines: Sequence[Mapping[str, Any]]) -> dict[int, Standing]:
    """Return what has become of lines of a set, by number."""
    import pyarrow as pa

    if not lines:
        return {}
    names = {"corpus": pa.string(), "document": pa.string(), "sent_id": pa.string()}
    numbers = dict.fromkeys(("number", "ordinal", "first", "last"), pa.int64())
    kept = pa.table(
        {name: pa.array([one[name] for one in lines], kind) for name, kind in (names | numbers).items()}
    )
    forms = {one["number"]: one["forms"] for one in lines}
    with registered(raw(connection), kept_line=kept):
        found = Statement(_NOW).run(connection).to_pylist()
    told: dict[int, Standing] = {number: Standing() for number in forms}
    for row in found:
        number, same = row["number"], row["forms"] == forms[row["number"]]
        # Of sentences with the same name, one that has the words.
        if (same and told[number].state) or told[number].sentence is None:
            told[number] = Standing("" if same else CHANGED, row["sentence"])
    return told
