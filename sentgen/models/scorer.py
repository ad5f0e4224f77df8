"""Scorers: language models of the user's own, sentences in and log-probabilities out.

The numbers that plug-ins return are checked, and errors name the plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from threading import Lock
from typing import TypeVar

from sentgen.entry_points import Plugin, Registry, added_names
from sentgen.errors import ModelError, NotFoundError, PluginError
from sentgen.models.base import registry
from sentgen.models.scoring import score_sentences
from sentgen.output.display import natural
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store

Sentences = Sequence[Sequence[str]]
#: Maps sentences to a list each of the natural logarithms of the probabilities of their words.
ScoreWords = Callable[[Sentences], Sequence[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """A named language model; its functions get at most `MOST` sentences at a time, of about the same length.

    Attributes:
        name: name of its entry point.
        title: a short description, for lists.
        score: takes sentences, each the list of its words, and returns the natural logarithm of the
            probability of each.
        score_words: returns the same for each word after those before it, a list a sentence; None if the
            model scores only whole sentences.
        package: the package that adds the scorer, with its version; sentgen sets it.
    """

    name: str
    title: str
    score: Callable[[Sentences], Sequence[float]]
    score_words: ScoreWords | None = None
    package: str = ""


_Answer = TypeVar("_Answer")

#: Sentences that a scorer gets at a time: their logits over 50,000 words are 0.6 GB where they have 30 words.
MOST = 100
#: Tolerance above a probability of 1, for rounding of floats of four bytes.
_ROUNDING = 1e-3


def _scorer_of(plugin: Plugin, given: object) -> Scorer:
    """Return the scorer of a plug-in, under guard.

    Raises:
        PluginError: what the entry point names is no scorer.
    """
    scorer = plugin.of_kind(given, Scorer)
    plugin.check_called(scorer.name)
    # Threads that search ask it, and who writes ten lines does not think of those.
    lock = Lock()
    words = scorer.score_words
    return replace(
        scorer,
        score=_in_batches(_guarded(plugin, lock, scorer.score, _number)),
        score_words=words and _in_batches(_guarded(plugin, lock, words, _numbers)),
        package=plugin.package,
    )


_REGISTRY: Registry[Scorer] = Registry("scorer", {}, _scorer_of)


def scorer_named(name: str) -> Scorer | None:
    """Return the scorer of a name, none if no package adds one.

    Raises:
        PluginError: the scorer cannot be used.
    """
    return _REGISTRY.find(name)


def overview() -> tuple[Rows, list[str]]:
    """Return a row for each scorer, and the errors of those that cannot be loaded."""
    there, wrong = _REGISTRY.listed()
    listed = [
        (name, package, scorer.score_words is not None, scorer.title) for name, package, scorer in there
    ]
    return Rows(["scorer", "package", "words", "description"], listed), wrong


def scorer_for(store: Store, name: str) -> Scorer:
    """Return the scorer of a name: a model of a store, else a scorer of a plug-in.

    Raises:
        NotFoundError: there is no such model or scorer.
        InputError: the model is not over words.
        ModelError: the model expects brackets, which sentences do not have.
        PluginError: the scorer cannot be used.
    """
    try:
        model = registry.find(store, name)
    except NotFoundError as error:
        if (scorer := scorer_named(name)) is None:
            added = added_names("scorer")
            more = f"; scorers of plug-ins: {', '.join(added)}" if added else ""
            raise NotFoundError(f"{error}{more}") from error
        return scorer
    model.symbols.require_words(model.name)
    if model.brackets:
        raise ModelError(
            f"{model.label} counts the brackets of base noun phrases, which whole sentences do not have; name"
            " a model that was built without them"
        )

    def score(sentences: Sentences) -> list[float]:
        return [natural(score.log10) for score in score_sentences(store, model, sentences)]

    return Scorer(model.name, "", score)


def _in_batches(
    ask: Callable[[Sentences], Sequence[_Answer]],
) -> Callable[[Sentences], list[_Answer]]:
    """Return a function that scores any number of sentences, in batches of sentences of similar length."""

    def ask_all(sentences: Sentences) -> list[_Answer]:
        by_length = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        answers: dict[int, _Answer] = {}
        for begin in range(0, len(by_length), MOST):
            batch = by_length[begin : begin + MOST]
            answers |= zip(batch, ask([sentences[i] for i in batch]), strict=True)
        return [answers[i] for i in range(len(sentences))]

    return ask_all


def _guarded(
    plugin: Plugin,
    lock: Lock,
    ask: Callable[[Sentences], Sequence[object]],
    read: Callable[[object, int], _Answer],
) -> Callable[[Sentences], list[_Answer]]:
    """Return a function that calls a plug-in; ``read`` checks each answer, given the number of words."""

    def guarded(sentences: Sentences) -> list[_Answer]:
        with lock, plugin.at_work():
            # Copies of the lists, which the plug-in may change.
            answers = list(ask([list(sentence) for sentence in sentences]))
            if len(answers) != len(sentences):
                mistake = f"gives {len(answers)} scores for {quantity(len(sentences), 'sentence')}"
                raise PluginError(f"{mistake}; tell its authors", plugin=plugin)
            try:
                return [
                    read(answer, len(sentence)) for answer, sentence in zip(answers, sentences, strict=True)
                ]
            except _WrongScoreError as wrong:
                raise PluginError(f"gives {wrong}; tell its authors", plugin=plugin) from None

    return guarded


class _WrongScoreError(ValueError):
    """A plug-in returned an invalid score."""


def _number(score: object, words: int) -> float:
    """Return the score of a sentence of so many words as a float; it may be a number of any library."""
    try:
        # A string of digits is an error, too.
        number = float("nan") if isinstance(score, str | bytes | bool) else float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise _WrongScoreError(f"the score {score!r:.100}, which is no finite number")
    return number


def _numbers(scores: object, words: int) -> list[float]:
    """Return the scores of the words of a sentence."""
    if isinstance(scores, str | bytes) or not isinstance(scores, Iterable):
        raise _WrongScoreError(f"{scores!r:.100} where the scores of words belong")
    numbers = [_number(score, words) for score in scores]
    if len(numbers) != words:
        raise _WrongScoreError(
            f"{quantity(len(numbers), 'score')} for a sentence of {quantity(words, 'word')}"
        )
    above = next((number for number in numbers if number > _ROUNDING), None)
    if above is not None:
        raise _WrongScoreError(f"the score {above!r} for a word, which is no log-probability: it is above 0")
    return [min(number, 0.0) for number in numbers]
