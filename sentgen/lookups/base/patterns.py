"""Patterns of words and tokens, and their conditions in SQL.

In a word pattern ``*`` stands for any characters and ``?`` for one; a lone ``*`` matches any word, a lone
``?`` the question mark; a backslash makes the next character literal. Token patterns are word patterns, and
``lemma:go``, ``upos:VERB``, ``xpos:VBD``, ``deprel:nsubj``, ``word:...`` for a word that looks like one of
these, and ``pattern/TAG`` (either part of speech) where TAG is a tag of the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from sqlalchemy import Connection

from sentgen.case_folding import fold, fold_sql
from sentgen.errors import InputError
from sentgen.lookups.base.attributes import NAMED, is_like
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, any_of, any_row
from sentgen.options import Option
from sentgen.output.wording import instead

ANY = "*"
#: Each token of a pattern is a join: DuckDB took seconds for ten thousand of them on an empty store.
MOST_TOKENS = 50
_NAME = re.compile(r"[A-Za-z]\w*")
#: The wildcards of LIKE as regular expressions.
_SIGNS = {"%": ".*", "_": "."}


@dataclass(frozen=True, slots=True)
class Glob:
    """A word pattern for SQL: ``text`` for ``=``, or, if ``wild``, for ``like`` (escape: backslash)."""

    text: str
    wild: bool

    def condition(
        self, column: str, bindings: Bindings, name: str = "word", *, ignore_case: bool = False
    ) -> str:
        """Return the condition that a string in a column matches the pattern."""
        if self.wild:
            return is_like(column, self.text, bindings, name, ignore_case)
        column, text = (fold_sql(column), fold(self.text)) if ignore_case else (column, self.text)
        return f"{column} = {bindings.bind(name, text)}"

    def matches(self, text: str) -> bool:
        """Return whether a string matches the pattern."""
        return re.fullmatch(self.expression, text, re.DOTALL) is not None if self.wild else text == self.text

    @property
    def expression(self) -> str:
        """The regular expression of a pattern with wildcards."""
        parts = re.findall(r"\\?.", self.text, re.DOTALL)
        return "".join(_SIGNS.get(part, re.escape(part[-1])) for part in parts)


def glob(pattern: str) -> Glob:
    """Read a word pattern.

    >>> glob("down*"), glob("50%*").text, glob(r"\\*").text
    (Glob(text='down%', wild=True), '50\\\\%%', '*')
    """
    # Else a query for the question mark would need a backslash.
    if pattern == "?":
        return Glob("?", wild=False)
    plain, like, wild = [], [], False
    # `%` and `_` are wildcards of LIKE, but not of patterns.
    for escape, character in re.findall(r"(\\?)(.)", pattern, re.DOTALL):
        if not escape and character in "*?":
            wild = True
            like.append("%" if character == "*" else "_")
        else:
            like.append(f"\\{character}" if character in "%_\\" else character)
        plain.append(character)
    return Glob("".join(like), wild=True) if wild else Glob("".join(plain), wild=False)


def word_among(column: str, pattern: str, bindings: Bindings, selection: Selection) -> str:
    """Return the condition that a column of word ids matches a word pattern; empty for ``*``."""
    if pattern == ANY:
        return ""
    # The few words that match are looked up in `word`, so that rows of counts are compared by ids only.
    matches = glob(pattern).condition("form", bindings, ignore_case=loose(pattern, selection))
    return f"{column} in (select id from word where {matches})"


def tag_among(column: str, pattern: str, bindings: Bindings) -> str:
    """Return the condition that a column of tag ids matches a pattern of its name; empty for ``*``."""
    if pattern == ANY:
        return ""
    return f"{column} in (select id from tag where {glob(pattern).condition('name', bindings, 'tag')})"


@dataclass(frozen=True, slots=True)
class TokenPattern:
    """A pattern of one token: an attribute that matches ``pattern``, and a part of speech (empty for any).

    ``ignore_case`` applies to words and lemmas, never to labels.
    """

    attribute: str
    pattern: str
    tag: str = ""
    ignore_case: bool = False

    @property
    def free(self) -> bool:
        """Whether every token matches the pattern."""
        return self.attribute == "word" and self.pattern == ANY and not self.tag

    @classmethod
    def read(
        cls, text: str, selection: Selection, is_tag: Callable[[str], bool], is_word: Callable[[str], bool]
    ) -> TokenPattern:
        """Read the pattern of one token.

        Args:
            selection: the corpora, for the case of their words and lemmas.
            is_tag: whether the store has a tag that matches; else ``1/2`` is a word.
            is_word: whether the store has a word that matches; else ``x:y`` means an attribute.

        Raises:
            InputError: there is no such attribute.
        """
        attribute, colon, rest = text.partition(":")
        named = bool(colon and rest) and _NAME.fullmatch(attribute) is not None
        if not (named and attribute in NAMED):
            attribute, rest = "word", text
        stem, slash, tag = rest.rpartition("/")
        # `1/2` and `and/or` are words unless the store has such a tag.
        if not (slash and stem and tag and tag != ANY and is_tag(tag)) or stem.endswith("\\"):
            stem, tag = rest, ""
        # An address is a word as long as it occurs; anything else of this form is a slip.
        if named and attribute == "word" and rest == text and not is_word(stem):
            name = text.partition(":")[0]
            raise InputError(
                f"no attribute {name!r} (a word with a colon is asked for as 'word:{text}');"
                f" {instead(name, NAMED)}"
            )
        if attribute not in ("word", "lemma"):
            return cls(attribute, stem, tag)
        return cls(attribute, selection.fold(stem), tag, loose(stem, selection))

    @classmethod
    def read_all(cls, connection: Connection, pattern: str, selection: Selection) -> list[TokenPattern]:
        """Read the tokens of a pattern, with blanks between them.

        Raises:
            InputError: the pattern is empty or too long, names an unknown attribute, or matches every token.
        """
        is_tag, is_word = partial(_has_tag, connection), partial(_has_word, connection, selection)
        words = split_pattern(pattern, most=MOST_TOKENS)
        tokens = [cls.read(text, selection, is_tag, is_word) for text in words]
        if all(token.free for token in tokens):
            raise InputError(
                "a pattern of stars alone matches everywhere; give at least one word, tag or lemma"
            )
        return tokens


def loose(pattern: str, selection: Selection) -> bool:
    """Return whether words are compared with a pattern without regard to case.

    In lower-cased corpora they are if the pattern has wildcards: a sigma that ends a part of the pattern may
    be another letter in the middle of the word.
    """
    return selection.ignore_case or (selection.lowercase and glob(pattern).wild)


def counted_tag(alias: str) -> str:
    """Return the SQL for the tag id of a row of `token` in counts of dependencies; null for none.

    The row is joined with `corpus`, which says whether the universal or the other tags are counted.
    """
    kinds = f"case when corpus.tags = 'upos' then {alias}.upos_id else {alias}.xpos_id end"
    return f"coalesce({kinds}, {alias}.xpos_id, {alias}.upos_id)"


def split_pattern(text: str, *, most: int = 0) -> list[str]:
    """Split a pattern at blanks.

    Raises:
        InputError: the pattern is empty, or longer than ``most`` (if not 0).
    """
    parts = text.split()
    if not parts:
        raise InputError("the pattern is empty; give words, such as 'the dow *'")
    if most and len(parts) > most:
        raise InputError(f"the pattern has {len(parts)} words; at most {most} can be asked for")
    return parts


def _has_tag(connection: Connection, pattern: str) -> bool:
    bindings = Bindings()
    condition = glob(pattern).condition("name", bindings, "tag")
    return any_row(connection, "tag", [condition], bindings)


def _has_word(connection: Connection, selection: Selection, pattern: str) -> bool:
    bindings, word = Bindings(), glob(selection.fold(pattern))
    condition = word.condition("form", bindings, ignore_case=loose(pattern, selection))
    return any_row(connection, "word", [condition], bindings)


#: The open classes of Universal Dependencies, and numbers, as lists of stop words have none of these.
CONTENT = {"content": ("ADJ", "ADV", "INTJ", "NOUN", "NUM", "PROPN", "VERB")}
PosOption = Annotated[
    str | None,
    Option(
        "Only what has one of these parts of speech: `NOUN`, or `ADJ,NN*`; `content`: no function words.",
        metavar="TAG,...",
        api={"max_length": 1000},
    ),
]


def read_pos(text: str | None) -> tuple[str, ...]:
    """Split a list of patterns of parts of speech, with ``content`` replaced by its tags; empty for all.

    >>> read_pos("NN*, content")[:3], read_pos(None)
    (('NN*', 'ADJ', 'ADV'), ())

    Raises:
        InputError: there is nothing between the commas.
    """
    given = () if text is None else filter(None, map(str.strip, text.split(",")))
    tags = tuple(dict.fromkeys(tag for name in given for tag in CONTENT.get(name, (name,))))
    if text is not None and not tags:
        raise InputError("no part of speech was given; name some, such as NOUN,ADJ")
    return tags


def has_pos(alias: str, pos: Sequence[str], bindings: Bindings) -> list[str]:
    """Return the condition that a token has one of some parts of speech, as a list; empty for any token.

    A pattern may match the universal part of speech, or that of the treebank.
    """
    tags = [tag_among(f"{alias}.{kind}", tag, bindings) for tag in pos for kind in ("upos_id", "xpos_id")]
    return [any_of(tags)] if tags and all(tags) else []
