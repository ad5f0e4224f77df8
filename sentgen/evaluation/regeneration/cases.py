"""Test sets and their cases: the units of a sentence that are to be ordered, its own order and its tree."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from sentgen.case_folding import fold
from sentgen.corpus.base_np import function_heads, mark_base_nps, unit_heads
from sentgen.corpus.paths import expand
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, Rejection
from sentgen.generation.bags.bag import UnitKind
from sentgen.generation.bags.bag_reader import TagKind, tagged_units
from sentgen.generation.prepare import is_punctuation
from sentgen.generation.regenerate import Gold


@dataclass(frozen=True, slots=True)
class Preparation:
    """How sentences become test cases.

    Attributes:
        units: `np` to keep base noun phrases whole, or `word`.
        punctuation: whether punctuation is kept.
        lowercase: whether the words are lower-cased.
        tags: tag set of the units, that of the counts which the generators use; any if ``None``.
        function_heads: whether `case`, `mark`, `aux` and `cop` head their phrase in the gold tree, as in the
            counts that the generators use; for trees over base noun phrases only.
    """

    units: UnitKind = "np"
    punctuation: bool = True
    lowercase: bool = False
    tags: TagKind | None = None
    function_heads: bool = True

    def case(self, sentence: Sentence) -> Gold:
        """Return the test case of a sentence: its units, and the places of their heads if they form a tree.

        Base noun phrases are those of the sentence, else they are found by its tags and relations; without
        these, words are the units. If punctuation is removed, its modifiers hang on its head. There are no
        units if no words are left.
        """
        if self.units == "np":
            mark_base_nps(sentence)
        if self.units == "np" and self.function_heads and sentence.heads and sentence.deprels:
            sentence = replace(sentence, heads=function_heads(sentence))
        if not self.punctuation:
            sentence = _without_punctuation(sentence)
        if self.lowercase:
            sentence = replace(sentence, forms=[fold(form) for form in sentence.forms])
        units = tagged_units(sentence, self.tags, self.units)
        return Gold(tuple(units), _heads(sentence, [len(unit.words) for unit in units]))


def read_test_set(path: str, *, form: str | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a file, folder or archive; log and skip those that a check refuses.

    Args:
        path: anything that `sentgen ingest` takes.
        form: name of the format; detected if ``None``.

    Raises:
        InputError: there is no such file, its format cannot be told, or it holds no sentence.
    """
    # A flag, since the sentences are not kept in memory.
    none = True
    for sentence in sentences_of(expand([path]), form=form, rejected=_warn):
        none = False
        yield sentence
    if none:
        raise InputError("holds no sentence to test with", path=path)


def _without_punctuation(sentence: Sentence) -> Sentence:
    """Return the sentence without its punctuation: forms, tags, base noun phrases and tree."""
    tags = sentence.upos or sentence.xpos
    keep = [not _is_punctuation(form, tags[i] if tags else None) for i, form in enumerate(sentence.forms)]
    return Sentence(
        forms=list(compress(sentence.forms, keep)),
        upos=sentence.upos and list(compress(sentence.upos, keep)),
        xpos=sentence.xpos and list(compress(sentence.xpos, keep)),
        heads=sentence.heads and _remaining_heads(sentence.heads, keep),
        nps=sentence.nps and list(compress(sentence.nps, keep)),
        sent_id=sentence.sent_id,
    )


def _is_punctuation(form: str, tag: str | None) -> bool:
    """Return whether a token is punctuation: by its tag, or, without a tag, by its characters."""
    return is_punctuation(tag) if tag else not any(character.isalnum() for character in form)


def _remaining_heads(heads: Sequence[int], keep: Sequence[bool]) -> list[int]:
    """Return the head of each kept token: its nearest ancestor that is kept, from 1, or 0 for the root."""
    numbers = np.cumsum(keep).tolist()
    remaining = []
    for head in compress(heads, keep):
        # Ends at the root at the latest, as heads form a tree.
        while head and not keep[head - 1]:
            head = heads[head - 1]
        remaining.append(numbers[head - 1] if head else 0)
    return remaining


def _heads(sentence: Sentence, lengths: Sequence[int]) -> tuple[int, ...] | None:
    """Return for every unit the place of its head, -1 for the root; None if the units form no tree."""
    if not sentence.heads:
        return None
    last = np.cumsum(lengths)
    # Every unit is given as a phrase, so that the kernel of ingestion finds its head.
    phrases = np.repeat(np.arange(1, len(lengths) + 1), lengths).astype(np.int32)
    word_heads, trees = unit_heads(
        np.array(sentence.heads, np.int32), phrases, np.array([len(sentence.heads)], np.int32)
    )
    if not trees[0]:
        return None
    # The kernel returns the last word of a unit as its place.
    unit_at = {int(position): unit for unit, position in enumerate(last)}
    return tuple(unit_at.get(int(head), -1) for head in word_heads[last - 1])


logger = logging.getLogger(__name__)


def _warn(rejection: Rejection) -> None:
    logger.warning("left out: %s", rejection.as_error())
