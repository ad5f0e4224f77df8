"""The part of a model that some sentences ask for: their own n-grams, all that scoring them can touch.

A bag may be put in any order, a text stands in one. Its n-grams of all orders hold every n-gram, every
context and every shorter n-gram that backing off can look at: one join fetches no row in vain.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from sentgen.arrays import Ints
from sentgen.counts.ngrams import wrap
from sentgen.counts.spill import BYTES_PER_TOKEN, NgramCounter
from sentgen.models.ngram_cache import ModelLike, Rows, cache_of
from sentgen.models.submodel import SubModel, submodel_of, word_ids
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.corpus import BOS, EOS, RESERVED_WORDS, UNK
from sentgen.schema.engine import fetched
from sentgen.schema.store import raw, translated_errors

_ABSENT = -1
_QUERY = """
select t.w1, t.w2, t.w3, t.w4, t.w5, m.logp, m.backoff
from _text t
join model_ngram m
    on m.anchor = t.anchor
    and m.n = t.n
    and m.w1 = t.w1
    and m.w2 is not distinct from t.w2
    and m.w3 is not distinct from t.w3
    and m.w4 is not distinct from t.w4
    and m.w5 is not distinct from t.w5
where m.model_id = ?
order by t.n, t.w1, t.w2, t.w3, t.w4, t.w5
"""


def prefetch_text(store: Store, model: ModelLike, sentences: Sequence[Sequence[str]]) -> SubModel:
    """Fetch the n-grams of some sentences, each between ``<s>`` and ``</s>``, in two queries at most."""
    started = time.perf_counter()
    forms = set(chain.from_iterable(sentences)) - set(RESERVED_WORDS)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        ids = word_ids(duck, model, forms, cache_of(store))
        lengths = np.array([len(words) for words in sentences], np.int32)
        flat = np.array([ids.get(word, UNK) for words in sentences for word in words], np.int32)
        _text = _distinct_ngrams(wrap(flat, lengths, BOS, EOS), model.order, store.path)
        found = fetched(duck.execute(_QUERY, [model.id]))
    words = np.stack([found[f"w{i}"].fill_null(_ABSENT).to_numpy() for i in range(1, 6)], axis=1)
    rows = Rows(words.astype(np.int32), found["logp"].to_numpy(), found["backoff"].to_numpy())
    return submodel_of(model, model.order, ids, rows, started)


def _distinct_ngrams(stream: Ints, order: int, store_path: Path) -> pa.Table:
    """Return the n-grams of a text with their anchors; what fits in a batch never spills to the disk."""
    counter = NgramCounter(
        highest=order, memory=BYTES_PER_TOKEN * (stream.size + 1), folder=Path(f"{store_path}.text")
    )
    counter.add(stream)
    lengths, words = [], []
    for block in counter.results():
        for n, counted in enumerate(block, 1):
            padded = np.full((5, counted.counts.size), _ABSENT, np.int32)
            padded[:n] = counted.words
            words.append(padded)
            lengths.append(np.full(counted.counts.size, n, np.int16))
    joined = np.concatenate(words, axis=1)
    columns = {f"w{i + 1}": pa.array(joined[i], mask=joined[i] == _ABSENT) for i in range(5)}
    return pa.table({"n": np.concatenate(lengths), "anchor": joined.max(axis=0)} | columns)
