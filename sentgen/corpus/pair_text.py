"""A document and its abstract as their source gives them, and what tokenisation makes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

from sentgen.corpus.readers import text
from sentgen.corpus.readers._columns import finished
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import Source
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import Rejection
from sentgen.options import Option

#: Part of the hash of a pair: another tokenisation makes other pairs.
VERSION = "1"

#: Raw text; raw sentences; sentences of words; or sentences that a reader of `sentgen ingest` made.
Text = str | tuple[str, ...] | tuple[tuple[str, ...], ...] | tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How pairs are found and how texts become words; control characters refuse a pair, if not replaced."""

    tokenized: Annotated[bool, Option("Blanks separate the words, and a string is a sentence.")] = False
    document_words: Annotated[
        int, Option("Keep the first sentences of a document with N words; 0: all.", metavar="N", least=0)
    ] = 0
    document_field: Annotated[
        str | None, Option("Field of JSON objects with the document.", metavar="NAME")
    ] = None
    abstract_field: Annotated[
        str | None, Option("Field of JSON objects with the abstract.", metavar="NAME")
    ] = None
    replace_controls: Annotated[bool, Option("Put blanks in place of control characters (JSON).")] = False


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """A pair in sentences; neither side is empty."""

    key: str
    document: tuple[Sentence, ...]
    abstract: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class RawPair:
    """A pair as its source gives it: not tokenised yet, so that known pairs cost no more than reading.

    ``document_source`` and ``abstract_source`` say where the texts are; ``line`` is the line of the document.
    """

    key: str
    document: Text
    abstract: Text
    document_source: Source
    abstract_source: Source
    line: int

    def sha256(self, settings: PairSettings) -> str:
        """Return the hash of all that decides what is stored."""
        # As JSON, so that no two lists of texts look the same.
        given = [VERSION, self.key, _plain(self.document), _plain(self.abstract)]
        made = json.dumps([*given, settings.tokenized, settings.document_words])
        return hashlib.sha256(made.encode()).hexdigest()

    def tokenised(self, settings: PairSettings, *, limits: InputLimits = LIMITS) -> TokenizedPair | Rejection:
        """Split both texts into sentences and words; the first fault refuses the pair."""
        path = self.document_source.name
        sides: list[tuple[Sentence, ...]] = []
        for name, given, most in (
            ("document", self.document, settings.document_words),
            ("abstract", self.abstract, 0),
        ):
            found = tuple(_first(_sentences(given, path, self.line, settings, limits), most))
            fault = next((one for one in found if isinstance(one, Rejection)), None)
            if fault is not None:
                return Rejection(path, self.line, self.key, fault.check, f"{fault.message}, in the {name}")
            if not found:
                return Rejection(path, self.line, self.key, "empty-text", f"the {name} has no words")
            sides.append(tuple(one for one in found if isinstance(one, Sentence)))
        return TokenizedPair(self.key, sides[0], sides[1])


def _plain(given: Text) -> object:
    """Return a text as JSON can hold it."""
    if isinstance(given, str):
        return given
    return [one.forms if isinstance(one, Sentence) else one for one in given]


def _sentences(
    given: Text, path: str, line: int, settings: PairSettings, limits: InputLimits
) -> Iterator[Sentence | Rejection]:
    if isinstance(given, str):
        given = (given,)
        pieces = chain.from_iterable(
            text.read_raw(text.blanked(one).splitlines(), path=path) for one in given
        )
        raw: Iterable[RawText] = (RawText(piece.text, line) for piece in pieces)
    else:
        raw = (RawText(one.strip(), line, whole=True) for one in given if isinstance(one, str))
    if settings.tokenized:
        raw_words = (piece.text.split() for piece in raw)
        yield from (finished(Sentence(words, line=line), path, limits) for words in raw_words if words)
    else:
        yield from chain.from_iterable(
            text.tokenised(piece, path=path, limits=limits) for piece in raw if piece.text
        )
    for one in given:
        if isinstance(one, Sentence):
            yield one
        elif not isinstance(one, str) and one:
            yield finished(Sentence(list(one), line=line), path, limits)


def _first(found: Iterator[Sentence | Rejection], words: int) -> Iterator[Sentence | Rejection]:
    """Yield the first sentences with at most so many words, at least one; all if ``words`` is 0."""
    total = 0
    for sentence in found:
        size = len(sentence.forms) if isinstance(sentence, Sentence) else 0
        if words and total and total + size > words:
            return
        total += size
        yield sentence
