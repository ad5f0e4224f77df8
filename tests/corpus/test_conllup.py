"""CoNLL-U Plus: columns by their names, through the checks of CoNLL-U."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.corpus.formats import detect
from sentgen.corpus.paths import source_at
from sentgen.corpus.readers import conllu
from sentgen.corpus.sentence import Sentence
from sentgen.errors import Rejection

PARSEME = """\
# global.columns = ID FORM LEMMA UPOS HEAD DEPREL MISC PARSEME:MWE
# newdoc id = d
# sent_id = 1
1-2	don't	_	_	_	_	_	*
1	do	do	AUX	2	aux	_	*
2	n't	not	PART	0	root	SpaceAfter=No	1:VID|2
2.1	go	go	VERB	_	_	_	*
3	.	.	PUNCT	2	punct	_	_

# sent_id = 2
1	a	_	_	_	_	_	_
"""


EMPTY = "\t_" * 8


def read(text: str) -> list[Sentence | Rejection]:
    return list(conllu.PLUS.read(text.split("\n"), path="a.conllup"))


def test_columns_by_their_names() -> None:
    """Columns that CoNLL-U does not have are in MISC; empty nodes and ranges are read as in CoNLL-U."""
    one, two = read(PARSEME)
    assert isinstance(one, Sentence)
    assert isinstance(two, Sentence)

    assert (one.forms, one.lemmas, one.heads) == (["do", "n't", "."], ["do", "not", "."], [2, 0, 2])
    assert one.misc == ("PARSEME:MWE=*", "SpaceAfter=No|PARSEME:MWE=1:VID\\p2", "_")
    assert (one.document, one.sent_id, one.line, one.metadata) == ("d", "1", 2, [])
    assert one.multiwords == [(1, 2, "don't")]
    assert one.empty_nodes[0].columns[1:3] == ["go", "VERB"]
    assert (two.forms, two.misc, two.line) == (["a"], None, 10)


def test_a_file_without_numbers() -> None:
    [one] = read("# global.columns = lemma FORM\nx\ta\n_\tb")
    assert isinstance(one, Sentence)
    assert (one.forms, one.lemmas, one.heads) == (["a", "b"], ["x", "_"], None)


def test_the_columns_of_conllu_are_read_as_there() -> None:
    """A file with the columns of CoNLL-U gives the same sentences with and without their declaration."""
    rows = (
        "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t2:nsubj\t_\n2\tsleep\t_\t_\t_\t_\t0\troot\t_\tA=1\n"
    )
    [same] = conllu.read(rows.split("\n"), path="a.conllup")
    [one] = read(f"# global.columns = {' '.join(conllu.COLUMNS)}\n{rows}")
    assert isinstance(one, Sentence)
    assert isinstance(same, Sentence)
    one.line = same.line
    assert one == same


@pytest.mark.parametrize(
    ("row", "line", "message"),
    [
        ("1\ta\tb", 2, "3 tab-separated columns where 2 belong"),
        ("2\ta", 2, "token number '2' where 1 belongs"),
        ("1\t", 2, "column 2 is empty; write _ for no value"),
    ],
)
def test_refused_with_its_line(row: str, line: int, message: str) -> None:
    refused, sound = read(f"# global.columns = ID FORM\n{row}\n\n1\tsound\n")
    assert isinstance(refused, Rejection)
    assert (refused.line, refused.message) == (line, message)
    assert isinstance(sound, Sentence)


@pytest.mark.parametrize("first", ["", "1\ta", "# global.columns =", "# global.columns = ID FORM ID"])
def test_columns_that_are_not_named(first: str) -> None:
    [refused] = read(f"{first}\n1\ta\n")
    assert isinstance(refused, Rejection)
    assert str(refused.as_error()).startswith("a.conllup:1: the first line is not # global.columns = ID FORM")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.cupt", PARSEME, "conllup"),
        ("a.conllu", PARSEME, "conllup"),
        ("a.txt", PARSEME, "conllup"),
        ("a.conllu", f"# global.columns = {' '.join(conllu.COLUMNS)}\n1\ta{EMPTY}\n", "conllu"),
        ("a.conllu", f"# global.columns = ID FORM\n1\ta{EMPTY}\n", "conllu"),
    ],
)
def test_detected(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert detect(source_at(str(tmp_path / name))) == expected
