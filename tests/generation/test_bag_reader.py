"""Bags from files: reading and detection of each format, and places of errors."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.formats import READERS
from sentgen.corpus.sentence import RESERVED
from sentgen.errors import InputError
from sentgen.generation import Unit
from sentgen.generation.bags.bag_reader import Bag, Notation, TagKind

SENTENCE = "# sent_id = s1\n" + "".join(
    f"{row}\n"
    for row in (
        "1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_",
        "2\tdow\tdow\tPROPN\t_\t_\t3\tnsubj\t_\t_",
        "3\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_",
    )
)
TREE = "( (S (NP (DT the) (NNP dow)) (VP (VBD fell))) )\n"


def read(tmp_path: Path, text: str, name: str = "bags", **options: object) -> list[Bag]:
    """Write a file and read its bags."""
    form = options.pop("form", None)
    path = tmp_path / name
    path.write_text(text)
    return Notation(**options).read(str(path), form)  # type: ignore[arg-type]


def words(bags: list[Bag]) -> list[list[str]]:
    """Return the units of each bag in bag notation."""
    return [[str(unit) for unit in bag.units] for bag in bags]


@pytest.mark.parametrize("text", ["a [b c]\n\nd\n", "a [b c]\n\nd", "a b_c\r\n \r\nd\r\n"])
def test_line_k_is_bag_k(tmp_path: Path, text: str) -> None:
    """A blank line is an empty bag, so that lines of input and output correspond."""
    assert words(read(tmp_path, text, joiner="_")) == [["a", "[b c]"], [], ["d"]]


def test_blank_lines_only(tmp_path: Path) -> None:
    """Two blank lines are two empty bags."""
    assert read(tmp_path, "\n\n") == [Bag((), tagged=False)] * 2


@pytest.mark.parametrize("name", ["bags", "bags.json", "bags.jsonl"])
def test_nothing(tmp_path: Path, name: str) -> None:
    """A file without a line holds no bag."""
    with pytest.raises(InputError, match=f"{name}: is empty"):
        read(tmp_path, "", name)


FELL = Bag((Unit(("fell",), ("VBD",)), Unit(("the", "dow"), ("DT", "NNP"))), "7")
OBJECT = '{"id": 7, "units": ["fell", ["the", "dow"]], "tags": ["VBD", ["DT", "NNP"]]}'


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f"\n{OBJECT}\n\n",
        f"[{OBJECT}]",
        f"[\n{OBJECT}\n]",
        json.dumps(json.loads(OBJECT), indent=2),
    ],
)
def test_json_in_any_layout(tmp_path: Path, text: str) -> None:
    """One object, lines of them, or an array, spread over lines or not."""
    assert read(tmp_path, text) == [FELL]


def test_json_bags_one_after_the_other(tmp_path: Path) -> None:
    """Words without phrases, missing tags, and an empty bag."""
    text = '{"words": ["a", "b"], "tags": ["X", null]}\n{"words": []}\n[{"units": [["c"]]}]'

    assert read(tmp_path, text) == [
        Bag((Unit(("a",), ("X",)), Unit(("b",)))),
        Bag(()),
        Bag((Unit(("c",)),)),
    ]


PLAIN = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5).filter(
    lambda word: word not in RESERVED
)
UNITS = st.lists(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=3), max_size=5)


@given(st.lists(UNITS, min_size=1, max_size=3))
def test_json_holds_any_words(
    tmp_path_factory: pytest.TempPathFactory, bags: list[list[list[tuple[str, str]]]]
) -> None:
    """Words in JSON are unchanged, with brackets and slashes."""
    objects = [
        {
            "units": [[word for word, _ in unit] for unit in bag],
            "tags": [[tag for _, tag in unit] for unit in bag],
        }
        for bag in bags
    ]
    found = read(tmp_path_factory.mktemp("json"), "\n".join(map(json.dumps, objects)))

    assert [[list(zip(unit.words, unit.tags, strict=True)) for unit in bag.units] for bag in found] == bags


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"words": ["a"]}\n{"words": ["a"],}', "bags:2: not JSON"),
        ('{"words": ["a"]}\n\n{"bag": ["a"]}', "bags:3: not a bag; write it as"),
        ('{"words": ["a"], "units": ["a"]}', "bags:1: not a bag"),
        ('{"words": "a"}', "`words` is not a list"),
        ('[{"words": []},\n{"words": [3]}]', "bags:1: item 2: 3 where a word belongs"),
        ('{"units": ["new york"]}', "a blank in the word 'new york'; write a phrase as a list"),
        ('{"units": [""]}', "an empty word"),
        ('{"units": [["a", "</s>"]]}', "</s> is a symbol of the language models"),
        ('{"units": [[]]}', "a unit \\[\\]"),
        ('{"units": ["a\\u0000"]}', "character U\\+0000"),
        ('{"words": [["a", "b"]]}', "phrases belong in `units`"),
        ('{"words": ["a", "b"], "tags": ["X"]}', "1 `tags` for 2 `words`"),
        ('{"units": [["a", "b"]], "tags": [["X"]]}', "1 tag for the 2 words of 'a b'"),
        ('{"units": [["a", "b"]], "tags": ["X"]}', "with the tags 'X'"),
        ('{"words": ["a"], "id": [1]}', "`id` is neither"),
        ('{"words": ' + "[" * 100_000, "bags:1: not JSON"),
        (f'{{"words": [{"9" * 4301}]}}', "bags:1: not JSON that can be read: a number is too long"),
        ("a\n[b", "bags:2: a bracket is never closed"),
        ("a\n\x01", "bags:2: control character"),
    ],
)
def test_errors_say_where(tmp_path: Path, text: str, message: str) -> None:
    """Errors name the file and the line."""
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (None, ("DT", "_", "VBD")),
        ("xpos", ("DT", "PROPN", "VBD")),
        ("upos", ("DET", "PROPN", "VERB")),
    ],
)
def test_sentences_of_a_treebank(tmp_path: Path, tags: TagKind | None, expected: tuple[str, ...]) -> None:
    """Base noun phrases are whole, names are kept, and tags are of the kind that counts.

    A token without that kind has the other one, as it was counted.
    """
    (bag,) = read(tmp_path, SENTENCE, tags=tags)

    assert words([bag]) == [["[the dow*]", "fell"]]
    assert tuple(tag for unit in bag.units for tag in unit.tags) == expected
    assert bag.name == "s1"


def test_treebank_without_the_kind_of_tags(tmp_path: Path) -> None:
    """Tags of another kind than that of the counts are left out."""
    (bag,) = read(tmp_path, SENTENCE.replace("\tDT", "\t_").replace("\tVBD", "\t_"), tags="xpos")

    assert [unit.tags for unit in bag.units] == [(), ()]


def test_broken_sentence(tmp_path: Path) -> None:
    """A sentence that a check refuses is refused, not left out: the numbers of the bags would shift."""
    with pytest.raises(InputError, match=r"b\.conllu:1: .*\[head-range\]"):
        read(tmp_path, SENTENCE.replace("\t2\tdet", "\t9\tdet"), "b.conllu")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bags", "blood group O\n", [["blood", "group", "O"]]),
        ("bags", "fell/VBD the/DT\n", [["fell", "the"]]),
        ("bags", "( A b )\n", [["(", "A", "b", ")"]]),
        ("bags.txt", "a b .\nc d .\n", [["a", "b", "."], ["c", "d", "."]]),
        ("bags.xyz", "what is this\n", [["what", "is", "this"]]),
        ("bags", "[the dow] fell\n", [["[the dow]", "fell"]]),
        ("a.mrg", TREE, [["[the dow*]", "fell"]]),
        ("a.pos", "[ the/DT dow/NNP ]\nfell/VBD\n", [["[the dow]", "fell"]]),
        ("a.jsonl", '{"tokens": ["the", "dow"]}\n', [["the", "dow"]]),
        ("a", SENTENCE, [["[the dow*]", "fell"]]),
    ],
)
def test_forms_are_told_apart(tmp_path: Path, name: str, text: str, expected: list[list[str]]) -> None:
    """A line of words is a bag, unless the name of the file says otherwise."""
    assert words(read(tmp_path, text, name)) == expected


def test_form_can_be_given(tmp_path: Path) -> None:
    """--format goes before detection."""
    assert words(read(tmp_path, TREE, form="mrg")) == [["[the dow*]", "fell"]]
    assert words(read(tmp_path, '{"a": b\n', form="bags")) == [['{"a":', "b"]]
    with pytest.raises(InputError, match="no format 'wpd'; there are: bags, json, "):
        read(tmp_path, "a", form="wpd")
    assert set(READERS).isdisjoint({"bags", "json"})


def test_compressed_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bags are read from compressed files and from a pipe."""
    packed = gzip.compress(b"a b\n")
    (tmp_path / "bags.gz").write_bytes(packed)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))

    assert words(Notation().read(str(tmp_path / "bags.gz"))) == [["a", "b"]]
    assert words(Notation().read("-")) == [["a", "b"]]
