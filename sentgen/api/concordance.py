"""Lines of a concordance, which a notebook shows with the colors of the words that they are sorted by."""

from __future__ import annotations

from dataclasses import replace

from sentgen.api.html import SortedLine
from sentgen.api.session import StoreSession
from sentgen.api.tables import SHOWN, Table
from sentgen.errors import StoreError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.line_text import PLACE, sorted_words
from sentgen.output.tabular import Rows


class SortedLines(Table):
    """Lines in an order; see `Table`."""

    _session: StoreSession
    _question: Kwic
    _placed: Rows

    @classmethod
    def ask(cls, session: StoreSession, question: Kwic) -> SortedLines:
        """Return the lines that a question asks for."""
        with session.read() as store, store.connect() as connection:
            answer = question.lines(connection, placed=True)
        shown = replace(answer, rows=answer.rows.without(PLACE))
        lines = cls._of(shown, session.drawer(question, shown))
        lines._session, lines._question, lines._placed = session, question, answer.rows.slice(0, SHOWN)
        return lines

    def _sorted(self) -> list[SortedLine]:
        words = sorted_words(self._question.sort)
        if not words.levels or not len(self):
            return []
        try:
            with self._session.read() as store, store.connect() as connection:
                sides = self._question.sorted_sides(connection, self._placed)
        except StoreError:  # closed since: the lines stay
            return []
        return [SortedLine(*one, words.levels.get(0, 0)) for one in sides]
