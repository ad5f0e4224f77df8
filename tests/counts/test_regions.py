"""Regions: the rows that marks in sentences become."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.paths import expand
from sentgen.corpus.readers._columns import Carried
from sentgen.corpus.readers.text import tokenize_raw
from sentgen.corpus.sentence import Mark, RawText, Region, Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.treebank_rows import RegionRows
from sentgen.schema import Store

TURNS = """\
# newdoc id = one
# newpar id = a
# speaker = Ann
1	Hello	_	_	_	_	_	_	_	_

# speaker = Ann
1	You	_	_	_	_	_	_	_	_
2	there	_	_	_	_	_	_	_	_

# newpar
# speaker = Bob
1	Yes	_	_	_	_	_	_	_	_

# newdoc id = two
1	Silence	_	_	_	_	_	_	_	_

"""


@given(st.data())
def test_marks_become_stretches_of_tokens(data: st.DataObject) -> None:
    """Random nested and overlapping regions over documents are those of a reference on one list of tokens."""
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    firsts = [True, *data.draw(st.lists(st.booleans(), min_size=len(lengths) - 1, max_size=len(lengths) - 1))]
    total = sum(lengths)
    tokens = [(number, place) for number, size in enumerate(lengths, 10) for place in range(1, size + 1)]
    starts = [i for i, (number, place) in enumerate(tokens) if place == 1 and firsts[number - 10]] + [total]
    spans = data.draw(st.lists(st.tuples(st.integers(0, total), st.integers(0, total)), max_size=4))
    regions = {Region(f"r{i}"): sorted(span) for i, span in enumerate(spans)}
    rows = RegionRows()
    offset = 0
    for number, (size, first) in enumerate(zip(lengths, firsts, strict=True), 10):
        marks = [
            (place, begins, Mark(place - offset, region, begins))
            for region, span in regions.items()
            for place, begins in zip(span, (True, False), strict=True)
            if offset <= place < offset + size or (place == total == offset + size)
        ]
        # An empty region has its begin before its end.
        marks.sort(
            key=lambda one: (one[0], one[1] and regions[one[2].region][0] != regions[one[2].region][1])
        )
        empty = {region for region, (begin, end) in regions.items() if begin == end}
        marks.sort(key=lambda one: (one[0], 0 if one[2].region in empty else 1 + one[1]))
        sentence = Sentence(["x"] * size, marks=tuple(mark for _, _, mark in marks))
        rows.add(number, size, sentence, first=first)
        offset += size
    rows.end_source()

    expected = set()
    for region, (begin, end) in regions.items():
        for document, following in itertools.pairwise(starts):
            one, two = max(begin, document), min(end, following)
            if one < two:
                expected.add((region.kind, tokens[one], tokens[two - 1]))
    assert {(row[2], (row[0], row[3]), row[4:]) for row in rows.regions} == expected


def test_marks_of_raw_text_are_put_on_tokens() -> None:
    raw = RawText('He said "no". Then he left.', 1)
    said, left = Region("q"), Region("s")
    marks = (Mark(8, said, True), Mark(12, said, False), Mark(14, left, True), Mark(27, left, False))
    raw = RawText(raw.text, 1, marks=marks)
    results = list(tokenize_raw(raw, path="x"))

    carried = Carried()
    one, two = (result for result in carried.give(raw, results) if isinstance(result, Sentence))

    assert not carried.marks
    assert one.forms[2:5] == ['"', "no", '"']
    assert one.marks == (Mark(2, said, True), Mark(5, said, False))
    assert two.marks == (Mark(0, left, True), Mark(4, left, False))


def test_paragraphs_and_turns_of_conllu(tmp_path: Path) -> None:
    """A speaker who goes on has one turn; the block reader and the line reader give the same."""
    file = tmp_path / "turns.conllu"
    file.write_text(TURNS, encoding="utf-8")
    with Store(tmp_path / "a.duckdb", create=True) as store:
        ingest(store, [str(file)], Settings("a"))
        with store.connect() as connection:
            query = "select kind, attributes, sentence_id, last_sentence_id, last_position from v_regions"
            found = connection.exec_driver_sql(f"{query} order by sentence_id, place").fetchall()
    first = found[0][2]
    assert [(kind, said, begin - first, end - first, last) for kind, said, begin, end, last in found] == [
        ("p", "id=a", 0, 1, 2),
        ("speaker", "name=Ann", 0, 1, 2),
        ("p", None, 2, 2, 1),
        ("speaker", "name=Bob", 2, 2, 1),
    ]


def test_regions_go_with_their_source(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.conllu").write_text(TURNS.replace("Hello", name), encoding="utf-8")
    with Store(tmp_path / "a.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "one.conllu")], Settings("a"))
        with store.connect() as connection:
            before = connection.exec_driver_sql("select * from region").fetchall()
        ingest(store, [str(tmp_path / "two.conllu")], Settings("a"))
        (tmp_path / "two.conllu").write_text("1\tx" + "\t_" * 8 + "\n\n", encoding="utf-8")
        ingest(store, [str(tmp_path / "two.conllu")], Settings("a", replace=True))
        with store.connect() as connection:
            after = connection.exec_driver_sql("select * from region").fetchall()
            left = connection.exec_driver_sql("select count(*) from region_meta").scalar()
    assert sorted(after) == sorted(before)
    assert left == 3


def test_text_in_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "old.txt"
    file.write_bytes("Das Mädchen schläft. Es träumt.".encode("latin-1"))
    [source] = expand([str(file)], encoding="latin-1")
    assert list(source.lines()) == ["Das Mädchen schläft. Es träumt."]
