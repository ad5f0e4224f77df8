"""Experiments: figures by hand and by sacreBLEU, and their records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import toy_store
from bleu_scores import corpus_bleu
from stored import rows

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.report import RegenerationReport
from sentgen.schema import Store

Toy = tuple[Store, toy_store.ToyModel]
TEST = [
    Sentence(["the", "dog", "barks", "."], upos=["DET", "NOUN", "VERB", "PUNCT"], nps=[1, 1, 0, 0]),
    Sentence(["barks"]),
    Sentence(["a", "cat", "sees", "the", "mat"], nps=[1, 1, 0, 2, 2]),
]


def test_run_is_recorded(toy: Toy) -> None:
    """The store has the run, a figure for each system and sentence, the outputs, and the shuffled bags."""
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
    assert system.rows()[:3] == corpus_bleu(system.outputs, result.references, "lmo")


def test_every_figure_has_an_interval_and_a_signature(toy: Toy) -> None:
    """The rows of the whole set: figures, their ends, milliseconds; lengths on request."""
    result = evaluate_regeneration(*toy, TEST, ["lmo"], by_length=True)
    query = "select metric, value, signature from score where item is null and system = 'lmo'"
    found = {str(metric): (value, signature) for metric, value, signature in rows(toy[0], query)}

    for metric in (
        "bleu-lc-13a",
        "bleu-none",
        "bleu-lc-none",
        "chrf",
        "exact-match",
        "kendall-tau",
        "adjacency",
    ):
        low, value, high = (found[f"{metric}{end}"][0] for end in (":low", "", ":high"))
        assert low <= value <= high  # type: ignore[operator]
        assert found[metric][0] == result.systems[0].value(metric)
        assert str(found[f"{metric}:low"][1]).endswith("|bs:1000|level:0.95|seed:1")
    # "barks" has one word, "the dog barks ." four, "a cat sees the mat" five
    assert str(found["bleu-lc-none:1-4"][1]).endswith("|words:1-4|sentences:2")
    assert str(found["bleu-lc-none:5-9"][1]).endswith("|words:5-9|sentences:1")
    assert {"lookup-ms", "search-ms"} <= set(found)
    assert all(signature for _, signature in found.values())


def test_search_errors_are_counted(toy: Toy) -> None:
    """An answer with a lower score than the gold order is a search error; an exact answer has its score."""
    result = evaluate_regeneration(*toy, [Sentence(["a", "dog", "barks"])], ["lmo"])

    assert result.systems[0].outputs == ["a dog barks"]
    assert result.systems[0].value("search-error") == 0
    assert "attachment" not in result.systems[0].measurements


def test_systems_are_compared_pairwise(toy: Toy) -> None:
    """The rows of a comparison; identical systems do not differ."""
    evaluate_regeneration(*toy, TEST, ["lmo", "greedy", "lmo:order=4"])
    query = "select distinct system from score where system like '% vs %' order by system"
    same = "select metric, value from score where system = 'lmo vs lmo:order=4'"

    assert len(rows(toy[0], query)) == 3
    assert dict(rows(toy[0], same)) == {  # type: ignore[arg-type]
        "bleu-lc-none:difference": 0, "bleu-lc-none:sign-test:pluses": 0, "bleu-lc-none:sign-test:minuses": 0,
        "bleu-lc-none:sign-test:equal": 3, "bleu-lc-none:sign-test:p": 1, "bleu-lc-none:randomization:p": 1,
        "bleu-lc-none:randomization:p-holm": 1,
    }  # fmt: skip


def test_threads_change_nothing(toy: Toy) -> None:
    """Two jobs give the same answers in the same order."""
    many = TEST * 70
    one, other = (evaluate_regeneration(*toy, many, ["lmo", "greedy"], jobs=jobs) for jobs in (1, 2))

    for plain, threaded in zip(one.systems, other.systems, strict=True):
        assert plain.outputs == threaded.outputs
        assert plain.rows() == threaded.rows()
        assert plain.intervals == threaded.intervals
    with pytest.raises(InputError, match="0 jobs"):
        evaluate_regeneration(*toy, TEST, ["lmo"], jobs=0)


def test_progress_is_told(toy: Toy) -> None:
    """Progress is reported after each part of the test set, for systems that share look-ups at once."""
    told: list[tuple[int, int]] = []
    evaluate_regeneration(
        *toy, TEST, ["lmo", "greedy", "lmo:order=3"], progress=lambda *each: told.append(each)
    )

    assert told == [(6, 9), (9, 9)]


def test_second_run_gets_its_own_number_and_the_same_figures(toy: Toy) -> None:
    """The same seed and data give the same sentences."""
    one, other = (evaluate_regeneration(*toy, TEST, ["lmo"], seed=5) for _ in range(2))

    assert other.run_id == one.run_id + 1
    assert other.systems[0].rows() == one.systems[0].rows()


def test_units_punctuation_and_case(toy: Toy) -> None:
    """Units, punctuation and case show in the bags and in the references."""
    test = [Sentence(["The", "DOG", "barks", "."], upos=["DET", "NOUN", "VERB", "PUNCT"], nps=[1, 1, 0, 0])]
    evaluate_regeneration(*toy, test, ["lmo"], units="word", lowercase=True, punct=False)
    ((given, reference),) = rows(toy[0], "select input, reference from output")

    assert sorted(str(given).split()) == ["barks", "dog", "the"]
    assert reference == "the dog barks"


def test_untagged_punctuation_is_told_by_its_characters(toy: Toy) -> None:
    """Without tags a token without letters and digits is punctuation; a sentence of it is left out."""
    test = [Sentence(["a", "dog", "!?"]), Sentence(["..."])]
    result = evaluate_regeneration(*toy, test, ["lmo"], punct=False)

    assert result.references == ["a dog"]


def test_nothing_to_order(toy: Toy) -> None:
    """A test set without words is refused, and no run is recorded."""
    with pytest.raises(InputError, match="nothing of the test set is left"):
        evaluate_regeneration(*toy, [Sentence(["..."])], ["lmo"], punct=False)

    assert rows(toy[0], "select count(*) from run") == [(0,)]


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


def test_outputs_of_other_systems(toy: Toy, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Outputs of files are tested and recorded; lost words cost and cause a warning; blank lines are no answers."""
    (tmp_path / "o.txt").write_text("the dog barks .\n\ncat sees the mat\n")
    result = evaluate_regeneration(*toy, TEST, ["lmo"], outputs=[f"theirs={tmp_path / 'o.txt'}"])
    theirs = result.systems[1]

    assert theirs.system == "theirs"
    assert theirs.outputs == ["the dog barks .", "", "cat sees the mat"]
    assert theirs.rows()[:3] == corpus_bleu(theirs.outputs, result.references, "theirs")
    # Of 5, 2 and 6 pairs of neighbors are right: 5, none, and 4 (sees the, the mat, cat sees, mat .).
    assert theirs.value("adjacency") == pytest.approx((5 + 0 + 4) / (5 + 2 + 6))
    assert theirs.value("other-words") == pytest.approx(2 / 3)
    # Only the first sentence has a tau; the second has one word, the third lost one.
    assert (theirs.value("kendall-tau"), theirs.times) == (1, {})
    assert "other-words" not in result.systems[0].measurements
    assert caplog.messages == ["theirs: of 3 answers, 1 have other words than the sentence, and 1 are blank"]
    assert {pair.better for pair in result.comparisons} | {pair.worse for pair in result.comparisons} == {
        "lmo", "theirs",
    }  # fmt: skip
    query = "select output from output where system = 'theirs' order by item"
    assert rows(toy[0], query) == [("the dog barks .",), ("",), ("cat sees the mat",)]
    assert RegenerationReport(result).report().markdown()


def test_outputs_are_lower_cased_and_left_out_as_the_test_is(toy: Toy, tmp_path: Path) -> None:
    """Outputs are lower-cased as the test set is; the file has a line for sentences that are left out, too."""
    test = [Sentence(["THE", "dog"], upos=["DET", "NOUN"]), Sentence(["!"], upos=["PUNCT"]), Sentence(["a"])]
    (tmp_path / "o.txt").write_text("the DOG\n!\na\n")
    asked = {"punct": False, "lowercase": True, "outputs": [f"theirs={tmp_path / 'o.txt'}"]}
    result = evaluate_regeneration(*toy, test, ["lmo"], **asked)  # type: ignore[arg-type]

    assert result.systems[1].outputs == result.references == ["the dog", "a"]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (["a=FILE"], r"o\.txt:3: the file has 2 lines, and the test set 3 sentences; give a line for each"),
        (["lmo=FILE"], "lmo is there twice; give the outputs another name"),
        (["a=FILE", "a=FILE"], "a is there twice"),
        (["FILE"], "not written NAME=FILE"),
        (["a=none.txt"], r"none\.txt"),
    ],
)
def test_outputs_that_do_not_fit(toy: Toy, tmp_path: Path, outputs: list[str], message: str) -> None:
    """The error has the number of lines, and the first one that is missing or superfluous."""
    (tmp_path / "o.txt").write_text("a\nb\n")
    named = [text.replace("FILE", str(tmp_path / "o.txt")) for text in outputs]
    with pytest.raises(InputError, match=message):
        evaluate_regeneration(*toy, TEST, ["lmo"], outputs=named)


def test_several_models(toy: Toy) -> None:
    """Each system with each model, on the same sentences, and compared."""
    store, model = toy
    other = replace(model, version=2)
    told: list[tuple[int, int]] = []
    result = evaluate_regeneration(
        store, [model, other], TEST, ["lmo"], progress=lambda *each: told.append(each)
    )
    ((text,),) = rows(store, "select parameters from run")
    parameters = json.loads(str(text))

    assert [system.system for system in result.systems] == ["lmo@toy@1", "lmo@toy@2"]
    assert (parameters["model"], parameters["lowercase"]) == ("toy@1, toy@2", False)
    assert parameters["systems"]["lmo@toy@2"]["model"] == "toy@2"
    assert told == [(3, 6), (6, 6)]
    assert len(result.comparisons) == 1
    alone = evaluate_regeneration(store, model, TEST, ["lmo"])
    assert alone.systems[0].outputs == result.systems[0].outputs
    with pytest.raises(InputError, match="each once"):
        evaluate_regeneration(store, [model, model], TEST, ["lmo"])
