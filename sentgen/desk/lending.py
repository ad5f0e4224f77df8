"""Labels of the desk as keys of look-ups (``lines.make``); look-ups do not import the desk themselves."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sentgen.errors import NotFoundError, SentgenError, StoreError
from sentgen.schema import Store
from sentgen.schema.engine import LINE_LABELS

# Modules for the file are imported when a label is looked up, as few commands do.
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sentgen.lookups.base.line_labels import LabeledLine, OfferedLabel

logger = logging.getLogger(__name__)


class DeskLabels:
    """Gives the present labels of lines that are still in the store (see `LentLabels`).

    Args:
        store: the store.
        desk: the file of the desk, which need not exist; the one beside the store if ``None``.
        tell: called with each note about lines of a set that are left out, once.
        tells_place: whether errors name the missing file, which a server does not tell its clients.

    Attributes:
        asked: whether labels were looked up, so that the same question may have another answer next time.
        notes: the notes that ``tell`` was called with.
    """

    def __init__(
        self,
        store: Path,
        desk: Path | None = None,
        tell: Callable[[str], None] = logger.warning,
        *,
        tells_place: bool = True,
    ) -> None:
        self._store, self._desk, self._tell, self._tells_place = store, desk, tell, tells_place
        self.asked, self.notes = False, list[str]()

    def find(self, connection: Connection, name: str) -> Sequence[LabeledLine] | None:
        """Return the labels of a set, ``make``, or of one labeler of it, ``make.ann``; none without a set.

        Raises:
            InputError: no line of it has a label, or none that is still in the store.
        """
        from sentgen.desk.labels import labeled_lines

        path = self._looked_at()
        return labeled_lines(path, connection, name, self._tell_once) if path else None

    def offered(self, corpora: Sequence[str]) -> Sequence[OfferedLabel]:
        """Return the labels that lines of some corpora, or of all, have, without a look at the store."""
        from sentgen.desk.labels import offered_labels

        path = self._looked_at()
        return offered_labels(path, corpora) if path else []

    def refusal(self, name: str) -> SentgenError:
        """Return the error that there is no such set, with those that there are."""
        from sentgen.desk.desk import Desk
        from sentgen.desk.line_sets import check

        try:
            path = self._path
        except StoreError:
            return NotFoundError(
                f"no line set {name!r}: sets lie beside a store, and {self._store} is a lake or a snapshot;"
                " ask the store that it was made from"
            )
        try:
            if self._tells_place or path.exists():
                check(Desk(path), name)
        except SentgenError as error:
            return error
        return NotFoundError(f"no line set {name!r}; make one with: sentgen lines new SET QUERY")

    @property
    def _path(self) -> Path:
        from sentgen.desk.desk import desk_beside

        return self._desk or desk_beside(self._store)

    def _looked_at(self) -> Path | None:
        self.asked = True
        try:
            return path if (path := self._path).exists() else None
        except StoreError:  # a store that no desk lies beside
            return None

    def _tell_once(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            self._tell(text)


def lend_labels(store: Store, desk: Path | None = None) -> Store:
    """Return the store with the labels of a desk as keys; by default, the desk beside the store."""
    store.lent[LINE_LABELS] = DeskLabels(store.path, desk)
    return store
