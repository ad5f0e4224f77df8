"""Which links a system misses and which it draws wrongly: by the kind of the words, and word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sentgen.alignment import Link, Pair
from sentgen.alignment.words.word_classes import stem
from sentgen.evaluation.alignment.results import AlignerResult, AlignmentResult

#: How the two words of a link are related. Copies of words that occur once in both texts are told from those
#: that have several places to come from or go to.
RELATIONS = ("copy", "copy, repeated", "same stem", "other word")
CLASSES = ("content", "function", "number", "punctuation")


@dataclass(frozen=True, slots=True)
class KindCounts:
    """Links of one kind: how many are sure, how many of these the system found, how many it drew wrongly."""

    sure: int
    found: int
    wrong: int


def kinds(result: AlignmentResult, system: AlignerResult) -> dict[tuple[str, str], KindCounts]:
    """Return by relation and class of the abstract word what a system found and drew wrongly.

    A link is wrong if it is not even possible. Kinds without any link are left out.
    """
    sure, found, wrong = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for pair, answer, gold in zip(result.pairs, system.answers, result.gold, strict=True):
        kind = _KindOf(pair, result.ignored)
        links = answer.links
        sure.update(map(kind.of, gold.sure))
        found.update(map(kind.of, gold.sure & links))
        wrong.update(map(kind.of, links - gold.possible))
    return {
        (relation, name): KindCounts(sure[relation, name], found[relation, name], wrong[relation, name])
        for relation in RELATIONS
        for name in CLASSES
        if sure[relation, name] or wrong[relation, name]
    }


class _KindOf:
    """Tells the kind of a link of one pair."""

    def __init__(self, pair: Pair, ignored: Collection[str]) -> None:
        self._document = [word.lower() for word in pair.document]
        self._abstract = [word.lower() for word in pair.abstract]
        self._counts = Counter(self._document), Counter(self._abstract)
        self._ignored = ignored

    def of(self, link: Link) -> tuple[str, str]:
        """Return the relation of the words and the class of the abstract word."""
        one, other = self._document[link[0]], self._abstract[link[1]]
        return self._relation(one, other), self._class(other)

    def _relation(self, one: str, other: str) -> str:
        if one == other:
            # In each text once: the link can be no other.
            once = self._counts[0][one] == self._counts[1][one] == 1
            return "copy" if once else "copy, repeated"
        return "same stem" if stem(one) == stem(other) else "other word"

    def _class(self, word: str) -> str:
        if not any(character.isalnum() for character in word):
            return "punctuation"
        # Any digit makes a number, as in `4th` and `10,000`.
        if any(character.isdigit() for character in word):
            return "number"
        return "function" if word in self._ignored else "content"


def missed_words(result: AlignmentResult, system: AlignerResult, count: int = 20) -> list[tuple[str, int]]:
    """Return the sure links that a system misses most often, as words, lower-cased."""
    both = zip(system.answers, result.gold, strict=True)
    return _most(result.pairs, (gold.sure - answer.links for answer, gold in both), count)


def wrong_words(result: AlignmentResult, system: AlignerResult, count: int = 20) -> list[tuple[str, int]]:
    """Return the wrong links that a system draws most often, as words, lower-cased."""
    both = zip(system.answers, result.gold, strict=True)
    return _most(result.pairs, (answer.links - gold.possible for answer, gold in both), count)


def _most(pairs: Sequence[Pair], links: Iterable[Collection[Link]], count: int) -> list[tuple[str, int]]:
    """Count links by their words; of equals the first in the alphabet comes first."""
    counts = Counter(
        f"{pair.document[i]} → {pair.abstract[j]}".lower()
        for pair, found in zip(pairs, links, strict=True)
        for i, j in found
    )
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]
