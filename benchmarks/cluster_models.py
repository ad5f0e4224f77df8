"""A Kneser-Ney model of N tokens built in a lake by two workers, against `models build` in the same run."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import duckdb
from cluster import LIMIT, WORKERS, bytes_of, together
from harness import OUT, SENTGEN, fresh, megabytes, novels, resampled, show

ORDER = 5
_NOVELS = 10_000_000


def main(tokens: int) -> None:
    text = novels(tokens) if tokens <= _NOVELS else resampled(tokens)
    store, lake = fresh("cluster-models"), OUT / "cluster-models.lake"
    shutil.rmtree(lake, ignore_errors=True)
    options = ["--memory-limit", LIMIT, "--corpus", "c"]
    together(
        [SENTGEN, "ingest", str(text), "--db", str(store), "--format", "lines", *options], OUT / "nothing"
    )
    here = ["--local", str(WORKERS)]
    together(
        [SENTGEN, "cluster", "count", str(text), "--to", str(lake), "--format", "lines", *here, *options],
        OUT / "nothing",
    )
    model = ["m", "--order", str(ORDER)]
    before = store.stat().st_size, bytes_of(lake)
    embedded = together([SENTGEN, "models", "build", *model, "--db", str(store), *options], OUT / "nothing")
    built = together([SENTGEN, "cluster", "models", *model, "--in", str(lake), *here, *options], lake)
    # Grown by what the model takes.
    sizes = store.stat().st_size - before[0], bytes_of(lake) - before[1]
    rows: list[tuple[object, ...]] = [
        ("models build", embedded.cpu, embedded.wall, megabytes(embedded.peak), megabytes(sizes[0]), ""),
        (
            f"cluster models, {WORKERS} workers",
            built.cpu,
            built.wall,
            megabytes(built.peak),
            megabytes(sizes[1]),
            f"{built.cpu / embedded.cpu:.2f}",
        ),
    ]
    for stage, seconds in re.findall(r"^  (\w+) +([\d.]+)$", built.output, re.MULTILINE):
        rows.append((f"  {stage}", "", float(seconds), "", "", ""))
    show(
        f"A Kneser-Ney model of order {ORDER} of {tokens:,} tokens, limit {LIMIT} each",
        ("what", "CPU s", "wall s", "peak MB together", "MB on disk", "CPU ratio"),
        rows,
    )
    ngrams, most = _compared(store, lake)
    print(
        f"n-grams: {ngrams:,}; greatest difference of log10 of probabilities and back-off weights: {most:.3g}"
    )
    between = built.files - before[1] - sizes[1]
    print(f"bytes an n-gram: between {between / ngrams:.0f}, lake {sizes[1] / ngrams:.0f}")
    print(f"load when it ended: {os.getloadavg()[0]:.1f}")


def _compared(store: Path, lake: Path) -> tuple[int, float]:
    """Return the n-grams, which have to be the same, by their words; and how far their logarithms are apart."""
    words = [f"w{i}" for i in range(1, 6)]
    there = f"read_parquet('{lake}/model_ngram/*.parquet')"
    numbers = ", ".join(f"m{i}.id as {word}" for i, word in enumerate(words))
    joins = " ".join(f"left join number m{i} on m{i}.there = g.{word}" for i, word in enumerate(words))
    same = " and ".join(f"s.{word} is not distinct from t.{word}" for word in words)
    with duckdb.connect() as duck:
        duck.execute("set memory_limit = '2GB'")
        duck.execute(f"set temp_directory = '{OUT / 'compared'}'")
        duck.execute(f"attach '{store}' as store (read_only)")
        duck.execute(
            "create temp table number as select w.id, l.id as there from store.word w "
            f"join read_parquet('{lake}/word/*.parquet') l using (form)"
        )
        found = duck.execute(
            f"""
            select count(*), count(s.logp), count(t.logp),
                max(greatest(abs(s.logp - t.logp), abs(s.backoff - t.backoff))) / ln(10)
            from store.model_ngram s
            full join (select {numbers}, g.logp, g.backoff from {there} g {joins}) t on {same}
            """
        ).fetchone()
    assert found is not None
    every, stored, built, most = found
    if not every == stored == built:
        sys.exit(f"{stored:,} n-grams in the store, {built:,} in the lake, {every:,} different ones")
    return int(every), float(most)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
