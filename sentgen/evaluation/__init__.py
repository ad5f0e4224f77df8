"""Evaluation: figures with intervals and tests, and experiments that are recorded in the store."""

from sentgen.evaluation.regeneration.experiment import evaluate_regeneration

__all__ = ["evaluate_regeneration"]
