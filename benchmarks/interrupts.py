"""Press Ctrl-C at random moments in every command and every algorithm, in a pseudo-terminal.

    python benchmarks/interrupts.py --rounds 50 [--seed 1] [--only regenerate] [--jobs 2]

Every command is run once, so that all is loaded and its time is known, and then forked from that process for each
round; every fifth round is a fresh process instead, with its imports. The moment is drawn from the time that the
command takes, or from its first two seconds; the delay is from Ctrl-C to the end of the process. A command that
writes gets a copy of the store; every tenth copy is checked afterwards. Rounds that were run before, with the same
seed, are not run again; remove benchmarks/out/interrupts to begin anew.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from harness import OUT, ROOT, SENTGEN, data, show

sys.path.insert(0, str(ROOT / "tests"))
import tiny_parser
from terminal import Round, press

WORK = OUT / "interrupts"
STORE = WORK / "template.duckdb"
LONGEST = 2.0
ALGORITHMS = ["greedy", "lmo", "viterbi", "beam", "prim", "prim-ngram", "prim-arg", "cle", "ab"]

#: What only reads, and what writes; {work} is the folder of the inputs.
READING = [
    *(f"regenerate -m m -a {name} -i {{work}}/bags.conllu" for name in ALGORITHMS),
    "score -m m {work}/bags.lines",
    "fuse 1 --with {work}/cluster.conllu -m m",
    "check {work}/cluster.conllu --against {work}/bags.conllu",
    "align text --document {work}/document.txt --abstract {work}/abstract.txt",
    "align figures --pairs papers -m p",
    "align export --pairs papers -m p",
    "align model p the",
    "align models",
    "ngrams the?*",
    "deps said",
    "args said",
    "kwic the --limit 0",
    "freq --limit 0",
    "collocations the",
    "sql|select count(*) from range(100000000) a, range(1000) b where a.range * b.range % 7 = 3",
    "sql|select a.w1, b.w2, a.count from v_ngrams_2 a, v_ngrams_2 b order by a.count * b.count, b.w2 limit 9",
    "sql|select max(levenshtein(repeat('ab', 30000), repeat('ba', 30000))) from range(10)",
    "sql|select a.range from range(100000000) a",
    "schema",
    "corpora list",
    "corpora show ewt",
    "corpora verify ewt",
    "pairs list",
    "pairs show papers",
    "models list",
    "models show m",
    "db info",
    "db check",
    "publish --to {round}/snapshots",
    "parser list",
]
WRITING = [
    "ingest {train} --corpus more",
    "ingest {work}/novels.lines --corpus novels",
    "ingest {work}/bags.lines --corpus lines",
    "pairs ingest {work}/pairs.jsonl --corpus others",
    "models build n --corpus ewt --order 4",
    "models build n --corpus ewt --order 3 --smoothing katz",
    "models import-arpa a {work}/m.arpa",
    "models remove m",
    "models export m --arpa {round}/m.arpa",
    "align train --pairs papers -m q --iterations 2",
    "align apply --pairs papers -m p",
    "align remove p",
    "generate {work}/cluster.conllu --lengths 5-9",
    "evaluate regeneration -m m --test {work}/bags.conllu --algorithms beam,ab",
    "evaluate alignment --gold {rte} --format rte",
    "evaluate generation --clusters {work}/cluster.conllu --parser udpipe:{work}/parser.udpipe",
    "reproduce wan2009 --ptb {wsj}",
    "corpora remove ewt --yes",
    "db compact",
    "db upgrade",
    "demo --db {round}/demo.duckdb",
    "parser run {work}/document.txt --parser udpipe:{work}/parser.udpipe",
]


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="commands that begin so")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        Rounds(given.one, given.seed).run(given.rounds)
        return
    prepare()
    commands = [command for command in READING + WRITING if command.startswith(given.only)]

    def one(command: str) -> None:
        words = [sys.executable, __file__, "--one", command, "--seed", str(given.seed)]
        subprocess.run([*words, "--rounds", str(given.rounds)], check=False, stdin=subprocess.DEVNULL)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, commands))
    report(commands, given.seed)


def prepare() -> None:
    """Make the store and the inputs of the commands."""
    if (WORK / "ready").exists():
        return
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    ewt = data("ud/en_ewt-ud-dev.conllu")
    trees = [
        tree
        for tree in ewt.read_text(encoding="utf-8").split("\n\n")
        if 8 <= sum(line[:1].isdigit() for line in tree.splitlines()) <= 18
    ]
    texts = [line[9:] for tree in trees for line in tree.splitlines() if line.startswith("# text = ")]
    (WORK / "cluster.conllu").write_text("# newdoc id = one\n" + "\n\n".join(trees[:8]) + "\n\n")
    (WORK / "bags.conllu").write_text("\n\n".join(trees) + "\n\n")
    (WORK / "bags.lines").write_text("\n".join(texts * 20) + "\n")
    (WORK / "document.txt").write_text("\n".join(texts[:60]) + "\n")
    (WORK / "abstract.txt").write_text("\n".join(texts[20:30]) + "\n")
    (WORK / "novels.lines").write_text("\n".join(texts[:100]) + "\n")
    pairs = data("pairs/gum_doc_abstract.jsonl").read_text(encoding="utf-8").splitlines()
    (WORK / "pairs.jsonl").write_text("\n".join(pairs[:20]) + "\n")
    for words in (
        ["ingest", str(ewt), "--corpus", "ewt"],
        ["models", "build", "m", "--corpus", "ewt", "--order", "3"],
        ["models", "export", "m", "--arpa", str(WORK / "m.arpa")],
        ["pairs", "ingest", str(WORK / "pairs.jsonl"), "--corpus", "papers"],
        ["align", "train", "--pairs", "papers", "-m", "p", "--iterations", "1"],
        ["align", "apply", "--pairs", "papers", "-m", "p"],
    ):
        subprocess.run(
            [SENTGEN, *words],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "SENTGEN_DB": str(STORE)},
        )
    tiny_parser.train(WORK / "parser.udpipe")
    (WORK / "ready").touch()


class Rounds:
    """The rounds of one command, in a process that has run it once."""

    def __init__(self, command: str, seed: int) -> None:
        self.command = command
        self.place = WORK / f"rounds-{os.getpid()}"
        self.results = results_of(command, seed)
        self.chance = random.Random(f"{seed}/{command}")

    def run(self, rounds: int) -> None:
        """Run the rounds that are missing; each is a line of the file of results."""
        moments = [(number, self.chance.random()) for number in range(rounds)]
        done = {row["number"] for row in read(self.results)}
        if not (missing := [pair for pair in moments if pair[0] not in done]):
            return
        with self.folder():
            lasts = self.last(self.warm)
        with self.folder():
            lasts_fresh = self.last(self.fresh)
        for number, share in missing:
            fresh = number % 5 == 4
            with self.folder() as before:
                found = press(self.fresh, share * lasts_fresh) if fresh else press(self.warm, share * lasts)
                fault = found.fault or self.left_files(before)
                if not fault and number % 10 == 9 and self.command in WRITING:
                    fault = self.damage()
            self.note(number, found, fault, fresh=fresh)

    def words(self) -> list[str]:
        """Return the command line."""
        head, _, query = self.command.partition("|")
        places = {
            "work": WORK,
            "round": self.place,
            "train": data("ud/en_gum-ud-dev.conllu"),
            "rte": data("alignment/rte2"),
            "wsj": data("wsj01"),
        }
        words = [word.format_map(places) for word in head.split()]
        return [*words, query] if query else words

    @contextlib.contextmanager
    def folder(self) -> Iterator[set[str]]:
        """Lay out a store in a fresh folder."""
        self.place.mkdir()
        os.environ["SENTGEN_DB"] = str(STORE)
        if self.command in WRITING:
            os.environ["SENTGEN_DB"] = str(shutil.copy(STORE, self.place / "store.duckdb"))
        try:
            yield {path.name for path in self.place.iterdir()}
        finally:
            shutil.rmtree(self.place)

    def warm(self) -> None:
        """Run the command in this process."""
        from sentgen.cli import program

        sys.argv = ["sentgen", *self.words()]
        program()

    def fresh(self) -> NoReturn:
        """Run the command in place of this process."""
        os.execv(SENTGEN, [SENTGEN, *self.words()])

    def last(self, run: Callable[[], object]) -> float:
        """Return how long the command takes, two seconds at most; what it loads stays loaded here."""
        if run == self.warm:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                from sentgen.cli import main as in_process

                sys.argv = ["sentgen", *self.words()]
                with contextlib.suppress(SystemExit):
                    if not self.command.startswith(("sql|", "serve")):
                        in_process()
            shutil.rmtree(self.place)
            self.place.mkdir()
            if self.command in WRITING:
                shutil.copy(STORE, self.place / "store.duckdb")
        began = time.monotonic()
        found = press(run, LONGEST)
        return min(LONGEST, max(0.2, time.monotonic() - began - found.delay))

    def left_files(self, before: set[str]) -> str:
        """Say what the command left in the folder beside whole results."""
        kept = {"store.duckdb", "snapshots", "demo.duckdb", "m.arpa", "p.udpipe"}
        kept.add("store.duckdb.journal")  # if DuckDB was not closed in time; the next opening is done with it
        left = {path.name for path in self.place.iterdir()} - before - kept
        return f"files left: {', '.join(sorted(left))}" if left else ""

    def damage(self) -> str:
        """Check the store after the command."""
        store = self.place / "store.duckdb"
        done = subprocess.run([SENTGEN, "db", "check", "--db", str(store)], capture_output=True, text=True)
        return "" if done.returncode == 0 else f"db check: {(done.stderr or done.stdout)[-200:]}"

    def note(self, number: int, found: Round, fault: str, *, fresh: bool) -> None:
        """Keep a round."""
        row = {"number": number, "code": found.code, "delay": found.delay, "fault": fault, "fresh": fresh}
        if fault:
            row["output"] = found.output[-2000:]
        with open(self.results, "a", encoding="utf-8") as sink:
            sink.write(json.dumps(row) + "\n")


def results_of(command: str, seed: int) -> Path:
    """Return the file of the rounds of a command."""
    name = "".join(character if character.isalnum() else "-" for character in command)[:80]
    return WORK / f"{seed}-{name}.jsonl"


def read(path: Path) -> list[dict[str, object]]:
    """Return the rounds that have been run."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report(commands: Sequence[str], seed: int) -> None:
    """Print a row a command, and what went wrong."""
    rows: list[list[object]] = []
    for command in commands:
        rounds = read(results_of(command, seed))
        delays = sorted(float(str(row["delay"])) for row in rounds if row["code"] == 130)
        faults = [row for row in rounds if row["fault"]]
        rows.append(
            [
                command.replace("{work}/", "").replace("{round}/", "")[:50],
                len(rounds),
                len(delays),
                sum(row["code"] == 0 for row in rounds),
                delays[len(delays) // 2] if delays else "",
                delays[-1] if delays else "",
                len(faults),
            ]
        )
        for row in faults:
            print(f"{command}, round {row['number']}: {row['fault']}\n{row.get('output', '')}")
    totals = [sum(int(str(row[column])) for row in rows) for column in (1, 2, 3, 6)]
    slowest = max((float(str(row[5])) for row in rows if row[5] != ""), default="")
    rows.append(["all", *totals[:3], "", slowest, totals[3]])
    show(
        "Ctrl-C at random moments",
        ["command", "rounds", "rc 130", "finished before", "median delay, s", "worst delay, s", "faults"],
        rows,
    )


if __name__ == "__main__":
    main()
