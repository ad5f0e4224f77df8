"""`sentgen check --other-words` against judgments: how many of the relations that it finds does the source state?

    python benchmarks/check_precision.py [--draw SEED]

Pairs are those of SciTLDR, dev, and the dev part of the documents and summaries of GUM, tokenized by sentgen and
parsed by UDPipe, which is trained on EWT, train, before (minutes). The matcher was made on SciTLDR, train.

``check_judgments.tsv`` has relations of the summaries by pair, sentence, verb and word (places from 1), and what was
judged of each by reading the sentence with its whole source, without knowing what the matcher says:

* 1: the source states it: the same thing of the same verb, in whatever words;
* 0: it does not, or says it of something else, or the two words do not belong together (a mistake of the parser).

They were drawn from relations without support in the same words, in two draws, each shuffled. The first (50 that
were found in other words, 30 that were not) showed that function words were taken for support too easily; they
follow their verb since. The second (50 and 14) came after that, and nothing was changed because of it; irregular
forms of our own synonyms and auxiliaries of passives came after both (16 relations of 635, not judged).
Judgments of relations that the matcher does not find, or no longer, tell what it misses. What is found in the
documents of other pairs is there by chance. ``--draw`` prints relations to judge, with their sources.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ewt_parser import trained
from harness import data, interval, show

from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.corpus.pair_readers import PairFile, PairSettings, TokenizedPair
from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import Rejection
from sentgen.evaluation.check.check import Claim, check

JUDGMENTS = Path(__file__).with_name("check_judgments.tsv")
SCITLDR, GUM = "scitldr-dev.jsonl.gz", "gum_doc_abstract.jsonl"
FOUND, NOT_FOUND = 50, 14
#: Pair, sentence, verb and word.
Place = tuple[str, int, int, int]


@dataclass(frozen=True)
class Told:
    """A relation of a summary, with what `check` says and the texts."""

    claim: Claim
    summary: Sentence
    source: list[Sentence]


def pairs(name: str) -> Iterator[TokenizedPair]:
    """Yield the dev pairs of a file."""
    dev = None
    if name == GUM:
        objects = map(json.loads, data(f"pairs/{name}").read_text("utf-8").splitlines())
        dev = {one["id"] for one in objects if one["split"] == "dev"}
    settings = PairSettings()
    for file in PairFile.of_paths([str(data(f"pairs/{name}"))]):
        for raw in file.read(settings):
            if isinstance(raw, Rejection):
                raise raw.as_error()
            if dev is not None and raw.key.partition("#")[0] not in dev:
                continue
            pair = raw.tokenize(settings)
            if isinstance(pair, Rejection):
                raise pair.as_error()
            yield pair


def parsed(name: str, parser: Parser) -> Iterator[tuple[str, list[Sentence], list[Sentence]]]:
    """Yield key, document and summary of each pair of a file, with trees."""
    key, source = "", list[Sentence]()
    for pair in pairs(name):
        # The abstracts of a document follow each other.
        if pair.key.partition("#")[0] != key:
            key = pair.key.partition("#")[0]
            source = list(parser.parse_tokenized([sentence.forms for sentence in pair.document]))
        yield pair.key, source, list(parser.parse_tokenized([sentence.forms for sentence in pair.abstract]))


def relations(
    trees: list[tuple[str, list[Sentence], list[Sentence]]], *, others: bool = False
) -> dict[Place, Told]:
    """Return all relations of summaries, held against their documents, or against those of other pairs."""
    sources = [source for _, source, _ in trees]
    if others:
        # Far enough that no document is held against its own summary.
        sources = sources[len(sources) // 2 :] + sources[: len(sources) // 2]
    return {
        (key, claim.sentence, claim.argument.head + 1, claim.argument.modifier + 1): Told(
            claim, summary[claim.sentence - 1], source
        )
        for (key, _, summary), source in zip(trees, sources, strict=True)
        for claim in check(summary, source, other_words=True).claims
    }


def judgments() -> Iterator[tuple[int, Place, bool]]:
    """Yield draw, place and judgment of each relation that was judged."""
    with open(JUDGMENTS, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            place = row["pair"], int(row["sentence"]), int(row["verb"]), int(row["word"])
            yield int(row["draw"]), place, row["judgment"] == "1"


def report(told: dict[str, dict[Place, Told]], by_chance: dict[str, dict[Place, Told]]) -> None:
    """Print how many relations are found, and how many of those that were judged are right."""
    rows = []
    for against, files in (("", told), (", other documents", by_chance)):
        for name, of_file in files.items():
            words = [one.claim.words for one in of_file.values()]
            rows.append(
                (name + against, len(words), words.count("same"), words.count("other"), words.count(""))
            )
    show(
        "relations of the summaries, and their support",
        ("pairs", "all", "same words", "other words", "none"),
        rows,
    )
    everything = {place: one for of_file in told.values() for place, one in of_file.items()}
    intervals = []
    for draw in (1, 2):
        for title, names in (("all", (SCITLDR, GUM)), ("SciTLDR", (SCITLDR,)), ("GUM", (GUM,))):
            known = [(place, right) for number, place, right in judgments() if number == draw]
            own = [(place, right) for place, right in known if any(place in told[name] for name in names)]
            found = [right for place, right in own if everything[place].claim.words == "other"]
            missed = [right for place, right in own if not everything[place].claim.words]
            cells = [interval(sum(some), len(some)) for some in (found, missed)]
            intervals.append((f"draw {draw}, {title}", *cells))
    show(
        "judged as stated by the source, with 95% intervals",
        ("", "found in other words", "not found"),
        intervals,
    )
    if lost := sum(place not in everything for _, place, _ in judgments()):
        print(f"{lost} judged relations are not in these trees: another parser?")
    print(f"WordNet: {find_wordnet() or 'none'}")


def draw(told: dict[str, dict[Place, Told]], seed: int) -> None:
    """Print relations that are not judged yet, without what `check` says of them."""
    known = {place for _, place, _ in judgments()}
    new = {place: one for of_file in told.values() for place, one in of_file.items() if place not in known}
    rng = random.Random(seed)
    drawn = []
    for words, number in (("other", FOUND), ("", NOT_FOUND)):
        drawn += rng.sample(sorted(place for place, one in new.items() if one.claim.words == words), number)
    rng.shuffle(drawn)
    for place in drawn:
        one = new[place]
        marked = [f"[{form}]" if at in place[2:] else form for at, form in enumerate(one.summary.forms, 1)]
        print("", *place, sep="\t")
        print(*marked)
        for number, sentence in enumerate(one.source, 1):
            print(f"  {number}", *sentence.forms)


if __name__ == "__main__":
    trees = {name: list(parsed(name, trained())) for name in (SCITLDR, GUM)}
    found = {name: relations(of_file) for name, of_file in trees.items()}
    if "--draw" in sys.argv:
        draw(found, int(sys.argv[-1]))
    else:
        report(found, {name: relations(of_file, others=True) for name, of_file in trees.items()})
