"""Systems by name, and external aligners, for which small scripts stand in."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from sentgen.alignment import Pair
from sentgen.alignment.baselines.bitext import join_links
from sentgen.alignment.systems import SYSTEMS, aligner_named
from sentgen.errors import InputError

PAIRS = [
    Pair("1", ("The", "dog", "barked"), ("dog", "barked")),
    Pair("2", ("A", "cat", "|||", "slept"), ("cat",)),
]


def script(path: Path, body: str) -> Path:
    """Write a program in Python."""
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


#: Links words with the same number forward, and only the last of them backward.
EFLOMAL = """
at = {flag: sys.argv[sys.argv.index(flag) + 1] for flag in ("-s", "-t", "-f", "-r")}
with open(at["-s"]) as s, open(at["-t"]) as t, open(at["-f"], "w") as f, open(at["-r"], "w") as r:
    for one, other in zip(s, t):
        links = [f"{i}-{j}" for i, a in enumerate(one.split()) for j, b in enumerate(other.split()) if a == b]
        print(*links, file=f)
        print(*links[-1:], file=r)
"""
FAST_ALIGN = """
for line in open(sys.argv[sys.argv.index("-i") + 1]):
    one, other = (side.split() for side in line.split(" ||| "))
    links = [f"{i}-{j}" for i, a in enumerate(one) for j, b in enumerate(other) if a == b]
    print(*(links[-1:] if "-r" in sys.argv else links))
"""
#: Answers as MGIZA does, in two parts; says in `classes` what mkcls was asked.
MGIZA = """
at = {flag: sys.argv[sys.argv.index(flag) + 1] for flag in ("-S", "-T", "-C", "-o", "-CoocurrenceFile")}
words = [dict(line.split()[:2] for line in open(at[flag])) for flag in ("-S", "-T")]
lines = open(at["-C"]).read().splitlines()
cells = {tuple(line.split()) for line in open(at["-CoocurrenceFile"])}
name = ".A3.final" if sys.argv[sys.argv.index("-model4iterations") + 1] == "5" else ".Ahmm.5"
for part in (1, 0):
    with open(at["-o"] + name + f".part00{part}", "w") as out:
        for k in range(part, len(lines) // 3, 2):
            source, target = (line.split() for line in lines[3 * k + 1:3 * k + 3])
            assert all((s, t) in cells for s in ("0", *source) for t in target)
            places = lambda w: [j + 1 for j, t in enumerate(target) if words[1][t] == w]
            print(f"# Sentence pair ({k + 1}) source length {len(source)}", file=out)
            print(*target, file=out)
            print("NULL ({ })", *(f"{words[0][s]} ({{ {' '.join(map(str, places(words[0][s])))} }})" for s in source), file=out)
"""
MKCLS = """
text = next(a[2:] for a in sys.argv if a.startswith("-p"))
open(next(a[2:] for a in sys.argv if a.startswith("-V")), "w").write(open(text).read())
"""


def links(system: str) -> list[set[tuple[int, int]]]:
    return [set(alignment.links) for alignment in aligner_named(system).align(PAIRS)]


def test_eflomal_by_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gets words as numbers, its links get the offsets of the words; both directions work."""
    monkeypatch.setenv("SENTGEN_EFLOMAL", str(script(tmp_path / "eflomal-align", EFLOMAL)))

    assert links("eflomal") == [{(1, 0), (2, 1)}, {(1, 0)}]
    assert links("eflomal:join=forward") == [{(1, 0), (2, 1)}, {(1, 0)}]
    assert links("eflomal:join=backward") == [{(2, 1)}, {(1, 0)}]
    assert links("eflomal:join=intersection") == [{(2, 1)}, {(1, 0)}]


def test_fast_align_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is the separator of the format does not break a text."""
    script(tmp_path / "fast_align", FAST_ALIGN)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert links("fast-align") == [{(1, 0), (2, 1)}, {(1, 0)}]


@pytest.mark.parametrize("system", ["mgiza", "mgiza:model=hmm", "giza"])
def test_giza_files(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vocabularies, numbers and co-occurrences are written; the parts of the output are read in order."""
    monkeypatch.setenv("SENTGEN_MGIZA", str(script(tmp_path / "mgiza", MGIZA)))
    monkeypatch.setenv("SENTGEN_GIZA", str(tmp_path / "mgiza"))
    script(tmp_path / "mkcls", MKCLS)

    assert links(system) == [{(1, 0), (2, 1)}, {(1, 0)}]


def test_model_4_needs_mkcls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without mkcls, Model 4 fails with one line, and the HMM runs."""
    monkeypatch.setenv("SENTGEN_MGIZA", str(script(tmp_path / "mgiza", MGIZA)))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(InputError, match="Model 4 needs `mkcls`"):
        links("mgiza")
    assert links("mgiza:model=hmm")


@pytest.mark.parametrize(
    ("system", "advice"),
    [
        ("eflomal", "pip install eflomal"),
        ("fast-align", "pip install systran-align"),
        ("mgiza", "moses-smt/mgiza"),
        ("giza", "moses-smt/giza-pp"),
    ],
)
def test_missing_programs(system: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing program is named, with how to install it, before anything is read."""
    for variable in ("EFLOMAL", "FAST_ALIGN", "MGIZA", "GIZA"):
        monkeypatch.delenv(f"SENTGEN_{variable}", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(InputError, match=advice):
        aligner_named(system)


def test_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a variable that names no program names the variable, not the PATH."""
    monkeypatch.setenv("SENTGEN_EFLOMAL", "/nowhere/eflomal")

    with pytest.raises(InputError, match=r"SENTGEN_EFLOMAL names '/nowhere/eflomal'"):
        aligner_named("eflomal")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('out of luck')", "failed .1.: out of luck"),
        ("sys.exit(3)", "failed .3.: it said nothing"),
        ("print('0-0')", "answered 1 and 1 of"),
        ("print('nonsense')", "something else than lines of i-j"),
        ("[print('7-7') for _ in open('texts')]", "linked a word that is not there"),
        ("[print('-1-0') for _ in open('texts')]", "something else"),
    ],
)
def test_programs_that_fail(body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that fails or answers nonsense gives one clear line."""
    monkeypatch.setenv("SENTGEN_FAST_ALIGN", str(script(tmp_path / "fast_align", body)))

    with pytest.raises(InputError, match=message):
        links("fast-align")


@pytest.mark.parametrize("body", ["", "open('forward.Ahmm.5', 'w').write('a\\nb\\nc\\n')"])
def test_giza_that_answers_nonsense(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing output and malformed output are errors."""
    monkeypatch.setenv("SENTGEN_MGIZA", str(script(tmp_path / "mgiza", body)))

    with pytest.raises(InputError, match=r"wrote no forward|is not what GIZA"):
        links("mgiza:model=hmm")


def test_programs_that_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a file that is no program says so."""
    path = script(tmp_path / "fast_align", "")
    path.write_text("#!/nowhere/python\n")
    monkeypatch.setenv("SENTGEN_FAST_ALIGN", str(path))

    with pytest.raises(InputError, match="cannot be run"):
        links("fast-align")


SYSTRAN = """
from pathlib import Path

def generate_alignment_probabilities(*, input_path, forward_probs_path, backward_probs_path, **options):
    Path(forward_probs_path).write_text(Path(input_path).read_text())

class Aligner:
    def __init__(self, *, forward_probs_path, backward_probs_path):
        assert " ||| " in Path(forward_probs_path).read_text()

    def align_batch(self, source, target):
        equal = lambda one, other: [(i, j) for i, a in enumerate(one) for j, b in enumerate(other) if a == b]
        return [{"alignments": equal(one, other)} for one, other in zip(source, target)]
"""


def test_fast_align_as_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the program, the package systran-align is used, which joins the directions in its own way."""
    (tmp_path / "systran_align.py").write_text(SYSTRAN)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "systran_align", raising=False)

    assert links("fast-align") == [{(1, 0), (2, 1)}, {(1, 0)}]
    with pytest.raises(InputError, match="leave `join` out"):
        aligner_named("fast-align:join=forward")


@pytest.mark.parametrize(
    "system", [name for name in SYSTEMS if name not in ("eflomal", "fast-align", "mgiza", "giza")]
)
def test_names_are_those_that_were_asked_for(system: str) -> None:
    """A table shows systems as the user wrote them, and all of ours run without training pairs."""
    aligner = aligner_named(system)

    assert aligner.name == system
    assert len(list(aligner.align(PAIRS))) == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("model9", "no system 'model9'; there are: lcs, cut-and-paste, model1"),
        ("lcs:size=2", "no setting 'size'; there are: n, reuse"),
        ("lcs:n=few", "the value 'few' for n"),
        ("lcs:n=-1", "the value '-1' for n"),
        ("lcs:reuse=maybe", "the value 'maybe' for reuse"),
        ("hmm:null=2", "the value '2' for null"),
        ("model1:source=both", "the value 'both' for source"),
        ("eflomal:join=all", "the value 'all' for join"),
        ("mgiza:model=5", "the value '5' for model"),
        ("lcs:n=0", "the value '0' for n"),
        ("cut-and-paste:n=0", "the value '0' for n"),
    ],
)
def test_wrong_systems(spec: str, message: str) -> None:
    """The error of a wrong name, setting or value lists the right ones."""
    with pytest.raises(InputError, match=message):
        aligner_named(spec)


def test_settings_reach_the_system() -> None:
    """Values are numbers, truth values and names; dashes and underscores are the same."""
    aligner = aligner_named("hmm-flipped:iterations=2:model1-iterations=3:null=0.3")

    assert (aligner.iterations, aligner.model1_iterations, aligner.null) == (2, 3, 0.3)  # type: ignore[attr-defined]


def test_grow_diag_final_and() -> None:
    """Links grow along neighbours with a free word; final ones need both words free.

    Both have 0-0. Its neighbour 1-1 is of one, and its words are free; so grows 1-2 of the other, as word 2 is
    free. 3-2 touches no link but diagonally none that is in; 2 is taken: it stays out. 4-4 is final.
    """
    one, other = {(0, 0), (1, 1), (3, 2), (4, 4)}, {(0, 0), (1, 2), (4, 0)}

    assert join_links(one, other, "grow-diag-final-and") == {(0, 0), (1, 1), (1, 2), (4, 4)}


def test_joins() -> None:
    """The other joins are operations on sets of links."""
    one, other = {(0, 0), (1, 1)}, {(0, 0), (2, 2)}

    assert join_links(one, other, "intersection") == {(0, 0)}
    assert join_links(one, other, "forward") == one
    assert join_links(one, other, "backward") == other
