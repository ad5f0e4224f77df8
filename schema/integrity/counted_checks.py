"""What must hold for corpora that were counted into a lake, which has their counts and no sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentgen.schema.integrity.check import Check
from sentgen.schema.integrity.sum_checks import sizes_of_corpora
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.counts import MAX_ORDER

_RECOUNT = (
    "remove the corpus and count it again (sentgen cluster remove NAME --from LAKE; "
    "sentgen cluster count PATH --to LAKE --corpus NAME)"
)


def counted_checks(corpora: Sequence[int]) -> Iterator[Check]:
    """Yield checks of the counts of corpora without sentences: against what segments and sources say."""
    if not corpora:
        return
    listed = ", ".join(map(str, corpora))
    yield Check(
        "segments sum to the sources",
        f"""
        select c.name as corpus
        from corpus c
        left join ({sizes_of_corpora("segment")}) g on g.corpus_id = c.id
        left join ({sizes_of_corpora("source")}) r on r.corpus_id = c.id
        where c.id in ({listed})
            and (g.sentences, g.tokens) is distinct from (r.sentences, r.tokens)
        """,
        _RECOUNT,
    )
    for order in range(1, MAX_ORDER + 1):
        # A sentence of one word has no n-gram of order 5, and would have -1.
        short = "coalesce(t.count, 0)" if order == MAX_ORDER else "0"
        yield Check(
            f"n-grams of order {order} sum to those of the segments",
            f"""
            select c.name as corpus, s.id as segment, coalesce(g.count, 0) as stored
            from segment s
            join corpus c on c.id = s.corpus_id
            left join (
                select segment_id, sum(count) as count
                from ngram_{order}
                group by segment_id
            ) g on g.segment_id = s.id
            left join (
                select segment_id, sum(count) as count
                from ngram_3
                where w1 = {BOS}
                    and w3 = {EOS}
                group by segment_id
            ) t on t.segment_id = s.id
            where c.id in ({listed})
                and c.max_order >= {order}
                and coalesce(g.count, 0) <> s.tokens + s.sentences * ({3 - order}) + {short}
            """,
            _RECOUNT,
        )
