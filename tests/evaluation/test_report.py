"""Reports: the figures of the run, every text escaped, examples drawn fairly."""

from __future__ import annotations

import csv
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import fake_run
import pytest

from sentgen.errors import InputError
from sentgen.evaluation.figures import report as reports
from sentgen.evaluation.figures.report import ExperimentReport, Report, best_cells, latex
from sentgen.evaluation.regeneration.experiment import PRIMARY, RegenerationResult
from sentgen.evaluation.regeneration.report import RegenerationReport
from sentgen.output.drawing import DARK, LIGHT, picture


@pytest.fixture(scope="module")
def result() -> RegenerationResult:
    """The run of the reports in this file."""
    return fake_run.fake_run()


@pytest.fixture(scope="module")
def folder(result: RegenerationResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report."""
    path = tmp_path_factory.mktemp("report") / "folder"
    Report.prepare_folder(path)
    RegenerationReport(result).report().write(path)
    return path


class _Tags(HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(html: str) -> _Tags:
    """Return the elements and the text of a page."""
    tags = _Tags()
    tags.feed(html)
    return tags


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawing of pictures, which takes longest."""
    monkeypatch.setattr(reports, "picture", lambda figure, form: form.encode())


def test_files(folder: Path) -> None:
    """Tables in Markdown and CSV, two plots in two formats, the page."""
    assert sorted(path.name for path in folder.iterdir() if path.name != ".sentgen-report") == [
        "by-length.csv", "by-length.png", "by-length.svg", "comparisons.csv", "index.html", "results.md",
        "scores.csv", "systems.png", "systems.svg",
    ]  # fmt: skip


def test_csv_has_all_digits(folder: Path, result: RegenerationResult) -> None:
    """A line a figure with its interval, as it is in the run."""
    with (folder / "scores.csv").open(newline="") as file:
        rows = {(row["system"], row["metric"]): row for row in csv.DictReader(file)}
    system = result.systems[0]

    assert float(rows["good", PRIMARY]["value"]) == system.value(PRIMARY)
    assert float(rows["good", PRIMARY]["low"]) == system.intervals[PRIMARY].low
    assert rows["good", "search-ms"]["value"] == "2.0"
    with (folder / "comparisons.csv").open(newline="") as file:
        (pair,) = csv.DictReader(file)
    assert (pair["worse"], pair["better"]) == ("<b>bad</b>|", "good")
    with (folder / "by-length.csv").open(newline="") as file:
        assert [row["sentences"] for row in csv.DictReader(file)] == ["1", "5"] * 2


def test_markdown_shows_the_figures_and_escapes_texts(result: RegenerationResult) -> None:
    """Names cannot break a table or become markup."""
    text = RegenerationReport(result).report().markdown()

    assert f"{result.systems[0].value(PRIMARY):.1f} (" in text
    assert "| &lt;b>bad&lt;/b>\\| |" in text
    assert "&lt;script>alert(1)&lt;/script>\\|\\*x\\*" in text
    assert "<script" not in text
    columns = {line.replace("\\|", "").count("|") for line in text.split("\n\n")[2].splitlines()}
    assert len(columns) == 1


def test_nothing_from_a_corpus_is_markup(result: RegenerationResult) -> None:
    """Texts are escaped: they add no scripts or elements, and run no template code."""
    found = parsed(RegenerationReport(result).report().page())
    text = "".join(found.text)

    assert {"script", "b"}.isdisjoint({tag for tag, _ in found.tags})
    assert fake_run.SCRIPT in text
    assert "{{ 7 * 7 }}" in text
    assert "&amp;" in text
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)


def test_the_page_stands_alone(result: RegenerationResult) -> None:
    """The page loads nothing, by its content policy, too; it has a picture for light and for dark."""
    found = parsed(RegenerationReport(result).report().page())
    links = [
        value
        for _, attributes in found.tags
        for name, value in attributes.items()
        if name in ("src", "href", "srcset")
    ]

    assert len(links) == 4
    assert all(str(link).startswith("data:image/svg+xml;base64,") for link in links)
    policy = next(a["content"] for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'")
    assert any(a.get("media") == "(prefers-color-scheme: dark)" for _, a in found.tags)


def test_texts_of_a_sentence_are_isolated(result: RegenerationResult) -> None:
    """A character that turns the direction of text around stays in its own element."""
    html = RegenerationReport(result).report().page()

    assert "<bdi>\u202eevil</bdi>" in html


def test_examples_mark_wrong_joins(result: RegenerationResult) -> None:
    """ "the dog barks at . a cat" for "the dog barks at a cat .": at-. and .-a are wrong, and the end."""
    example = next(one for one in RegenerationReport(result).examples() if one.item == 1)
    attempt = example.attempts[0]

    assert [piece.text for piece in attempt.pieces] == ["the dog", "barks", "at", ".", "a cat"]
    assert [piece.wrong for piece in attempt.pieces] == [False, False, False, True, True]
    assert [piece.phrase for piece in attempt.pieces] == [True, False, False, False, True]
    assert attempt.wrong_end
    assert not attempt.exact
    assert [one.system for one in example.attempts] == ["good", "<b>bad</b>|"]


def test_examples_are_drawn_with_the_seed(result: RegenerationResult) -> None:
    """Examples have five words and more if there are enough, else any; in the order of the test set."""
    assert [one.item for one in RegenerationReport(result).examples()] == [1, 2, 3, 4, 5, 6]
    drawn = [one.item for one in RegenerationReport(result).examples(3)]
    assert drawn == sorted(set(drawn) - {5})
    assert drawn == [one.item for one in RegenerationReport(result).examples(3)]


def test_pictures(result: RegenerationResult) -> None:
    """SVG is well-formed and has no date, PNG is PNG; the same run gives the same bytes."""
    report = RegenerationReport(result)
    for draw in (report.systems_plot, report.lengths_plot):
        svg = picture(draw(LIGHT), "svg")
        ElementTree.fromstring(svg)
        assert b"dc:date" not in svg
        assert svg == picture(draw(LIGHT), "svg")
        assert svg != picture(draw(DARK), "svg")
        assert picture(draw(LIGHT), "png").startswith(b"\x89PNG")


@pytest.mark.usefixtures("undrawn")
def test_a_report_is_written_over_a_report_alone(result: RegenerationResult, tmp_path: Path) -> None:
    """Files of others, and reports that somebody changed, are not overwritten; other files stay."""
    report = RegenerationReport(result).report()
    (tmp_path / "notes.txt").write_text("mine")
    report.write(tmp_path)
    page = (tmp_path / "index.html").read_bytes()
    report.write(tmp_path)
    assert (tmp_path / "index.html").read_bytes() == page

    (tmp_path / "scores.csv").write_text("mine")
    (tmp_path / "results.md").unlink()
    with pytest.raises(
        InputError, match=r"scores\.csv: in the way, and no report has written it so; move it"
    ):
        report.write(tmp_path)
    assert not (tmp_path / "results.md").exists()
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(InputError, match=r"index\.html: in the way"):
        Report.prepare_folder(tmp_path)

    assert {(tmp_path / name).read_text() for name in ("notes.txt", "scores.csv", "index.html")} == {"mine"}


@pytest.mark.usefixtures("undrawn")
def test_a_report_that_was_cut_short_is_written_again(
    result: RegenerationResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that was interrupted, with files of two reports, is overwritten."""
    report, replace, done = RegenerationReport(result).report(), os.replace, []

    def cut(draft: str, path: Path) -> None:
        done.append(path)
        if len(done) > 4:
            raise KeyboardInterrupt
        replace(draft, path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            report.write(tmp_path)
    report.write(tmp_path)

    assert not list(tmp_path.glob("*.tmp"))


def test_refusals(result: RegenerationResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be made, a file that cannot be written, and no matplotlib are errors."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="no report can go there"):
        Report.prepare_folder(tmp_path / "file")
    (tmp_path / "index.html").mkdir()
    with pytest.raises(InputError, match=r"index\.html: in the way"):
        RegenerationReport(result).report().write(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install 'sentgen\[plots\]'"):
        Report.prepare_folder(tmp_path)


def test_latex_has_the_best_in_bold_and_intervals_small() -> None:
    """LaTeX has a table of all systems and one of all pairs; the best figure, high or low, is bold."""
    result = fake_run.fake_run()
    text = latex([RegenerationReport(result).figures(), ExperimentReport(result).comparisons()])
    good = next(line for line in text.splitlines() if line.startswith("good &"))
    bad = next(line for line in text.splitlines() if line.startswith(r"\textless{}b\textgreater{}bad"))

    assert text.count(r"\toprule") == 2
    assert r"bad\textless{}/b\textgreater{}\textbar{} & " in bad
    assert good.split(" & ")[1].startswith(r"\textbf{")
    assert r"} {\scriptsize (" in good.split(" & ")[1]
    assert not bad.split(" & ")[1].startswith(r"\textbf{")
    assert best_cells([[0.2, 0.1]], lower=[1]) == {(1, 1)}
