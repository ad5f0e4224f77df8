"""Which rows of a list a page shows, and by what they are sorted; the pages with others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sentgen.server.pages.page import PageAnswer, PageParameters
from sentgen.server.pages.texts import link

_DOWN = "-"


@dataclass(frozen=True, slots=True)
class ListPart:
    """A part of a list, as the URL of a page has it.

    Args:
        path: of the page.
        query: its parameters.
        rows: how many rows are shown.
        usual: by what rows are sorted unless the URL says it: a column, with ``-`` from its end.
        prefix: of the parameters of a second list on the page.
    """

    path: str
    query: PageParameters
    rows: int
    usual: str = ""
    prefix: str = ""

    @property
    def sort(self) -> str:
        """The column by which all rows are to be sorted; nothing if they come as usual."""
        return self.query.text(f"{self.prefix}sort")

    @property
    def offset(self) -> int:
        """How many rows are left out at the beginning."""
        return self.query.number(f"{self.prefix}offset", 0)

    @property
    def asked(self) -> dict[str, object]:
        """The parameters of the operation."""
        return {"sort": self.sort, "offset": self.offset, "limit": self.rows}

    def direction(self, column: str) -> Literal["ascending", "descending", ""]:
        """Return how the rows are sorted by a column; nothing if they are by another one."""
        now = self.sort or self.usual
        if now.removeprefix(_DOWN) != column:
            return ""
        return "descending" if now.startswith(_DOWN) else "ascending"

    def by(self, column: str, *, down: bool) -> str:
        """Return the page sorted by a column; the other way around, if it is so already."""
        now = self.direction(column)
        down = now == "ascending" if now else down
        return self._page("", f"{_DOWN if down else ''}{column}")

    def of(self, answer: PageAnswer) -> PageAnswer:
        """Return these rows of an answer that has all of them, and is small enough to be sorted here."""
        rows = list(answer.rows)
        column, down = self.sort.removeprefix(_DOWN), self.sort.startswith(_DOWN)
        if column in answer.columns:
            told = [row for row in rows if row[column] is not None]
            # Lists and the like have no order of their own.
            numbers = all(isinstance(row[column], int | float) for row in told)
            told.sort(key=lambda row: row[column] if numbers else str(row[column]), reverse=down)
            rows = told + [row for row in rows if row[column] is None]
        shown = rows[self.offset : self.offset + self.rows]
        more = self.offset + len(shown) < len(rows)
        total = {} if answer.truncated else {"total": len(rows)}
        return replace(answer, rows=shown, truncated=answer.truncated or more, more={**total, **answer.more})

    def place(self, answer: PageAnswer) -> str:
        """Return which rows these are, with the number of all where it is known: `51–100 of 400`."""
        first, last = self.offset + 1, self.offset + len(answer.rows)
        total = answer.more.get("total") or ("" if answer.truncated else last)
        return f"{first:,}–{last:,}" + (f" of {total:,}" if total else "")

    def before(self) -> str:
        """Return the page with the rows before these; nothing if there are none."""
        return self._page(max(self.offset - self.rows, 0) or "", self.sort) if self.offset else ""

    def behind(self, answer: PageAnswer) -> str:
        """Return the page with the rows behind these; nothing if there are none."""
        return self._page(self.offset + len(answer.rows), self.sort) if answer.truncated else ""

    def _page(self, offset: object, sort: str) -> str:
        offsets, sorts = f"{self.prefix}offset", f"{self.prefix}sort"
        # Trees are unfolded by the number of their line, which is another one then.
        kept: dict[str, object] = {**self.query.without(offsets, sorts, "open")}
        return link(self.path, **kept, **{sorts: sort, offsets: offset})
