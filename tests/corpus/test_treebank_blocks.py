"""CoNLL-U in blocks and sentence by sentence: both readers give the same results for any file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from two_roads import NARROW, WIDE, InPieces, found_in

from sentgen.corpus.readers import conllu
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.treebank_blocks import TreebankBlock, read_blocks
from sentgen.demo import TREEBANK
from sentgen.errors import Rejection

PLAIN = """\
# sent_id = s1
# text = Dogs sleep.
1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t2:nsubj\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t0:root\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:punct\tGloss=stop|SpaceAfter=No
"""
RANGE = """\
# newdoc id = d2
#odd comment
# speaker = Ann
1\tdu\tdu\t_\t_\t_\t0\troot\t_\tSpaceAfter=No
2-3\tdel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tde\tde\tADP\t_\t_\t1\tcase\t_\tSpaceAfter=No
3\tel\tel\tDET\t_\t_\t1\tdet\t_\t_
3.1\tle\tle\tDET\t_\t_\t_\t_\t1:dep\t_
"""
BARE = "1\tBare\t_\t_\t_\t_\t_\t_\t_\t_\n2\twords\t_\t_\t_\t_\t_\t_\t_\t_\n"
#: The words are left out, as a licence may want it.
MASKED = "1\t_\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n2\t_\t_\t_\t_\t_\t1\tpunct\t_\tSpaceAfter=No\n"
#: What takes the place of a field; some of it is sound, some is not.
FIELDS = (
    "_",
    "",
    " ",
    "0",
    "1",
    "2",
    "3",
    "9",
    "01",
    "2-3",
    "1.1",
    "#",
    "<s>",
    "\ufeff1",
    "thirteen-long",
    "a\tb",
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Make a file of sentences, of which some lines are not as they should be."""
    sentences = draw(
        st.lists(st.sampled_from((PLAIN, RANGE, BARE, MASKED, "# newdoc\n# alone\n")), max_size=5)
    )
    lines = "\n".join(sentences).split("\n")
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(("field", "field", "twice", "gone", "blank", "comment"))):
            case "field" if fields := lines[row].split("\t"):
                fields[draw(st.integers(0, len(fields) - 1))] = draw(st.sampled_from(FIELDS))
                lines[row] = "\t".join(fields)
            case "twice":
                lines.insert(row, lines[row])
            case "gone" if len(lines) > 1:
                del lines[row]
            case "blank":
                lines.insert(row, "")
            case _:
                lines.insert(row, "# newdoc id = other")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that is read, the same for all examples."""
    return tmp_path_factory.mktemp("blocks") / "t.conllu"


def one_by_one(reader: LineReader) -> Iterator[Sentence | Rejection]:
    """Take the slow path."""
    return conllu.read(iter(reader), path=reader.source.name)


@given(files(), st.sampled_from((WIDE, NARROW)))
@example("", WIDE)
@example(MASKED, WIDE)
@example("\n".join((MASKED, BARE, MASKED)), WIDE)
@example("1" + "\t_" * 9 + "\n", WIDE)
@example("\n\n\n" + PLAIN + "\n\n\n" + RANGE, WIDE)
@example(PLAIN.replace("\t0\troot", "\t1\troot").replace("\t2\tnsubj", "\t0\tnsubj"), WIDE)
@example(PLAIN.replace("\t2\tnsubj", "\t3\tnsubj").replace("\t2\tpunct", "\t1\tpunct"), WIDE)
@example(PLAIN.replace("\t2\tnsubj", "\t0\tnsubj"), WIDE)
@example(PLAIN.replace("\tdog\t", "\t\t"), WIDE)
@example(PLAIN + "\n\ufeff" + BARE, WIDE)
@example("".join(f"{i}\tw" + "\t_" * 8 + "\n" for i in range(1, 6)), NARROW)
@example("# newdoc id = d\n1\t\n\n" + PLAIN + "\n\n" + BARE, WIDE)
def test_both_roads_find_the_same(file: Path, text: str, limits: dict[str, int]) -> None:
    """Sentences with all their columns, and what is refused with its line."""
    file.write_text(text, "utf-8")

    assert found_in(file, limits, read_blocks) == found_in(file, limits, one_by_one)


def test_sound_sentences_are_read_in_blocks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow reader is not used, so that the comparison above is meaningful."""
    monkeypatch.setattr(InPieces, "size", 1 << 20)
    file.write_text("\n".join((PLAIN, RANGE, BARE, TREEBANK.read_text("utf-8"))), "utf-8")

    found = found_in(file, WIDE, lambda reader: [_block(one) for one in read_blocks(reader)])

    assert found == found_in(file, WIDE, one_by_one)


def _block(one: TreebankBlock | Sentence | Rejection) -> TreebankBlock:
    assert isinstance(one, TreebankBlock)
    return one


def test_file_without_blank_lines_is_not_held(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence of too many lines is refused without being held in memory, and the next ones are read."""
    monkeypatch.setattr(conllu, "_COMMENTS", 3)
    file.write_text(f"{BARE * 20}\n{PLAIN}\n{RANGE}", "utf-8")

    found, rejections = found_in(file, NARROW, read_blocks)

    assert (found, rejections) == found_in(file, NARROW, one_by_one)
    assert [one.check for one in rejections] == ["sentence-length"]
