"""The evaluation of fusion: clusters with references, figures, tests, record, report, and sheets to judge."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.figures import report as reports
from sentgen.evaluation.fusion.experiment import (
    BLEU,
    EXTRACTION,
    FusionCase,
    FusionCases,
    FusionResult,
    FusionSystem,
    bleu_statistics,
    evaluate_fusion,
    parse_fusers,
)
from sentgen.evaluation.fusion.judging import JudgingSheet, Judgments
from sentgen.evaluation.fusion.report import FusionReport
from sentgen.evaluation.regeneration.bleu import bleu
from sentgen.generation.fusion.answer import FusionRequest
from sentgen.schema import Store

VERBS = {"ate", "saw", "slept"}


class VerbParser:
    """A parser for tests: every word hangs on the first verb, or on the first word."""

    name, version = "toy", "1"

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Split at blanks."""
        return ([next(self.parse_tokenized([text.split()]))] for text in texts)

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Keep the tokens."""
        for forms in sentences:
            root = next((i for i, form in enumerate(forms, 1) if form in VERBS), 1)
            yield Sentence(
                list(forms),
                upos=["VERB" if form in VERBS else "NOUN" for form in forms],
                heads=[0 if i == root else root for i in range(1, len(forms) + 1)],
                deprels=["root" if i == root else "dep" for i in range(1, len(forms) + 1)],
            )


def case(name: str, key: str, related: Sequence[str], references: Sequence[str]) -> FusionCase:
    parse = VerbParser().parse_tokenized
    (first,) = parse([key.split()])
    others, held = (tuple(parse([text.split() for text in of])) for of in (related, references))
    return FusionCase(name, first, others, held)


CASES = FusionCases(
    [
        case("pets", "dogs ate food", ["dogs ate food quickly", "cats saw dogs"], ["dogs quickly ate food"]),
        case("we", "we slept", ["we slept well"], ["we slept well", "well we slept"]),
    ],
    source="toy",
)


def making(*texts: str | None) -> FusionSystem:
    """Return a system that answers the clusters with these texts in turn."""
    given = iter(texts)

    def system(key: Sentence, related: Sequence[Sentence]) -> Sequence[str] | None:
        text = next(given)
        return text.split() if text else None

    return system


def evaluated(store: Store, **systems: FusionSystem) -> FusionResult:
    return evaluate_fusion(store, CASES, VerbParser(), systems)


def values(result: FusionResult, name: str) -> Mapping[str, float]:
    (found,) = (system for system in result.systems if system.system == name)
    return {metric: measurement.value for metric, measurement in found.measurements.items()}


def test_figures_are_of_the_clusters_that_all_systems_have(store: Store) -> None:
    """One system has no sentence for the second cluster, so that only the first one counts for both.

    `dogs ate cats quickly`: 3 relations of `ate`; dogs and quickly (behind) are in the inputs: 2/3. These have,
    of `ate`, dogs and food twice and quickly once, of which the two dogs and quickly match: 3/5. The reference
    has dogs before, quickly before and food behind: precision 1/3, recall 1/3.
    """
    result = evaluated(
        store,
        one=making("dogs ate cats quickly", None),
        other=making("dogs ate food quickly", "we slept now"),
    )
    found = values(result, "one")

    assert result.common == 1
    assert (found["answered"], found["copied"], found["words"]) == (0.5, 0, 4)
    assert (found["source-precision"], found["source-recall"]) == (pytest.approx(2 / 3), 3 / 5)
    assert found["reference-precision"] == found["reference-recall"] == pytest.approx(1 / 3)
    # A copy of an input, of two sentences.
    assert values(result, "other")["copied"] == 0.5
    assert values(result, "other")["answered"] == 1


def test_bleu_takes_several_references_as_sacrebleu_does() -> None:
    """BLEU equals sacreBLEU's over a set with different numbers of references."""
    from sacrebleu.metrics import bleu as metrics

    outputs = ["the cat sat on the mat there", "we slept very well", "a b"]
    references = [
        ["a cat sat on the mat", "the cat was on the mat there"],
        ["we all slept very well last night"],
        ["a c"],
    ]
    statistics, signature = bleu_statistics(outputs, references)
    metric = metrics.BLEU(lowercase=True, tokenize="none")
    streams = [[of[i] if i < len(of) else None for of in references] for i in range(2)]

    assert float(bleu(statistics.sum(axis=0))) == pytest.approx(metric.corpus_score(outputs, streams).score)
    assert signature == str(metric.get_signature())
    assert "nrefs:var" in signature


def test_extraction_takes_the_key_or_what_is_most_like_the_others() -> None:
    """The central sentence is the third one, all of whose words are in the first one."""
    parse = VerbParser().parse_tokenized
    texts = ("we ate bread now", "they ate bread", "we ate bread")
    key, *related = parse([text.split() for text in texts])

    assert EXTRACTION["key"](key, related) == texts[0].split()
    assert EXTRACTION["central"](key, related) == texts[2].split()
    assert EXTRACTION["central"](key, []) == texts[0].split()


def test_a_run_is_recorded_with_its_tests(store: Store) -> None:
    """Figures with intervals, tests of each pair by each figure, and every sentence with its references."""
    systems = {**EXTRACTION, "new": making("dogs quickly ate food", "we slept well")}
    result = evaluated(store, **systems)
    with store.connect() as connection:
        metrics = set(connection.exec_driver_sql("select system, metric from score").fetchall())
        outputs = connection.exec_driver_sql(
            "select input, output, reference from output where system = 'new' order by item"
        )
        rows = outputs.fetchall()

    assert ("new", f"{BLEU}:low") in metrics
    assert ("key vs new", f"{BLEU}:randomization:p-holm") in metrics
    assert len(result.comparisons) == 3 * 5
    assert rows[1] == ("we slept\nwe slept well", "we slept well", "we slept well\nwell we slept")
    assert result.ranked[0].system == "new"


def test_the_report_shows_everything(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has a page with both clusters, and tables as Markdown and CSV; texts are escaped."""
    result = evaluated(store, key=EXTRACTION["key"], new=making("<b> ate food", "we slept"))
    # What is drawn, other reports have, too.
    monkeypatch.setattr(FusionReport, "systems_plot", lambda report, theme: "a plot")
    monkeypatch.setattr(reports, "picture", lambda figure, form: f"{form} of {figure}".encode())
    report = FusionReport(result).report()
    rows = list(csv.DictReader(report.csv["sentences.csv"].splitlines()))

    assert "&lt;b&gt; ate food" in report.page()
    assert "<b> ate" not in report.page()
    assert "Which systems differ" in report.markdown()
    assert [row["sentence"] for row in rows] == ["dogs ate food", "we slept", "<b> ate food", "we slept"]


def test_without_a_common_cluster_there_is_no_figure(store: Store) -> None:
    """The error says how many sentences each system has."""
    with pytest.raises(InputError, match=r"one 1, other 1 of 2"):
        evaluated(store, one=making("we slept", None), other=making(None, "we slept"))


def written(path: Path, *objects: object) -> str:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in objects), "utf-8")
    return str(path)


def test_the_last_sentences_are_held_back(tmp_path: Path) -> None:
    """Clusters without a related sentence left are counted; others are read up to the limit."""
    path = written(
        tmp_path / "c.jsonl",
        {"id": "a", "sentences": ["we slept", "we ate", "they saw", "they ate"]},
        {"id": "b", "sentences": ["we slept", "we ate"]},
        {"id": "c", "sentences": ["we saw", "we ate", "we slept"]},
    )
    found = FusionCases.read(path, parser=VerbParser(), references=2)
    (one,) = found.cases

    assert (one.name, one.key.forms, found.short) == ("a", ["we", "slept"], 2)
    assert [sentence.forms[0] for sentence in (*one.related, *one.references)] == ["we", "they", "they"]
    assert len(FusionCases.read(path, parser=VerbParser(), references=1, limit=1).cases) == 1
    with pytest.raises(InputError, match=r"c.jsonl: no cluster has a key.*4 to hold back"):
        FusionCases.read(path, parser=VerbParser(), references=4)


def test_json_lines_may_say_which_is_what(tmp_path: Path) -> None:
    """Objects have texts or lists of words by role; without an id, the line number is the name."""
    path = written(
        tmp_path / "c.jsonl",
        {"id": 7, "key": "we slept", "related": ["we ate", ["they", "ate"]], "references": ["all slept"]},
        {"key": "we ate", "related": ["they ate"], "references": ["all ate", "both ate"]},
    )
    first, second = FusionCases.read(path, parser=VerbParser(), references=2).cases

    assert (first.name, second.name) == ("7", "2")
    assert [one.forms for one in first.inputs] == [["we", "slept"], ["we", "ate"], ["they", "ate"]]
    assert [one.forms[0] for one in second.references] == ["all", "both"]
    assert second.key.heads == [2, 0]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"key": "we ate", "related": "they ate", "references": ["all ate"]}, "`related` is no list"),
        ({"key": "we ate", "related": ["they ate"]}, "`references` is no list"),
        ({"related": ["they ate"], "references": ["all ate"]}, "neither|`sentences`|list of strings|key"),
    ],
)
def test_what_is_missing_is_told_with_its_line(
    tmp_path: Path, broken: Mapping[str, object], told: str
) -> None:
    """The error names the line of the object that lacks a field."""
    good = {"key": "we slept", "related": ["we ate"], "references": ["all slept"]}
    path = written(tmp_path / "c.jsonl", good, broken)

    with pytest.raises(InputError, match=rf"c.jsonl:2: .*({told})"):
        FusionCases.read(path, parser=VerbParser(), references=2)


def test_systems_are_named(store: Store) -> None:
    """Systems are extraction or algorithms; the search of 2005 gets no model, others need one."""
    assert list(parse_fusers(["key", "depviterbi"], FusionRequest(model="m"), store)) == ["key", "depviterbi"]
    with pytest.raises(InputError, match="model"):
        parse_fusers(["beam"], FusionRequest(), store)
    for names in ([], ["key", "key"]):
        with pytest.raises(InputError, match="each once"):
            parse_fusers(names, FusionRequest(), store)


def sheet(path: Path, judged: Mapping[str, str], **sentences: Sequence[str | None]) -> Judgments:
    """Write a sheet, fill it in by sentence, and read it."""
    JudgingSheet(path).write(CASES.cases, sentences, seed=1)
    lines = path.read_text("utf-8").splitlines()
    filled = [f"{line}{judged.get(line.split(chr(9))[2], '')}" for line in lines[1:]]
    path.write_text("\n".join([lines[0], *filled]), "utf-8")
    return Judgments.read(path, seed=1)


def test_a_sheet_names_no_system(tmp_path: Path) -> None:
    """A sheet has sentences of the clusters of the first system; equal sentences are there once."""
    path = tmp_path / "s.tsv"
    made = {"new": ["a b", None], "old": ["a b", "c"], "other": ["d", "e"]}

    assert JudgingSheet(path).write(CASES.cases, made, seed=1) == 2

    rows = list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
    answers = list(
        csv.DictReader(JudgingSheet(path).answers_path.read_text("utf-8").splitlines(), delimiter="\t")
    )

    assert [set(row) for row in rows] == [{"number", "key", "sentence", "judgment"}] * 2
    assert {row["sentence"] for row in rows} == {"a b", "d"}
    text = {row["number"]: row["sentence"] for row in rows}
    assert {(row["system"], text[row["number"]]) for row in answers} == {
        ("new", "a b"),
        ("old", "a b"),
        ("other", "d"),
    }
    assert {row["cluster"] for row in answers} == {"pets"}
    with pytest.raises(InputError, match="no sentence to judge"):
        JudgingSheet(path).write(CASES.cases, {"new": [None, None]}, seed=1)


def test_judgments_are_counted_by_system(tmp_path: Path) -> None:
    """Capitals and blanks do not matter; empty judgments are left out and counted."""
    path = tmp_path / "s.tsv"
    found = sheet(
        path, {"a": "yes", "b": " No", "c": "YES"}, new=["a", "b"], old=["c", "d"], third=["a", "d"]
    )

    assert [(one.name, one.good, one.judged) for one in found.systems] == [
        ("old", 1, 1),
        ("third", 1, 1),
        ("new", 1, 2),
    ]
    assert found.missing == 1
    assert len(found.comparisons) == 3
    # Wilson: 1 of 1 lies above 1 / (1 + z²) = 0.2065.
    assert found.systems[0].interval == (pytest.approx(0.2065, abs=1e-4), 1.0)
    assert np.isclose(found.comparisons[0].difference, 0.5)


@pytest.mark.parametrize("judged", [{"a": "perhaps"}, {}])
def test_what_is_no_judgment_is_refused(tmp_path: Path, judged: Mapping[str, str]) -> None:
    """Unknown judgments are refused with their line, and an empty sheet."""
    with pytest.raises(InputError, match=r"s.tsv:\d: 'perhaps' is no judgment|nothing is judged"):
        sheet(tmp_path / "s.tsv", judged, new=["a", "b"])


def test_a_sheet_without_its_answers_is_refused(tmp_path: Path) -> None:
    """A sheet is refused without its answers, with those of another sheet, or without its columns."""
    path = tmp_path / "s.tsv"
    sheet(path, {"a": "yes"}, new=["a", "b"])
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(lines[:2]), "utf-8")
    with pytest.raises(InputError, match=r"has no row 2"):
        Judgments.read(path, seed=1)

    path.write_text("number\tsaid\n1\tyes\n", "utf-8")
    with pytest.raises(InputError, match="no column 'judgment'"):
        Judgments.read(path, seed=1)

    JudgingSheet(path).answers_path.unlink()
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError, match=r"s\.answers\.tsv"):
        Judgments.read(path, seed=1)
