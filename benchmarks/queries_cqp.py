"""Queries beside the Corpus Workbench: ``python benchmarks/queries_cqp.py [TOKENS]`` (a million if not given).

The novels, as a vertical file with tags of a small rule, become a store and, where ``cwb-encode`` and ``cqp`` are
installed, a corpus of theirs; both are asked the same in warm sessions, and must count the same. Times are CPU
milliseconds, the best of three; theirs are read from /proc, in steps of 10 ms, so that each query is asked 20 times
for one time. Where ``cqp`` is not installed, ours stand alone.

What CQP does in under half a yard counts as half a yard in the ratio: nobody waits for it. A yard is the time that
numpy takes to compare three shifted columns of ten million numbers, of this machine and in this run.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import numpy as np
from harness import OUT, SENTGEN, measure, novels, show
from rich.markup import escape

TIMES, AGAIN = 3, 20
_END = "-::-EOL-::-"
_ENDINGS = (("ing", "VBG"), ("ed", "VBD"), ("ly", "RB"), ("ful", "JJ"), ("ous", "JJ"), ("s", "NNS"))
_CLOSED = {
    **dict.fromkeys(("the", "a", "an", "this", "every"), "DT"),
    **dict.fromkeys(("in", "of", "to", "from", "with", "at", "by"), "IN"),
    **dict.fromkeys(("he", "she", "it", "they", "we", "I", "you"), "PRP"),
    **dict.fromkeys(("old", "good", "great", "little", "young"), "JJ"),
}
QUERIES = (
    *('"the"', '"whisper"', '"captain"', '"zeal"', '"The"%c', '"Old"%c', '"sea.*"', '".*ness"', '"un.*ly"'),
    *('"(he|she)"', '[word="(boat|ship|vessel)"]', '[tag="DT"]', '[tag="V.*"]', '[tag="JJ" & word="g.*"]'),
    *('[tag="NNS" & word!="[a-m].*"]', '[tag!="NN" & word="light"]', '"on" "board"', '"at" "the" "door"'),
    *('"of" "the" [tag="JJ"]', '[tag="DT"] [tag="JJ"] [tag="NN"]', '[tag="PRP"] [tag="VBD"] [tag="RB"]'),
    *('"from" []{0,4} "to"', '"not" []{1,3} "but"', '[tag="VBD"] []{2} "away"', '"as" [] "as"'),
    *('"a" ("very"|"most") [tag="JJ"]', '("in"|"at"|"by") "the" "end"', '"the" [tag="JJ"]+ "man"'),
    *('[tag="DT"] [tag="JJ"]{2,3} [tag="NN"]', '"very"{2,3}', '"so" [tag="RB"]? [tag="JJ"]'),
    *('a:[tag="NN"] "and" b:[tag="NN"] :: a.word = b.word', 'a:[] "by" b:[] :: a.word = b.word'),
    *('a:[tag="JJ"] [tag="NN"] :: a.word = "old"', '<s> "But"', '<s> [tag="PRP"] [tag="VBD"]'),
    *('[tag="NN"] "!" </s>', "<s> [tag='DT'] []{0,3} 'was'", '"house" within s', '"hand" [] "hand" within s'),
    *('MU(meet "sea" "ship" s)', 'MU(meet [tag="JJ"] "eyes" -2 2)'),
)


class Cqp:
    """A session of ``cqp -c``, which reads commands and answers until a line that ends the answer."""

    def __init__(self, command: list[str]) -> None:
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._child.stdin
        assert self._child.stdout
        self._to: IO[str] = self._child.stdin
        self._from: IO[str] = self._child.stdout
        self.version = self._from.readline().strip()

    def ask(self, command: str) -> list[str]:
        """Return the lines of the answer to a command."""
        self._to.write(f"{command}; .EOL.;\n")
        self._to.flush()
        lines: list[str] = []
        while (line := self._from.readline()) and line.rstrip("\n") != _END:
            lines.append(line.rstrip("\n"))
        if not line:
            sys.exit(f"cqp has ended at: {command}")
        return lines

    def count(self, query: str) -> int:
        """Return how many matches a query has."""
        told = self.ask(f"A = {query}; size A")
        if not told or not told[-1].isdigit():
            sys.exit(f"cqp does not count {query}: {' '.join(told)}")
        return int(told[-1])

    def cpu(self) -> float:
        """Return the CPU seconds that the session has taken."""
        # The name of the program, in parentheses, may have spaces.
        words = Path(f"/proc/{self._child.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the session."""
        self._to.close()
        self._from.close()
        self._child.wait()


def main(tokens: int) -> None:
    """Ask everything, and print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    file, store = OUT / f"cqp-{tokens}.vrt", OUT / f"cqp-{tokens}.duckdb"
    if not store.exists():
        write_vertical(file, tokens)
        asked = ["--format", "vertical", "--columns", "word,xpos", "--corpus", "novels", "--db", str(store)]
        measure([SENTGEN, "ingest", str(file), *asked])
    session = open_cqp(file)
    half, rows, ratios = yard() / 2, [], list[float]()
    for query, (hits, ours) in zip(QUERIES, asked_of_store(store), strict=True):
        row = [escape(query), f"{hits:,}", f"{ours * 1000:.1f}"]
        if session:
            if (theirs := session.count(query)) != hits:
                sys.exit(f"{query}: {hits:,} hits here, {theirs:,} in CQP")
            taken = min(_asked_again(session, query) for _ in range(TIMES))
            ratios.append(ours / max(taken, half))
            row += [f"{taken * 1000:.1f}", f"{ratios[-1]:.2f}"]
        rows.append(tuple(row))
    columns = ["query", "hits", "CPU ms", *(["CQP", "ratio"] if session else [])]
    show(f"Queries on {tokens:,} tokens; half a yard is {half * 1000:.1f} ms", columns, rows)
    if session:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean {mean:.2f}, beside {session.version}")
        session.close()


def write_vertical(path: Path, tokens: int) -> None:
    """Write the novels, a token a line, with tags by their last letters."""
    with path.open("w", encoding="utf-8") as to, novels(tokens).open(encoding="utf-8") as lines:
        to.write('<text id="novels">\n')
        for line in filter(str.strip, lines):
            # A word that begins with < would be a tag of the file.
            words = [word.replace("<", "(") for word in line.split()]
            to.write("<s>\n" + "".join(f"{word}\t{tag_of(word)}\n" for word in words) + "</s>\n")
        to.write("</text>\n")


def tag_of(word: str) -> str:
    """Return the tag of a word: of a list, of its ending, or a noun's."""
    if not word[0].isalnum():
        return word[0]
    known = _CLOSED.get(word) or _CLOSED.get(word.lower())
    return known or next((tag for ending, tag in _ENDINGS if word.endswith(ending)), "NN")


def open_cqp(file: Path) -> Cqp | None:
    """Index the file, and return a session on it; none where CWB is not installed."""
    if not all(map(shutil.which, ("cqp", "cwb-encode", "cwb-makeall"))):
        print("cqp is not installed: our figures alone")
        return None
    data, registry = file.with_suffix(".cwb"), OUT / "registry"
    if not data.exists():
        data.mkdir()
        registry.mkdir(exist_ok=True)
        encode = ["cwb-encode", "-xsB", "-c", "utf8", "-d", str(data), "-R", str(registry / "novels")]
        measure([*encode, "-f", str(file), "-P", "tag", "-S", "text:0+id", "-S", "s"])
        measure(["cwb-makeall", "-r", str(registry), "-V", "NOVELS"])
    session = Cqp(["cqp", "-c", "-r", str(registry)])
    session.ask("NOVELS")
    return session


def _asked_again(session: Cqp, query: str) -> float:
    began = session.cpu()
    for _ in range(AGAIN):
        session.count(query)
    return (session.cpu() - began) / AGAIN


def asked_of_store(store: Path) -> list[tuple[int, float]]:
    """Return the hits and the CPU seconds of every query, in a session."""
    from sentgen.cli.console.options import open_store
    from sentgen.lookups.concordances.concordance import Kwic
    from sentgen.lookups.cql.dialects import Dialect

    found = []
    with open_store(store, read_only=True) as opened, opened.connect() as connection:
        for query in QUERIES:
            asked = Kwic(cql=query.replace("[tag", "[xpos"), count=True, dialect=Dialect.CQP)
            taken = []
            for _ in range(TIMES):
                began = time.process_time()
                hits = asked.ask(connection).total or 0
                taken.append(time.process_time() - began)
            found.append((hits, min(taken)))
    return found


def yard() -> float:
    """Return the CPU seconds of comparing three shifted columns of ten million numbers, the best of three."""
    numbers = np.arange(10_000_000, dtype=np.int32) % 1000
    taken = []
    for _ in range(TIMES):
        began = time.process_time()
        np.count_nonzero((numbers[:-2] == 1) & (numbers[1:-1] == 2) & (numbers[2:] == 3))
        taken.append(time.process_time() - began)
    return min(taken)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
