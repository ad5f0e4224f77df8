"""The n-gram counts written as plainly as SQL allows: what every faster way of counting must equal."""

from __future__ import annotations


def reference_ngrams_sql(order: int) -> str:
    """Return a query that counts the n-grams of one order from the tables token and sentence.

    Each sentence is wrapped in one ``<s>`` (word 1) and one ``</s>`` (word 2); an n-gram starts at any word,
    ``<s>`` included, and ends at the latest on ``</s>``. Corpora with a lower ``max_order`` are left out.

    Returns:
        A query with the columns ``corpus_id``, ``w1`` to ``w<order>`` and ``count``.
    """
    words = [f"w{i}" for i in range(1, order + 1)]
    leads = [f"lead(word_id, {i - 1}) over sentence_order as w{i}" for i in range(2, order + 1)]
    start = ",\n        ".join(["corpus_id", "word_id as w1", *leads])
    window = (
        "\n    window sentence_order as (partition by sentence_id order by position)" if order > 1 else ""
    )
    return f"""
with framed as (
    select corpus_id, sentence_id, position, word_id
    from token
    union all
    select corpus_id, id, 0, 1
    from sentence
    union all
    select corpus_id, id, length + 1, 2
    from sentence
),
started as (
    select
        {start}
    from framed{window}
)
select s.corpus_id, {", ".join(f"s.{w}" for w in words)}, count(*) as count
from started s
join corpus c on c.id = s.corpus_id
where s.{words[-1]} is not null
    and c.max_order >= {order}
group by all
"""
