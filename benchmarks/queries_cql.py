"""CQL on 10M tokens, two threads, 1.5 GB: ``python benchmarks/queries_cql.py``.

The store is EWT and GUM (train), ingested 26 times each as a corpus of 26 documents; `benchmarks/out/queries.duckdb`, which is
made if it is not there. Each case runs in a process of its own, start-up apart: seconds are the best of three in it, by
the clock and of the CPU (both threads together), memory is its peak, Python and its libraries included.

``--across`` asks the same within sentences and over their ends, in documents of 530 tokens on the average.

``--sorted`` asks for the first 20 lines of 200,000 hits in the order of several keys, beside the same unsorted.

``--regions`` asks the same with and without conditions on the paragraphs and speakers that the treebanks mark.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from harness import OUT, SENTGEN, data, measure, megabytes, show
from rich.markup import escape

STORE, LIMIT, COPIES, TIMES = "queries.duckdb", "1.5GB", 26, 3


@dataclass(frozen=True)
class Case:
    """A query, what is asked of it, and the seconds that it may take."""

    name: str
    query: str
    wanted: float
    asked: str = "count"
    sort: str = "none"


CQL_CASES = (
    Case("bounded", '[lemma="go" & upos="VERB"] []{0,3} "home"', 0.2),
    Case("bounded, 20 lines", '[lemma="go" & upos="VERB"] []{0,3} "home"', 0.2, "lines"),
    Case("selective repetition", '[upos="DET"] [upos="ADJ"]+ "house"', 0.5),
    Case("unselective repetition", '[upos="DET"] [upos="ADJ"]+ [upos="NOUN"]', 3),
    Case("unselective repetition, 20 lines", '[upos="DET"] [upos="ADJ"]+ [upos="NOUN"]', 3, "lines"),
    Case("unselective repetition, sorted", '[upos="DET"] [upos="ADJ"]+ [upos="NOUN"]', 10, "lines", "left"),
    Case("groups", '[upos="ADP"] [upos="DET"]? ([upos="ADV"]? [upos="ADJ"])* [upos="NOUN"]+', 3),
    Case("labels", 'a:[] "and" b:[] :: a.lemma = b.lemma', 3),
    Case("nested unbounded repetition", '[upos="DET"] []* [upos="NOUN"]', 3),
    Case("anything", "[]{1,3}", 3),
    Case("feature", '[Number != "Sing" & upos="NOUN"]', 3),
    Case("frequencies", 'a:[upos="ADJ"] [upos="NOUN"]', 3, "frequencies"),
    Case("frequencies, unselective", 'a:[upos="DET"] []* [upos="NOUN"]', 5, "frequencies"),
    Case("collocations", '[upos="DET"] [upos="ADJ"]+ [upos="NOUN"]', 3, "collocations"),
)

ADJECTIVES = '[upos="DET"] [upos="ADJ"]+ [upos="NOUN"]'
#: A query without a condition on regions, and with one.
PAIRS = (
    ('"the"', '"the" within <p/>'),
    ('"the"', '"the" within <speaker name="A.*"/>'),
    ('"the"', '"the" :: match.speaker_name = "A.*"'),
    ('"the"', '"the" expand to p'),
    ('<s/> containing "the"', '<p/> containing "the"'),
    ('<s> [upos="DET"]', '<p> [upos="DET"]'),
    ('[upos="NOUN"] </s>', '[upos="NOUN"] </p>'),
    (ADJECTIVES, f"{ADJECTIVES} within <p/>"),
    (ADJECTIVES, f'{ADJECTIVES} within <speaker name="A.*"/>'),
    (ADJECTIVES, f'{ADJECTIVES} :: match.speaker_name = "A.*"'),
    (ADJECTIVES, '[upos="DET"] <p>? [upos="ADJ"]+ [upos="NOUN"]'),
    ("[]{1,3}", "[]{1,3} within <p/>"),
)
REGION_CASES = tuple(Case("regions", query, 0) for pair in PAIRS for query in pair)
CASES = (*CQL_CASES, *REGION_CASES)
#: Beside the others, what is asked over the ends of sentences.
ACROSS_CASES = (
    *CQL_CASES,
    Case("over an end", '"\\." "However"', 0),
    Case("within s", f"{ADJECTIVES} within s", 0),
)
CASES += ACROSS_CASES
SORTED_CASES = tuple(
    Case("sorted", '[lemma="of"]', 2, "lines", sort)
    for sort in ("none", "2L", "1L%c,2L%c,3L%c", "node,1R,2R", "document,-1L", "left")
)
CASES += SORTED_CASES


def main() -> None:
    path = OUT / STORE
    if not path.exists():
        make(path)
    if "--regions" in sys.argv:
        compare(path)
        return
    if "--across" in sys.argv:
        over_ends(path)
        return
    if "--sorted" in sys.argv:
        in_order(path)
        return
    rows = []
    for number, case in enumerate(CQL_CASES):
        used = measure([sys.executable, __file__, "--one", str(number), str(path)])
        told = json.loads(used.output.splitlines()[-1])
        times = f"{told['wall']:.2f}", f"{told['cpu']:.2f}", f"{case.wanted:g}"
        rows.append((case.name, escape(case.query), f"{told['hits']:,}", *times, megabytes(used.peak)))
    columns = ["case", "query", "hits", "s", "CPU s", "wanted", "peak"]
    show(f"CQL on 10M tokens, limit {LIMIT}", columns, rows)


def compare(path: Path) -> None:
    """Ask queries with and without conditions on regions."""
    rows = []
    for number in range(len(CQL_CASES), len(CQL_CASES) + len(REGION_CASES), 2):
        runs = [measure([sys.executable, __file__, "--one", str(number + i), str(path)]) for i in (0, 1)]
        without, told = (json.loads(run.output.splitlines()[-1]) for run in runs)
        rows.append(
            (
                *(escape(CASES[number + i].query) for i in (0, 1)),
                f"{told['hits']:,}",
                *(f"{one['cpu']:.2f}" for one in (without, told)),
                f"{told['cpu'] / without['cpu']:.1f}",
                megabytes(runs[1].peak),
            )
        )
    columns = ["query", "with regions", "hits", "CPU s without", "CPU s with", "times", "peak"]
    show(f"Conditions on regions of 10M tokens, limit {LIMIT}", columns, rows)


def over_ends(path: Path) -> None:
    """Ask queries within sentences, and over their ends."""
    rows = []
    for number, case in enumerate(ACROSS_CASES, len(CASES) - len(ACROSS_CASES)):
        asked = [sys.executable, __file__, "--one", str(number), str(path)]
        runs = [measure(asked), measure([*asked, "--across"])]
        without, told = (json.loads(run.output.splitlines()[-1]) for run in runs)
        rows.append(
            (
                case.name,
                escape(case.query),
                *(f"{one['hits']:,}" for one in (without, told)),
                *(f"{one['wall']:.2f}" for one in (without, told)),
                f"{told['wall'] / without['wall']:.1f}",
                megabytes(runs[1].peak),
            )
        )
    columns = ["case", "query", "hits", "across", "s", "s across", "times", "peak"]
    show(f"Over the ends of sentences of 10M tokens, limit {LIMIT}", columns, rows)


def in_order(path: Path) -> None:
    """Ask for lines in several orders; the first case is unsorted."""
    rows, unsorted = [], 0.0
    for number, case in enumerate(SORTED_CASES, len(CASES) - len(SORTED_CASES)):
        run = measure([sys.executable, __file__, "--one", str(number), str(path)])
        told = json.loads(run.output.splitlines()[-1])
        unsorted = unsorted or told["wall"]
        times = f"{told['wall']:.2f}", f"{told['wall'] / unsorted:.1f}", f"{case.wanted:g}"
        rows.append((case.sort, f"{told['hits']:,}", *times, megabytes(run.peak)))
    columns = ["sort", "hits", "s", "times unsorted", "wanted", "peak"]
    show(f"Sorted lines of 10M tokens, limit {LIMIT}", columns, rows)


def make(path: Path) -> None:
    """Ingest the treebanks, each copy as a document of its own."""
    OUT.mkdir(parents=True, exist_ok=True)
    text = "".join(data(f"ud/en_{name}-ud-train.conllu").read_text("utf-8") for name in ("ewt", "gum"))
    copies = []
    for number in range(COPIES):
        # Else they would be one source, ingested once.
        copies.append(OUT / f"queries-{number:02}.conllu")
        copies[-1].write_text(f"# newdoc id = copy-{number}\n{text}", "utf-8")
    files = [str(one) for one in copies]
    measure([SENTGEN, "ingest", *files, "--corpus", "ud", "--db", str(path), "--memory-limit", "3GB"])
    for one in copies:
        one.unlink()


def one(number: int, path: Path, *, across: bool) -> None:
    """Ask one case, and print its time."""
    import time

    from sentgen.cli.console.options import StoreOptions
    from sentgen.lookups.concordances.concordance import Kwic
    from sentgen.lookups.statistics.collocations import Collocations
    from sentgen.lookups.statistics.frequencies import Frequencies

    case = CASES[number]
    wall = cpu = float("inf")
    hits = 0
    with (
        StoreOptions(db=path, memory_limit=LIMIT).store(read_only=True) as store,
        store.connect() as connection,
    ):
        for _ in range(TIMES):
            began, used = time.monotonic(), time.process_time()
            if case.asked == "frequencies":
                hits = (
                    Frequencies(query=case.query, by=["a.lemma"], across=across)
                    .ask(connection)
                    .table.num_rows
                )
            elif case.asked == "collocations":
                hits = Collocations(cql=case.query, across=across).ask(connection).table.num_rows
            elif case.asked == "count":
                hits = Kwic(cql=case.query, count=True, across=across).ask(connection).total or 0
            else:
                hits = Kwic(cql=case.query, sort=case.sort, across=across).ask(connection).total or 0
            wall, cpu = min(wall, time.monotonic() - began), min(cpu, time.process_time() - used)
    print(json.dumps({"wall": wall, "cpu": cpu, "hits": hits}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), Path(sys.argv[3]), across="--across" in sys.argv)
    else:
        main()
