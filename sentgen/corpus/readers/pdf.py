"""PDF: the text of its pages, as far as the file has it; paragraphs are those of the format `text`.

Pages are regions `page` with their number `n`, and paragraphs are regions `p`. A sentence has the number of
its page for a line. Title, author and date of the properties are metadata of the document. A word that a
hyphen cuts at the end of a line is joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from sentgen.corpus.comments import PARAGRAPH
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._flow import clean_text, with_metadata
from sentgen.corpus.readers.text import read_raw
from sentgen.corpus.sentence import Mark, RawText, Region
from sentgen.corpus.tables import read_by_library
from sentgen.errors import InputError
from sentgen.extras import needs

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_SAID = {"title": "Title", "author": "Author", "date": "CreationDate"}
#: What PDFium writes for a hyphen at the end of a line, instead of both, and the rest of its word.
_CUT = re.compile("[\x02\ufffe]([^\\s\x02\ufffe]*)(?:\r?\n| |$)?")


def read_file(file: BinaryIO, *, path: str) -> Iterator[Item]:
    """Yield the paragraphs of a PDF."""
    with needs("documents", "pypdfium2"):
        from pypdfium2 import PdfDocument, PdfiumError

    with read_by_library(path, "PDF"):
        try:
            opened = PdfDocument(file)
        except PdfiumError as error:
            if "password" in str(error):
                raise InputError("is encrypted; save it without a password", path=path) from error
            raise
        information = opened.get_metadata_dict()
        metadata = {key: str(information.get(name) or "") for key, name in _SAID.items()}
    items = with_metadata(_paragraphs(opened, path), metadata)
    first = next(items, None)
    if first is None:
        raise InputError("has no text: its pages may be pictures, which OCR can read", path=path)
    yield first
    yield from items


def _paragraphs(opened: PdfDocument, path: str) -> Iterator[RawText]:
    """Yield paragraphs, which may go on from page to page, with marks where pages begin."""
    pages: list[int] = []

    def lines() -> Iterator[str]:
        with read_by_library(path, "PDF"):
            for number in range(1, len(opened) + 1):
                shown = opened[number - 1]
                text = _CUT.sub(_whole, shown.get_textpage().get_text_range())
                shown.close()
                for line in text.replace("\r\n", "\n").strip().split("\n"):
                    pages.append(number)
                    yield clean_text(line)

    page: Region | None = None
    number = 0
    for raw in read_raw(lines(), path=path):
        turns: list[Mark] = []
        for row, offset in enumerate(raw.starts):
            if pages[raw.line - 1 + row] != number:
                number = pages[raw.line - 1 + row]
                turns += [Mark(offset, page, begins=False)] if page else []
                page = Region("page", (("n", str(number)),))
                turns.append(Mark(offset, page, begins=True))
        begun = Region(PARAGRAPH)
        marks = [*turns, Mark(0, begun, begins=True), Mark(len(raw.text), begun, begins=False)]
        # In their order; where several stand, as they are here.
        marks.sort(key=lambda mark: mark.place)
        yield replace(raw, marks=tuple(marks), line=pages[raw.line - 1], starts=(0,))


def _whole(cut: re.Match[str]) -> str:
    """Return the rest of a word that was cut, with the line end behind it."""
    before, rest = cut.string[cut.start() - 1 : cut.start()], cut[1]
    # `Anglo-Saxon` has a hyphen elsewhere, too; of two parts in one case, next to none has.
    compound = not (before.isalpha() and rest[:1].isalpha()) or (before.islower() and rest[0].isupper())
    return f"{'-' * compound}{rest}\n"


READER = Reader(
    "pdf",
    "3",
    description="PDF with text",
    extensions=(".pdf",),
    read_file=read_file,
    begins=(b"%PDF-",),
    extra="documents",
)
