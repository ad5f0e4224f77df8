"""Everything that sentgen raises on purpose.

    SentgenError                 one clear line for the user; exit code 1
    ├── InputError               a file, sentence or argument is wrong (file, line, sentence id, check)
    │   ├── QueryError           a query in a language of ours cannot be read (column)
    │   └── MemoryLimitError     what was asked takes more memory than it may
    ├── StoreError               the database is locked, damaged, full, missing or of another version
    │   └── DamagedError         what the file holds is not what was written
    ├── NotFoundError            no such corpus, model, word or table
    ├── ModelError               a model cannot be built or asked what was asked
    ├── PluginError              what another package added is not as it must be, or has failed
    └── QueryRejected            SQL that sentgen refuses to run

A message says what is wrong, where, and what to do. It names an option with `spell`, as whoever reads it
gives options: in Python, unless the command line, or the server for a request, says otherwise (`spelling`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from traceback import extract_tb

#: C0, DEL, C1; separators of lines and paragraphs; controls of the direction of text; surrogates.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_PACKAGE = Path(__file__).parent
_IPYTHON = re.compile(r"[/\\](IPython|ipykernel)[/\\]")

#: Function that writes an option, from its name, and the name of its opposite if that is meant.
Spelling = Callable[[str, str], str]
#: Names in Python of options that have another name on the command line.
_IN_PYTHON = {"db": "path", "param": "parameters"}


def _in_python(option: str, off: str) -> str:
    return f"`{_IN_PYTHON.get(option, option)}{'=False' if off else ''}`"


# One for the process, not per thread or task, as all threads work for the same command or request.
_spellings: list[Spelling] = [_in_python]


def spell(option: str, *, off: str = "") -> str:
    """Return an option as whoever reads a message gives it.

    Args:
        option: name of the option on the command line, with ``_`` for ``-``.
        off: what the command line calls its opposite, where that is meant.

    >>> spell("min_count"), spell("tagged", off="--no-tagged")
    ('`min_count`', '`tagged=False`')
    """
    return _spellings[-1](option, off)


@contextmanager
def spelling(write: Spelling) -> Iterator[None]:
    """Have options written in another way."""
    _spellings.append(write)
    try:
        yield
    finally:
        _spellings.pop()


def current_spelling() -> Spelling:
    """Return the way in which options are written now, for another process."""
    return _spellings[-1]


def printable(text: str) -> str:
    """Return the text with everything that could steer a terminal as visible escapes.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


class SentgenError(Exception):
    """Base of all errors that a user can cause and cure; one line, whatever names of files it quotes."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """Return the traceback that a notebook shows: lines of the user's code, and the message.

        IPython calls this method; the lines inside sentgen do not help the user.
        """
        frames = extract_tb(self.__traceback__)
        own = takewhile(lambda frame: not Path(frame.filename).is_relative_to(_PACKAGE), frames)
        lines = [f"line {frame.lineno}: {frame.line}" for frame in own if not _IPYTHON.search(frame.filename)]
        return [*lines, f"{type(self).__name__}: {self}"]


class InputError(SentgenError):
    """Input that cannot be used; carries where it is, when it is in a file."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        sent_id: str | None = None,
        check: str | None = None,
        unit: str = "sentence",
    ) -> None:
        self.message, self.path, self.line, self.sent_id, self.check = message, path, line, sent_id, check
        self.unit = unit
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        sentence = f" ({self.unit} {self.sent_id})" if self.sent_id else ""
        check = f" [{self.check}]" if self.check else ""
        return printable(
            f"{where}: {self.message}{sentence}{check}" if where else f"{self.message}{sentence}{check}"
        )


class QueryError(InputError):
    """A query that cannot be read; carries where.

    Args:
        message: what is wrong, and what was expected.
        query: the query.
        offset: the character of it where it is wrong, from 0.
    """

    def __init__(self, message: str, *, query: str, offset: int | None = None) -> None:
        self.query, self.offset = query, offset
        if offset is not None:
            # Counted in the text before the error; an escape stands for one character.
            before = query[:offset].split("\n")
            where = f"line {len(before)}, " if "\n" in query.strip() else ""
            message = f"{where}column {len(before[-1]) + 1}: {message}"
        super().__init__(message)

    @property
    def picture(self) -> str:
        """The line of the query, and a caret below the place; empty without one."""
        if self.offset is None:
            return ""
        number = self.query[: self.offset].count("\n")
        line = self.query.split("\n")[number]
        before = printable(self.query[: self.offset].split("\n")[-1])
        return f"  {printable(line)}\n  {' ' * len(before)}^"


class MemoryLimitError(InputError):
    """What was asked takes more memory than it may; less, or a higher limit, helps."""


class StoreError(SentgenError):
    """The database cannot be opened, read or written."""


class DamagedError(StoreError):
    """The file, or a part of it, is not what was written."""


class NotFoundError(SentgenError):
    """Something was asked for by a name that the store does not know."""


class ModelError(SentgenError):
    """A model cannot be built, loaded or asked what was asked."""


class PluginError(SentgenError):
    """What another package added cannot be used, or has failed.

    Args:
        message: what the plug-in is or does, without a subject.
        plugin: what the plug-in is, whose, and of which version.
        path: the file that it was reading.
        line: the line of that.
    """

    def __init__(
        self, message: str, *, plugin: object, path: str | None = None, line: int | None = None
    ) -> None:
        where = ":".join(str(part) for part in (path, line) if part)
        super().__init__(f"{where}: {plugin} {message}" if where else f"{plugin} {message}")


class QueryRejected(SentgenError):
    """SQL that sentgen refuses to run, and why."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One sentence that a named check refused, with where it stands.

    ``line`` counts from 1 in the source as read (after decompression); ``sent_id`` is empty when the
    source does not name its sentences. ``document`` is the document that the sentence would have begun,
    where the reader knows it.
    """

    path: str
    line: int
    sent_id: str
    check: str
    message: str
    document: str | None = None

    def as_error(self, unit: str = "sentence") -> InputError:
        """The same as an exception; ``unit`` is what ``sent_id`` names, a sentence or a pair."""
        return InputError(
            self.message,
            path=self.path,
            line=self.line,
            sent_id=self.sent_id or None,
            check=self.check,
            unit=unit,
        )
