"""What the names in a query stand for, bound to a store, and the conditions in SQL that ask for it.

All languages of queries ask the same objects, which `sentgen.lookups.base.keys` finds: of tokens, these are
columns, features, keys of MISC, words as they are written, and surprisal; of what is around tokens, they are
metadata and attributes of regions.

Of their strings, a number is a decimal number in ASCII: a sign, digits, a decimal point and an exponent
(``-12.5``, ``1e3``). *inf*, *NaN*, ``1_000``, ``1,000``, ``0x10`` and digits of other scripts are words.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import ClassVar

from sentgen.case_folding import fold, fold_sql, like
from sentgen.lookups.base.regular_expressions import like_pattern, to_re2
from sentgen.lookups.base.statement import Bindings, any_of

#: RE2 reads it as Python does.
_DECIMAL = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_NUMBER = re.compile(_DECIMAL)
#: Digits before the decimal point and behind it that are told apart.
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
    """Return whether a number has no more digits than are told apart."""
    number = Decimal(text)
    exponent = number.normalize().as_tuple().exponent
    return number.adjusted() < _DIGITS and isinstance(exponent, int) and exponent >= -_DIGITS


def as_number(string: str) -> str:
    """Return a string of SQL as a double; null if it is no number."""
    number = f"try_cast(regexp_extract({string}, '^{_DECIMAL}$') as double)"
    # It may have more digits than a double has room for.
    return f"nullif(nullif({number}, 'inf'::double), '-inf'::double)"


def as_exact(string: str) -> str:
    """Return a number of SQL, a string, with all digits that are told apart; null if it is too large."""
    return f"try_cast({string} as {_EXACT})"


def compare_numbers(left: str, operator: str, right: str) -> str:
    """Return the condition that strings of SQL stand in a relation as numbers; null where one is none."""
    first, second = as_number(left), as_number(right)
    # Doubles that are the same may stand for different numbers.
    strict = "" if operator == "=" else f"{first} {operator[0]} {second} or "
    equal = f"coalesce({as_exact(left)} {operator} {as_exact(right)}, {str('=' in operator).lower()})"
    return f"({strict}{first} = {second} and {equal})"


#: A period of numbers, such as a decade of years; of dates, of their years. Its name is where it begins.
_PERIOD = re.compile(r"(.+)/([1-9]\d{0,8})", re.ASCII | re.DOTALL)
_YEAR = r"regexp_extract({string}, '^(\d{{4}})-\d\d', 1)"


def period_in(name: str) -> tuple[str, int]:
    """Return the key in a name, and the length of the periods of its numbers that it asks for; 0 for none.

    >>> period_in("year/10"), period_in("year")
    (('year', 10), ('year', 0))
    """
    match = _PERIOD.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def period_of(string: str, step: int) -> str:
    """Return the beginning of the period that a string of SQL is in, a string, too; null of no number.

    With no ``step``, it is the string.
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

#: Those that patterns of words name, and of which near values can be named.
NAMED = ("word", "lemma", "upos", "xpos", "deprel")

#: A word of several tokens is that of its first one.
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

    @property
    def is_one_string(self) -> bool:
        """Whether the value is one string, compared as it is written."""
        return len(self.texts) == 1 and not (self.regex or self.ignore_case or self.ignore_accents)

    def condition(self, string: str, bindings: Bindings, name: str = "value") -> str:
        """Return the condition that a string of SQL is such a value; null where the string is."""
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
        """Return what two strings of SQL have in common that are compared as one; of no expressions."""
        string = self._plain(fold_sql(string) if self.ignore_case else string)
        return fold_sql(string) if self.ignore_case and self.ignore_accents else string

    def _plain(self, string: str) -> str:
        return f"strip_accents({string})" if self.ignore_accents else string


@dataclass(frozen=True, slots=True)
class Bound:
    """What a string must be as a number; one that is none does not pass.

    Args:
        operator: ``<``, ``<=``, ``>`` or ``>=``.
        number: the number that the string is compared with.
    """

    operator: str
    number: str

    def condition(self, string: str, bindings: Bindings, name: str = "value") -> str:
        """Return the condition that a string of SQL is such a number; null where it is none."""
        return compare_numbers(string, self.operator, bindings.bind("number", self.number))

    def of_number(self, number: str, bindings: Bindings) -> str:
        """Return the condition that a number of SQL is such a number."""
        return f"{number} {self.operator} {bindings.bind('number', float(self.number))}"


def is_like(string: str, pattern: str, bindings: Bindings, name: str, ignore_case: bool) -> str:
    """Return the condition that a string of SQL is like a pattern, whose escape is the backslash."""
    if ignore_case:
        # What ends the pattern of a part need not end a word.
        string, pattern = like(fold_sql(string)), fold(pattern).replace("ς", "σ")
    return f"{string} like {bindings.bind(name, pattern)} escape '\\'"


#: What may be asked of the string of an attribute.
Test = Value | Bound


class Key(ABC):
    """What a name in a query stands for; ``name`` is that."""

    __slots__ = ()
    #: What it is, to say so of a name that cannot be asked for where it stands.
    what: ClassVar[str] = "an attribute of tokens"
    #: Whether the key is of tokens themselves, and not of the regions, sentences or documents around them.
    of_tokens: ClassVar[bool] = True
    name: str

    @property
    def is_word(self) -> bool:
        """Whether the value is a word, which is folded where capital and small letters are not told apart."""
        return False

    @abstractmethod
    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the value of a row of `token` in SQL; null if it has none.

        Args:
            alias: alias of the row.
            bindings: bindings of the statement.
        """

    def string(self, alias: str, bindings: Bindings) -> str:
        """Return the value as a string."""
        return self.value(alias, bindings)

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row of `token` has a value; ``None``: any.

        It is null, which is not true, where the token has no such attribute.
        """
        string = self.value(alias, bindings)
        return f"{string} is not null" if test is None else test.condition(string, bindings)


@dataclass(frozen=True, slots=True)
class TokenKey(Key):
    """A column of `token`, or a feature in one: strings are resolved to ids, as few of them pass a test.

    Args:
        name: name of the attribute.
        columns: columns of `token`; the first one counts that is not null.
        table: what has the strings of their ids.
        text: the column with these.
        feature: the key of FEATS, where it is none but one of the parts of a string.
    """

    name: str
    columns: tuple[str, ...]
    table: str
    text: str
    feature: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it is a word."""
        return self.table == "word"

    def of_row(self, row: str, bindings: Bindings) -> str:
        """Return the string of a row of the table, such as ``a.``; null for one without the feature."""
        return _feature(row + self.text, self.feature, bindings) if self.feature else row + self.text

    def matches(self, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row of the table passes a test; empty where all of them do."""
        string = self.of_row("", bindings)
        if test is None:
            return f"{string} is not null" if self.feature else ""
        return test.condition(string, bindings, "value" if self.feature else self.name)

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row of `token` has a value; see `Key`."""
        matches = self.matches(test, bindings)
        among = f"in (select id from {self.table} where {matches})" if matches else "is not null"
        return any_of([f"{alias}.{column} {among}" for column in self.columns])

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the value of a row of `token`."""
        string = self.of_row("", bindings)
        each = [f"(select {string} from {self.table} where id = {alias}.{column})" for column in self.columns]
        return each[0] if len(each) == 1 else f"coalesce({', '.join(each)})"


def shared_columns(left: Key, right: Key) -> tuple[str, str] | None:
    """Return the columns of `token` whose numbers tell whether two attributes are the same, if there are."""
    keys = [key for key in (left, right) if isinstance(key, TokenKey) and not key.feature]
    columns = [key.columns[0] for key in keys if len(key.columns) == 1 and key.table == keys[0].table]
    return (columns[0], columns[1]) if len(columns) == 2 else None


@dataclass(frozen=True, slots=True)
class MiscKey(Key):
    """A key of MISC."""

    name: str

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row of `token` has a value; see `Key`."""
        string = _feature("misc.misc", self.name, bindings)
        matches = f"{string} is not null" if test is None else test.condition(string, bindings)
        return _MISC_AMONG.format(alias=alias, matches=matches)

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the value of a row with ``sentence_id`` and ``position``."""
        return _MISC_STRING.format(alias=alias, value=_feature("misc.misc", self.name, bindings))


@dataclass(frozen=True, slots=True)
class WrittenKey(Key):
    """A word as it is written: ``wordform`` of the token, ``textform`` in the text; MISC goes before both."""

    name: str

    @property
    def is_word(self) -> bool:
        """Whether it is a word."""
        return True

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the value of a row of `token`."""
        each = [MiscKey(self.name).value(alias, bindings), token_key("form").value(alias, bindings)]
        if self.name == "textform":
            each.insert(1, _TEXTFORM.format(alias=alias))
        return f"coalesce({', '.join(each)})"


#: Attributes that are worked out for every token; FEATS and MISC of a corpus go before them.
COMPUTED: dict[str, Key] = {key.name: key for key in (WrittenKey("wordform"), WrittenKey("textform"))}
#: A part of speech of either kind, under the names of CWB and NoSketch Engine.
TAGS = ("pos", "tag")


def token_key(name: str) -> TokenKey:
    """Return one of `COLUMNS`, or of `TAGS`."""
    names = ("xpos", "upos") if name in TAGS else (name,)
    _, table, text = COLUMNS[names[0]]
    return TokenKey(name, tuple(COLUMNS[column][0] for column in names), table, text)


def feature_key(name: str) -> TokenKey:
    """Return a feature by its key in FEATS."""
    column, table, text = COLUMNS["feats"]
    return TokenKey(name, (column,), table, text, feature=name)


def _feature(bundle: str, key: str, bindings: Bindings) -> str:
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
