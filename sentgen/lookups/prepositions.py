"""Links between two words by a preposition, as in *live in a camp*: tokens with what governs them through it.

Universal Dependencies hang the preposition below the noun (``case``), and what belongs to it below that
(``fixed``: *out of*). SUD, Stanford Dependencies and the conversions of the Penn Treebank hang the noun below
the preposition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentgen.case_folding import folded

#: `link` are the nouns, with head and relation of the link; one with two prepositions stands there twice.
#: Both sides are made first, as they are few of all tokens, which DuckDB does not see.
_LINKED = """\
preposition as materialized (
  select t.sentence_id, t.head as position, {form} || coalesce(' ' || more.words, '') as preposition
  from token as t
  join word on word.id = t.word_id
  left join (
    select t.sentence_id, t.head, string_agg({form}, ' ' order by t.position) as words
    from token as t
    join word on word.id = t.word_id
    where t.deprel_id in (select id from tag where name = 'fixed'){part}
    group by t.sentence_id, t.head
  ) as more on more.sentence_id = t.sentence_id and more.head = t.position
  where t.deprel_id in (select id from tag where name = 'case'){part}
),
noun as materialized (
  select t.sentence_id, t.position, t.corpus_id, t.deprel_id, t.head{columns},
    tag.name as relation
  from token as t
  join tag on tag.id = t.deprel_id
  where t.head > 0
    and t.deprel_id in (
      select id from tag
      where split_part(name, ':', 1) in ('obl', 'nmod') and name not in ('obl:agent', 'nmod:poss')
        or name in ('pobj', 'PMOD', 'comp:obj')
    ){part}
),
link as materialized (
  select noun.*, deprel_id as relation_id, preposition
  from noun
  join preposition using (sentence_id, position)
  where relation not in ('pobj', 'PMOD', 'comp:obj')
  union all
  select noun.* replace (t.head as head), t.deprel_id, {form}
  from noun
  join token as t on t.sentence_id = noun.sentence_id and t.position = noun.head
  join word on word.id = t.word_id
  where t.head > 0
    and t.deprel_id not in (select id from tag where name in ('conj', 'CONJ', 'COORD'))
    and (
      relation in ('pobj', 'PMOD')
      or relation = 'comp:obj' and t.upos_id in (select id from tag where name = 'ADP')
    ){part}
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
    more = "".join(f", t.{one}" for one in sorted({*columns} - {"deprel_id"}))
    conditions = "".join(f"\n    and {one}" for one in of_tokens)
    return (
        _LINKED.replace("{columns}", more)
        .replace("{part}", conditions)
        .replace("{form}", folded("word.form"))
    )
