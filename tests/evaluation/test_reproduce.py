"""The papers' experiments: how a treebank is split, and the whole way on a treebank of a few sentences."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.evaluation.regeneration.penn_treebank import Split, split_treebank
from sentgen.evaluation.regeneration.reproduce import Reproduction, reproduce
from sentgen.models import registry
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
    """02-22 to train, 23 to test, in the order of the files; other sections are left alone."""
    names = [f"wsj_{section:02}{number:02}.mrg" for section in range(25) for number in (1, 0)]
    split = split_treebank(str(treebank(tmp_path / "wsj", names)))

    assert split.name == "ptb-02-22"
    assert [Path(file).name for file in split.train[:3]] == ["wsj_0200.mrg", "wsj_0201.mrg", "wsj_0300.mrg"]
    assert len(split.train) == 2 * 21
    assert [Path(file).name for file in split.test] == ["wsj_2300.mrg", "wsj_2301.mrg"]


def test_sample_is_split_by_file(tmp_path: Path) -> None:
    """Section 01 alone is the sample; dependencies go before trees."""
    folder = sample(tmp_path / "wsj01")
    treebank(folder, ["wsj_0100.mrg", "wsj_0150.mrg"])
    split = split_treebank(str(folder))

    assert [Path(file).name for file in split.train] == ["wsj_0100.dp", "wsj_0101.dp"]
    assert [Path(file).name for file in split.test] == ["wsj_0180.dp", "wsj_0199.dp"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "holds no files named"),
        (["wsj_0200.mrg", "wsj_2300.mrg"], "sections 03, 04, 05, .*, 22 are missing"),
        (["wsj_0100.mrg"], "sections 02, "),
    ],
)
def test_incomplete_treebanks_are_refused(tmp_path: Path, names: list[str], message: str) -> None:
    """The message names what is missing."""
    with pytest.raises(InputError, match=message):
        split_treebank(str(treebank(tmp_path / "wsj", names)))


def test_a_file_is_no_treebank(tmp_path: Path) -> None:
    """A folder is wanted."""
    with pytest.raises(InputError, match="is no folder"):
        split_treebank(str(tmp_path / "wsj_0100.mrg"))


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Split, Reproduction]:
    """The store of the paper of 2009, on a treebank that has base noun phrases; no test changes it."""
    folder = sample(tmp_path_factory.mktemp("reproduced") / "wsj01")
    treebank(folder, ["wsj_0100.pos", "wsj_0101.pos"], DOG_POS + CAT_POS)
    split = split_treebank(str(treebank(folder, ["wsj_0180.pos", "wsj_0199.pos"], DOG_POS)))
    path = folder.parent / "s.duckdb"
    with Store(path, create=True) as store:
        return path, split, reproduce(store, "wan2009", split)


def test_every_system_of_the_paper_runs(reproduced: tuple[Path, Split, Reproduction]) -> None:
    """Each row of the table has the published figure and two systems."""
    (column,) = reproduced[2].columns
    systems = {system.system: system for system in column.result.systems}

    assert [row[:2] for row in column.rows()] == [
        ("viterbi", 14.9), ("lmo", 24.3), ("cle", 26.4), ("ab", 33.6),
    ]  # fmt: skip
    assert all(name in systems for row in column.rows() for name in row[2:])
    assert column.result.references == ["the dog barks .", "the dog barks ."]
    assert systems["lmo"].value("bleu-lc-none") == pytest.approx(100)


def test_systems_that_no_paper_has_come_with_the_best_model(
    reproduced: tuple[Path, Split, Reproduction],
) -> None:
    """Where base noun phrases are known."""
    beyond = reproduced[2].beyond

    assert beyond is not None
    assert (beyond.model.order, beyond.model.unknown, beyond.model.brackets) == (5, "tag", True)
    assert [system.system for system in beyond.result.systems] == ["beam", "beam:features=auto", "joint"]
    assert all(system.value("bleu-lc-none") == pytest.approx(100) for system in beyond.result.systems)


def test_published_figures_and_models_are_stored_once(
    reproduced: tuple[Path, Split, Reproduction], tmp_path: Path
) -> None:
    """The models are those of `--companions`; neither is made again."""
    path, split, first = reproduced
    with Store(Path(shutil.copy(path, tmp_path))) as store:
        again = reproduce(store, "wan2009", split)
        names = {model.label for model in registry.list_models(store)}
        query = "select count(*) from run where command = 'published'"
        with store.connect() as connection:
            assert raw(connection).execute(query).fetchone() == (3,)

    assert again.columns[0].model == first.columns[0].model
    assert again.beyond is not None
    assert first.beyond is not None
    assert again.beyond.model == first.beyond.model
    best = "wsj-0100-0179-best"
    assert names == {"wsj-0100-0179@1", *(f"{best}{over}@1" for over in ("", "-tags", "-classes", "-items"))}


def test_a_treebank_without_base_noun_phrases_has_the_papers_systems(tmp_path: Path) -> None:
    """It says why there are no others."""
    said: list[str] = []
    with Store(tmp_path / "s.duckdb", create=True) as store:
        found = reproduce(
            store, "wan2007", split_treebank(str(sample(tmp_path / "wsj01"))), report=said.append
        )

    assert len(found.columns) == 1
    assert found.beyond is None
    assert said[-1] == (
        "no base noun phrases in wsj-0100-0179, such as .pos files have: nothing beyond the paper"
    )


def test_a_corpus_of_a_lower_order_is_refused(tmp_path: Path) -> None:
    """As one that an earlier version made."""
    split = split_treebank(str(sample(tmp_path / "wsj01")))
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, split.train, Settings(split.name, order=4, lowercase=True))
        with pytest.raises(InputError, match=r"up to order 4, not 5; remove it with: .* wsj-0100-0179$"):
            reproduce(store, "wan2009", split)


def test_text_for_a_second_model_adds_a_column(tmp_path: Path) -> None:
    """The second column of 2009: trees as before, n-grams of the text alone."""
    split = split_treebank(str(sample(tmp_path / "wsj01")))
    text = tmp_path / "text.lines"
    text.write_text("the dog barks .\n" * 3)
    with Store(tmp_path / "s.duckdb", create=True) as store:
        found = reproduce(store, "wan2009", split, lm_text=[str(text)])

    assert [column.model.corpora for column in found.columns] == [("wsj-0100-0179",), ("lm-text",)]
    assert len({column.result.run_id for column in found.columns}) == 2


def test_other_sources_under_the_name_are_refused(tmp_path: Path) -> None:
    """A corpus that holds more than the treebank would change the figures."""
    with Store(tmp_path / "s.duckdb", create=True) as store:
        reproduce(store, "wan2007", split_treebank(str(sample(tmp_path / "wsj01"))))
        other = treebank(tmp_path / "other", ["wsj_0100.dp", "wsj_0199.dp"], CAT)
        with pytest.raises(InputError, match="holds other sources than these; remove it with"):
            reproduce(store, "wan2007", split_treebank(str(other)))


def test_unknown_papers_are_refused(tmp_path: Path) -> None:
    """With the names of those that are there."""
    with (
        Store(tmp_path / "s.duckdb", create=True) as store,
        pytest.raises(InputError, match="no paper 'wan2011'; there are: wan2007, wan2009"),
    ):
        reproduce(store, "wan2011", split_treebank(str(sample(tmp_path / "wsj01"))))
