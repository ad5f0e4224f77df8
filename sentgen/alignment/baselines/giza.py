"""GIZA++ and MGIZA as programs (Och & Ney 2003): the HMM and Model 4, as the 2004 paper ran them.

The input is written as they read it: vocabularies with counts, sentence pairs as numbers, word classes of
mkcls for Model 4, and the list of words that occur together. Their answer are three lines a sentence pair:

    # Sentence pair (1) source length 2 target length 1 alignment score : 0.25
    w4
    NULL ({ }) w3 ({ }) w4 ({ 1 })

which link each target word, counted from 1, to a source word or to NULL.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sentgen.alignment.alignment import Link
from sentgen.alignment.baselines.external import DirectedLinks, External, Texts, call, program
from sentgen.alignment.baselines.extraction import SENTENCES
from sentgen.alignment.baselines.symmetrize import USUAL_JOIN, Join
from sentgen.alignment.pair import Pair
from sentgen.errors import InputError

#: Numbers below are taken: 0 is NULL, 1 stands for unknown words.
_FIRST = 2
_ENTRY = re.compile(r"\(\{([0-9 ]*)\}\)")
_PAIR = re.compile(r"# Sentence pair \((\d+)\)")


def giza(texts: Texts, folder: Path, *, program: str, model: str) -> DirectedLinks:
    """Align in both directions.

    Args:
        texts: sentence pairs.
        folder: where files may be written.
        program: `mgiza` or `GIZA++`; `mkcls` is looked for beside it and on the PATH.
        model: ``4`` or ``hmm``.
    """
    flipped = [(abstract, document) for document, abstract in texts]
    forward = _direction(texts, folder, "forward", program, model)
    backward = _direction(flipped, folder, "backward", program, model)
    return forward, [{(d, s) for s, d in links} for links in backward]


def _direction(texts: Texts, folder: Path, name: str, program: str, model: str) -> list[set[Link]]:
    """Return links (source, target) of texts (source, target)."""
    sides = [_vocabulary([pair[side] for pair in texts]) for side in (0, 1)]
    paths = [folder / f"{name}.{side}.vcb" for side in ("source", "target")]
    for path, ids, side in zip(paths, sides, (0, 1), strict=True):
        counts = Counter(word for pair in texts for word in pair[side])
        path.write_text(
            "".join(f"{number} {word} {counts[word]}\n" for word, number in ids.items()),
            "utf-8",
            newline="\n",
        )
        if model == "4":
            _classes(path, [pair[side] for pair in texts], program)
    numbers = [
        tuple([ids[word] for word in words] for words, ids in zip(pair, sides, strict=True)) for pair in texts
    ]
    lines = (f"1\n{' '.join(map(str, source))}\n{' '.join(map(str, target))}\n" for source, target in numbers)
    (folder / f"{name}.snt").write_text("".join(lines), "utf-8", newline="\n")
    # NULL, 0, occurs with every word.
    together = {(s, t) for source, target in numbers for s in (0, *source) for t in target}
    (folder / f"{name}.cooc").write_text(
        "".join(f"{s} {t}\n" for s, t in sorted(together)), "utf-8", newline="\n"
    )
    call(
        [program, "-S", paths[0].name, "-T", paths[1].name, "-C", f"{name}.snt"]
        + ["-CoocurrenceFile", f"{name}.cooc", "-o", name, "-model1iterations", 5, "-hmmiterations", 5]
        + ["-model2iterations", 0, "-model3iterations", 0]
        # The HMM writes its links at an iteration that is named; Model 4 writes its last ones by itself.
        + (["-model4iterations", 5] if model == "4" else ["-model4iterations", 0, "-hmmdumpfrequency", 5]),
        cwd=folder,
    )
    return _read(folder, f"{name}.A3.final" if model == "4" else f"{name}.Ahmm.5", len(texts))


def _vocabulary(texts: Sequence[Sequence[str]]) -> dict[str, int]:
    words = dict.fromkeys(word for text in texts for word in text)
    return {word: number for number, word in enumerate(words, _FIRST)}


def _classes(vocabulary: Path, texts: Sequence[Sequence[str]], giza: str) -> None:
    """Make 50 word classes, as the scripts of Moses do."""
    mkcls = shutil.which("mkcls", path=str(Path(giza).parent)) or shutil.which("mkcls")
    if mkcls is None:
        raise InputError(f"Model 4 needs `mkcls`, which is neither beside {giza} nor on the PATH; install it")
    text = vocabulary.with_suffix(".txt")
    text.write_text("".join(" ".join(words) + "\n" for words in texts), "utf-8", newline="\n")
    call(
        [mkcls, "-c50", "-n2", f"-p{text.name}", f"-V{vocabulary.name}.classes", "opt"], cwd=vocabulary.parent
    )


def _read(folder: Path, name: str, count: int) -> list[set[Link]]:
    """Read the answer; MGIZA writes a part for each thread, in any order."""
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
            for source, found in enumerate(_ENTRY.findall(answer)[1:]):
                links[int(number[1]) - 1].update((source, int(target) - 1) for target in found.split())
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
    """Make `mgiza` or `giza`, or say how to get it."""
    variable = "SENTGEN_" + executable.rstrip("+").upper()
    get = f"build it from github.com/moses-smt/{'mgiza' if executable == 'mgiza' else 'giza-pp'}"
    found = program(executable, variable, get=get)
    return External(partial(giza, program=found, model=model), name, training, join, sentences)
