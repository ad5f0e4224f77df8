"""What of the strings of a corpus is a number, in Python and in SQL, and how numbers are compared.

A number is a decimal number in ASCII: a sign, digits, a decimal point and an exponent (``-12.5``, ``1e3``).
*inf*, *NaN*, ``1_000``, ``1,000``, ``0x10`` and digits of other scripts are words.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite

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
