"""Trees as text, as SVG and as CoNLL-U: worked examples, and promises about any tree."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.readers.conllu import read
from sentgen.corpus.sentence import RESERVED, Sentence
from sentgen.generation import Unit, parse_bag
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, Tree
from sentgen.generation.drawing import (
    SentenceDrawing,
    arc_levels,
    conllu_block,
    corpus_tree_svg,
    tree_svg,
    tree_text,
)
from sentgen.output.display import is_right_to_left

DOW = parse_bag("[the/DT dow/NNP] fell/VBD to/TO [35/CD points/NNS] ./.")
HEADS = [1, ROOT, 1, 2, 1]

WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6).filter(
    lambda word: word not in RESERVED
)
UNITS = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(lambda words: Unit(tuple(words))), max_size=12)


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[Unit], list[int]]:
    """Units with heads that form a tree or several, projective or not."""
    units = draw(UNITS)
    order = draw(st.permutations(range(len(units))))
    heads = [ROOT] * len(units)
    for place, unit in enumerate(order[1:], 1):
        heads[unit] = draw(st.sampled_from([ROOT, *order[:place]]))
    return units, heads


def tree_of(heads: list[int]) -> Tree:
    """Return a tree without weights to speak of."""
    sides = tuple(LEFT if unit < head else RIGHT for unit, head in enumerate(heads))
    return Tree(tuple(heads), sides, (0,) * len(heads), tuple(-float(unit) for unit in range(len(heads))))


def test_text() -> None:
    """A unit a line; its head is where its line comes from."""
    assert tree_text(DOW, HEADS) == [
        "  ╭── the dow  NNP",
        "╶─┤ fell  VBD",
        "  ├─╮ to  TO",
        "  │ ╰── 35 points  NNS",
        "  ╰── .  .",
    ]


def test_text_of_a_forest() -> None:
    """Several units on the root hang on one line."""
    assert tree_text(parse_bag("a b c"), [ROOT, 0, ROOT]) == ["╭─╮ a", "│ ╰── b", "╰── c"]


def test_text_of_little() -> None:
    """One unit is a root, none is nothing."""
    assert tree_text(parse_bag("a"), [ROOT]) == ["╶── a"]
    assert tree_text([], []) == []


def heads_of(lines: list[str]) -> list[int]:
    """Sentence a drawing back: from each unit left along its line, then up and down the line that it meets."""
    grid = [re.match(r"[ ─│╭╮╯╰├┤┬┴┼╶╴]*", line)[0] for line in lines]  # type: ignore[index]
    ends = [len(row.rstrip()) - 1 for row in grid]
    heads = []
    for row, end in enumerate(ends):
        column = end - 1
        while grid[row][column] == "─":
            column -= 1
        rows = {row}
        for step, connected in ((-1, "│├╯╰┤┴┼"), (1, "│├╭╮┤┬┼")):
            at = row
            while grid[at][column] in connected:
                at += step
                rows.add(at)
        heads.append(next((other for other in rows if other != row and ends[other] == column), ROOT))
    return heads


@given(st.integers(1, 60), st.randoms(use_true_random=False))
def test_text_of_any_projective_tree_can_be_read_back(size: int, random: object) -> None:
    """The drawing says for every unit what its head is, up to 60 units."""
    heads = projective(size, random)
    lines = tree_text([Unit(("x",))] * size, heads)

    assert heads_of(lines) == heads


def projective(size: int, random: object) -> list[int]:
    """Return the heads of a random projective tree."""
    heads = [ROOT] * size

    def attach(low: int, high: int, head: int) -> None:
        if low >= high:
            return
        top = random.randrange(low, high)  # type: ignore[attr-defined]
        heads[top] = head
        for begin, end in ((low, top), (top + 1, high)):
            while begin < end:
                cut = random.randrange(begin, end) + 1  # type: ignore[attr-defined]
                attach(begin, cut, top)
                begin = cut

    attach(0, size, ROOT)
    return heads


@given(forests())
def test_text_has_a_line_a_unit(forest: tuple[list[Unit], list[int]]) -> None:
    """Any forest can be drawn; the words end their lines, in their order."""
    units, heads = forest

    lines = tree_text(units, heads)

    assert len(lines) == len(units)
    assert all(line.endswith(f" {' '.join(unit.words)}") for line, unit in zip(lines, units, strict=True))


def test_levels_by_hand() -> None:
    """Nested arcs rise: 0-1 and 3-2 are lowest, 1-2 beside them, 1-4 above 1-2 and 2-3."""
    assert arc_levels(HEADS) == [1, 0, 1, 1, 2]


@given(forests())
def test_arcs_that_share_a_gap_have_different_levels(forest: tuple[list[Unit], list[int]]) -> None:
    """No two arcs lie on each other, and one inside another lies below it."""
    _, heads = forest
    levels = arc_levels(heads)
    arcs = [
        (min(unit, head), max(unit, head), levels[unit]) for unit, head in enumerate(heads) if head != ROOT
    ]

    for i, (begin, end, level) in enumerate(arcs):
        for other_begin, other_end, other in arcs[:i]:
            assert level != other or end <= other_begin or other_end <= begin
            if (begin <= other_begin and other_end <= end) and (begin, end) != (other_begin, other_end):
                assert level > other


@given(forests())
def test_svg_is_well_formed_and_whole(forest: tuple[list[Unit], list[int]]) -> None:
    """Whatever the words are, the file is XML, with every word and one arc a unit, inside its frame."""
    units, heads = forest
    root = ElementTree.fromstring(tree_svg([SentenceDrawing("a <b> & \x00", units, tree_of(heads))]))
    svg = "{http://www.w3.org/2000/svg}"
    shown = [text.text for text in root.iter(f"{svg}text")][1:]
    width = float(root.attrib["width"])
    places = [float(text.attrib["x"]) for text in [*root.iter(f"{svg}text")][1:]]

    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    assert shown == [" ".join(unit.words) for unit in units]
    assert len(arcs_of(root)) == len(units)
    assert all(0 < place < width for place in places)
    turned = is_right_to_left(word for unit in units for word in unit.words)
    assert places == sorted(places, reverse=turned)


def test_a_script_from_right_to_left_is_drawn_so() -> None:
    """The mirror image of the same tree: words, arcs and labels at the same distance from the other end."""
    heads, labels = [0, 1, 2], ["root", "nsubj", "flat"]
    drawings = [
        ElementTree.fromstring(corpus_tree_svg("s", forms, ["VERB"] * 3, heads, labels))
        for forms in (["abcd", "egho", "opqu"], ["كتبت", "كوري", "شولم"])
    ]
    left, right = (
        {text.text: float(text.get("x", 0)) for text in root.iter("{http://www.w3.org/2000/svg}text")}
        for root in drawings
    )
    width = float(drawings[0].attrib["width"]) - 2 * 16

    assert [left["abcd"] + right["كتبت"], left["opqu"] + right["شولم"]] == pytest.approx([width, width])
    assert [left[name] + right[name] for name in ("s", *labels)] == pytest.approx([width] * 4)
    starts = [float(re.match(r"M([\d.]+)", path.attrib["d"])[1]) for path in arcs_of(drawings[1])]
    assert starts[0] > starts[1] > starts[2]


def arcs_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The arcs of a drawing, each with a title."""
    svg = "{http://www.w3.org/2000/svg}"
    return [path for path in root.iter(f"{svg}path") if path.find(f"{svg}title") is not None]


def test_svg_escapes_a_corpus() -> None:
    """Words cannot become markup or steer the text around them."""
    units = [Unit(("<script>alert(1)</script>",), ("</text>",)), Unit(("\u202eabc",))]
    drawing = tree_svg([SentenceDrawing("</title><script>", units, tree_of([ROOT, 0]))])

    assert "<script" not in drawing
    assert "\u202e" not in drawing
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in drawing


def test_svg_takes_its_color_from_the_page_and_tells_its_content() -> None:
    """In dark mode it is light; who cannot see it hears it; several trees are in one file."""
    drawing = tree_svg(
        [SentenceDrawing("1", DOW, tree_of(HEADS)), SentenceDrawing("2", DOW[:1], tree_of([ROOT]))]
    )

    assert 'fill="currentColor"' in drawing
    assert not re.search(r"#[0-9a-f]{3}|black|white", drawing)
    assert "<title>Dependency trees: 1; 2</title>" in drawing
    assert "35 points: right of to (log10 weight -1.30)" in drawing  # -3 / ln 10
    assert drawing.count("<g transform=") == 2


def test_a_root_without_weight_shows_none() -> None:
    """As those of sentences from clusters."""
    drawing = tree_svg(
        [SentenceDrawing("1", DOW[:2], Tree((1, ROOT), (LEFT, LEFT), (0, 0), (-1.0, math.nan)))]
    )

    assert "the dow: left of fell (log10 weight -0.43); fell: root." in drawing
    assert "nan" not in drawing


def test_svg_of_nothing() -> None:
    """No sentences, or one without words, is a small drawing, not an error."""
    assert ElementTree.fromstring(tree_svg([])) is not None
    assert ElementTree.fromstring(tree_svg([SentenceDrawing("1", [], tree_of([]))])) is not None


def test_conllu_by_hand() -> None:
    """Words inside a base noun phrase hang on its last word; heads of units are its last words."""
    rows = [
        ("1", "the", "_", "_", "DT", "_", "2", "dep", "_", "NP=1"),
        ("2", "dow", "_", "_", "NNP", "_", "3", "dep", "_", "NP=1"),
        ("3", "fell", "_", "_", "VBD", "_", "0", "root", "_", "_"),
        ("4", "to", "_", "_", "TO", "_", "3", "dep", "_", "_"),
        ("5", "35", "_", "_", "CD", "_", "6", "dep", "_", "NP=2"),
        ("6", "points", "_", "_", "NNS", "_", "4", "dep", "_", "NP=2"),
        ("7", ".", "_", "_", ".", "_", "3", "dep", "_", "_"),
    ]
    expected = "# sent_id = 3\n# text = the dow fell to 35 points .\n"

    assert conllu_block(DOW, HEADS, tags="xpos", sent_id="3") == (
        expected + "".join("\t".join(row) + "\n" for row in rows) + "\n"
    )


def test_conllu_has_one_root() -> None:
    """Units that hang on the root beside the first one hang on that one."""
    sentence = conllu.parse(conllu_block(parse_bag("a b c"), [1, ROOT, ROOT]))[0]

    assert [(token["head"], token["deprel"]) for token in sentence] == [
        (2, "dep"),
        (0, "root"),
        (2, "parataxis"),
    ]


def test_conllu_of_nothing() -> None:
    """The format has no empty sentence."""
    assert conllu_block([], []) == ""


@given(forests(), st.sampled_from(["upos", "xpos"]))
def test_conllu_can_be_read(forest: tuple[list[Unit], list[int]], kind: str) -> None:
    """Our reader and the conllu package read the words, tags and heads that were written."""
    units = [Unit(unit.words, tuple(f"T{len(word)}" for word in unit.words)) for unit in forest[0]]
    heads = forest[1]
    written = conllu_block(units, heads, tags=kind, sent_id="1-2")  # type: ignore[arg-type]
    expected = [(word, tag) for unit in units for word, tag in zip(unit.words, unit.tags, strict=True)]
    if not units:
        return

    (ours,) = read(written.split("\n"), path="x")
    (theirs,) = conllu.parse(written)

    assert isinstance(ours, Sentence)
    assert (ours.sent_id, ours.text) == ("1-2", " ".join(word for word, _ in expected))
    assert list(zip(ours.forms, getattr(ours, kind), strict=True)) == expected
    assert [(token["form"], token[kind]) for token in theirs] == expected
    assert [token["head"] for token in theirs] == ours.heads
    assert ours.heads is not None
    assert ours.heads.count(0) == 1


def test_relations_are_written_over_the_arcs():
    """A tree of a corpus has its relations as text and in its description, each once over its arc."""
    drawn = corpus_tree_svg("s", ["Trucks", "came"], ["NOUN", "VERB"], [2, 0], ["nsubj<", "root"])

    texts = [
        element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts.count("nsubj<") == texts.count("root") == 1
    assert "Trucks: nsubj&lt;, left of came" in drawn


def test_marked_words_have_a_ground():
    """One rectangle a marked word, behind it and as wide as it at least; none without marks."""
    drawn = corpus_tree_svg("s", ["Trucks", "came"], ["", ""], [2, 0], ["nsubj", "root"], marked=[2])
    svg = "{http://www.w3.org/2000/svg}"
    (ground,) = ElementTree.fromstring(drawn).iter(f"{svg}rect")
    word = next(one for one in ElementTree.fromstring(drawn).iter(f"{svg}text") if one.text == "came")

    start, width = float(ground.get("x", "")), float(ground.get("width", ""))
    assert start + width / 2 == pytest.approx(float(word.get("x", "")), abs=0.1)
    assert width > 30
    assert "<rect" not in corpus_tree_svg("s", ["Trucks", "came"], ["", ""], [2, 0], ["nsubj", "root"])


def test_drawings_have_no_ids() -> None:
    """Several can stand on one page."""
    drawn = corpus_tree_svg("s", ["Trucks", "came"], ["", ""], [2, 0], ["nsubj", "root"])

    assert all("id" not in element.attrib for element in ElementTree.fromstring(drawn).iter())
