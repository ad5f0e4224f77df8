"""The formats that a corpus can be written in, and what writes each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pkgutil import resolve_name

from sqlalchemy import Connection

from sentgen.counts.corpora import find
from sentgen.errors import InputError, spell
from sentgen.schema.store import fetch_arrow

#: Imported when one is asked for: a function that takes the connection, the row of a corpus and the numbers
#: of its first and its last sentence, and returns its bytes and what they do not give back.
FORMATS = {
    "conllu": "sentgen.counts.conllu_export:write_conllu",
    "docbin": "sentgen.counts.docbin_export:write_docbin",
    "tei": "sentgen.counts.tei_export:write_tei",
    "vertical": "sentgen.counts.vertical_export:write_vertical",
}
_RANGE = """
select min(first_sentence) as first, max(first_sentence + sentences - 1) as last
from document
where corpus_id = $corpus
    and sentences > 0
"""


@dataclass(frozen=True, slots=True)
class Export:
    """A corpus in a format.

    Attributes:
        blocks: its bytes, a part at a time.
        lost: what it does not give back, one line each.
    """

    blocks: Iterator[bytes]
    lost: tuple[str, ...]


def export(connection: Connection, name: str, form: str) -> Export:
    """Return a corpus in a format, block by block, and what the format cannot hold.

    Raises:
        InputError: there is no such format, or the corpus cannot be written in it, or it has counts, but no
            sentences, as a lake that was counted on a cluster.
        NotFoundError: there is no such corpus.
    """
    if form not in FORMATS:
        raise InputError(f"{spell('format')} {form!r} is none of: {', '.join(FORMATS)}")
    corpus = find(connection, name)
    [span] = fetch_arrow(connection, _RANGE, {"corpus": corpus.id}).to_pylist()
    if span["first"] is None:
        raise InputError(
            f"no sentences of {name!r} here: a lake of a count has counts only; export from a store"
        )
    blocks, lost = resolve_name(FORMATS[form])(connection, corpus, (span["first"], span["last"]))
    return Export(blocks, tuple(lost))
