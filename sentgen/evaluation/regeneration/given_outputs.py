"""Answers of systems that are not sentgen's, from files with one sentence a line, beside those of its own."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sentgen.case_folding import fold
from sentgen.corpus.paths import source_at
from sentgen.corpus.readers.lines import split_tokens
from sentgen.errors import InputError
from sentgen.evaluation.regeneration.answers import SystemAnswers
from sentgen.evaluation.regeneration.cases import Case
from sentgen.evaluation.regeneration.measures import statistics
from sentgen.generation import RegeneratedSentence, Unit
from sentgen.output.wording import quantity

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutputsFile:
    """What a file holds: a sentence a line, and the hash of its content."""

    path: str
    lines: Sequence[str]
    sha256: str

    def of(self, used: Sequence[bool]) -> list[str]:
        """Return the lines of those sentences of the test set that are kept.

        Args:
            kept: of each sentence of the test set whether it is put in order, as one without words is not.

        Raises:
            InputError: there is not a line for each sentence.
        """
        number, wanted = len(self.lines), len(used)
        if number != wanted:
            there = (
                f"the file has {quantity(number, 'line')}, and the test set {quantity(wanted, 'sentence')}"
            )
            raise InputError(
                f"{there}; give a line for each, in their order, blank where there is no answer",
                path=self.path,
                # The first line that is missing, or too much.
                line=min(number, wanted) + 1,
            )
        return [line for line, here in zip(self.lines, used, strict=True) if here]


def read_outputs(texts: Sequence[str]) -> dict[str, OutputsFile]:
    """Read files of answers, ``NAME=FILE`` each, by the names of their systems.

    Raises:
        InputError: one is written otherwise, a name is there twice, or a file cannot be read.
    """
    found: dict[str, OutputsFile] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not (name.strip() and equals and path):
            raise InputError(f"outputs {text!r} are not written NAME=FILE, such as gpt=answers.txt")
        if name.strip() in found:
            raise InputError(f"{name.strip()} is there twice; name each system once")
        source = source_at(path)
        found[name.strip()] = OutputsFile(path, list(source.lines()), source.sha256())
    return found


def given_answers(
    lines: Mapping[str, Sequence[str]], cases: Sequence[Case], *, lowercase: bool = False
) -> dict[str, SystemAnswers]:
    """Return what systems answered, measured; say how many answers have other words than the sentence.

    Args:
        lines: of each system a sentence a case, words separated by blanks; nothing where it has no answer.
        cases: the test set.
        lowercase: whether the answers are lower-cased, as the test set is.
    """
    found = {}
    for name, texts in lines.items():
        answers = [given_answer(fold(text) if lowercase else text) for text in texts]
        found[name] = SystemAnswers(answers, statistics(answers, cases))
        _tell(name, answers, cases)
    return found


def given_answer(text: str) -> RegeneratedSentence:
    """Return a sentence that another system made, or made earlier; nothing is known of its bag and scores."""
    return RegeneratedSentence(
        item=1,
        rank=1,
        units=tuple(Unit((word,)) for word in split_tokens(text)),
        tree=None,
        given=(),
        score=float("nan"),
        gold_score=None,
        logp=float("nan"),
        unknown=0,
        guessed=0,
        lookup=0.0,
        search=0.0,
    )


def _tell(name: str, answers: Sequence[RegeneratedSentence], cases: Sequence[Case]) -> None:
    blank = sum(not answer.units for answer in answers)
    others = sum(
        Counter(answer.words) != Counter(case.words)
        for answer, case in zip(answers, cases, strict=True)
        if answer.units
    )
    if blank or others:
        logger.warning(
            "%s: of %s, %d have other words than the sentence, and %d are blank",
            name,
            quantity(len(answers), "answer"),
            others,
            blank,
        )
