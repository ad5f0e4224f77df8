"""What commands take with the packages of two environments, as with two versions of DuckDB: by both in turn.

    python benchmarks/environments.py PYTHON PYTHON [--rounds 5]

Each of the two Pythons runs this checkout (it needs sentgen's dependencies, and not sentgen): it ingests the training
part of UD EWT, builds a model of order 4, and asks its own store. A first round, which compiles, is left out. The
times are medians of CPU seconds and of seconds by the clock; a ratio above 1 says that the second takes more.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from collections import defaultdict

from harness import ROOT, Usage, data, fresh, measure, megabytes, show
from rich.markup import escape

_VERSIONS = (
    "import duckdb, platform; print('DuckDB', duckdb.__version__ + ', Python', platform.python_version())"
)
LOOK_UPS = (
    ["kwic", "of the"],
    ["kwic", "lemma:take", "--ignore-case"],
    ["freq", "--by", "upos"],
    ["freq", "--query", '[upos="DET"] a:[upos="NOUN"]', "--by", "a.lemma"],
    ["ngrams", "in the *"],
    ["sketch", "lemma:take"],
    ["sketch", "time", "--ignore-case"],
)


def main() -> None:
    """Measure all commands, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs=2, metavar="PYTHON", help="of an environment")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    taken: dict[str, tuple[list[Usage], list[Usage]]] = defaultdict(lambda: ([], []))
    for number in range(options.rounds + 1):
        for which, python in enumerate(options.pythons):
            store = fresh(f"environment-{which}")
            for words in commands():
                used = measure([python, str(ROOT / "cli.py"), *words, "--db", str(store)])
                if number:
                    taken[name_of(words)][which].append(used)
    rows = [(name, *figures(*both)) for name, both in taken.items()]
    for which, python in enumerate(options.pythons):
        told = subprocess.run([python, "-c", _VERSIONS], capture_output=True, text=True, check=True).stdout
        print(f"{which + 1}: {told.strip()}, {python}")
    columns = ("command", "CPU s, 1", "2", "ratio", "wall s, 1", "2", "ratio", "peak MB, 1", "2")
    show(f"medians of {options.rounds}, 1 and 2 in turn", columns, rows)


def commands() -> list[list[str]]:
    """Return what is run in each round, without the store."""
    treebank = str(data("ud/en_ewt-ud-train.conllu"))
    return [
        ["ingest", treebank, "--corpus", "ewt"],
        ["models", "build", "m", "--corpus", "ewt", "--order", "4"],
        *([*words, "--csv"] for words in LOOK_UPS),
    ]


def name_of(words: list[str]) -> str:
    """Return what the table calls a command."""
    left_out = ("--csv", "--corpus", "ewt")
    return escape(" ".join(word for word in words if word not in left_out and "/" not in word))


def figures(first: list[Usage], second: list[Usage]) -> list[object]:
    """Return the medians of both and their ratios."""
    found: list[object] = []
    for what in ("cpu", "wall"):
        one, two = (statistics.median(getattr(used, what) for used in runs) for runs in (first, second))
        found += [one, two, two / one]
    return [*found, *(megabytes(max(used.peak for used in runs)) for runs in (first, second))]


if __name__ == "__main__":
    main()
