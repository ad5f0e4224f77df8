"""Which rows of a list a page shows, and by what they are sorted, of answers that have all of them."""

from __future__ import annotations

import pytest
from starlette.datastructures import QueryParams

from sentgen.server.pages.page import ListPart, PageAnswer, PageParameters

ROWS = [{"a": a, "b": b} for a, b in ((3, "x"), (None, ["y"]), (1, "z"), (3, {"w": 1}), (2.5, None))]
WHOLE = PageAnswer(columns=("a", "b"), rows=ROWS)


def part(query: str, rows: int = 2) -> ListPart:
    """A part of a list of the page ``/p``."""
    return ListPart("/p", PageParameters(QueryParams(query)), rows, usual="-a")


@pytest.mark.parametrize(
    ("query", "shown", "truncated"),
    [
        ("", [3, None], True),
        ("offset=2", [1, 3], True),
        ("offset=4", [2.5], False),
        ("sort=a", [1, 2.5], True),
        ("sort=-a&offset=2", [2.5, 1], True),
        ("sort=a&offset=4", [None], False),
        ("sort=c", [3, None], True),
        ("offset=9", [], False),
    ],
)
def test_parts_of_a_whole_answer(query: str, shown: list[float | None], truncated: bool) -> None:
    """Equal rows stay as they were, those without a value come last, and an unknown column sorts nothing."""
    found = part(query).cut(WHOLE)
    assert [row["a"] for row in found.rows] == shown
    assert (found.truncated, found.more["total"]) == (truncated, 5)


def test_what_has_no_order_is_sorted_as_text() -> None:
    """Of lists and objects of SQL."""
    assert [row["b"] for row in part("sort=b", 5).cut(WHOLE).rows] == [["y"], "x", "z", {"w": 1}, None]


def test_links_keep_what_else_was_asked() -> None:
    """Another order begins with the first row, and unfolded trees are those of other lines then."""
    sorted_part = part("q=x&q=y&offset=2&open=0&sort=-b")
    assert sorted_part.by("b", down=True) == "/p?q=x&q=y&sort=b"
    assert sorted_part.by("a", down=True) == "/p?q=x&q=y&sort=-a"
    assert sorted_part.before() == "/p?q=x&q=y&sort=-b"
    assert sorted_part.behind(PageAnswer(rows=ROWS[:2], truncated=True)) == "/p?q=x&q=y&sort=-b&offset=4"
    assert sorted_part.behind(PageAnswer(rows=ROWS[:2])) == ""
    assert part("").direction("a") == "descending"


def test_a_label_has_a_total_where_it_is_known() -> None:
    """Told by the answer, or as these are the last ones."""
    rows = ROWS[:2]
    assert part("offset=1000").label(PageAnswer(rows=rows, truncated=True)) == "1,001–1,002"
    assert part("offset=1000").label(PageAnswer(rows=rows)) == "1,001–1,002 of 1,002"
    assert part("").label(PageAnswer(rows=rows, truncated=True, more={"total": 4031})) == "1–2 of 4,031"
