"""Labels: giving, undoing, counting, and reading from a spreadsheet."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labeled_texts import listed

from sentgen.desk.agreement import LineReport, kappa
from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel, TakenBack, import_labels
from sentgen.desk.tables import find_set, labels_of
from sentgen.errors import InputError
from sentgen.output.rates import wilson
from sentgen.output.tabular import Rows, write_workbook

LABELERS, LABELS = ("ann", "ben"), ("light", "full", "idiom", "")


def held(desk: Desk) -> dict[str, dict[int, str]]:
    """Return all labels of `make`."""
    with desk.reading() as reading:
        return labels_of(reading, find_set(reading, "make").id)


def give(desk: Desk, lines: str, label: str, labeler: str = "ann") -> int:
    """Label lines of `make`."""
    return GivenLabel(name="make", lines=lines, label=label, labeler=labeler).give(desk).number


STEPS = st.lists(
    st.tuples(
        st.sampled_from(LABELERS),
        st.one_of(st.none(), st.tuples(st.integers(1, 7), st.integers(1, 7), st.sampled_from(LABELS))),
    ),
    max_size=12,
)


def report(desk: Desk) -> tuple[Rows, Sequence[str]]:
    """Return the report of `make`; without parts, no store is opened."""
    return LineReport(name="make").make(desk, Mock(side_effect=AssertionError))


# Each example has a desk of its own.
@settings(
    max_examples=settings.default.max_examples // 3,  # type: ignore[union-attr]
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_labels_and_what_is_taken_back_are_those_of_a_pile(desk_of_examples: Any, steps: list[Any]) -> None:
    """A labeler's labels are the last ones given; each undo takes back the last step that changed something."""
    desk = desk_of_examples()
    piles: dict[str, list[dict[int, str]]] = {who: [{}] for who in LABELERS}
    for who, step in steps:
        pile = piles[who]
        if step is None:
            taken = TakenBack(name="make", labeler=who)
            if len(pile) == 1:
                with pytest.raises(InputError, match=f"{who} has no label in make to take back"):
                    taken.undo(desk)
            else:
                pile.pop()
                taken.undo(desk)
        else:
            first, last, label = min(step[:2]), max(step[:2]), step[2]
            now = {**pile[-1], **dict.fromkeys(range(first, last + 1), label)}
            now = {number: text for number, text in now.items() if text}
            changed = sum(pile[-1].get(number) != now.get(number) for number in range(1, 8))
            assert give(desk, f"{first}-{last}", label, who) == changed
            if changed:
                pile.append(now)
    assert held(desk) == {who: pile[-1] for who, pile in piles.items() if pile[-1]}


@pytest.fixture
def desk_of_examples(desk: Desk, tmp_path: Path) -> Any:
    """A desk without labels, for each example."""
    content, count = desk.path.read_bytes(), iter(range(1000))

    def fresh() -> Desk:
        path = tmp_path / f"{next(count)}.desk"
        path.write_bytes(content)
        return Desk(path)

    return fresh


@pytest.mark.parametrize("lines", ["0", "8", "3-2", "x", "", "1-", "1,,2", "-1", "1-99999999999"])
def test_lines_that_there_are_not_get_no_label(desk: Desk, lines: str) -> None:
    """Labels for missing lines are refused as a whole step."""
    with pytest.raises(InputError, match="line"):
        give(desk, f"1,{lines}" if lines else "", "light")
    assert held(desk) == {}


@pytest.mark.parametrize("labeler", ["*", "a,b", "?"])
def test_what_is_no_name_of_a_labeler_is_refused(desk: Desk, labeler: str) -> None:
    """`*` is everybody, and a comma parts keys."""
    with pytest.raises(InputError, match=r"is no name of a labeler; .* other than \? and without , or \*$"):
        give(desk, "1", "light", labeler)


@pytest.mark.parametrize("label", ["?", "a\tb\x1b[0m", "x" * 101])
def test_a_label_is_a_word_or_a_few(desk: Desk, label: str) -> None:
    """`?`, which marks lines without a label, and control characters are no labels."""
    with pytest.raises(InputError, match="is no label"):
        give(desk, "1", label)


def test_lists_are_of_a_label_and_in_an_order(desk: Desk, store: Path) -> None:
    """Lists can be of lines with a label of mine, of others, or without one, in an order."""
    give(desk, "1,3", "light")
    give(desk, "2", "full")
    give(desk, "1", "full", "ben")

    def numbers(**asked: Any) -> list[int]:
        return [one["line"] for one in listed(desk, store, **asked)]

    assert numbers(label="light", labeler="ann") == [1, 3]
    assert numbers(label="full") == numbers(label="full", labeler="*") == [1, 2]
    assert numbers(label="?") == numbers(label="?", labeler="*") == [4, 5, 6, 7]
    assert listed(desk, store) == listed(desk, store, labeler="*")
    assert numbers(label="?", labeler="ann") == [4, 5, 6, 7]
    assert numbers(label="?", labeler="ben") == [2, 3, 4, 5, 6, 7]
    assert numbers(sort="label", labeler="ann") == [2, 1, 3, 4, 5, 6, 7]
    assert numbers(sort="right", labeler="ann", limit=3, offset=1) == numbers(sort="right")[1:4]
    rights = [one["right"] for one in listed(desk, store, sort="right")]
    assert rights == sorted(rights, key=lambda text: text.casefold().split())
    lefts = [one["left"].split()[::-1] for one in listed(desk, store, sort="left")]
    assert lefts == sorted(lefts)
    assert listed(desk, store, labeler="ann")[0]["label_ben"] == "full"
    with pytest.raises(InputError, match="no label 'ligth' in make; there are full, light"):
        numbers(label="ligth")


def test_kappa_is_that_of_the_book() -> None:
    """The example of Fleiss, Levin and Paik 2003, table 18.1: three diagnoses of 100 patients by two raters."""
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    pairs = [(f"{i}", f"{j}") for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    found = kappa(pairs)

    assert found is not None
    assert found[0] == pytest.approx(0.676, abs=5e-4)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=60))
def test_kappa_and_its_interval_are_those_of_the_delta_method(pairs: list[tuple[str, str]]) -> None:
    """The variance is that of the delta method, with a numeric gradient over multinomial counts."""

    def value(p: Any) -> float:
        observed, chance = np.trace(p), (p.sum(0) * p.sum(1)).sum()
        return float((observed - chance) / (1 - chance))

    p = np.array([[pairs.count((one, two)) for two in "abc"] for one in "abc"]) / len(pairs)
    found = kappa(pairs)
    if min(np.count_nonzero(p.sum(0)), np.count_nonzero(p.sum(1))) == 1:
        assert found is None
        return
    assert found is not None
    step, gradient = 1e-6, np.zeros(9)
    for cell in range(9):
        shift = np.zeros(9)
        shift[cell] = step
        more, less = p + shift.reshape(3, 3), p - shift.reshape(3, 3)
        # The table is scaled to sum 1, as the formula is for shares.
        gradient[cell] = (value(more / more.sum()) - value(less / less.sum())) / (2 * step)
    flat = p.ravel()
    variance = (gradient**2 @ flat - (gradient @ flat) ** 2) / len(pairs)
    side = 1.959963984540054 * math.sqrt(max(variance, 0))
    assert found[0] == pytest.approx(value(p), abs=1e-9)
    if found[1] is None:
        assert (side, found[2]) == (pytest.approx(0, abs=2e-3), None)
        return
    assert found[1] == pytest.approx(max(value(p) - side, -1), abs=2e-3)
    assert found[2] == pytest.approx(min(value(p) + side, 1), abs=2e-3)


def test_a_report_counts_what_was_given(desk: Desk) -> None:
    """Shares are of the lines that a labeler has labeled, and agreement of those that both have."""
    give(desk, "1-5", "light")
    give(desk, "6", "full")
    give(desk, "1-3", "light", "ben")
    give(desk, "5-6", "full", "ben")
    rows, notes = report(desk)
    found = {(one["measure"], one["labeler"], one["label"]): one for one in rows.to_pylist()}
    ours, theirs = held(desk)["ann"], held(desk)["ben"]
    both = [number for number in ours if number in theirs]
    same = sum(ours[number] == theirs[number] for number in both)

    for who, given_ in (("ann", ours), ("ben", theirs)):
        for label, count in Counter(given_.values()).items():
            row = found["share", who, label]
            assert (row["lines"], row["value"]) == (count, count / len(given_))
            assert (row["low"], row["high"]) == wilson(count, len(given_))
    agreed = found["agreement", "ann, ben", None]
    assert (agreed["lines"], agreed["value"]) == (len(both), same / len(both)) == (5, 0.8)
    assert found["kappa", "ann, ben", None]["value"] == kappa([(ours[one], theirs[one]) for one in both])[0]  # type: ignore[index]
    assert notes == ["1 line of 7 is not labeled by ann", "2 lines of 7 are not labeled by ben"]


def test_what_cannot_be_reported_is_refused_or_said(desk: Desk) -> None:
    """A report without labels is refused; labelers without common lines, or with one label, get a note."""
    with pytest.raises(InputError, match="no line of make has a label yet; give some with"):
        report(desk)
    give(desk, "1-2", "light")
    give(desk, "3", "light", "ben")
    assert "ann and ben have labeled no line in common" in report(desk)[1]
    give(desk, "1-2", "light", "ben")
    rows, notes = report(desk)
    assert [one["value"] for one in rows.to_pylist() if one["measure"] == "kappa"] == [None]
    assert any(note.startswith("there is no kappa where one labeler gives all") for note in notes)


@pytest.mark.parametrize("theirs", ["light", "full", "mixed"])
def test_one_label_alone_has_no_kappa(desk: Desk, theirs: str) -> None:
    """If a labeler has one label only, there is no kappa, which would look like agreement by chance."""
    give(desk, "1-4", "light")
    give(desk, "1-4", "full" if theirs == "mixed" else theirs, "ben")
    give(desk, "2", "light", "ben") if theirs == "mixed" else None
    rows, notes = report(desk)
    (found,) = (one for one in rows.to_pylist() if one["measure"] == "kappa")

    assert (found["value"], found["low"], found["high"]) == (None, None, None)
    assert any(note.startswith("there is no kappa where one labeler gives all") for note in notes)


def test_full_agreement_has_no_interval(desk: Desk) -> None:
    """Three lines and three thousand would have the same one, from 1 to 1."""
    for who in LABELERS:
        give(desk, "1-2", "light", who)
        give(desk, "3", "full", who)
    rows, notes = report(desk)
    (found,) = (one for one in rows.to_pylist() if one["measure"] == "kappa")

    assert (found["value"], found["low"], found["high"]) == (1, None, None)
    assert notes[-1].startswith("there is no interval of a kappa whose standard error is 0")


@pytest.mark.parametrize(
    ("first", "other"),
    [("Idiom", "idiom"), ("ÉTÉ", "été"), ("straße", "STRASSE"), ("été", "e\u0301te\u0301")],
)
def test_labels_that_differ_in_case_alone_are_one(desk: Desk, tmp_path: Path, first: str, other: str) -> None:
    """Labels that differ in case, typed or in a spreadsheet, get the first spelling of the set, with a note."""
    give(desk, "1", first)
    said = str(GivenLabel(name="make", lines="2", label=other, labeler="ben").give(desk))
    table = tmp_path / "labels.csv"
    table.write_text(f"line,label\n3,{other}\n4,New\n5,new\n", "utf-8")
    told = str(import_labels(desk, "make", table, "ann"))

    assert held(desk) == {"ann": {1: first, 3: first, 4: "New", 5: "New"}, "ben": {2: first}}
    assert f"{other!r} is {first!r}, as the set has it" in said
    assert "'new' is 'New'" in told


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_a_spreadsheet_comes_back(desk: Desk, store: Path, tmp_path: Path, ending: str) -> None:
    """The column `label` of a spreadsheet becomes labels; an empty cell removes none."""
    give(desk, "1", "full")
    table = listed(desk, store, labeler="ann")
    for row in table:
        row["label"] = {2: "light", 4: " idiom "}.get(row["line"], "" if row["line"] == 1 else row["label"])
    # As a spreadsheet leaves it: in another order, and with an apostrophe.
    table = table[::-1]
    table[0]["node"] = f"'{table[0]['node']}"
    file = tmp_path / f"back.{ending}"
    columns, rows = list(table[0]), [list(row.values()) for row in table]
    if ending == "xlsx":
        with file.open("wb") as sink:
            write_workbook(columns, rows, sink)
    else:
        with file.open("w", newline="") as text:
            csv.writer(text, delimiter="\t" if ending == "tsv" else ",").writerows([columns, *rows])

    assert import_labels(desk, "make", file, "ann").number == 2
    assert held(desk) == {"ann": {1: "full", 2: "light", 4: "idiom"}}
    assert TakenBack(name="make", labeler="ann").undo(desk).number == 2
    assert held(desk) == {"ann": {1: "full"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("line,label\n1,light\n9,light\n", r"back.csv:3: '9' is no line of make"),
        ("line,label\n1,?\n", r"back.csv:2: '\?' is no label"),
        ("line,label,node\n1,light,take\n", r"back.csv:2: line 1 of make has the node 'make', not 'take'"),
        ("line,tag\n1,light\n", r"'label' is no column; there are: line, tag"),
    ],
)
def test_a_table_of_something_else_gives_no_labels(desk: Desk, tmp_path: Path, text: str, said: str) -> None:
    """A table of other data is refused with the place of the fault, and gives no labels."""
    file = tmp_path / "back.csv"
    file.write_text(text)

    with pytest.raises(InputError, match=said):
        import_labels(desk, "make", file, "ann")
    assert held(desk) == {}
