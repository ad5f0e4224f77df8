"""Labels from a spreadsheet that comes back: what `sentgen lines list --xlsx` or ``--csv`` wrote."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from sentgen.corpus.paths import source_at
from sentgen.corpus.readers.table import open_table
from sentgen.desk import labels
from sentgen.desk.desk import Desk
from sentgen.desk.tables import find_set, line
from sentgen.errors import InputError

LINE, LABEL, NODE = "line", "label", "node"


def import_labels(desk: Desk, name: str, file: str | Path, labeler: str) -> labels.Changed:
    """Give the labels of a spreadsheet to the lines of a set; a row without one changes nothing.

    Args:
        desk: the desk.
        name: the set.
        file: a table with the columns ``line`` and ``label``, and ``node`` if it is to be compared.
        labeler: whose labels they are.

    Raises:
        NotFoundError: there is no such set.
        InputError: the table cannot be read, or is not one of this set; no label was given then.
    """
    with desk.reading() as reading:
        query = select(line.c.number, line.c.node).where(line.c.set_id == find_set(reading, name).id)
        nodes = {row.number: row.node for row in reading.execute(query)}
    given = _read(str(file), name, nodes)
    with desk.writing() as writing:
        return labels.give_labels(writing, find_set(writing, name), given, labeler)


def _read(path: str, name: str, nodes: dict[int, str]) -> dict[int, str]:
    """Return the labels by number of the line."""
    given: dict[int, str] = {}
    with open_table(source_at(path)) as table:
        number_at, label_at = table.column_index(LINE, LINE), table.column_index(LABEL, LABEL)
        node_at = table.columns.index(NODE) if NODE in table.columns else None
        for row in table.rows:
            if row.wrong:
                raise InputError(row.wrong, path=path, line=row.number)
            text = row.values[number_at].strip()
            number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
            if number not in nodes:
                raise InputError(f"{text!r} is no line of {name}", path=path, line=row.number)
            if node_at is not None and _bare(row.values[node_at]) != _bare(nodes[number]):
                raise InputError(
                    f"line {number} of {name} has the node {nodes[number]!r}, not {row.values[node_at]!r}: is"
                    " this the table of another set?",
                    path=path,
                    line=row.number,
                )
            if label := row.values[label_at].strip():
                try:
                    given[number] = labels.check_name(label, "label")
                except InputError as error:
                    raise InputError(error.message, path=path, line=row.number) from error
    return given


def _bare(text: str) -> str:
    """Leave out what spreadsheets change: blanks, and an apostrophe before what would be a formula."""
    return " ".join(text.split()).removeprefix("'")
