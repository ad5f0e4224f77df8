"""Read documents with their abstracts from JSON Lines, parallel text, folders and CoNLL-U.

* JSON Lines: an object a pair, or, with several abstracts, one for each of them (keys `KEY#1`, `KEY#2`, ...).
  A text is a string (raw), a list of strings (sentences) or a list of lists of strings (words).
  `abstracts`, `summaries`, `targets` and `highlights` hold several abstracts, and so does a list in `target`.
* Two files of as many lines: line i of the one is the document, line i of the other its abstract.
* A folder with `NAME.document` and `NAME.abstract`, or with the folders `document` and `abstract` whose files
  have the same names; each file is read as `sentgen ingest` does.
* Two files of CoNLL-U: the documents of the one and the abstracts of the other have the same ids
  (`# newdoc id`) in the same order.
* CoNLL-U whose documents are called `NAME.document` and `NAME.abstract` (`# newdoc id`), the abstract after
  its document; it may have several (`NAME.abstract1`, ...).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Annotated, NamedTuple

from sentgen.corpus.formats import UnrecognizedError, detect, reader_named
from sentgen.corpus.paths import expand, source_at
from sentgen.corpus.readers import conllu, jsonl, text
from sentgen.corpus.readers._columns import FormatError, finish_sentence
from sentgen.corpus.readers.table import refuse_table
from sentgen.corpus.readers.text import blank_separators
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.errors import InputError, Rejection, spell
from sentgen.options import Option

#: Keys of the texts and names in JSON objects; the first that is present is read. Some hold several values.
_DOCUMENT_FIELDS = ("document", "source", "article", "text", "body")
_ABSTRACT_FIELDS = (
    "abstract",
    "abstracts",
    "summary",
    "summaries",
    "target",
    "targets",
    "highlights",
    "human",
)
_KEY_FIELDS = ("id", "key", "paper_id", "name")
_SEVERAL = frozenset({"abstracts", "summaries", "targets", "target", "human"})

_SIDES = {
    "document": ("document", "documents", "doc", "source", "article", "articles", "text"),
    "abstract": ("abstract", "abstracts", "abs", "summary", "summaries", "target", "human"),
}


@dataclass(frozen=True, slots=True)
class PairFile:
    """A source of pairs: one file, two parallel files, or the two files of one pair.

    ``sources`` has the documents first; ``key`` is the name of the pair where files are texts.
    """

    kind: str
    sources: tuple[Source, ...]
    key: str = ""

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.sources[0].name

    @property
    def size(self) -> int:
        """The size of the files in bytes."""
        return sum(source.size for source in self.sources)

    def read(self, settings: PairSettings) -> PairReader:
        """Return a reader of the pairs that also counts the bytes read."""
        return PairReader(self, settings)

    @classmethod
    def of_paths(cls, paths: Sequence[str]) -> list[PairFile]:
        """Return the sources of pairs at some paths.

        Raises:
            InputError: there is no file at a path, or none that holds pairs.
        """
        folders = [path for path in paths if os.path.isdir(path)]
        if len(paths) == 1 and folders:
            pairs = list(_folder(folders[0]))
            if pairs:
                return pairs
        sources = list(expand(paths))
        kinds = [_kind(source) for source in sources]
        # Two files of any other format can only be parallel lines.
        if len(sources) == 2 and not {"jsonl", "conllu"} & set(kinds):
            for source in sources:
                refuse_table(source)
            return [cls("parallel", (sources[0], sources[1]))]
        # Two files that each hold whole pairs are two sources.
        if kinds == ["conllu", "conllu"] and not _begins_with_document(sources[1]):
            return [cls("conllu-parallel", (sources[0], sources[1]))]
        return _single(sources, kinds)


class PairReader:
    """Yields the pairs of a source, and rejections of others, in their order, once.

    ``bytes_read`` of ``file.size`` is the progress.
    """

    def __init__(self, file: PairFile, settings: PairSettings) -> None:
        self.file = file
        reader = _JsonLines if file.kind == "jsonl" else LineReader
        self._lines = [reader(source) for source in file.sources]
        self._found = self._pairs(settings)

    @property
    def bytes_read(self) -> int:
        """The bytes read so far, of all files together."""
        return sum(lines.bytes_read for lines in self._lines)

    def __iter__(self) -> Iterator[RawPair | Rejection]:
        return self._found

    def _pairs(self, settings: PairSettings) -> Iterator[RawPair | Rejection]:
        match self.file.kind:
            case "jsonl":
                return _read_jsonl(self._lines[0], settings)
            case "conllu":
                return _read_conllu(self._lines[0])
            case "conllu-parallel":
                return _read_parallel_conllu(*self._lines)
            case "texts":
                return _read_texts(self.file, self._lines)
        return _read_parallel(*self._lines)


def _single(sources: Sequence[Source], kinds: Sequence[str]) -> list[PairFile]:
    """Return the files that hold whole pairs; others are skipped unless the user named them."""
    files = []
    for source, kind in zip(sources, kinds, strict=True):
        if kind in ("jsonl", "conllu"):
            files.append(PairFile(kind, (source,)))
        elif source.explicit and not source.head():
            raise InputError("is empty", path=source.name)
        elif source.explicit:
            raise InputError(
                "a text alone is no pair; give two files of as many lines, documents first, or JSON Lines",
                path=source.name,
            )
    if not files:
        raise InputError(
            "no pairs here; a folder needs NAME.document and NAME.abstract, document/ and abstract/, "
            "or files of JSON Lines or CoNLL-U",
            path=os.path.commonpath([source.path for source in sources]),
        )
    return files


def _kind(source: Source) -> str:
    if re.search(r"\.(jsonl|ndjson)(\.(gz|xz|bz2))?$", source.member or source.name):
        return "jsonl"  # its first lines may hold a DEL, which is up to the reader
    try:
        return detect(source)
    except UnrecognizedError:
        return ""


class _JsonLines(LineReader):
    """Lines of JSON, which may have an unescaped DEL; the settings of pairs decide what it becomes."""

    def clean(self, block: bytes) -> bytes:
        return super().clean(block.replace(b"\x7f", b"\\u007f"))


def _read_jsonl(lines: LineReader, settings: PairSettings) -> Iterator[RawPair | Rejection]:
    source = lines.source
    document_fields = (settings.document_field,) if settings.document_field else _DOCUMENT_FIELDS
    abstract_fields = (settings.abstract_field,) if settings.abstract_field else _ABSTRACT_FIELDS
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = jsonl.parse_object(line)
            keys = (jsonl.name_of(value, name) for name in _KEY_FIELDS)
            key = next(filter(None, keys), f"{source.base_name}:{number}")
            if settings.replace_controls:
                value = {
                    key: _with_blanks(abstract_text)
                    for key, abstract_text in value.items()
                    if not isinstance(abstract_text, dict)
                }
            document, abstract = _field(value, document_fields), _field(value, abstract_fields)
            document_text = _text(value[document], document)
            given = value[abstract]
            several = given if abstract in _SEVERAL and isinstance(given, list) else [given]
            abstracts = [_text(part, abstract) for part in several]
        except FormatError as error:
            hint = f"; see {spell('replace_controls')}" if error.check_id == "control-character" else ""
            yield Rejection(source.name, number, "", error.check_id, error.message + hint)
            continue
        for number_of_abstract, abstract_text in enumerate(abstracts, 1):
            name = f"{key}#{number_of_abstract}" if len(abstracts) > 1 else key
            yield RawPair(name, document_text, abstract_text, source, source, number)


def _with_blanks(value: object) -> object:
    """Return a JSON value with blanks in place of control characters; its lists nest at most twice."""
    if isinstance(value, str):
        return blank_separators(jsonl.FORBIDDEN_IN_TEXT.sub(" ", value))
    if isinstance(value, list):
        return (
            [_with_blanks(item) for item in value] if value and isinstance(value[0], (str, list)) else value
        )
    return value


def _field(value: dict[str, object], names: Iterable[str]) -> str:
    names = tuple(names)
    for name in names:
        if value.get(name):
            return name
    raise FormatError("pair-field", f"none of {', '.join(f'`{name}`' for name in names)} is there, or empty")


def _text(value: object, field: str) -> Text:
    if isinstance(value, str):
        return jsonl.check_raw(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(jsonl.check_raw(item) for item in value)
    if isinstance(value, list) and all(isinstance(item, list) for item in value):
        return tuple(tuple(jsonl.check_strings(item, field)) for item in value)
    raise FormatError(
        "json", f"`{field}` is neither a string, nor a list of strings, nor one of lists of words"
    )


def _read_parallel(of_documents: LineReader, of_abstracts: LineReader) -> Iterator[RawPair | Rejection]:
    documents, abstracts = of_documents.source, of_abstracts.source
    split = [_kind(source) == "lines" for source in (documents, abstracts)]
    base = documents.base_name
    for number, (document, abstract) in enumerate(zip_longest(of_documents, of_abstracts), 1):
        if document is None or abstract is None:
            short = documents if document is None else abstracts
            raise InputError(
                f"ends before line {number} of the other file; line i belongs to line i",
                path=short.name,
            )
        if not document.strip() and not abstract.strip():
            continue
        sides: list[Text] = [
            (tuple(line.split()),) if words else line
            for line, words in zip((document, abstract), split, strict=True)
        ]
        yield RawPair(f"{base}:{number}", sides[0], sides[1], documents, abstracts, number)


def _read_texts(file: PairFile, readers: Sequence[LineReader]) -> Iterator[RawPair | Rejection]:
    """Yield the one pair of two files."""
    sides = []
    for source, lines in zip(file.sources, readers, strict=True):
        try:
            reader = reader_named(detect(source, prose=True))
            sentences = list(read_source(reader, lines))
        except UnrecognizedError as error:
            yield Rejection(source.name, 1, file.key, "empty-text", error.message)
            return
        fault = next((result for result in sentences if isinstance(result, Rejection)), None)
        if fault is not None:
            yield fault
            return
        sides.append(tuple(result for result in sentences if isinstance(result, Sentence)))
    yield RawPair(file.key, sides[0], sides[1], file.sources[0], file.sources[1], 1)


def _folder(folder: str) -> Iterator[PairFile]:
    sides: dict[str, dict[str, str]] = {"document": {}, "abstract": {}}
    for side, names in _SIDES.items():
        for name in names:
            inside = os.path.join(folder, name)
            if os.path.isdir(inside):
                sides[side] |= {_stem(file): os.path.join(inside, file) for file in _files(inside)}
    for file in _files(folder):
        stem, _, extension = _stem(file).rpartition(".")
        for side_name, names in _SIDES.items():
            if extension in names[:3] and stem:
                sides[side_name][stem] = os.path.join(folder, file)
    for name in sorted(sides["document"].keys() | sides["abstract"].keys()):
        for side, files in sides.items():
            if name not in files:
                raise InputError(f"{name!r} has no {side} here; every name needs both", path=folder)
        yield PairFile("texts", tuple(source_at(files[name]) for files in sides.values()), key=name)


def _files(folder: str) -> list[str]:
    names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    return [name for name in names if os.path.isfile(os.path.join(folder, name))]


def _stem(name: str) -> str:
    return re.sub(r"(\.(txt|text|tok|conllu))?(\.(gz|xz|bz2))?$", "", name)


#: Version of the tokenisation, a part of the hash of a pair.
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
    """A pair before tokenisation, so that pairs that are stored already are only read and hashed.

    ``document_source`` and ``abstract_source`` are the sources of the texts; ``line`` is the document's line.
    """

    key: str
    document: Text
    abstract: Text
    document_source: Source
    abstract_source: Source
    line: int

    def sha256(self, settings: PairSettings) -> str:
        """Return the hash of the texts and the settings that decide what is stored."""
        # As JSON, so that no two lists of texts look the same.
        given = [VERSION, self.key, _plain(self.document), _plain(self.abstract)]
        made = json.dumps([*given, settings.tokenized, settings.document_words])
        return hashlib.sha256(made.encode()).hexdigest()

    def tokenize(self, settings: PairSettings) -> TokenizedPair | Rejection:
        """Split both texts into sentences and words; the first invalid sentence rejects the pair."""
        path = self.document_source.name
        sides: list[tuple[Sentence, ...]] = []
        for name, given, most in (
            ("document", self.document, settings.document_words),
            ("abstract", self.abstract, 0),
        ):
            sentences = tuple(_first(_sentences(given, path, self.line, settings), most))
            fault = next((sentence for sentence in sentences if isinstance(sentence, Rejection)), None)
            if fault is not None:
                return Rejection(path, self.line, self.key, fault.check, f"{fault.message}, in the {name}")
            if not sentences:
                return Rejection(path, self.line, self.key, "empty-text", f"the {name} has no words")
            sides.append(tuple(sentence for sentence in sentences if isinstance(sentence, Sentence)))
        return TokenizedPair(self.key, sides[0], sides[1])


def _plain(given: Text) -> object:
    if isinstance(given, str):
        return given
    return [part.forms if isinstance(part, Sentence) else part for part in given]


def _sentences(given: Text, path: str, line: int, settings: PairSettings) -> Iterator[Sentence | Rejection]:
    if isinstance(given, str):
        given = (given,)
        pieces = chain.from_iterable(
            text.read_raw(text.blank_separators(part).splitlines(), path=path) for part in given
        )
        raw: Iterable[RawText] = (RawText(piece.text, line) for piece in pieces)
    else:
        raw = (RawText(part.strip(), line, whole=True) for part in given if isinstance(part, str))
    if settings.tokenized:
        raw_words = (piece.text.split() for piece in raw)
        yield from (finish_sentence(Sentence(words, line=line), path) for words in raw_words if words)
    else:
        yield from chain.from_iterable(text.tokenize_raw(piece, path=path) for piece in raw if piece.text)
    for part in given:
        if isinstance(part, Sentence):
            yield part
        elif not isinstance(part, str) and part:
            yield finish_sentence(Sentence(list(part), line=line), path)


def _first(sentences: Iterator[Sentence | Rejection], words: int) -> Iterator[Sentence | Rejection]:
    """Yield the first sentences with at most so many words, at least one; all if ``words`` is 0."""
    total = 0
    for sentence in sentences:
        size = len(sentence.forms) if isinstance(sentence, Sentence) else 0
        if words and total and total + size > words:
            return
        total += size
        yield sentence


#: Name endings of documents and abstracts, or of the files of texts.
_SUFFIX = re.compile(r"(.+)\.(document|abstract)([0-9]*)", re.DOTALL)
_SAME_IDS = "both files need the same ids in the same order, each once"


class _Document(NamedTuple):
    """A document of CoNLL-U with the rejections of its sentences; without a name if no `newdoc` began it."""

    name: str
    line: int
    sentences: tuple[Sentence, ...]
    faults: tuple[Rejection, ...]


def _documents(lines: LineReader) -> Iterator[_Document]:
    """Yield the documents of a CoNLL-U file; one of them is in memory at a time."""
    name, line = "", 1
    sentences: list[Sentence] = []
    faults: list[Rejection] = []
    for result in conllu.read(lines, path=lines.source.name):
        # A document begins with its first sentence, and again with its first good one.
        if result.document is not None and (sentences or result.document != name):
            if sentences or faults:
                yield _Document(name, line, tuple(sentences), tuple(faults))
            name, line, sentences, faults = result.document, result.line, [], []
        if isinstance(result, Rejection):
            faults.append(result)
        else:
            result.document = None
            sentences.append(result)
    if sentences or faults:
        yield _Document(name, line, tuple(sentences), tuple(faults))


def _read_conllu(lines: LineReader) -> Iterator[RawPair | Rejection]:
    """Yield a pair for every abstract; only one document and one abstract are in memory."""
    source = lines.source
    document: _Document | None = None
    alone = False
    for current in _documents(lines):
        match = _SUFFIX.fullmatch(current.name)
        if match is None:
            message = f"document {current.name!r} is neither NAME.document nor NAME.abstract"
            named = Rejection(source.name, current.line, current.name, "pair-name", message)
            yield current.faults[0] if current.faults else named
        elif match[2] == "document":
            if document and alone:
                yield _without_abstract(document, source)
            document, alone = current, True
        elif document is None or document.name != f"{match[1]}.document":
            message = f"the abstract {current.name!r} does not follow its document {match[1]}.document"
            yield Rejection(source.name, current.line, current.name, "pair-name", message)
        else:
            alone = False
            key = f"{match[1]}#{match[3]}" if match[3] else match[1]
            yield _pair(key, document, current, (source, source))
    if document and alone:
        yield _without_abstract(document, source)


def _without_abstract(document: _Document, source: Source) -> Rejection:
    message = f"the document {document.name!r} has no abstract behind it"
    return Rejection(source.name, document.line, document.name, "pair-name", message)


def _pair(
    key: str, document: _Document, abstract: _Document, sources: tuple[Source, Source]
) -> RawPair | Rejection:
    """Return a pair, or the rejection of its first invalid sentence."""
    if faults := document.faults + abstract.faults:
        return faults[0]
    return RawPair(key, document.sentences, abstract.sentences, *sources, document.line)


def _begins_with_document(source: Source) -> bool:
    """Return whether a CoNLL-U file begins with `NAME.document`, so that it holds whole pairs."""
    first = next(conllu.read(source.head(), path=source.name), None)
    return first is not None and (first.document or "").endswith(".document")


def _read_parallel_conllu(
    of_documents: LineReader, of_abstracts: LineReader
) -> Iterator[RawPair | Rejection]:
    """Yield a pair for each document of the one file and the abstract of the same id in the other.

    Only one of each is in memory, so that the ids must be in the same order.
    """
    documents, abstracts = of_documents.source, of_abstracts.source
    seen = set[str]()
    for document, abstract in zip_longest(
        _named_documents(of_documents, "document"), _named_documents(of_abstracts, "abstract")
    ):
        if document is None or abstract is None:
            short, other = (documents, abstracts) if document is None else (abstracts, documents)
            there = document or abstract
            message = f"ends before {there.name!r} ({other.name}:{there.line}); {_SAME_IDS}"
            raise InputError(message, path=short.name)
        for current, source in ((document, documents), (abstract, abstracts)):
            if current.name in seen:
                message = f"the id {current.name!r} is there twice; {_SAME_IDS}"
                raise InputError(message, path=source.name, line=current.line)
        if document.name != abstract.name:
            where = f"{documents.name}:{document.line}"
            message = f"{abstract.name!r} stands where {document.name!r} belongs ({where}); {_SAME_IDS}"
            raise InputError(message, path=abstracts.name, line=abstract.line)
        # The ids of both sides, which must be equal.
        seen.add(document.name)
        yield _pair(document.name, document, abstract, (documents, abstracts))


def _named_documents(lines: LineReader, side: str) -> Iterator[_Document]:
    """Yield the documents of one side under the names of their pairs; an id may end in its side."""
    source = lines.source
    for document in _documents(lines):
        if document.name and not document.name.startswith(f"{source.name}#"):
            yield document._replace(name=document.name.removesuffix(f".{side}"))
            continue
        if document.faults:
            raise document.faults[0].as_error()
        message = "no `# newdoc id` here, which says which document and abstract are a pair"
        raise InputError(message, path=source.name, line=document.line)
