"""Pairs in which `physician` always becomes `doctor`, in a store; used by several tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.schema import Store

PAIRS = (
    ("p0", "the physician bought a car in paris .", "the doctor bought a car ."),
    ("p1", "a physician came to town today .", "a doctor came ."),
    ("p2", "the old physician slept .", "the doctor slept ."),
    ("p3", "we saw the physician there .", "we saw the doctor ."),
    ("p4", "the car was red and fast .", "a fast car ."),
    ("p5", "the red house burned .", "the house burned ."),
)

Texts = tuple[str, str, str]


def write_jsonl(path: Path, pairs: Sequence[Texts] = PAIRS) -> Path:
    """Write pairs as JSON Lines."""
    lines = (
        json.dumps({"id": key, "document": document, "abstract": abstract})
        for key, document, abstract in pairs
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def fill(path: Path, pairs: Sequence[Texts] = PAIRS, corpus: str = "toy") -> Path:
    """Make a store with the pairs, blanks between the words."""
    source = write_jsonl(path.with_suffix(".jsonl"), pairs)
    with Store(path, create=True) as store:
        ingest_pairs(store, [str(source)], corpus, settings=PairSettings(tokenized=True))
    return path
