"""Sentences of the store as the readers gave them, by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection

from sentgen.corpus.sentence import Sentence
from sentgen.lookups.queries import Bindings, Query

#: Sentences that are read at once: about a megabyte.
_CHUNK = 1_000

_SENTENCES = """\
select sentence.id, sentence.sent_id, sentence.text, sentence.metadata, document.name as document,
  document.first_sentence = sentence.id as first
from sentence
join document on document.id = sentence.document_id
where sentence.id in $ids
order by sentence.id"""
_TOKENS = """\
select sentence_id, form, lemma, upos, xpos, feats, head, deprel, space_after
from v_tokens
where sentence_id in $ids
order by sentence_id, position"""
_RANGES = """\
select sentence_id, "first", "last", form
from multiword
where sentence_id in $ids
order by sentence_id, "first\""""


def stored_sentences(connection: Connection, ids: Sequence[int]) -> Iterator[Sentence]:
    """Yield the sentences with these numbers, in the order of the store."""
    for start in range(0, len(ids), _CHUNK):
        chunk = Bindings(ids=list(ids[start : start + _CHUNK]))
        tokens = _by_sentence(connection, _TOKENS, chunk)
        ranges = _by_sentence(connection, _RANGES, chunk)
        for row in Query(_SENTENCES, chunk).run(connection).to_pylist():
            yield _sentence(row, tokens[row["id"]], ranges.get(row["id"], []))


def _by_sentence(connection: Connection, text: str, ids: Bindings) -> dict[int, list[dict[str, Any]]]:
    rows = Query(text, ids).run(connection).to_pylist()
    return {number: list(some) for number, some in groupby(rows, key=lambda row: int(row["sentence_id"]))}


def _sentence(row: dict[str, Any], tokens: list[dict[str, Any]], ranges: list[dict[str, Any]]) -> Sentence:
    def column(name: str) -> list[Any] | None:
        values = [token[name] for token in tokens]
        return None if all(value is None for value in values) else values

    spaces = column("space_after")
    return Sentence(
        forms=[token["form"] for token in tokens],
        lemmas=column("lemma"),
        upos=column("upos"),
        xpos=column("xpos"),
        feats=column("feats"),
        heads=column("head"),
        deprels=column("deprel"),
        space_after=None if spaces is None else [one is not False for one in spaces],
        multiwords=[(one["first"], one["last"], one["form"]) for one in ranges],
        sent_id=row["sent_id"] or "",
        text=row["text"] or "",
        metadata=(row["metadata"] or "").split("\n") if row["metadata"] else [],
        document=row["document"] if row["first"] else None,
    )
