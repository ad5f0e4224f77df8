"""The format `vrt`: vertical text, as the IMS Open Corpus Workbench and NoSketch Engine read it.

A token a line with tab-separated columns (word, tag, lemma), and tags of XML for texts, sentences and glue::

    <text id="news-1" genre="news">
    <s>
    Trucks  NNS  truck
    arrived VBD  arrive
    <g/>
    .       .    .
    </s>
    </text>
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import chain

from sentgen.plugins import Reader, Rejection, Sentence

_TAG = re.compile(r"</?(?P<name>[\w.:-]+)(?P<attributes>(\s+[\w.:-]+=(\"[^\"]*\"|'[^']*'))*)\s*/?>")
_ATTRIBUTE = re.compile(r"([\w.:-]+)=([\"'])(.*?)\2")
#: What else an XML file may have on a line of its own: its declaration, instructions, comments.
_NO_TEXT = re.compile(r"<\?.*\?>|<!.*>")
#: Tags that end a sentence, whether they open or close something.
_ENDS = ("s", "text")


def read(lines: Iterator[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield a sentence for each ``<s>``; what ``<text>`` says is metadata of the document."""
    document: str | None = None
    metadata: list[str] = []
    rows: list[list[str]] = []
    spaces: list[bool] = []
    first = 0
    for number, line in enumerate(chain(lines, ["</s>"]), 1):
        if _NO_TEXT.fullmatch(line.strip()):
            continue
        tag = _TAG.fullmatch(line.strip())
        name = tag["name"] if tag else ""
        if tag is None and line.strip():
            first = first if rows else number
            rows.append([html.unescape(column) for column in line.split("\t")])
            spaces.append(True)
        elif name == "g" and spaces:
            spaces[-1] = False
        elif name in _ENDS and rows:
            found = _sentence(rows, spaces, path, first)
            if isinstance(found, Sentence):
                # What is known of a document comes with its first good sentence.
                found.document, found.metadata = document, metadata
                document, metadata = None, []
            yield found
            rows, spaces = [], []
        if tag is not None and name == "text" and tag["attributes"]:
            said = {key: html.unescape(value) for key, _, value in _ATTRIBUTE.findall(tag["attributes"])}
            document = said.pop("id", None)
            metadata = [f"meta::{key} = {value}" for key, value in said.items()]


def _sentence(rows: list[list[str]], spaces: list[bool], path: str, line: int) -> Sentence | Rejection:
    """Return the sentence of some rows, or what is wrong with them."""
    if len({len(row) for row in rows}) > 1:
        return Rejection(path, line, "", "columns", "the tokens of this sentence differ in their columns")
    columns = [list(column) for column in zip(*rows, strict=True)]
    sentence = Sentence(columns[0], space_after=spaces, line=line)
    if len(columns) > 1:
        sentence.xpos = columns[1]
    if len(columns) > 2:
        sentence.lemmas = columns[2]
    return sentence


def _fits(sample: list[str]) -> bool:
    """Say whether the first lines, none of them blank, look like this format."""
    first = [line for line in sample if not _NO_TEXT.fullmatch(line.strip())][:3]
    return any(line.startswith(("<text ", "<s>", "<s ")) for line in first)


READER = Reader("vrt", "2", read, "vertical text of the Corpus Workbench", (".vrt",), _fits)
