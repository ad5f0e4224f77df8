"""Sets of lines from Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import sentgen
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, NotFoundError


def test_a_set_is_made_labeled_and_reported(tmp_path: Path) -> None:
    """Methods do the same as the commands; the desk is beside the store, or the one that is named."""
    with sentgen.open(tmp_path / "a.duckdb", create=True) as db:
        db.ingest(TREEBANK, "relief")
        assert len(db.line_sets()) == 0
        with pytest.raises(NotFoundError, match="no line sets yet"):
            db.lines("camp")
        camp = db.new_lines("camp", '[lemma="camp"]', sort="1L", labels=["place"])
        assert camp.label("1-3,7", "place", labeler="ann") == 4
        assert camp.label(4, "event", labeler="ann") == 1
        assert camp.undo(labeler="ann") == 1
        assert [row.line for row in camp.lines(labeler="ann", label="place")] == [1, 2, 3, 7]
        assert len(camp.lines(limit=5)) == 5
        assert camp.lines(limit=5).total == 15
        assert [row.value for row in camp.report()] == [1.0]
        (row,) = db.line_sets()
        assert (row.name, row.lines, row.labeled) == ("camp", 15, 4)
        with pytest.raises(InputError, match="there is no line 16"):
            camp.label("16", "place")
    assert (tmp_path / "a.desk").is_file()

    with sentgen.open(tmp_path / "a.duckdb", read_only=True, desk=tmp_path / "a.desk") as db:
        file = tmp_path / "back.csv"
        file.write_text("line,label\n5,event\n")
        assert db.lines("camp").import_labels(file, labeler="ben") == 1
        assert "label_ann" in db.lines("camp").lines(labeler="ben").columns
        assert db.lines("camp").remove() == (15, 5)
        with pytest.raises(NotFoundError, match="no line set 'camp'"):
            db.lines("camp")


def test_labels_are_keys_of_look_ups(tmp_path: Path) -> None:
    """Labels are those of the named desk, at the time of the look-up, in subcorpora, too."""
    with sentgen.open(tmp_path / "a.duckdb", create=True, desk=tmp_path / "class.desk") as db:
        db.ingest(TREEBANK, "relief")
        camp = db.new_lines("camp", '[lemma="camp"]', sort="1L")
        camp.label("1-3,7", "place", labeler="ann")
        listed = Counter(row.label or "_" for row in camp.lines(labeler="ann", limit=0))
        found = db.frequencies(query='[lemma="camp"]', by=["lines.camp"])
        assert {label: count for label, count, *_ in found} == listed
        db.define_subcorpus("placed", where="lines.camp = place")
        sentences = {row.sent_id for row in camp.lines(label="place", labeler="ann", limit=0)}
        assert {row.sent_id for row in db.kwic('[lemma="camp"]', corpus=["placed"])} == sentences
        before = len(db.kwic('[lemma="camp"]', where="lines.camp = place"))
        camp.label(4, "place", labeler="ann")
        assert len(db.kwic('[lemma="camp"]', where="lines.camp = place")) > before
    with (
        sentgen.open(tmp_path / "a.duckdb", read_only=True) as db,
        pytest.raises(NotFoundError, match="no line sets yet"),
    ):
        len(db.kwic('[lemma="camp"]', where="lines.camp = place"))
