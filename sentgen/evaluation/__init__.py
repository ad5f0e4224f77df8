"""How good the output is: figures with intervals and tests, and whole experiments recorded in the store."""

from sentgen.evaluation.bleu import corpus_bleu, sentence_bleu
from sentgen.evaluation.measurement import Measurement, Score
from sentgen.evaluation.regeneration import evaluate_regeneration
from sentgen.evaluation.results import RegenerationResult, SystemResult

__all__ = [
    "Measurement",
    "RegenerationResult",
    "Score",
    "SystemResult",
    "corpus_bleu",
    "evaluate_regeneration",
    "sentence_bleu",
]
