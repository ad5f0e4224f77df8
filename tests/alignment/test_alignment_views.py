"""What is shown of an alignment: figures, blocks, segments, HTML, JSON and Pharaoh."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from sentgen.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.pairs.alignment import Weighed, WeighedLink
from sentgen.alignment.texts import JSON_VERSION, as_json, json_schema
from sentgen.alignment.view.html import WORDS, fragment, matrix, page, script
from sentgen.alignment.view.view import AlignedBlock, Figures, PairView, SentenceSource, fragments
from sentgen.alignment.words.states import STATES, WordState
from sentgen.alignment.words.word_states import word_states

SCHEMA = Draft202012Validator(json_schema())
LETTERS = st.text("ab", max_size=8)
#: The rain fell . Dogs bark ! | Dogs bark loudly , rain
PAIR = Pair(
    "1",
    ("The", "rain", "fell", ".", "Dogs", "bark", "!"),
    ("Dogs", "bark", "loudly", ",", "rain"),
    (0, 4),
    (0, 3),
)


def word(s: int, d: int, posterior: float | None = None) -> PhraseLink:
    return PhraseLink((s, s + 1), (d, d + 1), posterior)


ALIGNMENT = Alignment((word(0, 4, 0.9), word(1, 5, 0.7), word(4, 1, 0.5)), (0.05, 0.15, 0.8, 0.6, 0.1), -12.5)


@cache
def stated() -> tuple[WordState, ...]:
    """The states of the words of the example, by compiled code, which collecting the tests need not load."""
    return word_states(PAIR, ALIGNMENT)


def test_figures_by_hand() -> None:
    """`Dogs bark` and `rain` are copied: coverage 3/5, density (4 + 1)/5; of five words two are new, one changed."""
    states = [replace(one, state="changed") if one.word == "rain" else one for one in stated()]

    assert Figures.count(PAIR, stated()) == Figures(
        5, coverage=0.6, density=1.0, longest=2, new=0.4, changed=0.0
    )
    assert Figures.count(PAIR, states) == Figures(
        5, coverage=0.6, density=1.0, longest=2, new=0.4, changed=0.2
    )


def test_figures_of_nothing() -> None:
    """The figures of an abstract without words are 0."""
    assert Figures.count(Pair("1", ("a",), ()), ()) == Figures(0, 0.0, 0.0, 0, 0.0, 0.0)
    assert Figures.count(Pair("1", (), ("a",)), [WordState("a", "new")]) == Figures(1, 0.0, 0.0, 0, 1.0, 0.0)


def test_fragments_take_the_longest_run() -> None:
    """`a b c` is found behind `a b`, and capitals make no difference."""
    assert list(fragments(["a", "b", "x", "A", "B", "c"], ["a", "b", "c", "x"])) == [(3, 0, 3), (2, 3, 1)]


@given(LETTERS, LETTERS)
def test_fragments_are_those_of_the_definition(document: str, abstract: str) -> None:
    """At the first uncovered word, a fragment is the longest run of the document, the first of several."""
    expected, at = [], 0
    while at < len(abstract):
        length = max(k for k in range(len(abstract) - at + 1) if abstract[at : at + k] in document)
        if length:
            expected.append((document.index(abstract[at : at + length]), at, length))
        at += max(length, 1)

    assert list(fragments(document, abstract)) == expected


def test_links_that_continue_each_other_are_a_block() -> None:
    """Posteriors of a block are averaged: (0.9 + 0.7) / 2 = 0.8."""
    first, second = AlignedBlock.of_alignment(ALIGNMENT, ())

    assert (first.number, first.abstract, first.document) == (1, (0, 2), (4, 6))
    assert first.posterior == pytest.approx(0.8)
    assert second == AlignedBlock(2, (4, 5), (1, 2), 0.5, ALIGNMENT.phrases[2:])


def test_links_of_one_word_with_several_stay_apart() -> None:
    """Two document words of one abstract word are two blocks, which are continued separately."""
    found = AlignedBlock.of_alignment(Alignment((word(0, 0), word(0, 5), word(1, 6), word(1, 1))), ())

    assert [(block.abstract, block.document) for block in found] == [((0, 2), (0, 2)), ((0, 2), (5, 7))]


def test_phrases_are_blocks() -> None:
    """A phrase longer or shorter than its source is a block, which adjacent links on both sides join."""
    found = AlignedBlock.of_alignment(Alignment((PhraseLink((0, 2), (3, 4)), word(2, 4))), ())

    assert [(block.abstract, block.document) for block in found] == [((0, 3), (3, 5))]


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_blocks_hold_every_link_once(links: set[tuple[int, int]]) -> None:
    """The diagonals of the blocks of word links are the links."""
    found = AlignedBlock.of_alignment(Alignment(tuple(word(s, d) for s, d in links)), ())
    cells = [
        (b.abstract[0] + k, b.document[0] + k) for b in found for k in range(b.abstract[1] - b.abstract[0])
    ]

    assert sorted(cells) == sorted(links)
    assert sorted(one.abstract[0] for b in found for one in b.phrases) == sorted(s for s, _ in links)


def test_sentences_are_cut_into_segments() -> None:
    """Words of the same block side by side are one segment; a new word is alone, with its P(null)."""
    shown = PairView.make(PAIR, ALIGNMENT, abstract_spaces=[True, True, False, True, True])
    first, second = shown.sentences("abstract")

    assert [(one.text, one.blocks, one.space) for one in first] == [
        ("Dogs bark", (1,), True),
        ("loudly", (), False),
    ]
    assert [one.null for one in first] == pytest.approx([0.1, 0.8])
    assert [one.text for one in second] == [",", "rain"]
    assert [one.text for one in next(shown.sentences("document"))] == ["The", "rain", "fell ."]


def test_sentence_numbers() -> None:
    """Sentences count from 1."""
    shown = PairView.make(PAIR, ALIGNMENT)

    assert [shown.sentence("document", offset) for offset in (0, 3, 4, 6)] == [1, 1, 2, 2]
    assert shown.sentence("abstract", 3) == 2


def test_pharaoh_is_document_then_abstract() -> None:
    """Links ascend by document word."""
    assert ALIGNMENT.pharaoh() == "1-4 4-0 5-1"
    assert Alignment(()).pharaoh() == ""


def test_json_has_all() -> None:
    """Words, phrases, new words, P(null) and figures survive the way through JSON."""
    found = json.loads(json.dumps(as_json(PairView.make(PAIR, ALIGNMENT), model="toy")))

    assert found["phrases"][0] == {"abstract": [0, 1], "document": [4, 5], "posterior": 0.9, "phrase": 1}
    assert (found["new"], found["null"][2], found["logp"], found["model"]) == ([2, 3], 0.8, -12.5, "toy")
    assert found["log10"] == pytest.approx(-12.5 / math.log(10))
    shares = {"coverage": 0.6, "density": 1.0, "new": 0.4, "changed": 0.0}
    assert found["figures"] == {"words": 5, "longest": 2, **shares}
    assert (found["document"][4], found["document_starts"]) == ("Dogs", [0, 4])


def test_json_has_what_became_of_each_word() -> None:
    """Each word has an object; `new` lists the words with that state, even if they have links."""
    states = [
        WordState("Dogs", "changed", (0, 4), 0.9, 0.05, "another animal"),
        WordState("bark", "new", (), 0.7, 0.15, "", (2, 3)),
        *stated()[2:],
    ]
    found = as_json(replace(PairView.make(PAIR, ALIGNMENT), states=tuple(states)), model="toy")

    given = json.loads(json.dumps(found))
    assert given["words"][0] == {
        "word": "Dogs",
        "state": "changed",
        "from": [0, 4],
        "posterior": 0.9,
        "p_null": 0.05,
        "why": "another animal",
        "elsewhere": [],
    }
    assert given["words"][1]["elsewhere"] == [2, 3]
    assert given["new"] == [1, 2, 3]
    SCHEMA.validate(given)


def test_sources_of_sentences_by_hand() -> None:
    """`Dogs bark loudly`: two of three words from sentence 2, one of sentence 1 as well; `, rain`: one of two."""
    states = [
        replace(stated()[0], source=(0, 4)),
        *stated()[1:4],
        replace(stated()[4], posterior=None),
    ]

    first, second = SentenceSource.of_pair(PAIR, states)

    assert first == (3, [SentenceSource(2, 2, 2 / 3, pytest.approx(0.8)), SentenceSource(1, 1, 1 / 3, 0.9)])
    assert second == (2, [SentenceSource(1, 1, 0.5, None)])


def test_json_is_as_its_schema_says() -> None:
    """The schema accepts posteriors and reasons or none, and refuses unknown keys and states."""
    weighed = replace(ALIGNMENT, weighed=Weighed(0.05, 0.3, (WeighedLink(0, 4, 0.9, (0.9, 0.8)),)))
    bare = Alignment((PhraseLink((0, 2), (3, 4)),))
    for alignment, explain in ((ALIGNMENT, False), (weighed, True), (bare, False), (bare, True)):
        SCHEMA.validate(
            json.loads(json.dumps(as_json(PairView.make(PAIR, alignment), model="toy", explain=explain)))
        )

    Draft202012Validator.check_schema(json_schema())
    told = json_schema()["properties"]
    assert (told["version"]["const"], tuple(told["words"]["items"]["properties"]["state"]["enum"])) == (
        JSON_VERSION,
        STATES,
    )
    wrong = as_json(PairView.make(PAIR, bare), model="toy")
    for broken in (wrong | {"more": 1}, wrong | {"words": [{"word": "a", "state": "gone"}]}):
        with pytest.raises(ValidationError):
            SCHEMA.validate(json.loads(json.dumps(broken)))


class Tags(HTMLParser):
    """The tags of a page with their attributes, and that they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))
        if tag not in ("meta", "line", "rect", "input") or (
            tag == "rect" and not self.get_starttag_text().endswith("/>")
        ):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_well_formed_and_loads_nothing() -> None:
    """All tags are closed; no link, image or style attribute; the only script is the one that the policy names."""
    text = page(PairView.make(PAIR, ALIGNMENT), title="summary.txt", model="toy")
    tags = Tags(text)
    policy = next(at["content"] for _, at in tags.found if "http-equiv" in at)
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()

    assert tags.open == []
    assert not {"link", "img", "iframe"} & {tag for tag, _ in tags.found}
    assert not any(name in ("src", "style") or name.startswith("on") for _, at in tags.found for name in at)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert re.findall("<script>(.*?)</script>", text, re.DOTALL) == [script()]


def test_linked_words_share_a_number() -> None:
    """Words of a block have its number in both panes and in the matrix; new words are marked."""
    tags = Tags(fragment(PairView.make(PAIR, ALIGNMENT)))
    numbers = [(tag, at["data-b"]) for tag, at in tags.found if "data-b" in at]
    new = [at for _, at in tags.found if at.get("class") == "new" and "title" in at]

    assert numbers.count(("span", "1")) == numbers.count(("span", "2")) == 2
    assert numbers.count(("g", "1")) == 1
    assert [at["title"] for at in new] == ["new; P(null) 0.80", "new; P(null) 0.60"]


def test_tips_say_where_words_come_from() -> None:
    """The tip of a segment names the sentence of the other side, posterior and P(null)."""
    text = fragment(PairView.make(PAIR, ALIGNMENT))

    assert 'title="from sentence 2, posterior 0.80; P(null) 0.10"' in text
    assert 'title="in sentence 2 of the summary, posterior 0.50"' in text


HOSTILE = "\"><script>alert(1)</script><b onclick='x'>"


@pytest.mark.parametrize("length", [1, 100])
def test_texts_are_escaped(length: int) -> None:
    """A word that is markup stays text, in panes, matrix, tips, table and title."""
    pair = Pair("1", (HOSTILE, "a") * length, (HOSTILE, "b"))
    text = page(PairView.make(pair, Alignment((word(0, 0),))), title=HOSTILE, model=HOSTILE)
    tags = Tags(text)

    assert [tag for tag, _ in tags.found].count("script") == 1
    assert not any("onclick" in at for _, at in tags.found)
    assert "<script>alert" not in text


def test_long_texts_have_an_overview() -> None:
    """Beyond 80 document words the matrix is a plot whose marks are wide enough to be seen."""
    words = tuple("w" for _ in range(WORDS[0] + 1))
    pair = Pair("1", words * 20, ("w", "v"), (0,), (0, 1))
    drawing = matrix(PairView.make(pair, Alignment((word(0, 0),))))

    assert '<svg class="overview"' in drawing
    assert 'width="4"' in drawing
    assert "word 1,620" in drawing
    # 2 / 1,620 of the width would be too flat: 160 high, with a line between the two sentences.
    assert '<line class="grid" x1="0" y1="80" x2="1000" y2="80"/>' in drawing


def test_a_phrase_of_another_length_fills_its_cells() -> None:
    """Two words from one draw two cells, two from two the diagonal."""
    pair = Pair("1", ("a", "b", "c"), ("x", "y"))

    assert matrix(PairView.make(pair, Alignment((PhraseLink((0, 2), (1, 2)),)))).count("<rect") == 2
    assert matrix(PairView.make(pair, Alignment((PhraseLink((0, 2), (1, 3)),)))).count("<rect") == 2
    assert matrix(PairView.make(pair, Alignment((PhraseLink((0, 2), (0, 3)),)))).count("<rect") == 6


def test_fragments_on_a_page_have_their_own_ids() -> None:
    """A prefix keeps the sentences of two fragments apart."""
    assert 'id="x-document-1"' in fragment(PairView.make(PAIR, ALIGNMENT), prefix="x-")


def test_empty_texts_can_be_shown() -> None:
    """No words make an empty page, not an error."""
    assert "0 phrases" in page(PairView.make(Pair("1", (), ()), Alignment(())), title="", model="")


def test_without_posteriors_there_is_no_column() -> None:
    """Aligners without posteriors have a table without that column."""
    assert "posterior" not in fragment(PairView.make(PAIR, Alignment((word(0, 4),))))
