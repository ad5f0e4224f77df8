"""How much of the time of a command that writes others can read the store.

``python benchmarks/readers.py [TOKENS]`` ingests a treebank and novels, builds a model and evaluates it, and asks every
0.1 s whether a process of its own can open the store.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from harness import OUT, SENTGEN, data, fresh, novels, show

_OPEN = "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True).close()"
_PAUSE = 0.1


def main(tokens: int) -> None:
    store = fresh("readers")
    (OUT / "few.lines").write_text("a store that there is .\n", encoding="utf-8")
    subprocess.run(
        [SENTGEN, "ingest", str(OUT / "few.lines"), "--corpus", "few", "--db", str(store)], check=True
    )
    train, dev = (data(f"ud/en_ewt-ud-{part}.conllu") for part in ("train", "dev"))
    steps = {
        "ingest EWT (train)": ("ingest", str(train), "--corpus", "ewt"),
        f"ingest {tokens:,} tokens": ("ingest", str(novels(tokens)), "--corpus", "novels"),
        "models build, order 5": ("models", "build", "kn", "--corpus", "novels", "--order", "5"),
        "evaluate regeneration, lmo": (
            *("evaluate", "regeneration", "--model", "kn", "--test", str(dev), "-a", "lmo"),
        ),
    }
    rows = [(name, *watched([SENTGEN, *words, "--db", str(store)], store)) for name, words in steps.items()]
    show("Who reads while others write", ("command", "s", "of which locked, s", "longest, s"), rows)


def watched(command: list[str], store: Path) -> tuple[float, float, float]:
    """Run a command; return its seconds, those in which the store was locked, and the longest stretch of them."""
    began = time.monotonic()
    # As long as it takes: the reader holds the store now and then.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"SENTGEN_WAIT": "600"})
    locked, longest, since = 0.0, 0.0, None
    while process.poll() is None:
        opened = subprocess.run([sys.executable, "-c", _OPEN, str(store)], capture_output=True, check=False)
        now = time.monotonic()
        if opened.returncode and since is None:
            since = now
        elif not opened.returncode and since is not None:
            locked, longest, since = locked + now - since, max(longest, now - since), None
        time.sleep(_PAUSE)
    ended = time.monotonic()
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    if since is not None:
        locked, longest = locked + ended - since, max(longest, ended - since)
    return ended - began, locked, longest


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 10_000_000)
