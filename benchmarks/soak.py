"""Kill commands a thousand times, and compare what they leave with a store that was never disturbed.

A round takes a command and a copy of the store it runs on, and kills it (SIGKILL) at a random moment: anywhere in
the time that it takes undisturbed, or, half of the time, in one of its commits. Then the store is opened, which is
sometimes killed too, and must hold what it held before or after one of the transactions of the command: its
tables are compared by their hashes, whole transactions only, nothing lost that was committed. The same command
is run again, killed again in half of the rounds, and at last completed; then the store must be equal to one that
was never disturbed, and every tenth is checked with `sentgen db check`. One round in seven does something else:
a full disk (a limit on the size of files at a random byte), writes that fail from a random moment on, a second
command on the same store, or Ctrl-C.

    python benchmarks/soak.py --kills 1000 --seed 1

Stopped, it goes on where it was when it is run again (--fresh begins anew). What faults leave is kept in
benchmarks/out/soak-SEED/faults.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from durability.commands import (
    Command,
    Course,
    Workshop,
    commands,
    know_one_more_revision,
    make_bases,
    undisturbed,
)
from durability.rounds import DISTURBANCES, KILL, PHASES, Round
from harness import OUT, show

_KILLED = -9


def main() -> int:
    """Run rounds until there are enough kills; the exit code is 1 if there was a fault."""
    options = _options()
    folder = (options.folder or OUT / f"soak-{options.seed}").resolve()
    shop = Workshop(folder, options.seed, options.tokens)
    if options.fresh:
        shutil.rmtree(shop.folder, ignore_errors=True)
    shop.folder.mkdir(parents=True, exist_ok=True)
    log = shop.folder / "rounds.jsonl"
    done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    began = time.monotonic()
    know_one_more_revision(shop)
    chosen = commands(shop, options.commands)
    make_bases(shop, chosen)
    gc.freeze()  # children share what is here
    courses = {command.name: undisturbed(shop, command) for command in chosen}
    _tell(f"prepared in {time.monotonic() - began:.0f} s: {_states(courses)}")
    with log.open("a") as file:
        while (
            _kills(done) if options.only in ("", KILL) else len(done)
        ) < options.kills and time.monotonic() - began < options.minutes * 60:
            record = _round(shop, len(done), chosen, courses, options.only)
            file.write(json.dumps(record) + "\n")
            file.flush()
            done.append(record)
            for fault in record["faults"]:
                _tell(f"FAULT in round {record['number']}, {record['command']}: {fault}")
            if len(done) % 25 == 0:
                _tell(f"{len(done)} rounds, {_kills(done)} kills, {time.monotonic() - began:.0f} s")
    _print(done)
    return int(any(record["faults"] for record in done))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--kills",
        type=int,
        default=1000,
        help="how many processes to kill (or how many rounds with another --only)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of everything random")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--tokens", type=int, default=130_000, help="tokens of the largest text")
    parser.add_argument("--commands", nargs="+", metavar="NAME", default=[], help="only these")
    parser.add_argument("--only", choices=DISTURBANCES, default="", help="only this disturbance")
    parser.add_argument("--folder", type=Path, help="where to work, instead of benchmarks/out/soak-SEED")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run did")
    return parser.parse_args()


def _round(
    shop: Workshop, number: int, chosen: Sequence[Command], courses: dict[str, Course], only: str
) -> dict[str, Any]:
    weights = [command.weight for command in chosen]
    command = random.Random(f"{shop.seed} command {number}").choices(chosen, weights=weights)[0]
    return Round(shop, number, command, courses[command.name], only).run().as_json()


def _kills(done: Sequence[dict[str, Any]]) -> int:
    return sum(event["code"] == _KILLED for record in done for event in record["events"])


def _states(courses: dict[str, Course]) -> str:
    return ", ".join(
        f"{name} {len(course.states)} states {course.seconds:.2f} s" for name, course in courses.items()
    )


def _print(done: Sequence[dict[str, Any]]) -> None:
    """Print kills by command and phase, the other disturbances, and the faults."""
    kills: Counter[tuple[str, str]] = Counter()
    others: Counter[tuple[str, str]] = Counter()
    faults: Counter[str] = Counter()
    for record in done:
        faults[record["command"]] += len(record["faults"])
        for event in record["events"]:
            if event["code"] == _KILLED:
                kills[record["command"], event["phase"]] += 1
            elif event["kind"] != KILL:
                others[event["kind"], "refused" if event["code"] else "went on"] += 1
    names = sorted({record["command"] for record in done})
    rows = [
        [name, *(kills[name, phase] for phase in PHASES), sum(kills[name, p] for p in PHASES), faults[name]]
        for name in names
    ]
    rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    show("kills by command and phase", ["command", *PHASES, "kills", "faults"], rows)
    kinds = sorted({kind for kind, _ in others})
    show(
        "other disturbances",
        ["", "ended with a message", "came too late"],
        [[kind, others[kind, "refused"], others[kind, "went on"]] for kind in kinds],
    )
    checked = sum(record["checked"] for record in done)
    seconds = sum(record["seconds"] for record in done)
    print(f"{len(done)} rounds in {seconds / 60:.1f} minutes; {checked} ended with sentgen db check")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
