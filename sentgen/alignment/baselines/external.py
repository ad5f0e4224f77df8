"""External word aligners, run as programs over the same sentence pairs that our word models learn from.

A program is found by an environment variable that names it or, without one, on the PATH. It reads numbers for
words (`w17`), so that nothing in a text can break its format, and answers in both directions: forward, each
abstract word comes from one document word at most; backward, each document word from one abstract word.

GIZA++ and MGIZA (Och & Ney 2003) run the HMM and Model 4, as the 2004 paper did. The input is written as they
read it: vocabularies with counts, sentence pairs as numbers, word classes of mkcls for Model 4, and the list
of words that occur together. They answer with three lines a sentence pair:

    # Sentence pair (1) source length 2 target length 1 alignment score : 0.25
    w4
    NULL ({ }) w3 ({ }) w4 ({ 1 })

which link each target word, counted from 1, to a source word or to NULL.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sentgen import temporary
from sentgen.alignment.baselines.bitext import (
    SENTENCES,
    USUAL_JOIN,
    Join,
    alignments,
    join_links,
    units,
)
from sentgen.alignment.pairs.alignment import Alignment, Link, Pair
from sentgen.errors import InputError
from sentgen.output.wording import quantity

Texts = Sequence[tuple[Sequence[str], Sequence[str]]]
#: Links (document, abstract) of each sentence pair in the two directions.
DirectedLinks = tuple[list[set[Link]], list[set[Link]]]


@dataclass(frozen=True, slots=True)
class External:
    """An aligner that runs a program, which learns from the training pairs and from the pairs to align.

    Args:
        run: function from sentence pairs (document words, abstract words) and a scratch folder to their
            links.
        training: pairs to learn from.
        join: how the links of the two directions are joined.
        sentences: document sentences for an abstract sentence; 0 for whole texts.
    """

    run: Callable[[Texts, Path], DirectedLinks]
    name: str
    training: tuple[Pair, ...] = ()
    join: Join = USUAL_JOIN
    sentences: int = SENTENCES

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each."""
        both = units(pairs, self.training, source="document", sentences=self.sentences)
        ids: dict[str, str] = {}

        def numbered(words: Sequence[str]) -> list[str]:
            return [ids.setdefault(word, f"w{len(ids)}") for word in words]

        with temporary.folder("sentgen-align-") as folder:
            forward, backward = self.run(
                [(numbered(unit.source), numbered(unit.target)) for unit in both], folder
            )
        if len(forward) != len(both) or len(backward) != len(both):
            raise InputError(
                f"{self.name} answered {len(forward):,} and {len(backward):,}"
                f" of {quantity(len(both), 'line')}"
            )
        links = (join_links(ahead, back, self.join) for ahead, back in zip(forward, backward, strict=True))
        try:
            yield from alignments(len(pairs), both, links)
        except IndexError as error:
            raise InputError(f"{self.name} linked a word that is not there") from error


def _program(name: str, variable: str, *, get: str) -> str:
    """Return the path of a program.

    Raises:
        InputError: the program is not installed; the message says how to get it.
    """
    named = os.environ.get(variable)
    path = shutil.which(named or name)
    if path is None:
        where = f"{variable} names {named!r}, which is" if named else f"`{name}` is"
        raise InputError(f"{where} no program that can be found; {get}, or set {variable} to its path")
    return path


def _call(command: Sequence[object], *, cwd: Path) -> str:
    """Run a program and return what it prints.

    Raises:
        InputError: the program failed; the message has the last line that it printed.
    """
    # A list, no shell: paths may hold anything.
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, cwd=cwd, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise InputError(f"{words[0]} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip().splitlines()
        raise InputError(
            f"{words[0]} failed ({done.returncode}): {output[-1] if output else 'it said nothing'}"
        )
    return done.stdout


def _read_pharaoh(text: str) -> list[set[Link]]:
    """Read a line of `i-j` for each sentence pair.

    >>> [sorted(links) for links in _read_pharaoh("2-1 0-0\\n\\n")]
    [[(0, 0), (2, 1)], []]
    """
    try:
        return [
            {(int(d), int(s)) for d, s in (link.split("-") for link in line.split())}
            for line in text.splitlines()
        ]
    except ValueError as error:
        raise InputError(f"the program answered something else than lines of i-j: {error}") from error


def _eflomal(texts: Texts, folder: Path, *, program: str) -> DirectedLinks:
    """Align with eflomal (Östling & Tiedemann 2016); it draws random numbers and takes no seed."""
    for name, side in (("document", 0), ("abstract", 1)):
        _write(folder / name, (" ".join(pair[side]) for pair in texts))
    _call(
        [program, "--overwrite", "-s", "document", "-t", "abstract", "-f", "forward", "-r", "backward"],
        cwd=folder,
    )
    forward, backward = ((folder / name).read_text("utf-8") for name in ("forward", "backward"))
    return _read_pharaoh(forward), _read_pharaoh(backward)


def _fast_align(texts: Texts, folder: Path, *, program: str) -> DirectedLinks:
    """Align with fast_align (Dyer et al. 2013) and the options that its authors recommend."""
    _joint(texts, folder / "texts")
    # `-r` reverses the model; its links are still i-j with the document first.
    command = [program, "-i", "texts", "-d", "-o", "-v"]
    return _read_pharaoh(_call(command, cwd=folder)), _read_pharaoh(_call([*command, "-r"], cwd=folder))


def _systran_align(texts: Texts, folder: Path) -> DirectedLinks:
    """Align with systran-align, fast_align as a Python package; it joins the directions itself."""
    module = importlib.import_module("systran_align")
    _joint(texts, folder / "texts")
    tables = {"forward_probs_path": str(folder / "forward"), "backward_probs_path": str(folder / "backward")}
    module.generate_alignment_probabilities(
        input_path=str(folder / "texts"),
        favor_diagonal=True,
        optimize_tension=True,
        variational_bayes=True,
        **tables,
    )
    documents, abstracts = (
        [list(document) for document, _ in texts],
        [list(abstract) for _, abstract in texts],
    )
    answers = module.Aligner(**tables).align_batch(documents, abstracts)
    links = [set(map(tuple, answer["alignments"])) for answer in answers]
    # The same links for both directions: every way to join them leaves them as they are.
    return links, links


def _joint(texts: Texts, path: Path) -> None:
    _write(path, (f"{' '.join(document)} ||| {' '.join(abstract)}" for document, abstract in texts))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")


def make_eflomal(
    *, name: str, training: tuple[Pair, ...] = (), join: Join = USUAL_JOIN, sentences: int = SENTENCES
) -> External:
    """Make the aligner `eflomal`; the error says how to install the program."""
    path = _program("eflomal-align", "SENTGEN_EFLOMAL", get="install it with `pip install eflomal`")
    return External(partial(_eflomal, program=path), name, training, join, sentences)


def make_fast_align(
    *, name: str, training: tuple[Pair, ...] = (), join: Join = USUAL_JOIN, sentences: int = SENTENCES
) -> External:
    """Make the aligner `fast-align` from the program or the package; the error says how to install them."""
    get = "build it from github.com/clab/fast_align, install the package with `pip install systran-align`"
    try:
        path = _program("fast_align", "SENTGEN_FAST_ALIGN", get=get)
    except InputError:
        if "SENTGEN_FAST_ALIGN" in os.environ or not importlib.util.find_spec("systran_align"):
            raise
        if join != USUAL_JOIN:
            raise InputError("systran-align joins the directions itself; leave `join` out") from None
        return External(_systran_align, name, training, join, sentences)
    return External(partial(_fast_align, program=path), name, training, join, sentences)


#: Number of the first word: 0 is NULL, 1 stands for unknown words.
_FIRST = 2
_ENTRY = re.compile(r"\(\{([0-9 ]*)\}\)")
_PAIR = re.compile(r"# Sentence pair \((\d+)\)")


def _giza(texts: Texts, folder: Path, *, program: str, model: str) -> DirectedLinks:
    """Return the links of both directions by GIZA++ or MGIZA; ``model`` is ``4`` or ``hmm``."""
    flipped = [(abstract, document) for document, abstract in texts]
    forward = _direction(texts, folder, "forward", program, model)
    backward = _direction(flipped, folder, "backward", program, model)
    return forward, [{(d, s) for s, d in links} for links in backward]


def _direction(texts: Texts, folder: Path, name: str, program: str, model: str) -> list[set[Link]]:
    """Return links (source, target) of texts (source, target)."""
    paths = [folder / f"{name}.{side}.vcb" for side in ("source", "target")]
    sides: list[dict[str, int]] = []
    for side, path in enumerate(paths):
        # In the order of first occurrence.
        counts = Counter(word for pair in texts for word in pair[side])
        sides.append(ids := {word: number for number, word in enumerate(counts, _FIRST)})
        _write(path, (f"{number} {word} {counts[word]}" for word, number in ids.items()))
        if model == "4":
            _classes(path, [pair[side] for pair in texts], program)
    numbers = [
        tuple([ids[word] for word in words] for words, ids in zip(pair, sides, strict=True)) for pair in texts
    ]
    lines = (f"1\n{' '.join(map(str, source))}\n{' '.join(map(str, target))}" for source, target in numbers)
    _write(folder / f"{name}.snt", lines)
    # NULL, 0, occurs with every word.
    together = {(s, t) for source, target in numbers for s in (0, *source) for t in target}
    _write(folder / f"{name}.cooc", (f"{s} {t}" for s, t in sorted(together)))
    _call(
        [program, "-S", paths[0].name, "-T", paths[1].name, "-C", f"{name}.snt"]
        + ["-CoocurrenceFile", f"{name}.cooc", "-o", name, "-model1iterations", 5, "-hmmiterations", 5]
        + ["-model2iterations", 0, "-model3iterations", 0]
        # The HMM writes its links only at an iteration that is named; Model 4 always writes its last ones.
        + (["-model4iterations", 5] if model == "4" else ["-model4iterations", 0, "-hmmdumpfrequency", 5]),
        cwd=folder,
    )
    return _read(folder, f"{name}.A3.final" if model == "4" else f"{name}.Ahmm.5", len(texts))


def _classes(vocabulary: Path, texts: Sequence[Sequence[str]], giza: str) -> None:
    """Make 50 word classes, as the scripts of Moses do; `mkcls` is beside the program or on the PATH."""
    mkcls = shutil.which("mkcls", path=str(Path(giza).parent)) or shutil.which("mkcls")
    if mkcls is None:
        raise InputError(f"Model 4 needs `mkcls`, which is neither beside {giza} nor on the PATH; install it")
    text = vocabulary.with_suffix(".txt")
    _write(text, map(" ".join, texts))
    _call(
        [mkcls, "-c50", "-n2", f"-p{text.name}", f"-V{vocabulary.name}.classes", "opt"], cwd=vocabulary.parent
    )


def _read(folder: Path, name: str, count: int) -> list[set[Link]]:
    """Read the links of sentence pairs; MGIZA writes a file for each thread, in any order."""
    links: list[set[Link]] = [set() for _ in range(count)]
    parts = sorted(folder.glob(f"{name}*"))
    if not parts:
        raise InputError(f"the program wrote no {name}; is it GIZA++ or MGIZA?")
    for part in parts:
        lines = part.read_text("utf-8").splitlines()
        for head, _, answer in zip(*[iter(lines)] * 3, strict=False):
            number = _PAIR.match(head)
            if number is None or not 1 <= int(number[1]) <= count:
                raise InputError(f"{part.name} is not what GIZA++ writes: {head[:60]!r}")
            # The first entry is NULL; source word i is entry i + 1.
            for source, targets in enumerate(_ENTRY.findall(answer)[1:]):
                links[int(number[1]) - 1].update((source, int(target) - 1) for target in targets.split())
    return links


def make_giza(
    *,
    name: str,
    training: tuple[Pair, ...] = (),
    join: Join = USUAL_JOIN,
    sentences: int = SENTENCES,
    model: str = "4",
    executable: str,
) -> External:
    """Make the aligner `mgiza` or `giza`; the error says how to install the program."""
    variable = "SENTGEN_" + executable.rstrip("+").upper()
    get = f"build it from github.com/moses-smt/{'mgiza' if executable == 'mgiza' else 'giza-pp'}"
    path = _program(executable, variable, get=get)
    return External(partial(_giza, program=path, model=model), name, training, join, sentences)
