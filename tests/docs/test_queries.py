"""Every query on the pages needs little memory; benchmarks/documented_queries.py measures a large store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import doc_pages
import duckdb
import pytest
from large_texts import write_treebank

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import QueryRejected
from sentgen.schema import Store, readonly
from sentgen.schema.store import raw

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*(ROOT / "docs").glob("*.md"), ROOT / "README.md"})
QUERIES = sorted({query for page in PAGES for query in doc_pages.queries(page.read_text("utf-8"))})
#: What DuckDB may use, for a store of this size; with 600 MB, the share of 1 GB, for eighty times as much.
LIMIT = 24 * 2**20
TOO_MUCH = (
    "select source, target, prob from v_rewrites where source <> target order by prob desc limit 20",
    "select w1, w2, w3, count from v_ngrams_3 order by count desc, w1, w2, w3 limit 5",
    "select head, modifier, sum(count) as count from v_dependencies group by all order by count desc limit 5",
)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A store with random trees, in which a tenth of the words is *the* and another *said*, with rewrites and weights."""
    folder = tmp_path_factory.mktemp("queries")
    trees = write_treebank(folder / "trees.conllu", 9_000)
    some = re.sub(r"\tw[12]\d{3}\t", "\tthe\t", trees.read_text())
    trees.write_text(re.sub(r"\tw[34]\d{3}\t", "\tsaid\t", some))
    with Store(folder / "s.duckdb", create=True) as store:
        ingest(store, [str(trees)], Settings("trees"))
        with store.begin() as connection:
            duck = raw(connection)
            duck.execute(
                "insert into alignment_model values (1, 'papers', 1, 'p', 1, '', '{}', 2, '0', now())"
            )
            duck.execute("insert into alignment_model values (2, 'news', 0, 'g', 1, '', '{}', 1, '0', now())")
            duck.execute(
                "insert into alignment_weight select 2, 'forward', 'words', 'value ' || range, range / 100 "
                "from range(430)"
            )
            duck.execute(
                "insert into alignment_phrase select 1, 'words', range, 'phrase number ' || range from range(200000)"
            )
            duck.execute(
                "insert into alignment_rewrite select 1, false, false, 2, hash(range) % 200000 as s, "
                "hash(range + 1) % 200000 as t, 1, hash(range + 2) % 1000 / 1000 from range(200000) order by s, t"
            )
    duck = readonly.open_locked(folder / "s.duckdb", memory_limit=LIMIT, threads=1)
    yield duck
    duck.close()


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_a_query_on_a_page_needs_little_memory(locked: duckdb.DuckDBPyConnection, query: str) -> None:
    """Each query runs within the limit, and finds rows if this store has the data."""
    if "delete" in query:
        return

    found = readonly.ask(locked, query, None, max_rows=20)

    assert found.table.num_rows or not re.search(r"v_ngrams|v_sentences|alignment_", query)


@pytest.mark.parametrize("query", TOO_MUCH)
def test_the_limit_bites(locked: duckdb.DuckDBPyConnection, query: str) -> None:
    """Queries that join or sum up all rows before they take the first ones exceed the limit."""
    with pytest.raises(QueryRejected, match="too much memory"):
        readonly.ask(locked, query, None, max_rows=20)
