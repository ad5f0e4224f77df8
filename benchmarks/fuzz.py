"""Feed readers, searches and commands with mutants of what they read: 100,000 of them, the same for a seed.

Samples of every format are cut, spliced, repeated, filled with odd Unicode and huge numbers, packed and damaged
(`fuzzing/mutations.py`), and read under all options (`fuzzing/targets.py`), in this process: readers directly, a
part through ingestion into a small store, a part through whole commands. A failure is

* an exception that is no `SentgenError`, a warning, or a command that ends with another code than 0, 1 and 2;
* a slow input: more CPU time than that of its kind and 20 microseconds a byte, twice;
* rows in the store that a refused input left behind, or one that was removed.

    python benchmarks/fuzz.py --inputs 100000 --seed 1

Inputs that fail are kept in benchmarks/out/fuzz-SEED/failures; --first N --inputs 1 tries input N again.
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.targets import TARGETS, Bench, make_store
from harness import OUT, megabytes, show

from sentgen.counts import batch
from sentgen.errors import SentgenError

#: Seconds that a byte may take.
A_BYTE = 20e-6
#: CPU seconds after which an input is given up.
_PATIENCE = 60
_NAMES = list(TARGETS)
_WEIGHTS = [weight for _, weight, _ in TARGETS.values()]


class SlowError(Exception):
    """An input that takes more time than its size allows."""


@dataclass(slots=True)
class Tally:
    """What became of the inputs of one kind."""

    taken: int = 0
    refused: int = 0
    failed: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    bytes: int = 0


@dataclass(slots=True)
class Fuzzing:
    """A run over inputs."""

    bench: Bench
    folder: Path
    seed: int
    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in TARGETS})
    causes: Counter[str] = field(default_factory=Counter)

    def feed(self, number: int) -> None:
        """Try one input."""
        name = random.Random(f"{self.seed} kind {number}").choices(_NAMES, _WEIGHTS)[0]
        tally, (target, _, allowed) = self.tallies[name], TARGETS[name]
        try:
            taken, seconds = self._try(number, target)
            most = allowed + A_BYTE * self.bench.written
            if seconds > most:
                seconds = min(seconds, self._try(number, target)[1])
                if seconds > most:
                    raise SlowError(f"{seconds:.2f} s for {self.bench.written} bytes")
            tally.taken += taken
            tally.refused += not taken
            tally.seconds += seconds
            tally.slowest = max(tally.slowest, seconds)
            tally.bytes += self.bench.written
        except Exception as error:
            tally.failed += 1
            self._keep(number, name, error)

    def _try(self, number: int, target: Callable[[Bench, random.Random], None]) -> tuple[bool, float]:
        """Return whether an input was taken, and the CPU seconds."""
        self.bench.clear()
        rng = random.Random(f"{self.seed} input {number}")
        taken = True
        signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
        began = time.process_time()
        try:
            target(self.bench, rng)
        except SentgenError as error:
            taken = False
            if "\n" in str(error).strip():
                raise AssertionError("a message of several lines") from error
        finally:
            seconds = time.process_time() - began
            signal.setitimer(signal.ITIMER_PROF, 0)
        return taken, seconds

    def _keep(self, number: int, name: str, error: Exception) -> None:
        """Keep an input that failed, with its traceback, and say so once for each cause."""
        trace = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in trace if "/sentgen/" in frame.filename or "/schema/" in frame.filename]
        place = own[-1] if own else trace[-1]
        cause = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}: {str(error)[:100]!a}"
        key = cause.partition(": ")[0] + name
        target = self.folder / "failures" / str(number)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.bench.folder, target / "input")
        (target / "traceback.txt").write_text(
            f"{name}\n" + "".join(traceback.format_exception(error)), errors="replace"
        )
        self.causes[key] += 1
        if self.causes[key] == 1:
            print(f"FAILURE in input {number}, {name}: {cause}", file=sys.stderr, flush=True)


def main() -> int:
    """Feed the inputs; the exit code is 1 if one failed."""
    options = _options()
    folder = options.folder or OUT / f"fuzz-{options.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("error")
    logging.disable()
    signal.signal(signal.SIGPROF, _give_up)
    # On a busy machine, a batch may end, and stay, before what is refused.
    batch.BATCH_SECONDS = math.inf
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=folder) as work:
        (Path(work) / "input").mkdir()
        fuzzing = Fuzzing(
            Bench(Path(work) / "input", make_store(Path(work) / "store.duckdb")), folder, options.seed
        )
        number = options.first
        while number < options.first + options.inputs and time.monotonic() - began < options.minutes * 60:
            fuzzing.feed(number)
            number += 1
            if number % 5000 == 0:
                print(f"{number} inputs, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        fuzzing.bench.store.close()
    _print(fuzzing, time.monotonic() - began)
    return int(any(tally.failed for tally in fuzzing.tallies.values()))


def _give_up(*_: object) -> None:
    raise SlowError(f"more than {_PATIENCE} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=1, help="of all mutations")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--folder", type=Path, help="where to work, instead of benchmarks/out/fuzz-SEED")
    return parser.parse_args()


def _print(fuzzing: Fuzzing, seconds: float) -> None:
    rows = [
        [
            name,
            one.taken,
            one.refused,
            one.failed,
            1e3 * one.seconds / max(1, one.taken + one.refused),
            one.slowest,
            1e6 * one.seconds / max(1, one.bytes),
        ]
        for name, one in fuzzing.tallies.items()
    ]
    counts = [sum(int(str(row[place])) for row in rows) for place in (1, 2, 3)]
    columns = ["", "taken", "refused", "failed", "ms each", "slowest, s", "µs a byte"]
    show(f"{sum(counts):,} mutants of seed {fuzzing.seed}", columns, [*rows, ["all", *counts, "", "", ""]])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{seconds / 60:.1f} minutes, {megabytes(peak)} MiB at most")


if __name__ == "__main__":
    sys.exit(main())
