"""The formats that can be read, those of plug-ins included, and the detection of a source's format.

The items that a reader of a plug-in yields are checked, and errors name the plug-in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sentgen.corpus import readers
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import conllu, lines, table, text, wsj
from sentgen.corpus.readers._columns import finish_sentence
from sentgen.corpus.readers._xml import root_of
from sentgen.corpus.readers.jsonl import FORBIDDEN
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import Source
from sentgen.corpus.tables import read_csv
from sentgen.entry_points import Plugin, Registry
from sentgen.errors import InputError, PluginError, Rejection, spell
from sentgen.output.tabular import Rows
from sentgen.output.wording import near, quantity

_TEXTS = ("forms", "lemmas", "upos", "xpos", "feats", "deprels")
_NUMBERS = ("heads", "nps")
#: Fields of sentences from CoNLL-U only, so that a file can be written again byte for byte.
_OF_CONLLU = ("ranges", "empty_nodes", "comments", "verbatim")


def _of_plugin(plugin: Plugin, given: object) -> Reader:
    """Return the reader of a plug-in, under guard.

    Raises:
        PluginError: what the entry point names is no reader.
    """
    reader = plugin.of_kind(given, Reader)
    plugin.check_called(reader.name)
    extensions = reader.extensions
    if isinstance(extensions, str) or not all(extension.startswith(".") for extension in extensions):
        raise PluginError(
            "has extensions that are no tuple of texts such as ('.tagged',); its authors must change that",
            plugin=plugin,
        )
    fits = reader.fits
    return replace(
        reader,
        read=_Guarded(plugin, reader.read, (Sentence, Rejection)),
        read_raw=_Guarded(plugin, reader.read_raw, (Sentence, Rejection, RawText))
        if reader.read_raw
        else None,
        fits=plugin.at_work()(lambda sample: bool(fits(sample))) if fits else None,
    )


@dataclass(frozen=True, slots=True)
class _Guarded:
    """Calls the reader of a plug-in, and checks each item that it yields."""

    plugin: Plugin
    read: Callable[..., Iterable[object]]
    gives: tuple[type, ...]

    def __call__(self, lines: Iterable[str], *, path: str, **settings: str) -> Iterator[Any]:
        taken = 0

        def counted() -> Iterator[str]:
            nonlocal taken
            for line in lines:
                taken += 1
                yield line

        with self.plugin.at_work(lambda: (path, taken)):
            for item in self.read(counted(), path=path, **settings):
                if not isinstance(item, self.gives):
                    names = ", ".join(kind.__name__ for kind in self.gives)
                    message = f"gives a {type(item).__name__}, which is none of {names}; tell its authors"
                    raise PluginError(message, plugin=self.plugin, path=path, line=taken)
                yield self._check_sentence(item, path) if isinstance(item, Sentence) else item

    def _check_sentence(self, sentence: Sentence, path: str) -> Sentence | Rejection:
        """Return the sentence, or a rejection with the check that it fails.

        Raises:
            PluginError: a field of the sentence has the wrong type.
        """
        wrong = next(_misfits(sentence), "")
        if wrong:
            message = f"gives a sentence whose {wrong}; tell its authors"
            raise PluginError(message, plugin=self.plugin, path=path, line=sentence.line)
        failed = _failed_check(sentence)
        if failed is not None:
            return Rejection(path, sentence.line, sentence.sent_id, *failed)
        return finish_sentence(sentence, path)


def _misfits(sentence: Sentence) -> Iterator[str]:
    """Yield the fields of the wrong type, with the type that they must have."""
    if type(sentence.line) is not int:
        yield "line is no whole number"
    for name in _TEXTS:
        if not _all_of(getattr(sentence, name), list, str, optional=name != "forms"):
            yield f"{name} are no list of texts"
    for name in _NUMBERS:
        if not _all_of(getattr(sentence, name), list, int):
            yield f"{name} are no list of whole numbers"
    if not _all_of(sentence.space_after, list, bool):
        yield "space_after is no list of true and false"
    for name in ("deps", "misc"):
        if not _all_of(getattr(sentence, name), tuple, str):
            yield f"{name} is no tuple of texts"
    if not _all_of(sentence.metadata, list, str, optional=False):
        yield "metadata is no list of texts"
    if not all(type(value) is str for value in (sentence.sent_id, sentence.text, sentence.document or "")):
        yield "sent_id, text or document is no text"
    if not all(
        type(value) is tuple and [type(part) for part in value] == [int, int, str]
        for value in sentence.multiwords
    ):
        yield "multiwords are not (first, last, form)"
    for name in _OF_CONLLU:
        if getattr(sentence, name):
            yield f"{name} are filled, which is for CoNLL-U only"


def _all_of(values: object, container: type, item_kind: type, *, optional: bool = True) -> bool:
    """Return whether values are a list or tuple of one type; bool does not count as a number here."""
    if values is None:
        return optional
    return (
        isinstance(values, list | tuple) and type(values) is container and {*map(type, values)} <= {item_kind}
    )


def _failed_check(sentence: Sentence) -> tuple[str, str] | None:
    """Return the check that a sentence of the right types fails, of those that text lines cannot fail."""
    texts = {name: getattr(sentence, name) or () for name in (*_TEXTS, "deps", "misc", "metadata")}
    texts["names"] = (sentence.sent_id, sentence.document or "", sentence.text)
    texts["multiwords"] = [form for _, _, form in sentence.multiwords]
    for name, values in texts.items():
        if any(map(FORBIDDEN.search, values)):
            return "control-character", f"a control character or lone surrogate in `{name}`"
    size, end = len(sentence.forms), 0
    for name in ("deps", "misc"):
        if texts[name] and len(texts[name]) != size:
            return "column-length", f"{len(texts[name])} of {name} for {quantity(size, 'token')}"
    for first, last, _ in sentence.multiwords:
        if not end < first < last <= size:
            return "id-range", f"no multiword can have the tokens {first} to {last}"
        end = last
    return None


class UnrecognizedError(InputError):
    """The source is empty, or its format cannot be recognized."""


#: Formats whose lines may be those of another format, the stricter first: every CoNLL-U is CoNLL-X as well,
#: and `{` and `(` are words, too. Other formats are tried before these.
_STRICTER_FIRST = (
    "tei",
    "folia",
    "conllup",
    "conllu",
    "conllx",
    "jsonl",
    "vertical",
    "mrg",
    "dp",
    "conll2000",
    "pos",
)


def _built_in_readers() -> dict[str, Reader]:
    """Return the readers in the modules of `sentgen.corpus.readers`, by name."""
    modules = (name for _, name, _ in iter_modules(readers.__path__) if not name.startswith("_"))
    members = [vars(import_module(f"{readers.__name__}.{name}")).values() for name in modules]
    found = {member.name: member for each in members for member in each if isinstance(member, Reader)}
    return dict(sorted(found.items()))


READERS = _built_in_readers()
_TRIED = [
    *(reader for name, reader in READERS.items() if name not in _STRICTER_FIRST),
    *(READERS[name] for name in _STRICTER_FIRST),
]

#: Extensions of formats that do not identify the format.
_USUAL = {"folia": ".xml", "tei": ".xml", "wsj": ".mrg"}
#: The formats of plain text.
_PLAIN = (text.READER, lines.READER)
_BY_EXTENSION = {extension: reader.name for reader in READERS.values() for extension in reader.extensions}
#: Extensions of tables of lines: the column of text must be named; formats of tokens have these extensions,
#: too.
_TABLES = {extension: reader for reader in (table.CSV, table.TSV) for extension in reader.extensions}
#: Extensions of prose; files with other extensions must look like prose.
_OPEN_EXTENSIONS = frozenset({"", ".txt", ".text", ".rst", ".adoc"})
#: A word of prose, with the punctuation around it; code and tables have other words.
_WORD = re.compile(r"[^\w={}<>\\|@$^+~#]*[^\W\d_]+(?:['’-][^\W\d_]+)*[^\w={}<>\\|@$^+~#]*")
_SENTENCE_END = re.compile(r"\w[.!?…][\"')\]”’»]?(?=\s|$)", re.MULTILINE)
#: Least share of such words, which nearly all prose has, and hardly any code: 0.92 of newspaper text, 0.85 of
#: Python with many docstrings.
_WORDS = 0.9
#: The beginning of files of XML and HTML, and closing tags, which `<unk>` never is.
_MARKUP = re.compile(r"\s*<(?:\?xml|!doctype|html|tei)\b", re.IGNORECASE)
_CLOSING = re.compile(r"</[A-Za-z][\w:.-]*\s*>")
#: Closing tags for each word from which on a text is not prose with occasional tags.
_TAGS = 0.02
_APART = re.compile(r"(?:^|\s)(?:[.,!?;:]|'s|n't|``|''|<unk>)(?=\s|$)")
_ATTACHED = re.compile(r"\w[.,!?;:][\"')\]”’]?(?=\s|$)")

#: Bytes that identify a binary file.
_MAGIC = 16
#: The warning on XML and HTML that is read as plain text.
MARKUP_WARNING = "this is XML or HTML, and its tags are words now; take its text out of it"

#: Files in the folder of a corpus that are no part of it, unless the user names them.
_ABOUT = re.compile(
    r"(readme|licen[cs]e|copying|copyright|notice|changes|changelog|contributing|authors|citation)(?![a-z])",
    re.IGNORECASE,
)

#: Bags of words may also be in these formats.
_REGISTRY = Registry("reader", READERS, _of_plugin, reserved=("bags", "json"))


def reader_named(name: str, besides: Iterable[str] = ()) -> Reader:
    """Return the reader of a format, possibly of a plug-in; ``besides`` are further names for the message.

    Raises:
        InputError: there is no such format.
        PluginError: the reader is that of a plug-in, and cannot be used.
    """
    reader = _REGISTRY.find(name)
    if reader is None:
        raise InputError(f"no format {name!r}; there are: {', '.join([*besides, *_REGISTRY.names()])}")
    return reader


def check_format(name: str | None, besides: Iterable[str] = ()) -> None:
    """Refuse the name of an unknown format; ``besides`` are further known names.

    Raises:
        InputError: there is no format of that name.
        PluginError: the reader is that of a plug-in, and cannot be used.
    """
    if name is not None and name not in besides:
        reader_named(name, besides)


def overview() -> tuple[Rows, list[str]]:
    """Return a row for each format, and the errors of those that cannot be loaded."""
    there, wrong = _REGISTRY.listed()
    listed = [
        (name, package, " ".join(reader.extensions), reader.description, reader.extra, _example(reader))
        for name, package, reader in there
    ]
    columns = ["format", "package", "extensions", "description", "extra", "example"]
    return Rows(columns, listed), wrong


def _example(reader: Reader) -> str:
    extension = next(iter(reader.extensions), _USUAL.get(reader.name, ".txt"))
    # The settings that the extension does not imply.
    form = "" if reader.extensions or reader in _PLAIN else f" --format {reader.name}"
    needed = f" {reader.needed}" if reader.needed else ""
    return f"sentgen ingest FILE{extension} --corpus NAME{form}{needed}"


def detect(source: Source, *, prose: bool = False, given: Collection[str] | None = None) -> str:
    """Return the name of the format of a source, from its extension or else its first lines.

    A `.mrg` or `.dp` file with its tagged file beside it is `wsj`. Plain text is `lines` if its punctuation
    is separated from the words, else `text`; a file with an unknown extension is plain text if it looks like
    prose, or, with ``prose``, if it is in no other format. Plug-ins are tried where the extension is neither
    a built-in one nor one of prose. A file with the extension of a table is a table if the settings ``given``
    name its column of text, or tokens in columns, and never prose; without settings, no column can be named.

    Raises:
        UnrecognizedError: The source is empty, or its format cannot be told.
        InputError: Its name tells the format, and it cannot be read.
    """
    extension = source.extension
    if (of_file := _of_file(source, extension)) is not None:
        if of_file in table.READERS and given is None:
            raise UnrecognizedError(table.NOT_HERE, path=source.name)
        return of_file.name
    is_table = extension in _TABLES
    if is_table and table.TEXT in (given or ()):
        return _TABLES[extension].name
    sample = _sample(source, extension)
    if extension in _BY_EXTENSION and not is_table:
        name = _BY_EXTENSION[extension]
        if name == "conllu" and conllu.PLUS.fits and conllu.PLUS.fits(sample):
            return conllu.PLUS.name
        return "wsj" if name in ("dp", "mrg") and wsj.partner(source.name) else name
    usable, wrong = _REGISTRY.listed() if extension not in _OPEN_EXTENSIONS else ([], [])
    added = [reader for _, _, reader in usable[len(READERS) :]]
    for reader in added:
        if extension in reader.extensions:
            return reader.name
    # The first format that fits.
    for reader in (*_TRIED, *added):
        # `Rome/Italy,1990` is a tagged word elsewhere.
        if reader.fits and reader.fits(sample) and not (is_table and reader is wsj.POS):
            return reader.name
    if is_table:
        raise _unnamed_column(source, extension, named=given is not None)
    if prose or extension in _OPEN_EXTENSIONS or _is_prose(sample):
        joined = "\n".join(sample)
        return "lines" if len(_APART.findall(joined)) > len(_ATTACHED.findall(joined)) else "text"
    raise _unrecognized(source, extension, sample, next(iter(wrong), ""))


def _sample(source: Source, extension: str) -> list[str]:
    """Return the first lines of a source that are not blank.

    Raises:
        UnrecognizedError: the source has only blank lines or is no text, and its extension is of no format.
        InputError: the source is no text.
    """
    try:
        sample = [line for line in source.head(lone_returns=extension in _TABLES) if line.strip()]
    except InputError as error:
        if extension in _BY_EXTENSION:
            raise
        message = f"{error.message}{_nearest(extension)}"
        raise UnrecognizedError(message, path=error.path, line=error.line) from error
    if not sample:
        raise UnrecognizedError("is empty", path=source.name)
    return sample


def _unrecognized(source: Source, extension: str, sample: list[str], wrong: str) -> UnrecognizedError:
    """Return the error that a source is in no format; ``wrong`` is that of a plug-in that may read it."""
    if _is_markup(sample):
        root = f" with the root {root}" if (root := root_of(sample)) else ""
        message = (
            f"is XML or HTML{root}, whose tags would be words; only TEI and FoLiA are read: "
            f"take its text out, or give {spell('format')}"
        )
    else:
        plugin = f"; it may be one of a plug-in that cannot be used: {wrong}" if wrong else ""
        message = (
            f"cannot tell the format; give {spell('format')}{plugin}{_nearest(extension)};"
            f" there are: {', '.join(_REGISTRY.names())}"
        )
    return UnrecognizedError(message, path=source.name)


def _nearest(extension: str) -> str:
    """Return a hint at the format with a similar extension, if there is one."""
    nearest = near(extension, _BY_EXTENSION, most=1) if len(extension) > 1 else []
    return f"; the nearest by its extension is {_BY_EXTENSION[nearest[0]]} ({nearest[0]})" if nearest else ""


def choose_reader(source: Source, form: str | None, given: Mapping[str, object]) -> Reader | str:
    """Return the reader of a source, or the reason why it is skipped: it is no part of the corpus.

    ``form`` is the name of its format, if it is known; ``given`` are settings of readers, by name, which the
    format of a source that the user named must have.

    Raises:
        UnrecognizedError: the user named the source, and its format cannot be told.
        InputError: its format does not take a setting.
    """
    if not source.explicit and _ABOUT.match(source.base_name):
        return "is about the corpus, by its name"
    try:
        reader = reader_named(form or detect(source, given=given))
        if reader in table.READERS and table.TEXT not in given and not source.explicit:
            return f"is a table; name the column of its texts with {spell('text')}"
    except UnrecognizedError as error:
        if source.explicit:
            raise
        return error.message
    if source.explicit:
        _check_settings(source, reader, given)
    return reader.with_settings(given)


def _check_settings(source: Source, reader: Reader, given: Mapping[str, object]) -> None:
    for name in given:
        if name in ("language", "encoding") or name in reader.settings:
            continue
        takers = ", ".join(taker.name for taker in READERS.values() if name in taker.settings)
        raise InputError(f"{spell(name)} is for {takers}; this is {reader.name}", path=source.name)


def _unnamed_column(source: Source, extension: str, *, named: bool) -> UnrecognizedError:
    """Return the error on a table without a named column: lists its columns, or says why it is no table."""
    if not named:
        return UnrecognizedError(table.NOT_HERE, path=source.name)
    content = source.open()
    content.lone_returns = True
    delimiter = table.DELIMITERS[_TABLES[extension].name]
    try:
        columns = read_csv(content, path=source.name, delimiter=delimiter).most_text_first()
    except InputError as error:
        return UnrecognizedError(error.message, path=error.path, line=error.line)
    message = (
        f"is a table; say which column is the text, {spell('text')} COLUMN, or give"
        f" {spell('format')}; its columns: {columns}"
    )
    return UnrecognizedError(message, path=source.name)


def takes_tags_for_words(reader: Reader, source: Source) -> bool:
    """Return whether a source is XML or HTML that is read as plain text."""
    return reader.name in (plain_reader.name for plain_reader in _PLAIN) and _is_markup(source.head())


def _is_markup(sample: list[str]) -> bool:
    """Return whether the first lines of a text are XML or HTML.

    >>> _is_markup(["<p>One.</p>"]), _is_markup(["a <unk> b < c"])
    (True, False)
    """
    joined = "\n".join(sample)
    words = len(joined.split())
    return bool(_MARKUP.match(joined)) or len(_CLOSING.findall(joined)) > _TAGS * words


def _of_file(source: Source, extension: str) -> Reader | None:
    """Return the format of a file that does not consist of lines, by its extension or its first bytes."""
    named = READERS.get(_BY_EXTENSION.get(extension, ""))
    if named is not None and named.read_file is not None and not named.fits:
        return named if source.size else None
    begins = next(source.open().blocks(_MAGIC), b"")
    return next(
        (candidate for candidate in _TRIED if begins.startswith(candidate.begins or (b"\0\0",))), None
    )


def _is_prose(sample: list[str]) -> bool:
    """Return whether the first lines are sentences of words, and not markup, a table or a program."""
    joined = "\n".join(sample)
    words = joined.split()
    if _is_markup(sample) or "\t" in joined or not _SENTENCE_END.search(joined):
        return False
    return sum(_WORD.fullmatch(word) is not None for word in words) >= _WORDS * len(words)
