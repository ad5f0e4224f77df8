"""How distinct words and n-grams grow with a text: counted at several sizes of novels, and fitted (Heaps' law).

``python benchmarks/growth.py``: D(N) = K N^b by least squares of the logarithms, for each order; what it says of
larger texts is extrapolated. The novels have 14 million tokens; made longer by splices, they would not grow as text does.
"""

from __future__ import annotations

import duckdb
import numpy as np
from harness import SENTGEN, fresh, measure, novels, show

SIZES = [250_000 * 2**power for power in range(6)] + [14_000_000]
FIRST_FITTED = 1_000_000
BEYOND = (10**9, 10**10, 10**12)


def main() -> None:
    found = []
    for tokens in SIZES:
        store = fresh("growth")
        measure(
            [SENTGEN, "ingest", str(novels(tokens)), "--db", str(store), "--format", "lines", "--corpus", "c"]
        )
        with duckdb.connect(str(store), read_only=True) as duck:
            counted = duck.execute("select sum(tokens)::bigint from segment").fetchall()[0]
            found.append(
                counted
                + tuple(duck.execute(f"select count(*) from ngram_{n}").fetchall()[0][0] for n in range(1, 6))
            )
    table = np.array(found, float)
    fitted = np.log(table[table[:, 0] >= FIRST_FITTED])
    rows: list[tuple[object, ...]] = [
        (f"{size:,.0f}", *(f"{each:,.0f}" for each in sizes)) for size, *sizes in table.tolist()
    ]
    slopes = [np.polyfit(fitted[:, 0], fitted[:, n], 1) for n in range(1, 6)]
    rows.append(("b", *(f"{b:.3f}" for b, _ in slopes)))
    rows.append(("K", *(f"{np.exp(k):.3g}" for _, k in slopes)))
    error = [
        np.abs(np.exp(fitted[:, n] - np.polyval(slopes[n - 1], fitted[:, 0])) - 1).max() for n in range(1, 6)
    ]
    rows.append(("largest error of the fit", *(f"{each:.1%}" for each in error)))
    rows += [
        (f"extrapolated: {size:,}", *(f"{np.exp(np.polyval(slope, np.log(size))):.3g}" for slope in slopes))
        for size in BEYOND
    ]
    show("Distinct n-grams of novels", ("tokens", *(f"order {n}" for n in range(1, 6))), rows)


if __name__ == "__main__":
    main()
