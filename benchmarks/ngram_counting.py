"""(a) Count the n-grams of orders 1 to 5 of 10M tokens into a store, against KenLM's lmplz on the same text.

lmplz counts, smooths and throws its ARPA file away here. sentgen keeps the counts in the database; `ingest` also
stores every sentence and token there, which lmplz has no part in, so that a second row leaves the text out.
Each runs as a whole process, turn by turn; ratios are taken round by round.
"""

from __future__ import annotations

import statistics
import sys

from harness import OUT, SENTGEN, fresh, lmplz, measure, megabytes, novels, show

ROUNDS = 3
LIMIT = "2GB"


#: `sentgen ingest` as it is, but for the tables that hold the text. Run with -P, so that it is the sentgen that is
#: installed, as in the first row, and not the checkout that this happens to be started in.
_COUNTS_ONLY = """
import sys
from sentgen.counts import writer
store_all = writer.append
writer.append = lambda connection, table, rows: table in ("token", "sentence") or store_all(connection, table, rows)
from sentgen.cli import main
main()
"""


def main(tokens: int) -> None:
    text = novels(tokens)
    rival = lmplz()
    warm_up = OUT / "warm-up.lines"
    warm_up.write_text("compile the kernels once .\n")
    measure([SENTGEN, "ingest", str(warm_up), "--corpus", "w", "--db", str(fresh("warm-up"))])
    options = ["ingest", str(text), "--corpus", "novels", "--format", "lines", "--memory-limit", LIMIT]
    systems = {
        "sentgen ingest: text and counts": [SENTGEN, *options],
        "sentgen, counts only": [sys.executable, "-P", "-c", _COUNTS_ONLY, *options],
    }
    rows: list[tuple[object, ...]] = []
    ratios: dict[str, list[float]] = {name: [] for name in systems}
    for number in range(1, ROUNDS + 1):
        theirs = None
        if rival:
            command = [rival, "-o", "5", "-S", "2G", "-T", str(OUT / "lmplz"), "--arpa", "/dev/null"]
            theirs = measure(command, stdin=text)
            rows.append((f"{number}: lmplz -o 5", theirs.cpu, theirs.wall, megabytes(theirs.peak), ""))
        for name, command in systems.items():
            store = fresh("ngram-counting")
            ours = measure([*command, "--db", str(store)])
            size = megabytes(store.stat().st_size)
            rows.append((f"{number}: {name}", ours.cpu, ours.wall, megabytes(ours.peak), size))
            if theirs:
                ratios[name].append(ours.cpu / theirs.cpu)
    columns = ("process", "CPU s", "wall s", "peak MB", "store MB")
    show(f"N-grams of orders 1-5 of {tokens:,} tokens", columns, rows)
    for name, found in ratios.items():
        if found:
            print(f"{name}: CPU / CPU of lmplz: median {statistics.median(found):.2f} (target at most 0.60)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
