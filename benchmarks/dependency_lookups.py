"""Look-ups of the dependency model in treebanks of some sizes: one bag of 25 units, a hundred bags, and reasons.

``python benchmarks/dependency_lookups.py [--tokens 205000,3300000] [--limits 256,1024] [--same] [--kept]``: the
treebanks are those of `harness.large_treebank`, with the same words if so asked, the bags are 25 units of EWT dev
each, the limits megabytes for the store. With --kept a store made before is asked again. What is asked is what
`joint` asks, with distances; reasons are those of 24 attachments.

* start: imports and opening the store
* first: one bag, and the machine code is loaded
* cold: a store opened anew
* again, other: the same once more, and other words

All of that is one process for each size and limit. The peer is a plain walk over the sentences in numpy, which holds
all trees in memory, at the smallest size and over words; it must find the same probabilities.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from harness import OUT, SENTGEN, data, fresh, large_treebank, measure, megabytes, own_usage, show
from plain_trees import Floats, PlainTrees

from sentgen.corpus.base_np import mark_base_nps
from sentgen.counts import corpora
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.generation import units_of
from sentgen.models.dependency.dependencies import (
    RIGHT,
    Attachment,
    TaggedWord,
    UnitDependencies,
    explain_attachments,
    prefetch_dependencies,
)
from sentgen.models.dependency.tree_counts import Layer
from sentgen.schema import Store

SIZE, BATCH = 25, 100
#: Processes of which the fastest counts; one more before them, which compiles.
ROUNDS = 3
CORPUS = "trees"
#: What the processes ask, so that they need not read a treebank.
BAGS = OUT / "lookups-bags.json"
Bags = list[list[TaggedWord]]


def main(sizes: list[int], limits: list[int], *, renamed: bool, kept: bool) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    BAGS.write_text(json.dumps(bags_of("unit")[: 3 * BATCH]), "utf-8")
    columns: dict[str, dict[str, float]] = {}
    for size in sorted(sizes):
        treebank = large_treebank(size, renamed=renamed)
        store = _store_of(treebank)
        if not (kept and store.exists()):
            _ingest(treebank, fresh(store.stem))
        for limit in limits:
            found = [_process(store, limit) for _ in range(ROUNDS + 1)][1:]
            figures = {name: min(one[name] for one in found) for name in found[0]}
            columns[f"{size:,}, {limit:,} MB"] = figures
    first = next(iter(columns.values()))
    table = [(name, *(figures[name] for figures in columns.values())) for name in first]
    title = f"Dependencies of units, words {'renamed' if renamed else 'the same'}: CPU ms, or peak MB"
    show(title, (f"a bag is {SIZE} units", *columns), table)
    _beside_peer(large_treebank(min(sizes), renamed=renamed))


def _ingest(treebank: Path, store: Path) -> None:
    """Ingest a treebank, and beside it its words alone, which is the peer."""
    lines = treebank.with_suffix(".lines")
    with treebank.open(encoding="utf-8") as rows, lines.open("w", encoding="utf-8") as out:
        out.writelines("\n" if row == "\n" else row.split("\t", 2)[1].replace(" ", "_") + " " for row in rows)
    found: list[tuple[float, ...]] = []
    for source, into in ((lines, fresh("lookups-lines")), (treebank, store)):
        used = measure([SENTGEN, "ingest", str(source), "--corpus", CORPUS, "--db", str(into)])
        found.append((used.cpu, float(megabytes(used.peak)), into.stat().st_size / 2**20))
    table = [
        ("words alone", *found[0]),
        ("trees", *found[1]),
        ("ratio", *(trees / words for words, trees in zip(*found, strict=True))),
    ]
    show(f"ingestion of {treebank.name}", ("", "CPU s", "peak MB", "store MB"), table)
    lines.unlink()


def _process(store: Path, limit: int) -> dict[str, float]:
    """Ask a store in a new process."""
    command = [sys.executable, __file__, "--ask", str(store), "--limits", str(limit)]
    figures: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return figures


def ask(path: Path, limit: int) -> dict[str, float]:
    """Return CPU milliseconds, and the peak memory after some of them."""
    bags = [[(word, tag) for word, tag in bag] for bag in json.loads(BAGS.read_text("utf-8"))]
    with _opened(path, limit) as store:
        figures = {"start": own_usage()[0] * 1000, "start, peak": _peak()}
        figures["one bag, first"] = _took(_look_up, store, "unit", bags[:1])
    with _opened(path, limit) as store:
        figures |= _thrice("one bag", store, bags, 1)
    with _opened(path, limit) as store:
        figures |= _thrice(f"{BATCH} bags", store, bags[BATCH:], BATCH)
    edges = [Attachment(head, modifier, RIGHT) for head, modifier in pairwise(bags[0])]
    with _opened(path, limit) as store:
        for turn in ("cold", "again"):
            figures[f"reasons, {turn}"] = _took(explain_attachments, store, _corpora(store), "unit", edges)
    return {**figures, "reasons, peak": _peak()}


def _thrice(name: str, store: Store, bags: Bags, size: int) -> dict[str, float]:
    """Ask for some bags, for the same ones again, and for others."""
    turns = {"cold": bags[:size], "again": bags[:size], "other": bags[size : 2 * size]}
    figures = {f"{name}, {turn}": _took(_look_up, store, "unit", asked) for turn, asked in turns.items()}
    return {**figures, f"{name}, peak": _peak()}


def _look_up(store: Store, layer: Layer, bags: Bags) -> list[UnitDependencies]:
    return prefetch_dependencies(store, _corpora(store), layer, bags, distances=layer == "unit")


def _opened(path: Path, limit: int) -> Store:
    return Store(path, read_only=True, memory_limit=limit * 2**20)


def _corpora(store: Store) -> list[int]:
    with store.connect() as connection:
        return [int(corpora.find(connection, CORPUS).id)]


def _took(call: Callable[..., object], *arguments: object) -> float:
    before = time.process_time()
    call(*arguments)
    return (time.process_time() - before) * 1000


def _peak() -> float:
    """Return the peak memory of this program in megabytes; getrusage takes that of its parent for its own."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def bags_of(layer: Layer) -> Bags:
    """Cut the words or the units of EWT dev into bags."""
    units: list[TaggedWord] = []
    for sentence in read_test_set(str(data("ud/en_ewt-ud-dev.conllu"))):
        mark_base_nps(sentence)
        if layer == "word":
            units += zip(sentence.forms, sentence.xpos or [], strict=True)
        else:
            units += [(unit.head, unit.head_tag) for unit in units_of(sentence)]
    return [units[start : start + SIZE] for start in range(0, len(units) - SIZE, SIZE)]


def _store_of(treebank: Path) -> Path:
    return OUT / f"lookups-{treebank.stem}.duckdb"


def _beside_peer(treebank: Path) -> None:
    """Compare with the plain walk over words, in this process, and find the same."""
    before = time.process_time()
    trees = PlainTrees(treebank)
    table: list[tuple[object, ...]] = [("reading", (time.process_time() - before) * 1000, "", "")]
    words = bags_of("word")
    with _opened(_store_of(treebank), 1024) as store:
        _look_up(store, "word", words[-1:])  # compiles
        for name, bags in ((f"{BATCH} bags", words[:BATCH]), ("one bag", words[BATCH : BATCH + 1])):
            peer: list[Floats] = []
            walk = _took(peer.extend, map(trees.probabilities, bags))
            ours = _look_up(store, "word", bags)
            assert all(
                np.allclose(one.prob, other, rtol=1e-12) for one, other in zip(ours, peer, strict=True)
            )
            took = _took(_look_up, store, "word", bags)
            table.append((name, walk, took, took / walk))
    columns = ("the same probabilities, CPU ms", "plain walk", "sentgen, again", "ratio")
    show(f"the peer, {treebank.name}", columns, table)


def _list(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--tokens", type=_list, default="205000,3300000", help="sizes of the treebanks")
    options.add_argument("--limits", type=_list, default="256,1024", help="memory limits in megabytes")
    options.add_argument("--same", action="store_true", help="the same words again and again")
    options.add_argument("--kept", action="store_true", help="ask the stores made before")
    options.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.ask:
        print(json.dumps(ask(chosen.ask, chosen.limits[0])))
    else:
        main(chosen.tokens, chosen.limits, renamed=not chosen.same, kept=chosen.kept)
