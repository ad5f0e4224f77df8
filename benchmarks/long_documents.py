"""Documents with more in them than their abstract was made from: what that does to links and to new words.

``python benchmarks/long_documents.py [--settings NAME=VALUE,...] [--pairs N]``

Three tables. The first: documents of the development sets in the middle of 1, 10 and 100 times as many words of
novels. The second: GUM documents with their first abstract, the document 1, 5, 20 and 60 times. The third: novels
as a whole, and abstracts of three of their sentences, with a word that no novel has after every second one.
`--settings whole_sentences=none` aligns with whole documents, as `--preset paper` does, and takes much longer.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from harness import data, show

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.rewriting.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.rewriting.parameters import prior_parameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, preset
from sentgen.alignment.phrase_hmm.settings_json import changed
from sentgen.alignment.view.figures import new_words
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.evaluation.alignment.target import Target

SETS = {
    "RTE-2": ("rte2", "rte"),
    "Edinburgh++": ("edinburgh/gold.train.sure.json", "edinburgh"),
    "MTReference": ("mtref/mt-reference.dev.json", "mtref"),
    "MultiMWA-wiki": ("multimwa-wiki/wiki-dev.tsv", "multimwa"),
}
TIMES, COPIES, NOVEL_WORDS = (0, 1, 10, 100), (1, 5, 20, 60), (5_000, 50_000, 140_000)
DOCUMENTS, ABSTRACTS = 20, 20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--settings", default="", help="settings of the preset `best` that are changed")
    parser.add_argument("--pairs", type=int, default=300, help="pairs of each development set")
    given = parser.parse_args()
    named = dict(one.split("=") for one in given.settings.split(",") if one)
    settings = changed(preset("best"), named)
    with gzip.open(data("text/english-novels-100.txt.gz"), "rt") as file:
        novels = words_of(file.read(4_000_000))
    rows = [row for name in SETS for row in padded(name, settings, novels, given.pairs)]
    show("Among novels", ("set", "times", "F1", "new P", "new R", "CPU s"), rows)
    show("Copies", ("copies", "new %", "mean P(null)", "CPU s"), list(copied(settings)))
    show(
        "Novels",
        ("words", "inserted %", "new %", "new P", "new R", "CPU s"),
        list(in_novels(settings, novels)),
    )


def words_of(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+|[^\w\s]", text))


def aligned(pairs: Sequence[Pair], settings: PbhmmSettings) -> tuple[list[Alignment], float]:
    """Return the answers, and CPU seconds."""
    began = time.process_time()
    aligner = PhraseHmm("x", settings, prior_parameters(settings), Lexicon())
    return list(aligner.align(pairs)), time.process_time() - began


def padded(
    name: str, settings: PbhmmSettings, novels: Sequence[str], most: int
) -> Iterator[tuple[object, ...]]:
    path, form = SETS[name]
    gold = read_gold(str(data("alignment") / path), form)
    gold = replace(gold, pairs=gold.pairs[:most])
    for times in TIMES:
        rng = np.random.default_rng(1)
        target = Target(replace(gold, pairs=tuple(among(one, times, novels, rng) for one in gold.pairs)))
        answers, seconds = aligned(target.pairs, settings)
        figures = target.measure(answers)
        found = (f"{100 * figures[metric].value:.1f}" for metric in ("f1", "new-precision", "new-recall"))
        yield name, times, *found, f"{seconds:.1f}"


def among(one: GoldPair, times: int, novels: Sequence[str], rng: np.random.Generator) -> GoldPair:
    """Return a pair whose document stands somewhere in ``times`` as many words of novels."""
    pair, size = one.pair, times * len(one.pair.document)
    if not size:
        return one
    begin, before = int(rng.integers(len(novels) - size)), int(rng.integers(1, size))
    around = tuple(novels[begin : begin + size])
    moved = tuple(
        GoldLinks(*(frozenset((i + before, j) for i, j in links) for links in (each.sure, each.possible)))
        for each in one.annotations
    )
    document = (*around[:before], *pair.document, *around[before:])
    starts = 0, before, before + len(pair.document)
    return GoldPair(replace(pair, document=document, document_starts=starts), moved)


def copied(settings: PbhmmSettings) -> Iterator[tuple[object, ...]]:
    texts = [json.loads(line) for line in data("pairs/gum_doc_abstract.jsonl").open()][:DOCUMENTS]
    pairs = [
        Pair(one["id"], words_of(" ".join(one["document"])), words_of(one["abstracts"][0])) for one in texts
    ]
    words = sum(len(pair.abstract) for pair in pairs)
    for copies in COPIES:
        more = [replace(pair, document=pair.document * copies) for pair in pairs]
        answers, seconds = aligned(more, settings)
        new = sum(len(new_words(*one)) for one in zip(more, answers, strict=True))
        null = sum(sum(answer.null) for answer in answers)
        yield copies, f"{100 * new / words:.1f}", f"{null / words:.3f}", f"{seconds:.1f}"


def in_novels(settings: PbhmmSettings, novels: Sequence[str]) -> Iterator[tuple[object, ...]]:
    for size in NOVEL_WORDS:
        rng, document = np.random.default_rng(1), tuple(novels[:size])
        stops = [place for place, word in enumerate(document) if word == "."]
        sentences = [document[a + 1 : b + 1] for a, b in pairwise(stops) if 15 <= b - a <= 25]
        pairs, inserted = list[Pair](), list[set[int]]()
        for number in range(ABSTRACTS):
            chosen = rng.permutation(len(sentences))[:3]
            words = list[str]()
            for place, word in enumerate(word for one in chosen for word in sentences[one]):
                words += [word, f"zq{place}"] if place % 2 else [word]
            inserted.append({place for place, word in enumerate(words) if word.startswith("zq")})
            pairs.append(Pair(str(number), document, tuple(words)))
        answers, seconds = aligned(pairs, settings)
        new = [set(new_words(*one)) for one in zip(pairs, answers, strict=True)]
        right = sum(len(one & other) for one, other in zip(new, inserted, strict=True))
        found, wanted, words = (
            sum(map(len, new)),
            sum(map(len, inserted)),
            sum(len(p.abstract) for p in pairs),
        )
        shares = wanted / words, found / words, right / max(1, found), right / wanted
        yield size, *(f"{100 * share:.1f}" for share in shares), f"{seconds:.1f}"


if __name__ == "__main__":
    main()
