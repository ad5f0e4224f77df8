"""Exact inference in the phrase-based HMM: time and memory by length, against sums over pairs of states.

    python benchmarks/alignment.py [NAME ...]

Each row is a process of its own, whose peak memory is that of the inference and of Python with its packages; the
row `nothing` is what these take alone. Texts are made up: words of a Zipf distribution over 20,000, an abstract of
which three quarters are copied in runs of 1 to 8 words from all over the document. The table has
all word pairs and ten phrase pairs a word of the abstract, K = L = 4. The plain
version goes over all pairs of states, as the paper does, with a matrix product for each abstract word and length;
its look-up writes that matrix down, in Python.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
from harness import OUT, ROOT, measure, megabytes, show

from sentgen.alignment.phrase_hmm.decode import viterbi
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.lexicon import PairIds, phrase_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.settings import PRESETS, PbhmmSettings

sys.path.insert(0, str(ROOT / "tests" / "alignment"))
from inference_reference import infer_from, tables
from whole_pairs import infer, link_posteriors, log_likelihood

SIZES = ((10, 60), (130, 500), (250, 2_000), (500, 10_000))
PLAIN = ((10, 60), (130, 500))
VOCABULARY = 20_000


def texts(m: int, n: int, *, seed: int = 1) -> PairIds:
    """Make up an abstract of m words and a document of n."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, VOCABULARY + 1)
    document = rng.choice(VOCABULARY, n, p=share / share.sum()).astype(np.int32)
    abstract: list[int] = []
    while len(abstract) < m:
        length = int(rng.integers(1, 9))
        start = int(rng.integers(0, n - length))
        if rng.random() < 0.25:
            abstract += rng.choice(VOCABULARY, length, p=share / share.sum()).tolist()
        else:
            abstract += document[start : start + length].tolist()
    words = np.array(abstract[:m], np.int32)
    return PairIds(document, words, document, words)


def trained_on(pair: PairIds, settings: PbhmmSettings) -> RewriteParameters:
    """Return parameters with a table of all word pairs of a pair, and of ten made-up phrase pairs a word."""
    rng = np.random.default_rng(3)
    m, n = len(pair.abstract), len(pair.document)
    words = np.stack(np.meshgrid(np.unique(pair.document), np.unique(pair.abstract), indexing="ij"), -1)
    cells = [words.reshape(-1, 2).astype(np.int64)]
    for k, length in product(range(1, 5), repeat=2):
        if k + length > 2:
            document = phrase_keys(pair.document, k)[rng.integers(0, n - k + 1, m)]
            abstract = phrase_keys(pair.abstract, length)[rng.integers(0, m - length + 1, m)]
            cells.append(np.stack([document, abstract], 1)[: 10 * m // 15 + 1])
    document, abstract = np.unique(np.concatenate(cells), axis=0).T
    table = RewriteTable.prior_mean(document, abstract, np.ones(len(document)))
    return replace(RewriteParameters.prior(settings), table=table)


def timed(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds of the fastest of three runs."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(1000 * (time.process_time() - began))
    return min(times)


def run(kind: str, m: int, n: int) -> dict[str, float]:
    """Measure one pair, after a small one that loads or compiles the kernels."""
    settings = PRESETS["paper"]
    found: dict[str, float] = {}
    if kind == "nothing":
        return found
    for pair in (texts(5, 20), texts(m, n)):
        parameters = trained_on(pair, settings)
        transitions = parameters.chain(settings, len(pair.document))
        emission = rewriting(pair, parameters, settings).emission
        if kind == "plain":
            began = time.process_time()
            written = tables(emission, transitions)
            found["look up"] = 1000 * (time.process_time() - began)
            found["all"] = timed(lambda t=written, e=emission, c=transitions: infer_from(t, e, c))  # type: ignore[misc]
            continue
        found["events"] = len(emission.events.start)
        found["look up"] = timed(lambda p=pair, q=parameters: rewriting(p, q, settings))  # type: ignore[misc]
        found["forward"] = timed(lambda e=emission, c=transitions: log_likelihood(e, c))  # type: ignore[misc]
        found["all"] = timed(lambda e=emission, c=transitions: infer(e, c))  # type: ignore[misc]
        found["best path"] = timed(lambda e=emission, c=transitions: viterbi(e, c))  # type: ignore[misc]
        exact = replace(settings, window=None, reach=n + 1)
        if m * n * n <= 1e9:
            full = RewriteParameters.prior(exact).chain(exact, len(pair.document))
            found["exact"] = timed(lambda e=emission, c=full: infer(e, c))  # type: ignore[misc]
        found["links"] = timed(lambda p=pair, q=parameters: link_posteriors(p, q, settings))  # type: ignore[misc]
    return found


def measured(kind: str, m: int, n: int) -> tuple[dict[str, float], int]:
    """Run a case in a process of its own; return its times and its peak memory."""
    OUT.mkdir(parents=True, exist_ok=True)
    usage = measure([sys.executable, __file__, "--case", kind, str(m), str(n)])
    return json.loads(usage.output.splitlines()[-1]), usage.peak


def main() -> None:
    """Print a table."""
    if sys.argv[1:2] == ["--case"]:
        print(json.dumps(run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
        return
    _, alone = measured("nothing", 1, 1)
    rows: list[list[object]] = [["nothing", *[""] * 7, megabytes(alone)]]
    columns = ("events", "look up", "forward", "all", "best path", "links", "exact")
    for m, n in SIZES:
        found, peak = measured("lattice", m, n)
        rows.append([f"{m} x {n:,}", *(found.get(name, "") for name in columns), megabytes(peak)])
    for m, n in PLAIN:
        found, peak = measured("plain", m, n)
        rows.append(
            [f"{m} x {n:,}, plain", "", found["look up"], "", found["all"], *[""] * 3, megabytes(peak)]
        )
    show(
        "Phrase-based HMM, CPU ms a pair",
        [
            "abstract x document",
            "phrase events",
            "look up",
            "forward",
            "forward, backward, counts",
            "best path",
            "links",
            "counts, every jump its own cell",
            "peak MB",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
