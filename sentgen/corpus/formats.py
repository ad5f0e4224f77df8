"""The formats that can be read, and which one a source is in."""

from __future__ import annotations

import re
from collections.abc import Collection

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import conll2000, conllu, conllx, dp, jsonl, lines, mrg, pos, text, wsj
from sentgen.corpus.sources import COMPRESSED, Source
from sentgen.errors import InputError


class UnrecognizedError(InputError):
    """A source that is empty, or in no format that can be told."""


#: In the order in which they are tried: every CoNLL-U is CoNLL-X as well, and `{` and `(` are words, too.
_MODULES = (conllu, conllx, jsonl, mrg, dp, conll2000, pos, lines, text, wsj)
_TRIED: tuple[Reader, ...] = tuple(module.READER for module in _MODULES)
READERS = {reader.name: reader for reader in sorted(_TRIED, key=lambda reader: reader.name)}

_BY_EXTENSION = {extension: reader.name for reader in READERS.values() for extension in reader.extensions}
#: Extensions that prose has; a file with another one is not taken for prose.
_OPEN_EXTENSIONS = frozenset({"", ".txt", ".text"})
_APART = re.compile(r"(?:^|\s)(?:[.,!?;:]|'s|n't|``|''|<unk>)(?=\s|$)")
_ATTACHED = re.compile(r"\w[.,!?;:][\"')\]”’]?(?=\s|$)")


def check_format(name: str | None, known: Collection[str] = READERS) -> None:
    """Refuse a format that is asked for and not known."""
    if name is not None and name not in known:
        raise InputError(f"no format {name!r}; there are: {', '.join(known)}")


def detect(source: Source, *, prose: bool = False) -> str:
    """Return the name of the format of a source, from its extension or else its first lines.

    A `.dp` file with its tagged file beside it is `wsj`. Plain text is `lines` if its punctuation stands
    apart from the words, else `text`. With ``prose``, what is in no other format is plain text, whatever its
    extension.

    Raises:
        UnrecognizedError: The source is empty, or its format cannot be told.
        InputError: Its name tells the format, and it cannot be read.
    """
    extension = extension_of(source)
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
    # The first that fits: what is stricter is tried before what takes anything.
    found = next((reader.name for reader in _TRIED if reader.fits and reader.fits(sample)), None)
    if found is None and (prose or extension in _OPEN_EXTENSIONS):
        found = _prose(sample)
    if found is None:
        raise UnrecognizedError("cannot tell the format; give --format", path=source.name)
    return found


def extension_of(source: Source) -> str:
    """Return the extension of a file before that of its compression, in lower case."""
    base = (source.member or source.name).replace("\\", "/").rsplit("/", 1)[-1].lower()
    for suffix in COMPRESSED:
        base = base.removesuffix(suffix)
    return "." + base.rsplit(".", 1)[1] if "." in base.lstrip(".") else ""


def _prose(sample: list[str]) -> str:
    text = "\n".join(sample)
    return "lines" if len(_APART.findall(text)) > len(_ATTACHED.findall(text)) else "text"
