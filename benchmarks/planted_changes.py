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
import csv
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import show
from planted_rewordings import reworded
from planted_texts import CORPORA, HALVES, SENTENCES, raw_pairs, texts, wordnet
from planting import ANOTHER, KINDS, ORIGINS, SAME, Planted, Planter, Summary

from sentgen.alignment import Aligner, Alignment, Pair
from sentgen.alignment.phrase_hmm.pbhmm import untrained
from sentgen.alignment.states.word_states import WordState, word_states
from sentgen.alignment.systems import aligner_named
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.spellings import same_word
from sentgen.alignment.words.stems import stem
from sentgen.corpus.pair_text import PairSettings, TokenizedPair
from sentgen.output.intervals import wilson

OVERLAP = "overlap"
SYSTEMS = ("best", "paper", "lcs", "cut-and-paste", OVERLAP)
#: What the name of a system ends with where only its links count.
LINKS = " links"
TOLD = ("changed", "new")
REAL = {"SciTLDR": "scitldr-dev.jsonl.gz", "SumPubMed": "sumpubmed-2000.jsonl.xz"}
#: States of the words of a summary; only those in `TOLD` matter.
States = Sequence[WordState]


@dataclass(frozen=True)
class Case:
    """A summary of a corpus, and what a system says of its words."""

    corpus: str
    system: str
    summary: Summary
    states: States

    def sentences(self) -> Iterator[tuple[Planted, States]]:
        start = 0
        for one in self.summary.sentences:
            end = start + len(one.words)
            yield one, self.states[start:end]
            start = end


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
    return untrained(system) if system in ("best", "paper") else aligner_named(system)


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


def shown(one: Planted, states: States) -> str:
    """Return how a change is shown, ``changed`` before ``new``; empty if it is not."""
    told = {state.state for word, state in zip(one.words, states, strict=True) if word.mark == "put"}
    return next((state for state in TOLD if state in told), "")


def accused(one: Planted, states: States) -> list[int]:
    """Return the untouched words that are told as changed or new."""
    pairs = zip(one.words, states, strict=True)
    return [at for at, (word, state) in enumerate(pairs) if not word.mark and state.state in TOLD]


def share(count: int, of: int) -> str:
    """Return a share in percent with its interval.

    >>> share(19, 20)
    '95 (76-99)'
    """
    if not of:
        return "-"
    low, high = wilson(count, of)
    return f"{100 * count / of:.0f} ({100 * low:.0f}-{100 * high:.0f})"


def show_kinds(title: str, cases: Sequence[Case], kinds: Sequence[str]) -> None:
    """Show how many changes of each kind are shown, by corpus."""
    corpora = [*dict.fromkeys(case.corpus for case in cases), ""]
    told = [(case.corpus, one, shown(one, states)) for case in cases for one, states in case.sentences()]
    rows = []
    for name, kind, origin in kinds_and_origins(kinds):
        hows = {
            corpus: [
                how
                for of, one, how in told
                if corpus in (of, "") and (one.kind, one.origin) == (kind, origin)
            ]
            for corpus in corpora
        }
        cells = [f"{sum(map(bool, some))} of {len(some)}" for some in hows.values()]
        ways = [hows[""].count(state) for state in TOLD]
        rows.append((name, *cells, share(sum(ways), len(hows[""])), *ways))
    show(title, ("kind", *corpora[:-1], "all", "% (95 %)", *TOLD), rows)


def show_kinds_by_system(title: str, cases: Sequence[Case], kinds: Sequence[str]) -> None:
    """Show how many changes of each kind each system shows, of all corpora."""
    planted, told = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for case in cases:
        for one, states in case.sentences():
            planted[case.system, one.kind, one.origin] += 1
            told[case.system, one.kind, one.origin] += bool(shown(one, states))
    systems = list(dict.fromkeys(case.system for case in cases))
    rows = [
        (
            name,
            planted[systems[0], kind, origin],
            *(
                f"{100 * told[system, kind, origin] / max(1, planted[system, kind, origin]):.0f}"
                for system in systems
            ),
        )
        for name, kind, origin in kinds_and_origins(kinds)
    ]
    heads = [LINKS.strip() if system.endswith(LINKS) else system for system in systems]
    show(title, ("kind", "all", *heads), rows)


def kinds_and_origins(kinds: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name of a row, kind and origin."""
    for kind in kinds:
        for origin in ORIGINS.get(kind, (SAME, ANOTHER)):
            yield f"{kind}, {origin}".rstrip(", "), kind, origin


def show_systems(setting: str, cases: Sequence[Case], seconds: Mapping[tuple[str, str], float]) -> None:
    """Show recall, precision and accused words of each system and corpus."""
    sums = dict[tuple[str, str], Counter[str]]()
    for case in cases:
        for corpus in (case.corpus, "all"):
            count = sums.setdefault((case.system, corpus), Counter())
            for one, states in case.sentences():
                wrong, how = len(accused(one, states)), shown(one, states)
                count["planted"] += one.kind != "verbatim"
                count["shown"] += bool(how)
                count["right"] += sum(
                    word.mark == "put" and state.state in TOLD
                    for word, state in zip(one.words, states, strict=True)
                )
                where = "in copies" if one.kind == "verbatim" else "beside"
                count[f"accused {where}"] += wrong
                count[f"words {where}"] += sum(not word.mark for word in one.words)
    # That of all corpora last, and only if there are several.
    corpora = sorted(dict.fromkeys(corpus for _, corpus in sums), key=lambda corpus: corpus == "all")
    rows = [
        (
            LINKS if system.endswith(LINKS) else f"{corpus} {system}",
            f"{count['shown']}/{count['planted']}",
            share(count["shown"], count["planted"]),
            share(count["right"], count["right"] + count["accused beside"] + count["accused in copies"]),
            *(
                f"{count[f'accused {where}']}/{count[f'words {where}']:,} {rate(count, where)}"
                for where in ("beside", "in copies")
            ),
            f"{seconds[corpus, system]:.1f}" if (corpus, system) in seconds else "",
        )
        for corpus in (corpora if len(corpora) > 2 else corpora[:1])
        for (system, of), count in sums.items()
        if of == corpus
    ]
    columns = "", "shown", "recall %", "precision %", "accused beside", "accused in copies", "CPU s"
    show(f"planted changes and untouched words, {setting}", columns, rows)


def rate(count: Counter[str], where: str) -> str:
    return f"{100 * count[f'accused {where}'] / max(1, count[f'words {where}']):.2f}%"


def show_drawn(corpus: str, planter: Planter) -> None:
    """Print how many words that were drawn to replace others are no contradiction to them."""
    totals = Counter[str]()
    for (_, why), count in planter.drawn.items():
        totals[why] += count
    out = ", ".join(f"{why} {totals[why]}" for why in ("same lemma", "synonym", "initials"))
    print(f"{corpus}: {len(planter.texts)} documents; {totals.total()} replacements drawn, left out: {out}")


def show_verbatim_new(cases: Sequence[Case], real: int, systems: Sequence[str]) -> None:
    """Show how many of the content words told as new stand in the document, in the same letters."""
    counts = dict[str, Counter[str]]()
    for case in cases:
        marks = [word.mark for one in case.summary.sentences for word in one.words]
        count = counts.setdefault(f"planted, {case.corpus}, {case.system}", Counter())
        count_new(count, case.summary.pair(""), case.states, marks)
    for corpus, name in REAL.items():
        pairs = list(real_pairs(name, real))
        for system in systems if pairs else ():
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
        pair = raw.tokenised(PairSettings(replace_controls=True))
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


def write(path: Path, cases: Iterable[Case]) -> None:
    """Write a row for each change, and one for each word that is accused."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            (
                "corpus",
                "document",
                "sentence",
                "kind",
                "origin",
                "system",
                "before",
                "after",
                "told",
                "accused",
            )
        )
        for case in cases:
            for one, states in case.sentences():
                place = (
                    case.corpus,
                    case.summary.text.key,
                    one.sentence + 1,
                    one.kind,
                    one.origin,
                    case.system,
                )
                if one.kind != "verbatim":
                    rows.writerow((*place, one.before, one.after, shown(one, states), ""))
                for at in accused(one, states):
                    rows.writerow((*place, "", "", states[at].state, one.words[at].form))


def print_misses(cases: Sequence[Case], most: int) -> None:
    """Print changes that were not shown, of each system, kind and origin, and words that were accused."""
    printed = Counter[tuple[str, ...]]()
    for case in cases:
        for one, states in case.sentences():
            missed = one.kind != "verbatim" and not shown(one, states)
            wrong = accused(one, states)
            for what, there in (("not shown", missed), ("accused", bool(wrong))):
                kind = (one.kind, one.origin) if what == "not shown" else ("", "")
                key = case.system, what, *kind
                if there and printed[key] < most:
                    printed[key] += 1
                    print_sentence(f"{what}: {case.system}", case, one, states)


def print_sentence(title: str, case: Case, one: Planted, states: States) -> None:
    """Print a sentence of a summary below that of its document, each word that matters with its state."""
    document = [form for sentence in case.summary.text.sentences for form in sentence.forms]
    told = f"{one.kind} {one.origin}: {one.before!r} -> {one.after!r}"
    print(f"\n{title}; {case.corpus} {case.summary.text.key}; {told}")
    print(f"  document {one.sentence + 1}: ", *case.summary.text.sentences[one.sentence].forms)
    marked = []
    for word, state in zip(one.words, states, strict=True):
        if word.mark == "put" or state.state in TOLD:
            source = " ".join(document[place] for place in state.source)
            marked.append(f"[{word.form}: {state.state}{f' < {source}' if source else ''}]")
        else:
            marked.append(word.form)
    print("  summary:    ", *marked)
    for word, state in zip(one.words, states, strict=True):
        if (word.mark == "put" or state.state in TOLD) and (state.why or state.elsewhere):
            print(f"    {word.form}: {state.why} {list(state.elsewhere) or ''}")


if __name__ == "__main__":
    main()
