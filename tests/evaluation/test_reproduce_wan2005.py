"""The experiments of Wan et al. 2005 in one command: readings, claims of the paper beside ours, perplexities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_examples import FOX, RELIEF, conllu
from sqlalchemy import select

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.evaluation.papers import prepared, wan2005
from sentgen.evaluation.papers.paper import Findings, PaperRequest
from sentgen.schema import Store
from sentgen.schema.tables.runs import run


class OneVerb:
    """A parser for tests: all words hang on the second one, which is a verb."""

    name, version = "one-verb", "1"

    def parse_tokenized(self, sentences: list[list[str]]) -> Iterator[Sentence]:
        """Keep the tokens."""
        for forms in sentences:
            root = min(2, len(forms))
            yield Sentence(
                list(forms),
                upos=["VERB" if i == root else "NOUN" for i in range(1, len(forms) + 1)],
                heads=[0 if i == root else root for i in range(1, len(forms) + 1)],
                deprels=["root" if i == root else "dep" for i in range(1, len(forms) + 1)],
            )


def request(path: Path, **options: object) -> PaperRequest:
    return PaperRequest(clusters=path, parser="udpipe:none", quick=True, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Findings]]:
    """A store with a run on two clusters, strings of 3 and 5 words, and the clusters as the treebank."""
    folder = tmp_path_factory.mktemp("wan2005")
    path = folder / "clusters.conllu"
    path.write_text(conllu({"relief": RELIEF, "fox": [*FOX, *RELIEF[:1]]}))
    with pytest.MonkeyPatch.context() as patch, Store(folder / "store.duckdb", create=True) as store:
        patch.setattr(wan2005, "open_parser", lambda _: OneVerb())
        patch.setattr(wan2005, "_QUICK_LENGTHS", (3, 5))
        ingest(store, [str(path)], Settings("trees", order=1))
        yield store, prepared("wan2005", request(path, dependencies=["trees"]))(store)


@pytest.mark.nightly
def test_every_figure_is_there_at_every_length(reproduced: tuple[Store, Findings]) -> None:
    """Three readings, four figures and two lengths have the claim of the paper beside our result."""
    figures = [
        dict(zip(reproduced[1].figures.columns, row, strict=True)) for row in reproduced[1].figures.rows
    ]
    curves = [row for row in figures if row["figure"] is not None]

    assert len(curves) == 3 * 4 * 2
    assert {row["published"] for row in curves if row["figure"] in (6, 8)} == {"not significant"}
    assert {row["published"] for row in curves if row["figure"] in (5, 7)} == {"significant"}
    assert {row["here"] for row in curves} == {"not significant"}  # of two clusters
    assert [row["published"] for row in figures if row["figure"] is None] == ["to be compared"] * 4


def test_the_paper_excepts_two_lengths() -> None:
    """Figure 5 is significant "except lengths 17 and 32"; adjacent precision has no exceptions."""
    five, _, seven, eight = wan2005._CLAIMS

    assert [n for n in range(1, 41) if five.at(n) == "not significant"] == [17, 32]
    assert {seven.at(n) for n in (17, 20)} == {"significant"}
    assert eight.at(20) == "not significant"


@pytest.mark.nightly
def test_a_summary_and_what_was_left_out(reproduced: tuple[Store, Findings]) -> None:
    """There is a row a reading and figure, and notes on the part of the data and the runs."""
    store, found = reproduced

    assert len(found.tests.rows) == 3 * 4
    assert found.notes[0].startswith("--quick: 2 clusters, 3,5 words; the paper has 100")
    with store.connect() as connection:
        commands = list(connection.scalars(select(run.c.command).order_by(run.c.id)))
    assert commands == ["published"] * 4 + ["evaluate generation"] * 3 + ["perplexity"]
    assert found.notes[-1] == (
        "literal: run 5; seen transitions: run 6; beyond the paper: run 7; perplexity: run 8"
    )


@pytest.mark.parametrize("missing", ["clusters", "parser"])
def test_what_it_needs_is_asked_for(missing: str) -> None:
    """Before there is a store."""
    given = {"clusters": "c.jsonl", "parser": "udpipe:none"} | {missing: None}
    with pytest.raises(InputError, match=f"wan2005 needs `{missing}`"):
        prepared("wan2005", PaperRequest(**given))  # type: ignore[arg-type]
