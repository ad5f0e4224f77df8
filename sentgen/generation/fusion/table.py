"""What fusion answers, as tables and lines; command line, Python and server share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import get_args

from sentgen.generation.clusters.casing import capitalized
from sentgen.generation.fusion.answer import ChangeKind, FusedSentence, FusionAnswer, FusionChange
from sentgen.output.logarithms import decimal
from sentgen.output.tabular import Rows
from sentgen.output.typography import closed_up

COLUMNS = ("rank", "sentence", "log10_score", "score", *get_args(ChangeKind), "algorithm")
#: A row a word; sentence 0 is the key, and what was put in has none.
WORD_COLUMNS = ("rank", "place", "word", "sentence", "source_place", "source_word")
CHANGE_COLUMNS = ("rank", "kind", "text", "sentence", "beside", "marker")
#: What a word is called that is from no sentence.
PUT_IN = "put in"


def fusion_table(answer: FusionAnswer) -> Rows:
    """Return a row a sentence, with what was done to the key."""
    rows = [
        (
            *(rank, one.text, decimal(one.score), one.score),
            *("; ".join(of_kind) for of_kind in _told(one.changes).values()),
            answer.algorithm,
        )
        for rank, one in enumerate(answer.sentences, 1)
    ]
    return Rows(list(COLUMNS), rows)


def origin_table(answer: FusionAnswer) -> Rows:
    """Return a row a word of each sentence, with the sentence that it is from; places count from 1."""
    found = ((rank, *row) for rank, one in enumerate(answer.sentences, 1) for row in _origins(answer, one))
    return Rows(
        list(WORD_COLUMNS), list(found), ("BIGINT", "BIGINT", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR")
    )


def _origins(answer: FusionAnswer, one: FusedSentence) -> Iterator[tuple[object, ...]]:
    sources = (answer.key, *answer.related)
    # As the sentence is read: its first word has a capital.
    for place, (word, origin) in enumerate(zip(capitalized(one.words), one.origins, strict=True), 1):
        if origin is None:
            yield place, word, None, None, None
        else:
            yield place, word, origin.sentence, origin.place + 1, sources[origin.sentence].forms[origin.place]


def runs(words: Iterable[tuple[str, int | None]]) -> list[tuple[str, str]]:
    """Return stretches of words from one sentence, with what it is called; nothing for the key.

    >>> runs([("Rains", 0), ("fell", 0), ("on", 2), ("Monday", 2), (",", None)])
    [('Rains fell', ''), ('on Monday', '2'), (',', 'put in')]
    """
    groups = groupby(words, key=lambda one: one[1])
    return [
        (" ".join(word for word, _ in of), PUT_IN if sentence is None else str(sentence or ""))
        for sentence, of in groups
    ]


def change_table(answer: FusionAnswer) -> Rows:
    """Return a row for each thing that was done to the key, a sentence after the other."""
    rows = [
        (rank, change.kind, change.text, change.sentence, change.beside, change.marker)
        for rank, one in enumerate(answer.sentences, 1)
        for change in one.changes
    ]
    return Rows(list(CHANGE_COLUMNS), rows, ("BIGINT", "VARCHAR", "VARCHAR", "BIGINT", "VARCHAR", "VARCHAR"))


def _told(changes: Iterable[FusionChange]) -> dict[str, list[str]]:
    """Return what was done by kind, in words."""
    told: dict[str, list[str]] = {kind: [] for kind in get_args(ChangeKind)}
    for change in changes:
        text = f"{change.marker} {change.text}".lstrip(" ,")
        told[change.kind].append(f"{text} (for {change.beside})" if change.kind == "replaced" else text)
    return told


def fusion_notes(answer: FusionAnswer) -> Iterator[str]:
    """Say what was done, or why there is no sentence."""
    if not answer.changes:
        yield "nothing to add: no phrase of the related sentences fits; try more --words, or other sentences"
        return
    for kind, texts in _told(answer.changes).items():
        if texts:
            yield f"{kind}: {'; '.join(map(closed_up, texts))}"
    if not answer.sentences:
        yield "no new sentence was found; add more words with --words, or related sentences"
