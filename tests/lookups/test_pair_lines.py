"""A count has as many concordance lines as it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.lookups.dependency_search import Dependencies, Layer
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.schema import Store

WORDS = ("camp", "arrived", "the", "people", "water")


@pytest.fixture(scope="module", params=["xpos", "upos"])
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The demo treebank, with dependencies counted by tags of either kind."""
    path = tmp_path_factory.mktemp("pairs") / "demo.duckdb"
    with Store(path, create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief", tags=request.param))
    with Store(path, read_only=True) as store, store.connect() as connection:
        yield connection


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("layer", Layer)
@pytest.mark.parametrize("ignore_case", [False, True])
def test_the_lines_of_a_dependency_are_as_many_as_it_is_counted(
    layer: Layer, ignore_case: bool, word: str, demo: Connection
) -> None:
    """The lines are as many for each modifier of a word with its tag and side, and for each of its heads."""
    events = Dependencies(head=word, layer=layer, ignore_case=ignore_case, limit=0).ask(demo)
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in events.table.to_pylist():
        counts[row["modifier"], row["modifier_tag"], row["direction"]] += row["count"]
    for (modifier, tag, direction), count in [*counts.items()][:8]:
        answer = PairLines(
            word=word,
            other=modifier.replace("*", r"\*"),
            role="modifier",
            tag=tag,
            direction="left" if direction == "left" else "right",
            layer=layer,
            ignore_case=ignore_case,
            limit=0,
        ).ask(demo)
        first, last = (modifier, word) if direction == "left" else (word, modifier)
        nodes = [node.lower() for node in answer.table["node"].to_pylist()]

        assert len(nodes) == count
        assert all(node.startswith(first.lower()) and node.endswith(last.lower()) for node in nodes)
    # Articles have no modifiers.
    assert counts or word == "the"


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("window", ["5,5", "2,1"])
def test_the_lines_of_a_collocate_are_as_many_as_it_is_counted(
    window: str, ignore_case: bool, word: str, demo: Connection
) -> None:
    """A collocate within reach of two nodes is one line, that of the nearer one."""
    asked = Collocations(
        word=word,
        window=window,
        min_count=1,
        ignore_case=ignore_case,
        limit=6,
    )
    for row in asked.ask(demo).table.to_pylist():
        other = row["collocate"].replace("*", r"\*")
        answer = PairLines(
            word=word, other=other, role="collocate", window=window, ignore_case=ignore_case, limit=0
        ).ask(demo)

        assert answer.rows.num_rows == row["count"] > 0


def test_lines_are_cut_and_say_so(demo: Connection) -> None:
    """The limit holds, and an empty answer names both words."""
    some = PairLines(word="the", other="of", role="collocate", limit=2).ask(demo)
    none = PairLines(word="the", other="zebra", role="collocate", limit=2).ask(demo)

    assert (some.rows.num_rows, some.truncated) == (2, True)
    assert none.notes == ["no line with 'the' and 'zebra'"]
