"""Tables: data frames, Arrow, rows with names, and their display."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import sentgen
from sentgen.api.tables import Table, _terminal_lines
from sentgen.errors import InputError
from sentgen.output.tabular import Rows

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def test_rows_have_the_names_of_their_columns(db: sentgen.Database) -> None:
    """Values keep their types; a row can be unpacked, and a column taken as a whole."""
    found = db.ngrams("the *", limit=2)
    first, second = found
    the, *_ = first

    assert (the, first.w2, first.count) == ("the", "border", 8)
    assert first._fields == tuple(found.columns)
    assert found[1] == second
    assert found[:1] == [first]
    assert found["count"] == [8, 6]
    assert (len(found), found.truncated) == (2, True)
    with pytest.raises(InputError, match="no column 'freq'; there are: w1, w2"):
        found["freq"]


def test_columns_of_any_name(db: sentgen.Database) -> None:
    """Columns of the same name get different names; names that Python does not allow are changed."""
    found = db.sql('select 1 as a, 2 as a, 3 as "class", 4 as "V.lemma", 5 as "9"')

    assert found.columns == ["a", "a_2", "class", "V.lemma", "9"]
    assert found[0] == (1, 2, 3, 4, 5)
    assert found[0]._fields == ("a", "a_2", "class_", "V_lemma", "_4")
    assert found[0].V_lemma == 4
    assert found.arrow().column_names == found.columns
    assert found["a_2"] == [2]


def test_data_frames(db: sentgen.Database) -> None:
    """pandas and Polars get the same rows, and any library with Arrow reads the table itself."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    found = db.ngrams("in the *", limit=0)

    assert list(found.df().itertuples(index=False, name=None)) == list(found)
    assert found.pl().rows() == list(found)
    assert polars.DataFrame(found).rows() == list(found)
    assert isinstance(found.df(), pandas.DataFrame)


@pytest.mark.parametrize(("method", "name"), [("df", "pandas"), ("pl", "Polars")])
def test_data_frames_that_are_not_installed(
    db: sentgen.Database, monkeypatch: pytest.MonkeyPatch, method: str, name: str
) -> None:
    """Without pandas or Polars, the error says how to install them, and what works without."""
    monkeypatch.setitem(sys.modules, name.lower(), None)
    remedy = (
        rf"run: pip install 'sentgen\[{name.lower()}\]', or take \.arrow\(\) or \.rows\(\), which need none"
    )

    with pytest.raises(InputError, match=rf"^{name} is not installed; {remedy}$"):
        getattr(db.corpora(), method)()
    assert db.corpora().rows() == list(db.corpora())


def test_the_statement_gives_the_same_rows(db: sentgen.Database) -> None:
    """`.sql` runs by itself, and gives the rows of the answer."""
    found = db.ngrams("in the *", limit=5)

    assert list(db.sql(found.sql)) == list(found)


def test_sql_takes_values_and_no_more_rows_than_asked(db: sentgen.Database) -> None:
    """SQL takes values by place and by name, but no variables of Python by DuckDB's replacement scans."""
    frame = [1]
    by_place = db.sql("select w1, count from v_ngrams_1 where w1 = ?", ["camp"])

    assert list(by_place) == [("camp", 13)]
    assert list(db.sql("select count from v_ngrams_1 where w1 = $w", {"w": "camp"})) == [(13,)]
    assert db.sql("select * from v_ngrams_2", limit=3).truncated
    for query in ("select * from frame", "delete from corpus", "select * from read_csv('/etc/passwd')"):
        with pytest.raises(sentgen.errors.QueryRejected):
            db.sql(query)
    assert frame


def test_a_table_is_shown_in_a_few_lines(db: sentgen.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is shown within the width of the terminal, without the SQL, and with some rows only."""
    monkeypatch.setenv("COLUMNS", "70")
    shown = repr(db.frequencies(limit=15)).splitlines()

    assert len(shown) == 13
    assert max(map(len, shown)) <= 70
    assert shown[0].endswith("...")
    assert shown[-1] == "[15 rows; there are more (limit=0 for all)]"
    assert (
        repr(db.ngrams("no such words"))
        == "[0 rows]\nno n-gram 'no such words'; such never occurs; words never occurs"
    )


def test_a_concordance_keeps_what_is_next_to_the_node(
    db: sentgen.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The left context loses its beginning, the right one its end."""
    monkeypatch.setenv("COLUMNS", "60")
    head, first, *rest = repr(db.kwic("camp", limit=3)).splitlines()

    assert head.split() == ["sent_id", "left", "node", "right"]
    assert first == "relief-003-1  …lera in the Adwela  camp  on Wednesday."
    assert rest[-1] == "[3 rows of 13]"


def test_wide_characters_count_as_two() -> None:
    """Chinese words do not break the lines of a terminal."""
    shown = _terminal_lines(["word", "count"], [["中" * 200, 1], ["a", 2]])

    assert "…" in shown[1]
    assert [line.split()[-1] for line in shown] == ["count", "1", "2"]


def test_the_html_of_a_table_is_well_formed_and_escaped() -> None:
    """The HTML of a table is well-formed, with all content of a corpus escaped."""
    table = Table(Rows(["word", "count"], [(HOSTILE, 3), ("a", 1)]), notes=[HOSTILE])
    shown = table._repr_html_()
    body = shown[shown.index("<div") :]

    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert len(ElementTree.fromstring(body).findall(".//tbody/tr")) == 2
    # Bars beside the counts: that of the greatest is the longest.
    assert [bar.get("width") for bar in ElementTree.fromstring(body).iter("rect")] == ["160.0", "53.3"]


def test_the_html_of_a_concordance_runs_as_its_script() -> None:
    """Hebrew lines are mirrored, as on the pages."""
    row = ("שלום", "עולם", "טוב")
    table = Table(Rows(["left", "node", "right"], [row]))

    assert '<table dir="rtl">' in table._repr_html_()
    assert "טוב" in table._repr_html_()


def test_what_can_be_drawn(db: sentgen.Database, tmp_path: Path) -> None:
    """Tables are drawn as by the commands; a file is written whole or not at all."""
    pytest.importorskip("matplotlib")
    drawn = {
        "lines": db.kwic("camp", limit=2),
        "counts": db.match("pattern { X [lemma=camp] }").by("document"),
        "hits": db.match("pattern { X [lemma=camp] }"),
    }
    for name, table in drawn.items():
        path = tmp_path / f"{name}.svg"
        assert table.plot(path if name == "lines" else None).axes
        assert path.exists() == (name == "lines")
    for table, path, told in (
        (db.ngrams("the *"), "x.svg", "these rows have no picture"),
        (db.kwic("zebra"), "x.svg", "there are no rows to draw"),
        (db.frequencies(), "x.jpg", "a plot ends in .svg, .png or .pdf"),
        (db.frequencies(limit=0), "x.svg", "too many to draw; ask for fewer with `limit`"),
    ):
        with pytest.raises(InputError, match=re.escape(told)):
            table.plot(tmp_path / path)
        assert not (tmp_path / path).exists()


def test_plots_that_cannot_be_drawn_here(db: sentgen.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'sentgen\[plots\]'"):
        db.frequencies().plot()


_SPAN = re.compile(r'<span class="level-(\d)">(.*?)</span>')


def test_a_notebook_colors_the_words_that_lines_are_sorted_by(db: sentgen.Database) -> None:
    """In ten lines of concordances and of hits in trees, the sorted words beside the node are colored."""
    lines = db.kwic("camp", sort="1L,node,1R", context=3)
    hits = db.match("pattern { X [lemma=camp] }", sort="1R", limit=3)
    plain = db.kwic("camp", context=3)

    spans = _SPAN.findall(lines._repr_html_())
    expected = [
        span
        for row in lines.rows()[:10]
        for span in (("1", row.left.split()[-1]), ("2", row.node), ("3", row.right.split()[0]))
    ]
    assert spans == expected
    assert [text for _, text in _SPAN.findall(hits._repr_html_())] == [row.right.split()[0] for row in hits]
    assert "<span" not in plain._repr_html_()
    assert sorted(lines.rows()) == sorted(plain.rows())
    assert lines.sql != plain.sql
    assert "<span" not in db.kwic("camp", sort="document")._repr_html_()


def test_lines_stay_when_the_store_was_closed(relief: Path) -> None:
    with sentgen.open(relief, read_only=True) as db:
        lines = db.kwic("camp", sort="1L")

    assert lines[0].node in lines._repr_html_()
