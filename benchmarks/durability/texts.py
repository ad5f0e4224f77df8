"""Texts, trees and pairs that are made up: as many as wanted, the same for the same seed, no corpus needed.

Words are drawn by Zipf's law, so that the n-grams of a few hundred thousand tokens fill several row groups.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

VOCABULARY = 20_000
_SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")
_UPOS = ("NOUN", "VERB", "ADJ", "DET", "ADP", "PROPN", "PRON", "ADV")
_DEPRELS = ("nsubj", "obj", "amod", "det", "case", "nmod", "obl", "advmod", "conj")


class Texts:
    """A source of sentences."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def sentences(self, tokens: int) -> Iterator[list[str]]:
        """Yield sentences of 5 to 30 words until there are so many tokens."""
        while tokens > 0:
            size = self._random.randint(5, 30)
            ranks = self._random.choices(range(VOCABULARY), cum_weights=self._weights, k=size)
            yield [_word(rank) for rank in ranks]
            tokens -= size

    def lines(self, path: Path, tokens: int) -> Path:
        """Write sentences, one a line."""
        path.write_text("".join(" ".join(words) + "\n" for words in self.sentences(tokens)))
        return path

    def prose(self, path: Path, tokens: int) -> Path:
        """Write raw text in paragraphs of a sentence each."""
        text = (" ".join(words).capitalize() + ".\n\n" for words in self.sentences(tokens))
        path.write_text("".join(text))
        return path

    def trees(self, path: Path, tokens: int) -> Path:
        """Write CoNLL-U with random trees."""
        path.write_text("".join(f"{self._tree(words)}\n" for words in self.sentences(tokens)))
        return path

    def pairs(self, path: Path, count: int, words: int) -> Path:
        """Write documents of about so many words, each with an abstract of words that stand in it."""
        with path.open("w") as file:
            for number in range(count):
                document = [word for sentence in self.sentences(words) for word in sentence]
                abstract = [word for word in document if self._random.random() < 0.2] or document[:1]
                texts = {"document": " ".join(document), "abstract": " ".join(abstract)}
                file.write(json.dumps({"id": f"p{number}"} | texts) + "\n")
        return path

    def _tree(self, words: list[str]) -> str:
        order = list(range(1, len(words) + 1))
        self._random.shuffle(order)
        rows = []
        for place, number in enumerate(order):
            head = self._random.choice(order[:place]) if place else 0
            upos, relation = self._random.choice(_UPOS), self._random.choice(_DEPRELS) if place else "root"
            form = words[number - 1]
            rows.append((number, f"{number}\t{form}\t{form}\t{upos}\t{upos}\t_\t{head}\t{relation}\t_\t_\n"))
        return "".join(row for _, row in sorted(rows))


def _word(rank: int) -> str:
    """Return the word of a rank: its number in syllables."""
    syllables = []
    while True:
        rank, digit = divmod(rank, len(_SYLLABLES))
        syllables.append(_SYLLABLES[digit])
        if not rank:
            return "".join(syllables)
