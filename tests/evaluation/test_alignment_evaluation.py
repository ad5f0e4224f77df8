"""A run over hand-made pairs: its comparisons, its record and its report."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sqlalchemy import text
from test_report import parsed

from sentgen.alignment import Alignment, Pair
from sentgen.alignment import systems as alignment_systems
from sentgen.alignment.systems import Missing, make_system, parse_specs
from sentgen.errors import InputError, NotFoundError
from sentgen.evaluation.alignment.experiment import AlignmentResult, Target, evaluate_alignment
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair, GoldStandard
from sentgen.evaluation.alignment.report import AlignmentReport
from sentgen.evaluation.figures.report import Report
from sentgen.schema import Store

SCRIPT = "<script>alert(1)</script>"


@dataclass(frozen=True)
class Diagonal:
    """An aligner that links words of the same offset."""

    name: str = "diagonal"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Link the first word with the first word, and so on."""
        for pair in pairs:
            yield Alignment.of_links({(k, k) for k in range(min(len(pair.document), len(pair.abstract)))})


def broken(pairs: Sequence[Pair]) -> Iterator[Alignment]:
    """Fail in the middle of the work."""
    yield Alignment(())
    raise InputError("the program stopped")


@dataclass(frozen=True)
class Broken:
    """A system that starts and then fails."""

    name: str = "broken"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Fail."""
        return broken(pairs)


def _named(spec: str, training: Sequence[Pair] = ()) -> Diagonal | Broken:
    if spec == "hmm":
        raise InputError("hmm is not installed; install it")
    return Broken() if spec == "model1" else Diagonal(spec)


@pytest.fixture(autouse=True)
def systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Baselines link the diagonal; `hmm` is missing, `model1` fails."""
    monkeypatch.setattr(alignment_systems, "aligner_named", _named)


def gold() -> GoldStandard:
    """Return four pairs by two annotators; the links of the first one are the diagonal but for one."""
    pairs = [
        Pair("1", ("the", "dog", "sat", "sat"), ("the", "dogs", "sat")),
        Pair("2", (SCRIPT, "in", "1999"), ("$x^2$", "in", "1999")),
        Pair("3", ("a", "|", "c"), ("c", "|", "b")),
        Pair("4", ("same",), ("same",)),
    ]
    first = [{(0, 0), (1, 1), (3, 2)}, {(0, 0), (1, 1), (2, 2)}, {(2, 0), (1, 1)}, {(0, 0)}]
    second = [{(0, 0), (1, 1)}, {(1, 1), (2, 2)}, {(1, 1)}, {(0, 0)}]
    return GoldStandard(
        ("A", "B"),
        tuple(
            GoldPair(pair, (GoldLinks.of(one), GoldLinks.of(other)))
            for pair, one, other in zip(pairs, first, second, strict=True)
        ),
    )


@pytest.fixture
def result(store: Store) -> AlignmentResult:
    """The run of two systems that work and two that do not."""
    return evaluate_alignment(store, Target(gold()), ["lcs", "hmm", "model1", "cut-and-paste"])


def test_what_cannot_run_is_left_out(result: AlignmentResult) -> None:
    """Systems that cannot run are left out with the reason, and the others run."""
    assert [one.system for one in result.systems] == ["lcs", "cut-and-paste"]
    assert [(one.system, one.reason) for one in result.missing] == [
        ("hmm", "hmm is not installed; install it"),
        ("model1", "the program stopped"),
    ]


def test_nothing_can_run(store: Store) -> None:
    """If no system can run, the evaluation is refused."""
    with pytest.raises(InputError, match="no system can run here: hmm: hmm is not installed"):
        evaluate_alignment(store, Target(gold()), ["hmm"])


def test_figures(result: AlignmentResult) -> None:
    """The gold standard is the union of the annotators; each annotator is measured against the other."""
    # The diagonal has 3 + 3 + 3 + 1 links; of the union, 9 links, all but sat-sat, c-c are found: 7.
    assert result.systems[0].value("precision") == 7 / 10
    assert result.systems[0].value("recall") == pytest.approx(7 / 9)
    humans = {one.system: (one.value("precision"), one.value("recall")) for one in result.humans}
    assert humans == {"human A": (pytest.approx(6 / 9), 1), "human B": (1, pytest.approx(6 / 9))}
    assert result.comparisons[0].difference == 0


def test_what_is_recorded(store: Store, result: AlignmentResult) -> None:
    """The run, figures with intervals, figures of each pair, and the links are in the store."""
    with store.connect() as connection:
        figures = connection.execute(
            text("select metric, value from score where system = 'lcs' and item is null and run_id = 1")
        ).fetchall()
        single = connection.execute(
            text("select value from score where system = 'lcs' and metric = 'recall' and item = 1")
        ).scalar()
        links = connection.execute(
            text("select input, output, reference from output where system = 'lcs' and item = 1")
        ).one()
        kappas = connection.execute(text("select count(*) from score where system = 'A vs B'")).scalar()
    found = {row.metric: row.value for row in figures}

    assert found["recall"] == pytest.approx(7 / 9)
    assert found["recall:low"] <= found["recall"] <= found["recall:high"]
    assert {"soft-f1:content", "aer:oracle", "macro-f1:content:oracle", "pair-ms"} <= set(found)
    assert single == pytest.approx(2 / 3)
    assert tuple(links) == ("the dog sat sat ||| the dogs sat", "0-0 1-1 2-2", "0-0 1-1 3-2")
    assert kappas == 4


def test_kinds_of_links(result: AlignmentResult) -> None:
    """Links are counted by the relation of their words and the kind of the abstract word."""
    found = AlignmentReport(result).kinds(result.systems[0])

    # the-the and in-in are copies of function words, 1999 of a number, | of a sign, c and same of others.
    assert {kind: (one.sure, one.found, one.wrong) for kind, one in found.items()} == {
        ("copy", "function"): (2, 2, 0),
        ("copy", "number"): (1, 1, 0),
        ("copy", "punctuation"): (1, 1, 0),
        ("copy", "content"): (2, 1, 0),
        # "sat" comes twice in the document: the gold takes the second one, the diagonal the first one.
        ("copy, repeated", "content"): (1, 0, 1),
        ("same stem", "content"): (1, 1, 0),
        # <script> to $x^2$, which has a digit; a to c, c to b.
        ("other word", "number"): (1, 1, 0),
        ("other word", "content"): (0, 0, 2),
    }
    assert AlignmentReport(result).missed_words(result.systems[0]) == [("c → c", 1), ("sat → sat", 1)]
    assert AlignmentReport(result).wrong_words(result.systems[0]) == [
        ("a → c", 1),
        ("c → b", 1),
        ("sat → sat", 1),
    ]


def test_report(result: AlignmentResult, tmp_path: Path) -> None:
    """The report has tables, plots and a page, in which texts are escaped."""
    folder = tmp_path / "report"
    Report.prepare_folder(folder)
    first, *_ = AlignmentReport(result).report().write(folder)
    seen = parsed(first.read_text())

    assert first == folder / "index.html"
    assert {path.suffix for path in folder.iterdir()} - {""} == {".html", ".md", ".csv", ".svg", ".png"}
    assert not [tag for tag, _ in seen.tags if tag == "script"]
    assert SCRIPT in " ".join(seen.text)
    assert SCRIPT not in AlignmentReport(result).report().markdown()
    assert "hmm is not installed" in AlignmentReport(result).report().page()
    for name in ("systems", "precision-recall"):
        ElementTree.fromstring((folder / f"{name}.svg").read_bytes())
    rows = list(csv.DictReader((folder / "links.csv").read_text().splitlines()))
    assert rows[0] == {"system": "lcs", "pair": "1", "links": "0-0 1-1 2-2"}
    assert {row["relation"] for row in csv.DictReader((folder / "kinds.csv").read_text().splitlines())} >= {
        "copy"
    }


def test_the_report_is_the_same_again(result: AlignmentResult) -> None:
    """The same run gives the same page."""
    assert AlignmentReport(result).report().page() == AlignmentReport(result).report().page()


def test_our_system_and_its_settings() -> None:
    """The phrase-based HMM runs on its priors; each of its settings and priors can be changed."""
    pair = gold().pairs[0].pair
    ready = make_system(
        "pbhmm:preset=paper:max-document-phrase=2:prior-identity=5:weights=0.2/0.2/0.6", [pair]
    )

    assert not isinstance(ready, Missing)
    assert (1, 1) in next(ready.align([pair])).links
    settings = ready.settings  # type: ignore[attr-defined]
    assert (settings.max_document_phrase, settings.prior.identity) == (2, 5.0)
    assert settings.weights == (0.2, 0.2, 0.6)


def test_models_of_the_store_are_looked_up(store: Store) -> None:
    """`pbhmm:NAME` is the model of that name in the store."""
    with pytest.raises(NotFoundError, match="news"):
        make_system("pbhmm:news", [], store=store)
    with pytest.raises(InputError, match="is a model of a store, and there is none"):
        make_system("pbhmm:news", [])


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ("", "no systems; give some"),
        ("lcs,lcs", "'lcs' is there twice"),
        ("lsc", "no system 'lsc'; there are: pbhmm, lcs"),
        ("lcs:m=2", "'lcs:m=2' has no setting 'm'; there are: n"),
    ],
)
def test_refused_lists(systems: str, message: str) -> None:
    """A wrong name is an error, and not left out as a missing program is."""
    with pytest.raises(InputError, match=message):
        parse_specs(systems)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pbhmm:preset=worst", "there is no preset 'worst'"),
        ("pbhmm:size=3", "has no setting 'size'"),
        ("pbhmm:p0=much", "has the value 'much' for p0"),
        ("pbhmm:fold=perhaps", "has the value 'perhaps' for fold"),
        ("pbhmm:decode=vitebi", "has the value 'vitebi' for decode, which it cannot take"),
        ("pbhmm:preset=paper:x", "'x' in .* is no setting; write NAME=VALUE"),
        ("pbhmm:p0=none", "has the value 'none' for p0, which it cannot take: p0 is 'none', which is no"),
        ("pbhmm:fixed=nul", "has the value 'nul' for fixed, which it cannot take: .* name some of: null,"),
        ("pbhmm:iterations=few", "has the value 'few' for iterations"),
    ],
)
def test_refused_settings(spec: str, message: str) -> None:
    """The error of a wrong setting names it and the reason."""
    with pytest.raises(InputError, match=message):
        make_system(spec, [])
