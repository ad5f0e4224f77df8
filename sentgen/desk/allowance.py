"""How much one writer may put on a desk that others write to as well: told before it is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.sqlite import insert

from sentgen.desk.tables import share
from sentgen.errors import InputError
from sentgen.output.wording import quantity

#: Part of a bound from which it is told.
_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a writer may have on the desk; a set that is removed counts no more.

    Attributes:
        writer: who writes: an address, as labelers name themselves as they like.
        sets: that the writer may have made.
        bytes: of these sets, and of labels that the writer gave.
        room: bytes of the whole file up to which sets are made: what is beyond is left for labels.
    """

    writer: str
    sets: int
    bytes: int
    room: int

    def take(self, connection: Connection, set_id: int, *, sets: int = 0, size: int) -> None:
        """Write down what the writer adds to a set, in the transaction that adds it.

        Raises:
            InputError: it is more than is left; the transaction is to be undone.
        """
        made, used = self._used(connection)
        ask = "ask whoever runs the server to remove some, or to allow more"
        if sets and made + sets > self.sets:
            raise InputError(f"you have made {quantity(made, 'line set')} here, which is the most; {ask}")
        if used + size > self.bytes:
            raise InputError(
                f"this is more than the {_megabytes(self.bytes)} of line sets and labels that you may have"
                f" here; make smaller sets, or {ask}"
            )
        if sets and _size(connection) + size > self.room:
            raise InputError(f"there is no room for more line sets here, but for labels; {ask}")
        row = {"set_id": set_id, "writer": self.writer, "sets": sets, "bytes": size}
        adding = insert(share).values(row)
        more = {name: share.c[name] + adding.excluded[name] for name in ("sets", "bytes")}
        connection.execute(adding.on_conflict_do_update(index_elements=["set_id", "writer"], set_=more))

    def warnings(self, connection: Connection) -> Sequence[str]:
        """Return what the writer has, where that is near to a bound."""
        made, used = self._used(connection)
        warnings = []
        if made >= _NEAR * self.sets:
            warnings.append(
                f"you have made {made:,} of the {quantity(self.sets, 'line set')} that you may make here"
            )
        if used >= _NEAR * self.bytes:
            warnings.append(
                f"your line sets and labels take {_megabytes(used)} of the {_megabytes(self.bytes)} that they"
                " may take here"
            )
        return warnings

    def _used(self, connection: Connection) -> tuple[int, int]:
        sums = [func.coalesce(func.sum(share.c[name]), 0) for name in ("sets", "bytes")]
        made, used = connection.execute(select(*sums).where(share.c.writer == self.writer)).one()
        return int(made), int(used)


def _size(connection: Connection) -> int:
    """Return the bytes of the file that are in use."""
    pages, free, each = (
        int(connection.exec_driver_sql(f"pragma {name}").scalar_one())
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * each


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"
