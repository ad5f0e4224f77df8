"""Tables of answers: as data frames, as Arrow, row by row, and as they are shown."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from sentgen.api import html, plain
from sentgen.api.arguments import worded
from sentgen.api.door import translated
from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.output.logarithms import NATURAL
from sentgen.output.plots.pictures import check_plot, need_plots, write_plot
from sentgen.output.tabular import Rows, arrow_of, column_of, distinct, names_of, rows_of
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure

    from sentgen.lookups.base.statement import Answer

#: What needs no package for data frames.
_WITHOUT = "or take .arrow() or .rows(), which need none"
#: Rows that are shown; the table has them all.
SHOWN = 10


class Row:
    """A row of a table: values by place, or by the names of their columns; a named tuple."""

    if TYPE_CHECKING:
        _fields: tuple[str, ...]

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, place: int) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...
        def _asdict(self) -> dict[str, Any]: ...


class Table:
    """Rows of an answer, in named columns.

    Attributes:
        notes: what is to be said of them, such as why there are none.
        truncated: whether there are more.
        total: how many there are in all, where that was counted.
    """

    def __init__(
        self,
        found: pyarrow.Table | Rows,
        *,
        sql: str = "",
        notes: Sequence[str] = (),
        truncated: bool = False,
        total: int | None = None,
        draw: Callable[[], Figure] | None = None,
    ) -> None:
        self._found, self._sql, self._draw = found, sql, draw
        self.notes, self.truncated, self.total = list(map(worded, notes)), truncated, total

    @classmethod
    def _of(cls, answer: Answer, draw: Callable[[], Figure] | None = None) -> Table:
        return cls(
            answer.rows,
            sql=answer.query.with_values(),
            notes=answer.notes,
            truncated=answer.truncated,
            total=answer.total,
            draw=draw,
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns; of the same names, the later ones have a number."""
        return distinct(names_of(self._found))

    @property
    def sql(self) -> str:
        """The statement that gives these rows, ready for `Database.sql`; empty if no statement does."""
        return self._sql

    def __len__(self) -> int:
        return self._found.num_rows

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    @overload
    def __getitem__(self, place: str) -> list[Any]: ...

    def __getitem__(self, place: int | slice | str) -> Row | list[Row] | list[Any]:
        """Return a row, several, or the values of a column."""
        if not isinstance(place, str):
            return self._rows[place]
        if place not in self.columns:
            raise InputError(f"there is no column {place!r}; there are: {', '.join(self.columns)}")
        return column_of(self._renamed(), place)

    @cached_property
    def _rows(self) -> list[Row]:
        # What is left without a name, such as a column "1", has its place: `_0`.
        named = namedtuple("Row", _names(self.columns), rename=True)  # type: ignore[misc]
        kind = type("Row", (Row, named), {"__slots__": ()})
        return [kind._make(row) for row in rows_of(self._found)]  # type: ignore[attr-defined]

    def _renamed(self) -> pyarrow.Table | Rows:
        if isinstance(self._found, Rows):
            return Rows(self.columns, self._found.rows, self._found.types)
        return self._found.rename_columns(self.columns)

    def arrow(self) -> pyarrow.Table:
        """Return the rows as a table of Arrow."""
        return arrow_of(self._renamed())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to whatever speaks Arrow: DuckDB, Polars, pandas 3 and others."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def rows(self) -> list[Row]:
        """Return the rows, as a list."""
        return list(self._rows)

    def df(self) -> pandas.DataFrame:
        """Return the rows as a data frame of pandas.

        Raises:
            InputError: pandas is not installed.
        """
        with needs("pandas", "pandas", _WITHOUT):
            import pandas  # noqa: F401
        return self.arrow().to_pandas()

    def pl(self) -> polars.DataFrame:
        """Return the rows as a data frame of Polars.

        Raises:
            InputError: Polars is not installed.
        """
        with needs("polars", "Polars", _WITHOUT):
            import polars
        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the rows, as ``--plot`` of the command does; of lines, all hits in their documents.

        Args:
            path: a file to write, .svg, .png or .pdf; without one, what is returned can be shown or changed.

        Raises:
            InputError: no picture has such rows, there are more than fit, or matplotlib is not installed.
        """
        target = None if path is None else Path(path)
        with translated():
            check_plot(target)
            need_plots()
            if self._draw is None:
                raise InputError("these rows have no picture; there is one of lines, counts and scores")
            if not len(self):
                raise InputError("there are no rows to draw; see the notes of the table")
            figure = self._draw()
            if target is not None:
                write_plot(figure, target)
        return figure

    def _shown(self) -> tuple[list[str], list[Sequence[object]]]:
        """Return the columns for reading and the first rows; other tools want natural logarithms, too."""
        kept = [place for place, name in enumerate(self.columns) if name not in NATURAL]
        first = rows_of(self._found.slice(0, SHOWN))
        return [self.columns[place] for place in kept], [[row[place] for place in kept] for row in first]

    def _size(self) -> str:
        more = f" of {self.total:,}" if self.truncated and self.total else ""
        left = "; there are more (limit=0 for all)" if self.truncated and not self.total else ""
        return f"{quantity(len(self), 'row')}{more}{left}"

    def __repr__(self) -> str:
        columns, rows = self._shown()
        lines = plain.lines(columns, rows) if rows else []
        more = ["..."] if len(self) > len(rows) else []
        return "\n".join([*lines, *more, f"[{self._size()}]", *self.notes])

    def _repr_html_(self) -> str:
        columns, rows = self._shown()
        return html.framed(html.table(columns, rows, self._drawings()), self._size(), self.notes)

    def _drawings(self) -> list[str]:
        """Return the trees of the rows that are shown, as SVG; none of most tables."""
        return []


def _names(columns: Sequence[str]) -> list[str]:
    """Return names of Python for columns.

    >>> _names(["V.lemma", "S#V", "V -[obj]-> O", "class"])
    ['V_lemma', 'S_V', 'V_obj_O', 'class_']
    """
    plain = [re.sub(r"\W+", "_", column).strip("_") for column in columns]
    return distinct([f"{name}_" if iskeyword(name) else name for name in plain])
