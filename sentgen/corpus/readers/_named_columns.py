"""Columns that have names: which of them are fields of a sentence, and MISC, which holds all others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Self

from sentgen.corpus.readers._columns import FormatError, optional
from sentgen.corpus.readers._tags import UNDEFINED, decode_entities
from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.corpus.validation import check_heads
from sentgen.errors import InputError, spell
from sentgen.output.wording import quantity

#: Fields by the names that their columns have; `pos` is the tag beside which there may be another.
_FIELDS = {
    "forms": ("word", "form", "token"),
    "lemmas": ("lemma", "baseform", "lemme"),
    "upos": ("upos", "upostag", "cpos"),
    "xpos": ("xpos", "xpostag", "pos", "tag"),
    "feats": ("feats", "feat", "ufeats"),
    "heads": ("head", "dephead"),
    "deprels": ("deprel",),
}
_KNOWN = {name: field for field, names in _FIELDS.items() for name in names}
_SPACES = ("wsafter", "spaceafter", "space_after")
_NO_SPACE = frozenset(("", '""', "''", "no", "false", "0", "spaceafter=no"))
_NAME = re.compile(r"[^\W\d][\w:.-]*")
#: Values that are none.
_UNSAID = UNDEFINED | {""}
#: A column of this name is MISC itself.
_MISC = "misc"
#: A column `head` whose numbers make no tree is an attribute of this name.
HEAD = "head"


def field_of(name: str) -> str | None:
    """Return the field that a column of this name is, or ``None``."""
    return _KNOWN.get(name.lower())


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """The columns of a file.

    Attributes:
        names: as they were given.
        fields: the number of the column of each field that has one.
        spaces: that of the column that says what follows a token, or ``None``.
        others: names and numbers of the other ones.
    """

    names: tuple[str, ...]
    fields: dict[str, int]
    spaces: int | None
    others: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Say what columns are by their names.

        Raises:
            InputError: a name is none or stands twice, or none of them is that of the word.
        """
        given = tuple(name.strip() for name in names)
        wrong = next((name for name in given if not _NAME.fullmatch(name)), None)
        if wrong is not None:
            raise InputError(
                f"{wrong!r} is no name of a column; write them as {spell('columns')} word,pos,lemma"
            )
        if len(set(given)) < len(given):
            raise InputError(f"a column stands twice in {','.join(given)}; give other {spell('columns')}")
        fields: dict[str, int] = {}
        spaces: int | None = None
        others = []
        plain = [name.lower() for name in given]
        for number, name in enumerate(plain):
            field = _KNOWN.get(name)
            if name == "pos" and ("xpos" in plain or "xpostag" in plain) and "upos" not in plain:
                field = "upos"
            if field is not None and field not in fields:
                fields[field] = number
            elif name in _SPACES and spaces is None:
                spaces = number
            else:
                others.append(("" if name == _MISC else given[number], number))
        if "forms" not in fields:
            raise InputError(f"no column of {','.join(given)} is word or form; give other {spell('columns')}")
        return cls(given, fields, spaces, tuple(others))

    @property
    def word(self) -> int:
        """The number of the column of words."""
        return self.fields["forms"]

    def split(self, rows: list[str]) -> list[list[str]]:
        """Return the columns of rows, decoded and with `_` for no value, or name a row that does not fit."""
        size = len(self.names)
        if set(map(str.count, rows, repeat("\t"))) != {size - 1}:
            row, count = next(
                (i, row.count("\t") + 1) for i, row in enumerate(rows) if row.count("\t") != size - 1
            )
            named = ",".join(self.names)
            message = (
                f"{quantity(count, 'tab-separated column')} where {size} belong ({named}); give"
                f" {spell('columns')}"
            )
            raise FormatError("columns", message, row)
        text = "\t".join(rows)
        fields = text.split("\t")
        if "&" in text:
            fields = [decode_entities(value) for value in fields]
        columns = [fields[number::size] for number in range(size)]
        for number, column in enumerate(columns):
            if number in (self.word, self.spaces) or _UNSAID.isdisjoint(column):
                continue
            columns[number] = [ABSENT if value in _UNSAID else value for value in column]
        return columns

    def fill(self, sentence: Sentence, columns: list[list[str]]) -> None:
        """Set the fields of a sentence, and MISC from all other columns."""
        for field, number in self.fields.items():
            if field not in ("forms", "heads"):
                setattr(sentence, field, optional(columns[number]))
        sentence.forms = columns[self.word]
        others = [(name, columns[number]) for name, number in self.others]
        if "heads" in self.fields:
            heads = columns[self.fields["heads"]]
            sentence.heads = tree_of(heads)
            if sentence.heads is None:
                others.insert(0, (HEAD, heads))
        sentence.misc = misc_of(others)
        if self.spaces is None:
            sentence.space_after = [True] * len(sentence.forms)
        else:
            sentence.space_after = [is_space(value) for value in columns[self.spaces]]


def misc_of(columns: Sequence[tuple[str, list[str]]]) -> tuple[str, ...] | None:
    """Return MISC of named columns, ``None`` if they say nothing; a column without a name is as it is."""
    filled = [(name, column) for name, column in columns if optional(column) is not None]
    if not filled:
        return None
    pairs = ([_pair(name, value) for value in column] for name, column in filled)
    return tuple("|".join(filter(None, values)) or ABSENT for values in zip(*pairs, strict=True))


def _pair(name: str, value: str) -> str:
    if value == ABSENT:
        return ""
    return f"{name}={bar_free(value)}" if name else value


def tree_of(column: list[str]) -> list[int] | None:
    """Return heads, or ``None`` if they make no tree."""
    if not all(value.isascii() and value.isdecimal() and len(value) < 7 for value in column):
        return None
    heads = [int(value) for value in column]
    return heads if check_heads(heads) is None else None


def is_space(value: str) -> bool:
    """Say whether a space follows a token, by what a column says of it.

    >>> is_space('" "'), is_space('""'), is_space("_"), is_space("SpaceAfter=No")
    (True, False, True, False)
    """
    return value.lower() not in _NO_SPACE


def bar_free(value: str) -> str:
    r"""Return a value as MISC can hold it, in the manner of UDPipe.

    >>> bar_free(r"a|b\c")
    'a\\pb\\\\c'
    """
    return value.replace("\\", "\\\\").replace("|", "\\p") if "|" in value or "\\" in value else value
