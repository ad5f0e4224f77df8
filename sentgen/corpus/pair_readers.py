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

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from sentgen.corpus.formats import READERS, UnrecognizedError, detect
from sentgen.corpus.pair_text import PairSettings, RawPair, Text
from sentgen.corpus.readers import jsonl
from sentgen.corpus.readers._columns import FormatError
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader, Source, expand, source_at
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError, Rejection

#: Where JSON objects have their texts and names, the first that is there; all the values of some are several.
DOCUMENT_FIELDS = ("document", "source", "article", "text", "body")
ABSTRACT_FIELDS = (
    "abstract",
    "abstracts",
    "summary",
    "summaries",
    "target",
    "targets",
    "highlights",
    "human",
)
KEY_FIELDS = ("id", "key", "paper_id", "name")
_SEVERAL = frozenset({"abstracts", "summaries", "targets", "target", "human"})

_SIDES = {
    "document": ("document", "documents", "doc", "source", "article", "articles", "text"),
    "abstract": ("abstract", "abstracts", "abs", "summary", "summaries", "target", "human"),
}
_SUFFIX = re.compile(r"(.+)\.(document|abstract)([0-9]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PairFile:
    """One thing that holds pairs: a file, two parallel ones, or the two files of one pair.

    ``sources`` has the documents first; ``key`` is the name of the pair where files are texts.
    """

    kind: str
    sources: tuple[Source, ...]
    key: str = ""

    @property
    def name(self) -> str:
        """What users see."""
        return self.sources[0].name

    def read(self, settings: PairSettings) -> Iterator[RawPair | Rejection]:
        """Yield the pairs and what is wrong with others, in their order."""
        match self.kind:
            case "jsonl":
                return _read_jsonl(self.sources[0], settings)
            case "conllu":
                return _read_conllu(self.sources[0])
            case "conllu-parallel":
                return _read_conllu_parallel(self)
            case "texts":
                return iter([_read_texts(self)])
        return _read_parallel(self)


def pair_files(paths: Sequence[str]) -> Iterator[PairFile]:
    """Yield what holds the pairs that the paths name.

    Raises:
        InputError: a path names nothing, or nothing that holds pairs.
    """
    folders = [path for path in paths if os.path.isdir(path)]
    if len(paths) == 1 and folders:
        found = list(_folder(folders[0]))
        if found:
            return iter(found)
    sources = list(expand(paths))
    kinds = [_kind(source) for source in sources]
    if len(sources) == 2 and not {"jsonl", "conllu"} & set(kinds):
        return iter([PairFile("parallel", (sources[0], sources[1]))])
    if kinds == ["conllu", "conllu"] and not _begins_with_document(sources[1]):
        return iter([PairFile("conllu-parallel", (sources[0], sources[1]))])
    return _single(sources, kinds)


def _single(sources: Sequence[Source], kinds: Sequence[str]) -> Iterator[PairFile]:
    """Yield the files that hold whole pairs; pass over others that the user did not name."""
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
    return iter(files)


def _kind(source: Source) -> str:
    if re.search(r"\.(jsonl|ndjson)(\.(gz|xz|bz2))?$", source.member or source.name):
        return "jsonl"  # its first lines may hold a DEL, which is up to the reader
    try:
        return detect(source)
    except UnrecognizedError:
        return ""


class _JsonLines(LineReader):
    """Lines of JSON, in which DEL may stand unescaped; what becomes of it is up to the pair."""

    def clean(self, block: bytes) -> bytes:
        return super().clean(block.replace(b"\x7f", b"\\u007f"))


def _read_jsonl(source: Source, settings: PairSettings) -> Iterator[RawPair | Rejection]:
    document_fields = (settings.document_field,) if settings.document_field else DOCUMENT_FIELDS
    abstract_fields = (settings.abstract_field,) if settings.abstract_field else ABSTRACT_FIELDS
    for number, line in enumerate(_JsonLines(source, LIMITS), 1):
        if not line.strip():
            continue
        try:
            value = jsonl.parse_object(line)
            key = _key(value) or f"{_base(source.name)}:{number}"
            if settings.replace_controls:
                value = _blanked(value)
            document, abstract = _field(value, document_fields), _field(value, abstract_fields)
            text = _text(value[document], document)
            abstracts = _abstracts(value[abstract], abstract)
        except FormatError as error:
            hint = "; see --replace-controls" if error.check_id == "control-character" else ""
            yield Rejection(source.name, number, "", error.check_id, error.message + hint)
            continue
        for place, one in enumerate(abstracts, 1):
            name = f"{key}#{place}" if len(abstracts) > 1 else key
            yield RawPair(name, text, one, source, source, number)


def _blanked(value: Any) -> Any:
    """Return a JSON value with blanks for control characters in its texts, which nest at most twice."""
    if isinstance(value, str):
        return jsonl.FORBIDDEN_IN_TEXT.sub(" ", value)
    if isinstance(value, list):
        return [_blanked(one) for one in value] if value and isinstance(value[0], (str, list)) else value
    if isinstance(value, dict):
        return {key: _blanked(one) for key, one in value.items() if not isinstance(one, dict)}
    return value


def _field(value: dict[str, Any], names: Iterable[str]) -> str:
    names = tuple(names)
    for name in names:
        if value.get(name):
            return name
    raise FormatError("pair-field", f"none of {', '.join(f'`{name}`' for name in names)} is there, or empty")


def _key(value: dict[str, Any]) -> str | None:
    return next((key for name in KEY_FIELDS if (key := jsonl.name_of(value, name))), None)


def _abstracts(value: object, field: str) -> list[Text]:
    if field in _SEVERAL and isinstance(value, list):
        return [_text(one, field) for one in value]
    return [_text(value, field)]


def _text(value: object, field: str) -> Text:
    """Check a text of a JSON object."""
    if isinstance(value, str):
        return jsonl.check_raw(value)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(jsonl.check_raw(one) for one in value)
    if isinstance(value, list) and all(isinstance(one, list) for one in value):
        return tuple(tuple(jsonl.check_strings(one, field)) for one in value)
    raise FormatError(
        "json", f"`{field}` is neither a string, nor a list of strings, nor one of lists of words"
    )


def _read_parallel(file: PairFile) -> Iterator[RawPair | Rejection]:
    documents, abstracts = file.sources
    split = [_kind(source) == "lines" for source in file.sources]
    base = _base(documents.name)
    for number, (document, abstract) in enumerate(zip_longest(documents.open(), abstracts.open()), 1):
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


def _read_texts(file: PairFile) -> RawPair | Rejection:
    """Read one pair from its two files."""
    sides = []
    for source in file.sources:
        try:
            sentences = list(READERS[detect(source, prose=True)].read(iter(source.open()), path=source.name))
        except UnrecognizedError as error:
            return Rejection(source.name, 1, file.key, "empty-text", error.message)
        fault = next((one for one in sentences if isinstance(one, Rejection)), None)
        if fault is not None:
            return fault
        sides.append(tuple(one for one in sentences if isinstance(one, Sentence)))
    return RawPair(file.key, sides[0], sides[1], file.sources[0], file.sources[1], 1)


def _folder(folder: str) -> Iterator[PairFile]:
    """Yield the pairs of files in a folder, sorted by name."""
    sides: dict[str, dict[str, str]] = {"document": {}, "abstract": {}}
    for side, names in _SIDES.items():
        for name in names:
            inside = os.path.join(folder, name)
            if os.path.isdir(inside):
                sides[side] |= {_stem(file): os.path.join(inside, file) for file in _files(inside)}
    for file in _files(folder):
        base = re.sub(r"\.(txt|text|tok|conllu)$", "", re.sub(r"\.(gz|xz|bz2)$", "", file))
        stem, _, extension = base.rpartition(".")
        for of, names in _SIDES.items():
            if extension in names[:3] and stem:
                sides[of][stem] = os.path.join(folder, file)
    for name in sorted(sides["document"].keys() | sides["abstract"].keys()):
        for side, files in sides.items():
            if name not in files:
                raise InputError(f"{name!r} has no {side} here; every name needs both", path=folder)
        yield PairFile("texts", tuple(source_at(files[name]) for files in sides.values()), key=name)


def _files(folder: str) -> list[str]:
    names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    return [name for name in names if os.path.isfile(os.path.join(folder, name))]


class _Document(NamedTuple):
    """A document of CoNLL-U with what is wrong with its sentences; without a name if none began it."""

    name: str
    line: int
    sentences: tuple[Sentence, ...]
    faults: tuple[Rejection, ...]


def _documents(source: Source) -> Iterator[_Document]:
    """Yield the documents of a CoNLL-U file; one of them is in memory at a time."""
    name, line = "", 1
    sentences: list[Sentence] = []
    faults: list[Rejection] = []
    for found in READERS["conllu"].read(iter(source.open()), path=source.name):
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


def _read_conllu(source: Source) -> Iterator[RawPair | Rejection]:
    """Yield a pair for every abstract; only one document and one abstract are in memory."""
    document: _Document | None = None
    alone = False
    for one in _documents(source):
        match = _SUFFIX.fullmatch(one.name)
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


def _begins_with_document(source: Source) -> bool:
    """Say whether a CoNLL-U file begins with `NAME.document`, so that it holds whole pairs."""
    first = next(READERS["conllu"].read(iter(source.head()), path=source.name), None)
    return first is not None and (first.document or "").endswith(".document")


def _read_conllu_parallel(file: PairFile) -> Iterator[RawPair | Rejection]:
    """Yield a pair for each document of the one file and the abstract of the same id in the other.

    Only one of each is in memory, so that the ids must be in the same order.
    """
    documents, abstracts = file.sources
    seen = set[str]()
    for document, abstract in zip_longest(_named(documents, "document"), _named(abstracts, "abstract")):
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
        seen.add(document.name)
        yield _pair(document.name, document, abstract, (documents, abstracts))


_SAME_IDS = "both files need the same ids in the same order, each once"


def _named(source: Source, side: str) -> Iterator[_Document]:
    """Yield the documents of one side under the names of their pairs; an id may end in its side."""
    for one in _documents(source):
        if one.name and not one.name.startswith(f"{source.name}#"):
            yield one._replace(name=one.name.removesuffix(f".{side}"))
            continue
        if one.faults:
            raise one.faults[0].as_error()
        message = "no `# newdoc id` here, which says which document and abstract are a pair"
        raise InputError(message, path=source.name, line=one.line)


def _base(name: str) -> str:
    return re.split(r"[/\\!]", name)[-1]


def _stem(name: str) -> str:
    return re.sub(r"(\.(txt|text|tok|conllu))?(\.(gz|xz|bz2))?$", "", name)
