"""`sentgen align text`: output for readers and for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from chosen_states import DOCUMENT as CONTRADICTED
from chosen_states import SUMMARY as CONTRADICTING
from chosen_states import choose, contradicted
from conftest import BROKEN, Sentgen, refused
from jsonschema import Draft202012Validator

from sentgen.alignment.texts import json_schema
from sentgen.alignment.words.states import WordState

DOCUMENT = """\
Connecting Point Systems tripled it 's sales of Apple Macintosh systems since last January.
It is now the single largest seller of Macintosh.
"""
ABSTRACT = """\
Connecting Point has become the single largest Mac retailer after tripling it 's Macintosh sales.
"""
SCHEMA = Draft202012Validator(json_schema())


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "article.txt").write_text(DOCUMENT)
    (tmp_path / "summary.txt").write_text(ABSTRACT)
    return ("align", "text", "--document", "article.txt", "--abstract", "summary.txt")


def test_without_training(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """The priors alone align copied words, and a note says that no model was trained."""
    told = sentgen(*texts)

    assert told.code == 0
    assert told.err.startswith("priors only: nothing was learnt from pairs")
    assert "[Connecting Point]₁ *has* *become* [the single largest]₂ *Mac*" in told.out
    assert "[tripling it 's]₃" in told.out


def test_table_of_phrases(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """Each phrase has the words of the document, their sentence and offsets; new words are in their place."""
    lines = sentgen(*texts, "--system", "cut-and-paste").out.splitlines()
    rows = [line.split("  ") for line in lines[3:]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]

    assert cells[0] == ["phrase", "summary", "document", "state", "why", "sentence", "words", *cells[0][7:]]
    assert cells[1] == ["1", "Connecting Point", "Connecting Point", "same", "1", "1-2"]
    assert cells[2] == ["has become", "new"]
    assert cells[3] == ["2", "the single largest", "the single largest", "same", "2", "19-21"]


def test_figures(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """The last line has the figures: of 16 words, Cut & Paste aligns 2 + 3 + 3; two more are looked up.

    Copied are Connecting Point, the single largest, it 's, Macintosh, sales and the stop: 10 of 16, and the
    density is (4 + 9 + 4 + 1 + 1 + 1) / 16 = 1.25.
    """
    out = sentgen(*texts, "--system", "cut-and-paste").out

    assert out.splitlines()[-1] == (
        "0 of 16 words are changed, 6 new; coverage 0.62, density 1.25, longest copied run 3"
    )


def test_pharaoh(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """Links are document-abstract, and nothing else is printed."""
    told = sentgen(*texts, "--pharaoh", "--system", "cut-and-paste")

    assert told.out == "0-0 1-1 3-10 4-11 5-12 18-4 19-5 20-6\n"
    assert told.err == ""


def test_reasons(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """A row a word: what its link is made of, its runner-up, or what a new word is nearest to."""
    lines = sentgen(*texts, "--explain").out.splitlines()
    (sales,) = (line.split() for line in lines if " sales " in line and "[" not in line)
    (mac,) = (line for line in lines if line.split()[:1] == ["Mac"])
    found = json.loads(sentgen(*texts, "--explain", "--json").out)
    SCHEMA.validate(found)
    found = found["reasons"]
    assert sales[1:5] == ["sales", "sales", "same", "1"]
    assert " ".join(sales[6:12]) == "same word 82%, same stem 18%"
    assert mac.split()[2] == "new"
    assert "untrained table 100%" in mac
    assert (found["floor"], found["threshold"]) == (0.05, 0.3)
    first = found["links"][0]
    assert (first["abstract"], first["document"], first["chosen"], first["runner_up"]) == (0, 0, True, None)
    assert sum(first["shares"].values()) == pytest.approx(1, abs=1e-6)


def test_an_aligner_without_posteriors_has_no_reasons(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """A note says so, and phrases are shown; the page has the note, too, and JSON has null."""
    told = sentgen(*texts, "--explain", "--system", "lcs", "--html", "page.html")

    assert told.code == 0
    assert told.out == sentgen(*texts, "--system", "lcs").out
    assert "no reasons: this aligner has no posteriors" in told.err
    assert "No reasons: this aligner" in Path("page.html").read_text()
    assert json.loads(sentgen(*texts, "--explain", "--system", "lcs", "--json").out)["reasons"] is None


def test_json(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """One object has words with their states, phrases, P(null), new words and figures, as its schema says."""
    found = json.loads(sentgen(*texts, "--json").out)
    SCHEMA.validate(found)

    assert found["abstract"][:2] == ["Connecting", "Point"]
    assert found["phrases"][0]["document"] == [0, 1]
    # As in the table, which has a row for each number.
    rows = [line.split() for line in sentgen(*texts).out.split("\n\n")[1].splitlines()[1:]]
    numbers = [row[0] for row in rows if row[0].isdigit()]
    assert sorted({one["phrase"] for one in found["phrases"]}) == sorted(map(int, numbers))
    assert {2, 3} <= set(found["new"])
    assert [one["word"] for one in found["words"]] == found["abstract"]
    assert found["new"] == [place for place, one in enumerate(found["words"]) if one["state"] == "new"]
    assert len(found["null"]) == len(found["abstract"]) == found["figures"]["words"]
    assert found["model"] == "the phrase-based HMM, preset best, with its priors only"


def test_any_text_is_read(
    sentgen: Sentgen, tmp_path: Path, texts: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the file is called; of a page the text, and with a warning its tags where that was asked for."""
    expected = sentgen(*texts).out
    (tmp_path / "README.md").write_text(DOCUMENT)
    (tmp_path / "LICENSE").write_text(ABSTRACT)
    (tmp_path / "a.html").write_text(f"<html><p>{DOCUMENT}</p></html>")

    told = sentgen("align", "text", "--document", "README.md", "--abstract", "LICENSE")
    assert told.out == expected
    markup = ("align", "text", "--document", "a.html", "--abstract", "LICENSE")
    assert sentgen(*markup).out == expected
    assert not caplog.records
    assert sentgen(*markup, "--format", "text").code == 0
    assert [one.getMessage() for one in caplog.records] == [
        "warning: a.html: this is XML or HTML, and its tags are words now; take its text out of it"
    ]


def test_page(sentgen: Sentgen, texts: tuple[str, ...], tmp_path: Path) -> None:
    """The page has both texts and says where it was written."""
    told = sentgen(*texts, "--html", "align.html")

    assert "page: align.html\n" in told.err
    assert "the single largest<sup>2</sup>" in (tmp_path / "align.html").read_text()


def test_decoding_can_be_chosen(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """A threshold of 1 links less than one of 0.1; a phrase of the best path has all its word links."""
    links = [
        len(sentgen(*texts, "--pharaoh", "--decode", "posterior", "--threshold", threshold).out.split())
        for threshold in ("0.1", "1")
    ]

    assert links[0] > links[1]
    assert sentgen(*texts, "--pharaoh", "--decode", "viterbi").out.startswith("0-0 0-1 1-0 1-1 ")
    assert sentgen(*texts, "--pharaoh", "--preset", "paper").code == 0


@pytest.mark.parametrize("other", [("--model", "m"), ("--system", "lcs")])
def test_preset_is_for_the_priors(sentgen: Sentgen, texts: tuple[str, ...], other: tuple[str, ...]) -> None:
    """A preset that would be ignored is refused."""
    told = sentgen(*texts, "--preset", "best", *other)

    assert (told.code, told.out) == (2, "")
    assert "--preset is for the aligner without --model and --system" in told.err


def test_standard_input(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """One of the texts may come from standard input."""
    told = sentgen(*texts[:4], "--abstract", "-", "--format", "text", "--pharaoh", stdin="Connecting Point")

    assert told.out == "0-0 1-1\n"


def test_treebanks_can_be_aligned(sentgen: Sentgen, pets: Path) -> None:
    """Whatever `sentgen ingest` reads is a text, and keeps its spaces."""
    told = sentgen("align", "text", "--document", pets, "--abstract", pets, "--system", "lcs")

    assert "[The dog chased a cat.]₁" in told.out


def test_colors_on_a_terminal(
    sentgen: Sentgen, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With colors there are no brackets: blocks are colored and new words stand out."""
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = sentgen(*texts, "--system", "cut-and-paste").out

    assert "\x1b[32mConnecting Point\x1b[0m\x1b[2m₁" in out
    assert "\x1b[1;4;31mhas\x1b[0m" in out


def test_changed_words_are_marked_without_colors(
    sentgen: Sentgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stands between signs that the line below explains, ends its phrase, and has its row and its figure."""
    choose(monkeypatch, contradicted())
    (tmp_path / "article.txt").write_text(CONTRADICTED)
    (tmp_path / "summary.txt").write_text(CONTRADICTING)
    told = sentgen("align", "text", "--document", "article.txt", "--abstract", "summary.txt")
    lines = told.out.splitlines()
    cells = [re.split(" {2,}", line.strip()) for line in lines]

    assert lines[:3] == [
        "  1  [The club hired]₁ !21!₂ [cooks in]₃ !Oslo!₄[.]₅",
        "  2  [Shares of the]₅ !team!₆ [rose]₇ !40!₈ [percent on]₉ !Friday!₁₀[.]₁₁",
        "     [linked]₁ !changed: the document says otherwise! *new: from nothing*",
    ]
    assert ["2", "21", "12", "changed", "another number: 12", "1", "4", "0.83", "0.16"] in cells
    assert ["1", "The club hired", "The club hired", "same", "1", "1-3", "1.00", "0.00"] in cells
    assert lines[-1].startswith("5 of 18 words are changed, 0 new; ")


def test_an_aligner_that_leaves_changed_words_alone_shows_them(
    sentgen: Sentgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word that is linked with nothing has no number, but the word that it contradicts, and its sentence."""
    choose(monkeypatch, contradicted() | {13: WordState("40", "new", elsewhere=(1, 2))})
    (tmp_path / "article.txt").write_text(CONTRADICTED)
    (tmp_path / "summary.txt").write_text(CONTRADICTING)
    pair = ("align", "text", "--document", "article.txt", "--abstract", "summary.txt")
    out = sentgen(*pair, "--system", "lcs").out
    cells = [re.split(" {2,}", line.strip()) for line in out.splitlines()]

    assert "[The club hired]₁ !21! [cooks in]₂ !Oslo![.]₃" in out
    assert ["team", "club", "changed", "another noun: club", "2", "12"] in cells
    assert ["40", "new", "stands in sentences 1 and 2"] in cells


def test_changed_words_in_colors(sentgen: Sentgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ground tells them from new words, which are underlined, for those who see no colors."""
    choose(monkeypatch, contradicted())
    (tmp_path / "article.txt").write_text(CONTRADICTED)
    (tmp_path / "summary.txt").write_text(CONTRADICTING)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = sentgen("align", "text", "--document", "article.txt", "--abstract", "summary.txt").out

    assert "\x1b[1;7;35m21\x1b[0m\x1b[2m₂" in out
    assert "\x1b[1;7;35mchanged: the document says otherwise\x1b[0m" in out
    assert "!" not in out


def test_hostile_texts(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """Characters that control a terminal are shown as escapes."""
    Path("summary.txt").write_text("Connecting \u202ePoint [bold]x[/bold]\n")
    told = sentgen(*texts)

    assert "\u202e" not in told.out
    assert "\\u202e" in told.out
    assert "bold" in told.out


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--document", "-", "--abstract", "-"), ("both texts cannot come from standard input",)),
        (("--document", "nowhere.txt", "--abstract", "summary.txt"), ("nowhere.txt",)),
        (
            ("--document", "article.txt", "--abstract", "empty.txt", "--format", "text"),
            ("empty.txt", "no words"),
        ),
        (
            ("--document", "broken.conllu", "--abstract", "summary.txt"),
            ("broken.conllu:11", "[head-range]"),
        ),
        (("--document", "article.txt", "--abstract", "summary.txt", "--format", "rtf"), ("no format 'rtf'",)),
        (
            ("--document", "article.txt", "--abstract", "summary.txt", "--system", "model9"),
            ("no system 'model9'", "cut-and-paste"),
        ),
        (
            (
                "--document",
                "article.txt",
                "--abstract",
                "summary.txt",
                "--decode",
                "viterbi",
                "--threshold",
                ".4",
            ),
            ("the best path has no --threshold",),
        ),
    ],
)
def test_refusals(
    sentgen: Sentgen, texts: tuple[str, ...], options: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    """Errors have one line each."""
    Path("empty.txt").write_text("\n")
    Path("broken.conllu").write_text(BROKEN)

    refused(sentgen("align", "text", *options), *parts)


@pytest.mark.parametrize(
    "options",
    [
        ("--json", "--pharaoh"),
        ("--model", "m", "--system", "lcs"),
        ("--system", "lcs", "--threshold", "0.4"),
        ("--html", "-"),
    ],
)
def test_options_that_exclude_each_other(
    sentgen: Sentgen, texts: tuple[str, ...], options: tuple[str, ...]
) -> None:
    """Wrong usage has exit code 2."""
    assert sentgen(*texts, *options).code == 2


def test_trained_model(sentgen: Sentgen, texts: tuple[str, ...]) -> None:
    """A model of the store is named, answers otherwise than the priors, and nothing is said of those."""
    verbs = ("ran", "slept", "ate", "dug", "sang", "swam")
    lines = [{"document": f"hounds {verb} daily", "abstract": f"dogs {verb}"} for verb in verbs]
    Path("pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sentgen("pairs", "ingest", "pairs.jsonl", "--corpus", "toy")
    sentgen("align", "train", "--pairs", "toy", "--model", "m", "--iterations", "2")
    told = sentgen(*texts, "--model", "m", "--json")
    found = json.loads(told.out)

    assert told.err == ""
    assert found["model"] == "the model m"
    assert found["logp"] != json.loads(sentgen(*texts, "--json").out)["logp"]
    refused(sentgen(*texts, "--model", "none"), "no alignment model 'none'; there are: m")
