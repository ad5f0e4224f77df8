"""The formats that can be read, and which one a source is in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from sentgen.corpus.readers import conll2000, conllu, conllx, dp, jsonl, lines, mrg, pos, text, wsj
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.sources import COMPRESSED, Source
from sentgen.errors import InputError, Rejection


class UnrecognizedError(InputError):
    """A source that is empty, or in no format that can be told."""


class Read(Protocol):
    """What a reader does: lines in, sentences and rejections out."""

    def __call__(self, lines: Iterator[str], *, path: str) -> Iterator[Sentence | Rejection]: ...


class ReadRaw(Protocol):
    """The same where raw text stays raw, for a parser with a tokenizer of its own."""

    def __call__(self, lines: Iterator[str], *, path: str) -> Iterator[Sentence | Rejection | RawText]: ...


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: ``version`` changes when its output does; ``extensions`` are those that mean this format.

    A format that may hold raw text has ``read_raw`` too.
    """

    name: str
    version: str
    read: Read
    extensions: tuple[str, ...]
    description: str
    read_raw: ReadRaw | None = None


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("conll2000", conll2000.VERSION, conll2000.read, (), "CoNLL-2000 chunks: form, tag, BIO chunk"),
        Reader("conllu", conllu.VERSION, conllu.read, (".conllu",), "CoNLL-U (Universal Dependencies)"),
        Reader("conllx", conllx.VERSION, conllx.read, (".conllx",), "CoNLL-X dependencies"),
        Reader("dp", dp.VERSION, dp.read, (".dp",), "form, tag and head of the Penn Treebank"),
        Reader(
            "jsonl",
            jsonl.VERSION,
            jsonl.read,
            (".jsonl", ".ndjson"),
            "JSON Lines: tokens, sentences or text",
            jsonl.read_raw,
        ),
        Reader("lines", lines.VERSION, lines.read, (".lines", ".tok"), "one tokenised sentence a line"),
        Reader("mrg", mrg.VERSION, mrg.read, (".mrg",), "Penn Treebank trees"),
        Reader("pos", pos.VERSION, pos.read, (".pos",), "Penn Treebank words, tags and base NP brackets"),
        Reader(
            "text", text.VERSION, text.read, (), "raw text: split into sentences and tokens", text.read_raw
        ),
        Reader("wsj", wsj.VERSION, wsj.read, (), "a .dp file merged with the brackets of its .pos file"),
    )
}

_BY_EXTENSION = {extension: reader.name for reader in READERS.values() for extension in reader.extensions}
#: Extensions that prose has; a file with another one is not taken for prose.
_OPEN_EXTENSIONS = frozenset({"", ".txt", ".text"})
_CHUNK_LINE = re.compile(r"\S+[ \t]\S+[ \t](O|[BI]-\w+)")
_DP_LINE = re.compile(r"[^\t]+\t[^\t]+\t\d+")
_APART = re.compile(r"(?:^|\s)(?:[.,!?;:]|'s|n't|``|''|<unk>)(?=\s|$)")
_ATTACHED = re.compile(r"\w[.,!?;:][\"')\]”’]?(?=\s|$)")


def detect(source: Source, *, prose: bool = False) -> str:
    """Return the name of the format of a source, from its extension or else its first lines.

    A `.dp` file with its tagged file beside it is `wsj`. Plain text is `lines` if its punctuation stands
    apart from the words, else `text`. With ``prose``, what is in no other format is plain text, whatever its
    extension.

    Raises:
        UnrecognizedError: The source is empty, or its format cannot be told.
        InputError: Its name tells the format, and it cannot be read.
    """
    extension = _extension(source.member or source.name)
    try:
        sample = [line for line in source.head() if line.strip()]
    except InputError as error:
        if extension in _BY_EXTENSION:
            raise
        raise UnrecognizedError(error.message, path=error.path, line=error.line) from error
    if not sample:
        raise UnrecognizedError("is empty", path=source.name)
    if extension in _BY_EXTENSION:
        name = _BY_EXTENSION[extension]
        return "wsj" if name == "dp" and wsj.partner(source.name) else name
    found = next((name for name, test in _TESTS if test(sample)), None)
    if found is None and (prose or extension in _OPEN_EXTENSIONS):
        found = _prose(sample)
    if found is None:
        raise UnrecognizedError("cannot tell the format; give --format", path=source.name)
    return found


def _extension(name: str) -> str:
    base = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    for suffix in COMPRESSED:
        base = base.removesuffix(suffix)
    return "." + base.rsplit(".", 1)[1] if "." in base.lstrip(".") else ""


def _is_conllu(sample: list[str]) -> bool:
    rows = [line for line in sample if not line.startswith("#")]
    if not rows or rows[0].count("\t") != 9 or not re.match(r"[01]([-.]\d+)?\t", rows[0]):
        return False
    tagged_twice = any(row.split("\t")[3] != row.split("\t")[4] for row in rows if row.count("\t") == 9)
    return sample[0].startswith("#") or not rows[0].startswith("1\t") or tagged_twice


def _is_conllx(sample: list[str]) -> bool:
    return sample[0].count("\t") in (7, 9) and sample[0].startswith("1\t")


def _all_match(pattern: re.Pattern[str]) -> Callable[[list[str]], bool]:
    return lambda sample: all(pattern.fullmatch(line) for line in sample[:20])


def _is_pos(sample: list[str]) -> bool:
    rows = [line for line in sample[:20] if not line.startswith("===")]
    return bool(rows) and all(map(_is_tagged, rows))


def _is_tagged(line: str) -> bool:
    """Say whether a line has words with tags only, or brackets around them.

    Not by a pattern: it would match slashes in many ways, and try them all where none fits.
    """
    text = line.rstrip().removeprefix("[ ").removesuffix(" ]")
    words = text.split(" ")
    return words == text.split() and all("/" in word[1:-1] for word in words)


_TESTS: tuple[tuple[str, Callable[[list[str]], bool]], ...] = (
    ("conllu", _is_conllu),
    ("conllx", _is_conllx),
    ("jsonl", lambda sample: sample[0].lstrip().startswith("{")),
    ("mrg", lambda sample: re.match(r"\(\s*(\(|[A-Z0-9]+\b|$)", sample[0]) is not None),
    ("dp", _all_match(_DP_LINE)),
    ("conll2000", _all_match(_CHUNK_LINE)),
    ("pos", _is_pos),
)


def _prose(sample: list[str]) -> str:
    text = "\n".join(sample)
    return "lines" if len(_APART.findall(text)) > len(_ATTACHED.findall(text)) else "text"
