"""Keywords of 10M tokens, two threads, 1.5 GB, beside Polars: ``python benchmarks/keywords.py``.

Words, pairs of words and triples are those of 10M tokens of novels, in two corpora of one half each; lemmas and parts of
speech those of EWT against GUM (train), 26 copies of each, 10M tokens in all. The stores are made in `benchmarks/out` if
they are not there. Each case runs in a process of its own, start-up apart: seconds are the best of three in it, by the
clock and of the CPU (both threads together), memory is its peak, Python and its libraries included. Polars counts, joins
and measures (log-likelihood) the same items, of the tokens as it has them in Parquet, a row each.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import OUT, SENTGEN, data, measure, megabytes, novels, show

LIMIT, COPIES, TIMES = "1.5GB", 26, 3


@dataclass(frozen=True)
class Case:
    """A comparison, and the seconds that it may take."""

    name: str
    store: str
    wanted: float
    asked: dict[str, Any]
    peer: bool = True


CASES = (
    Case("words", "novels", 1, {}),
    Case("pairs of words", "novels", 1, {"n": 2}),
    Case(
        "pairs, case ignored, seen 5 times", "novels", 1, {"n": 2, "ignore_case": True, "min_count": 5}, False
    ),
    Case("triples of words", "novels", 3, {"n": 3}),
    Case("lemmas", "treebanks", 1, {"by": "lemma"}),
    Case("lemmas of nouns", "treebanks", 1, {"by": "lemma", "pos": "NOUN"}, False),
    Case("pairs of lemmas", "treebanks", 5, {"by": "lemma", "n": 2}),
)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, case in enumerate(CASES):
        path = OUT / f"keywords-{case.store}.duckdb"
        if not path.exists():
            _MAKE[case.store](path)
        if not parquet(path).exists():
            measure([SENTGEN, "sql", _TOKENS, "--parquet", str(parquet(path)), "--db", str(path)])
        for who in ("sentgen", "polars") if case.peer else ("sentgen",):
            used = measure([sys.executable, __file__, "--one", who, str(number), str(path)])
            told = json.loads(used.output.splitlines()[-1])
            times = (
                f"{told['wall']:.2f}",
                f"{told['cpu']:.2f}",
                f"{case.wanted:g}" if who == "sentgen" else "",
            )
            rows.append((case.name, who, told["first"], *times, megabytes(used.peak)))
    columns = ["case", "by", "first", "s", "CPU s", "wanted", "peak"]
    show(f"Keywords of 10M tokens, limit {LIMIT}", columns, rows)


def parquet(store: Path) -> Path:
    """Return the file of the tokens of a store."""
    return store.with_suffix(".parquet")


_TOKENS = """\
select c.name as corpus, t.sentence_id, t.position, w.form as word, l.form as lemma
from token as t
join corpus as c on c.id = t.corpus_id
join word as w on w.id = t.word_id
left join word as l on l.id = t.lemma_id
order by t.sentence_id, t.position"""


def make_novels(path: Path) -> None:
    """Ingest the first half of the novels as one corpus, and the other as another."""
    lines = novels(10_000_000).read_text("utf-8").splitlines(keepends=True)
    half = len(lines) // 2
    for name, part in (("here", lines[:half]), ("there", lines[half:])):
        file = OUT / f"keywords-{name}.txt"
        file.write_text("".join(part), "utf-8")
        measure([SENTGEN, "ingest", str(file), "--format", "lines", "--corpus", name, "--db", str(path)])
        file.unlink()


def make_treebanks(path: Path) -> None:
    """Ingest the treebanks, each copy as a document of its own."""
    for name, treebank in (("here", "ewt"), ("there", "gum")):
        text, copies = data(f"ud/en_{treebank}-ud-train.conllu").read_text("utf-8"), []
        for number in range(COPIES):
            copies.append(OUT / f"keywords-{name}-{number:02}.conllu")
            copies[-1].write_text(f"# newdoc id = {name}-{number}\n{text}", "utf-8")
        files = [str(one) for one in copies]
        measure([SENTGEN, "ingest", *files, "--corpus", name, "--db", str(path), "--memory-limit", "3GB"])
        for one in copies:
            one.unlink()


_MAKE = {"novels": make_novels, "treebanks": make_treebanks}


def by_sentgen(case: Case, path: Path, kept: ExitStack) -> Callable[[], str]:
    """Return what asks the store for the first twenty."""
    from sentgen.cli.console.options import StoreOptions
    from sentgen.lookups.statistics.frequencies import By
    from sentgen.lookups.statistics.keywords import Keywords

    asked = {**case.asked, "by": By(case.asked.get("by", "word"))}
    store = kept.enter_context(StoreOptions(db=path, memory_limit=LIMIT).store(read_only=True))
    connection = kept.enter_context(store.connect())

    def ask() -> str:
        found = Keywords(corpus=["here"], against=["there"], **asked).ask(connection).table
        return str(found[str(asked["by"])][0])

    return ask


def by_polars(case: Case, path: Path, _: ExitStack) -> Callable[[], str]:
    """Return what counts and measures the same with Polars, and takes the first twenty."""
    import polars as pl

    column, n = case.asked.get("by", "word"), case.asked.get("n", 1)
    keys = [f"w{i}" for i in range(n)]
    a, b = pl.col("a").fill_null(0), pl.col("b").fill_null(0)

    def ask() -> str:
        tokens = pl.scan_parquet(parquet(path)).select("corpus", "sentence_id", pl.col(column).alias("w0"))
        for i in range(1, n):
            tokens = tokens.with_columns(pl.col("w0").shift(-i).alias(f"w{i}"))
        if n > 1:
            tokens = tokens.filter(pl.col("sentence_id") == pl.col("sentence_id").shift(1 - n))
        sides = [
            tokens.filter(pl.col("corpus") == name).group_by(keys).agg(pl.len().cast(pl.Float64).alias(side))
            for name, side in (("here", "a"), ("there", "b"))
        ]
        one, other = pl.collect_all(sides)
        c, d = float(one["a"].sum()), float(other["b"].sum())
        both = one.join(other, on=keys, how="full", coalesce=True).with_columns(a=a, b=b)
        share = (pl.col("a") + pl.col("b")) / (c + d)
        parts = [
            pl.when(pl.col(side) > 0).then(pl.col(side) * (pl.col(side) / (size * share)).log()).otherwise(0)
            for side, size in (("a", c), ("b", d))
        ]
        sign = pl.when(pl.col("a") * d < pl.col("b") * c).then(-2).otherwise(2)
        first = both.with_columns(g2=sign * (parts[0] + parts[1])).top_k(20, by="g2")
        return " ".join(str(first.sort("g2")[key][-1]) for key in keys)

    return ask


def one(who: str, number: int, path: Path) -> None:
    """Ask one case, and print its time."""
    wall = cpu = float("inf")
    first = ""
    with ExitStack() as kept:
        ask = (by_sentgen if who == "sentgen" else by_polars)(CASES[number], path, kept)
        for _ in range(TIMES):
            began, used = time.monotonic(), time.process_time()
            first = ask()
            wall, cpu = min(wall, time.monotonic() - began), min(cpu, time.process_time() - used)
    print(json.dumps({"wall": wall, "cpu": cpu, "first": first}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    else:
        main()
