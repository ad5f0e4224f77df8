"""What must hold for pairs, models of alignment, and their links."""

from __future__ import annotations

from sentgen.schema.integrity.check import RETRAIN, Check

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
        "align again (sentgen align apply)",
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
