"""Every SQL query that the pages print, on a store of 10M tokens and one of 3M rewrites, within 1 GB.

``python benchmarks/documented_queries.py``: texts are made up (`durability/texts.py`), with random trees, so that
nearly every trigram and every dependency is another one; *the* and *said* become the most frequent of their words.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import duckdb
from durability.texts import Texts
from harness import OUT, ROOT, SENTGEN, measure, megabytes, show

from sentgen.schema import Store

sys.path.append(str(ROOT / "tests" / "docs"))
import doc_pages

LIMIT = "1GB"
TOKENS = 10_000_000
REWRITES, PHRASES = 3_000_000, 2_000_000


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    treebank, rewrites = OUT / "documented-trees.duckdb", OUT / "documented-rewrites.duckdb"
    if not treebank.exists():
        make_treebank(treebank)
    if not rewrites.exists():
        make_rewrites(rewrites)
    rows = []
    for page in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"):
        for query in doc_pages.queries(page.read_text("utf-8")):
            store = rewrites if "rewrite" in query else treebank
            file = OUT / "query.sql"
            file.write_text(re.sub(r"'(the|said)'", "'ba'", query))
            command = [SENTGEN, "sql", "--file", str(file), "--db", str(store), "--memory-limit", LIMIT]
            used = measure(command)
            first = " ".join(query.split())[:60]
            rows.append((page.name, first, f"{used.cpu:.2f}", megabytes(used.peak)))
    show(f"Documented queries, limit {LIMIT}", ["page", "query", "CPU s", "peak"], rows)


def make_treebank(path: Path) -> None:
    """Ingest trees."""
    trees = Texts("documented").trees(OUT / "documented.conllu", TOKENS)
    measure([SENTGEN, "ingest", str(trees), "--corpus", "big", "--db", str(path), "--memory-limit", "2GB"])


def make_rewrites(path: Path) -> None:
    """Write the tables of an aligner."""
    Store(path, create=True).close()
    with duckdb.connect(str(path)) as duck:
        duck.execute("insert into alignment_model values (1, 'papers', 1, 'p', 1, '', '{}', 2, '0', now())")
        duck.execute(
            "insert into alignment_phrase select 1, 'words', range, 'some phrase of number ' || range from range(?)",
            [PHRASES],
        )
        duck.execute(
            f"""
            insert into alignment_rewrite
            select 1, false, false, 2, hash(range) % {PHRASES} as s, hash(range + 1) % {PHRASES} as t, 1,
                hash(range + 2) % 1000 / 1000
            from range(?)
            order by s, t
            """,
            [REWRITES],
        )


if __name__ == "__main__":
    main()
