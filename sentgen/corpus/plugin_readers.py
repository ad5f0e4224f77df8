"""Readers of plug-ins: what they give is looked at before it goes on, and their mistakes have their name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import finish_sentence
from sentgen.corpus.readers.jsonl import FORBIDDEN
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.validation import LIMITS
from sentgen.entry_points import Plugin, check_called, of_kind
from sentgen.errors import PluginError, Rejection
from sentgen.output.wording import quantity

_TEXTS = ("forms", "lemmas", "upos", "xpos", "feats", "deprels")
_NUMBERS = ("heads", "nps")
#: What only a file of CoNLL-U has, so that it can be written again byte for byte.
_OF_CONLLU = ("ranges", "empty_nodes", "comments", "verbatim")


def reader_of(plugin: Plugin, given: object) -> Reader:
    """Return the reader of a plug-in, under guard.

    Raises:
        PluginError: what the entry point names is no reader.
    """
    reader = of_kind(plugin, given, Reader)
    check_called(plugin, reader.name)
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
        fits=_guarded_fits(plugin, fits) if fits else None,
    )


def _guarded_fits(plugin: Plugin, fits: Callable[[list[str]], bool]) -> Callable[[list[str]], bool]:
    def fits_guarded(sample: list[str]) -> bool:
        with plugin.at_work():
            return bool(fits(sample))

    return fits_guarded


class _Counted(Iterator[str]):
    """Lines, and how many of them were taken."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self.taken = iter(lines), 0

    def __next__(self) -> str:
        line = next(self._lines)
        self.taken += 1
        return line


@dataclass(frozen=True, slots=True)
class _Guarded:
    """What a plug-in reads, each item looked at."""

    plugin: Plugin
    read: Callable[..., Iterable[object]]
    gives: tuple[type, ...]

    def __call__(self, lines: Iterable[str], *, path: str, **settings: str) -> Iterator[Any]:
        counted = _Counted(lines)
        with self.plugin.at_work(lambda: (path, counted.taken)):
            for item in self.read(counted, path=path, **settings):
                if not isinstance(item, self.gives):
                    names = ", ".join(kind.__name__ for kind in self.gives)
                    message = f"gives a {type(item).__name__}, which is none of {names}; tell its authors"
                    raise PluginError(message, plugin=self.plugin, path=path, line=counted.taken)
                yield self._check_sentence(item, path) if isinstance(item, Sentence) else item

    def _check_sentence(self, sentence: Sentence, path: str) -> Sentence | Rejection:
        """Return the sentence, or which check it fails.

        Raises:
            PluginError: it is not made as a sentence is.
        """
        wrong = next(_misfits(sentence), "")
        if wrong:
            message = f"gives a sentence whose {wrong}; tell its authors"
            raise PluginError(message, plugin=self.plugin, path=path, line=sentence.line)
        failed = _failed_check(sentence)
        if failed is not None:
            return Rejection(path, sentence.line, sentence.sent_id, *failed)
        return finish_sentence(sentence, path, LIMITS)


def _misfits(sentence: Sentence) -> Iterator[str]:
    """Yield the fields that do not have their type, and what they have to be."""
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
    """Say whether it is a list or tuple of values of one type; a truth value is no number here."""
    if values is None:
        return optional
    return (
        isinstance(values, list | tuple) and type(values) is container and {*map(type, values)} <= {item_kind}
    )


def _failed_check(sentence: Sentence) -> tuple[str, str] | None:
    """Return the check that a well-made sentence fails, of those that lines of text cannot fail."""
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
