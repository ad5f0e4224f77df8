"""The experiment of Daumé and Marcu 2004, on three pairs by two annotators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toy_pairs import write_jsonl

from sentgen.errors import InputError
from sentgen.evaluation.papers import daume2004, prepared
from sentgen.evaluation.papers.daume2004 import KAPPA, ORACLE, PBHMM, RECALL, SOFT_F, SOFT_P, SYSTEMS
from sentgen.evaluation.papers.paper import Findings, PaperRequest
from sentgen.schema import Store
from sentgen.schema.store import raw

GOLD = """\
The big dog sat on a red mat . ||| The dog sat on the mat . ||| 0-0 2-1 3-2 4-3 5p4 7-5 8-6 ||| 0-0 2-1 3-2 4-3 7-5
Prices rose sharply in May . ||| In May , prices went up . ||| 3-0 4-1 0-3 1-4 1-5 5-6 ||| 3-0 4-1 0-3 1p5 5-6
A man was seen . ||| Somebody saw a man . ||| 0-2 1-3 3-1 4-4 ||| 0-2 1-3 4-4
"""


@pytest.fixture
def gold(tmp_path: Path) -> str:
    """Three pairs, and the links of two people."""
    path = tmp_path / "gold.txt"
    path.write_text(GOLD)
    return str(path)


def reproduce(store: Path, gold: str, **asked: Any) -> Findings:
    request = PaperRequest(gold=gold, format="pharaoh", **asked)
    with Store(store, create=True) as opened:
        return prepared("daume2004", request)(opened)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    """A store with the run, and its findings; no test changes the store."""
    folder = tmp_path_factory.mktemp("daume2004")
    (folder / "gold.txt").write_text(GOLD)
    return folder / "s.duckdb", reproduce(folder / "s.duckdb", str(folder / "gold.txt"))


def test_published_figures_stand_beside_ours(reproduced: tuple[Path, Findings]) -> None:
    """Table 5 with annotators and systems, its oracle and kappa are there, and a note on missing systems."""
    found = reproduced[1]

    rows = found.figures.to_pylist()
    published = {(row["figure"], row["in the paper"]): row["published"] for row in rows}
    assert published["SoftF", "PBHMM"] == 0.548
    assert published["SoftP", "Human2"] == 0.680
    assert published["Recall", "HMM-flipped"] == 0.250
    # The paper's F follows from its P and R, but for rounding.
    for name in (*SYSTEMS, "Human1", "Human2", "PBHMM O"):
        p, r, f = (published[figure, name] for figure in ("SoftP", "Recall", "SoftF"))
        assert 2 * p * r / (p + r) == pytest.approx(f, abs=0.0011)
    here = {(row["figure"], row["system"]): row["here"] for row in rows if row["in the paper"] != "PBHMM O"}
    assert here["Recall", "cut-and-paste"] == pytest.approx(9 / 16)
    assert here["SoftP", "human 2"] == 1.0
    assert here["SoftP", "mgiza:join=backward"] is None or here["SoftP", "mgiza:join=backward"] >= 0
    assert [(row["figure"], row["published"]) for row in rows[-2:]] == [
        ("kappa, all words", 0.63),
        ("kappa, content words", 0.68),
    ]
    assert any(
        "3 pairs, 7 words a document and 6 an abstract; the paper has 45" in note for note in found.notes
    )
    tested = {(row["worse"], row["better"]): row for row in found.tests.to_pylist()}
    assert len(tested) >= 6
    told = next(row for pair, row in tested.items() if {*pair} == {"PBHMM", "Cut & Paste"})
    assert (abs(told["published"]), told["in the paper"]) == (0.185, "significantly")


def test_everything_is_recorded(reproduced: tuple[Path, Findings]) -> None:
    """The store has the published tables, by the names and metrics of our own figures, and the run."""
    query = """
        select p.metric, p.system, p.value, count(*)
        from score p
        join score o on o.metric = p.metric and o.system = p.system and o.run_id <> p.run_id and o.item is null
        join run r on r.id = p.run_id and r.command = 'published'
        group by all
        order by all
    """
    with Store(reproduced[0], read_only=True) as store, store.connect() as connection:
        runs = (
            raw(connection).execute("select command, count(*) from run group by all order by all").fetchall()
        )
        both = raw(connection).execute(query).fetchall()

    tables = len((SOFT_P, RECALL, SOFT_F, *ORACLE, *KAPPA))
    assert runs == [("evaluate alignment", 1), ("published", tables)]
    assert ("soft-f1", PBHMM, 0.548, 1) in both
    assert ("soft-f1:oracle", PBHMM, 0.594, 1) in both
    assert ("kappa:sure:content", "1 vs 2", 0.68, 1) in both


def test_quick_takes_a_part(gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note says which part, and pseudo-documents are made from that part."""
    monkeypatch.setattr(daume2004, "QUICK", 2)
    pairs = write_jsonl(tmp_path / "more.jsonl")
    found = reproduce(tmp_path / "s.duckdb", gold, quick=True, pseudo_documents="2x1", train=[str(pairs)])

    assert "these and 2 other pairs of the first 2 of 6 pairs (--quick), without links" in found.notes[2]
    assert "1 pair by --pseudo-documents 2x1 of the first 2 of 3 pairs (--quick)" in found.notes[0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"gold": None}, "daume2004 needs `gold`"),
        ({"ptb": "wsj"}, "does not look at `ptb`"),
        ({"pseudo_documents": "many"}, "'many' is not such as 22x8"),
        ({"pseudo_documents": "4x1"}, "3 pairs are too few"),
        ({"train": ["nowhere.jsonl"]}, "no such file"),
    ],
)
def test_what_cannot_be_used_is_refused_before_there_is_a_store(
    gold: str, asked: dict[str, Any], message: str
) -> None:
    """Data that cannot be used are refused in one line, before a store is made."""
    with pytest.raises(InputError, match=message):
        prepared("daume2004", PaperRequest(**{"gold": gold, "format": "pharaoh", **asked}))
