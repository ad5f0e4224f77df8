"""What must hold for pairs, models of alignment, and their links."""

from __future__ import annotations

from sentgen.schema.integrity.check import RETRAIN, Check

_AGAIN = "align again (sentgen align apply)"
#: All of them, the slow one last.
ALIGNMENT_CHECKS = (
    Check("duplicate pairs", "select name from pair group by corpus_id, name having count(*) > 1"),
    Check(
        "words of a pair",
        """
        select p.name
        from pair p
        left join (
            select document_id, sum(length) as words
            from sentence
            group by document_id
        ) d on d.document_id = p.document_id
        left join (
            select document_id, sum(length) as words
            from sentence
            group by document_id
        ) a on a.document_id = p.abstract_id
        where (d.words, a.words) is distinct from (p.document_words, p.abstract_words)
        """,
    ),
    Check(
        "iterations one after the other",
        """
        select model_id, direction, count(*) as iterations, max(iteration) as last
        from alignment_iteration
        group by model_id, direction
        having min(iteration) <> 1
            or count(distinct iteration) <> count(*)
            or max(iteration) <> count(*)
        """,
        RETRAIN,
    ),
    Check(
        "jumps sum to one",
        """
        select model_id, direction, iteration, sum(prob) as total
        from alignment_jump
        group by model_id, direction, iteration
        having not abs(total - 1) <= 1e-6
        """,
        RETRAIN,
    ),
    Check(
        "links within their texts",
        """
        select p.name, l.document_first, l.document_end, l.abstract_first, l.abstract_end
        from alignment_link l
        join pair p on p.id = l.pair_id
        where l.document_first < 0
            or l.document_end not between l.document_first + 1 and p.document_words
            or l.abstract_first < 0
            or l.abstract_end not between l.abstract_first + 1 and p.abstract_words
        """,
        _AGAIN,
    ),
    Check(
        "a state for each word of an aligned abstract",
        """
        select p.name
        from alignment a
        join pair p on p.id = a.pair_id
        left join alignment_state s on s.model_id = a.model_id and s.pair_id = a.pair_id
        group by a.model_id, p.id, p.name, p.abstract_words
        having count(distinct s.position) <> p.abstract_words
            or count(s.position) <> p.abstract_words
            or min(s.position) <> 0
            or max(s.position) <> p.abstract_words - 1
        """,
        _AGAIN,
    ),
    Check(
        "states within their texts",
        """
        select p.name, s.position
        from alignment_state s
        join pair p on p.id = s.pair_id
        where s.state not in ('same', 'variant', 'related', 'changed', 'new')
            or list_min(s.source) < 0
            or list_max(s.source) >= p.document_words
            or list_min(s.elsewhere) < 1
        """,
        _AGAIN,
    ),
    Check(
        "rewrites sum to one",
        """
        select model_id, reverse, stems, source, sum(prob) as total
        from alignment_rewrite
        group by model_id, reverse, stems, iteration, source
        having not abs(total - 1) <= 1e-6
        """,
        RETRAIN,
        slow=True,
    ),
)
