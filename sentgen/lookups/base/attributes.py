"""Keys: the attributes that names in a query stand for, and their values and conditions in SQL.

All query languages use the same keys, which `sentgen.lookups.base.keys` finds. Keys of tokens are columns,
features, keys of MISC, words as they are written, and surprisal; the other keys are metadata and attributes
of regions.

A value is a number if it is a decimal number in ASCII: a sign, digits, a decimal point and an exponent
(``-12.5``, ``1e3``). *inf*, *NaN*, ``1_000``, ``1,000``, ``0x10`` and digits of other scripts are words.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from typing import ClassVar

from sqlalchemy import Connection

from sentgen.case_folding import fold, fold_sql, like
from sentgen.lookups.base.regular_expressions import like_pattern, to_re2
from sentgen.lookups.base.statement import Bindings, any_of, any_row

#: RE2 and Python read this expression alike.
_DECIMAL = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_NUMBER = re.compile(_DECIMAL)
#: Digits before the decimal point, and as many behind it, with which numbers are compared exactly.
_DIGITS = 19
TOO_LONG = f"numbers are compared by {_DIGITS} digits before the point and {_DIGITS} behind it; write fewer"
_EXACT = f"decimal({2 * _DIGITS}, {_DIGITS})"


def is_number(text: str) -> bool:
    """Return whether a string is a number.

    >>> [text for text in ("-12.5", ".5", "1e3", "inf", "1_000", "٣", " 5") if is_number(text)]
    ['-12.5', '.5', '1e3']
    """
    return _NUMBER.fullmatch(text) is not None and isfinite(float(text))


def is_exact(text: str) -> bool:
    """Return whether a number has no more digits than are compared exactly."""
    number = Decimal(text)
    exponent = number.normalize().as_tuple().exponent
    return number.adjusted() < _DIGITS and isinstance(exponent, int) and exponent >= -_DIGITS


def as_number(string: str) -> str:
    """Return the SQL that reads a string as a double; null if the string is no number."""
    number = f"try_cast(regexp_extract({string}, '^{_DECIMAL}$') as double)"
    # A number beyond the range of a double is cast to infinity.
    return f"nullif(nullif({number}, 'inf'::double), '-inf'::double)"


def _as_exact(string: str) -> str:
    """Return the SQL that reads the string of a number as an exact decimal; null if it is too large."""
    return f"try_cast({string} as {_EXACT})"


def compare_numbers(left: str, operator: str, right: str) -> str:
    """Return the condition that compares two strings of SQL as numbers; null where a string is no number."""
    first, second = as_number(left), as_number(right)
    # Different decimal numbers may be the same double.
    strict = "" if operator == "=" else f"{first} {operator[0]} {second} or "
    equal = f"coalesce({_as_exact(left)} {operator} {_as_exact(right)}, {str('=' in operator).lower()})"
    return f"({strict}{first} = {second} and {equal})"


def by_value(key: str, *, down: bool = False) -> str:
    """Return the SQL that sorts rows by a value: null first, then numbers by size, then other strings."""
    turned = " desc" if down else ""
    last, text = " desc nulls first" if down else " nulls last", f"{key}::varchar"
    numbers = [f"{number}{last}" for number in (as_number(text), _as_exact(text))]
    return ", ".join([f"{key} is not null{turned}", *numbers, f"{key}{turned}"])


#: A key and the length of periods: ``year/10`` puts numbers, or years of dates, into decades. A period is
#: named by its first number.
_PERIOD = re.compile(r"(.+)/([1-9]\d{0,8})", re.ASCII | re.DOTALL)
_YEAR = r"regexp_extract({string}, '^(\d{{4}})-\d\d', 1)"


def period_in(name: str) -> tuple[str, int]:
    """Split a name such as ``year/10`` into the key and the length of periods, 0 without periods.

    >>> period_in("year/10"), period_in("year")
    (('year', 10), ('year', 0))
    """
    match = _PERIOD.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def period_of(string: str, step: int) -> str:
    """Return the SQL for the first number, as text, of the period that a string lies in; null for no number.

    With a ``step`` of 0, the string is returned as it is.
    """
    if not step:
        return string
    value = f"coalesce({as_number(string)}, {as_number(_YEAR.format(string=string))})"
    return f"try_cast(floor({value} / {step}) * {step} as bigint)::varchar"


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

#: Attributes that token patterns can name, and for which messages suggest similar values.
NAMED = ("word", "lemma", "upos", "xpos", "deprel")

#: The form of a multi-word token is the value of its first token.
_TEXTFORM = """\
(select case when span.first = {alias}.position then span.form else '_' end from multiword as span
    where span.sentence_id = {alias}.sentence_id and {alias}.position between span.first and span.last)"""
_MISC_AMONG = """\
({alias}.sentence_id, {alias}.position) in (
    select misc.sentence_id, misc.position from token_misc as misc where {matches}
  )"""
_MISC_STRING = """\
(select {value} from token_misc as misc
    where misc.sentence_id = {alias}.sentence_id and misc.position = {alias}.position)"""


@dataclass(frozen=True, slots=True)
class Value:
    """A test that a string is one of ``texts``, or, if they are ``regex``, that one matches all of it.

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

    @property
    def is_one_string(self) -> bool:
        """Whether the value is one string, compared as it is written."""
        return len(self.texts) == 1 and not (self.regex or self.ignore_case or self.ignore_accents)

    def condition(self, string: str, bindings: Bindings, name: str = "value") -> str:
        """Return the condition that a string of SQL passes the test; null where the string is null."""
        string = self._plain(string)
        like_texts = [like_pattern(text) for text in self.texts] if self.regex else []
        if self.regex and None not in like_texts and not self.ignore_accents:
            plain = [text for text in like_texts if text]
            return any_of([is_like(string, text, bindings, name, self.ignore_case) for text in plain])
        if self.regex:
            values = [self._plain(bindings.bind(name, to_re2(text))) for text in self.texts]
            # Folding would change classes such as \\W.
            flag = ", 'i'" if self.ignore_case else ""
            return any_of([f"regexp_full_match({string}, {value}{flag})" for value in values])
        texts = self.texts
        if self.ignore_case:
            string, texts = fold_sql(string), tuple(map(fold, texts))
        values = [self._plain(bindings.bind(name, text)) for text in texts]
        # Without its accent, another letter may be left to be folded.
        if self.ignore_case and self.ignore_accents:
            string, values = fold_sql(string), [fold_sql(value) for value in values]
        return f"{string} = {values[0]}" if len(values) == 1 else f"{string} in ({', '.join(values)})"

    def comparison_key(self, string: str) -> str:
        """Return the SQL of a key that is the same for strings that count as equal; not for ``regex``."""
        string = self._plain(fold_sql(string) if self.ignore_case else string)
        return fold_sql(string) if self.ignore_case and self.ignore_accents else string

    def _plain(self, string: str) -> str:
        return f"strip_accents({string})" if self.ignore_accents else string


@dataclass(frozen=True, slots=True)
class Bound:
    """A test that a string is a number within a bound: ``<``, ``<=``, ``>`` or ``>=``; other strings fail."""

    operator: str
    number: str

    def condition(self, string: str, bindings: Bindings, name: str = "value") -> str:
        """Return the condition that a string of SQL passes the test; null where it is no number."""
        return compare_numbers(string, self.operator, bindings.bind("number", self.number))

    def of_number(self, number: str, bindings: Bindings) -> str:
        """Return the condition that a number of SQL passes the test."""
        return f"{number} {self.operator} {bindings.bind('number', float(self.number))}"


def is_like(string: str, pattern: str, bindings: Bindings, name: str, ignore_case: bool) -> str:
    """Return the condition that a string of SQL is like a pattern, whose escape is the backslash."""
    if ignore_case:
        # A sigma that ends the pattern of a part may be in the middle of a word.
        string, pattern = like(fold_sql(string)), fold(pattern).replace("ς", "σ")
    return f"{string} like {bindings.bind(name, pattern)} escape '\\'"


#: A test of the string of an attribute.
Test = Value | Bound


class Key(ABC):
    """An attribute that queries can ask for; ``name`` is its name there."""

    __slots__ = ()
    #: What messages call the key where a query cannot ask for it.
    what: ClassVar[str] = "an attribute of tokens"
    #: Whether the key is of tokens themselves, and not of the regions, sentences or documents around them.
    of_tokens: ClassVar[bool] = True
    name: str

    @property
    def is_word(self) -> bool:
        """Whether values are words, which are folded where the case of letters is ignored."""
        return False

    @abstractmethod
    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the SQL for the value of a row of `token`; null if the row has no value."""

    def string(self, alias: str, bindings: Bindings) -> str:
        """Return the value as a string."""
        return self.value(alias, bindings)

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row of `token` has a value, which passes the test if there is one.

        The condition may be null, which is not true, where the token has no such attribute.
        """
        string = self.value(alias, bindings)
        return f"{string} is not null" if test is None else test.condition(string, bindings)

    def shared_columns(self, other: Key) -> tuple[str, str] | None:
        """Return the columns of `token` whose numbers tell whether both are the same, if there are."""
        keys = [key for key in (self, other) if isinstance(key, TokenKey) and not key.feature]
        columns = [key.columns[0] for key in keys if len(key.columns) == 1 and key.table == keys[0].table]
        return (columns[0], columns[1]) if len(columns) == 2 else None

    def value_at(self, sentence: str, position: str, bindings: Bindings) -> str:
        """Return the SQL for the value that lines show or are sorted by; null if there is none.

        Args:
            sentence: alias of the row of `sentence` of the first token of the hit.
            position: position of the token in it.
        """
        at = f"spot.sentence_id = {sentence}.id and spot.position = {position}"
        return f"(select {self.value('spot', bindings)} from token as spot where {at})"


@dataclass(frozen=True, slots=True)
class TokenKey(Key):
    """A column of `token`, or a feature in FEATS, with conditions on ids: few strings pass a test.

    Args:
        columns: columns of `token`, which hold ids; the value is the first that is not null.
        table: the table with a string for each id.
        text: the column of ``table`` with the strings.
        feature: the key whose value is taken from a string of FEATS; empty for the whole string.
    """

    name: str
    columns: tuple[str, ...]
    table: str
    text: str
    feature: str = ""

    @classmethod
    def of_name(cls, name: str) -> TokenKey:
        """Return the key for a name in `COLUMNS` or `TAGS`."""
        names = ("xpos", "upos") if name in TAGS else (name,)
        _, table, text = COLUMNS[names[0]]
        return cls(name, tuple(COLUMNS[column][0] for column in names), table, text)

    @classmethod
    def of_feature(cls, name: str) -> TokenKey:
        """Return the key of tokens for a key of FEATS."""
        return replace(cls.of_name("feats"), name=name, feature=name)

    @property
    def is_word(self) -> bool:
        return self.table == "word"

    def of_row(self, row: str, bindings: Bindings) -> str:
        """Return the SQL for the value in a row (``a.``) of the table; null for a row without the feature."""
        return _feature(row + self.text, self.feature, bindings) if self.feature else row + self.text

    def matches(self, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row of the table passes a test; empty where all rows do."""
        string = self.of_row("", bindings)
        if test is None:
            return f"{string} is not null" if self.feature else ""
        return test.condition(string, bindings, "value" if self.feature else self.name)

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        matches = self.matches(test, bindings)
        among = f"in (select id from {self.table} where {matches})" if matches else "is not null"
        return any_of([f"{alias}.{column} {among}" for column in self.columns])

    def value(self, alias: str, bindings: Bindings) -> str:
        string = self.of_row("", bindings)
        values = [
            f"(select {string} from {self.table} where id = {alias}.{column})" for column in self.columns
        ]
        return values[0] if len(values) == 1 else f"coalesce({', '.join(values)})"


@dataclass(frozen=True, slots=True)
class MiscKey(Key):
    """A key of MISC."""

    name: str

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        string = _feature("misc.misc", self.name, bindings)
        matches = f"{string} is not null" if test is None else test.condition(string, bindings)
        return _MISC_AMONG.format(alias=alias, matches=matches)

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the value of a row with ``sentence_id`` and ``position``."""
        return _MISC_STRING.format(alias=alias, value=_feature("misc.misc", self.name, bindings))

    def occurs(self, connection: Connection) -> bool:
        """Return whether some token has the key."""
        bindings = Bindings(start=f"{self.name}=", within=f"|{self.name}=")
        condition = "starts_with(misc, $start) or contains(misc, $within)"
        if "_" in self.name:
            bindings = Bindings(pattern=rf"(?:^|\|){_key_pattern(self.name)}=")
            condition = "regexp_matches(misc, $pattern)"
        return any_row(connection, "token_misc", [condition], bindings)


@dataclass(frozen=True, slots=True)
class WrittenKey(Key):
    """A word as it is written: ``wordform`` of the token, ``textform`` in the text; values in MISC win."""

    name: str

    @property
    def is_word(self) -> bool:
        return True

    def value(self, alias: str, bindings: Bindings) -> str:
        values = [MiscKey(self.name).value(alias, bindings), TokenKey.of_name("form").value(alias, bindings)]
        if self.name == "textform":
            values.insert(1, _TEXTFORM.format(alias=alias))
        return f"coalesce({', '.join(values)})"


#: Attributes that are worked out for every token; FEATS and MISC of a corpus go before them.
COMPUTED: dict[str, Key] = {key.name: key for key in (WrittenKey("wordform"), WrittenKey("textform"))}
#: A part of speech of either kind, under the names of CWB and NoSketch Engine.
TAGS = ("pos", "tag")


def _feature(bundle: str, key: str, bindings: Bindings) -> str:
    """Return the SQL for the value of a key in a bundle (``Case=Nom|Number=Sing``); null without the key.

    An underscore in the key stands for any character that a name in a query cannot have, too.
    """
    if "_" in key:
        test = f"regexp_matches(part, {bindings.bind('feature', f'^{_key_pattern(key)}=')})"
    else:
        test = f"starts_with(part, {bindings.bind('feature', f'{key}=')})"
    parts = f"list_filter(string_split({bundle}, '|'), lambda part: {test})"
    return f"substr({parts}[1], {len(key) + 2})"


def _key_pattern(key: str) -> str:
    r"""Return an expression for the keys that a name stands for: ``NP_BIO`` for NP-BIO, too.

    >>> _key_pattern("NP_BIO")
    'NP[\\W_]BIO'
    """
    return r"[\W_]".join(map(re.escape, key.split("_")))
