"""Documents with more in them than their abstract was made from: what that does to links and to new words.

``python benchmarks/long_documents.py [--settings NAME=VALUE,...] [--pairs N] [--tuned N | --halves]``

Three tables. The first: documents of the development sets in the middle of 1, 10 and 100 times as many words of
novels. The second: GUM documents with their first abstract, the document 1, 5, 20 and 60 times. The third: novels
as a whole, and abstracts of three of their sentences, with a word that no novel has after every second one.
`--settings whole_sentences=none` aligns with whole documents, as `--preset paper` does, and takes much longer.
`--tuned N` tunes a model on the first N odd pairs of each set, and tests it on even ones: the first table, and one
of pseudo-documents, with `best` beside it. `--halves` measures pseudo-documents of the odd and of the even pairs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from harness import data, show

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.tuning import TuningExample, tune
from sentgen.alignment.view.view import places_of
from sentgen.alignment.words.word_states import word_states
from sentgen.evaluation.alignment.experiment import Target
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair, GoldStandard
from sentgen.evaluation.alignment.gold_readers import read_gold

SETS = {
    "RTE-2": ("rte2", "rte"),
    "Edinburgh++": ("edinburgh/gold.train.sure.json", "edinburgh"),
    "MTReference": ("mtref/mt-reference.dev.json", "mtref"),
    "MultiMWA-wiki": ("multimwa-wiki/wiki-dev.tsv", "multimwa"),
}
PADDED = "set", "times", "F1", "new P", "new R", "CPU s"
TIMES, COPIES, NOVEL_WORDS = (0, 1, 10, 100), (1, 5, 20, 60), (5_000, 50_000, 140_000)
DOCUMENTS, ABSTRACTS = 20, 20
SEEDS, HALVES = (1, 2, 3, 4), ("soft-f1", "new-f1", "source-accuracy")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--settings", default="", help="settings of the preset `best` that are changed")
    parser.add_argument("--pairs", type=int, default=300, help="pairs of each development set")
    parser.add_argument("--tuned", type=int, default=0, help="odd pairs of each set to tune on; none")
    parser.add_argument("--halves", action="store_true", help="pseudo-documents of both halves, no others")
    given = parser.parse_args()
    named = dict(one.split("=") for one in given.settings.split(",") if one)
    settings = PbhmmSettings.preset("best").changed(named)
    if given.halves:
        rows = [row for name in SETS for row in halves(name, untrained(settings))]
        show(f"Pseudo-documents, means over {len(SEEDS)} seeds", ("set", "half", *HALVES), rows)
        return
    with gzip.open(data("text/english-novels-100.txt.gz"), "rt") as file:
        novels = words_of(file.read(4_000_000))
    if given.tuned:
        tuned_tables(given.tuned, named, novels, given.pairs)
        return
    best = untrained(settings)
    rows = [row for name in SETS for row in padded(name, gold_of(name), best, novels, given.pairs)]
    show("Among novels", PADDED, rows)
    show("Copies", ("copies", "new %", "mean P(null)", "CPU s"), list(copied(best)))
    show(
        "Novels",
        ("words", "inserted %", "new %", "new P", "new R", "CPU s"),
        list(in_novels(best, novels)),
    )


def untrained(settings: PbhmmSettings) -> PhraseHmm:
    return PhraseHmm("best", settings, RewriteParameters.prior(settings), Lexicon())


def gold_of(name: str) -> GoldStandard:
    path, form = SETS[name]
    return read_gold(str(data("alignment") / path), form)


def halves(name: str, aligner: PhraseHmm) -> Iterator[tuple[object, ...]]:
    gold = gold_of(name)
    for half, told in enumerate(("odd", "even")):
        some = replace(gold, pairs=gold.pairs[half::2])
        targets = [Target(some.pseudo_documents(seed=seed)) for seed in SEEDS]
        figures = [target.measure(aligned(target.pairs, aligner)[0]) for target in targets]
        means = (np.mean([one[metric].value for one in figures]) for metric in HALVES)
        yield name, told, *(f"{100 * mean:.1f}" for mean in means)


def tuned_tables(count: int, named: Mapping[str, str], novels: Sequence[str], most: int) -> None:
    """Show the first table with tuned models, and pseudo-documents of the same halves."""
    among, pseudo = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for name in SETS:
        gold = gold_of(name)
        odd, even = (replace(gold, pairs=gold.pairs[half::2]) for half in (0, 1))
        odd = odd.first(count)
        examples = [
            TuningExample.of_links(one.pair, links.sure, links.possible)
            for one, links in zip(odd.pairs, odd.combined("half"), strict=True)
        ]
        tuned = tune(examples).aligner("tuned")
        tuned = replace(tuned, settings=tuned.settings.changed(named))
        among += padded(name, even, tuned, novels, most)
        target = Target(even.pseudo_documents())
        for aligner in (untrained(PbhmmSettings.preset("best").changed(named)), tuned):
            pseudo.append((name, aligner.name, *measured(target, aligner)))
    show(f"Among novels, tuned on {count} odd pairs", PADDED, among)
    show("Pseudo-documents of even pairs", ("set", "model", *PADDED[2:]), pseudo)


def words_of(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+|[^\w\s]", text))


def aligned(pairs: Sequence[Pair], aligner: PhraseHmm) -> tuple[list[Alignment], float]:
    """Return the answers, and CPU seconds."""
    began = time.process_time()
    # With words of its own, so that one measurement does not make the next one faster.
    aligner = replace(aligner, lexicon=Lexicon())
    return list(aligner.align(pairs)), time.process_time() - began


def measured(target: Target, aligner: PhraseHmm) -> Iterator[str]:
    answers, seconds = aligned(target.pairs, aligner)
    figures = target.measure(answers)
    yield from (f"{100 * figures[metric].value:.1f}" for metric in ("f1", "new-precision", "new-recall"))
    yield f"{seconds:.1f}"


def padded(
    name: str, gold: GoldStandard, aligner: PhraseHmm, novels: Sequence[str], most: int
) -> Iterator[tuple[object, ...]]:
    gold = gold.first(most)
    for times in TIMES:
        rng = np.random.default_rng(1)
        target = Target(replace(gold, pairs=tuple(among(one, times, novels, rng) for one in gold.pairs)))
        yield name, times, *measured(target, aligner)


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


def copied(aligner: PhraseHmm) -> Iterator[tuple[object, ...]]:
    texts = [json.loads(line) for line in data("pairs/gum_doc_abstract.jsonl").open()][:DOCUMENTS]
    pairs = [
        Pair(one["id"], words_of(" ".join(one["document"])), words_of(one["abstracts"][0])) for one in texts
    ]
    words = sum(len(pair.abstract) for pair in pairs)
    for copies in COPIES:
        more = [replace(pair, document=pair.document * copies) for pair in pairs]
        answers, seconds = aligned(more, aligner)
        new = sum(len(places_of("new", word_states(*one))) for one in zip(more, answers, strict=True))
        null = sum(float(sum(answer.null or ())) for answer in answers)
        yield copies, f"{100 * new / words:.1f}", f"{null / words:.3f}", f"{seconds:.1f}"


def in_novels(aligner: PhraseHmm, novels: Sequence[str]) -> Iterator[tuple[object, ...]]:
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
        answers, seconds = aligned(pairs, aligner)
        new = [set(places_of("new", word_states(*one))) for one in zip(pairs, answers, strict=True)]
        right = sum(len(one & other) for one, other in zip(new, inserted, strict=True))
        found, wanted = sum(map(len, new)), sum(map(len, inserted))
        total = sum(len(pair.abstract) for pair in pairs)
        shares = wanted / total, found / total, right / max(1, found), right / wanted
        yield size, *(f"{100 * share:.1f}" for share in shares), f"{seconds:.1f}"


if __name__ == "__main__":
    main()
