"""Links between two words by a preposition, as in *live in a camp*: tokens with what governs them through it.

Universal Dependencies hang the preposition below the noun (``case``), and what belongs to it below that
(``fixed``: *out of*). SUD, Stanford Dependencies and the conversions of the Penn Treebank hang the noun below
the preposition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentgen.case_folding import fold_sql

#: What tags are called, in SQL: the relations of prepositions, of their further words, of nouns below which
#: or above which prepositions stand, and of what is no link; and their part of speech.
CASE, FIXED = "name = 'case'", "name = 'fixed'"
NOUN = "split_part(name, ':', 1) in ('obl', 'nmod') and name not in ('obl:agent', 'nmod:poss')"
OBJECT, COMPLEMENT = "name in ('pobj', 'PMOD')", "name = 'comp:obj'"
COORDINATED, ADPOSITION = "name in ('conj', 'CONJ', 'COORD')", "name = 'ADP'"


def tags(condition: str) -> str:
    """Return the query for the numbers of tags whose name meets a condition."""
    return f"select id from tag where {condition}"


#: `link` are the nouns, with head and relation of the link; one with two prepositions stands there twice.
#: Both sides are made first, as they are few of all tokens, which DuckDB does not see.
_LINKED = f"""\
preposition as materialized (
  select t.sentence_id, t.head as position,
    {fold_sql("word.form")} || coalesce(' ' || more.words, '') as preposition
  from token as t
  join word on word.id = t.word_id
  left join (
    select t.sentence_id, t.head, string_agg({fold_sql("word.form")}, ' ' order by t.position) as words
    from token as t
    join word on word.id = t.word_id
    where t.deprel_id in ({tags(FIXED)}){{part}}
    group by t.sentence_id, t.head
  ) as more on more.sentence_id = t.sentence_id and more.head = t.position
  where t.deprel_id in ({tags(CASE)}){{part}}
),
noun as materialized (
  select t.sentence_id, t.position, t.corpus_id, t.deprel_id, t.head{{columns}}
  from token as t
  where t.head > 0
    and t.deprel_id in ({tags(f"{NOUN} or {OBJECT} or {COMPLEMENT}")}){{part}}
),
link as materialized (
  select noun.*, deprel_id as relation_id, preposition
  from noun
  join preposition using (sentence_id, position)
  where deprel_id in ({tags(NOUN)})
  union all
  select noun.* replace (t.head as head), t.deprel_id, {fold_sql("word.form")}
  from noun
  join token as t on t.sentence_id = noun.sentence_id and t.position = noun.head
  join word on word.id = t.word_id
  where t.head > 0
    and t.deprel_id not in ({tags(COORDINATED)})
    and (
      noun.deprel_id in ({tags(OBJECT)})
      or noun.deprel_id in ({tags(COMPLEMENT)}) and t.upos_id in ({tags(ADPOSITION)})
    ){{part}}
),
"""


def linked_tokens(columns: Iterable[str], of_tokens: Sequence[str] = ()) -> str:
    """Return the common table expressions up to `link`, the tokens that something governs by a preposition.

    Its rows are those of `token`; ``head`` is what governs them by it, ``relation_id`` the relation to that,
    and ``preposition`` is in small letters.

    Args:
        columns: what is asked of the tokens beside their places and relations; others take time.
        of_tokens: conditions on rows ``t`` of `token`, the same for all tokens of a sentence.
    """
    more = "".join(f", t.{column}" for column in sorted({*columns} - {"deprel_id"}))
    conditions = "".join(f"\n    and {column}" for column in of_tokens)
    return _LINKED.format(columns=more, part=conditions)
