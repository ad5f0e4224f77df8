"""DocBin, the format in which spaCy stores documents: their tokens, tags, trees and entities.

A `Doc` is a document, and its entities are regions `ent` with their `label`. Its categories, and the values
of `user_data` and of extensions of the document (`doc._.year`) that are text, numbers or truth values, are
its metadata; `id`, `document` or `name` among them is its name, else it is called FILE#1, FILE#2, and so on.
Span groups, vectors and extensions of tokens are left out. The line of a sentence is the number of its
document.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, BinaryIO

from sentgen.corpus.comments import document_comment
from sentgen.corpus.parser_adapters import spacy_sentence
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._columns import Carried, finish_sentence
from sentgen.corpus.readers._flow import clean_text
from sentgen.corpus.sentence import ABSENT, Mark, RawText, Region
from sentgen.corpus.sources import BLOCK_BYTES, base_name, check_expansion
from sentgen.corpus.tables import read_by_library
from sentgen.errors import InputError, Rejection
from sentgen.extras import needs

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

#: Kind of the regions that entities become.
ENTITY = "ent"
#: Keys whose value may be the name of a document, in order of preference.
NAMES = ("id", "document", "name")
#: Annotation of tokens, which a document without sentence boundaries would lose.
_OF_TOKENS = ("TAG", "POS", "LEMMA", "MORPH")


def read_file(file: BinaryIO, *, path: str) -> Iterator[Item]:
    """Yield the sentences of each document; of a document without annotation, its raw text.

    Raises:
        InputError: the file is no DocBin, or spaCy is not installed.
    """
    with needs("spacy", "spaCy"):
        import spacy
        from spacy.tokens import DocBin

    packed = file.read()
    _check(packed, path)
    with read_by_library(path, "DocBin"):
        # A vocabulary without a language does not recognise white space.
        documents = DocBin().from_bytes(packed).get_docs(spacy.blank("xx").vocab)
    file_name = base_name(path)
    for number in count(1):
        with read_by_library(path, "DocBin"):
            document = next(documents, None)
        if document is None:
            return
        name, metadata = _name_and_metadata(document, f"{file_name}#{number}")
        yield from Carried().give_document(name, metadata, _items(document, number, name, path))


def _check(packed: bytes, path: str) -> None:
    """Refuse bytes that are not compressed as a DocBin is, or that expand as a decompression bomb does."""
    unpacking, expanded = zlib.decompressobj(), 0
    try:
        block = unpacking.decompress(packed, BLOCK_BYTES)
        while block:
            expanded += len(block)
            check_expansion(expanded, len(packed), path=path)
            block = unpacking.decompress(unpacking.unconsumed_tail, BLOCK_BYTES)
    except zlib.error as error:
        raise InputError(f"is no DocBin of spaCy: {error}", path=path) from error
    if not unpacking.eof:
        raise InputError("is no DocBin of spaCy, or is cut short", path=path)


def _name_and_metadata(document: Doc, otherwise: str) -> tuple[str, list[str]]:
    """Return the name of a document, and its metadata as comments of CoNLL-U."""
    of_itself, metadata_of = _metadata_of(document)
    # A name under `metadata` is used if the document has no other.
    names = [(values, key) for values in (of_itself, metadata_of) for key in NAMES if key in values]
    name = names[0][0].pop(names[0][1]) if names else otherwise
    return name, [document_comment(key, value) for key, value in (metadata_of | of_itself).items()]


def _items(document: Doc, number: int, name: str, path: str) -> Iterator[Item]:
    if not document.has_annotation("SENT_START"):
        annotated = [name for name in _OF_TOKENS if document.has_annotation(name)]
        if annotated:
            message = f"it has {annotated[0]}, but no sentences; run spaCy's sentencizer or parser before"
            yield Rejection(path, number, name, "sentences", message)
        elif text := clean_text(document.text).strip():
            yield RawText(text, number)
        return
    trees = document.has_annotation("DEP")
    for span in document.sents:
        tokens = list(span)
        sentence = spacy_sentence(tokens, clean_text(span.text).strip())
        if not sentence.forms:
            continue
        sentence.line = number
        sentence.marks = tuple(_marks(tokens))
        if not trees:
            sentence.heads = sentence.deprels = None
        for column in ("lemmas", "upos", "xpos", "feats"):
            if set(getattr(sentence, column)) == {ABSENT}:
                setattr(sentence, column, None)
        yield finish_sentence(sentence, path)


def _metadata_of(document: Doc) -> tuple[dict[str, str], dict[str, str]]:
    """Return the metadata of a document itself, and those under its key `metadata`."""
    values: dict[object, object] = {}
    metadata: Mapping[object, object] = {}
    for key, value in document.user_data.items():
        if key == "metadata" and isinstance(value, Mapping):
            metadata = value
        elif isinstance(key, str):
            values[key] = value
        elif isinstance(key, tuple) and len(key) > 1 and key[0] == "._." and key[2:] in ((), (None, None)):
            values[key[1]] = value  # an extension of the document, not of one of its tokens
    return _texts({**values, **document.cats}), _texts(metadata)


def _texts(values: Mapping[object, object]) -> dict[str, str]:
    return {
        str(key): clean_text(str(value)).strip()
        for key, value in values.items()
        if isinstance(value, str | int | float | bool) and str(value).strip()
    }


def _marks(tokens: Sequence[Token]) -> Iterator[Mark]:
    """Yield where entities begin and end, counted in the words before that are no white space."""
    region, behind = None, 0
    for token in tokens:
        inside = token.ent_iob_ == "I"
        if region is not None and not inside:
            yield Mark(behind, region, begins=False)
            region = None
        if token.is_space:
            continue
        if region is None and token.ent_type_:
            region = Region(ENTITY, (("label", token.ent_type_),))
            yield Mark(behind, region, begins=True)
        behind += 1
    if region is not None:
        yield Mark(behind, region, begins=False)


READER = Reader(
    "docbin",
    "2",
    description="DocBin of spaCy",
    extensions=(".spacy",),
    read_file=read_file,
    trees=True,
    distinct=True,
    extra="spacy",
)
