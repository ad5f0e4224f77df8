"""Corpora of toy sentences, counted in plain Python, and look-ups by hand in the models built from them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import accumulate

import pyarrow as pa
import pytest
from sqlalchemy import insert, select

from sentgen.models import ModelInfo
from sentgen.schema import Store
from sentgen.schema.store import append, fetch_arrow, raw
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables.counts import MAX_ORDER, segment

THEN = datetime(2026, 1, 1)
Gram = tuple[str, ...]
Sentences = Iterable[str | Sequence[str]]


def split(sentences: Sentences) -> list[list[str]]:
    return [sentence.split() if isinstance(sentence, str) else list(sentence) for sentence in sentences]


def count(sentences: Sentences, n: int) -> Counter[Gram]:
    """Count the n-grams of one order in sentences wrapped in <s> and </s>."""
    counts: Counter[Gram] = Counter()
    for words in split(sentences):
        wrapped = ["<s>", *words, "</s>"]
        counts.update(tuple(wrapped[i : i + n]) for i in range(len(wrapped) - n + 1))
    return counts


def add_corpus(
    store: Store, name: str, sentences: Sentences, *, tags: str | None = None, max_order: int = MAX_ORDER
) -> None:
    """Store sentences as a segment of a corpus, which is created if it is new.

    Args:
        tags: column that gets the tags, ``upos_id`` or ``xpos_id``; words are then written ``word/TAG``.
    """
    rows = split(sentences)
    pairs = [[(w.rsplit("/", 1) if tags else (w, None)) for w in words] for words in rows]
    with store.begin() as connection:
        duck = raw(connection)
        corpus = connection.execute(select(tables.corpus.c.id).where(tables.corpus.c.name == name)).scalar()
        if corpus is None:
            corpus = duck.execute("select coalesce(max(id), 0) + 1 from corpus").fetchone()[0]
            settings = {"kind": "corpus", "lowercase": False, "tags": "xpos", "function_heads": True}
            connection.execute(
                insert(tables.corpus).values(
                    id=corpus, name=name, max_order=max_order, created_at=THEN, **settings
                )
            )
        part = duck.execute("select coalesce(max(id), 0) + 1 from segment").fetchone()[0]
        size = sum(map(len, rows))
        connection.execute(
            insert(segment).values(
                id=part, corpus_id=corpus, sentences=len(rows), tokens=size, created_at=THEN
            )
        )
        words = _ids(store, connection, "word", "form", [word for words in pairs for word, _ in words])
        names = _ids(store, connection, "tag", "name", [tag for words in pairs for _, tag in words if tag])
        first = duck.execute("select coalesce(max(id), 0) + 1 from sentence").fetchone()[0]
        token = duck.execute("select coalesce(max(first_token + length), 0) from sentence").fetchone()[0]
        places = [(first + i, k, w, t) for i, s in enumerate(pairs) for k, (w, t) in enumerate(s, start=1)]
        append(
            connection,
            "sentence",
            pa.table(
                {
                    "id": list(range(first, first + len(rows))),
                    "corpus_id": [corpus] * len(rows),
                    "document_id": [1] * len(rows),
                    "length": [len(words) for words in rows],
                    "first_token": list(accumulate(map(len, rows[:-1]), initial=token))[: len(rows)],
                    "line": [1] * len(rows),
                }
            ),
        )
        columns = {
            "corpus_id": [corpus] * size,
            "sentence_id": [p[0] for p in places],
            "position": [p[1] for p in places],
            "word_id": [words[p[2]] for p in places],
        }
        if tags:
            columns[tags] = [names[p[3]] if p[3] else None for p in places]
        append(connection, "token", pa.table(columns))
        plain = [[word for word, _ in words] for words in pairs]
        for n in range(1, max_order + 1):
            counts = sorted((tuple(words[w] for w in gram), c) for gram, c in count(plain, n).items())
            grams = {f"w{i + 1}": pa.array([gram[i] for gram, _ in counts], pa.int32()) for i in range(n)}
            grams["count"] = pa.array([c for _, c in counts], pa.int64())
            append(connection, f"ngram_{n}", pa.table({"segment_id": [part] * len(counts), **grams}))


def _ids(store: Store, connection: object, table: str, column: str, strings: list[str]) -> dict[str, int]:
    """Return the ids of strings, adding those that are new, frequent ones first."""
    duck = raw(connection)  # type: ignore[arg-type]
    known = dict(duck.execute(f"select {column}, id from {table}").fetchall())
    new = [string for string, _ in Counter(strings).most_common() if string not in known]
    ids = {string: len(known) + i for i, string in enumerate(new)}
    rows = pa.table({"id": pa.array(list(ids.values()), pa.int32()), column: pa.array(new, pa.string())})
    append(connection, table, rows)  # type: ignore[arg-type]
    return {**known, **ids}


def ngrams(store: Store, model: ModelInfo) -> dict[Gram, tuple[float, float]]:
    """Return n-gram -> (log10 probability, log10 back-off weight)."""
    with store.connect() as connection:
        forms = dict(raw(connection).execute("select id, form from word").fetchall())
        rows = fetch_arrow(
            connection,
            "select n, w1, w2, w3, w4, w5, logp, backoff from model_ngram where model_id = ?",
            [model.id],
        ).to_pylist()
    return {
        tuple(forms[row[f"w{i}"]] for i in range(1, row["n"] + 1)): (
            row["logp"] / math.log(10),
            row["backoff"] / math.log(10),
        )
        for row in rows
    }


def probabilities(store: Store, model: ModelInfo) -> dict[Gram, float]:
    """Return n-gram -> probability."""
    return {gram: 10**logp for gram, (logp, _) in ngrams(store, model).items()}


def lookup(model: dict[Gram, tuple[float, float]], gram: Gram) -> float:
    """Return log10 p of the last word after the others, by backing off as ARPA files mean it."""
    if gram in model:
        return model[gram][0]
    if len(gram) == 1:
        return model[("<unk>",)][0] if ("<unk>",) in model else -math.inf
    return model.get(gram[:-1], (0.0, 0.0))[1] + lookup(model, gram[1:])


def read_arpa(lines: Iterable[str]) -> dict[Gram, tuple[float, float]]:
    """Read an ARPA file in the plainest way, without the code under test."""
    found = {}
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) > 1:
            backoff = float(fields[2]) if len(fields) > 2 else 0.0
            found[tuple(fields[1].split(" "))] = (float(fields[0]), backoff)
    return found


def assert_sums_to_one(
    model: dict[Gram, tuple[float, float]], order: int, *, approx: Callable[..., object] = pytest.approx
) -> None:
    """Check every context that the model knows, and one that it does not."""
    vocabulary = [gram[0] for gram in model if len(gram) == 1 and gram != ("<s>",)]
    contexts = {gram for gram in model if len(gram) < order and gram[-1] != "</s>"}
    unseen = {tuple(itertools.repeat(vocabulary[0], order - 1))} if order > 1 else set()
    for context in {(), *contexts, *unseen}:
        total = sum(10 ** lookup(model, (*context, word)) for word in vocabulary)
        assert total == approx(1.0, abs=1e-9), context
