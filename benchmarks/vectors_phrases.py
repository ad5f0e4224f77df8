"""Do phrases whose vectors are near help the aligner? A phrase has the mean of the vectors of its content words.

``python benchmarks/vectors_phrases.py STORE VECTORS [--half odd|even] [--limit N]``

Phrases of up to three words that begin and end with content words, one of them at least of two words, may rewrite
each other if their cosine is high enough: so does each word of what is generated with some probability, as by a
cell of the table. Other words: the phrases have no stem in common; no kin: nor has either with the other text.
F1 of `pbhmm` (`best`) on half of each development set, and what changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from harness import data, show
from vectors import SETS

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.phrase_hmm.lexicon import phrase_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.evaluation.alignment.experiment import Target
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.models.vectors import WordVectors
from sentgen.schema import Store

_LONGEST = 3
_LEAST, _PROBS = (0.5, 0.6, 0.7), (1e-2, 1e-3, 1e-4)
#: Key of the document phrase and of the abstract phrase, to their cosine and lengths.
Near = Mapping[tuple[int, int], tuple[float, int, int]]


@dataclass(frozen=True, slots=True)
class Phrase:
    key: int
    length: int
    vector: np.ndarray
    stems: frozenset[str]


def phrases(words: Sequence[str], ids: np.ndarray, vectors: WordVectors) -> Iterator[Phrase]:
    numbers = vectors.numbers(words)
    content = [not is_function_word(word) and any(map(str.isalnum, word)) for word in words]
    for length in range(1, min(_LONGEST, len(words)) + 1):
        for begin, key in enumerate(phrase_keys(ids, length).tolist()):
            places = range(begin, begin + length)
            of = [place for place in places if content[place]]
            marked = not all(any(map(str.isalnum, words[place])) for place in places)
            if marked or not (content[begin] and content[places[-1]]) or min(numbers[of]) < 0:
                continue
            total = vectors.vectors[numbers[of]].sum(axis=0)
            yield Phrase(
                key,
                length,
                total / np.linalg.norm(total),
                frozenset(stem(words[place].lower()) for place in of),
            )


def near_phrases(pair: Pair, aligner: PhraseHmm, vectors: WordVectors, *, alone: bool) -> Near:
    """Return the phrases of a pair that are near; ``alone``: those without kin in the other text."""
    ids = aligner.lexicon.encode(pair)
    document = list(phrases(pair.document, ids.document, vectors))
    abstract = list(phrases(pair.abstract, ids.abstract, vectors))
    if alone:
        of_document, of_abstract = (
            {stem(w.lower()) for w in words} for words in (pair.document, pair.abstract)
        )
        document = [one for one in document if not one.stems & of_abstract]
        abstract = [one for one in abstract if not one.stems & of_document]
    found = dict[tuple[int, int], tuple[float, int, int]]()
    if not document or not abstract:
        return found
    cosines = np.array([one.vector for one in document]) @ np.array([one.vector for one in abstract]).T
    for row, column in np.argwhere(cosines >= min(_LEAST)).tolist():
        left, right = document[row], abstract[column]
        if max(left.length, right.length) > 1 and not left.stems & right.stems:
            found[left.key, right.key] = float(cosines[row, column]), left.length, right.length
    return found


def table(near: Near, prob: float, settings: PbhmmSettings, *, reverse: bool) -> RewriteTable:
    """Return the table of these phrases, from which the mixture makes ``prob`` for each generated word."""
    rows = sorted((pair[::-1] if reverse else pair, of[1 if reverse else 2]) for pair, of in near.items())
    left, right = np.array([pair for pair, _ in rows], np.int64).T
    cells = prob ** np.array([length for _, length in rows], float) / (settings.weights[0] * settings.trust)
    return RewriteTable.of_cells(left, right, cells, np.zeros(len(rows)))


def answers(pairs: Sequence[Pair], found: Sequence[Near], least: float, prob: float) -> Iterator[Alignment]:
    base = PhraseHmm.untrained("best")
    settings = replace(base.settings, max_document_phrase=_LONGEST, max_abstract_phrase=_LONGEST)
    plain = RewriteParameters.prior(settings)
    for pair, near in zip(pairs, found, strict=True):
        some = {keys: of for keys, of in near.items() if of[0] >= least}
        one = base
        if some:
            ways = (replace(plain, table=table(some, prob, settings, reverse=way)) for way in (False, True))
            forward, reverse = ways
            one = replace(base, settings=settings, parameters=forward, reverse=reverse)
        yield from one.align([pair])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("vectors")
    parser.add_argument("--half", choices=("odd", "even"), default="odd")
    parser.add_argument("--limit", type=int, help="pairs of each half; all if left out")
    given = parser.parse_args()
    with Store(given.store, read_only=True) as store:
        vectors = WordVectors.load(store, given.vectors)
    columns = list[list[str]]()
    ways = [(alone, least, prob) for alone in (False, True) for least in _LEAST for prob in _PROBS]
    for _, path, form in SETS:
        gold = read_gold(str(data(f"alignment/{path}")), form)
        half = gold.pairs[given.half == "even" :: 2][: given.limit]
        target = Target(replace(gold, pairs=half))
        base = PhraseHmm.untrained("best")
        before = 100 * target.measure(list(base.align(target.pairs)))["f1"].value
        near = {
            alone: [near_phrases(pair, base, vectors, alone=alone) for pair in target.pairs]
            for alone in (False, True)
        }
        columns.append([f"{before:.2f}"])
        for alone, least, prob in ways:
            after = target.measure(list(answers(target.pairs, near[alone], least, prob)))["f1"].value
            columns[-1].append(f"{100 * after - before:+.2f}")
    told = [f"{'no kin' if alone else 'other words'}, cosine {c}, {p:g} a word" for alone, c, p in ways]
    rows = list(zip(["no vectors", *told], *columns, strict=True))
    show(f"F1 on {given.half} pairs", ("near phrases", *(name for name, *_ in SETS)), rows)


if __name__ == "__main__":
    main()
