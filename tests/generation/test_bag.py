"""Bags: their notation, and the loss of the order of the input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.generation import Unit, parse_bag, shuffled, units_of


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("a b", [("a",), ("b",)]),
        ("[the dow] fell", [("the", "dow"), ("fell",)]),
        ("[ the dow ] fell", [("the", "dow"), ("fell",)]),
        ("[dow]", [("dow",)]),
        (r"\[ a \]", [("[",), ("a",), ("]",)]),
        ("10\u00a0000 a", [("10\u00a0000",), ("a",)]),
        ("and/or 1/2 plain", [("and/or",), ("1/2",), ("plain",)]),
        ("/ a/b", [("/",), ("a/b",)]),
        ("", []),
        (" \t", []),
        (r"\[\]", [("[]",)]),
        ("and/or either/or", [("and/or",), ("either/or",)]),
        ("1/2 3/4", [("1/2",), ("3/4",)]),
        ("https://a.b/c", [("https://a.b/c",)]),
        ("I/O TCP/IP", [("I/O",), ("TCP/IP",)]),
        ("dog/NN and/or", [("dog/NN",), ("and/or",)]),
        (r"a\/NN", [("a/NN",)]),
    ],
)
def test_notation(text: str, units: list[tuple[str, ...]]) -> None:
    """Words, brackets, escaped brackets, and slashes that are no tags."""
    assert [unit.words for unit in parse_bag(text)] == units


def test_joiner() -> None:
    """A joiner makes phrases; alone, at an end or beside another one it is part of the word."""
    assert [unit.words for unit in parse_bag("the_dow _ _x a__b fell", joiner="_")] == [
        ("the", "dow"),
        ("_",),
        ("_x",),
        ("a__b",),
        ("fell",),
    ]


def test_tags() -> None:
    """Tags go with words; the head of a phrase is its last word, and the last slash is the tag's.

    Other slashes are the word's, escaped as in the Penn Treebank or not.
    """
    np, fraction, half, slash = parse_bag(r"[the/DT dow/NNP] 1\/2/CD 1/2/CD //SYM")

    assert (np.head, np.head_tag) == ("dow", "NNP")
    assert fraction == half == Unit(("1/2",), ("CD",))
    assert slash == Unit(("/",), ("SYM",))


def test_only_known_tags_are_tags() -> None:
    """The standard ones, or those that a caller knows, in every word; else the slash is the word's."""
    assert parse_bag("a/N b/V") == [Unit(("a/N",)), Unit(("b/V",))]
    assert parse_bag("a/N b/V", tags={"N", "V"}) == [Unit(("a",), ("N",)), Unit(("b",), ("V",))]
    assert parse_bag("a/N b/NN", tags={"N", "V"}) == [Unit(("a/N",)), Unit(("b/NN",))]
    assert parse_bag("./. he/PRON his/PRP$ (/-LRB-") == [
        Unit((word,), (tag,)) for word, tag in ((".", "."), ("he", "PRON"), ("his", "PRP$"), ("(", "-LRB-"))
    ]


def test_tags_can_be_denied_or_demanded() -> None:
    """With --no-tagged a slash is a slash; with --tagged every word needs a tag, and any will do."""
    assert parse_bag("a/NN", tagged=False) == [Unit(("a/NN",))]
    assert parse_bag("a/B", tagged=True) == [Unit(("a",), ("B",))]
    for word in ("c", "and/", "/or", r"and\\/or"):
        with pytest.raises(InputError, match="has no tag"):
            parse_bag(f"a/B {word}", tagged=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\x01b", "character U\\+0001"),
        ("a\udc80b", "character U\\+DC80"),
        ("a <root>", "<root> is a symbol"),
        ("[a b", "never closed"),
        ("a b]", "never opened"),
        ("[a [b] c]", "inside a bracket"),
        ("a [] b", "brackets without words; write the words as \\\\\\["),
        ("[ ]", "brackets without words"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    """A malformed bag is refused with the reason."""
    with pytest.raises(InputError, match=message):
        parse_bag(text)


def test_units_of_a_sentence() -> None:
    """Base noun phrases are whole, neighbouring ones separate; on request, words are units."""
    sentence = Sentence(["the", "dow", "mr.", "x", "fell"], xpos=list("DNNNV"), nps=[1, 1, 2, 2, 0])

    assert units_of(sentence) == [
        Unit(("the", "dow"), ("D", "N")),
        Unit(("mr.", "x"), ("N", "N")),
        Unit(("fell",), ("V",)),
    ]
    assert [unit.words for unit in units_of(sentence, "word")] == [(form,) for form in sentence.forms]


UNITS = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=2).map(lambda w: Unit(tuple(w))), max_size=7
)


@given(UNITS, st.integers(0, 99), st.randoms(use_true_random=False))
def test_the_given_order_does_not_matter(units: list[Unit], seed: int, random: object) -> None:
    """All input orders of a bag give the same bag."""
    other = list(units)
    random.shuffle(other)  # type: ignore[attr-defined]

    assert shuffled(units, seed) == shuffled(other, seed)
    assert sorted(shuffled(units, seed)) == sorted(units)


def test_seeds_differ() -> None:
    """Another seed gives another order."""
    units = parse_bag("a b c d e f g h")

    assert len({tuple(shuffled(units, seed)) for seed in range(5)}) > 1
