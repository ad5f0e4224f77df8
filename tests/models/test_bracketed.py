"""Models that count the brackets of base noun phrases as words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import text
from toy_corpus import add_corpus, assert_sums_to_one, lookup, ngrams
from typer.testing import CliRunner

from sentgen.cli import build as commands
from sentgen.errors import ModelError
from sentgen.generation import parse_bag, regenerate
from sentgen.models import build, export_arpa, find, import_arpa
from sentgen.schema import Store

#: Words with tags, and the numbers of their base noun phrases; "it" is one of one word.
SENTENCES = [
    ("the/D dog/N saw/V the/D cat/N", [1, 1, 0, 2, 2]),
    ("it/P gave/V a/D dog/N the/D cat/N", [1, 0, 2, 2, 3, 3]),
    ("barks/V", [0]),
]
#: The same with the brackets written out.
WRITTEN = [
    "<np>/B the/D dog/N </np>/B saw/V <np>/B the/D cat/N </np>/B",
    "it/P gave/V <np>/B a/D dog/N </np>/B <np>/B the/D cat/N </np>/B",
    "barks/V",
]


def add_phrases(store: Store, name: str, phrases: Sequence[Sequence[int | None]] | None = None) -> None:
    """Store the sentences with base noun phrases."""
    add_corpus(store, name, [sentence for sentence, _ in SENTENCES], tags="xpos_id")
    numbers = phrases or [found for _, found in SENTENCES]
    rows = [(i, k, n) for i, found in enumerate(numbers) for k, n in enumerate(found, 1)]
    first = "(select min(sentence_id) from token t join corpus c on c.id = corpus_id where c.name = :name)"
    update = f"update token set np = :np where sentence_id = :sentence + {first} and position = :position"
    with store.begin() as connection:
        for sentence, position, number in rows:
            values = {"np": number, "sentence": sentence, "position": position, "name": name}
            connection.execute(text(update), values)


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("unknown", ["word", "tag"])
@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
def test_brackets_count_as_if_they_were_written(store: Store, unknown: str, smoothing: str) -> None:
    """The model is that of a text with brackets around phrases of two words and more."""
    add_phrases(store, "trees")
    model = build(store, "m", ["trees"], order=3, smoothing=smoothing, unknown=unknown, brackets=True)
    add_corpus(store, "written", WRITTEN, tags="xpos_id")
    expected = build(store, "e", ["written"], order=3, smoothing=smoothing, unknown=unknown)

    found, wanted = ngrams(store, model), ngrams(store, expected)
    assert found.keys() == wanted.keys()
    assert all(found[gram] == pytest.approx(wanted[gram]) for gram in wanted)
    assert ("</np>", "<np>") in found
    assert ("<np>", "it") not in found
    assert_sums_to_one(found, 3)


def test_model_says_that_it_has_brackets(store: Store) -> None:
    add_phrases(store, "trees")
    build(store, "with", ["trees"], order=2, brackets=True)
    build(store, "without", ["trees"], order=2)

    assert find(store, "with").brackets
    assert not find(store, "without").brackets
    assert ("brackets", None, "yes") in find(store, "with").describe(store)
    assert [row[0] for row in find(store, "with").describe(store)].count("brackets") == 1


def test_arpa_files_keep_the_brackets(store: Store, tmp_path: Path) -> None:
    add_phrases(store, "trees")
    model = build(store, "m", ["trees"], order=2, brackets=True)
    export_arpa(store, model, tmp_path / "m.arpa")

    again = import_arpa(store, "m", tmp_path / "m.arpa")

    assert (again.version, again.brackets) == (2, True)
    assert ngrams(store, again).keys() == ngrams(store, model).keys()


@pytest.mark.parametrize("phrases", [[[], [], []], [[0] * 5, [0] * 6, [0]], [[1, 1, 0, 2, 2], [], []]])
def test_base_noun_phrases_must_be_known(store: Store, phrases: list[list[int]]) -> None:
    """Corpora without base noun phrases, or with those of some sentences only, are refused."""
    add_phrases(store, "trees", phrases)

    with pytest.raises(ModelError, match="trees: base noun phrases are not known"):
        build(store, "m", ["trees"], order=2, brackets=True)


def test_brackets_in_the_text_are_refused(store: Store) -> None:
    add_corpus(store, "odd", ["the/D </np>/N"], tags="xpos_id")
    with store.begin() as connection:
        connection.execute(text("update token set np = 1"))

    with pytest.raises(ModelError, match="the text contains <np> or </np>"):
        build(store, "m", ["odd"], order=2, brackets=True)


def test_phrases_of_a_bag_are_bracketed(store: Store) -> None:
    """A phrase of a bag has brackets: log p(<np> the dog </np> barks </s> | <s>); single words have none."""
    add_phrases(store, "trees")
    model = build(store, "m", ["trees"], order=2, brackets=True)
    known = ngrams(store, model)

    def logp(sentence: str) -> float:
        words = ["<s>", *sentence.split(), "</s>"]
        return sum(lookup(known, (before, word)) for before, word in pairwise(words))

    (found,) = regenerate(store, model, [parse_bag("[the dog]")], algorithm="beam")
    (broken,) = regenerate(store, model, [parse_bag("[the dog]")], algorithm="viterbi")
    (single,) = regenerate(store, model, [parse_bag("[dog]")], algorithm="beam")

    assert found.logp == pytest.approx(logp("<np> the dog </np>") * math.log(10))
    assert found.text == "the dog"
    assert found.unknown == 0
    assert broken.logp == pytest.approx(logp(broken.text) * math.log(10))
    assert single.logp == pytest.approx(logp("dog") * math.log(10))


def run(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(commands(), arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_commands_build_and_score(tmp_path: Path) -> None:
    """`score` takes brackets as words, and says that it does."""
    db = str(tmp_path / "cli.duckdb")
    with Store(db, create=True) as store:
        add_phrases(store, "trees")

    run("models", "build", "m", "--corpus", "trees", "--brackets", "--db", db)

    out, err = run("score", "--model", "m", "<np> the dog </np> barks", "--csv", "--db", db)
    assert ",6,0," in out
    assert "write base noun phrases as <np> the dow </np>" in err
    assert "true" in run("models", "list", "--csv", "--db", db)[0]
