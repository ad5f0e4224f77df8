"""How good the output is: BLEU, and whole experiments recorded in the store."""

from sentgen.evaluation.bleu import Score, corpus_bleu, sentence_bleu
from sentgen.evaluation.regeneration import RegenerationResult, SystemResult, evaluate_regeneration

__all__ = [
    "RegenerationResult",
    "Score",
    "SystemResult",
    "corpus_bleu",
    "evaluate_regeneration",
    "sentence_bleu",
]
