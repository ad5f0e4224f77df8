"""BLEU of a recorded evaluation over sentences of at least so many units: ``python benchmarks/calibration.py STORE``.

Reads the sentences of the last run from the table `output`; lower-cased, tokenized as given, as the calibration of
the LMO baseline was, which does not say which sentences it used.
"""

from __future__ import annotations

import re
import sys

import sacrebleu
from harness import show

from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

_LAST = 'select system, input, "output", reference from output where run_id = (select max(id) from run) order by item'


def main(store_path: str) -> None:
    with Store(store_path, read_only=True) as store, store.connect() as connection:
        found = fetch_arrow(connection, _LAST).to_pylist()
    rows = []
    for system in sorted({row["system"] for row in found}):
        for least in (1, 5, 10):
            kept = [row for row in found if row["system"] == system and units(row["input"]) >= least]
            bleu = sacrebleu.corpus_bleu(
                [row["output"].lower() for row in kept],
                [[row["reference"].lower() for row in kept]],
                tokenize="none",
                force=True,
            )
            rows.append((system, least, len(kept), bleu.score))
    show("BLEU, lower-cased, tokenized as given", ("system", "units at least", "sentences", "BLEU"), rows)


def units(bag: str) -> int:
    """Count the units of a bag as it was given: phrases stand in brackets."""
    return len(re.findall(r"\[ ?[^\]]+\]|\S+", bag))


if __name__ == "__main__":
    main(sys.argv[1])
