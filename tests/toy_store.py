"""A back-off language model small enough to check by hand, in a store; used by several rooms' tests."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from sqlalchemy import insert

from sentgen.models.base.registry import ModelInfo
from sentgen.schema import Store
from sentgen.schema.store import append, raw
from sentgen.schema.tables.corpus import RESERVED_WORDS
from sentgen.schema.tables.models import model as model_table

Ngrams = Mapping[tuple[str, ...], tuple[float, float]]


@dataclass(frozen=True)
class ToyModel(ModelInfo):
    """A model as the look-ups need to know it."""

    id: int = 1
    name: str = "toy"
    version: int = 1
    order: int = 4
    smoothing: str = "arpa"
    min_count: tuple[int, ...] = ()
    unknown: str = "word"
    brackets: bool = False
    vocabulary: int = 0
    sentences: int = 0
    tokens: int = 0
    created_at: datetime = datetime(2026, 1, 1)
    corpora: tuple[str, ...] = ()


def backoff_model(
    sentences: Iterable[Sequence[str]], order: int
) -> dict[tuple[str, ...], tuple[float, float]]:
    """Return n-gram -> (log10 p, log10 back-off): absolute discounting by 1/2, Katz back-off, sums to one.

    The discounted mass of the unigrams goes to <unk>.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for words in sentences:
        padded = ["<s>", *words, "</s>"]
        for n in range(1, order + 1):
            counts.update(tuple(padded[i : i + n]) for i in range(len(padded) - n + 1))
    del counts[("<s>",)]
    total = sum(count for gram, count in counts.items() if len(gram) == 1)
    prob = {gram: (count - 0.5) / total for gram, count in counts.items() if len(gram) == 1}
    prob[("<unk>",)] = 1 - sum(prob.values())
    weight: dict[tuple[str, ...], float] = {}

    def back(gram: tuple[str, ...]) -> float:
        return prob[gram] if gram in prob else weight.get(gram[:-1], 1.0) * back(gram[1:])

    for n in range(2, order + 1):
        followers = defaultdict(list)
        for gram in counts:
            if len(gram) == n:
                followers[gram[:-1]].append(gram)
        for context, grams in followers.items():
            seen = sum(counts[gram] for gram in grams)
            mass = 0.5 * len(grams) / seen
            weight[context] = mass / (1 - sum(back(gram[1:]) for gram in grams))
            prob.update({gram: (counts[gram] - 0.5) / seen for gram in grams})
    prob[("<s>",)] = 1e-99
    return {
        gram: (math.log10(value), math.log10(weight.get(gram, 1.0)))
        for gram, value in sorted(prob.items(), key=lambda item: (len(item[0]), item[0]))
    }


def write_arpa(ngrams: Ngrams, path: Path) -> None:
    """Write a model as an ARPA file."""
    order = max(map(len, ngrams))
    with path.open("w", encoding="utf-8") as file:
        file.write("\\data\\\n")
        for n in range(1, order + 1):
            file.write(f"ngram {n}={sum(len(gram) == n for gram in ngrams)}\n")
        for n in range(1, order + 1):
            file.write(f"\n\\{n}-grams:\n")
            for gram, (logp, backoff) in ngrams.items():
                if len(gram) == n:
                    end = f"\t{backoff:.9f}" if n < order else ""
                    file.write(f"{logp:.9f}\t{' '.join(gram)}{end}\n")
        file.write("\n\\end\\\n")


def fill(store: Store, ngrams: Ngrams, **settings: object) -> ToyModel:
    """Store a model (log10 in, natural logarithms in the store), words in order of their first n-gram."""
    toy = ToyModel(order=max(map(len, ngrams)), **settings)  # type: ignore[arg-type]
    with store.begin() as connection:
        known = dict(raw(connection).execute("select form, id from word").fetchall())
        new = [word for word in dict.fromkeys(w for gram in ngrams for w in gram) if word not in known]
        ids = {**known, **{word: len(known) + i for i, word in enumerate(new)}}
        append(connection, "word", pa.table({"id": pa.array([ids[w] for w in new], pa.int32()), "form": new}))
        rows = sorted((max(ids[w] for w in gram), gram, values) for gram, values in ngrams.items())
        columns: dict[str, list[object]] = {
            "model_id": [toy.id] * len(rows),
            "anchor": [anchor for anchor, _, _ in rows],
            "n": [len(gram) for _, gram, _ in rows],
            **{f"w{i + 1}": [ids[g[i]] if i < len(g) else None for _, g, _ in rows] for i in range(5)},
            "logp": [logp * math.log(10) for _, _, (logp, _) in rows],
            "backoff": [backoff * math.log(10) for _, _, (_, backoff) in rows],
        }
        append(connection, "model_ngram", pa.table(columns))
        connection.execute(
            insert(model_table).values(
                id=toy.id,
                name=toy.name,
                version=toy.version,
                max_order=toy.order,
                smoothing="arpa",
                min_count="1",
                unknown=toy.unknown,
                vocabulary=len(ids),
                sentences=0,
                tokens=0,
                created_at=toy.created_at,
            )
        )
    assert all(word in ids for word in RESERVED_WORDS)
    return toy


#: A corpus of five sentences; every figure of the tests that use it can be counted by hand.
SENTENCES = [
    ["the", "dog", "sees", "the", "cat"],
    ["the", "cat", "sees", "a", "dog"],
    ["a", "dog", "barks"],
    ["the", "cat", "sleeps", "on", "the", "mat"],
    ["a", "cat", "on", "the", "mat", "sees", "the", "dog"],
]
