"""Limits of a writer on a desk: refused beforehand, without effect on other labelers."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.desk import line_sets
from sentgen.desk.desk import Allowance, Desk
from sentgen.desk.labels import GivenLabel
from sentgen.desk.line_sets import NewLineSet
from sentgen.errors import InputError
from sentgen.schema import Store


def of(desk: Desk, writer: str, *, sets: int = 5, size: int = 2**20, room: int = 2**30) -> Desk:
    """Return the desk with the limits of a writer."""
    return Desk(desk.path, allowance=Allowance(writer, sets, size, room))


def make(desk: Desk, store: Path, name: str) -> None:
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        NewLineSet(name=name, pattern="lemma:make").make(desk, connection)


def give(desk: Desk, label: str) -> None:
    GivenLabel(name="texts", lines="1-7", label=label, labeler="ann").give(desk)


def warnings(desk: Desk) -> list[str]:
    assert desk.allowance is not None
    with desk.writing() as connection:
        return [*desk.allowance.warnings(connection)]


def names(desk: Desk) -> list[str]:
    return [str(row["name"]) for row in line_sets.overview(desk).to_pylist()]


def test_sets_are_bounded_and_told_before(desk: Desk, store: Path) -> None:
    """Removing a set makes room; other writers, and those without a limit, are not affected."""
    ann, before = of(desk, "10.0.0.1"), names(desk)
    for number in range(5):
        assert bool(warnings(ann)) == (number >= 4)
        make(ann, store, f"set {number}")
    assert warnings(ann) == ["you have made 5 of the 5 line sets that you may make here"]

    with pytest.raises(InputError, match="you have made 5 line sets here, which is the most; ask"):
        make(ann, store, "one more")
    assert names(desk) == sorted([*before, *(f"set {number}" for number in range(5))])
    make(of(desk, "10.0.0.2"), store, "of another")
    make(desk, store, "of nobody")
    line_sets.remove(desk, "set 3")
    make(ann, store, "one more")


def test_bytes_are_bounded(desk: Desk, store: Path) -> None:
    """Bytes of sets and labels are limited together; nothing beyond is kept, and others go on labeling."""
    ann, ben = of(desk, "10.0.0.1", size=20_000), of(desk, "10.0.0.2")
    make(ann, store, "texts")
    with pytest.raises(InputError, match="more than the 0 MB of line sets and labels"):
        [give(ann, f"label {number}") for number in range(100)]

    assert "take" in warnings(ann)[0]
    with desk.reading() as reading:
        kept = reading.exec_driver_sql("select label from label order by id").scalars().all()
    assert kept == [f"label {number}" for number in range(len(kept) // 7) for _ in range(7)]
    assert 100 < len(kept) < 300
    assert GivenLabel(name="texts", lines="1", label="place", labeler="ben").give(ben).number == 1


def test_room_is_left_for_labels(desk: Desk, store: Path) -> None:
    """With any number of writers, the limit of sets leaves room in the file for labels."""
    make(desk, store, "texts")
    full = of(desk, "10.0.0.3", room=desk.path.stat().st_size)

    with pytest.raises(InputError, match="no room for more line sets here, but for labels"):
        make(full, store, "more")
    assert GivenLabel(name="texts", lines="1", label="place", labeler="ann").give(full).number == 1
