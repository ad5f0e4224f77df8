"""The format `tagged`: words with tags behind underscores, as CLAWS and TagAnt write them.

A sentence a line, of word_TAG or word_TAG_lemma, and a line before each text that says what it is::

    <text id="news-1" genre="news">
    Trucks_NNS_truck arrived_VBD_arrive ._._.
    <text id="blog-1" genre="blog">
    A&B_NNP_A&B won_VBD_win
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentgen.plugins import Reader, Rejection, Sentence

_TEXT = re.compile(r"<text(?P<attributes>(?: [\w-]+=\"[^\"]*\")*)>")
_ATTRIBUTE = re.compile(r"([\w-]+)=\"([^\"]*)\"")
#: A word may have underscores itself.
_WORD = re.compile(r"(.+?)_([^_]+)(?:_([^_]+))?")


def read(lines: Iterator[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield a sentence for each line; what ``<text>`` says is metadata of the document."""
    document: str | None = None
    metadata: list[str] = []
    for number, line in enumerate(lines, 1):
        if text := _TEXT.fullmatch(line.strip()):
            said = dict(_ATTRIBUTE.findall(text["attributes"]))
            document = said.pop("id", f"{path}#{number}")
            metadata = [f"meta::{key} = {value}" for key, value in said.items()]
        elif line.strip():
            found = _sentence(line.split(), path, number)
            if isinstance(found, Sentence):
                # What is known of a document comes with its first good sentence.
                found.document, found.metadata = document, metadata
                document, metadata = None, []
            yield found


def _sentence(words: list[str], path: str, line: int) -> Sentence | Rejection:
    """Return the sentence of some words, or what is wrong with them."""
    parts = [_WORD.fullmatch(word) for word in words]
    found = [part.groups() for part in parts if part]
    if len(found) < len(words):
        wrong = words[parts.index(None)]
        return Rejection(path, line, "", "tag", f"{wrong[:40]!r} is not word_TAG or word_TAG_lemma")
    forms, tags, lemmas = (list(column) for column in zip(*found, strict=True))
    return Sentence(forms, xpos=tags, lemmas=lemmas if all(lemmas) else None, line=line)


def _fits(sample: list[str]) -> bool:
    """Say whether the first lines, none of them blank, look like this format."""
    words = [word for line in sample[:20] if not _TEXT.fullmatch(line.strip()) for word in line.split()]
    return bool(words) and all(map(_WORD.fullmatch, words))


READER = Reader("tagged", "1", read, "words with tags behind underscores", (".tagged",), _fits)
