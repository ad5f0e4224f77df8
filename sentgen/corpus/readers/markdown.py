"""Markdown (CommonMark, and tables): the text without markup, code and HTML.

Headings are regions `head` with their `level`, paragraphs `p`, items of lists `item`, quotations `quote`.
`title`, `author`, `date` and `language` (or `lang`) of a front matter, between lines `---`, are metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

from sentgen.corpus.comments import PARAGRAPH
from sentgen.corpus.encodings import without_c1
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._flow import HEAD, ITEM, QUOTE, Blocks, with_metadata
from sentgen.corpus.readers.text import blank_separators
from sentgen.errors import InputError

_KINDS = {
    "paragraph_open": PARAGRAPH,
    "list_item_open": ITEM,
    "blockquote_open": QUOTE,
    "th_open": PARAGRAPH,
    "td_open": PARAGRAPH,
}
_KEYS = {"title": "title", "author": "author", "date": "date", "language": "language", "lang": "language"}
#: Tags of readings beside characters, and of the brackets around them.
_READING = re.compile(r"<(/?)(?:rt|rp)\b", re.IGNORECASE)
#: References to the controls U+0080 to U+009F.
_C1_REFERENCE = re.compile("&#(?:0{0,4}(?:12[89]|1[345][0-9])|[xX]0{0,4}[89][0-9a-fA-F]);")
#: Lines of a front matter at most.
_FRONT = 200


def read(lines: Iterable[str], *, path: str) -> Iterator[Item]:
    """Yield the blocks of a text in Markdown."""
    from markdown_it import MarkdownIt  # takes a while

    rows = list(lines)
    front = _front_matter(rows)
    metadata: dict[str, str] = {}
    for row in rows[1:front]:
        key, _, value = row.partition(":")
        if key.strip().lower() in _KEYS:
            metadata.setdefault(_KEYS[key.strip().lower()], value.strip().strip("\"'"))
    # Blank lines in place of the front matter, so that lines keep their numbers.
    text = "\n" * front + "\n".join(map(blank_separators, rows[front:]))
    # CommonMark reads these references as U+FFFD, HTML as characters of Windows-1252.
    text = _C1_REFERENCE.sub(lambda match: without_c1(unescape(match[0])), text)
    try:
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
    except RecursionError as error:
        raise InputError("is nested too deep for Markdown", path=path) from error
    blocks, is_region, line = Blocks(path), list[bool](), 1
    for token in tokens:
        line = token.map[0] + 1 if token.map else line
        if token.type == "heading_open":
            blocks.begin(HEAD, level=token.tag[1:])
            is_region.append(True)
        elif token.nesting == 1:
            # The paragraphs of a tight list are its items.
            kind = "" if token.hidden else _KINDS.get(token.type, "")
            if kind:
                blocks.begin(kind)
            is_region.append(bool(kind))
        elif token.nesting == -1:
            blocks.cut()
            if is_region.pop():
                blocks.end()
        elif token.type == "inline":
            reading = False
            for child in token.children or ():
                if child.type == "html_inline" and (tag := _READING.match(child.content)):
                    reading = not tag[1]
                elif reading:
                    continue
                elif child.type in ("softbreak", "hardbreak"):
                    blocks.add(" ", line)
                elif child.type in ("text", "code_inline"):
                    blocks.add(child.content, line)
    blocks.cut()
    yield from with_metadata(blocks.take(), metadata)


def _front_matter(rows: list[str]) -> int:
    """Return the number of lines of the front matter, 0 if there is none."""
    if not rows or rows[0].rstrip() != "---":
        return 0
    ends = [at for at, row in enumerate(rows[1:_FRONT], 1) if row.rstrip() in ("---", "...")]
    return ends[0] + 1 if ends else 0


READER = Reader(
    "markdown",
    "2",
    read,
    "Markdown: its text, headings and paragraphs",
    (".md", ".markdown"),
    read_raw=read,
)
