"""The head of a phrase: marked in a bag, said in JSON or by a tree, found by a parser, or the last word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.sentence import RESERVED, Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.generation import Unit, order_bags, parse_bag, units_of
from sentgen.generation.answers import OrderingRequest
from sentgen.generation.bags.bag_reader import Notation
from sentgen.generation.bags.problem import ROOT
from sentgen.generation.drawing import conllu_block
from sentgen.generation.notes import notes
from sentgen.generation.plan import Search
from sentgen.generation.prepare import parsed_heads
from sentgen.models import build
from sentgen.schema import Store

WORDS = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="\\/") | st.sampled_from("*[]"),
    min_size=1,
    max_size=3,
).filter(lambda word: word not in RESERVED)


@st.composite
def units(draw: st.DrawFn) -> Unit:
    """A unit of any words, whose head may be said."""
    words = tuple(draw(st.lists(WORDS, min_size=1, max_size=4)))
    return Unit(words, (), draw(st.integers(-len(words), 0)) if len(words) > 1 else 0)


@given(st.lists(units(), max_size=4), st.sampled_from(["", "NN"]))
def test_what_is_written_is_read(bag: list[Unit], tag: str) -> None:
    """Units as they write themselves come back, heads, stars and brackets; tags go before or behind a star."""
    assert parse_bag(" ".join(map(str, bag)), tagged=False) == bag

    tagged = [replace(unit, tags=("NN",) * len(unit.words)) for unit in bag]
    for mark in ("{}*/NN", "{}/NN*"):
        text = " ".join(
            f"[{written}]" if len(unit.words) > 1 else written
            for unit in bag
            for written in [
                " ".join(
                    (mark if place - len(unit.words) == unit.head_place else "{}/NN").format(escaped(word))
                    for place, word in enumerate(unit.words)
                )
            ]
        )
        # A word alone cannot be starred, so that its own star needs no backslash, but may have one.
        assert parse_bag(text) == tagged


def escaped(word: str) -> str:
    for sign in "[]*":
        word = word.replace(sign, f"\\{sign}")
    return word


@given(st.lists(units(), max_size=4), st.booleans())
def test_json_says_heads(tmp_path_factory: pytest.TempPathFactory, bag: list[Unit], numbered: bool) -> None:
    """By the number of the word, or by the word itself where it is there once."""
    heads = [
        None
        if not unit.head_place
        else unit.head
        if not numbered and unit.words.count(unit.head) == 1
        else len(unit.words) + 1 + unit.head_place
        for unit in bag
    ]
    path = tmp_path_factory.mktemp("heads") / "bags.json"
    path.write_text(json.dumps({"units": [list(unit.words) for unit in bag], "head": heads}))

    assert list(Notation().read(str(path))[0].units) == bag


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("[people* left behind] had", [Unit(("people", "left", "behind"), (), -3), Unit(("had",))]),
        ("[5 * 3] * x*", [Unit(("5", "*", "3")), Unit(("*",)), Unit(("x*",))]),
        ("[x*]", [Unit(("x",))]),
        (r"[x\* y] [** y]", [Unit(("x*", "y")), Unit(("*", "y"), (), -2)]),
        ("[a/NN* b/VB] c/NN", [Unit(("a", "b"), ("NN", "VB"), -2), Unit(("c",), ("NN",))]),
        ("[a*/NN b/VB] c/NN", [Unit(("a", "b"), ("NN", "VB"), -2), Unit(("c",), ("NN",))]),
    ],
)
def test_a_star_behind_a_word_of_a_phrase(text: str, units: list[Unit]) -> None:
    """It marks the head; outside of brackets, alone or behind a backslash it is a part of the word."""
    assert parse_bag(text) == units


def test_a_star_and_a_joiner() -> None:
    assert parse_bag("people*_left", joiner="_") == [Unit(("people", "left"), (), -2)]


def test_two_heads() -> None:
    with pytest.raises(InputError, match=r"two heads in a phrase, 'a' and 'b'; mark one"):
        parse_bag("[a* b* c]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"units": [["a", "b"]], "heads": [1]}', "no key \"heads\", its keys are .*did you mean `head`"),
        ('{"words": ["a"], "tag": ["X"]}', "did you mean `tags`"),
        ('{"words": ["a"], "note": 1}', "bags:1: a bag has no key \"note\", its keys are `id`"),
        ('{"units": [["a", "b"]], "head": [1, 2]}', "2 `head` for 1 `units`"),
        ('{"units": [["a", "b"]], "head": 1}', "`head` is not a list"),
        ('{"units": [["a", "b"]], "head": [0]}', "`head` 0 is no word of 'a b'"),
        ('{"units": [["a", "b"]], "head": [true]}', "`head` true is no word"),
        ('{"units": [["a", "b"]], "head": ["c"]}', "`head` \"c\" is no word of 'a b'; give one of its words"),
        ('{"units": [["a", "a"]], "head": ["a"]}', "is several words of 'a a'; .*its number from 1 to 2"),
    ],
)  # fmt: skip
def test_refused_json(tmp_path: Path, text: str, message: str) -> None:
    """What would be passed over is refused, with file and line."""
    (tmp_path / "bags").write_text(text)
    with pytest.raises(InputError, match=message):
        Notation().read(str(tmp_path / "bags"))


def test_a_tree_says_heads() -> None:
    """The head is the word whose own head stands outside; of several the last; without a tree nobody says."""
    sentence = Sentence(["we", "all", "saw", "the", "dow"], nps=[1, 1, 0, 2, 2], heads=[3, 1, 0, 5, 3])

    assert [unit.head_place for unit in units_of(sentence, heads=sentence.heads)] == [-2, 0, -1]
    assert [unit.head_place for unit in units_of(sentence, heads=[3, 3, 0, 5, 3])] == [-1, 0, -1]
    assert [unit.head_place for unit in units_of(sentence)] == [0, 0, 0]


class FirstWord:
    """A parser that makes the first word of a phrase its head, and counts what it is asked."""

    name = version = "first"

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        raise NotImplementedError

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        self.asked += sentences
        for words in sentences:
            yield Sentence(list(words), heads=[0, *([1] * (len(words) - 1))])


def test_a_parser_finds_what_nobody_said() -> None:
    """Each phrase is parsed once, and what is said stays; function words are heads where they are counted so."""
    parser = FirstWord()
    bags = [Notation().bag("[a b] [c d*] e [f* g]"), Notation().bag("[a b]")]
    found = parsed_heads(bags, parser, promoted=True)

    assert [[unit.head for unit in bag.units] for bag in found] == [["a", "d", "e", "f"], ["a"]]
    assert parser.asked == [("a", "b")]

    class Conll(FirstWord):
        def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
            yield Sentence(list(sentences[0]), heads=[2, 0], deprels=["case", "root"])

    (bag,) = parsed_heads(bags[1:], Conll(), promoted=True)
    assert bag.units[0].head == "a"
    (bag,) = parsed_heads(bags[1:], Conll(), promoted=False)
    assert bag.units[0].head == "b"


def test_a_parser_leaves_base_noun_phrases_to_the_counts() -> None:
    """*San Francisco* hangs on its first word in Universal Dependencies, and is counted by its last one."""

    class Names(FirstWord):
        def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
            tags, deprels = ["PROPN", "PROPN"], ["root", "flat"]
            yield Sentence(list(sentences[0]), upos=tags, heads=[0, 1], deprels=deprels)

    bags = [Notation().bag("[San Francisco]")]
    assert parsed_heads(bags, Names(), promoted=True) == bags


def test_conllu_hangs_words_on_the_head() -> None:
    block = conllu_block(parse_bag("had [people* left behind]"), [ROOT, 0])

    assert [line.split("\t")[6] for line in block.splitlines()[1:-1]] == ["0", "1", "2", "2"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Store]:
    """A treebank in which verbs have people before them, and camps behind."""
    folder = tmp_path_factory.mktemp("heads")
    rows = ["1\tpeople\t_\tNOUN\tNN\t_\t2\tnsubj", "2\tsaw\t_\tVERB\tVB\t_\t0\troot", "3\tcamps\t_\tNOUN\tNN\t_\t2\tobj"]  # fmt: skip
    text = "".join(f"{row}\t_\t_\n" for row in rows) + "\n"
    (folder / "a.conllu").write_text(text * 3)
    (folder / "s.duckdb").write_bytes(empty_store.read_bytes())
    with Store(folder / "s.duckdb") as opened:
        ingest(opened, [str(folder / "a.conllu")], Settings("camps", order=2))
        build(opened, "camps", ["camps"], order=2)
        yield opened


@pytest.mark.parametrize("algorithm", ["ab", "cle", "prim-arg"])
def test_the_head_decides_where_a_phrase_stands(store: Store, algorithm: str) -> None:
    """Counts are those of its head: people stand before, and camps behind."""
    plan = Search(algorithm=algorithm).plan(store, "camps")
    bags = [parse_bag(f"saw [{phrase}]") for phrase in ("people* near camps", "people near camps*")]

    assert [one.text for one in order_bags(store, plan, bags)] == [
        "people near camps saw",
        "saw people near camps",
    ]


def test_what_is_told_of_heads(store: Store) -> None:
    """Reasons show a head that is not the last word; a phrase that is no base noun phrase is named in a note."""

    def answered(text: str, **options: object) -> tuple[list[object], list[str]]:
        asked = OrderingRequest(bag=[text], model="camps", algorithm="ab", tagged=True)
        found = asked.answer(store, lambda notation: [notation.bag(text)], **options)  # type: ignore[arg-type]
        return [row[2] for row in found.reason_table().rows], [one for one in notes(found) if "head" in one]

    assert answered("saw/VB [people/NN near/IN camps/NN*]") == (["saw", "people near camps"], [])
    assert answered("saw/VB [people/NN* near/IN camps/NN]") == (["people* near camps", "saw"], [])
    assert answered("saw/VB [people/NN camps/NN]")[1] == []
    _, (told,) = answered("saw/VB [people/NN near/IN camps/NN]")
    assert told.startswith(
        "1 phrase without a given head: the last word is taken, such as camps of [people near"
    )
    assert answered("saw/VB [people/NN near/IN camps/NN]", parser=FirstWord()) == (
        ["people* near camps", "saw"],
        [],
    )
