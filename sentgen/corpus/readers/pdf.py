"""PDF: the text of its pages, as far as the file has it; paragraphs are those of the format `text`.

Pages are regions `page` with their number `n`, and paragraphs are regions `p`. A sentence has the number of
its page for a line. Title, author and date of the properties are metadata of the document.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from sentgen.corpus.comments import PARAGRAPH
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._blocks import cleaned, with_metadata
from sentgen.corpus.readers.text import read_raw
from sentgen.corpus.sentence import Mark, RawText, Region
from sentgen.corpus.tables import read_by_library
from sentgen.errors import InputError
from sentgen.extras import needs

if TYPE_CHECKING:
    from pypdf import PdfReader

_SAID = {"title": "/Title", "author": "/Author", "date": "/CreationDate"}


def read_file(file: BinaryIO, *, path: str) -> Iterator[RawText]:
    """Yield the paragraphs of a PDF."""
    with needs("documents", "pypdf"):
        from pypdf import PdfReader

    with _read(path):
        opened = PdfReader(file)
        if opened.is_encrypted:
            raise InputError("is encrypted; save it without a password", path=path)
        information: Mapping[str, object] = opened.metadata or {}
        said = {key: str(information.get(name) or "") for key, name in _SAID.items()}
    items = with_metadata(_paragraphs(opened, path), said)
    first = next(items, None)
    if first is None:
        raise InputError("has no text: its pages may be pictures, which OCR can read", path=path)
    yield first
    yield from items


def _paragraphs(opened: PdfReader, path: str) -> Iterator[RawText]:
    """Yield paragraphs, which may go on from page to page, with marks where pages begin."""
    pages: list[int] = []

    def lines() -> Iterator[str]:
        with _read(path):
            for number, page in enumerate(opened.pages, 1):
                for line in map(cleaned, page.extract_text().strip().split("\n")):
                    pages.append(number)
                    yield line

    page: Region | None = None
    number = 0
    for raw in read_raw(lines(), path=path):
        turns: list[Mark] = []
        for row, place in enumerate(raw.starts):
            if pages[raw.line - 1 + row] != number:
                number = pages[raw.line - 1 + row]
                turns += [Mark(place, page, begins=False)] if page else []
                page = Region("page", (("n", str(number)),))
                turns.append(Mark(place, page, begins=True))
        begun = Region(PARAGRAPH)
        marks = [*turns, Mark(0, begun, begins=True), Mark(len(raw.text), begun, begins=False)]
        # In their order; where several stand, as they are here.
        marks.sort(key=lambda mark: mark.place)
        yield replace(raw, marks=tuple(marks), line=pages[raw.line - 1], starts=(0,))


@contextmanager
def _read(path: str) -> Iterator[None]:
    """Say in one line what is wrong with a PDF, and let pypdf say nothing."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with read_by_library(path, "PDF"):
            yield
    finally:
        logger.setLevel(level)


READER = Reader(
    "pdf",
    "1",
    description="PDF with text",
    extensions=(".pdf",),
    read_file=read_file,
    begins=(b"%PDF-",),
    extra="documents",
)
