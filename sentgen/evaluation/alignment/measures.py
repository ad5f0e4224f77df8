"""Measures of alignments: precision and recall of links, strict and soft, on all words or on content words.

Precision is |A and P| / |A|, recall |A and S| / |S|, the alignment error rate 1 - (|A and S| + |A and P|) /
(|A| + |S|) for the links A of the system, sure links S and possible links P (Och and Ney 2003); links of
phrases are all links of their words. Soft precision does not punish longer phrases: a phrase that is linked
to the same phrase counts as if its words were linked one to one (Daumé and Marcu 2004, sec. 3.1); recall is
unchanged. `SoftF` of the paper is `soft-f1`.

`new-precision` and `new-recall` are about abstract words without links: among those of the system, the share
without a sure link; among those without a possible link, the share without a link of the system.

`source-accuracy` is about abstract sentences, if documents have several sentences: among abstract sentences
with sure links, the share whose source is that of the gold (`_count_sources`).

Figures without a prefix are of all links together (micro); `macro-` ones are means over the pairs, and
`macro-f1` is the harmonic mean of these means, as MacCartney et al. 2008 and Yao et al. 2013 report it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations
from pathlib import Path

import numpy as np

from sentgen.alignment import Alignment, Link, Pair, PhraseLink
from sentgen.alignment.words.word_classes import stem
from sentgen.arrays import Floats
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold import GoldLinks, GoldStandard
from sentgen.evaluation.figures.measurement import Figure, Measurement, ratio
from sentgen.system.files import read_text

#: The figure by which systems are compared, as in the paper.
PRIMARY = "soft-f1"
#: Which links count: all; links of two words that are not ignored; links of abstract words that the gold
#: aligns (the oracle of the paper, which no system has); both.
SCOPES: Mapping[str, str] = {
    "": "all words",
    ":content": "without ignored words",
    ":oracle": "only abstract words that the gold aligns",
    ":content:oracle": "without ignored words, only abstract words that the gold aligns",
}


@cache
def ignored_words() -> frozenset[str]:
    """Return the list that ships with sentgen."""
    text = resources.files("sentgen.evaluation.alignment").joinpath("ignored_words.txt").read_text("utf-8")
    return _words_of(text)


def read_ignored(path: Path) -> frozenset[str]:
    """Read a list of words to ignore, one a line; lines that begin with `#` and a blank are comments.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return _words_of(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as a list of words: {error}", path=str(path)) from error


def _words_of(text: str) -> frozenset[str]:
    # With a blank: `#` alone is a word that can be ignored.
    lines = (line for line in text.splitlines() if not line.startswith("# "))
    return frozenset(line.strip().lower() for line in lines if line.strip())


def soft_links(phrases: Sequence[PhraseLink], pair: Pair) -> frozenset[Link]:
    """Return word links: one to one for phrases with the same stems word by word, else all links."""
    return frozenset(link for phrase in phrases for link in _soft(phrase, pair))


def _soft(phrase: PhraseLink, pair: Pair) -> Collection[Link]:
    (i, document_end), (j, abstract_end) = phrase.document, phrase.abstract
    length = document_end - i
    if length == abstract_end - j and all(
        stem(pair.document[i + k]) == stem(pair.abstract[j + k]) for k in range(length)
    ):
        return [(i + k, j + k) for k in range(length)]
    return list(phrase.links)


def _count_pair(
    pair: Pair, answer: Alignment, gold: GoldLinks, ignored: Collection[str]
) -> dict[str, list[int]]:
    """Return by scope |A|, |A and P|, soft |A|, soft |A and P|, |S|, |A and S| (see `SCOPES`)."""
    # `oracle`: only abstract words that an annotator aligned.
    aligned = {j for _, j in gold.possible}
    document = [word.lower() not in ignored for word in pair.document]
    abstract = [word.lower() not in ignored for word in pair.abstract]

    def within(links: frozenset[Link], scope: str) -> frozenset[Link]:
        if "content" in scope:
            links = frozenset((i, j) for i, j in links if document[i] and abstract[j])
        return frozenset((i, j) for i, j in links if j in aligned) if "oracle" in scope else links

    counts = {}
    for scope in SCOPES:
        links, sure = within(answer.links, scope), within(gold.sure, scope)
        soft = within(soft_links(answer.phrases, pair), scope)
        right = len(links & gold.possible), len(soft & gold.possible), len(links & sure)
        counts[scope] = [len(links), right[0], len(soft), right[1], len(sure), right[2]]
    return counts


def _count_new(
    pair: Pair, answer: Alignment, gold: GoldLinks, ignored: Collection[str]
) -> dict[str, list[int]]:
    """Return by scope the new words of the system, those of them without a sure link, the new words of the
    gold, and those of them that the system has; a word is new if nothing is linked to it.

    There are two scopes: the oracle leaves no word new.
    """
    linked, sure, possible = ({j for _, j in links} for links in (answer.links, gold.sure, gold.possible))
    counts = {}
    for scope in ("", ":content"):
        words = {j for j, word in enumerate(pair.abstract) if not scope or word.lower() not in ignored}
        new, wanted = words - linked, words - possible
        counts[scope] = [len(new), len(new - sure), len(wanted), len(wanted & new)]
    return counts


def measure(
    pairs: Sequence[Pair],
    answers: Sequence[Alignment],
    gold: Sequence[GoldLinks],
    *,
    ignored: Collection[str] | None = None,
    signature: str = "",
) -> dict[str, Measurement]:
    """Return all figures of a system by their names, such as ``soft-f1`` and ``recall:content:oracle``.

    ``ignored`` are the words that scopes with `content` leave out, lower-cased, our own list if ``None``;
    ``signature`` says how the gold links were made.
    """
    ignored = ignored_words() if ignored is None else ignored
    counted = [_count_pair(*case, ignored) for case in zip(pairs, answers, gold, strict=True)]
    new = [_count_new(*case, ignored) for case in zip(pairs, answers, gold, strict=True)]
    sources = [_count_sources(*case, ignored) for case in zip(pairs, answers, gold, strict=True)]
    measurements = {}
    for scope, meaning in SCOPES.items():
        statistics_of = _statistics(np.array([row[scope] for row in counted], np.float64).reshape(-1, 6))
        if "oracle" not in scope:
            statistics_of |= _new(np.array([row[scope] for row in new], np.float64).reshape(-1, 4))
            share = np.array([source[scope] for source in sources], np.float64).reshape(-1, 2)
            if share.any():  # some document has several sentences
                statistics_of["source-accuracy"] = share, ratio, "share of abstract sentences"
        for name, (statistics, figure, how) in statistics_of.items():
            described = f"{how}|{meaning}|{signature}" if signature else f"{how}|{meaning}"
            measurements[name + scope] = Measurement(name + scope, described, statistics, figure)
    return measurements


def _new(counts: Floats) -> dict[str, tuple[Floats, Figure, str]]:
    """Return the figures of new words from (pairs, 4) counts, as `_statistics` does those of links."""
    drawn, right, wanted, found = counts.T
    precision, recall = np.stack([right, drawn], 1), np.stack([found, wanted], 1)
    how = "micro, words aligned with nothing"
    return {
        "new-precision": (precision, ratio, how),
        "new-recall": (recall, ratio, how),
        "new-f1": (np.hstack([precision, recall]), _harmonic, how),
    }


def _statistics(counts: Floats) -> dict[str, tuple[Floats, Figure, str]]:
    """Return by metric the statistics, the figure, and its signature, from (pairs, 6) counts."""
    links, possible, soft, soft_possible, sure, found = counts.T
    right = np.stack([possible, links], 1)
    soft_right = np.stack([soft_possible, soft], 1)
    recalled = np.stack([found, sure], 1)
    # AER = 1 - (|A and S| + |A and P|) / (|A| + |S|) (Och and Ney 2003).
    error = np.stack([found + possible, links + sure], 1)
    # No error: all sure links are found, and only possible ones.
    exact = np.stack([(links == possible) & (found == sure), np.ones(len(counts))], 1)
    means = {name: _mean_of(parts) for name, parts in (("p", right), ("soft", soft_right), ("r", recalled))}
    return {
        "soft-precision": (soft_right, ratio, "micro, soft"),
        "recall": (recalled, ratio, "micro"),
        "soft-f1": (np.hstack([soft_right, recalled]), _harmonic, "micro, soft"),
        "precision": (right, ratio, "micro"),
        "f1": (np.hstack([right, recalled]), _harmonic, "micro"),
        "aer": (error, lambda sums: 1 - ratio(sums), "micro"),
        "macro-precision": (means["p"], ratio, "mean over pairs"),
        "macro-recall": (means["r"], ratio, "mean over pairs"),
        "macro-f1": (np.hstack([means["p"], means["r"]]), _harmonic, "of means over pairs"),
        "macro-soft-f1": (np.hstack([means["soft"], means["r"]]), _harmonic, "of means over pairs, soft"),
        "exact": (exact.astype(np.float64), ratio, "share of pairs with all sure and only possible links"),
    }


def _mean_of(parts: Floats) -> Floats:
    """Return the ratio of each pair, and 1 if it is defined, else 0."""
    defined = parts[:, 1] > 0
    values = np.divide(parts[:, 0], parts[:, 1], out=np.zeros(len(parts)), where=defined)
    return np.stack([values, defined], 1)


def _harmonic(sums: Floats) -> Floats:
    """Return 2pr / (p + r) of two ratios; an undefined one counts as 0, unless both are undefined."""
    p, r = ratio(sums[..., :2]), ratio(sums[..., 2:])
    one, other = np.nan_to_num(p), np.nan_to_num(r)
    total = one + other
    mean = np.divide(2 * one * other, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(np.where(np.isnan(p) & np.isnan(r), np.nan, mean), np.float64)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two annotators on which word pairs are linked; ``kind`` is sure or possible."""

    one: str
    other: str
    kind: str
    scope: str
    items: int
    kappa: float


def agreements(gold: GoldStandard, *, ignored: Collection[str] | None = None) -> list[Agreement]:
    """Return Cohen's kappa for every two annotators: of sure and of all links, on all and content words."""
    ignored = ignored_words() if ignored is None else ignored
    return [
        _agreement(gold, one, other, kind, content, ignored)
        for content in (False, True)
        for kind in ("sure", "possible")
        for one, other in combinations(range(len(gold.annotators)), 2)
    ]


def _agreement(
    gold: GoldStandard,
    first_annotator: int,
    second_annotator: int,
    kind: str,
    content: bool,
    ignored: Collection[str],
) -> Agreement:
    items = first = second = both = 0
    for gold_pair in gold.pairs:
        document, abstract = (
            {n for n, word in enumerate(words) if not content or word.lower() not in ignored}
            for words in (gold_pair.pair.document, gold_pair.pair.abstract)
        )
        mine, yours = (
            {(i, j) for i, j in getattr(gold_pair.annotations[n], kind) if i in document and j in abstract}
            for n in (first_annotator, second_annotator)
        )
        # Every pair of words is an item; most agreement on unlinked pairs is by chance.
        items += len(document) * len(abstract)
        first, second, both = first + len(mine), second + len(yours), both + len(mine & yours)
    return Agreement(
        gold.annotators[first_annotator],
        gold.annotators[second_annotator],
        kind,
        "content" if content else "all",
        items,
        kappa(items, first, second, both),
    )


def kappa(items: int, first: int, second: int, both: int) -> float:
    """Return Cohen's kappa (1960) of two annotators who mark some items.

    NaN if an annotator marks no item, or all: by chance alone they would agree as often.

    >>> round(kappa(100, 50, 50, 40), 6)  # they agree on 80 of 100 items, by chance on 50
    0.6
    """
    if not 0 < first < items or not 0 < second < items:
        return float("nan")
    observed = (items - first - second + 2 * both) / items
    expected = (first * second + (items - first) * (items - second)) / items**2
    return (observed - expected) / (1 - expected)


def _count_sources(
    pair: Pair, answer: Alignment, gold: GoldLinks, ignored: Collection[str]
) -> dict[str, list[int]]:
    """Return by scope the numbers of abstract sentences with the gold source, and with any gold source.

    The source is the document sentence with most of the links, for the gold of the sure links; ties go to the
    first one for the system, and all count for the gold. Documents of one sentence do not count. Sentences
    are those of the pair, in pseudo-documents the original texts.
    """
    if len(pair.document_starts) < 2:
        return {"": [0, 0], ":content": [0, 0]}
    counts = {}
    for scope in ("", ":content"):
        left_out = ignored if scope else ()
        drawn, sure = (_links_by_sentence(pair, links, left_out) for links in (answer.links, gold.sure))
        right = 0
        for sentence, votes in sure.items():
            given = drawn.get(sentence)
            right += given is not None and votes[_first_of_most(given)] == max(votes.values())
        counts[scope] = [right, len(sure)]
    return counts


def _first_of_most(counts: Counter[int]) -> int:
    return min(counts, key=lambda position: (-counts[position], position))


def _links_by_sentence(
    pair: Pair, links: Iterable[Link], left_out: Collection[str]
) -> dict[int, Counter[int]]:
    """Return by abstract sentence the number of links to each document sentence."""
    counts: dict[int, Counter[int]] = {}
    for i, j in links:
        if pair.document[i].lower() in left_out or pair.abstract[j].lower() in left_out:
            continue
        source, sentence = (
            bisect_right(starts, position)
            for starts, position in ((pair.document_starts, i), (pair.abstract_starts, j))
        )
        counts.setdefault(sentence, Counter())[source] += 1
    return counts
