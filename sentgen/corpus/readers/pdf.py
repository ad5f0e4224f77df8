"""PDF: the text that the file has for its pages; paragraphs are found as in the format `text`.

Pages are regions `page` with their number `n`, and paragraphs are regions `p`. The line of a sentence is the
number of its page. Title, author and date of the properties are metadata of the document. A word that is
hyphenated at the end of a line is joined.
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
#: The character that PDFium writes for a hyphen and the line end after it, and the rest of the word.
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
    """Yield paragraphs, which may continue on the next page, with marks where pages begin and end."""
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
        # The sort is stable: marks at the same place keep their order.
        marks.sort(key=lambda mark: mark.place)
        yield replace(raw, marks=tuple(marks), line=pages[raw.line - 1], starts=(0,))


def _whole(cut: re.Match[str]) -> str:
    """Return the rest of a hyphenated word, after a hyphen if the word keeps it, with a line end."""
    before, rest = cut.string[cut.start() - 1 : cut.start()], cut[1]
    # `Anglo-Saxon` keeps its hyphen; hardly any word does whose two parts are in the same case.
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
