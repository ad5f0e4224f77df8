"""`sentgen align train, model, models, apply, figures, export, remove`, as a user runs them."""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import shutil
from pathlib import Path

import pytest
from conftest import Sentgen, refused
from stored import problems
from toy_pairs import PAIRS, write_jsonl

from sentgen.cli import build
from sentgen.schema import Store

TRAIN = ("align", "train", "--pairs", "toy", "--model", "m")
OF = ("--pairs", "toy", "--model", "m")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with six pairs, a store of them, and another one with a model as well; no test changes them."""
    folder = tmp_path_factory.mktemp("toy")
    pairs, store = write_jsonl(folder / "toy.jsonl"), folder / "pairs.duckdb"
    run = build()
    run(
        ["pairs", "ingest", str(pairs), "--corpus", "toy", "--tokenized", "--db", str(store)],
        standalone_mode=False,
    )
    shutil.copyfile(store, folder / "trained.duckdb")
    run([*TRAIN, "--iterations", "3", "--db", str(folder / "trained.duckdb")], standalone_mode=False)
    return folder


@pytest.fixture
def filled(sentgen: Sentgen, kept: Path, store: Path, tmp_path: Path) -> Sentgen:
    """The command line over a store with six pairs."""
    shutil.copyfile(kept / "pairs.duckdb", store)
    shutil.copyfile(kept / "toy.jsonl", tmp_path / "toy.jsonl")
    return sentgen


@pytest.fixture
def trained(filled: Sentgen, kept: Path, store: Path) -> Sentgen:
    """The command line over such a store with a model."""
    shutil.copyfile(kept / "trained.duckdb", store)
    return filled


def test_a_line_an_iteration(filled: Sentgen) -> None:
    """Both directions of the preset `best`, one of `paper`; nothing else on standard output."""
    best = filled(*TRAIN, "--iterations", "2").out.splitlines()
    paper = filled(
        "align", "train", "--pairs", "toy", "--model", "p", "--preset", "paper", "--iterations", "1"
    )

    assert [line.split()[:2] for line in best[1:]] == [
        ["forward", "1"],
        ["forward", "2"],
        ["reverse", "1"],
        ["reverse", "2"],
    ]
    assert [line.split()[0] for line in paper.out.splitlines()] == ["direction", "forward"]


def test_options_become_settings(filled: Sentgen) -> None:
    """The options are stored with the model as its settings."""
    filled(
        *TRAIN, "--max-doc-phrase", "2", "--max-abstract-phrase", "1", "--set", "p0=0.25", "--iterations", "1"
    )

    query = "select settings, iterations from alignment_model"
    (row,) = json.loads(filled("sql", query, "--json").out)
    settings = json.loads(row["settings"])
    assert (settings["max_document_phrase"], settings["max_abstract_phrase"], settings["p0"]) == (2, 1, 0.25)


def test_training_goes_on(trained: Sentgen) -> None:
    """An existing model is not trained again; --resume adds iterations to it."""
    refused(trained(*TRAIN), "exists; go on with it with --resume")

    more = trained(*TRAIN, "--iterations", "4", "--resume")

    assert [line.split()[:2] for line in more.out.splitlines()[1:]] == [["forward", "4"], ["reverse", "4"]]
    assert trained(*TRAIN, "--iterations", "4", "--resume").out == ""


def test_top_rewrites_of_a_word(trained: Sentgen) -> None:
    """The synonym is first; the other direction and unknown words have answers of their own."""
    rows = json.loads(trained("align", "model", "m", "physician", "--limit", "1", "--json").out)
    back = json.loads(trained("align", "model", "m", "doctor", "--direction", "reverse", "--json").out)

    assert [row["target"] for row in rows] == ["doctor"]
    assert back[0]["target"] == "physician"
    refused(trained("align", "model", "m", "zebra"), "knows no rewrite of 'zebra'")


def test_a_model_is_shown(trained: Sentgen) -> None:
    """Facts, a row an iteration, and the jumps as bars; as CSV only the iterations."""
    shown = trained("align", "model", "m").out
    table = list(csv.DictReader(io.StringIO(trained("align", "model", "m", "--csv").out)))

    assert "6 of toy" in shown
    assert "jumps, reverse" in shown
    assert "\n    1  0." in shown
    assert [(row["direction"], row["iteration"]) for row in table[:2]] == [("forward", "1"), ("forward", "2")]


@pytest.fixture(scope="module")
def drawing() -> None:
    """What draws is loaded, which is not of the first picture."""
    importlib.import_module("matplotlib.pyplot")


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_jumps_are_drawn(trained: Sentgen, tmp_path: Path, suffix: str) -> None:
    """A picture, whole, in the format of its name."""
    path = tmp_path / f"jumps{suffix}"
    assert trained("align", "model", "m", "--plot", path).code == 0

    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert path.read_bytes().startswith(starts[suffix])


def test_a_plot_of_another_kind_is_refused(trained: Sentgen) -> None:
    """The extension of the file determines the format."""
    refused(
        trained("align", "model", "m", "--plot", "jumps.txt", "--json"), "a plot ends in .svg, .png or .pdf"
    )
    assert not Path("jumps.txt").exists()


def test_models_are_listed_and_removed(trained: Sentgen, store: Path) -> None:
    """A dry run removes nothing."""
    (row,) = json.loads(trained("align", "models", "--json").out)
    assert (row["model"], row["corpus"], row["forward"], row["reverse"]) == ("m", "toy", 3, 3)
    assert trained("align", "remove", "m", "--dry-run").out == "would remove m: 6 iterations\n"
    assert trained("align", "remove", "m").out == "removed m: 6 iterations\n"

    assert trained("align", "models", "--json").out == "[]\n"
    refused(trained("align", "model", "m"), "no alignment model 'm'")
    with Store(store, read_only=True) as opened:
        assert problems(opened) == {}


def test_apply_keeps_links_and_figures(trained: Sentgen, store: Path) -> None:
    """Every abstract has figures; what is copied is linked; a second run is a no-op."""
    assert "pairs           6\n" in trained("align", "apply", *OF).out
    assert "pairs           0 (6 unchanged)" in trained("align", "apply", *OF).out

    rows = {row["pair"]: row for row in json.loads(trained("align", "figures", *OF, "--json").out)}
    # "the house burned ." out of "the red house burned .": 1 + 3 words copied, (1 + 9) / 4 a word.
    assert (rows["p5"]["coverage"], rows["p5"]["density"], rows["p5"]["longest_run"]) == (1.0, 2.5, 3)
    with Store(store, read_only=True) as opened:
        assert problems(opened) == {}


def test_logarithms_are_decimal_on_the_screen(trained: Sentgen) -> None:
    """The lines of the training, of the model and of the figures; JSON has both, by name."""
    trained("align", "apply", *OF)
    begun = ("align", "train", "--pairs", "toy", "--model", "p", "--preset", "paper", "--iterations", "1")
    head, line = trained(*begun).out.splitlines()
    names = {"log_likelihood": "log10_likelihood", "log_posterior": "log10_posterior", "logp": "log10"}
    (first,) = json.loads(trained("align", "model", "p", "--json").out)

    assert head.split()[2:4] == ["log10-likelihood", "log10-posterior"]
    assert line.split()[2:4] == [f"{first[name]:,.3f}" for name in ("log10_likelihood", "log10_posterior")]
    for words in (("model", "m"), ("models",), ("figures", *OF)):
        shown = trained("align", *words).out
        for row in json.loads(trained("align", *words, "--json").out):
            natural = row.keys() & names.keys()
            assert natural
            for name in natural:
                assert row[name] == pytest.approx(row[names[name]] * math.log(10))
                assert name not in shown
                assert names[name] in shown


def test_another_decoding_replaces_the_links(trained: Sentgen) -> None:
    """For a model and a pair, only the last links are stored."""
    trained("align", "apply", *OF)
    assert "pairs           6\n" in trained("align", "apply", *OF, "--decode", "viterbi").out

    rows = json.loads(trained("align", "figures", *OF, "--json").out)
    assert {row["decode"] for row in rows} == {"viterbi"}
    assert len(rows) == len(PAIRS)
    refused(
        trained("align", "apply", *OF, "--decode", "viterbi", "--threshold", "0.5"),
        "choose --decode posterior",
    )


def test_a_threshold_of_one_links_little(trained: Sentgen) -> None:
    """A higher threshold never adds links."""
    counts = []
    for threshold in ("0.1", "0.5", "1"):
        trained("align", "apply", *OF, "--threshold", threshold)
        counts.append(len(trained("align", "export", *OF, "--jsonl").out.splitlines()))

    assert counts == sorted(counts, reverse=True)


def test_export(trained: Sentgen) -> None:
    """Pharaoh lines in the order of the pairs, and the same links as rows."""
    trained("align", "apply", *OF)
    lines = trained("align", "export", *OF, "--pharaoh").out.splitlines()
    rows = json.loads(trained("align", "export", *OF, "--json").out)

    assert len(lines) == len(PAIRS)
    assert {"0-0", "2-1", "3-2", "4-3"} <= set(
        lines[5].split()
    )  # the red house burned . -> the house burned .
    pharaoh = {f"{row['document_first']}-{row['abstract_first']}" for row in rows if row["pair"] == "p5"}
    assert pharaoh == set(lines[5].split())


TWO_SENTENCES = {
    "id": "q",
    "document": ["the old physician slept .", "the car was red and fast .", "we saw the physician there ."],
    "abstract": ["the doctors slept .", "a fast car saw the physician .", "zebras vanished"],
}


@pytest.mark.parametrize("model", [(), ("--model", "m")])
def test_stored_states_are_those_of_texts(trained: Sentgen, tmp_path: Path, model: tuple[str, ...]) -> None:
    """Of `align apply`, by a model and by the priors: the words of `align text --json`, in the view and exported."""
    (tmp_path / "more.jsonl").write_text(json.dumps(TWO_SENTENCES))
    for name in ("document", "abstract"):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in TWO_SENTENCES[name]))
    trained("pairs", "ingest", "more.jsonl", "--corpus", "more", "--tokenized")
    texts = ("--document", "document", "--abstract", "abstract", "--format", "lines")
    alone = json.loads(trained("align", "text", *texts, *model, "--json").out)
    applied = trained("align", "apply", "--pairs", "more", *model).out

    rows = json.loads(trained("align", "export", "--pairs", "more", *model, "--words", "--json").out)
    asked = json.loads(trained("sql", "select * from v_alignment order by position", "--json").out)

    names = {"word": "word", "state": "state", "source": "from"}
    names |= {name: name for name in ("posterior", "p_null", "why", "elsewhere")}
    assert [{new: row[old] for old, new in names.items()} for row in rows] == alone["words"]
    assert [row["document"] for row in rows] == [
        " ".join(alone["document"][place] for place in one["from"]) or None for one in alone["words"]
    ]
    assert [row["sentence"] for row in rows] == [1] * 4 + [2] * 7 + [3] * 2
    assert [{k: v for k, v in row.items() if k not in ("model", "corpus")} for row in asked] == rows
    assert {one["state"] for one in alone["words"]} > {"same", "new"}
    (shares,) = json.loads(trained("align", "figures", "--pairs", "more", *model, "--json").out)
    of = alone["figures"]
    assert (shares["null_share"], shares["changed_share"]) == (of["new"], of["changed"])
    assert f"new words       {len(alone['new'])}\n" in applied


@pytest.mark.parametrize("model", [(), ("--model", "m")])
def test_stored_sentences_are_those_of_texts(
    trained: Sentgen, tmp_path: Path, model: tuple[str, ...]
) -> None:
    """The view has what JSON has; a sentence that comes from nowhere has a row that says so."""
    (tmp_path / "more.jsonl").write_text(json.dumps(TWO_SENTENCES))
    for name in ("document", "abstract"):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in TWO_SENTENCES[name]))
    trained("pairs", "ingest", "more.jsonl", "--corpus", "more", "--tokenized")
    texts = ("--document", "document", "--abstract", "abstract", "--format", "lines")
    alone = json.loads(trained("align", "text", *texts, *model, "--json").out)
    trained("align", "apply", "--pairs", "more", *model)

    rows = json.loads(trained("align", "export", "--pairs", "more", *model, "--sentences", "--json").out)

    expected = [
        {
            "pair": "q",
            "sentence": number,
            "words": told["words"],
            "source": one["sentence"],
            "linked": one["words"],
            "share": pytest.approx(one["share"]),
            "posterior": one["posterior"] and pytest.approx(one["posterior"]),
            "rank": rank,
        }
        for number, told in enumerate(alone["sentences"], 1)
        for rank, one in enumerate(told["from"], 1)
    ]
    nowhere = {"pair": "q", "sentence": 3, "words": 2, "source": None, "linked": 0, "share": 0.0}
    assert rows == [*expected, nowhere | {"posterior": None, "rank": 1}]
    assert (rows[0]["sentence"], rows[0]["source"], rows[0]["rank"]) == (1, 1, 1)
    assert alone["sentences"][2] == {"words": 2, "from": []}


def test_words_are_refused_as_lines_of_links(trained: Sentgen) -> None:
    """--words is refused with --pharaoh, whose lines are links."""
    told = trained("align", "export", *OF, "--words", "--pharaoh")

    assert (told.code, told.out) == (2, "")
    assert "--pharaoh prints links, and --words words" in " ".join(told.err.replace("│", " ").split())
    assert trained("align", "export", *OF, "--sentences", "--pharaoh").code == 2
    trained("align", "apply", *OF)
    refused(trained("align", "export", *OF, "--sentences", "--words"), "rows of two kinds; choose one")


@pytest.mark.parametrize(
    ("statement", "check_name"),
    [
        ("delete from alignment_state where position = 2", "a state for each word of an aligned abstract"),
        ("update alignment_state set state = 'gone'", "states within their texts"),
        ("update alignment_state set source = [99]", "states within their texts"),
    ],
)
def test_wrong_states_are_found(trained: Sentgen, store: Path, statement: str, check_name: str) -> None:
    """Of an aligned abstract, each word has one state of those that there are, and a source within the document."""
    trained("align", "apply", *OF)
    with Store(store) as opened, opened.begin() as connection:
        connection.exec_driver_sql(statement)

    with Store(store, read_only=True) as opened:
        assert problems(opened).keys() == {check_name}


@pytest.mark.parametrize(
    "command",
    [("figures",), ("export",), ("export", "--words"), ("export", "--sentences"), ("export", "--pharaoh")],
)
def test_limit(trained: Sentgen, command: tuple[str, ...]) -> None:
    """All without it; with it, the first ones, and a note if there are more."""
    trained("align", "apply", *OF)
    form = () if "--pharaoh" in command else ("--jsonl",)
    whole = trained("align", *command, *OF, *form)
    lines = whole.out.splitlines()

    cut = trained("align", *command, *OF, *form, "--limit", "2")
    exact = trained("align", *command, *OF, *form, "-n", str(len(lines)))

    assert (whole.err, exact) == ("", whole)
    assert cut.out.splitlines() == lines[:2]
    assert cut.err == f"first 2 {'rows' if form else 'pairs'}; there are more (--limit 0 for all)\n"


def test_removing_the_pairs_removes_their_alignments(trained: Sentgen, store: Path) -> None:
    """The model stays."""
    trained("align", "apply", *OF)
    trained("corpora", "remove", "toy", "--yes")

    assert len(json.loads(trained("align", "models", "--json").out)) == 1
    with Store(store, read_only=True) as opened:
        assert problems(opened) == {}


@pytest.mark.parametrize(("preset", "name"), [((), "priors"), (("--preset", "paper"), "priors-paper")])
def test_priors_align_pairs_as_they_align_texts(
    filled: Sentgen, tmp_path: Path, preset: tuple[str, ...], name: str
) -> None:
    """Without a model: the links of `align text`, kept under the name of the priors, until they are removed."""
    _, document, abstract = PAIRS[0]
    for file, words in (("document", document), ("abstract", abstract)):
        (tmp_path / file).write_text(f"{words}\n")
    texts = ("--document", str(tmp_path / "document"), "--abstract", str(tmp_path / "abstract"))
    alone = filled("align", "text", *texts, *preset, "--format", "lines", "--pharaoh")
    refused(filled("align", "export", "--pairs", "toy"), "nothing has been aligned by the priors; run: ")

    first = filled("align", "apply", "--pairs", "toy", *preset)
    again = filled("align", "apply", "--pairs", "toy", *preset)

    model = () if name == "priors" else ("--model", name)
    assert "priors only" in first.err
    assert "(6 unchanged)" in again.out
    assert filled("align", "export", "--pairs", "toy", *model, "--pharaoh").out.splitlines()[0] == (
        alone.out.strip()
    )
    assert len(json.loads(filled("align", "figures", "--pairs", "toy", *model, "--json").out)) == 6
    assert filled("align", "remove", name).code == 0
    assert json.loads(filled("align", "models", "--json").out) == []


def test_a_model_that_learnt_is_not_taken_for_priors(trained: Sentgen, store: Path) -> None:
    """Neither by its name, nor are the priors trained on."""
    with Store(store) as opened, opened.begin() as connection:
        connection.exec_driver_sql("update alignment_model set name = 'priors'")

    refused(
        trained("align", "apply", "--pairs", "toy"),
        "'priors' is one that learnt from pairs; align by its name",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--pairs", "none", "--model", "x"), "no corpus 'none'"),
        (("train", "--pairs", "toy", "--model", "x", "--set", "p0"), "write --set NAME=VALUE"),
        (("train", "--pairs", "toy", "--model", "x", "--set", "colour=red"), "no setting 'colour'"),
        (("train", "--pairs", "toy", "--model", "x", "--set", "vocabulary=0"), "it must be 1 or more"),
        (("apply", "--pairs", "toy", "--model", "x"), "no alignment model 'x'; there are: m"),
        (("apply", "--pairs", "none", "--model", "m"), "no corpus 'none'"),
        (("export", "--pairs", "toy", "--model", "m"), "has not been applied to 'toy'"),
        (("figures", "--pairs", "toy", "--model", "m"), "has not been applied to 'toy'"),
    ],
)
def test_refusals(trained: Sentgen, arguments: tuple[str, ...], message: str) -> None:
    """One clear line that says what to do."""
    refused(trained("align", *arguments), message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--pairs", "toy", "--model", " "), "a model needs a name"),
        (("model", "m", "physician", "--plot", "jumps.png"), "leave out the word"),
    ],
)
def test_options_that_make_no_sense(filled: Sentgen, arguments: tuple[str, ...], message: str) -> None:
    """They are refused before anything is done."""
    told = filled("align", *arguments)

    assert told.code == 2
    assert message in " ".join(told.err.replace("│", " ").split())
