"""Answers of systems to test cases: searched in threads, or read from files with one sentence a line.

The searches are machine code that runs without the interpreter's lock, so that threads share the cores; the
interpreter looks up n-grams and measures answers meanwhile.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from sentgen.arrays import Floats
from sentgen.case_folding import fold
from sentgen.corpus.paths import source_at
from sentgen.corpus.readers.lines import split_tokens
from sentgen.errors import InputError
from sentgen.evaluation.regeneration.measures import statistics
from sentgen.generation import PreparedBag, RegeneratedSentence, SearchPlan, Unit, prepare
from sentgen.generation.regenerate import Gold, solve_all
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: Sentences that one thread takes at a time.
# Few enough for the threads to share a batch, many enough to count n-grams of many sentences at once.
_PART = 25

#: Called with the number of sentences ordered so far and the number to order, both over all systems.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class SystemAnswers:
    """The answers of one system, and the statistics of each metric, a row an answer."""

    answers: Sequence[RegeneratedSentence]
    statistics: Mapping[str, Floats]


def answer_all(
    store: Store,
    cases: Sequence[Gold],
    plans: Mapping[str, SearchPlan],
    *,
    jobs: int,
    progress: Progress | None = None,
) -> dict[str, SystemAnswers]:
    """Return the best answer of every system to every case, in the order of the cases, and its statistics.

    Systems that look up the same n-grams and dependencies share the look-ups. Each system answers the first
    case once before, so that no time of a sentence includes compilation.

    Args:
        store: the store with the model.
        cases: the test set.
        plans: the plan of each system; words are looked up as they are written in the test set.
        jobs: threads that search; this thread looks up the next batch meanwhile.
        progress: called after each part of a batch.

    Raises:
        InputError: a bag is too large for an algorithm, or there are no threads.
    """
    if jobs < 1:
        raise InputError(f"{jobs} jobs do nothing; give 1 or more")
    bags = [case.units for case in cases]
    for plan in plans.values():
        plan.check_bags(bags)
    parts: dict[str, list[SystemAnswers]] = {name: [] for name in plans}
    done, total = 0, len(cases) * len(plans)
    for group in _alike(plans):
        run = partial(_answered, store, [plans[name] for name in group])
        # Compiles the searches; its answers are thrown away.
        list(run(cases[:1], jobs=1))
        for part in run(cases, jobs=jobs):
            for name, answers in zip(group, part, strict=True):
                parts[name].append(answers)
                done += len(answers.answers)
            if progress is not None:
                progress(done, total)
    return {name: _together(answers) for name, answers in parts.items()}


@dataclass(frozen=True, slots=True)
class OutputsFile:
    """The sentences of a file, one a line, and the hash of its content."""

    path: str
    lines: Sequence[str]
    sha256: str

    def of(self, used: Sequence[bool]) -> list[str]:
        """Return the lines for the sentences of the test set that are ordered.

        Sentences without words are not ordered, or ``used``.

        Raises:
            InputError: the file has more or fewer lines than the test set has sentences.
        """
        number, wanted = len(self.lines), len(used)
        if number != wanted:
            there = (
                f"the file has {quantity(number, 'line')}, and the test set {quantity(wanted, 'sentence')}"
            )
            raise InputError(
                f"{there}; give a line for each, in their order, blank where there is no answer",
                path=self.path,
                # The first line that is missing, or the first superfluous one.
                line=min(number, wanted) + 1,
            )
        return [line for line, here in zip(self.lines, used, strict=True) if here]

    @staticmethod
    def read_all(texts: Sequence[str]) -> dict[str, OutputsFile]:
        """Read a file of answers for each ``NAME=FILE``; return the files by names of systems.

        Raises:
            InputError: an argument is not of this form, two have the same name, or a file cannot be read.
        """
        outputs: dict[str, OutputsFile] = {}
        for text in texts:
            name, equals, path = text.partition("=")
            if not (name.strip() and equals and path):
                raise InputError(f"outputs {text!r} are not written NAME=FILE, such as gpt=answers.txt")
            if name.strip() in outputs:
                raise InputError(f"{name.strip()} is there twice; name each system once")
            source = source_at(path)
            outputs[name.strip()] = OutputsFile(path, list(source.lines()), source.sha256())
        return outputs


def given_answers(
    lines: Mapping[str, Sequence[str]], cases: Sequence[Gold], *, lowercase: bool = False
) -> dict[str, SystemAnswers]:
    """Return answers of other systems with their statistics; warn of blank ones, and of other words.

    Args:
        lines: for each system a sentence a case, words separated by blanks; empty where there is no answer.
        cases: the test set.
        lowercase: whether the answers are lower-cased, as the test set is.
    """
    measured = {}
    for name, texts in lines.items():
        answers = [given_answer(fold(text) if lowercase else text) for text in texts]
        measured[name] = SystemAnswers(answers, statistics(answers, cases))
        _tell(name, answers, cases)
    return measured


def given_answer(text: str) -> RegeneratedSentence:
    """Return a sentence of another system or of an earlier run, without bag and scores."""
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


def _alike(plans: Mapping[str, SearchPlan]) -> list[list[str]]:
    """Group the systems that share look-ups: same kind of unit, trees, distances, features, n-gram order."""
    groups: dict[object, list[str]] = {}
    for name, plan in plans.items():
        key = plan.words, plan.treebank, plan.algorithm.distances, plan.features, plan.order
        groups.setdefault(key, []).append(name)
    return list(groups.values())


def _answered(
    store: Store, plans: Sequence[SearchPlan], cases: Sequence[Gold], *, jobs: int
) -> Iterator[list[SystemAnswers]]:
    """Yield the answers of systems that share look-ups, for one part of the cases after the other.

    Each value is a list with the answers of each system to the part.
    """
    batches = prepare(store, plans[0], [case.units for case in cases])
    return _in_order(batches, partial(_answer_part, plans, cases), jobs)


def _answer_part(
    plans: Sequence[SearchPlan], cases: Sequence[Gold], part: Sequence[PreparedBag]
) -> list[SystemAnswers]:
    mine = [cases[prepared.item - 1] for prepared in part]
    measured = []
    for plan in plans:
        # With `nbest`, a search returns more orders than the best one.
        answers = [sentences[0] for sentences in solve_all(part, plan, mine)]
        problems = [prepared.problem for prepared in part]
        measured.append(SystemAnswers(answers, statistics(answers, mine, problems)))
    return measured


def _in_order(
    batches: Iterable[Sequence[PreparedBag]],
    work: Callable[[Sequence[PreparedBag]], list[SystemAnswers]],
    jobs: int,
) -> Iterator[list[SystemAnswers]]:
    """Yield the answers to each part of each batch, in order; the next batch is looked up meanwhile."""
    split = ([batch[i : i + _PART] for i in range(0, len(batch), _PART)] for batch in batches)
    if jobs == 1:
        yield from (work(part) for parts in split for part in parts)
        return
    pool = ThreadPoolExecutor(jobs)
    waiting: deque[list[Future[list[SystemAnswers]]]] = deque()
    try:
        for parts in split:
            waiting.append([pool.submit(work, part) for part in parts])
            # Wait for the batch before this one only, so that the threads always have work.
            if len(waiting) > 1:
                yield from (future.result() for future in waiting.popleft())
        yield from (future.result() for futures in waiting for future in futures)
    finally:
        # Runs also when the caller stops reading, as at Ctrl-C.
        pool.shutdown(cancel_futures=True)


def _together(parts: Sequence[SystemAnswers]) -> SystemAnswers:
    metrics = parts[0].statistics if parts else {}
    return SystemAnswers(
        [answer for part in parts for answer in part.answers],
        {metric: np.concatenate([part.statistics[metric] for part in parts]) for metric in metrics},
    )


logger = logging.getLogger(__name__)


def _tell(name: str, answers: Sequence[RegeneratedSentence], cases: Sequence[Gold]) -> None:
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
