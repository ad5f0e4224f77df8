"""Values of parameters of a query on a command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.errors import InputError
from sentgen.lookups.command_line import SqlValue, format_parameter, parse_parameter

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False)
) | st.text(st.characters(blacklist_categories=("Cs",)))


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: SqlValue) -> None:
    """A value comes back with its type: the text 5 is no number."""
    name, read = parse_parameter(format_parameter("x", value))

    assert (name, read, type(read)) == ("x", value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-1.5e3", -1500.0),
        ("true", True),
        ("null", None),
        ('"5"', "5"),
        ("ewt", "ewt"),
        ("a=b", "a=b"),
        ("007", "007"),
        ("NaN", "NaN"),
        ("[1]", "[1]"),
        ("", ""),
        ('"open', '"open'),
        ("[" * 100_000, "[" * 100_000),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_values_look_like_what_they_are(text: str, value: SqlValue) -> None:
    """Numbers, truth values and null are read as such; all else is text."""
    assert parse_parameter(f"x={text}") == ("x", value)


@pytest.mark.parametrize("text", ["", "x", "=5"])
def test_a_value_needs_a_name(text: str) -> None:
    """A parameter without a name is refused, with the way to write it."""
    with pytest.raises(InputError, match="write NAME=VALUE"):
        parse_parameter(text)
