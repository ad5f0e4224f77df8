"""The data dictionary is complete and true."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from sentgen.errors import NotFoundError
from sentgen.schema import dictionary


def test_every_relation_and_column_has_a_description() -> None:
    """A new table or view needs a description, and so do its columns."""
    missing = [r.name for r in dictionary.relations() if len(r.description) < 10]
    missing += [
        f"{r.name}.{c.name}" for r in dictionary.relations() for c in r.columns if len(c.description) < 4
    ]

    assert missing == []


def test_it_matches_the_store(template: Path) -> None:
    """Relations, columns, their order, types and nullability are those of the file."""
    listed = {(r.name, c.name, c.type, c.nullable) for r in dictionary.relations() for c in r.columns}
    with duckdb.connect(str(template), read_only=True) as duck:
        found = set(dictionary.catalogue(duck))

    assert found == listed
    assert dictionary.names() == {r.name for r in dictionary.relations()}


def test_descriptions_are_in_the_store(template: Path) -> None:
    """Other tools that open the file show the same descriptions, as comments."""
    with duckdb.connect(str(template), read_only=True) as duck:
        columns = duck.execute(
            "select table_name, column_name, comment from duckdb_columns() where not internal"
        ).fetchall()
        relations = duck.execute(
            """
            select table_name, comment from duckdb_tables()
            union all
            select view_name, comment from duckdb_views() where not internal
            """
        ).fetchall()

    assert {(r.name, c.name, c.description) for r in dictionary.relations() for c in r.columns} == set(
        columns
    )
    described = {r.name: r.description for r in dictionary.relations()}
    described["alembic_version"] = dict(relations)["alembic_version"]
    assert dict(relations) == described


def test_views_describe_exactly_their_columns() -> None:
    """The head of a view's file lists its columns, in their order, and no others."""
    from sentgen.schema import dictionary

    for view in dictionary.views():
        assert list(view.columns) == [c.name for c in dictionary.Relation.named(view.name).columns], view.name


def test_relation_by_name() -> None:
    """Case does not matter; a wrong name gets suggestions."""
    assert [c.name for c in dictionary.Relation.named("Segment").columns] == [
        "id",
        "corpus_id",
        "sentences",
        "tokens",
        "created_at",
    ]
    with pytest.raises(NotFoundError, match="no table or view 'sentense'; did you mean sentence"):
        dictionary.Relation.named("sentense")
    with pytest.raises(NotFoundError, match=r"no table or view 'qqqq' \(sentgen schema lists them\)"):
        dictionary.Relation.named("qqqq")
