"""The figures of fused sentences: BLEU to references, verb arguments, and how many are answered and copied.

Each is computed from sums over the clusters (see `Measurement`). Figures of sentences are of the clusters for
which all systems have one, the same for all; what a cluster without one adds to a sum is nothing.

Verb arguments are those of `sentgen.evaluation.check.verb_arguments`: precision is the share of those of the
new sentences that the other text has, too, and recall the share of those of the other text, of verbs that the
new sentence has, that it has, too. All clusters count together, each relation alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import numpy as np

from sentgen.arrays import Bools, Floats
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.verb_arguments import SourceArguments, Spelling
from sentgen.evaluation.clusters.strings import is_copied
from sentgen.evaluation.figures.measurement import Measurement, ratio
from sentgen.evaluation.fusion.cases import FusionCase
from sentgen.evaluation.regeneration.bleu import bleu
from sentgen.extras import needs

#: The figure that systems are compared by.
BLEU = "bleu-lc-none"
ARGUMENTS = tuple(f"{of}-{figure}" for of in ("source", "reference") for figure in ("precision", "recall"))
#: What people call the figures.
LABELS = {
    "answered": "answered, %",
    "copied": "copied, %",
    "words": "words",
    BLEU: "BLEU, lower-cased",
    "source-precision": "P, sources",
    "source-recall": "R, sources",
    "reference-precision": "P, references",
    "reference-recall": "R, references",
}
_ORDER = 4


def require_bleu() -> None:
    """Refuse where there is no BLEU, before anything long is run.

    Raises:
        InputError: sacreBLEU is not installed.
    """
    with needs("evaluate", "sacreBLEU, which counts and signs for BLEU,"):
        import sacrebleu  # noqa: F401


def measured(
    cases: Sequence[FusionCase],
    answers: Sequence[Sentence | None],
    common: Bools,
    spelling: Spelling,
    parser: str,
) -> dict[str, Measurement]:
    """Return the figures of a system.

    Args:
        cases: the clusters.
        answers: its sentence for each, parsed; None where it made none.
        common: (clusters), those for which all systems have one.
        spelling: what makes two words of arguments the same.
        parser: for the signature.
    """
    made = np.array([answer is not None for answer in answers])
    given = zip(cases, answers, strict=True)
    copied = [answer is not None and is_copied(answer.forms, case.inputs) for case, answer in given]
    figures = {
        "answered": Measurement("answered", "clusters with a sentence", _share(made, made | True), ratio),
        "copied": Measurement(
            "copied", "sentences that are an input, or a piece of one", _share(copied, made), ratio
        ),
        "words": Measurement("words", "words a sentence", _share(_lengths(answers) * common, common), ratio),
    }
    statistics, signature = bleu_statistics(
        [" ".join(answer.forms) if answer else "" for answer in answers],
        [[" ".join(reference.forms) for reference in case.references] for case in cases],
    )
    figures[BLEU] = Measurement(BLEU, signature, statistics * common[:, None], bleu)
    word, case = "lemma" if spelling.lemmas else "form", "mixed" if spelling.match_case else "lc"
    of_arguments = f"verb arguments|word:{word}|case:{case}|pooled|parser:{parser}"
    for name, sums in _arguments(cases, answers, spelling).items():
        figures[name] = Measurement(name, of_arguments, sums * common[:, None], ratio)
    return {name: figures[name] for name in LABELS}


def bleu_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[Floats, str]:
    """Return what BLEU with several references sums, as `bleu` takes it, and sacreBLEU's signature.

    A reference is any sentence of a cluster: an n-gram matches as often as in the one that has it most, and
    the length is that of the nearest one, as sacreBLEU counts. Outputs are split at blanks.

    Returns:
        (sentences, 12): of 1- to 4-grams the number in the output, the length of the reference, the matches.
    """
    from sacrebleu.metrics import bleu as metrics

    # Of sentences it warns without effective order, which changes no count.
    each = metrics.BLEU(lowercase=True, tokenize="none", effective_order=True)
    found = [each.sentence_score(output, list(of)) for output, of in zip(outputs, references, strict=True)]
    rows = [[(one.totals[n], one.ref_len, one.counts[n]) for n in range(_ORDER)] for one in found]
    # The signature tells how many references there are once something was scored.
    whole = metrics.BLEU(lowercase=True, tokenize="none")
    whole.corpus_score(outputs, list(zip_longest(*references)))
    return np.array(rows, np.float64).reshape(len(rows), 3 * _ORDER), str(whole.get_signature())


def _share(part: Sequence[bool] | Floats | Bools, whole: Bools) -> Floats:
    """Return (clusters, 2): what is counted, and of what."""
    return np.stack([np.asarray(part, np.float64), whole.astype(np.float64)], axis=1)


def _lengths(answers: Sequence[Sentence | None]) -> Floats:
    return np.array([len(answer.forms) if answer else 0 for answer in answers], np.float64)


def _arguments(
    cases: Sequence[FusionCase], answers: Sequence[Sentence | None], spelling: Spelling
) -> Mapping[str, Floats]:
    """Return by figure (clusters, 2): relations that match, and all."""
    found = {name: np.zeros((len(cases), 2)) for name in ARGUMENTS}
    for place, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        if answer is None:
            continue
        for of, sentences in (("source", case.inputs), ("reference", case.references)):
            counts = SourceArguments(sentences, spelling).compare([answer])["all"]
            found[f"{of}-precision"][place] = counts.matched, counts.generated
            found[f"{of}-recall"][place] = counts.recalled, counts.source
    return found
