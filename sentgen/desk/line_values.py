"""What the store says of the lines of a set: metadata of their sentences, attributes of their tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from sentgen.desk.line_states import LineState
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.lookups.concordances.sorting import by_value, find_key, value_at
from sentgen.schema.engine import raw, register_arrow

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
    """Values of lines by number, for each key; ``ranks``: their places, as lines are sorted."""

    values: Mapping[int, Sequence[object]]
    ranks: Mapping[int, Sequence[int]]


def line_values(
    connection: Connection,
    lines: Sequence[Mapping[str, Any]],
    states: Mapping[int, LineState],
    names: Sequence[str],
    what: str = "metadata",
    others: Sequence[str] = (),
) -> LineValues:
    """Return what lines have of some keys.

    Args:
        connection: the store.
        lines: of the set.
        states: where they are now.
        names: of the keys, as `kwic --show` takes them.
        what: a key is, and ``others`` that it may be, for the message that there is none.

    Raises:
        InputError: there is no such key.
    """
    if not names:
        return LineValues({}, {})
    store_keys, bindings = StoreKeys(connection), Bindings()
    keys = [find_key(store_keys, name, what, others) for name in names]
    strings = [
        f"{value_at(key, 's', 'place.position', bindings)} as value_{number}"
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
        found = Statement(text, bindings).run(connection)
    numbers, *values = (column.to_pylist() for column in found.columns)
    rows = {number: row for number, *row in zip(numbers, *values, strict=True)}
    return LineValues(
        {number: row[: len(keys)] for number, row in rows.items()},
        {number: row[len(keys) :] for number, row in rows.items()},
    )
