"""Planted changes in summaries of copied sentences: how many are shown, and how many other words are accused.

    python benchmarks/planted_changes.py [--corpus GUM,EWT] [--documents N] [--half odd|even] [--kinds KIND,...]
        [--systems best,paper,lcs,cut-and-paste,overlap] [--reworded] [--misses N] [--csv FILE] [--real N]

Of each document of twenty sentences (`planted_texts.py`) there are summaries of some of its sentences, three with
one planted change each and one without (`planting.py`). A change is shown if one of the words that were put in is
`changed` or `new`; of a *not* that was taken out, the word before it, the one after, or the next content word. Any
other word that is `changed` or `new` is accused. The rows *links* say what could be told without states: a word
without a link is new. *overlap* accuses words that stand nowhere in the document, up to stem and spelling.

``--half``: the odd documents are for looking at; the even ones are measured at the end. ``--reworded`` cuts clauses
off the sentences and changes function words (`planted_rewordings.py`). ``--misses`` prints changes that were not
shown, and words that were accused. ``--real`` counts content words that are new and stand in the document, also
in the first N real summaries of SciTLDR, dev, and of SumPubMed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import show
from planted_report import (
    LINKS,
    Case,
    States,
    print_misses,
    share,
    show_drawn,
    show_kinds,
    show_kinds_by_system,
    show_systems,
    write,
)
from planted_rewordings import reworded
from planted_texts import CORPORA, HALVES, SENTENCES, raw_pairs, texts, wordnet
from planting import KINDS, Planter, Summary

from sentgen.alignment import Aligner, Alignment, Pair
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.systems import aligner_named
from sentgen.alignment.words.relations import same_word
from sentgen.alignment.words.states import WordState
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.alignment.words.word_states import word_states
from sentgen.corpus.pair_readers import PairSettings, TokenizedPair

OVERLAP = "overlap"
SYSTEMS = ("best", "paper", "lcs", "cut-and-paste", OVERLAP)
REAL = {"SciTLDR": "scitldr-dev.jsonl.gz", "SumPubMed": "sumpubmed-2000.jsonl.xz"}


def main() -> None:
    given = options().parse_args()
    kinds = chosen(given.kinds, KINDS)
    cases, seconds = list[Case](), dict[tuple[str, str], float]()
    for corpus in chosen(given.corpus, CORPORA):
        planter = Planter(texts(corpus, given.half, given.documents), wordnet=wordnet(), seed=given.seed)
        summaries = [one for number in range(len(planter.texts)) for one in planter.summaries(number, kinds)]
        if given.reworded:
            summaries = [reworded(one, given.seed) for one in summaries]
        show_drawn(corpus, planter)
        for system in chosen(given.systems, SYSTEMS):
            began = time.process_time()
            cases += judged(corpus, system, summaries)
            seconds[corpus, system] = time.process_time() - began
    setting = f"{given.half} half, {'reworded' if given.reworded else 'copied'} sentences"
    systems = list(dict.fromkeys(case.system for case in cases))
    first = [case for case in cases if case.system == systems[0]]
    show_kinds(f"{systems[0]}: changes shown, {setting}", first, kinds)
    if len(systems) > 2:
        show_kinds_by_system(f"changes shown in percent, {setting}", cases, kinds)
    show_systems(setting, cases, seconds)
    show_verbatim_new(cases, given.real, chosen(given.systems, SYSTEMS))
    if given.csv:
        write(given.csv, cases)
    if given.misses:
        print_misses([one for one in cases if not one.system.endswith(LINKS)], given.misses)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="GUM,EWT", help=f"of {','.join(CORPORA)}, or all")
    parser.add_argument("--kinds", default="all", help=f"of {','.join(KINDS)}, or all")
    parser.add_argument("--systems", default="best", help=f"of {','.join(SYSTEMS)}, or all")
    parser.add_argument("--documents", type=int, default=20, help=f"of {SENTENCES} sentences, of each corpus")
    parser.add_argument("--half", choices=HALVES, default="odd", help="of the documents")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reworded", action="store_true", help="sentences that are not copies")
    parser.add_argument("--misses", type=int, default=0, help="how many of each kind and corpus to print")
    parser.add_argument("--real", type=int, default=0, help="real summaries of SciTLDR and SumPubMed")
    parser.add_argument("--csv", type=Path, help="write a row for each change and each accused word")
    return parser


def chosen(text: str, known: Sequence[str]) -> list[str]:
    """Return the names of a list, ``all`` for all; another one ends the program."""
    by_name = {name.lower(): name for name in known}
    names = known if text == "all" else [by_name.get(name.lower(), "") for name in text.split(",")]
    if not all(names):
        raise SystemExit(f"{text!r}: there are {', '.join(known)}, or all")
    return list(names)


def judged(corpus: str, system: str, summaries: Sequence[Summary]) -> Iterator[Case]:
    """Yield what a system says of summaries, by states and, where it has links, by them alone."""
    pairs = [one.pair(str(number)) for number, one in enumerate(summaries)]
    if system == OVERLAP:
        for one, pair in zip(summaries, pairs, strict=True):
            yield Case(corpus, system, one, overlap(pair))
        return
    for one, pair, alignment in zip(summaries, pairs, aligner(system).align(pairs), strict=True):
        yield Case(corpus, system, one, word_states(pair, alignment))
        yield Case(corpus, f"{system}{LINKS}", one, unlinked(pair, alignment))


def aligner(system: str) -> Aligner:
    return PhraseHmm.untrained(system) if system in ("best", "paper") else aligner_named(system)


def overlap(pair: Pair) -> list[WordState]:
    """Say which words stand nowhere in the document, up to case, stem and the spelling of numbers."""
    known = {name for word in pair.document for name in spellings(word)}
    return [WordState(word, "same" if known & set(spellings(word)) else "new") for word in pair.abstract]


def spellings(word: str) -> Iterator[str]:
    yield from (word.lower(), f"stem {stem(word)}")
    if spelled := same_word(word):
        yield f"spelled {spelled}"


def unlinked(pair: Pair, alignment: Alignment) -> list[WordState]:
    linked = {word for _, word in alignment.links}
    return [WordState(word, "same" if place in linked else "new") for place, word in enumerate(pair.abstract)]


def show_verbatim_new(cases: Sequence[Case], real: int, systems: Sequence[str]) -> None:
    """Show how many of the content words told as new stand in the document, in the same letters."""
    counts = dict[str, Counter[str]]()
    for case in cases:
        marks = [word.mark for one in case.summary.sentences for word in one.words]
        count = counts.setdefault(f"planted, {case.corpus}, {case.system}", Counter())
        count_new(count, case.summary.pair(""), case.states, marks)
    for corpus, name in REAL.items() if real else ():
        pairs = list(real_pairs(name, real))
        for system in systems:
            for told, pair, states in judged_pairs(system, pairs):
                count = counts.setdefault(f"real, {corpus}, {told}", Counter())
                count_new(count, pair, states, [""] * len(pair.abstract))
    rows = [
        (what, count["new"], count["there"], share(count["there"], count["new"]), count["put"])
        for what, count in counts.items()
    ]
    columns = "summaries", "new", "in the document", "% (95 %)", "of them put in"
    show("content words told as new", columns, rows)


def real_pairs(name: str, most: int) -> Iterator[Pair]:
    for raw in raw_pairs(name)[:most]:
        pair = raw.tokenize(PairSettings(replace_controls=True))
        if isinstance(pair, TokenizedPair):
            yield Pair.of_sentences(pair.key, pair.document, pair.abstract)


def judged_pairs(system: str, pairs: Sequence[Pair]) -> Iterator[tuple[str, Pair, States]]:
    if system == OVERLAP:
        return
    for pair, alignment in zip(pairs, aligner(system).align(pairs), strict=True):
        yield system, pair, word_states(pair, alignment)
        yield f"{system}{LINKS}", pair, unlinked(pair, alignment)


def count_new(count: Counter[str], pair: Pair, states: States, marks: Sequence[str]) -> None:
    known = {word.lower() for word in pair.document}
    for one, mark in zip(states, marks, strict=True):
        if one.state == "new" and not is_function_word(one.word):
            there = one.word.lower() in known
            count["new"] += 1
            count["there"] += there
            count["put"] += there and mark == "put"


if __name__ == "__main__":
    main()
