"""The formats that a corpus can be written in, and what writes each."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.errors import InputError

if TYPE_CHECKING:
    from sentgen.counts.conllu_export import Export

#: Imported when one is asked for.
FORMATS = {
    "conllu": "sentgen.counts.conllu_export:export_conllu",
    "docbin": "sentgen.counts.docbin_export:export_docbin",
    "tei": "sentgen.counts.tei_export:export_tei",
    "vertical": "sentgen.counts.vertical_export:export_vertical",
}


def export(connection: Connection, corpus: str, form: str) -> Export:
    """Return a corpus in a format, block by block, and what the format cannot hold.

    Raises:
        InputError: there is no such format, or the corpus cannot be written in it.
        NotFoundError: there is no such corpus.
    """
    if form not in FORMATS:
        raise InputError(f"--format {form!r} is none of: {', '.join(FORMATS)}")
    found: Export = resolve_name(FORMATS[form])(connection, corpus)
    return found
