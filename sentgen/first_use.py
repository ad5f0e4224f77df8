"""Run common commands, to compile their functions: ``python -m sentgen.first_use [PART]``.

Numba compiles a function at its first call, and stores the machine code next to its module. Wheels are built
with this machine code (`build_backend.py`), so that users need not wait. Without a part, the parts of a wheel
are run.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from sentgen.cli import main
from sentgen.demo import NEW_SENTENCES, TREEBANK
from sentgen.generation import ALGORITHMS

_TREES = TREEBANK.read_text("utf-8")
_TEXTS = [line[9:] for line in _TREES.splitlines() if line.startswith("# text =")]
_DOCUMENT = "The first aid trucks arrived in Sarkesh on Tuesday . They brought tents to the camp ."
#: Files for the commands to read, by their names.
_FILES = {
    "relief.conllu": _TREES,
    "few.conllu": "\n\n".join(_TREES.split("\n\n")[:4]) + "\n\n",
    "relief.txt": "\n".join(_TEXTS),
    "relief.lines": f"{_DOCUMENT}\n",
    "document.txt": _DOCUMENT,
    "abstract.txt": "Aid trucks brought tents to Sarkesh .",
    "gold.txt": "a dog ||| the dog ||| 1-1\na cat ||| one cat ||| 0p0 1-1\n",
}
_REGENERATE = "\n".join(
    f"regenerate --model five -a {algorithm} --explain {shlex.quote(NEW_SENTENCES[0])}"
    for algorithm in ALGORITHMS
)
#: The first command of the README, which compiles about as much as all others of a wheel.
_DEMO = "demo --db store.duckdb"
#: Other commands of README, tutorial and servers; at the end those whose functions the demo compiles, too.
_OTHERS = f"""
align text --document document.txt --abstract abstract.txt --explain
ingest relief.lines --corpus lines
ingest relief.txt --corpus text
ingest relief.txt --corpus text --language fr --replace
models build katz --corpus text --smoothing katz
models export katz --arpa katz.arpa
models import-arpa read katz.arpa
ingest relief.conllu --corpus relief
vectors build relief --corpus relief --contexts both --dimensions 10 --min-count 2
vectors build window --corpus relief --dimensions 10 --min-count 2
models build five --corpus relief --order 5
score --model five {shlex.join(NEW_SENTENCES)}
models build counts --corpus relief --smoothing stupid-backoff
score --model counts 'the camp'
{_REGENERATE}
evaluate regeneration --model five --test few.conllu -a {",".join(ALGORITHMS)}
tune relief.conllu --model five --rounds 1
db compact
db check
corpora remove text --yes
"""
#: Commands that are compiled at their first use: mixtures of models, sentences from others, and training of
#: aligners.
_LATER = f"""
ingest relief.conllu --corpus relief
models build three --corpus relief --order 3
models build two --corpus relief --order 2
models mix stored --of three,two --tune relief.txt
models mix summed --of three,two --dynamic
models prune small --of three --entropy 1e-5
score --model summed --file relief.lines
regenerate --model summed -a lmo {shlex.quote(NEW_SENTENCES[0])}
generate relief.conllu --cluster relief-002 --lengths 6-8
generate relief.conllu --cluster relief-002 --arguments supported
fuse 10 --with relief.conllu
fuse 10 --with relief.conllu --algorithm depviterbi
check relief.conllu --against relief.conllu
align text --document document.txt --abstract abstract.txt --system cut-and-paste
align text --document document.txt --abstract abstract.txt --system hmm
pairs ingest document.txt abstract.txt --corpus pairs
align train --pairs pairs --model best --preset best --iterations 1
align train --pairs pairs --model paper --preset paper --iterations 1
align apply --pairs pairs --model best
align tune tuned --gold gold.txt --iterations 1
align text --document document.txt --abstract abstract.txt --model tuned
"""
#: Parts share few functions, so that several processes may run them at the same time.
PARTS = {"demo": _DEMO, "others": _OTHERS, "later": _LATER}
#: Parts whose machine code is in a wheel; the rest would add half a minute to each installation.
SHIPPED = ("demo", "others")


def run(*parts: str) -> list[str]:
    """Run parts in a temporary folder; return the command lines that failed, with their messages."""
    failed = []
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        open(os.devnull, "w", encoding="utf-8") as nowhere,
    ):
        os.environ["SENTGEN_DB"] = "store.duckdb"
        for name, text in _FILES.items():
            Path(name).write_text(text, "utf-8", newline="\n")
        for line in "\n".join(PARTS[part].strip() for part in parts).splitlines():
            sys.argv = ["sentgen", *shlex.split(line)]
            output = io.StringIO()
            try:
                with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(output):
                    main()
            except SystemExit as end:
                if end.code:
                    failed.append(f"{line}: {end.code}\n{output.getvalue()}")
    return failed


if __name__ == "__main__":
    if parts := sys.argv[1:]:
        sys.exit("\n".join(run(*parts)) or None)
    running = [subprocess.Popen([sys.executable, "-m", "sentgen.first_use", part]) for part in SHIPPED]
    codes = [process.wait() for process in running]
    sys.exit(any(codes))
