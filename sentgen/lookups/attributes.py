"""Attributes of tokens that both query languages know, and the conditions in SQL that they stand for.

An attribute is a column of `token`, or the key of a morphological feature (``Number``), which is found in the
bundles of the column FEATS. Strings are resolved to ids first: few strings match, and tokens are compared as
numbers only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sentgen.case_folding import fold, folded, like
from sentgen.lookups.numbers import compared
from sentgen.lookups.regular import like_pattern, translated
from sentgen.lookups.statement import Bindings, any_of

#: Attribute to its column in `token`, the table that holds its strings, and their column there.
COLUMNS = {
    "form": ("word_id", "word", "form"),
    "word": ("word_id", "word", "form"),
    "lemma": ("lemma_id", "word", "form"),
    "upos": ("upos_id", "tag", "name"),
    "xpos": ("xpos_id", "tag", "name"),
    "deprel": ("deprel_id", "tag", "name"),
    "feats": ("feats_id", "tag", "name"),
}

#: Those that patterns of words name, and of which near values can be named.
NAMED = ("word", "lemma", "upos", "xpos", "deprel")

_MISC_AMONG = """\
({alias}.sentence_id, {alias}.position) in (
    select misc.sentence_id, misc.position from token_misc as misc where {matches}
  )"""
_MISC_STRING = """\
(select {value} from token_misc as misc
    where misc.sentence_id = {alias}.sentence_id and misc.position = {alias}.position)"""


@dataclass(frozen=True, slots=True)
class Value:
    """What a string must be: one of ``texts``, or what one of them matches as a whole if they are ``regex``.

    Args:
        texts: strings, or regular expressions as DuckDB (RE2) reads them; at least one.
        regex: whether they are regular expressions.
        ignore_case: take capital and small letters alike.
        ignore_accents: take letters with and without diacritics alike.
    """

    texts: tuple[str, ...]
    regex: bool = False
    ignore_case: bool = False
    ignore_accents: bool = False

    def condition(self, string: str, bindings: Bindings, name: str = "value") -> str:
        """Return the condition that a string of SQL is such a value; null where the string is."""
        string = self._plain(string)
        like_texts = [like_pattern(text) for text in self.texts] if self.regex else []
        if self.regex and None not in like_texts and not self.ignore_accents:
            plain = [text for text in like_texts if text]
            return any_of([is_like(string, text, bindings, name, self.ignore_case) for text in plain])
        if self.regex:
            asked = [self._plain(bindings.bind(name, translated(text))) for text in self.texts]
            # Folding would change classes such as \\W.
            flag = ", 'i'" if self.ignore_case else ""
            return any_of([f"regexp_full_match({string}, {one}{flag})" for one in asked])
        texts = self.texts
        if self.ignore_case:
            string, texts = folded(string), tuple(map(fold, texts))
        asked = [self._plain(bindings.bind(name, text)) for text in texts]
        # Without its accent, another letter may be left to be folded.
        if self.ignore_case and self.ignore_accents:
            string, asked = folded(string), [folded(one) for one in asked]
        return f"{string} = {asked[0]}" if len(asked) == 1 else f"{string} in ({', '.join(asked)})"

    def spelled(self, string: str) -> str:
        """Return what two strings of SQL have in common that are compared as one; of no expressions."""
        string = self._plain(folded(string) if self.ignore_case else string)
        return folded(string) if self.ignore_case and self.ignore_accents else string

    def _plain(self, string: str) -> str:
        return f"strip_accents({string})" if self.ignore_accents else string


@dataclass(frozen=True, slots=True)
class Bound:
    """What a string must be as a number; one that is none does not pass.

    Args:
        operator: ``<``, ``<=``, ``>`` or ``>=``.
        number: what it is compared with.
    """

    operator: str
    number: str

    def condition(self, string: str, bindings: Bindings, name: str = "value") -> str:
        """Return the condition that a string of SQL is such a number; null where it is none."""
        return compared(string, self.operator, bindings.bind("number", self.number))

    def of_number(self, number: str, bindings: Bindings) -> str:
        """Return the condition that a number of SQL is such a number."""
        return f"{number} {self.operator} {bindings.bind('number', float(self.number))}"


def is_like(string: str, pattern: str, bindings: Bindings, name: str, ignore_case: bool) -> str:
    """Return the condition that a string of SQL is like a pattern, whose escape is the backslash."""
    if ignore_case:
        # What ends the pattern of a part need not end a word.
        string, pattern = like(folded(string)), fold(pattern).replace("ς", "σ")
    return f"{string} like {bindings.bind(name, pattern)} escape '\\'"


#: What may be asked of the string of an attribute.
Test = Value | Bound


def surprisal_test(value: Test | None, bindings: Bindings) -> str:
    """Return the condition on the ``bits`` of a token that they have a value; empty for any."""
    if isinstance(value, Bound):
        return value.of_number("bits", bindings)
    return value.condition("bits", bindings) if value is not None else ""


def attribute_condition(alias: str, name: str, value: Test | None, bindings: Bindings) -> str:
    """Return the condition on a row of `token` that an attribute has a value; ``None``: any value.

    It is null, which is not true, where the token has no such attribute.

    Args:
        alias: of the row of `token`.
        name: a key of `COLUMNS`, or the key of a morphological feature.
        value: what it must be.
        bindings: of the statement.
    """
    column, table, matches = attribute_matches(name, value, bindings)
    if not matches:
        return f"{alias}.{column} is not null"
    return f"{alias}.{column} in (select id from {table} where {matches})"


def attribute_matches(name: str, value: Test | None, bindings: Bindings) -> tuple[str, str, str]:
    """Return the column of `token` that has an attribute, the table of its strings, and the condition there.

    The condition is empty where any value of the column will do.
    """
    if name in COLUMNS:
        column, table, string = COLUMNS[name]
        return column, table, "" if value is None else value.condition(string, bindings, name)
    string = feature("name", name, bindings)
    return "feats_id", "tag", f"{string} is not null" if value is None else value.condition(string, bindings)


def feature(bundle: str, key: str, bindings: Bindings) -> str:
    """Return the value of a feature in a bundle (``Case=Nom|Number=Sing``) in SQL; null if it has none.

    An underscore in the key stands for what no query can hold, too.
    """
    if "_" in key:
        test = f"regexp_matches(part, {bindings.bind('feature', f'^{key_pattern(key)}=')})"
    else:
        test = f"starts_with(part, {bindings.bind('feature', f'{key}=')})"
    parts = f"list_filter(string_split({bundle}, '|'), lambda part: {test})"
    return f"substr({parts}[1], {len(key) + 2})"


def key_pattern(key: str) -> str:
    r"""Return the keys that a name stands for: ``NP_BIO`` for NP-BIO, too.

    >>> key_pattern("NP_BIO")
    'NP[\\W_]BIO'
    """
    return r"[\W_]".join(map(re.escape, key.split("_")))


def attribute_string(alias: str, name: str, bindings: Bindings) -> str:
    """Return the string of an attribute of a row of `token` in SQL; null where there is none."""
    if name in COLUMNS:
        column, table, string = COLUMNS[name]
        return f"(select {string} from {table} where id = {alias}.{column})"
    return f"(select {feature('name', name, bindings)} from tag where id = {alias}.feats_id)"


def misc_condition(alias: str, key: str, value: Test | None, bindings: Bindings) -> str:
    """Return the condition on a row of `token` that a key of MISC has a value; ``None``: any value."""
    string = feature("misc.misc", key, bindings)
    matches = f"{string} is not null" if value is None else value.condition(string, bindings)
    return _MISC_AMONG.format(alias=alias, matches=matches)


def misc_string(alias: str, key: str, bindings: Bindings) -> str:
    """Return the value of a key of MISC of a row of `token` in SQL; null where there is none."""
    return _MISC_STRING.format(alias=alias, value=feature("misc.misc", key, bindings))


@dataclass(frozen=True, slots=True)
class TokenKey:
    """An attribute of tokens: a column of theirs, a key of FEATS, or one of MISC.

    Args:
        name: of the attribute.
        misc: whether it is of MISC.
    """

    name: str
    misc: bool

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the value of a token in SQL; null if it has none.

        Args:
            alias: of a row with ``sentence_id`` and ``position``.
            bindings: of the statement.
        """
        if self.misc:
            return misc_string(alias, self.name, bindings)
        own = f"own.sentence_id = {alias}.sentence_id and own.position = {alias}.position"
        return f"(select {attribute_string('own', self.name, bindings)} from token as own where {own})"
