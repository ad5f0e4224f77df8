"""The current state of the lines of a set in the store, and the values of their keys.

Values are metadata of their sentences and attributes of their tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from sentgen.lookups.base.attributes import by_value
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.schema.engine import raw, register_arrow

#: States of a line whose sentence is gone, and of one whose node has other words now.
GONE, CHANGED = "gone", "changed"

#: The path of a document's name, without the number that a snapshot gives the second file of a name.
_PATH = r"regexp_replace(replace({name}, '\', '/'), ' \(\d+\)$', '')"
#: A document has the name of the line, or it is the only one whose name differs in leading folders: a
#: snapshot has none.
_NOW = f"""\
with kept as (
  select l.*, c.id as corpus_id, {_PATH.format(name="l.document")} as path
  from kept_line as l
  join corpus c on c.name = l.corpus
),
named as (
  select kept.number, d.id as document_id
  from kept
  join document d on d.corpus_id = kept.corpus_id and d.name = kept.document
),
elsewhere as (
  select kept.number, any_value(d.id) as document_id
  from kept
  anti join named using (number)
  join (select id, corpus_id, {_PATH.format(name="name")} as path from document) as d
    on d.corpus_id = kept.corpus_id
    and split_part(d.path, '/', -1) = split_part(kept.path, '/', -1)
    and (d.path = kept.path or ends_with(d.path, '/' || kept.path) or ends_with(kept.path, '/' || d.path))
  group by kept.number
  having count(*) = 1
),
home as (
  select kept.*, d.id as document_id, d.name as document_now, d.first_sentence
  from kept
  join (from named union all from elsewhere) as place using (number)
  join document d on d.id = place.document_id
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
select found.number, any_value(found.document_now) as document,
  coalesce(any_value(found.sent_id), found.id::varchar) as sentence, found.id,
  coalesce(to_json(list(w.form order by t.position) filter (where w.form is not null)), '[]') as forms
from found
left join token t on t.sentence_id = found.id and t.position between found.first and found.last
left join word w on w.id = t.word_id
group by found.number, found.id
order by found.number, any_value(found.id <> found.first_sentence + found.ordinal), found.id"""


@dataclass(frozen=True, slots=True)
class LineState:
    """The current state of a line.

    Attributes:
        state: `GONE` or `CHANGED`; empty if the line is unchanged.
        document: the name of its document now, if its sentence is still there.
        sentence: the name of that sentence.
        sentence_id: the id of that sentence.
    """

    state: str = GONE
    document: str | None = None
    sentence: str | None = None
    sentence_id: int | None = None

    @classmethod
    def of_lines(cls, connection: Connection, lines: Sequence[Mapping[str, Any]]) -> dict[int, LineState]:
        """Return the current states of lines of a set, by number."""
        import pyarrow as pa

        if not lines:
            return {}
        names = {"corpus": pa.string(), "document": pa.string(), "sent_id": pa.string()}
        numbers = dict.fromkeys(("number", "ordinal", "first", "last"), pa.int64())
        table = pa.table(
            {name: pa.array([line[name] for line in lines], kind) for name, kind in (names | numbers).items()}
        )
        forms = {line["number"]: line["forms"] for line in lines}
        with register_arrow(raw(connection), kept_line=table):
            rows = Statement(_NOW).run(connection).to_pylist()
        standings: dict[int, LineState] = {number: cls() for number in forms}
        for row in rows:
            number, same = row["number"], row["forms"] == forms[row["number"]]
            # Of sentences of one name, one with the same words, and of several the one at the same index.
            if (same and standings[number].state) or standings[number].sentence is None:
                state = "" if same else CHANGED
                standings[number] = cls(state, row["document"], row["sentence"], row["id"])
        return standings


_VALUES = """\
select number, {values}
from (
  select place.number, {strings}
  from kept_place as place
  join sentence as s on s.id = place.sentence_id
)"""
_RANK = "dense_rank() over (order by {order}) as rank_{name}"
#: What a line has that the store no longer has, or that lacks a key.
NOTHING = "_"


@dataclass(frozen=True, slots=True)
class LineValues:
    """Values of lines by number, for each key; ``ranks`` are their ranks in sorted order."""

    values: Mapping[int, Sequence[object]]
    ranks: Mapping[int, Sequence[int]]

    @classmethod
    def find(
        cls,
        connection: Connection,
        lines: Sequence[Mapping[str, Any]],
        states: Mapping[int, LineState],
        names: Sequence[str],
        what: str = "metadata",
        others: Sequence[str] = (),
    ) -> LineValues:
        """Return the values of lines for some keys.

        Args:
            connection: the store.
            lines: lines of the set.
            states: current states of the lines.
            names: names of the keys, as `kwic --show` takes them.
            what: a key is, and ``others`` that it may be, for the message that there is none.

        Raises:
            InputError: there is no such key.
        """
        if not names:
            return cls({}, {})
        store_keys, bindings = StoreKeys(connection), Bindings()
        keys = [store_keys.require(name, what, others) for name in names]
        strings = [
            f"{key.value_at('s', 'place.position', bindings)} as value_{number}"
            for number, key in enumerate(keys)
        ]
        columns = [f"value_{number}" for number in range(len(keys))]
        ranks = [_RANK.format(order=by_value(column), name=column) for column in columns]
        text = _VALUES.format(values=", ".join([*columns, *ranks]), strings=", ".join(strings))
        import pyarrow as pa

        there = [line for line in lines if states[line["number"]].sentence_id is not None]
        places = {
            "number": [line["number"] for line in there],
            "sentence_id": [states[line["number"]].sentence_id for line in there],
            "position": [line["first"] for line in there],
        }
        table = pa.table({name: pa.array(column, pa.int64()) for name, column in places.items()})
        with register_arrow(raw(connection), kept_place=table):
            values_table = Statement(text, bindings).run(connection)
        numbers, *values = (column.to_pylist() for column in values_table.columns)
        rows = {number: row for number, *row in zip(numbers, *values, strict=True)}
        return cls(
            {number: row[: len(keys)] for number, row in rows.items()},
            {number: row[len(keys) :] for number, row in rows.items()},
        )
