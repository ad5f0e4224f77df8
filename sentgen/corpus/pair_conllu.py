"""Read documents with their abstracts from CoNLL-U: both in one file, or each in its own.

`pair_readers` says how they are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from sentgen.corpus.formats import READERS
from sentgen.corpus.pair_text import RawPair
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.errors import InputError, Rejection

#: How documents and abstracts, or the files of texts, are named.
SUFFIX = re.compile(r"(.+)\.(document|abstract)([0-9]*)", re.DOTALL)
_SAME_IDS = "both files need the same ids in the same order, each once"


class _Document(NamedTuple):
    """A document of CoNLL-U with what is wrong with its sentences; without a name if none began it."""

    name: str
    line: int
    sentences: tuple[Sentence, ...]
    faults: tuple[Rejection, ...]


def _documents(lines: LineReader) -> Iterator[_Document]:
    """Yield the documents of a CoNLL-U file; one of them is in memory at a time."""
    name, line = "", 1
    sentences: list[Sentence] = []
    faults: list[Rejection] = []
    for found in READERS["conllu"].read(iter(lines), path=lines.source.name):
        # A document begins with its first sentence, and again with its first good one.
        if found.document is not None and (sentences or found.document != name):
            if sentences or faults:
                yield _Document(name, line, tuple(sentences), tuple(faults))
            name, line, sentences, faults = found.document, found.line, [], []
        if isinstance(found, Rejection):
            faults.append(found)
        else:
            found.document = None
            sentences.append(found)
    if sentences or faults:
        yield _Document(name, line, tuple(sentences), tuple(faults))


def read_conllu(lines: LineReader) -> Iterator[RawPair | Rejection]:
    """Yield a pair for every abstract; only one document and one abstract are in memory."""
    source = lines.source
    document: _Document | None = None
    alone = False
    for one in _documents(lines):
        match = SUFFIX.fullmatch(one.name)
        if match is None:
            message = f"document {one.name!r} is neither NAME.document nor NAME.abstract"
            named = Rejection(source.name, one.line, one.name, "pair-name", message)
            yield one.faults[0] if one.faults else named
        elif match[2] == "document":
            if document and alone:
                yield _without_abstract(document, source)
            document, alone = one, True
        elif document is None or document.name != f"{match[1]}.document":
            message = f"the abstract {one.name!r} does not follow its document {match[1]}.document"
            yield Rejection(source.name, one.line, one.name, "pair-name", message)
        else:
            alone = False
            key = f"{match[1]}#{match[3]}" if match[3] else match[1]
            yield _pair(key, document, one, (source, source))
    if document and alone:
        yield _without_abstract(document, source)


def _without_abstract(document: _Document, source: Source) -> Rejection:
    message = f"the document {document.name!r} has no abstract behind it"
    return Rejection(source.name, document.line, document.name, "pair-name", message)


def _pair(
    key: str, document: _Document, abstract: _Document, sources: tuple[Source, Source]
) -> RawPair | Rejection:
    """Return a pair, or what is wrong with its first broken sentence."""
    if faults := document.faults + abstract.faults:
        return faults[0]
    return RawPair(key, document.sentences, abstract.sentences, *sources, document.line)


def begins_with_document(source: Source) -> bool:
    """Say whether a CoNLL-U file begins with `NAME.document`, so that it holds whole pairs."""
    first = next(READERS["conllu"].read(iter(source.head()), path=source.name), None)
    return first is not None and (first.document or "").endswith(".document")


def read_parallel_conllu(of_documents: LineReader, of_abstracts: LineReader) -> Iterator[RawPair | Rejection]:
    """Yield a pair for each document of the one file and the abstract of the same id in the other.

    Only one of each is in memory, so that the ids must be in the same order.
    """
    documents, abstracts = of_documents.source, of_abstracts.source
    seen = set[str]()
    for document, abstract in zip_longest(_named(of_documents, "document"), _named(of_abstracts, "abstract")):
        if document is None or abstract is None:
            short, other = (documents, abstracts) if document is None else (abstracts, documents)
            there = document or abstract
            message = f"ends before {there.name!r} ({other.name}:{there.line}); {_SAME_IDS}"
            raise InputError(message, path=short.name)
        for one, source in ((document, documents), (abstract, abstracts)):
            if one.name in seen:
                message = f"the id {one.name!r} is there twice; {_SAME_IDS}"
                raise InputError(message, path=source.name, line=one.line)
        if document.name != abstract.name:
            where = f"{documents.name}:{document.line}"
            message = f"{abstract.name!r} stands where {document.name!r} belongs ({where}); {_SAME_IDS}"
            raise InputError(message, path=abstracts.name, line=abstract.line)
        # Names of both sides: they are the same here.
        seen.add(document.name)
        yield _pair(document.name, document, abstract, (documents, abstracts))


def _named(lines: LineReader, side: str) -> Iterator[_Document]:
    """Yield the documents of one side under the names of their pairs; an id may end in its side."""
    source = lines.source
    for one in _documents(lines):
        if one.name and not one.name.startswith(f"{source.name}#"):
            yield one._replace(name=one.name.removesuffix(f".{side}"))
            continue
        if one.faults:
            raise one.faults[0].as_error()
        message = "no `# newdoc id` here, which says which document and abstract are a pair"
        raise InputError(message, path=source.name, line=one.line)
