"""Vertical files: tags and columns, in both readers, and refused input."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from two_roads import NARROW, WIDE, InPieces, found_in

from sentgen.corpus.formats import detect
from sentgen.corpus.paths import expand, source_at
from sentgen.corpus.readers import vertical
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.corpus.vertical_blocks import read_blocks
from sentgen.errors import InputError, Rejection

SPEECH = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<corpus name="c">
<doc id="d1" genre="news" note='R&amp;D' empty="_" file="f.txt">
<p n=1>
<s id="s1" mood="calm">
<name type="org">
R&amp;D	NN	__UNDEF__
</name>
AT&T	NN	_
<g/>
.	.	.
</s>
<pb n="2"/>
</p>
<speaker name="Ann" party="Y">
<s>
<	SYM	<
<3	SYM
</speaker>
</s>
</doc>
"""


def read(text: str, **settings: str) -> list[Sentence | Rejection]:
    return list(vertical.read(text.split("\n"), path="a.vert", **settings))  # type: ignore[arg-type]


def sentences(text: str, **settings: str) -> list[Sentence]:
    found = read(text, **settings)
    assert not [one for one in found if isinstance(one, Rejection)]
    return [one for one in found if isinstance(one, Sentence)]


def forms(text: str, **settings: str) -> list[str]:
    return [" ".join(one.forms) for one in sentences(text, **settings)]


def words(text: str) -> str:
    """Return words in a line as lines, with tags between them."""
    return re.sub(r" (?![^<]*>)", "\n", text)


def test_one_of_everything() -> None:
    """Lines of their own for `<`, entities only where they are some, and a tag that closes behind its sentence."""
    one, two = sentences(SPEECH.replace("<3	SYM", "<3	SYM	x"))

    assert one.forms == ["R&D", "AT&T", "."]
    assert (one.xpos, one.lemmas, one.upos) == (["NN", "NN", "."], ["_", "_", "."], None)
    assert one.space_after == [True, False, True]
    assert (one.document, one.sent_id) == ("d1", "s1")
    assert one.metadata == ["meta::genre = news", "meta::note = R&D", "meta::file = f.txt", "mood = calm"]
    assert [(mark.place, mark.region.kind, mark.begins) for mark in one.marks] == [
        (0, "corpus", True),
        (0, "p", True),
        (0, "name", True),
        (1, "name", False),
        (3, "p", False),
        (3, "speaker", True),
    ]
    assert two.forms == ["<", "<3"]
    assert [(mark.place, mark.region.kind, mark.begins) for mark in two.marks] == [(2, "speaker", False)]
    assert one.marks[1].region.attributes == (("n", "1"),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SPEECH, 19, "2 tab-separated columns where 3 belong (word,pos,lemma); give `columns`"),
        (
            "<s>\na\tb\tc\td\n</s>",
            2,
            "4 tab-separated columns where 3 belong (word,pos,lemma); give `columns`",
        ),
        ("<s>\na\tb\tc\n<g/>\n\tb\tc\n</s>", 2, "token 2 is empty"),
        (
            "<s>\n</s>\n<s>\n&lt;s&gt;\t_\t_\n</s>",
            4,
            "token 1 is <s>, a symbol of the language models; rename it",
        ),
    ],
)
def test_refused_with_its_line(text: str, line: int, message: str) -> None:
    [refused] = [one for one in read(text) if isinstance(one, Rejection)]

    assert (refused.line, refused.message) == (line, message)


def test_what_is_refused_leaves_its_document_and_regions_to_the_next() -> None:
    refused, sound = read("<doc id=x genre=y>\n<p>\n<s>\na\n</s>\n<s>\nb\tB\tb\n</s>\n</p>")

    assert isinstance(refused, Rejection)
    assert isinstance(sound, Sentence)
    assert (sound.document, sound.metadata) == ("x", ["meta::genre = y"])
    assert [(mark.place, mark.begins) for mark in sound.marks] == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. A. came . He left .", ["Mr. A. came .", "He left ."]),
        ('" Go ! " he said . " Now . "', ['" Go ! " he said .', '" Now . "']),
        ("„ Ja . “ Nein", ["„ Ja . “", "Nein"]),
        ("Yes ?! No … Well", ["Yes ?!", "No …", "Well"]),
        ("( Hm . ) Ah", ["( Hm . )", "Ah"]),
        ("我 来 。 好 。", ["我 来 。", "好 。"]),
        ("A title  Some text", ["A title", "Some text"]),
        ("<head> A title </head> Some <hi> more </hi> text", ["A title", "Some more text"]),
        ("<doc> one </doc> <doc> two </doc> three", ["one", "two", "three"]),
        ("one <s> two . three </s> four", ["one", "two . three", "four"]),
        ("<s> one <s> two", ["one", "two"]),
    ],
)
def test_tokens_without_a_tag_are_cut(text: str, expected: list[str]) -> None:
    """At final punctuation, with what closes behind it; never across paragraphs, documents and blank lines."""
    assert forms(words(text), columns="word") == expected


def test_a_region_may_be_the_sentence() -> None:
    """It stays a region, and `<s>` is one like any other then."""
    one, two = sentences(
        words("<l n=1> one . two </l> <s> <l n=2> three </l> </s>"), columns="word", sentences="l"
    )

    assert [one.forms, two.forms] == [["one", ".", "two"], ["three"]]
    assert one.metadata == ["n = 1"]
    assert [mark.region.kind for mark in (*one.marks, *two.marks)] == ["l", "l", "s", "l", "l", "s"]


def test_documents() -> None:
    """Named by id, name, file or title; what follows a document is another one; regions end with theirs."""
    text = words(
        "<corpus> <text file=f title=t> <p> a </text> <text> <doc> b </doc> </text> c <text name=n id=i> d </text>"
    )
    found = sentences(text, columns="word")

    assert [one.document for one in found] == ["f", "a.vert#6", "a.vert#11", "i"]
    assert found[0].metadata == ["meta::file = f", "meta::title = t"]
    assert [(mark.region.kind, mark.begins) for mark in found[0].marks] == [
        ("corpus", True),
        ("text", True),
        ("p", True),
        ("text", False),
        ("p", False),
    ]
    assert [mark.region.kind for mark in found[1].marks] == ["text", "doc", "doc", "text"]


def test_columns_are_told_by_the_file() -> None:
    for declared in ("form\tlemma\tmsd", "<!-- #vrt positional-attributes: form lemma msd -->"):
        [one] = sentences(f"{declared}\n<s>\nDogs\tdog\tN|pl\\x\nbark\t\t_\n</s>")
        assert (one.forms, one.lemmas, one.xpos) == (["Dogs", "bark"], ["dog", "_"], None)
        assert one.misc == (r"msd=N\ppl\\x", "_")
    # What is given holds, and what comes too late does not.
    [one] = sentences("<s>\na\tA\tX\n<!-- #vrt positional-attributes: word lemma pos -->\n</s>")
    assert (one.forms, one.xpos, one.lemmas) == (["a"], ["A"], ["X"])
    [one] = sentences("word\tlemma\tpos\n<s>\na\tA\tX\n</s>", columns="word,pos,lemma")
    assert (one.forms, one.xpos, one.lemmas) == (["a"], ["A"], ["X"])


def test_spaces_told_by_a_column() -> None:
    [one] = sentences('<s>\na\t" "\nb\t""\nc\tSpaceAfter=No\nd\t_\n</s>', columns="word,wsafter")

    assert one.space_after == [True, False, False, True]


def test_trees() -> None:
    """Heads that make no tree are an attribute."""
    tree, none = sentences(
        "<s>\na\t2\tx\tA\nb\t0\ty\tB\n</s>\n<s>\na\t0\tx\tA\nb\t0\ty\tB\n</s>", columns="word,head,deprel,pos"
    )

    assert (tree.heads, tree.deprels, tree.misc) == ([2, 0], ["x", "y"], None)
    assert (none.heads, none.deprels, none.misc) == (None, ["x", "y"], ("head=0", "head=0"))


@pytest.mark.parametrize("columns", ["", "pos,lemma", "word,word", "word,a b", "word,,x", "word,form|"])
def test_columns_that_are_none(columns: str) -> None:
    with pytest.raises(InputError, match="`columns`"):
        read("a", columns=columns)


def test_a_tag_of_any_length_is_none() -> None:
    with pytest.raises(InputError, match=r"a\.vert:2: a tag of more than 65,536 characters"):
        read("<s>\n<p x='" + "y" * 70_000 + "'>\n")


@pytest.mark.parametrize(
    "text",
    [
        "<hi>\n" * 30_000 + "a\n" + "</b>\n" * 30_000 + "</hi>\n" * 30_000,
        ("<a>\n" * 20_000 + "</a>\n" * 20_000) + "a",
        "„\n" * 30_000 + "“\n" * 30_000,
        '<p x="' + '" ' * 30_000 + "=>\na",
        "<" + "a" * 60_000 + "=" * 5_000 + ">\na",
        "\n\n\n" * 30_000,
        "\n.\n\n" * 10_000,
        "<s>\n" + "<3\n" * 100_000,
        "<s>\na\n" + "<g />\n<hi />\n" * 30_000,
        "<!-- c -->\n" * 100_000,
    ],
    ids=["deep", "empty", "quotes", "attribute", "name", "blank", "stops", "less", "glue", "comments"],
)
def test_hostile_files_take_no_time(text: str) -> None:
    """What would be quadratic takes minutes; collecting garbage of all tests before takes a second, too."""
    gc.disable()
    try:
        began = time.process_time()
        read(text, columns="word")
        assert time.process_time() - began < 2
    finally:
        gc.enable()


_LINES = [
    "<doc>",
    '<doc id="d" genre=news>',
    "</doc>",
    "<text title='t'>",
    "</text>",
    "<s>",
    '<s id="1" mood="x">',
    '<s speaker="Ann" newpar="">',
    "</s>",
    "<sentence>",
    "<p>",
    "</p>",
    "<hi rend='b'>",
    "</hi>",
    "<g/>",
    "<lb/>",
    "",
    "<!-- c -->",
    "<!-- #vrt positional-attributes: word lemma -->",
    "word\tpos\tlemma",
    "a\tA\ta",
    "a\tA\ta",
    "b\tB\tb",
    "c\t_\t__UNDEF__",
    "&lt;s&gt;\tX\tx",
    "R&amp;D\t&quot;\tr&d",
    "_\t_\t_",
    ".\t.\t.",
    ".\t.\t.",
    "<\tX\t<",
    "d\t\tthirteen-long",
    " \tX\tx",
    "a\tb",
    "a",
    "\ufeffa\tA\ta",
]


#: Regions within and across each other.
_NESTED = [
    "<s>\n<hi rend='b'>\n<name>\na\tA\ta\n</name>\nb\tB\tb\n</s>\n<name>\n<s>\na\tA\ta\n</hi>\nc\tC\tc\n</name>\n</s>",
    "<div>\n<p>\n<div>\n<s>\na\tA\ta\n</s>\n</div>\n</p>\n<s>\nb\tB\tb\n</s>\n</div>",
]
#: What sentences are made of that are read without a Python object each, and what may stand around them.
_SENTENCES = [
    "<s>\na\tA\ta\nb\tB\tb\n</s>",
    "<s>\na\tA\ta\n<g/>\n.\t.\t.\n</s>\n<g/>",
    "<s>\n<hi rend='b'>\na\tA\ta\n</hi>\n<lb/>\nc\t_\t__UNDEF__\n<name>\n</s>",
    "<s id='1' mood='x'>\na\tA\ta\n</name>\nb\tB\tb\n</s>",
    "<s speaker='Ann' newpar=''>\n\nb\tB\tb\n\n</s>",
    *_NESTED,
    "<s>\n</s>",
    "<p>",
    "</p>\n<p n='2'>",
    "</p>",
    "",
]


def _pieces(pieces: list[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(pieces), max_size=most)


@given(
    _pieces(_LINES, 25)
    | st.builds(lambda *parts: [*chain(*parts)], *[_pieces(_SENTENCES, 8), _pieces(_LINES, 2)] * 2),
    st.sampled_from((WIDE, NARROW)),
    st.sampled_from((None, "word,pos,lemma", "word,mode,x|".rstrip("|"), "head,word,wsafter")),
    st.sampled_from((None, "p", "s")),
    st.sampled_from((60, 1 << 20)),
)
@example(SPEECH.split("\n"), WIDE, None, None, 60)
@example(["word\tpos\tlemma", "word\tpos\tlemma"], WIDE, None, None, 60)
@example(["<s>", *["a\tA\ta"] * 5, "</s>", "<s>", "b\tB\tb", "</s>"], NARROW, None, None, 60)
@example(["<p>", *["a\tA\ta"] * 12, "", "</p>"], WIDE, None, "p", 60)
@example(["a\tA\ta", "", "<g/>", "", "<g/>", "", "a\tA\ta"], WIDE, None, None, 60)
@example(["<x>", *["a\tA\ta"] * 12, "", "</x>"], WIDE, None, None, 60)
@example([*_SENTENCES[:3], *_NESTED, *_SENTENCES[:2], *_NESTED], WIDE, None, None, 1 << 20)
@example([_SENTENCES[0], "<name>", *_NESTED, *_NESTED, _SENTENCES[0]], WIDE, None, None, 1 << 20)
def test_both_roads_find_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    limits: dict[str, int],
    columns: str | None,
    kind: str | None,
    size: int,
) -> None:
    """Sentences with all their columns, documents and regions, and what is refused with its line."""
    file = tmp_path_factory.getbasetemp() / "roads.vert"
    file.write_text("\n".join(lines), "utf-8")

    def one_by_one(reader: LineReader) -> Iterator[Sentence | Rejection]:
        return vertical.read(iter(reader), path=reader.source.name, columns=columns, sentences=kind)

    def in_blocks(reader: LineReader) -> Iterator[TreebankBlock | Sentence | Rejection]:
        return read_blocks(reader, columns=columns, sentences=kind)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(InPieces, "size", size)
        assert found_in(file, limits, in_blocks) == found_in(file, limits, one_by_one)


@pytest.mark.parametrize("columns", ["word,pos,lemma", "word,mode,lemma", "word,wsafter,upos"])
def test_sound_sentences_are_read_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    """The slow reader is not used, so that the comparison above is meaningful."""
    monkeypatch.setattr(InPieces, "size", 1 << 20)
    file = tmp_path / "a.vert"
    file.write_text(SPEECH.replace("<3	SYM", "<3	SYM	x"), "utf-8")
    found = list(read_blocks(InPieces(source_at(str(file))), columns=columns))

    assert [type(one) for one in found] == [TreebankBlock]


def test_sentences_of_which_nothing_is_said_are_no_objects(tmp_path: Path) -> None:
    file = tmp_path / "a.vert"
    plain, named = _SENTENCES[0], _SENTENCES[3]
    file.write_text("\n".join(["<doc>", *[plain] * 6, named, *[plain] * 6, "</doc>"]), "utf-8")

    found = [one for one in read_blocks(source_at(str(file)).open()) if isinstance(one, TreebankBlock)]

    told = [(one.columns.lengths.size, sorted(one.sentences)) for one in found]
    assert told == [(1, [0]), (11, [0, 5]), (1, [0])]


def test_regions_that_begin_and_end_in_a_block_are_no_objects(tmp_path: Path) -> None:
    """However deep, whatever their attributes; one that the block cuts is, and so are all if one is empty."""
    file = tmp_path / "a.vert"
    one = "<s>\na\tA\ta\n</s>"
    nested = f"<div n='1'>\n<div>\n<p>\n{one}\n</p>\n<p>\n{one}\n</p>\n</div>\n</div>"

    def found(*parts: str) -> tuple[int, int]:
        file.write_text("\n".join(["<doc>", one, one, *parts, one, "</doc>"]), "utf-8")
        blocks = [one for one in read_blocks(source_at(str(file)).open()) if isinstance(one, TreebankBlock)]
        spans = [block.spans.which.size for block in blocks if block.spans is not None]
        return sum(spans), sum(len(block.marks) for block in blocks)

    assert found(nested, nested) == (8, 0)
    assert found(nested, "</hi>", "<p>", one) == (4, 1)
    assert found(nested, "<p>", "</p>") == (0, 8)


def test_a_blank_line_ends_what_stands_before_it_and_a_tag_of_no_paragraph_nothing() -> None:
    text = words("a <hi> b </hi> c") + "\n\nd"

    assert forms(f"<doc>\n{text}\n</doc>", columns="word") == ["a b c", "d"]


def test_another_encoding_and_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "old.vert"
    file.write_bytes("<s>\r\nMädchen\tN\tMädchen\r\nschläft\tV\r\n</s>\r\n".encode("latin-1"))
    [source] = expand([str(file)], encoding="latin-1")
    assert detect(source) == "vertical"
    [refused] = read_blocks(source.open())
    assert isinstance(refused, Rejection)
    assert refused.line == 3

    [source] = expand([str(file)])
    with pytest.raises(
        InputError, match=r"old\.vert:2: byte 0xe4 is not UTF-8; its word would be cp1252 'Mädchen'"
    ):
        list(read_blocks(source.open()))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.vrt", "word\n", "vertical"),
        ("a.vert.gz", "word\n", "vertical"),
        ("a.txt", SPEECH.replace("<3\tSYM\n", ""), "vertical"),
        ("a", "<doc id='x'>\nA\tB\nc\td\n", "vertical"),
        ("a", "<!-- #vrt positional-attributes: word pos -->\n<text>\nA\tB\n", "vertical"),
        ("a", "<text>\n<s>\nwords\nalone\n</s>\n</text>", "vertical"),
        ("a", "<p>\nSome words here.\n</p>\n", "text"),
        ("a", "<TEI>\n\t<p>\n\tSome words here.</p>\n</TEI>", "tei"),
    ],
)
def test_detected(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")

    assert detect(source_at(str(tmp_path / name))) == expected
