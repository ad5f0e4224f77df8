"""Tags of words that come without, by hand, and which corpora have trees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_treebank import Tree, add, store_of

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import ModelError
from sentgen.models.dependency.tagging import known_tags, most_frequent_tags, tag_set, with_trees
from sentgen.schema import Store


def flat(text: str) -> Tree:
    """Make a tree of word/TAG in which all words hang on the first one."""
    pairs = [word.rsplit("/", 1) for word in text.split()]
    return [(form, tag, int(i > 0)) for i, (form, tag) in enumerate(pairs)]


OFTEN = "run/V run/V run/N tie/V tie/N Bank/P Bank/P"
ONCE = "sing/V bring/V thing/N king/N ring/N Sam/P Tim/P 1999/C"


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Store]:
    with store_of([flat(OFTEN), flat(ONCE)], tmp_path) as store:
        yield store


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("run", "V"),  # two of three
        ("tie", "N"),  # one each: the smaller name
        ("RUN", "V"),  # as in lower case
        ("bank", "P"),  # as capitalized
        ("ping", "N"),  # three of five that end so
        ("Vtim", "P"),  # as Tim does
        ("2026", "C"),  # as 1999 does: digits are alike
        ("Jing", "N"),  # no capitalized word ends so; three of all eight
        ("", "N"),
    ],
)
def test_most_frequent_tag(toy: Store, word: str, tag: str) -> None:
    """The tag of the word, of its other spelling, or of words like it that were seen once."""
    assert most_frequent_tags(toy, [1], "word", [word]) == {word: tag}


def test_many_words_at_once(toy: Store) -> None:
    """Many words, known and unknown, some of them twice, get their tags at once."""
    words = ["run", "ping", "Vtim", "run", "ping"]

    assert most_frequent_tags(toy, [1], "word", words) == {"run": "V", "ping": "N", "Vtim": "P"}
    assert most_frequent_tags(toy, [1], "word", []) == {}


def test_corpora_are_summed(toy: Store) -> None:
    """N has one of run in each corpus, and two more in the second."""
    add(toy, "more", [flat("run/N run/N see/V")])

    assert most_frequent_tags(toy, [1], "word", ["run"]) == {"run": "V"}
    # 2 V against 1 + 2 N
    assert most_frequent_tags(toy, [1, 2], "word", ["run"]) == {"run": "N"}


def test_known_tags(toy: Store) -> None:
    """All tags of the trees, and those of the named corpora only."""
    add(toy, "more", [flat("see/X")])

    assert {"V", "N", "P", "C"} <= known_tags(toy, [1], "word")
    assert "X" not in known_tags(toy, [1], "word")
    assert "X" in known_tags(toy, [1, 2], "word")


def test_nothing_seen_once(tmp_path: Path) -> None:
    """Without words that were seen once, unknown words get no tag."""
    with store_of([flat("a/X a/X")], tmp_path) as store:
        assert most_frequent_tags(store, [1], "word", ["b"]) == {"b": "_"}


def test_words_inside_of_phrases(tmp_path: Path) -> None:
    """A word that is never the last one of a unit takes its tag in the layer of words."""
    path = tmp_path / "np.conllu"
    path.write_text(
        "1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
        "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
        "3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
    )
    with Store(tmp_path / "np.duckdb", create=True) as store:
        ingest(store, [str(path)], Settings("np", order=2))
        tags = most_frequent_tags(store, [1], "unit", ["the", "dog"])

    assert tags == {"the": "DT", "dog": "NN"}


@pytest.fixture
def mixed(toy: Store, tmp_path: Path) -> Store:
    """A treebank with xpos (1), one with upos (2), and plain text (3)."""
    add(toy, "universal", [flat("see/V it/N")], tags="upos")
    path = tmp_path / "plain.txt"
    path.write_text("a b c\n")
    ingest(toy, [str(path)], Settings("plain", format="lines", order=2))
    return toy


def test_corpora_with_trees(mixed: Store) -> None:
    """Plain text has none, in either layer."""
    assert with_trees(mixed, [3, 2, 1, 2]) == [1, 2]
    assert with_trees(mixed, [3, 2], "word") == [2]


def test_no_trees_at_all(mixed: Store) -> None:
    """The message names the corpora and says what to do."""
    with pytest.raises(
        ModelError,
        match=r"^there are no dependency trees in plain, .* `dependencies` CORPUS, or parse the text .*PARSER$",
    ):
        with_trees(mixed, [3])


def test_tag_set(mixed: Store) -> None:
    """The tag set is that of the corpora with trees."""
    assert tag_set(mixed, [1, 3]) == "xpos"
    assert tag_set(mixed, [2]) == "upos"


def test_tag_sets_that_differ(mixed: Store) -> None:
    """The error has the tag set of each corpus."""
    with pytest.raises(ModelError, match=r"different tags \(toy xpos, universal upos\).*--tags KIND$"):
        tag_set(mixed, [1, 2])
