"""Experiments: figures by hand and from sacreBLEU, and everything on record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sacrebleu
import toy_store

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation import corpus_bleu, evaluate_regeneration, sentence_bleu
from sentgen.evaluation.testset import read_test_set
from sentgen.schema import Store
from sentgen.schema.store import raw

Toy = tuple[Store, toy_store.ToyModel]
TEST = [
    Sentence(["the", "dog", "barks", "."], upos=["DET", "NOUN", "VERB", "PUNCT"], nps=[1, 1, 0, 0]),
    Sentence(["barks"]),
    Sentence(["a", "cat", "sees", "the", "mat"], nps=[1, 1, 0, 2, 2]),
]


def rows(store: Store, query: str) -> list[tuple[object, ...]]:
    with store.connect() as connection:
        return raw(connection).execute(query).fetchall()


def test_bleu_by_hand() -> None:
    """ "a b c d x" for "a b c d e": precisions 4/5, 3/4, 2/3, 1/2, no brevity penalty; fourth root of 1/5."""
    scores = corpus_bleu(["a b c d x"], ["a b c d e"])

    assert [score.value for score in scores] == pytest.approx([100 * 0.2**0.25] * 2)
    assert [score.metric for score in scores] == ["bleu-lc-13a", "bleu-none"]


def test_bleu_is_that_of_sacrebleu() -> None:
    """Lower-cased 13a is what `sacrebleu -lc` prints; tokens as they stand tell case apart."""
    outputs, references = ["The cat sat down, now ."], ["the cat sat down , now ."]
    lower, plain = corpus_bleu(outputs, references)

    assert lower.value == pytest.approx(sacrebleu.corpus_bleu(outputs, [references], lowercase=True).score)
    assert "case:lc" in lower.signature
    assert "tok:13a" in lower.signature
    assert plain.value < lower.value
    assert "tok:none" in plain.signature


def test_bleu_of_nothing() -> None:
    """No sentences, no matches."""
    assert [score.value for score in corpus_bleu([], [])] == [0, 0]
    assert sentence_bleu([], []) == []


def test_sentence_bleu_has_one_value_a_sentence() -> None:
    """Identical short sentences reach 100 although they have no 4-gram."""
    assert [round(score.value) for score in sentence_bleu(["a b", "x"], ["a b", "y"])] == [100, 0]


def test_run_is_recorded(toy: Toy) -> None:
    """The run, a figure per system and sentence, the outputs, and what the systems were given."""
    result = evaluate_regeneration(*toy, TEST, ["lmo", "greedy"], seed=3, source="test.conllu")
    (run,) = rows(toy[0], "select id, command, seed, parameters from run")
    parameters = json.loads(str(run[3]))

    assert run[:3] == (result.run_id, "evaluate regeneration", 3)
    assert parameters["model"] == "toy@1"
    assert parameters["sentences"] == 3
    assert len(parameters["sha256"]) == 64
    query = "select system, count(*) from score where item is not null group by all order by 1"
    assert rows(toy[0], query) == [
        ("greedy", 3), ("lmo", 3),
    ]  # fmt: skip
    recorded = rows(toy[0], "select output from output where system = 'lmo' order by item")
    assert [text for (text,) in recorded] == result.systems[0].outputs
    assert rows(toy[0], "select distinct reference from output where item = 3") == [("a cat sees the mat",)]
    assert rows(toy[0], "select count(*) from score where item is null and metric = 'bleu-none'") == [(2,)]


def test_figures_are_those_of_the_outputs(toy: Toy) -> None:
    """BLEU and exact match can be computed again from what is stored."""
    result = evaluate_regeneration(*toy, TEST, ["lmo"])
    (system,) = result.systems
    exact = sum(a == b for a, b in zip(system.outputs, result.references, strict=True)) / 3

    assert system.value("exact-match") == pytest.approx(exact)
    assert system.scores[:2] == corpus_bleu(system.outputs, result.references)


def test_second_run_gets_its_own_number_and_the_same_figures(toy: Toy) -> None:
    """The same seed and data give the same sentences."""
    one, other = (evaluate_regeneration(*toy, TEST, ["lmo"], seed=5) for _ in range(2))

    assert other.run_id == one.run_id + 1
    assert other.systems[0].scores == one.systems[0].scores


def test_units_punctuation_and_case(toy: Toy) -> None:
    """Words as units, no punctuation, lower case: seen in what the system was given and compared with."""
    test = [Sentence(["The", "DOG", "barks", "."], upos=["DET", "NOUN", "VERB", "PUNCT"], nps=[1, 1, 0, 0])]
    evaluate_regeneration(*toy, test, ["lmo"], units="word", punctuation=False, lowercase=True)
    ((given, reference),) = rows(toy[0], "select input, reference from output")

    assert sorted(str(given).split()) == ["barks", "dog", "the"]
    assert reference == "the dog barks"


def test_untagged_punctuation_is_told_by_its_characters(toy: Toy) -> None:
    """Without tags a token without letters and digits is punctuation; a sentence of it is left out."""
    test = [Sentence(["a", "dog", "!?"]), Sentence(["..."])]
    result = evaluate_regeneration(*toy, test, ["lmo"], punctuation=False)

    assert result.references == ["a dog"]


def test_base_nps_are_found_where_the_test_has_none(toy: Toy) -> None:
    """Tags and relations give the base noun phrases."""
    test = [
        Sentence(
            ["a", "dog", "barks"],
            upos=["DET", "NOUN", "VERB"],
            heads=[2, 3, 0],
            deprels=["det", "nsubj", "root"],
        )
    ]
    evaluate_regeneration(*toy, test, ["lmo"])

    assert sorted(str(rows(toy[0], "select input from output")[0][0])) == sorted("[a dog] barks")


def test_unknown_algorithm_leaves_no_run(toy: Toy) -> None:
    """Refused before anything runs."""
    with pytest.raises(InputError, match="no algorithm"):
        evaluate_regeneration(*toy, TEST, ["lmo", "magic"])

    assert rows(toy[0], "select count(*) from run") == [(0,)]


def test_test_sets_are_read_in_any_format(tmp_path: Path) -> None:
    """A file of lines, with the format given or found; nothing to read is an error."""
    path = tmp_path / "test.lines"
    path.write_text("a dog barks .\nthe cat .\n")

    assert [sentence.forms for sentence in read_test_set(str(path))][1] == ["the", "cat", "."]
    with pytest.raises(InputError, match="no format 'x'"):
        list(read_test_set(str(path), form="x"))
    path.write_text("\n\n")
    with pytest.raises(InputError):
        list(read_test_set(str(path)))
