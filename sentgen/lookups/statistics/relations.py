"""Dependency relations: what a word sketch calls them, and links between two words by a preposition.

A sketch has `subjects of fall`, not `nsubj` with the role `modifier`. Known are the relations of Universal
Dependencies, SUD, Stanford and the conversions of the Penn Treebank; others keep their names. A subtype
without a name of its own has that of its relation.

By a preposition, as in *live in a camp*, tokens are found with what governs them through it. Universal
Dependencies hang the preposition below the noun (``case``), and what belongs to it below that (``fixed``:
*out of*). SUD, Stanford Dependencies and the conversions of the Penn Treebank hang the noun below the
preposition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentgen.case_folding import fold_sql
from sentgen.lookups.base.statement import Bindings

#: For relations, the name of the modifiers of a word, and that of a word which is itself such a modifier.
_NAMES = {
    "amod mod NMOD": ("modifiers of %s", "%s as modifier of"),
    "compound nn": ("nouns before %s", "%s before nouns"),
    "compound:prt prt PRT": ("particles of %s", "%s as particle of"),
    "advmod": ("adverbs of %s", "%s as adverb of"),
    "ADV VMOD": ("adverbials of %s", "%s as adverbial of"),
    "nummod num": ("numbers of %s", "%s as number of"),
    "nmod:poss poss": ("possessors of %s", "%s as possessor of"),
    "nsubj subj SBJ SUB": ("subjects of %s", "%s as subject of"),
    "nsubj:pass subj:pass nsubjpass": ("passive subjects of %s", "%s as passive subject of"),
    "csubj": ("clauses as subject of %s", "%s in a subject clause of"),
    "obj dobj OBJ comp:obj": ("objects of %s", "%s as object of"),
    "iobj IOBJ": ("indirect objects of %s", "%s as indirect object of"),
    "obl": ("what stands with %s by a preposition or case", "%s by a preposition or case with"),
    "nmod": ("nouns with %s by a preposition or case", "%s by a preposition or case with nouns"),
    "obl:agent": ("agents of %s", "%s as agent of"),
    "obl:tmod": ("times of %s", "%s as time of"),
    "obl:npmod": ("measures of %s", "%s as measure of"),
    "udep": ("prepositions of %s", "%s as preposition of"),
    "comp:pred PRD": ("predicates of %s", "%s as predicate of"),
    "xcomp": ("complements of %s", "%s as complement of"),
    "ccomp": ("clauses that %s takes", "%s in a clause with"),
    "advcl": ("adverbial clauses of %s", "%s in an adverbial clause of"),
    "acl": ("clauses that modify %s", "%s in a clause that modifies"),
    "acl:relcl rcmod": ("relative clauses of %s", "%s in a relative clause of"),
    "conj COORD": ("%s and/or ...", "... and/or %s"),
    "appos": ("appositions of %s", "%s as apposition of"),
    "parataxis": ("what stands beside %s", "%s beside"),
    "list": ("%s in a list with", "in a list with %s"),
    "flat": ("names that go on after %s", "%s in the name"),
    "vocative": ("who is spoken to with %s", "%s as address with"),
}
#: The relations of function words and punctuation, or the first part of these relations.
FUNCTION = (
    *("det", "case", "mark", "aux", "cop", "cc", "punct", "clf", "expl", "fixed", "goeswith", "reparandum"),
    *("discourse", "dep", "root", "orphan", "dislocated"),
    *("auxpass", "predet", "preconj", "possessive", "neg", "complm", "P", "DEP", "ROOT", "DET"),
    *("comp:aux", "unk"),
)
#: As rows, for SQL that has `$shown` for the word.
NAMED = (
    "select * from (values\n    "
    + ",\n    ".join(
        f"('{relation}', '{role}', '{name}')"
        for relations, names in _NAMES.items()
        for relation in relations.split()
        for role, name in zip(("modifier", "head"), names, strict=True)
    )
    + "\n  ) as v(relation, role, name)"
)
#: The name of the relation of a row in SQL, by its preposition if it has one, where the rows of `NAMED` are
#: joined as ``exact`` and ``base``.
NAME = """replace(
    coalesce(
      case
        when preposition is null then null
        when role = 'modifier' then '%s ' || preposition || ' ...'
        when relation = 'nmod' then 'nouns ' || preposition || ' %s'
        else '... ' || preposition || ' %s'
      end,
      exact.name, base.name,
      case when role = 'modifier' then relation || ' of %s' else '%s as ' || relation || ' of' end
    ),
    '%s', $shown
  )"""


def no_function(relation: str, bindings: Bindings) -> str:
    """Return the condition that a relation, a number of `tag` in SQL, is none of function words."""
    names = bindings.bind("function", list(FUNCTION))
    return (
        f"{relation} not in (select id from tag where name in {names} or split_part(name, ':', 1) in {names})"
    )


def word_of(pattern: str) -> str:
    """Return a pattern of one token as a name has it.

    >>> word_of("lemma:fall"), word_of("stock/NN"), word_of("camp")
    ('fall', 'stock', 'camp')
    """
    return pattern.removeprefix("lemma:").removeprefix("word:").partition("/")[0]


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
