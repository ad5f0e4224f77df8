"""What a summary says and its source does not: how much of it do the states of words show, and what is accused?

    python benchmarks/summary_judgments.py [--misses N | --draw]

``summary_judgments.tsv`` has what was judged of real summaries by reading each sentence with its whole source,
before any aligner was run on it: SciTLDR, dev (60 pairs), and what was read of SumPubMed. A row is a span of words
(first and last, offsets from 0 in the sentence; sentences from 1), or, without a span, a sentence that was read and
has nothing to mark. A span is the shortest that holds what is wrong:

* unsupported: who knows only the source could not say it. A paraphrase, a generalization and an obvious inference
  are supported, and so is what is said of the text itself (*this paper proposes*) and vague praise (*novel*);
  something more special than the source has is not;
* contradicted: the source says another number, name, direction, polarity or relation.

A span is shown if one of its content words is changed or new; other content words that are so are accused falsely.
What the sheet of SciTLDR cannot say: one person read it, once, and each of its spans has a word that the source
does not have, so that a plain overlap of words shows them all. It tells false accusations apart; of errors made of
the words of the source, which planted changes have, it tells nothing.

``--misses`` prints N spans that `best` does not show and N sentences with words that it accuses, with their
sources; ``--draw`` prints the pairs of SciTLDR that were read, with the offsets of the words.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import data, interval, show

from sentgen.alignment.choice import Choice
from sentgen.alignment.pairs.alignment import Aligner, Alignment, Pair, PhraseLink
from sentgen.alignment.words.states import WordState
from sentgen.alignment.words.word_classes import is_function_word
from sentgen.alignment.words.word_states import word_states
from sentgen.corpus.pair_readers import PairFile, PairSettings, RawPair
from sentgen.errors import Rejection
from sentgen.schema import Store

SHEET = Path(__file__).with_name("summary_judgments.tsv")
COLUMNS = ("corpus", "id", "sentence", "first", "last", "judgment", "kind", "words")
CORPORA = {"scitldr": "pairs/scitldr-dev.jsonl.gz", "sumpubmed": "pairs/sumpubmed-2000.jsonl.xz"}
JUDGMENTS = ("unsupported", "contradicted")
SEED, DRAWN = 42, 60
#: A source of more words is not printed whole, but the sentences that share most words with the summary's.
LONG, SENTENCES = 600, 6


@dataclass(frozen=True)
class Mark:
    """A span of a sentence that its source does not say; ``last`` is in it."""

    first: int
    last: int
    judgment: str
    kind: str


@dataclass(frozen=True)
class ReadSentence:
    """A sentence of a summary that was read; ``start`` and ``end`` are its words in the whole summary."""

    number: int
    start: int
    end: int
    marks: tuple[Mark, ...]

    def of_mark(self, words: Sequence[str], mark: Mark) -> list[int]:
        """Return the words of a span that count, in the whole summary: content words, all if it has none."""
        span = range(self.start + mark.first, self.start + mark.last + 1)
        return [word for word in span if not is_function_word(words[word])] or list(span)

    def unmarked(self, words: Sequence[str]) -> list[int]:
        """Return the content words in no span."""
        marked = {self.start + word for mark in self.marks for word in range(mark.first, mark.last + 1)}
        free = (word for word in range(self.start, self.end) if word not in marked)
        return [word for word in free if not is_function_word(words[word])]


@dataclass(frozen=True)
class ReadPair:
    """A pair of which sentences were read."""

    pair: Pair
    sentences: tuple[ReadSentence, ...]


class Overlap:
    """Links a word with the first place that has the same word or number, capitals aside, wherever it stands."""

    name = "overlap of words"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each, in their order."""
        for pair in pairs:
            first: dict[str, int] = {}
            for place, form in enumerate(pair.document):
                first.setdefault(form.lower(), place)
            found = ((word, first.get(form.lower())) for word, form in enumerate(pair.abstract))
            yield Alignment(
                tuple(
                    PhraseLink((word, word + 1), (place, place + 1))
                    for word, place in found
                    if place is not None
                )
            )


def aligners() -> dict[str, Aligner]:
    """Return what is compared, by name, our own first."""
    choices = {
        "best": Choice(),
        "--preset paper": Choice(preset="paper"),
        "lcs": Choice(system="lcs"),
        "cut-and-paste": Choice(system="cut-and-paste"),
    }
    chosen = {name: choice.aligner(_no_store)[0] for name, choice in choices.items()}
    return {**chosen, Overlap.name: Overlap()}


def _no_store() -> Store:
    raise AssertionError("nothing here needs a store")


def judgments() -> dict[tuple[str, str], dict[int, tuple[Mark, ...]]]:
    """Return the spans of each sentence that was read, by corpus and id of its pair."""
    found: dict[tuple[str, str], dict[int, tuple[Mark, ...]]] = {}
    with open(SHEET, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            sentences = found.setdefault((row["corpus"], row["id"]), {})
            marks = sentences.setdefault(int(row["sentence"]), ())
            if row["first"]:
                mark = Mark(int(row["first"]), int(row["last"]), row["judgment"], row["kind"])
                sentences[int(row["sentence"])] = (*marks, mark)
    return found


def raw_pairs(corpus: str) -> Iterator[RawPair]:
    """Yield the pairs of a corpus in file order, not tokenized yet."""
    for file in PairFile.of_paths([str(data(CORPORA[corpus]))]):
        for found in file.read(PairSettings()):
            if isinstance(found, Rejection):
                raise found.as_error("pair")
            yield found


def drawn() -> list[RawPair]:
    """Return the pairs of SciTLDR that were read, in the order in which they were."""
    return random.Random(SEED).sample(list(raw_pairs("scitldr")), DRAWN)


def tokenized(raw: RawPair) -> Pair:
    """Return the words of a pair, as `align text` finds them in plain text."""
    found = raw.tokenize(PairSettings())
    if isinstance(found, Rejection):
        raise found.as_error("pair")
    return Pair.of_sentences(found.key, found.document, found.abstract)


def spans(starts: Sequence[int], words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where sentences begin and end."""
    return list(zip(starts, (*starts[1:], len(words)), strict=True))


def read_pairs_of(corpus: str) -> Iterator[ReadPair]:
    """Yield the pairs of a corpus that were read, in file order."""
    judged = {key: of for (name, key), of in judgments().items() if name == corpus}
    for raw in raw_pairs(corpus):
        if raw.key in judged:
            pair = tokenized(raw)
            where = spans(pair.abstract_starts, pair.abstract)
            yield ReadPair(
                pair,
                tuple(
                    ReadSentence(number, *where[number - 1], marks)
                    for number, marks in sorted(judged[raw.key].items())
                ),
            )


def accused(state: WordState) -> bool:
    """Say whether a reader is told that a word does not stand in the source."""
    return state.state in ("changed", "new")


def states_of(aligner: Aligner, pairs: Sequence[ReadPair]) -> list[tuple[WordState, ...]]:
    """Return the states of the words of each summary."""
    texts = [one.pair for one in pairs]
    return [word_states(*one) for one in zip(texts, aligner.align(texts), strict=True)]


def shown_row(pairs: Sequence[ReadPair], states: Sequence[tuple[WordState, ...]]) -> list[str]:
    """Return how many spans are shown: by judgment, and all."""
    shown = [
        (mark.judgment, any(accused(of[word]) for word in sentence.of_mark(one.pair.abstract, mark)))
        for one, of in zip(pairs, states, strict=True)
        for sentence in one.sentences
        for mark in sentence.marks
    ]
    by = [[seen for judgment, seen in shown if judgment == name] for name in JUDGMENTS]
    return [interval(sum(seen), len(seen)) for seen in (*by, [seen for _, seen in shown])]


def accused_row(pairs: Sequence[ReadPair], states: Sequence[tuple[WordState, ...]]) -> list[str]:
    """Return how many unmarked content words are changed, new, and new though they stand in the source; then
    how many pairs have no accusation, and how many of those without a mark."""
    words, bare, clean = [], [], []
    for one, of in zip(pairs, states, strict=True):
        there = {form.lower() for form in one.pair.document}
        free = [word for sentence in one.sentences for word in sentence.unmarked(one.pair.abstract)]
        words += [(of[word].state, of[word].word.lower() in there) for word in free]
        content = (
            word
            for sentence in one.sentences
            for word in range(sentence.start, sentence.end)
            if not is_function_word(one.pair.abstract[word])
        )
        clean.append(not any(accused(of[word]) for word in content))
        bare.append(not any(sentence.marks for sentence in one.sentences))
    told = [state for state, _ in words]
    new = [standing for state, standing in words if state == "new"]
    unmarked = [fine for fine, nothing in zip(clean, bare, strict=True) if nothing]
    return [
        interval(told.count("changed"), len(told), digits=3),
        interval(told.count("new"), len(told), digits=3),
        f"{sum(new)} of {len(new)}",
        interval(sum(clean), len(clean)),
        interval(sum(unmarked), len(unmarked)),
    ]


def report(corpus: str, pairs: Sequence[ReadPair]) -> None:
    """Print what each aligner shows and accuses in a corpus."""
    sentences = [sentence for one in pairs for sentence in one.sentences]
    seen = f"{corpus}: {len(pairs)} pairs, {len(sentences)} sentences"
    rows, accusations = [], []
    for name, aligner in aligners().items():
        states = states_of(aligner, pairs)
        rows.append((name, *shown_row(pairs, states)))
        accusations.append((name, *accused_row(pairs, states)))
    show(f"{seen}; spans that are shown, with 95% intervals", ("", *JUDGMENTS, "all"), rows)
    show(
        f"{seen}; unmarked content words that are accused, and pairs without any accusation",
        ("", "changed", "new", "new, but in the source", "no accusation", "of pairs without a mark"),
        accusations,
    )


def bracketed(words: Sequence[str], chosen: Sequence[int], start: int, end: int) -> str:
    """Return a sentence with words in brackets."""
    return " ".join(f"[{words[word]}]" if word in chosen else words[word] for word in range(start, end))


def source_lines(pair: Pair, sentence: ReadSentence) -> Iterator[str]:
    """Yield the sentences of the source by number; of a long one those that share most content words."""
    own = {
        form.lower() for form in pair.abstract[sentence.start : sentence.end] if not is_function_word(form)
    }
    of = [
        (number, pair.document[start:end])
        for number, (start, end) in enumerate(spans(pair.document_starts, pair.document), 1)
    ]
    if len(pair.document) > LONG:
        nearest = sorted(of, key=lambda one: (-len(own & {form.lower() for form in one[1]}), one[0]))
        of = sorted(nearest[:SENTENCES])
    for number, words in of:
        yield f"    {number}  {' '.join(words)}"


def told(pair: Pair, state: WordState) -> str:
    """Return what is said of a word."""
    source = " ".join(pair.document[place] for place in state.source)
    linked = f" from {source}" if source else ""
    why = f" ({state.why})" if state.why else ""
    elsewhere = f", elsewhere: {state.elsewhere}" if state.elsewhere else ""
    return f"{state.word}: {state.state}{linked}{why}{elsewhere}"


def misses(corpus: str, pairs: Sequence[ReadPair], number: int) -> None:
    """Print the first spans that `best` does not show, and the first sentences of which it accuses words falsely."""
    hidden, false = [], []
    for one, of in zip(pairs, states_of(aligners()["best"], pairs), strict=True):
        words = one.pair.abstract
        for sentence in one.sentences:
            for mark in sentence.marks:
                counted = sentence.of_mark(words, mark)
                if not any(accused(of[word]) for word in counted):
                    hidden.append((one.pair, sentence, counted, of, f"{mark.judgment}, {mark.kind}"))
            if wrong := [word for word in sentence.unmarked(words) if accused(of[word])]:
                false.append((one.pair, sentence, wrong, of, "accused"))
    for title, cases in (("spans that are not shown", hidden), ("sentences with false accusations", false)):
        print(f"\n== {corpus}: {title}: {len(cases)}")
        for pair, sentence, chosen, of, label in cases[:number]:
            print(f"\n{pair.key}, sentence {sentence.number}")
            print(f"  {bracketed(pair.abstract, chosen, sentence.start, sentence.end)}")
            print(f"  {label}: {'; '.join(told(pair, of[word]) for word in chosen)}")
            print(*source_lines(pair, sentence), sep="\n")


def print_drawn() -> None:
    """Print the pairs to read, the words of a summary with their offsets."""
    for raw in drawn():
        pair = tokenized(raw)
        print(f"\n{pair.key}\n{' '.join(pair.document)}")
        for number, (start, end) in enumerate(spans(pair.abstract_starts, pair.abstract), 1):
            words = " ".join(f"{form}/{offset}" for offset, form in enumerate(pair.abstract[start:end]))
            print(f"{number}: {words}")


def main() -> None:
    """Print tables, or what was asked for."""
    if "--draw" in sys.argv:
        print_drawn()
        return
    for corpus in sorted({corpus for corpus, _ in judgments()}):
        pairs = list(read_pairs_of(corpus))
        if "--misses" in sys.argv:
            misses(corpus, pairs, int(sys.argv[-1]))
        else:
            report(corpus, pairs)


if __name__ == "__main__":
    main()
