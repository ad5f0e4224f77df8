"""What pruning by relative entropy costs: n-grams and perplexity of Kneser-Ney and Katz models, by threshold.

    python benchmarks/pruning.py [TOKENS]

Models of order 4 of the train parts of EWT and GUM, asked about the dev parts; and of TOKENS tokens of novels,
asked about the next tenth as many. Beside them what `--min-count 1,1,2` leaves; and of the Kneser-Ney models of EWT
and GUM, how long plain Python takes for the same (`plain_models.py`).
"""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import plain_models
from harness import data, novels, show

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models import build, find
from sentgen.models.prune import PruneRequest
from sentgen.models.scoring import Totals, score_sentences
from sentgen.models.stored_text import held_out
from sentgen.schema import Store

THRESHOLDS = (1e-9, 1e-8, 1e-7, 1e-6)
#: At which plain Python is measured.
_PEER = 1e-7


def main(tokens: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, train, dev in texts(Path(folder), tokens):
            with Store(Path(folder) / f"{name}.duckdb", create=True) as store:
                ingest(store, [train], Settings(name, format=form(train)))
                rows = [
                    row for smoothing in ("kneser-ney", "katz") for row in pruned(store, name, smoothing, dev)
                ]
                show(
                    f"{name}, order 4", ("smoothing", "kept", "n-grams", "share", "perplexity", "CPU s"), rows
                )
                if form(train) != "lines":
                    print(f"plain Python takes {peer(store)} times the CPU time of --entropy {_PEER:.0e}")


def peer(store: Store) -> str:
    """Return the ratio of plain Python to `models prune`."""
    grams = plain_models.read(store, find(store, "kneser-ney"))
    return plain_models.ratio(
        lambda: PruneRequest(name="small", of="kneser-ney", entropy=_PEER).make(store),
        lambda: plain_models.prune(grams, _PEER),
        store,
    )


def texts(folder: Path, tokens: int) -> list[tuple[str, str, str]]:
    """Return name, train part and dev part of each text."""
    found = [
        (name.upper(), str(data(f"ud/en_{name}-ud-train.conllu")), str(data(f"ud/en_{name}-ud-dev.conllu")))
        for name in ("ewt", "gum")
    ]
    more = novels(tokens + tokens // 10)
    lines = more.read_text("utf-8").splitlines(keepends=True)
    size = len(lines) * 10 // 11
    for part, some in (("train", lines[:size]), ("dev", lines[size:])):
        (folder / f"novels-{part}.lines").write_text("".join(some), "utf-8")
    return [*found, ("novels", str(folder / "novels-train.lines"), str(folder / "novels-dev.lines"))]


def form(path: str) -> str:
    return "lines" if path.endswith(".lines") else "conllu"


def pruned(store: Store, name: str, smoothing: str, dev: str) -> list[tuple[object, ...]]:
    """Return a row for the whole model, and one for each smaller one."""
    build(store, smoothing, [name], order=4, smoothing=smoothing)
    whole, rows = 0, list[tuple[object, ...]]()
    small = partial(PruneRequest, name="small", of=smoothing)
    for kept, request in (
        ("all", None),
        ("--min-count 1,1,2", small(min_count="1,1,2")),
        *((f"--entropy {share:.0e}", small(entropy=share)) for share in THRESHOLDS),
    ):
        started = time.process_time()
        model = find(store, smoothing)
        if request:
            model = request.make(store)
        took = time.process_time() - started
        size = sum(model.count_ngrams(store).values())
        whole = whole or size
        totals = Totals()
        for score in score_sentences(
            store, model, held_out(store, [model], file=dev, corpus=None, form=form(dev))
        ):
            totals.add(score)
        rows.append(
            (smoothing, kept, f"{size:,}", f"{size / whole:.0%}", f"{totals.perplexity:.1f}", f"{took:.1f}")
        )
        print(*rows[-1], file=sys.stderr)
    return rows


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
