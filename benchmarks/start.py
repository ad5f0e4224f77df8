"""How soon a command begins: seconds, CPU seconds, memory and imported modules, beside what users compare with.

``python benchmarks/start.py [ROUNDS]`` makes the store of the demo and runs every command ROUNDS times (7 if not
given), all of them in turn, so that a busy moment meets all alike; the figures are medians. The peers are Python that
does nothing, DuckDB alone with the same query, what Typer and Rich cost by themselves, and sqlite-utils, if it is
installed. A first use is a first one only once: see ``benchmarks/first_use.py``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from harness import OUT, SENTGEN, Usage, fresh, measure, megabytes, show

QUERY = "select form, upos, count(*) as n from v_tokens group by all order by n desc limit 5"
#: Modules that are there when a program ends; written by a hook, since the program may end anywhere.
_COUNTED = "import atexit, sys; atexit.register(lambda: sys.stderr.write(f'MODULES {len(sys.modules)}\\n'))"


def main(rounds: int) -> None:
    """Measure all commands and print the table."""
    store = fresh("start")
    subprocess.run([SENTGEN, "demo", "--db", str(store)], check=True, stdout=subprocess.DEVNULL)
    commands = all_commands(store)
    used: dict[str, list[Usage]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            used[name].append(measure(command))
    rows = [
        (
            name,
            f"{statistics.median(one.wall for one in found):.3f}",
            f"{statistics.median(one.cpu for one in found):.3f}",
            megabytes(max(one.peak for one in found)),
            modules(commands[name]),
        )
        for name, found in used.items()
    ]
    show(f"starts, median of {rounds}", ("command", "seconds", "CPU s", "peak MB", "modules"), rows)


def all_commands(store: Path) -> dict[str, list[str]]:
    """Return the command lines by what the table calls them."""
    python, at = sys.executable, ["--db", str(store)]
    duck = f"import duckdb; print(duckdb.connect({str(store)!r}, read_only=True).sql({QUERY!r}))"
    found = {
        "python -c pass": [python, "-c", "pass"],
        "duckdb, Typer and Rich, imported": [python, "-c", "import duckdb, typer, rich.console"],
        "duckdb alone, a query": [python, "-c", duck],
        "sentgen --version": [SENTGEN, "--version"],
        "sentgen --help": [SENTGEN, "--help"],
        "sentgen models --help": [SENTGEN, "models", "--help"],
        "sentgen kwic --help": [SENTGEN, "kwic", "--help"],
        "TAB after `sentgen mod`": [*completing("sentgen mod", 1), SENTGEN],
        "TAB after `sentgen kwic --so`": [*completing("sentgen kwic --so", 2), SENTGEN],
        "sentgen ngrams": [SENTGEN, "ngrams", "the *", *at],
        "sentgen kwic": [SENTGEN, "kwic", "camp", *at],
        "sentgen sql": [SENTGEN, "sql", QUERY, *at],
        "sentgen score": [SENTGEN, "score", "--model", "relief", "the trucks arrived .", *at],
        "sentgen regenerate": [SENTGEN, "regenerate", "--model", "relief", "trucks the . arrived", *at],
        "sentgen demo, again": [SENTGEN, "demo", *at],
    }
    peer = Path(sys.executable).with_name("sqlite-utils")
    if peer.exists():
        found["sqlite-utils, a query"] = [str(peer), str(OUT / "start.sqlite"), "select 1"]
    return found


def completing(typed: str, word: int) -> list[str]:
    """Return the beginning of a command that asks for completions as bash does."""
    return ["env", f"COMP_WORDS={typed}", f"COMP_CWORD={word}", "_SENTGEN_COMPLETE=complete_bash"]


def modules(command: list[str]) -> str:
    """Return how many modules a command of Python has imported at its end."""
    if Path(command[-1]).name == "sentgen":
        return "-"
    folder = OUT / "hook"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(_COUNTED, encoding="utf-8")
    told = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False
    )
    counted = [line.split()[1] for line in told.stderr.splitlines() if line.startswith("MODULES ")]
    return counted[-1] if counted else "-"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
