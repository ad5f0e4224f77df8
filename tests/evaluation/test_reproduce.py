"""The papers' experiments: how a treebank is split, and the whole way on a treebank of a few sentences."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.cli.reproduce import command
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.evaluation.papers import PAPERS, prepared
from sentgen.evaluation.papers.paper import TESTS, Findings, Paper, PaperRequest, Trees
from sentgen.evaluation.papers.penn_treebank import TreebankExperiment, split_treebank
from sentgen.models.base import registry
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.store import raw

DOG = "The\tDT\t2\ndog\tNN\t3\nbarks\tVBZ\t0\n.\t.\t3\n\n"
CAT = "A\tDT\t2\ncat\tNN\t3\nsleeps\tVBZ\t0\nnow\tRB\t3\n\n"
DOG_POS = "[ The/DT dog/NN ]\nbarks/VBZ ./.\n\n"
CAT_POS = "[ A/DT cat/NN ]\nsleeps/VBZ now/RB\n\n"


def treebank(folder: Path, names: list[str], text: str = DOG) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(text)
    return folder


def sample(folder: Path) -> Path:
    treebank(folder, ["wsj_0100.dp", "wsj_0101.dp"], DOG + CAT)
    return treebank(folder, ["wsj_0180.dp", "wsj_0199.dp"])


def test_full_treebank_is_split_into_the_papers_sections(tmp_path: Path) -> None:
    """Sections 02-22 are for training, 23 is for testing, in the order of the files; others are not used."""
    names = [f"wsj_{section:02}{number:02}.mrg" for section in range(25) for number in (1, 0)]
    split = split_treebank(str(treebank(tmp_path / "wsj", names)))

    assert split.name == "ptb-02-22-mrg"
    assert [Path(file).name for file in split.train[:3]] == ["wsj_0200.mrg", "wsj_0201.mrg", "wsj_0300.mrg"]
    assert len(split.train) == 2 * 21
    assert [Path(file).name for file in split.test] == ["wsj_2300.mrg", "wsj_2301.mrg"]


def test_sample_is_split_by_file(tmp_path: Path) -> None:
    """Section 01 alone is the sample; a kind of trees that is incomplete is not used."""
    folder = sample(tmp_path / "wsj01")
    treebank(folder, ["wsj_0100.mrg", "wsj_0150.mrg"])
    split = split_treebank(str(folder))

    assert [Path(file).name for file in split.train] == ["wsj_0100.dp", "wsj_0101.dp"]
    assert [Path(file).name for file in split.test] == ["wsj_0180.dp", "wsj_0199.dp"]


@pytest.mark.parametrize(
    ("endings", "asked", "name", "title"),
    [
        ((".mrg", ".dp", ".pos"), None, "wsj-0100-0179-mrg-pos", ".mrg with .pos"),
        ((".mrg", ".dp", ".pos"), "dp+pos", "wsj-0100-0179-dp-pos", ".dp with .pos"),
        ((".mrg", ".dp", ".pos"), "mrg", "wsj-0100-0179-mrg", ".mrg"),
        ((".dp", ".pos"), None, "wsj-0100-0179-dp-pos", ".dp with .pos"),
        ((".mrg", ".dp"), None, "wsj-0100-0179-mrg", ".mrg"),
        ((".dp",), None, "wsj-0100-0179-dp", ".dp"),
    ],
)
def test_what_the_papers_have_is_taken_first(
    tmp_path: Path, endings: tuple[str, ...], asked: Trees | None, name: str, title: str
) -> None:
    """The kind of trees of the papers is preferred, then the nearest one; name and title say which."""
    files = [f"wsj_{number}{ending}" for number in ("0100", "0180") for ending in endings]
    split = split_treebank(str(treebank(tmp_path / "wsj", files)), trees=asked)

    assert (split.name, split.title) == (name, f"WSJ 0100-0179 to 0180-0199, {title}")
    assert {Path(file).suffix for file in (*split.train, *split.test)} == {title.split()[0]}


def test_a_quick_run_takes_a_part_and_says_so(tmp_path: Path) -> None:
    """Four sections, and the first sentences of the test."""
    names = [f"wsj_{section:02}00.mrg" for section in range(25)]
    folder = treebank(tmp_path / "wsj", names, "( (NP (NN a)) )\n" * 150)
    (folder / "wsj_2301.mrg").write_text("( (NP (NN b)) )\n" * 150)
    split = split_treebank(str(folder), quick=True)

    assert [Path(file).name for file in split.train] == [f"wsj_{number:02}00.mrg" for number in range(2, 6)]
    assert [sentence.forms for sentence in split.test_sentences()] == [["a"]] * 150 + [["b"]] * 50
    assert (split.name, split.title) == ("ptb-02-05-mrg", "PTB 02-05 to the first 200 sentences of 23, .mrg")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "holds no files named"),
        (["wsj_0200.mrg", "wsj_2300.mrg"], "sections 03, 04, 05, .*, 22 are missing"),
        (["wsj_0100.mrg"], r"files 0180-0199 are missing \(.mrg\)"),
        (
            ["wsj_0100.mrg", "wsj_0100.pos", "wsj_0180.mrg"],
            "wsj_0180.mrg has no tagged file beside it .*, as others have; give `trees` mrg to look at none",
        ),
    ],
)
def test_incomplete_treebanks_are_refused(tmp_path: Path, names: list[str], message: str) -> None:
    """The message names what is missing."""
    with pytest.raises(InputError, match=message):
        split_treebank(str(treebank(tmp_path / "wsj", names)))


def test_a_file_is_no_treebank(tmp_path: Path) -> None:
    """A file is refused where a folder is needed."""
    with pytest.raises(InputError, match="is no folder"):
        split_treebank(str(tmp_path / "wsj_0100.mrg"))


def reproduce(store: Store, paper: str, folder: Path, **asked: Any) -> Findings:
    return prepared(paper, PaperRequest(ptb=folder, **asked))(store)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Findings]:
    """The store of the paper of 2009, on a treebank that has base noun phrases; no test changes it."""
    folder = sample(tmp_path_factory.mktemp("reproduced") / "wsj01")
    treebank(folder, ["wsj_0100.pos", "wsj_0101.pos"], DOG_POS + CAT_POS)
    treebank(folder, ["wsj_0180.pos", "wsj_0199.pos"], DOG_POS)
    path = folder.parent / "s.duckdb"
    with Store(path, create=True) as store:
        return path, folder, reproduce(store, "wan2009", folder)


def test_every_system_of_the_paper_runs(reproduced: tuple[Path, Path, Findings]) -> None:
    """Each row of the table has the published figure and two systems; systems beyond the paper come last."""
    figures = reproduced[2].figures.to_pylist()

    assert [(row["algorithm"], row["published"]) for row in figures] == [
        *(("viterbi", 14.9), ("lmo", 24.3), ("cle", 26.4), ("ab", 33.6)),
        *(("beam", None), ("beam:features=auto", None), ("joint", None)),
    ]
    assert all(row["literal"] is not None for row in figures[:4])
    assert [row["defaults"] for row in figures if row["algorithm"] in ("lmo", "joint")] == [
        pytest.approx(100)
    ] * 2


def test_every_pair_of_systems_is_tested(reproduced: tuple[Path, Path, Findings]) -> None:
    """Pairs of the paper are tested literally and with the defaults, but never across both."""
    tests = reproduced[2].tests.to_pylist()

    assert [row["systems"] for row in tests] == ["literal"] * 6 + ["defaults"] * 6
    pairs = [frozenset((row["worse"], row["better"])) for row in tests]
    assert len(set(pairs)) == 6
    # Table 2: lmo 24.3, ab 33.6.
    (lmo_and_ab,) = {abs(row["published"]) for row in tests if {row["worse"], row["better"]} == {"lmo", "ab"}}
    assert lmo_and_ab == 9.3


def test_published_figures_and_models_are_stored_once(
    reproduced: tuple[Path, Path, Findings], tmp_path: Path
) -> None:
    """A second run uses published figures and models, those of `--companions` included, again."""
    path, folder, _ = reproduced
    with Store(Path(shutil.copy(path, tmp_path))) as store:
        reproduce(store, "wan2009", folder)
        models = registry.list_models(store)
        query = "select count(*) from run where command = 'published'"
        with store.connect() as connection:
            assert raw(connection).execute(query).fetchone() == (2,)

    best = "wsj-0100-0179-dp-pos-best"
    names = ["wsj-0100-0179-dp-pos@1", *(f"{best}{over}@1" for over in ("", "-tags", "-classes", "-items"))]
    assert sorted(model.label for model in models) == sorted(names)
    (found,) = (model for model in models if model.name == best)
    assert (found.order, found.unknown, found.brackets) == (5, "tag", True)


def test_a_treebank_without_base_noun_phrases_has_the_papers_systems(tmp_path: Path) -> None:
    """The report says why there are no systems beyond the paper."""
    said: list[str] = []
    with Store(tmp_path / "s.duckdb", create=True) as store:
        found = reproduce(store, "wan2007", sample(tmp_path / "wsj01"), report=said.append)

    assert {row["figure"] for row in found.figures.to_pylist()} == {"Wan et al. 2007, figure 4"}
    assert said[-1] == (
        "no base noun phrases in wsj-0100-0179-dp, such as .pos files have: nothing beyond the paper"
    )


def test_a_corpus_of_a_lower_order_is_refused(tmp_path: Path) -> None:
    """A corpus with counts of a lower order, as earlier versions made them, is refused."""
    folder = sample(tmp_path / "wsj01")
    split = split_treebank(str(folder))
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, split.train, Settings(split.name, order=4, lowercase=True))
        with pytest.raises(InputError, match=r"up to order 4, not 5; remove it with: .* wsj-0100-0179-dp$"):
            reproduce(store, "wan2009", folder)


def test_text_for_a_second_model_adds_a_column(tmp_path: Path) -> None:
    """The second column of 2009 has the same trees, and n-grams of the other text alone."""
    text = tmp_path / "text.lines"
    text.write_text("the dog barks .\n" * 3)
    with Store(tmp_path / "s.duckdb", create=True) as store:
        found = reproduce(store, "wan2009", sample(tmp_path / "wsj01"), lm_text=[str(text)])
        corpora = {model.label: model.corpora for model in registry.list_models(store)}

    assert corpora == {"wsj-0100-0179-dp@1": ("wsj-0100-0179-dp",), "lm-text@1": ("lm-text",)}
    columns = [row["figure"] for row in found.figures.to_pylist()]
    assert columns == ["Wan et al. 2009, table 2, PTB-LM"] * 4 + ["Wan et al. 2009, table 2, BLLIP-LM"] * 4


def test_other_sources_under_the_name_are_refused(tmp_path: Path) -> None:
    """A corpus that holds more than the treebank would change the figures."""
    first = split_treebank(str(sample(tmp_path / "wsj01")))
    other = treebank(tmp_path / "other", ["wsj_0100.dp", "wsj_0199.dp"], CAT)
    with Store(tmp_path / "s.duckdb", create=True) as store:
        TreebankExperiment(store, first, PaperRequest(), lowercase=True).ingest_training()
        with pytest.raises(InputError, match="holds other sources than these; remove it with"):
            reproduce(store, "wan2007", other)


@pytest.mark.parametrize(
    ("paper", "given", "message"),
    [
        ("wan2011", {}, "no paper 'wan2011'; there are: .*wan2007, wan2009"),
        ("wan2007", {}, "wan2007 needs `ptb`"),
        ("wan2007", {"ptb": "wsj", "lm_text": ["a"]}, "wan2007 does not look at `lm_text`; leave it out"),
    ],
)
def test_what_cannot_be_run_is_refused(paper: str, given: dict[str, Any], message: str) -> None:
    """Wrong options are refused before a store is made."""
    with pytest.raises(InputError, match=message):
        prepared(paper, PaperRequest(**given))


def test_every_paper_can_be_run_in_a_few_minutes() -> None:
    assert [name for name, paper in PAPERS.items() if "quick" not in paper.takes] == []


def test_every_paper_is_named_where_papers_are_listed() -> None:
    """Each paper has its figures under its name, and is in the docs and the help."""
    page = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text("utf-8")
    for name, paper in PAPERS.items():
        assert paper.name == name
        assert {table.paper for table in paper.tables} == {name}
        assert f"| `{name}` | {paper.what.partition(':')[0]}: " in page
        assert name in str(command.__doc__)


def test_systems_of_schmaltz_run_by_words_and_with_phrases(tmp_path: Path) -> None:
    """Text keeps its case, each way has a model of its own, and BLEU is that of the paper."""
    folder = sample(tmp_path / "wsj01")
    treebank(folder, ["wsj_0100.pos", "wsj_0101.pos"], DOG_POS + CAT_POS)
    treebank(folder, ["wsj_0180.pos", "wsj_0199.pos"], DOG_POS)
    with Store(tmp_path / "s.duckdb", create=True) as store:
        found = reproduce(store, "schmaltz2016", folder, quick=True)
        models = {model.name: model for model in registry.list_models(store)}
        query = "select distinct reference from output"
        with store.connect() as connection:
            assert raw(connection).execute(query).fetchall() == [("The dog barks .",)]

    assert [(row["system"], row["published"]) for row in found.figures.to_pylist()] == [
        *(("NGram-64, no future cost", 32.0), ("NGram-64", 37.0), ("NGram-512", 38.6)),
        *(("NGram-64", 54.3), ("NGram-512", 55.6)),
    ]
    assert {name: (model.order, model.brackets) for name, model in models.items()} == {
        "wsj-0100-0179-dp-pos-cased-word": (5, False),
        "wsj-0100-0179-dp-pos-cased-np": (5, True),
    }
    assert "a part of the data (--quick)" in found.notes[0]


def test_schmaltz_needs_base_noun_phrases(tmp_path: Path) -> None:
    """Dependencies alone, which have no base noun phrases, are refused."""
    with pytest.raises(InputError, match="dependencies alone have no base noun phrases"):
        prepared("schmaltz2016", PaperRequest(ptb=sample(tmp_path / "wsj01")))


def test_trees_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """The error names the kind of trees that is missing."""
    with pytest.raises(InputError, match=r"holds no files named wsj_0200\.mrg$"):
        split_treebank(str(sample(tmp_path / "wsj01")), trees="mrg+pos")


def test_tables_are_for_reading_and_figures_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal gets figures and tests, JSON the figures alone."""
    tests = [["table 1", "", "lmo", "ab", 3.5, 9.3, "p < 0.01", 9, 1, 0, "0.021", "0.010"]]
    found = Findings(Rows(["system", "published"], [["ab", 33.6]]), Rows(TESTS, tests), ["run 7"])
    paper = Paper("smith2001", "Smith 2001", "table 1: a system", (), lambda request: lambda store: found)
    monkeypatch.setitem(PAPERS, paper.name, paper)
    told = [
        CliRunner().invoke(build(), ["reproduce", "smith2001", "--db", str(tmp_path / "s.duckdb"), *form])
        for form in ((), ("--json",))
    ]

    assert [one.exit_code for one in told] == [0, 0]
    assert all("Smith 2001: table 1: a system" in one.stderr and "run 7" in one.stderr for one in told)
    assert "33.60" in told[0].stdout
    assert "p < 0.01" in told[0].stdout
    assert json.loads(told[1].stdout) == [{"system": "ab", "published": 33.6}]
