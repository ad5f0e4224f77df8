"""Read the n-grams of a model by their anchors, as they stand in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from sentgen.arrays import Floats, Ints, Shorts
from sentgen.models.base.registry import ModelLike
from sentgen.models.base.sql import among_bits
from sentgen.schema.engine import arrow_reader

#: The columns of an n-gram.
NGRAM = "n, w1, w2, w3, w4, w5, logp, backoff"
#: Up to so many anchors, a union of one equality each is best: DuckDB reads little else. Of more, the
#: bits of a bit string cost a third of a list, for which all columns are read before it is looked at. CPU ms
#: of union, bits and list from 31M n-grams: 10, 44, 24 for 26 anchors; too many to plan, 178, 524 for 908.
_UNION_LIMIT = 64


def anchored(
    duck: duckdb.DuckDBPyConnection, model: ModelLike, anchors: Sequence[int], columns: str, *, rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield columns of the n-grams of some anchors, ascending, in batches of 1 to about ``rows`` rows."""
    select = f"select {columns} from model_ngram where model_id = {int(model.id)}"
    parameters: dict[str, bytes] = {}
    if len(anchors) <= _UNION_LIMIT:
        query = "\nunion all\n".join(f"{select} and anchor = {int(anchor)}" for anchor in anchors)
    else:
        asked, parameters = among_bits("anchor", anchors)
        query = f"{select} and {asked}"
    for batch in arrow_reader(duck, query, parameters, rows=rows):
        if batch.num_rows:
            yield batch


class StoredNgrams(NamedTuple):
    """Some n-grams as they stand in the store; words beyond the length of one mean nothing."""

    lengths: Shorts
    w1: Ints
    w2: Ints
    w3: Ints
    w4: Ints
    w5: Ints
    logp: Floats
    backoff: Floats


def stored_ngrams(batch: pa.RecordBatch) -> StoredNgrams:
    """Return the n-grams of a batch of the columns `NGRAM`, without a copy."""
    n, *words, logp, backoff = batch.columns
    found = [np.frombuffer(word.buffers()[1], np.int32, len(word), 4 * word.offset) for word in words]
    return StoredNgrams._make([n.to_numpy(), *found, logp.to_numpy(), backoff.to_numpy()])
