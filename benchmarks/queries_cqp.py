"""Queries beside the Corpus Workbench: ``python benchmarks/queries_cqp.py [TOKENS]`` (a million if not given).

The novels, as a vertical file with tags of a small rule, become a store and, where ``cwb-encode`` and ``cqp`` are
installed, a corpus of theirs; both are asked the same in warm sessions: how many matches queries have, lines of them,
and groups. They must count the same, show the same matches in the same order, and have the same groups. Times are CPU
milliseconds, the best of three; theirs are read from /proc, in steps of 10 ms, so that each question is asked for a
fifth of a second, or 20 times, for one time. Where ``cqp`` is not installed, ours stand alone.

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
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from harness import OUT, SENTGEN, measure, novels, show
from rich.markup import escape

from sentgen.cli.console.options import StoreOptions
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.cql.dialects import Dialect
from sentgen.lookups.statistics.frequencies import Frequencies

TIMES, AGAIN, LONG = 3, 20, 0.2
#: Sentences of a text.
_SENTENCES = 2_000
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


JJ_NN, DT_JJ_NN = '[tag="JJ"] [tag="NN"]', '[tag="DT"] [tag="JJ"] [tag="NN"]'


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and what is asked about its matches: of CQP, where they are called A, and of a store.

    Args:
        query: in CQP.
        about: commands of CQP, of which the last one answers.
        ours: what makes the same look-up of the query in CQL, and the columns of the table that it gives.
    """

    query: str
    about: tuple[str, ...] = ("size A",)
    ours: tuple[type[Kwic | Frequencies], dict[str, Any], tuple[str, ...]] = (
        Kwic,
        {"count": True},
        ("hits",),
    )

    @property
    def name(self) -> str:
        """What a table calls it."""
        return self.query if self.about == ("size A",) else f"{self.query}; {'; '.join(self.about)}"

    @property
    def sampled(self) -> bool:
        """Whether lines are drawn at random."""
        return any(one.startswith("randomize") for one in self.about)

    @property
    def compared(self) -> str:
        """The command of CQP whose answer is compared: that of lines, without their contexts."""
        what, *words = self.about[-1].split()
        return f"tabulate {' '.join(words)} match .. matchend word" if what == "cat" else self.about[-1]

    def look_up(self) -> Kwic | Frequencies:
        """Return the look-up in a store."""
        kind, settings, _ = self.ours
        text = self.query.replace("[tag", "[xpos")
        asked: dict[str, Any] = {"cql" if kind is Kwic else "query": text, **settings}
        return kind(dialect=Dialect.CQP, **asked)

    def answer(self, table: pa.Table) -> list[tuple[str, ...]]:
        """Return what a look-up found, as CQP would print it."""
        return self._ordered(zip(*(map(str, table[name].to_pylist()) for name in self.ours[2]), strict=True))

    def printed(self, lines: Iterable[str]) -> list[tuple[str, ...]]:
        """Return what CQP printed, in the order of our columns."""
        rows = [tuple(line.split("\t")) for line in lines]
        # Frequency, number of the first match, and the words.
        return self._ordered((row[2], row[0]) if self.about[-1].startswith("count") else row for row in rows)

    def _ordered(self, rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        # Groups that are equally frequent come in any order, and the samples of the two are not the same.
        found = list(rows)
        if self.about[-1].startswith(("group", "count")):
            return sorted(found)
        return [(str(len(found)),)] if self.sampled else found


def lines(query: str, limit: int, *before: str, **settings: Any) -> Question:
    """Ask for the first lines, or with 0 for all."""
    shown = f"cat A 0 {limit - 1}" if limit else "cat A"
    return Question(query, (*before, shown), (Kwic, {"limit": limit, **settings}, ("node",)))


def groups(query: str, command: str, *by: str) -> Question:
    """Ask how often each of some keys is there."""
    return Question(query, (command,), (Frequencies, {"by": list(by), "limit": 0}, (*by, "count")))


QUESTIONS = (
    *map(Question, QUERIES),
    *(lines(query, 50) for query in ('"the"', '"zeal"', DT_JJ_NN, '"from" []{0,4} "to"')),
    lines('"he"', 0),
    lines(DT_JJ_NN, 0),
    lines('"man"', 50, "sort A by word on match[-1]", sort="1L"),
    lines('"the"', 50, "sort A by word on matchend[1]", sort="1R"),
    lines('"the"', 100, "randomize 7", "reduce A to 100", random=7),
    groups(JJ_NN, "group A matchend word", "matchend.word"),
    groups(DT_JJ_NN, "group A matchend word by match word", "match.word", "matchend.word"),
    groups('"on" []', "group A matchend tag", "matchend.xpos"),
    groups('"love"', "group A match text_id", "document"),
    groups('[tag="VBG"]', "count A by word", "word"),
)


class Cqp:
    """A session of ``cqp -c``, which reads commands and answers until a line that ends the answer."""

    def __init__(self, command: list[str]) -> None:
        # What it complains about comes before the end of the answer.
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self._child = subprocess.Popen(command, text=True, **pipes)
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

    def answer(self, question: Question) -> list[tuple[str, ...]]:
        """Return the answer to a question."""
        told = self.ask("; ".join((f"A = {question.query}", *question.about[:-1], question.compared)))
        if not told or told[0].startswith("CQP Error"):
            sys.exit(f"cqp does not answer {question.name}: {' '.join(told)}")
        return question.printed(told)

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
    for question, (answer, ours) in zip(QUESTIONS, asked_of_store(store), strict=True):
        row = [escape(question.name), f"{_size(question, answer):,}", f"{ours * 1000:.1f}"]
        if session:
            if (theirs := session.answer(question)) != answer:
                other = next((pair for pair in zip(answer, theirs, strict=False) if len({*pair}) > 1), "")
                sys.exit(f"{question.name}: {len(answer)} rows here, {len(theirs)} in CQP; {other}")
            taken = min(_asked_again(session, question) for _ in range(TIMES))
            ratios.append(ours / max(taken, half))
            row += [f"{taken * 1000:.1f}", f"{ratios[-1]:.2f}"]
        rows.append(tuple(row))
    columns = ["query", "rows", "CPU ms", *(["CQP", "ratio"] if session else [])]
    show(f"Queries on {tokens:,} tokens; half a yard is {half * 1000:.1f} ms", columns, rows)
    if session:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean {mean:.2f}, beside {session.version}")
        session.close()


def write_vertical(path: Path, tokens: int) -> None:
    """Write the novels, a token a line, with tags by their last letters."""
    with path.open("w", encoding="utf-8") as to, novels(tokens).open(encoding="utf-8") as lines:
        for number, line in enumerate(filter(str.strip, lines)):
            if number % _SENTENCES == 0:
                to.write(f'{"</text>" * bool(number)}\n<text id="n{number // _SENTENCES}">\n'.lstrip())
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
    # Tabs, and no counts in words.
    session.ask("set PrettyPrint off")
    return session


def _size(question: Question, answer: list[tuple[str, ...]]) -> int:
    """Return how many matches, lines or groups an answer tells."""
    return int(answer[0][0]) if question.sampled or question.about == ("size A",) else len(answer)


def _asked_again(session: Cqp, question: Question) -> float:
    began, times, taken = session.cpu(), 0, 0.0
    while times < AGAIN and taken < LONG:
        session.ask("; ".join((f"A = {question.query}", *question.about)))
        times, taken = times + 1, session.cpu() - began
    return taken / times


def asked_of_store(store: Path) -> list[tuple[list[tuple[str, ...]], float]]:
    """Return the answer and the CPU seconds of every question, in a session."""
    found = []
    with StoreOptions(db=store).store(read_only=True) as opened, opened.connect() as connection:
        for question in QUESTIONS:
            asked, taken = question.look_up(), []
            for _ in range(TIMES):
                began = time.process_time()
                table = asked.ask(connection).table
                taken.append(time.process_time() - began)
            found.append((question.answer(table), min(taken)))
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
