"""Check a summary against its source: which of its verb arguments does the source support, and which not?

The precision of `verb_arguments`, relation by relation, with the reason for each relation without support.
Relations are compared by words. A relation that the source has in other words has support only if other words
are searched, and `other_words` finds it; a relation of a changed word (another number, or a negated word) has
no support.

Words are checked without trees: both texts are aligned by the phrase-based HMM with its priors, and words are
judged by their states.
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
    """A word of a summary, with its state and its support in the source.

    Attributes:
        sentence: number of the sentence in the summary, from 1.
        place: index of the word in the sentence, from 0.
        state: the state of the word.
        there: the source words that it comes from, or that contradict it, as they are written.
        support: numbers of the sentences of these words, from 1, ascending.
    """

    sentence: int
    place: int
    state: WordState
    there: str = ""
    support: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether the source contradicts the word."""
        return self.state.state == "changed"

    @property
    def wanting(self) -> bool:
        """Return whether the word is changed or new."""
        return self.state.state in ("changed", "new")

    @property
    def reason(self) -> str:
        """Return the reason for the state, or else the words of the source."""
        return self.state.why or self.there


@dataclass(frozen=True, slots=True)
class WordLimits:
    """Limits of the alignment: memory, and words of the summary times words of the source."""

    budget: Budget = UNBOUNDED
    cells: float = math.inf


_NO_LIMITS = WordLimits()


def check_words(
    summary: Sequence[Sentence], source: Sequence[Sentence], limits: WordLimits = _NO_LIMITS
) -> list[CheckedWord]:
    """Return the state of each word of a summary.

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


#: Most arguments of a verb in the source that are shown for an argument without support.
_SHOWN = 5
_COLUMNS = (
    *("sentence", "verb", "argument", "order", "relation"),
    *("supported", "source", "why", "instead", "text"),
)
#: Additional columns if other words were searched.
_OTHER_COLUMNS = ("words", "found", "differs")
_TURNED = "in the source the other way around"
_UNRELATED = "not related in the source"


@dataclass(frozen=True, slots=True)
class Claim:
    """A verb argument of a summary, and its support in the source.

    ``sentence`` numbers the sentences of the summary from 1, ``support`` those of the source that have the
    same relation. ``why`` is the reason if there is none. ``instead`` are arguments of the verb in the
    source, the most frequent first. ``found`` is the relation in other words, if no sentence has it in the
    same words; then ``support`` are its sentences.
    """

    sentence: int
    argument: Argument
    support: tuple[int, ...]
    why: str = ""
    instead: tuple[str, ...] = ()
    found: RelationPlace | None = None

    @property
    def words(self) -> str:
        """Return whether the source has the relation in the `same` or in `other` words; empty for neither."""
        return "other" if self.found else "same" if self.support else ""

    @property
    def supported(self) -> bool:
        """Return whether the source has the relation."""
        return bool(self.support)

    def phrase(self) -> tuple[str, str]:
        """Return the verb and its argument in the order of the sentence."""
        key = self.argument.key
        return (key.head, key.modifier) if key.head_first else (key.modifier, key.head)


@dataclass(frozen=True, slots=True)
class SupportCheck:
    """All verb arguments of a summary and all its words, in its order.

    Attributes:
        claims: the verb arguments.
        summary: the sentences of the summary.
        source: the sentences of the source.
        other_words: whether other words were searched.
        words: the words with their states; none if they were not checked, or the texts are too long.
        relations: whether verb arguments were checked, for which both texts need trees.
        notes: notes for the reader.
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
        """Return the share of claims with support; None for a summary without verb arguments."""
        return self.supported / len(self.claims) if self.claims else None

    def claims_of(self, sentence: int) -> list[Claim]:
        """Return the claims of a sentence of the summary."""
        return [claim for claim in self.claims if claim.sentence == sentence]

    def with_words(self, words: Sequence[CheckedWord]) -> SupportCheck:
        """Return the check with the states of words; a relation of a changed word has no support."""
        changed = {(word.sentence, word.place): word for word in words if word.changed}
        claims = [
            replace(claim, support=(), found=None, why=f"changed: {_contradicted(wrong)}")
            if (wrong := [changed[position] for position in _places(claim) if position in changed])
            else claim
            for claim in self.claims
        ]
        return replace(self, claims=claims, words=words)

    def table(self) -> Rows:
        """Return a row a verb argument; if these were not checked, a row a word."""
        if not self.relations:
            return self.word_table()
        texts = [text_of(sentence) for sentence in self.summary]
        rows = [_row(claim, texts[claim.sentence - 1]) for claim in self.claims]
        if not self.other_words:
            return Rows(_COLUMNS, rows)
        return Rows(
            (*_COLUMNS, *_OTHER_COLUMNS),
            [(*row, *_other_cells(claim)) for row, claim in zip(rows, self.claims, strict=True)],
        )

    def word_table(self) -> Rows:
        """Return a row a word, with the text of its sentence; positions count from 1."""
        texts = [text_of(sentence) for sentence in self.summary]
        return Rows(
            _WORD_COLUMNS,
            [
                (
                    *(word.sentence, word.place + 1, word.state.word, word.state.state, word.there),
                    *(" ".join(map(str, word.support)), word.state.why),
                    *(" ".join(map(str, word.state.elsewhere)), texts[word.sentence - 1]),
                )
                for word in self.words
            ],
        )

    @property
    def word_counts(self) -> dict[str, int]:
        """Return the numbers of all, of changed and of new words."""
        changed = sum(word.changed for word in self.words)
        new = sum(word.wanting for word in self.words) - changed
        return {"words": len(self.words), "changed": changed, "new": new}

    def figures(self) -> list[str]:
        """Return the precision, and the numbers of changed and new words, as text."""
        lines = [_precision(self)] if self.relations else []
        if self.words or not lines:
            words, changed, new = self.word_counts.values()
            lines.append(f"{changed:,} of {quantity(words, 'word')} {are(words)} changed, {new:,} new")
        return lines

    def listed_words(self) -> list[CheckedWord]:
        """Return the words to show: changed words, and new ones if there are no relations."""
        # With relations new words would be too many: those of a paraphrase are new.
        return [word for word in self.words if (word.changed if self.relations else word.wanting)]


def check(
    summary: Iterable[Sentence],
    source: Iterable[Sentence],
    *,
    spelling: Spelling = FORMS,
    other_words: bool = False,
) -> SupportCheck:
    """Look up every verb argument of a summary in its source.

    With ``other_words`` relations without support are searched in other words, whatever their case: see
    `OtherWords`. WordNet is used if it is installed.

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
    """Two texts, with trees (CoNLL-U) or a parser; of texts without trees, only words are checked.

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
        return self.lemmas or self.match_case or self.other_words

    def check(
        self, parser: Parser | None, *, limits: WordLimits = _NO_LIMITS, need_trees: bool = False
    ) -> SupportCheck:
        """Read both files and compare them: their words, and their relations if both have trees.

        Args:
            parser: parser for texts without trees.
            limits: limits of the comparison of words.
            need_trees: whether texts without trees are refused, for a figure of relations.

        Raises:
            InputError: a file cannot be read, or lacks trees that an option needs.
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
    """Return the original text of a sentence, or its words if that is not known."""
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
    source = OtherWords(support.source, find_wordnet())
    claims = list[Claim]()
    # Claims are in the order of their sentences.
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
    """Return the reason for lacking support; ``unknown`` are positions of words without a related word."""
    argument = claim.argument
    words = ((argument.key.head, argument.head), (argument.key.modifier, argument.modifier))
    if absent := [word for word, position in words if position in unknown]:
        return _absent(absent)
    return claim.why if claim.why == _TURNED else _UNRELATED


def _absent(words: Sequence[str]) -> str:
    return f"not in the source: {' and '.join(words)}"


class _Index:
    """Index of the relations of a source by verb."""

    def __init__(self, source: Sequence[Sentence], spelling: Spelling) -> None:
        self._where: defaultdict[RelationKey, list[int]] = defaultdict(list)
        self._of_verb: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._words: set[str] = set()
        for number, sentence in enumerate(source, 1):
            self._words.update(spelling.words(sentence))
            for argument in arguments(sentence, spelling):
                self._of_verb[argument.key.head][argument.key.modifier] += 1
                # Sentences are in order: a repeated sentence can only be the last entry.
                if number not in self._where[argument.key][-1:]:
                    self._where[argument.key].append(number)

    def claim(self, sentence: int, argument: Argument) -> Claim:
        """Judge one relation of the summary."""
        support = self._where.get(argument.key, ())
        if support:
            return Claim(sentence, argument, tuple(support))
        verb = argument.key.head
        counts = self._of_verb.get(verb, Counter[str]())
        # Ties in the order of words, so that a page is always the same.
        instead = sorted(counts, key=lambda word: (-counts[word], word))[:_SHOWN]
        return Claim(sentence, argument, (), self._why(argument.key), tuple(instead))

    def _why(self, key: RelationKey) -> str:
        absent = [word for word in (key.head, key.modifier) if word not in self._words]
        # The simplest reason first.
        if absent:
            return _absent(absent)
        if RelationKey(key.head, key.modifier, not key.head_first) in self._where:
            return _TURNED
        return _UNRELATED
