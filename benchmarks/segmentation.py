"""Sentences and words of plain text, beside what treebanks say, and beside other programs.

``python benchmarks/segmentation.py`` takes the text of EWT, GUM, ParTUT and LinES (dev, and ParTUT, train) from
``# text``, as paragraphs of a line each and as text wrapped at 72 columns. Paragraphs are those of the treebank; where
it marks none, all is one. Ends of sentences and words are compared by the characters before them, blanks apart.

`sentencex` alone is what sentgen splits with, but gives the text as it is; nupunkt, blingfire and the rules of spaCy
(``pip install nupunkt blingfire spacy``) are there if they are installed. They get the paragraphs as such, so that
wrapping changes nothing for them. At the end, contractions with straight and curly apostrophes are compared.
"""

from __future__ import annotations

import csv
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

import sentencex
from harness import ROOT, show, treebank

from sentgen.corpus.readers import text
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.tokenizer import tokenize

PARTS = (("ewt", "dev"), ("gum", "dev"), ("partut", "dev"), ("lines", "dev"), ("partut", "train"))
#: Those of which the mean is.
MEAN = 4
FIGURES = ROOT / "docs" / "figures" / "segmentation.csv"
CURLY = "‘’‛＇ʼ"
CONTRACTIONS = (
    *(
        "don't",
        "Mary's",
        "I'm",
        "they're",
        "we've",
        "HE'LL",
        "she'd",
        "can't",
        "ma'am",
        "the dogs' bowls",
        "O'Brien",
    ),
    *("o'clock", "rock 'n' roll", "'tis", "'em", "the '90s", "'so', he said", "James' and James's"),
)
Split = Callable[[str], Iterable[str]]
#: Sentences of a paragraph, each with its words.
Paragraph = list[tuple[str, list[str]]]


def paragraphs(name: str, part: str) -> list[Paragraph]:
    """Return the paragraphs of a treebank."""
    found: list[Paragraph] = []
    for block in treebank(name, part):
        lines = block.split("\n")
        if not found or any(line.startswith(("# newpar", "# newdoc")) for line in lines):
            found.append([])
        (written,) = (line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
        rows = (line.split("\t") for line in lines if line[:1].isdigit())
        found[-1].append((written.strip(), [row[1] for row in rows if row[0].isdigit()]))
    # LinES marks documents alone.
    marked = any("# newpar" in block for block in treebank(name, part))
    return found if marked else [[one for paragraph in found for one in paragraph]]


def spans(pieces: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield where pieces of a text begin and end, blanks apart."""
    end = 0
    for piece in pieces:
        begin, end = end, end + len("".join(piece.split()))
        yield begin, end


def words_of(corpus: Iterable[Paragraph]) -> Iterator[tuple[int, int]]:
    """Yield where the words of a treebank stand in its text; a few are no parts of it, such as *will* of *won't*."""
    sentences = [sentence for paragraph in corpus for sentence in paragraph]
    for (begin, _), (_, words) in zip(spans(one for one, _ in sentences), sentences, strict=True):
        for first, last in spans(words):
            yield begin + first, begin + last


def f1(gold: set[Any], found: set[Any]) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * len(gold & found) / (len(gold) + len(found))


def sentences_as(lines: Sequence[str]) -> list[Sentence]:
    """Return what sentgen makes of lines of raw text."""
    return [one for one in text.read(lines, path="text") if isinstance(one, Sentence)]


def others() -> Iterator[tuple[str, Split]]:
    """Yield the programs that are installed."""
    yield "sentencex alone", lambda written: sentencex.segment("en", written)
    for name, load in (("nupunkt", _nupunkt), ("blingfire", _blingfire), ("spaCy's rules", _spacy)):
        try:
            yield name, load()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)


def _nupunkt() -> Split:
    split: Split = import_module("nupunkt").sent_tokenize
    return split


def _blingfire() -> Split:
    split = import_module("blingfire").text_to_sentences
    return lambda written: split(written).split("\n")


def _spacy() -> Split:
    pipeline = import_module("spacy").blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 10**8
    return lambda written: [one.text for one in pipeline(written).sents]


def main() -> None:
    """Print the tables, and write the first as CSV."""
    corpora = [paragraphs(*part) for part in PARTS]
    plain = [[" ".join(one for one, _ in paragraph) for paragraph in corpus] for corpus in corpora]
    wrapped = [
        "\n\n".join(
            textwrap.fill(one, 72, break_on_hyphens=False, break_long_words=False) for one in lines
        ).split("\n")
        for lines in plain
    ]
    gold = [
        {end for _, end in spans(one for paragraph in corpus for one, _ in paragraph)} for corpus in corpora
    ]
    words = [set(words_of(corpus)) for corpus in corpora]
    rows: list[list[object]] = []
    for name, texts in (("sentgen, plain", plain), ("sentgen, wrapped", wrapped)):
        began = time.process_time()
        found = [sentences_as(lines) for lines in texts]
        seconds = round(time.process_time() - began, 2)
        ends = [{end for _, end in spans(one.text for one in some)} for some in found]
        cut = [set(spans(form for one in some for form in one.forms)) for some in found]
        rows.append(
            [
                name,
                "sentences",
                *scores(gold, ends),
                longest(one.text for some in found for one in some),
                seconds,
            ]
        )
        rows.append([name, "words", *scores(words, cut), "", ""])
    for name, split in others():
        began = time.process_time()
        pieces = [[piece for line in lines for piece in split(line)] for lines in plain]
        seconds = round(time.process_time() - began, 2)
        ends = [{end for _, end in spans(some)} for some in pieces]
        rows.append(
            [
                name,
                "sentences",
                *scores(gold, ends),
                longest(piece for some in pieces for piece in some),
                seconds,
            ]
        )
    columns = ["", "ends of", *(f"{name} {part}" for name, part in PARTS), "mean", "longest", "CPU s"]
    show("F1 of the ends of sentences, and of words", columns, rows)
    with open(FIGURES, "w", encoding="utf-8", newline="") as sink:
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(["system", *columns[1:]])
        writer.writerows(rows)
    compare_apostrophes()


def scores(gold: Sequence[set[Any]], found: Sequence[set[Any]]) -> list[str]:
    """Return F1 of each part, and their mean, without that of the training part."""
    each = [f1(one, other) for one, other in zip(gold, found, strict=True)]
    return [f"{one:.3f}" for one in (*each, sum(each[:MEAN]) / MEAN)]


def longest(found: Iterable[str]) -> int:
    """Return the characters of the longest sentence."""
    return max(map(len, found))


def compare_apostrophes() -> None:
    """Say whether words are cut alike with straight and with curly apostrophes."""
    for one in CONTRACTIONS:
        for sign in CURLY:
            expected = [word.replace("'", sign) for word in tokenize(one)]
            if tokenize(one.replace("'", sign)) != expected:
                sys.exit(f"{one} with {sign} is cut otherwise")
    print(f"{len(CONTRACTIONS)} contractions are cut alike with ' and each of {' '.join(CURLY)}")


if __name__ == "__main__":
    main()
