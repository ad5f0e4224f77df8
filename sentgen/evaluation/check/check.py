"""Check a summary against its source: which of its verb arguments does the source support, and which not?

The precision of `verb_arguments`, relation by relation, with the reason for each that has no support. It
compares words. A relation that the source puts into other words has support only if these are asked for, and
`other_words` finds it; one of a word that is changed (another number, or what the source denies) has none.

For words no trees are needed: both texts are aligned by the phrase-based HMM with its priors, and the states
of words tell what links mean.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Annotated

from sentgen.alignment.pairs.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.words.states import WordState
from sentgen.alignment.words.word_states import word_states
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.corpus.parsers import Parser
from sentgen.corpus.reading import read_trees
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, MemoryLimitError, spell
from sentgen.evaluation.check.other_words import OtherWords, RelationPlace
from sentgen.evaluation.check.verb_arguments import FORMS, Argument, RelationKey, Spelling, arguments
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import are, quantity

_WORD_COLUMNS = ("sentence", "place", "word", "state", "there", "source", "why", "elsewhere", "text")


@dataclass(frozen=True, slots=True)
class CheckedWord:
    """A word of a summary, and what its source says of it.

    Attributes:
        sentence: number of the sentence in the summary, from 1.
        place: index of the word in the sentence, from 0.
        state: what became of it.
        there: the words of the source that it comes from, or that contradict it, as they stand there.
        support: the sentences of these, from 1, ascending.
    """

    sentence: int
    place: int
    state: WordState
    there: str = ""
    support: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether the source contradicts it."""
        return self.state.state == "changed"

    @property
    def wanting(self) -> bool:
        """Return whether it is changed or new."""
        return self.state.state in ("changed", "new")

    @property
    def reason(self) -> str:
        """Return what is against it: what tells its state, or else what stands there."""
        return self.state.why or self.there


@dataclass(frozen=True, slots=True)
class WordLimits:
    """How much aligning may take: memory, and words of the summary times words of the source."""

    budget: Budget = UNBOUNDED
    cells: float = math.inf


_NO_LIMITS = WordLimits()


def check_words(
    summary: Sequence[Sentence], source: Sequence[Sentence], limits: WordLimits = _NO_LIMITS
) -> list[CheckedWord]:
    """Say of each word of a summary what became of it.

    Raises:
        MemoryLimitError: the texts are too long.
    """
    pair = Pair.of_sentences("", source, summary)
    if len(pair.document) * len(pair.abstract) > limits.cells:
        raise MemoryLimitError(
            f"the texts have {len(pair.document):,} x {len(pair.abstract):,} words; at most"
            f" {int(limits.cells):,} word pairs are taken"
        )
    alignment = Alignment(())
    if pair.document and pair.abstract:
        (alignment,) = replace(PhraseHmm.untrained("best"), budget=limits.budget).align([pair])
    return [_checked(pair, offset, state) for offset, state in enumerate(word_states(pair, alignment))]


def _checked(pair: Pair, offset: int, state: WordState) -> CheckedWord:
    sentence = bisect_right(pair.abstract_starts, offset)
    support = {bisect_right(pair.document_starts, position) for position in state.source}
    there = " ".join(pair.document[position] for position in state.source)
    return CheckedWord(
        sentence, offset - pair.abstract_starts[sentence - 1], state, there, tuple(sorted(support))
    )


def word_table(words: Sequence[CheckedWord], texts: Sequence[str]) -> Rows:
    """Return a row a word, with the text of its sentence; places count from 1."""
    return Rows(
        _WORD_COLUMNS,
        [
            (
                *(word.sentence, word.place + 1, word.state.word, word.state.state, word.there),
                *(" ".join(map(str, word.support)), word.state.why),
                *(" ".join(map(str, word.state.elsewhere)), texts[word.sentence - 1]),
            )
            for word in words
        ],
    )


def word_counts(words: Sequence[CheckedWord]) -> dict[str, int]:
    """Return how many words there are, and how many are changed and new."""
    changed = sum(word.changed for word in words)
    return {"words": len(words), "changed": changed, "new": sum(word.wanting for word in words) - changed}


def _word_figure(words: Sequence[CheckedWord]) -> str:
    """Return the same in words.

    >>> words = [CheckedWord(1, 0, WordState("camp", "same")), CheckedWord(1, 1, WordState("is", "new"))]
    >>> _word_figure(words)
    '0 of 2 words are changed, 1 new'
    """
    counts = word_counts(words)
    changed, new = (f"{counts[name]:,}" for name in ("changed", "new"))
    return f"{changed} of {quantity(counts['words'], 'word')} {are(counts['words'])} changed, {new} new"


#: Arguments of a verb in the source that are told where one has no support.
_SHOWN = 5
_COLUMNS = (
    *("sentence", "verb", "argument", "order", "relation"),
    *("supported", "source", "why", "instead", "text"),
)
#: What is told besides if other words were looked for.
_OTHER_COLUMNS = ("words", "found", "differs")
_TURNED = "in the source the other way around"
_UNRELATED = "not related in the source"


@dataclass(frozen=True, slots=True)
class Claim:
    """A verb argument of a summary, and what its source says of it.

    ``sentence`` numbers the sentences of the summary from 1, ``support`` those of the source that have the
    same relation. ``why`` says why there is none. ``instead`` are arguments that the verb has in the
    source, with the most frequent ones first. ``found`` is the relation in other words, if no sentence has it
    in the same; ``support`` are its sentences then.
    """

    sentence: int
    argument: Argument
    support: tuple[int, ...]
    why: str = ""
    instead: tuple[str, ...] = ()
    found: RelationPlace | None = None

    @property
    def words(self) -> str:
        """Return which words of the source say it: `same`, `other`, or none."""
        return "other" if self.found else "same" if self.support else ""

    @property
    def supported(self) -> bool:
        """Return whether the source has the relation."""
        return bool(self.support)

    def phrase(self) -> tuple[str, str]:
        """Return the verb and its argument in the order in which they stand."""
        key = self.argument.key
        return (key.head, key.modifier) if key.head_first else (key.modifier, key.head)


@dataclass(frozen=True, slots=True)
class SupportCheck:
    """All verb arguments of a summary and all its words, in its order.

    Attributes:
        claims: the verb arguments.
        summary: the sentences of the summary.
        source: the sentences that it was held against.
        other_words: whether other words were looked for.
        words: what became of each word; none where that was not asked, or the texts are too long.
        relations: whether verb arguments were looked for, for which both texts need trees.
        notes: what a reader should know besides.
    """

    claims: Sequence[Claim]
    summary: Sequence[Sentence] = field(repr=False)
    source: Sequence[Sentence] = field(repr=False)
    other_words: bool = False
    words: Sequence[CheckedWord] = ()
    relations: bool = True
    notes: Sequence[str] = ()

    @property
    def supported(self) -> int:
        """Return the number of claims with support."""
        return sum(claim.supported for claim in self.claims)

    @property
    def reworded(self) -> int:
        """Return the number of claims with support in other words only."""
        return sum(claim.found is not None for claim in self.claims)

    @property
    def precision(self) -> float | None:
        """Return the share of the claims that has support; None of a summary without verb arguments."""
        return self.supported / len(self.claims) if self.claims else None

    def claims_of(self, sentence: int) -> list[Claim]:
        """Return the claims of a sentence of the summary."""
        return [claim for claim in self.claims if claim.sentence == sentence]

    def with_words(self, words: Sequence[CheckedWord]) -> SupportCheck:
        """Return a check with what became of each word; a relation of one that is changed has no support."""
        changed = {(word.sentence, word.place): word for word in words if word.changed}
        claims = [
            replace(claim, support=(), found=None, why=f"changed: {_contradicted(wrong)}")
            if (wrong := [changed[position] for position in _places(claim) if position in changed])
            else claim
            for claim in self.claims
        ]
        return replace(self, claims=claims, words=words)

    def table(self) -> Rows:
        """Return a row a verb argument; if these were not looked for, a row a word."""
        texts = [text_of(sentence) for sentence in self.summary]
        if not self.relations:
            return word_table(self.words, texts)
        rows = [_row(claim, texts[claim.sentence - 1]) for claim in self.claims]
        if not self.other_words:
            return Rows(_COLUMNS, rows)
        return Rows(
            (*_COLUMNS, *_OTHER_COLUMNS),
            [(*row, *_other_cells(claim)) for row, claim in zip(rows, self.claims, strict=True)],
        )

    def figures(self) -> list[str]:
        """Return the precision in words, and how many words are changed and new."""
        lines = [_precision(self)] if self.relations else []
        return [*lines, _word_figure(self.words)] if self.words or not lines else lines

    def listed_words(self) -> list[CheckedWord]:
        """Return the words to show: those changed, and those new where there are no relations."""
        # Beside relations new words would be too many: those of a paraphrase are new.
        return [word for word in self.words if (word.changed if self.relations else word.wanting)]


def check(
    summary: Iterable[Sentence],
    source: Iterable[Sentence],
    *,
    spelling: Spelling = FORMS,
    other_words: bool = False,
) -> SupportCheck:
    """Look up every verb argument of a summary in its source.

    Args:
        summary: parsed.
        source: parsed.
        spelling: what makes two words the same.
        other_words: whether what is not there in the same words has support in other words, which know no
            case: see `OtherWords`. WordNet is used if it is installed.

    Raises:
        InputError: a sentence has no tree, or no tags.
    """
    written, read = list(summary), list(source)
    index = _Index(read, spelling)
    claims = [
        index.claim(number, argument)
        for number, sentence in enumerate(written, 1)
        for argument in arguments(sentence, spelling)
    ]
    checked = SupportCheck(claims, written, read)
    return _in_other_words(checked) if other_words else checked


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """Two texts, with trees (CoNLL-U), or any text if the server has a parser; of others, words are checked.

    Raises:
        InputError: choices exclude each other.
    """

    summary: Annotated[
        str,
        Option(
            "The text to check.",
            argument=True,
            shell="The text to check, or - .",
            metavar="SUMMARY|-",
            file="summary",
        ),
    ]
    against: Annotated[
        str,
        Option(
            "The text that it should follow.",
            shell="The text, or folder, that it should follow.",
            metavar="SOURCE",
            file="against",
        ),
    ]
    lemmas: Annotated[bool, Option("Compare lemmas instead of forms.")] = False
    match_case: Annotated[bool, Option("Tell upper from lower case; it is ignored otherwise.")] = False
    other_words: Annotated[
        bool,
        Option(
            "Count other words as support: other forms, other spellings, synonyms, and passives for actives."
        ),
    ] = False
    words: Annotated[
        bool,
        Option(
            "Check words alone, a row a word, for which no trees are needed.",
            shell="Check words alone, a row a word; needs no trees.",
        ),
    ] = False
    format: Annotated[str | None, Option("Format of both texts; detected if not given.", short="-f")] = None

    def __post_init__(self) -> None:
        if self.words and self._of_relations:
            raise InputError(
                f"{spell('words')} checks no relations, which {spell('lemmas')},"
                f" {spell('match_case')} and {spell('other_words')} are for"
            )

    @property
    def _of_relations(self) -> bool:
        """Whether something is asked that only trees can answer."""
        return self.lemmas or self.match_case or self.other_words

    def check(
        self, parser: Parser | None, *, limits: WordLimits = _NO_LIMITS, need_trees: bool = False
    ) -> SupportCheck:
        """Read both files and compare them: their words, and their relations if both have trees.

        Args:
            parser: makes trees where there are none.
            limits: limits of the comparison of words.
            need_trees: whether texts without trees are refused, as a figure of relations is wanted.

        Raises:
            InputError: a file cannot be read, or has no trees and something is asked that needs them.
            MemoryLimitError: the texts are too long to compare their words, and have no trees.
        """
        missing: list[InputError] = []
        summary, source = (
            list(read_trees(path, parser=parser, form=self.format, treeless=missing.append))
            for path in (self.summary, self.against)
        )
        if missing and (need_trees or self._of_relations):
            raise missing[0]
        if missing or self.words:
            notes = [] if self.words else [f"relations of verbs were not checked: {missing[0]}"]
            checked = SupportCheck((), summary, source, relations=False, notes=notes)
        else:
            spelling = Spelling(lemmas=self.lemmas, match_case=self.match_case)
            checked = check(summary, source, spelling=spelling, other_words=self.other_words)
        try:
            return checked.with_words(check_words(summary, source, limits))
        except MemoryLimitError as error:
            if not checked.relations:
                raise
            return replace(checked, notes=[f"words were not compared: {error}"])


def _places(claim: Claim) -> list[tuple[int, int]]:
    return [(claim.sentence, claim.argument.head), (claim.sentence, claim.argument.modifier)]


def _contradicted(words: Sequence[CheckedWord]) -> str:
    return " and ".join(
        f"{word.state.word} ({word.reason})" if word.reason else word.state.word for word in words
    )


def _precision(support: SupportCheck) -> str:
    if support.precision is None:
        return "no verb arguments in the summary"
    reworded = f", {support.reworded} of them in other words" if support.other_words else ""
    return (
        f"precision {support.precision:.3f}: {support.supported} of {len(support.claims)} verb arguments have"
        f" support in the source{reworded}"
    )


def text_of(sentence: Sentence) -> str:
    """Return a sentence as it was written, or its words where that is not known."""
    return sentence.text or " ".join(sentence.forms)


def _row(claim: Claim, text: str) -> tuple[object, ...]:
    key = claim.argument.key
    return (
        claim.sentence,
        key.head,
        key.modifier,
        "verb first" if key.head_first else "verb last",
        claim.argument.deprel,
        claim.supported,
        " ".join(map(str, claim.support)),
        claim.why,
        " ".join(claim.instead),
        text,
    )


def _other_cells(claim: Claim) -> tuple[str, str, str]:
    words = " ".join(claim.found.words) if claim.found else ""
    return claim.words, words, " ".join(claim.found.ways) if claim.found else ""


def _in_other_words(support: SupportCheck) -> SupportCheck:
    """Look up in other words what has no support in the same."""
    source = OtherWords(support.source, find_wordnet())
    claims = list[Claim]()
    # Claims come in the order of their sentences.
    for number, group in groupby(support.claims, key=lambda claim: claim.sentence):
        own, sentence = list(group), support.summary[number - 1]
        unknown = source.unknown(sentence)
        others = source.find(sentence, [claim.argument for claim in own])
        for claim, other in zip(own, others, strict=True):
            if not claim.supported and other is not None:
                claim = Claim(number, claim.argument, other.sentences, found=other)
            elif not claim.supported:
                claim = replace(claim, why=_why_not(claim, unknown))
            claims.append(claim)
    return replace(support, claims=claims, other_words=True)


def _why_not(claim: Claim, unknown: Collection[int]) -> str:
    """Return why there is no support; ``unknown`` are the places of words to which none is akin."""
    argument = claim.argument
    words = ((argument.key.head, argument.head), (argument.key.modifier, argument.modifier))
    if absent := [word for word, position in words if position in unknown]:
        return _absent(absent)
    return claim.why if claim.why == _TURNED else _UNRELATED


def _absent(words: Sequence[str]) -> str:
    return f"not in the source: {' and '.join(words)}"


class _Index:
    """What a source says of which verb, and where."""

    def __init__(self, source: Sequence[Sentence], spelling: Spelling) -> None:
        self._where: defaultdict[RelationKey, list[int]] = defaultdict(list)
        self._of_verb: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._words: set[str] = set()
        for number, sentence in enumerate(source, 1):
            self._words.update(spelling.words(sentence))
            for argument in arguments(sentence, spelling):
                self._of_verb[argument.key.head][argument.key.modifier] += 1
                # Sentences come in order: a second time can only be the last entry.
                if number not in self._where[argument.key][-1:]:
                    self._where[argument.key].append(number)

    def claim(self, sentence: int, argument: Argument) -> Claim:
        """Judge one relation of the summary."""
        support = self._where.get(argument.key, ())
        if support:
            return Claim(sentence, argument, tuple(support))
        verb = argument.key.head
        counts = self._of_verb.get(verb, Counter[str]())
        # By the word among equals, so that a page is the same every time.
        instead = sorted(counts, key=lambda word: (-counts[word], word))[:_SHOWN]
        return Claim(sentence, argument, (), self._why(argument.key), tuple(instead))

    def _why(self, key: RelationKey) -> str:
        absent = [word for word in (key.head, key.modifier) if word not in self._words]
        # The plainest reason first.
        if absent:
            return _absent(absent)
        if RelationKey(key.head, key.modifier, not key.head_first) in self._where:
            return _TURNED
        return _UNRELATED
