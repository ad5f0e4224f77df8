"""Attributes as conditions in SQL, against the strings of `v_tokens`."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Connection

from sentgen.lookups.base.attributes import TokenKey, Value
from sentgen.lookups.base.statement import Bindings, Statement


def found(connection: Connection, name: str, value: Value | None) -> int:
    """Count the tokens with a value of an attribute."""
    bindings = Bindings()
    condition = TokenKey.of_name(name).condition("t", value, bindings)
    return int(Statement(f"select count(*) from token t where {condition}", bindings).value(connection))


@pytest.mark.parametrize("name", ["form", "lemma", "xpos", "deprel"])
@pytest.mark.parametrize("pattern", ["fell", "fall", "VB.*", "THE", "the|dow", "n.*", "[^.]+"])
@pytest.mark.parametrize("ignore_case", [True, False])
def test_regular_expressions_match_whole_strings(
    connection: Connection, name: str, pattern: str, ignore_case: bool
) -> None:
    """Regular expressions match whole strings, as `re.fullmatch` does."""
    rows = Statement(f"select {name} from v_tokens where {name} is not null").run(connection)
    matches = re.compile(pattern, re.IGNORECASE if ignore_case else 0).fullmatch
    expected = sum(matches(text) is not None for text in rows[name].to_pylist())

    assert found(connection, name, Value((pattern,), regex=True, ignore_case=ignore_case)) == expected


def test_one_of_several_strings(connection: Connection) -> None:
    """A value with several strings matches the tokens of each."""
    assert found(connection, "form", Value(("the", "dow"))) == sum(
        found(connection, "form", Value((text,))) for text in ("the", "dow")
    )


def test_features() -> None:
    """A feature is a key of the bundle, and not the end of another one."""
    import duckdb

    with duckdb.connect() as duck:
        duck.execute(
            "create table tag as select * from (values (1, 'Case=Nom|Number=Sing'), (2, 'Number[psor]=Plur'),"
            " (3, 'X=a=b')) t(id, name)"
        )
        duck.execute("create table token as select id as feats_id from tag")
        for name, value, expected in (
            ("Number", None, 1),
            ("Number", Value(("Sing",)), 1),
            ("Number", Value(("Plur",)), 0),
            ("Number[psor]", Value(("Plur",)), 1),
            ("Case", Value(("N.m",), regex=True), 1),
            ("X", Value(("a=b",)), 1),
            ("Case", Value(("nom",), ignore_case=True), 1),
        ):
            bindings = Bindings()
            condition = TokenKey.of_feature(name).condition("t", value, bindings)
            query = f"select count(*) from token t where {condition}"
            assert duck.execute(query, dict(bindings)).fetchall() == [(expected,)], name
        bindings = Bindings()
        string = TokenKey.of_feature("Number").value("t", bindings)
        rows = duck.execute(f"select {string} from token t order by 1", dict(bindings)).fetchall()
        assert rows == [("Sing",), (None,), (None,)]
