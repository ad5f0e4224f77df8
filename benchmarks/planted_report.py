"""What `planted_changes.py` prints: tables of changes shown and of words accused, and the sentences themselves."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import show
from planting import ANOTHER, ORIGINS, SAME, Planted, Planter, Summary

from sentgen.alignment.words.states import WordState
from sentgen.output.rates import wilson

#: What the name of a system ends with where only its links count.
LINKS = " links"
TOLD = ("changed", "new")
#: Where untouched words stand: beside a change, or in a sentence without one.
PLACES = ("beside", "in copies")
#: What a file of changes and of accused words has.
COLUMNS = "system", "corpus", "document", "sentence", "kind", "origin", "before", "after", "told", "accused"
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
                add(count, one, states)
    # That of all corpora last, and only if there are several.
    corpora = sorted(dict.fromkeys(corpus for _, corpus in sums), key=lambda corpus: corpus == "all")
    rows = [
        (
            LINKS if system.endswith(LINKS) else f"{corpus} {system}",
            f"{count['shown']}/{count['planted']}",
            share(count["shown"], count["planted"]),
            share(count["right"], count["right"] + sum(count[f"accused {place}"] for place in PLACES)),
            *(rate(count[f"accused {place}"], count[f"words {place}"]) for place in PLACES),
            f"{seconds[corpus, system]:.1f}" if (corpus, system) in seconds else "",
        )
        for corpus in (corpora if len(corpora) > 2 else corpora[:1])
        for (system, of), count in sums.items()
        if of == corpus
    ]
    told = (f"accused {place}" for place in PLACES)
    show(
        f"planted changes and untouched words, {setting}",
        ("", "shown", "recall %", "precision %", *told, "CPU s"),
        rows,
    )
    for (system, corpus), count in sums.items():
        if corpus == "all" and count["words reworded"]:
            told_words = rate(count["accused reworded"], count["words reworded"])
            print(f"{system}: function words told that stand for others: {told_words}")


def add(count: Counter[str], one: Planted, states: States) -> None:
    """Count what a system says of a sentence."""
    count["planted"] += one.kind != "verbatim"
    count["shown"] += bool(shown(one, states))
    for word, state in zip(one.words, states, strict=True):
        told = state.state in TOLD
        if word.mark == "put":
            count["right"] += told
        elif word.mark != "near":
            place = word.mark or ("in copies" if one.kind == "verbatim" else "beside")
            count[f"words {place}"] += 1
            count[f"accused {place}"] += told


def rate(count: int, of: int) -> str:
    """Return how many of how many, and the share."""
    return f"{count}/{of:,} {100 * count / max(1, of):.2f}%"


def show_drawn(corpus: str, planter: Planter) -> None:
    """Print how many words that were drawn to replace others are no contradiction to them."""
    totals = Counter[str]()
    for (_, why), count in planter.drawn.items():
        totals[why] += count
    out = ", ".join(f"{why} {totals[why]}" for why in ("same lemma", "synonym", "initials"))
    print(f"{corpus}: {len(planter.texts)} documents; {totals.total()} replacements drawn, left out: {out}")


def write(path: Path, cases: Iterable[Case]) -> None:
    """Write a row for each change, and one for each word that is accused."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for case in cases:
            for one, states in case.sentences():
                place = (
                    case.system,
                    case.corpus,
                    case.summary.text.key,
                    one.sentence + 1,
                    one.kind,
                    one.origin,
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
                key = case.system, case.corpus, what, *kind
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
