"""A worker has the plug-ins of its environment, lists them, and tells their mistakes as problems."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from plugged import plugged, write_package
from serving import ask

from sentgen.schema import Store
from sentgen.server.operations import Opening
from sentgen.server.operations.operation import Context
from sentgen.server.pages import align, generation


@pytest.fixture(scope="module")
def site(installed_example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed, beside a plug-in that fails."""
    site = shutil.copytree(installed_example, tmp_path_factory.mktemp("example") / "site")
    code = (
        "from sentgen.plugins import Algorithm\nx = Algorithm('bad', '', lambda *_: 1 / 0, lambda *_: None)\n"
    )
    write_package(site, "broken", {"algorithms.bad": "x", "aligners.worse": "x"}, code)
    return site


@pytest.fixture
def compute(site: Path, opening: Opening, demo: Path, tmp_path: Path, monkeypatch: Any) -> Iterator[Context]:
    """A worker that finds them."""
    monkeypatch.chdir(tmp_path)  # where a worker puts the texts that it is sent
    with Store(demo, read_only=True) as store, plugged(site):
        yield Context(replace(opening, kind="compute"), store)


def told(context: Context, operation: str, **parameters: Any) -> dict[str, Any]:
    """The body of an answer, rows or a problem."""
    found: dict[str, Any] = json.loads(ask(context, operation, **parameters).body)
    return found


def test_they_are_listed_and_used(compute: Context) -> None:
    """With notes on what cannot be used."""
    assert told(compute, "formats")["rows"][-1]["format"] == "tagged"
    assert [row["algorithm"] for row in told(compute, "algorithms")["rows"]][-2:] == ["bad", "insertion"]
    aligners = told(compute, "aligners")
    assert aligners["rows"][-1]["package"] == "sentgen-example 0.1.0"
    (note,) = aligners["notes"]
    assert note.startswith("the aligner 'worse' of broken 1.0 is of the class Algorithm")

    (row,) = told(compute, "regenerate", model="relief", bag=["trucks the . arrived"], algorithm="insertion")[
        "rows"
    ]
    assert sorted(row["sentence"].split()) == [".", "arrived", "the", "trucks"]
    assert [row["scorer"] for row in told(compute, "scorers")["rows"]] == ["elman"]
    chosen = told(compute, "regenerate", model="relief", bag=["trucks the"], rerank="elman=2", parts=True)
    (row,) = chosen["rows"]
    assert row["part_elman"] < 0
    assert chosen["notes"][-1].endswith(" + 2 part_elman")
    text = "trucks_NNS arrived_VBD\n"
    (row,) = told(compute, "align", document=text, abstract=text, format="tagged", system="spelling")["rows"]
    assert [(one["abstract"], one["document"]) for one in row["phrases"]] == [
        ([0, 1], [0, 1]),
        ([1, 2], [1, 2]),
    ]


def test_a_mistake_is_that_of_the_plug_in(compute: Context) -> None:
    """Not of the request."""
    problem = told(compute, "regenerate", model="relief", bag=["a b"], algorithm="bad")

    assert (problem["status"], problem["type"]) == (500, "urn:sentgen:problem:plugin")
    assert problem["detail"].startswith("the algorithm 'bad' of broken 1.0 has failed: ZeroDivisionError")


@pytest.mark.usefixtures("compute")
def test_pages_offer_what_can_be_used() -> None:
    """The table of algorithms is made in the front, that of aligners by a worker."""
    assert list(generation._algorithms())[-2:] == ["bad", "insertion"]
    rows = [
        {"aligner": "lcs", "package": "sentgen"},
        {"aligner": "spelling", "package": "sentgen-example 0.1.0"},
    ]
    assert align._added(rows) == {"spelling": "spelling (sentgen-example 0.1.0)"}
