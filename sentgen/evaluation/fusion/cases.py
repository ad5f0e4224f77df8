"""Clusters with references: a key sentence, related ones, and sentences that fusion does not see."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sentgen.corpus.formats import detect
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.corpus.readers import jsonl
from sentgen.corpus.readers._columns import FormatError
from sentgen.corpus.reading import read_parsed
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source
from sentgen.errors import InputError, Rejection, spell
from sentgen.evaluation.clusters.clusters import read_clusters

#: Keys of JSON Lines that say which sentence is what.
KEY, RELATED, REFERENCES = "key", "related", "references"


@dataclass(frozen=True, slots=True)
class FusionCase:
    """A cluster with references: sentences with trees, of which fusion gets all but the references."""

    name: str
    key: Sentence
    related: tuple[Sentence, ...]
    references: tuple[Sentence, ...]

    @property
    def inputs(self) -> tuple[Sentence, ...]:
        """Return what fusion gets, the key sentence first."""
        return self.key, *self.related


@dataclass(frozen=True, slots=True)
class FusionCases:
    """The clusters of a test; ``short`` were left out, as they had too few sentences to hold some back."""

    cases: Sequence[FusionCase]
    short: int = 0
    source: str = ""

    @property
    def sha256(self) -> str:
        """Return the hash of what is compared with."""
        texts = (" ".join(reference.forms) for case in self.cases for reference in case.references)
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def read_cases(
    path: str, *, parser: Parser, references: int, form: str | None = None, limit: int | None = None
) -> FusionCases:
    """Read clusters with references.

    Objects of JSON Lines may say which sentence is what: ``key``, and the lists ``related`` and
    ``references``. Of any other cluster the first sentence is the key, the last ones are references, the
    others are related.

    Args:
        path: anything that `sentgen ingest` takes, a document a cluster.
        parser: for sentences without trees.
        references: how many sentences of a cluster are held back, where it does not say.
        form: name of the format; detected if ``None``.
        limit: only so many clusters, not counting those that are too short.

    Raises:
        InputError: a sentence or object is broken, or no cluster is left.
    """
    sources = list(expand([path]))
    short, cases = 0, list[FusionCase]()
    if all(_says_which(source, form) for source in sources):
        cases = list(islice((case for source in sources for case in _labeled_cases(source, parser)), limit))
    else:
        for cluster in read_clusters(path, parser=parser, form=form):
            if len(cases) == limit:
                break
            key, *others = cluster.sentences
            if len(others) > references:
                related, held = others[:-references], others[-references:]
                cases.append(FusionCase(cluster.name, key, tuple(related), tuple(held)))
            else:
                short += 1
    if not cases:
        needed = f"a key, a related sentence and {references} to hold back; try fewer {spell('references')}"
        raise InputError(f"no cluster has {needed}", path=path)
    return FusionCases(cases, short, path)


def _says_which(source: Source, form: str | None) -> bool:
    """Return whether the first object of a source says which of its sentences is the key."""
    if (form or detect(source)) != jsonl.READER.name:
        return False
    first = next((line for line in source.lines() if line.strip()), "")
    try:
        return KEY in jsonl.parse_object(first)
    except FormatError:  # which reading tells with its line
        return False


def _labeled_cases(source: Source, parser: Parser) -> Iterator[FusionCase]:
    """Yield the cases of objects that say which sentence is what."""
    parts: dict[int, tuple[int, int]] = {}
    found = jsonl.read(_as_sentences(source, parts), path=source.name)
    sentences = read_parsed(found, parser, path=source.name)
    # A case a line: each is known before its sentences come.
    held: list[Sentence] = []
    name = ""
    for sentence in sentences:
        if isinstance(sentence, Rejection):
            raise sentence.as_error()
        name = sentence.document or name
        held.append(sentence)
        related, references = parts[sentence.line]
        if len(held) == 1 + related + references:
            key, *others = held
            yield FusionCase(name, key, tuple(others[:related]), tuple(others[related:]))
            held = []


def _as_sentences(source: Source, parts: dict[int, tuple[int, int]]) -> Iterator[str]:
    """Yield each object as the reader of JSON Lines takes it; ``parts`` gets how many sentences are what."""
    for number, line in enumerate(source.lines(), 1):
        if not line.strip():
            yield line
            continue
        try:
            value = jsonl.parse_object(line)
            name = jsonl.name_of(value, jsonl.ID) or str(number)
        except FormatError as error:
            raise InputError(error.message, path=source.name, line=number) from error
        related, references = (_listed(value, part, source, number) for part in (RELATED, REFERENCES))
        parts[number] = len(related), len(references)
        yield json.dumps({jsonl.ID: name, "sentences": [value.get(KEY), *related, *references]})


def _listed(value: dict[str, object], part: str, source: Source, line: int) -> list[object]:
    found = value.get(part)
    if not isinstance(found, list) or not found:
        raise InputError(f"`{part}` is no list of sentences", path=source.name, line=line)
    return found
