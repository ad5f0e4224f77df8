"""Sentence co-occurrence: a stored table of all pairs against deriving them from postings when asked.

``python benchmarks/cooccurrence.py [CONLLU]``: ingests the treebank (EWT train if not given), builds the pair table
of the word layer beside the postings, and asks both for the pairs among the words of 100 sentences.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from harness import SENTGEN, data, fresh, measure, megabytes, show

from sentgen.schema import Store
from sentgen.schema.store import raw

_PAIRS = """
create table pair as
select a.word_id as a_word, a.tag_id as a_tag, b.word_id as b_word, b.tag_id as b_tag,
    sum(a.count * b.count - if(a.word_id = b.word_id and a.tag_id = b.tag_id, a.count, 0))::bigint as count
from posting a
join posting b on b.sentence_id = a.sentence_id and b.layer = a.layer
where a.layer = 'word'
group by all
having sum(a.count * b.count) > 0
order by all
"""
_FROM_PAIRS = """
select a_word, b_word, sum(count) from pair
where a_word in (select unnest($words)) and b_word in (select unnest($words))
group by all
"""
_FROM_POSTINGS = """
with mine as (
    select word_id, sentence_id, sum(count) as count from posting
    where layer = 'word' and word_id in (select unnest($words))
    group by all
)
select a.word_id, b.word_id, sum(a.count * b.count) from mine a join mine b using (sentence_id) group by all
"""


def main(path: str) -> None:
    store_path = fresh("cooccurrence")
    measure([SENTGEN, "ingest", path, "--corpus", "c", "--db", str(store_path)])
    before = store_path.stat().st_size
    with Store(store_path) as store, store.begin() as connection:
        duck = raw(connection)
        began = time.process_time()
        duck.execute(_PAIRS)
        built = time.process_time() - began
        sizes = [
            duck.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("token", "posting", "pair")
        ]
        bags = duck.execute(
            "select list(distinct word_id) from token where sentence_id <= 100 group by sentence_id order by sentence_id"
        ).fetchall()
        times = {name: [] for name in ("pairs", "postings")}
        for (words,) in bags:
            for name, query in (("pairs", _FROM_PAIRS), ("postings", _FROM_POSTINGS)):
                began = time.perf_counter()
                duck.execute(query, {"words": words}).fetchall()
                times[name].append((time.perf_counter() - began) * 1000)
    after = store_path.stat().st_size
    show(
        f"Co-occurrence, {sizes[0]:,} tokens",
        ("way", "rows", "rows a token", "CPU s to build", "MB", "median ms a bag"),
        [
            (
                "postings, both layers",
                sizes[1],
                sizes[1] / sizes[0],
                "in ingest",
                "",
                float(np.median(times["postings"])),
            ),
            (
                "stored pairs, word layer",
                sizes[2],
                sizes[2] / sizes[0],
                built,
                megabytes(after - before),
                float(np.median(times["pairs"])),
            ),
        ],
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(data("ud/en_ewt-ud-train.conllu")))
