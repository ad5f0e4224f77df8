"""All checks of a store, with those that compare counts and sentences, or the counts of a lake by themselves.

Totals, n-grams and trees are counted again. The SQL for n-grams is as simple as possible, and serves as the
reference for every faster way of counting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentgen.schema.checks import REINGEST, REPAIR, Check, row_checks
from sentgen.schema.counting import counted_tables
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.counts import ATTRIBUTES, MAX_ORDER


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


def checks(counted: Sequence[int] = ()) -> Iterator[Check]:
    """Yield all checks, the quick ones first.

    Args:
        counted: ids of corpora without sentences, whose counts are compared with their totals only.
    """
    yield from row_checks()
    yield from _totals(counted)
    yield from _ngrams(counted)
    yield from _trees(counted)
    yield from _occurrences(counted)
    yield from _recounts(counted)
    yield from _occurrences_recounted()
    if counted:
        yield from _counted(", ".join(map(str, counted)))


def _other(corpora: Sequence[int], column: str) -> str:
    """Return a condition that leaves corpora out."""
    return f"{column} not in ({', '.join(map(str, corpora))})" if corpora else "true"


def _sizes_of_corpora(table: str) -> str:
    """Return a query for the sentences and tokens of each corpus, summed over its segments or sources."""
    return f"""
            select corpus_id, sum(sentences) as sentences, sum(tokens) as tokens
            from {table}
            group by corpus_id
        """


def _totals(counted: Sequence[int]) -> Iterator[Check]:
    yield Check(
        "totals of a source",
        f"""
        select c.name as corpus, r.path
        from source r
        left join corpus c on c.id = r.corpus_id
        left join (
            select d.source_id, count(*) as sentences, sum(s.length) as tokens
            from sentence s
            join document d on d.id = s.document_id
            group by d.source_id
        ) s on s.source_id = r.id
        where (coalesce(s.sentences, 0) <> r.sentences or coalesce(s.tokens, 0) <> r.tokens)
            and {_other(counted, "r.corpus_id")}
        """,
        REPAIR,
    )
    yield Check(
        "totals of the segments",
        f"""
        select c.name as corpus
        from corpus c
        left join ({_sizes_of_corpora("segment")}) g on g.corpus_id = c.id
        left join (
            select corpus_id, count(*) as sentences, sum(length) as tokens
            from sentence
            group by corpus_id
        ) s on s.corpus_id = c.id
        where (
            coalesce(g.sentences, 0) <> coalesce(s.sentences, 0)
            or coalesce(g.tokens, 0) <> coalesce(s.tokens, 0)
        )
            and {_other(counted, "c.id")}
        """,
        REPAIR,
    )


def _ngrams(counted: Sequence[int]) -> Iterator[Check]:
    yield _sums(
        "tokens sum to the lengths of the sentences",
        "select corpus_id, count(*) as count from token group by corpus_id",
        "select corpus_id, sum(length) as count from sentence group by corpus_id",
        counted,
    )
    for order in range(1, MAX_ORDER + 1):
        yield _sums(
            # A sentence of n words, with <s> and </s>, has n + 3 - order n-grams.
            f"n-grams of order {order} sum to those of the sentences",
            f"""
            select s.corpus_id, sum(g.count) as count
            from (select segment_id, sum(count) as count from ngram_{order} group by segment_id) g
            left join segment s on s.id = g.segment_id
            group by s.corpus_id
            """,
            f"""
            select s.corpus_id, sum(greatest(s.length + {3 - order}, 0)) as count
            from sentence s
            join corpus c on c.id = s.corpus_id
            where c.max_order >= {order}
            group by s.corpus_id
            """,
            counted,
        )
    for table in counted_tables():
        yield Check(f"positive counts in {table}", f"select segment_id from {table} where count < 1")


def _trees(counted: Sequence[int]) -> Iterator[Check]:
    """Yield a check for every table that is counted from trees: its rows sum to the tokens with a head.

    Each is summed over rows that count once: events at the level of tags once for every attachment, arguments
    at the level of words, on the left, once for every node and for the artificial root of each tree.
    """
    once = {
        "dependency_event": "level = 'tag-tag'",
        "argument_count": "level = 'word' and direction = 'left'",
        "posting": "true",
    }
    for table, condition in once.items():
        roots = " + count(*) filter ({0} = 0)" if table == "argument_count" else ""
        word, unit = (f"count({head}){roots.format(head)}" for head in ("head", "unit_head"))
        yield _sums(
            f"{table} sums to the nodes of the trees",
            f"""
            select s.corpus_id, sum(g.word) as word, sum(g.unit) as unit
            from (
                select
                    segment_id,
                    coalesce(sum(count) filter (layer = 'word'), 0) as word,
                    coalesce(sum(count) filter (layer = 'unit'), 0) as unit
                from {table}
                where {condition}
                group by segment_id
            ) g
            left join segment s on s.id = g.segment_id
            group by s.corpus_id
            """,
            f"""
            select corpus_id, {word} as word, {unit} as unit
            from token
            group by corpus_id
            """,
            counted,
            ("word", "unit"),
        )


def _occurrences(counted: Sequence[int]) -> Iterator[Check]:
    yield Check(
        "numbers of tokens ascend",
        """
        select id as sentence_id, first_token
        from (select id, first_token, lag(first_token + length) over (order by id) as free from sentence)
        where first_token < coalesce(free, 1)
        """,
        REINGEST,
    )
    sizes = """
        select
            segment_id,
            count(*) filter (attribute = 'word') as word,
            count(*) filter (attribute = 'lemma') as lemma
        from occurrence
        group by segment_id
    """
    yield Check(
        "occurrence sums to the tokens of the segments",
        f"""
        select c.name as corpus, s.id as segment, s.tokens, coalesce(o.word, 0) as stored
        from segment s
        left join corpus c on c.id = s.corpus_id
        left join ({sizes}) o on o.segment_id = s.id
        where coalesce(o.word, 0) <> s.tokens
            and {_other(counted, "s.corpus_id")}
        """,
        REPAIR,
    )
    yield _sums(
        "occurrence sums to the words and lemmas of the tokens",
        f"""
        select s.corpus_id, sum(o.word) as word, sum(o.lemma) as lemma
        from ({sizes}) o
        left join segment s on s.id = o.segment_id
        group by s.corpus_id
        """,
        "select corpus_id, count(*) as word, count(lemma_id) as lemma from token group by corpus_id",
        counted,
        ("word", "lemma"),
    )


def _occurrences_recounted() -> Iterator[Check]:
    """Yield a check for each attribute that `occurrence` has every token with the attribute once."""
    for attribute, column in ATTRIBUTES.items():
        yield Check(
            f"occurrence of each {attribute} recounted",
            f"""
            select corpus_id, word_id, token, sum(stored) as stored, sum(expected) as expected
            from (
                select s.corpus_id, o.word_id, o.token, 1 as stored, 0 as expected
                from occurrence o
                left join segment s on s.id = o.segment_id
                where o.attribute = '{attribute}'
                union all
                select t.corpus_id, t.{column}, s.first_token + t.position - 1, 0, 1
                from token t
                join sentence s on s.id = t.sentence_id
                where t.{column} is not null
            )
            group by all
            having sum(stored) <> sum(expected)
            """,
            slow=True,
        )


def _sums(
    name: str, stored: str, expected: str, counted: Sequence[int], columns: Sequence[str] = ("count",)
) -> Check:
    """Return a check that two queries agree for every corpus; rows without a corpus are a problem, too."""
    differ = "\n            or ".join(f"coalesce(s.{c}, 0) <> coalesce(e.{c}, 0)" for c in columns)
    sums = ", ".join(f"s.{c} as stored_{c}, e.{c} as expected_{c}" for c in columns)
    query = f"""
        select c.name as corpus, {sums}
        from ({stored}) s
        full join ({expected}) e on e.corpus_id = s.corpus_id
        left join corpus c on c.id = coalesce(s.corpus_id, e.corpus_id)
        where ({differ})
            and {_other(counted, "coalesce(s.corpus_id, e.corpus_id, 0)")}
    """
    return Check(name, query, REPAIR)


def _recounts(counted: Sequence[int]) -> Iterator[Check]:
    for order in range(1, MAX_ORDER + 1):
        words = ", ".join(f"w{i}" for i in range(1, order + 1))
        yield Check(
            f"n-grams of order {order} recounted",
            f"""
            with stored as (
                select s.corpus_id, {words}, sum(g.count) as count
                from ngram_{order} g
                join segment s on s.id = g.segment_id
                where {_other(counted, "s.corpus_id")}
                group by all
            ),
            expected as ({reference_ngrams_sql(order)})
            select corpus_id, {words}, stored.count as stored, expected.count as expected
            from stored
            full join expected using (corpus_id, {words})
            where stored.count is distinct from expected.count
            """,
            slow=True,
        )


_RECOUNT = (
    "remove the corpus and count it again (sentgen cluster remove NAME --from LAKE; "
    "sentgen cluster count PATH --to LAKE --corpus NAME)"
)


def _counted(listed: str) -> Iterator[Check]:
    """Yield checks of corpora without sentences: their counts against the totals of segments and sources."""
    yield Check(
        "segments sum to the sources",
        f"""
        select c.name as corpus
        from corpus c
        left join ({_sizes_of_corpora("segment")}) g on g.corpus_id = c.id
        left join ({_sizes_of_corpora("source")}) r on r.corpus_id = c.id
        where c.id in ({listed})
            and (g.sentences, g.tokens) is distinct from (r.sentences, r.tokens)
        """,
        _RECOUNT,
    )
    for order in range(1, MAX_ORDER + 1):
        # The formula gives -1 n-grams of order 5 for a sentence of one word, which has none; the trigrams
        # <s> word </s> count such sentences.
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
