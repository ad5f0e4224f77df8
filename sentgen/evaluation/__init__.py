"""How good the output is: figures with intervals and tests, and whole experiments recorded in the store."""

from sentgen.evaluation.regeneration.experiment import evaluate_regeneration

__all__ = ["evaluate_regeneration"]
