"""Segments: counts are appended batch by batch and merged now and then: adding costs what is added."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from sentgen.schema.store import scalar
from sentgen.schema.tables import counts
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.segments import merge

#: So many segments of like size are merged into one.
FAN_IN = 8


def of_corpora(connection: Connection, corpus_ids: Sequence[int]) -> list[int]:
    """Return the segments of some corpora."""
    found = select(counts.segment.c.id).where(counts.segment.c.corpus_id.in_(corpus_ids))
    return list(connection.scalars(found.order_by(counts.segment.c.id)))


def merge_small(connection: Connection, corpus_id: int) -> None:
    """Merge segments of like size where there are many: each count is moved a logarithmic number of times."""
    while True:
        tiers: defaultdict[int, list[int]] = defaultdict(list)
        rows = select(counts.segment.c.id, counts.segment.c.tokens).where(
            counts.segment.c.corpus_id == corpus_id
        )
        for number, tokens in connection.execute(rows.order_by(counts.segment.c.id)):
            # Tiers of a factor of eight, which is FAN_IN: eight of one make about one of the next.
            tiers[int(tokens).bit_length() // 3].append(number)
        crowded = [numbers for numbers in tiers.values() if len(numbers) >= FAN_IN]
        if not crowded:
            return
        # Then look again: what was merged may crowd the tier above.
        merge(connection, crowded[0])


def count_types(connection: Connection, corpus_id: int) -> int:
    """Return the number of distinct words of a corpus."""
    unigram = counts.ngram[1].c
    words = select(func.count(unigram.w1.distinct())).where(
        unigram.segment_id.in_(of_corpora(connection, [corpus_id])), unigram.w1.not_in([BOS, EOS])
    )
    return scalar(connection, words)
