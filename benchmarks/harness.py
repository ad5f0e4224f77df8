"""What the benchmarks share: whole processes measured by the operating system, data, and tables.

Run a benchmark as ``python benchmarks/NAME.py``; it finds the corpora by SENTGEN_DATA, else ../shared/data, and
writes what it makes under benchmarks/out (ignored by git). Times are CPU seconds of the whole process (user and
system), because wall-clock time on a shared machine says little; memory is the peak of the resident set.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from sentgen.output.rates import wilson

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "benchmarks" / "out"
SENTGEN = str(Path(sys.executable).parent / "sentgen")
#: Frequent words and punctuation, 60 % of the tokens of the treebanks, that `large_treebank` never renames.
KEPT = 300
_RENAMED = "\0"
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Usage:
    """What a process took."""

    cpu: float
    wall: float
    peak: int
    output: str


def data(name: str) -> Path:
    """Return a file of the real corpora."""
    path = Path(os.environ.get("SENTGEN_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.exists():
        sys.exit(f"{path} is not there; set SENTGEN_DATA to the folder of the corpora")
    return path


def measure(command: Sequence[str], *, stdin: Path | None = None, limit: float = 3000) -> Usage:
    """Run a command to its end; its peak memory is that of its largest process."""
    with open(stdin or os.devnull, "rb") as source, open(OUT / "stdout", "wb+") as sink:
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=source, stdout=sink, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        sink.seek(max(0, sink.tell() - 4000))
        output = sink.read().decode(errors="replace")
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024, output)


def run(*arguments: str, store: Path) -> None:
    """Run a command of sentgen on a store."""
    measure([SENTGEN, *arguments, "--db", str(store)])


def treebank(name: str, part: str) -> list[str]:
    """Return the sentences of a part of an English treebank, as they stand in its file."""
    text = data(f"ud/en_{name}-ud-{part}.conllu").read_text("utf-8")
    return [block for block in text.split("\n\n") if block.strip()]


def written(name: str, blocks: Sequence[str]) -> Path:
    """Write sentences of treebanks into a file."""
    path = OUT / f"{name}.conllu"
    path.write_text("".join(f"{block}\n\n" for block in blocks), "utf-8")
    return path


def large_treebank(tokens: int, *, renamed: bool = True) -> Path:
    """Write ``tokens`` tokens of trees as CoNLL-U: those of five treebanks, again and again.

    The first 204,577 are EWT train. Each time the trees come again, all words but the `KEPT` most frequent ones are
    renamed (*river*, *river~2*, *river~3*), so that frequent words and punctuation grow with the corpus, and the
    vocabulary, too, while rare words stay rare. Not renamed, all words grow. Thirty million tokens take 1.5 GB.
    """
    path = OUT / f"trees-{tokens}{'' if renamed else '-same'}.conllu"
    if path.exists():
        return path
    OUT.mkdir(parents=True, exist_ok=True)
    draft, size = path.with_suffix(".draft"), 0
    blocks = list(_marked_trees())
    every, whole = "".join(block for _, block in blocks), sum(count for count, _ in blocks)
    with open(draft, "w", encoding="utf-8") as sink:
        for time_again in range(1, tokens // whole + 1):
            sink.write(every.replace(_RENAMED, f"~{time_again}" if renamed and time_again > 1 else ""))
            size += whole
        suffix = f"~{size // whole + 1}" if renamed and size else ""
        for count, block in blocks:
            if size >= tokens:
                break
            sink.write(block.replace(_RENAMED, suffix))
            size += count
    draft.rename(path)
    return path


def _marked_trees() -> Iterator[tuple[int, str]]:
    """Yield the number of tokens of each sentence and its lines, with a mark behind each name that may change."""
    sentences = [
        _plain(block) for name in ("ewt", "gum", "lines", "partut") for block in treebank(name, "train")
    ]
    for path in sorted(data("wsj01/dep").glob("*.dp")):
        sentences += [_from_dp(block) for block in path.read_text("utf-8").split("\n\n") if block.strip()]
    frequent = Counter(columns[1] for sentence in sentences for columns in sentence)
    kept = {form for form, _ in frequent.most_common(KEPT)}
    for sentence in sentences:
        lines = []
        for number, form, lemma, *rest in sentence:
            mark = "" if form in kept else _RENAMED
            lines.append("\t".join((number, form + mark, lemma + mark, *rest, "_", "_\n")))
        yield len(sentence), "".join(lines) + "\n"


def _plain(block: str) -> list[list[str]]:
    """Return the first eight columns of the words of a sentence, without ranges and empty nodes."""
    columns = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
    return [found[:8] for found in columns if found[0].isdigit()]


def _from_dp(block: str) -> list[list[str]]:
    columns = enumerate((line.split("\t") for line in block.strip().splitlines()), 1)
    return [
        [str(number), form, form, "_", tag, "_", head, "dep" if int(head) else "root"]
        for number, (form, tag, head) in columns
    ]


def rows(store: Path, query: str) -> list[dict[str, Any]]:
    """Return what `sentgen sql` finds."""
    command = [SENTGEN, "sql", query, "--json", "--db", str(store)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return list(json.loads(found))


def novels(tokens: int) -> Path:
    """Write the first ``tokens`` tokens of the novels, one sentence a line, and return the file."""
    path = OUT / f"novels-{tokens}.lines"
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        with open(draft, "w", encoding="utf-8") as sink:
            for sentence in _sentences(tokens):
                sink.write(" ".join(sentence) + "\n")
        draft.rename(path)
    return path


def _sentences(tokens: int) -> Iterator[list[str]]:
    with gzip.open(data("text/english-novels-100.txt.gz"), "rt", encoding="utf-8-sig") as lines:
        for line in lines:
            start = 0
            words = _TOKEN.findall(line)
            for end, word in enumerate(words, 1):
                if word in ".!?" or end == len(words):
                    yield words[start:end]
                    tokens -= end - start
                    start = end
                    if tokens <= 0:
                        return


def resampled(tokens: int, seed: int = 1) -> Path:
    """Write ``tokens`` tokens of sentences made from the novels: the beginning of one and the end of another.

    Half of the sentences are taken whole. The splices make n-grams that the novels do not have, so that the
    number of distinct ones grows as it does in real text.
    """
    path = OUT / f"resampled-{tokens}-{seed}.lines"
    if path.exists():
        return path
    rng = np.random.default_rng(seed)
    sentences = [line.split() for line in novels(14_000_000).read_text(encoding="utf-8").splitlines()]
    draft = path.with_suffix(".draft")
    with open(draft, "w", encoding="utf-8") as sink:
        while tokens > 0:
            pairs = rng.integers(0, len(sentences), (100_000, 2))
            cuts = rng.random((100_000, 2))
            for (a, b), (where, whether) in zip(pairs.tolist(), cuts.tolist(), strict=True):
                words = sentences[a]
                if whether < 0.5:
                    other = sentences[b]
                    words = words[: int(where * len(words)) + 1] + other[int(where * len(other)) + 1 :]
                sink.write(" ".join(words) + "\n")
                tokens -= len(words)
                if tokens <= 0:
                    break
    draft.rename(path)
    return path


def lmplz() -> str | None:
    """Return KenLM's lmplz: $SENTGEN_LMPLZ, else built from the sdist on PyPI; ``None`` where it does not build."""
    chosen = os.environ.get("SENTGEN_LMPLZ")
    built = OUT / "kenlm-build" / "bin" / "lmplz"
    if chosen or built.exists():
        return chosen or str(built)
    try:
        source = _kenlm_source()
        subprocess.run(
            ["cmake", "-S", str(source), "-B", str(OUT / "kenlm-build"), "-DCMAKE_BUILD_TYPE=Release"],
            check=True,
        )
        subprocess.run(["cmake", "--build", str(OUT / "kenlm-build"), "--target", "lmplz"], check=True)
    except (subprocess.CalledProcessError, StopIteration, OSError) as error:
        print(
            f"lmplz does not build here ({error}); it needs cmake, a C++ compiler and Boost", file=sys.stderr
        )
        return None
    return str(built)


def build_binary() -> str | None:
    """Return what makes KenLM's binary files, compiled from the sdist on PyPI; ``None`` where it is not."""
    try:
        built = _kenlm_source() / "bin" / "build_binary"
        if not built.exists():  # the script needs no Boost
            subprocess.run(
                ["bash", "compile_query_only.sh"], cwd=built.parent.parent, check=True, capture_output=True
            )
    except (subprocess.CalledProcessError, StopIteration, OSError) as error:
        print(f"build_binary does not build here ({error}); it needs a C++ compiler", file=sys.stderr)
        return None
    return str(built)


def _kenlm_source() -> Path:
    """Return the folder with the sdist of KenLM, fetched from PyPI."""
    OUT.mkdir(parents=True, exist_ok=True)
    if not any(OUT.glob("kenlm-*.tar.gz")):
        # Not what it is built with, which would have to be built as well.
        without = ["--no-deps", "--no-binary", "kenlm"]
        fetch = [sys.executable, "-m", "pip", "download", "-q", *without, "-d", str(OUT), "kenlm"]
        subprocess.run(fetch, check=True)
    if not any(path.is_dir() for path in OUT.glob("kenlm-[0-9]*")):
        with tarfile.open(next(OUT.glob("kenlm-*.tar.gz"))) as archive:
            archive.extractall(OUT, filter="data")
    return next(path for path in OUT.glob("kenlm-[0-9]*") if path.is_dir())


def own_usage() -> tuple[float, int]:
    """Return the CPU seconds and the peak memory of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table, with the machine and the date below."""
    table = Table(title=title, caption=f"{cpu_name()}, {os.cpu_count()} cores, {date.today()}")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(
            *(
                f"{cell:,.2f}"
                if isinstance(cell, float)
                else f"{cell:,}"
                if isinstance(cell, int)
                else str(cell)
                for cell in row
            )
        )
    Console(width=110).print(table)


def interval(right: int, total: int, *, digits: int = 2) -> str:
    """Return a share with its 95% interval."""
    if not total:
        return "-"
    low, high = wilson(right, total)
    return f"{right} of {total}: {right / total:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def megabytes(size: int) -> int:
    """Return whole megabytes (2**20)."""
    return size >> 20


def cpu_name() -> str:
    """Return what the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def fresh(name: str) -> Path:
    """Return the path of a store that does not exist yet."""
    OUT.mkdir(parents=True, exist_ok=True)
    for leftover in OUT.glob(f"{name}.duckdb*"):
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    return OUT / f"{name}.duckdb"
