"""Dependency relations: their names in a word sketch, and links between two words through a preposition.

A sketch has `subjects of fall`, not `nsubj` with the role `modifier`. The relations of Universal
Dependencies, SUD, Stanford and the conversions of the Penn Treebank have such names; others keep their
labels. A subtype without a name of its own has that of its relation.

A link through a preposition, as in *live in a camp*, joins the noun (*camp*) to the head of the phrase
(*live*). In Universal Dependencies the preposition is a modifier of the noun (``case``), and its further
words are modifiers of the preposition (``fixed``: *out of*). In SUD, Stanford Dependencies and the
conversions of the Penn Treebank the noun is a modifier of the preposition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentgen.case_folding import fold_sql
from sentgen.lookups.base.statement import Bindings

#: Relations to two names: that of the modifiers of a word, and that of its heads.
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
#: The relations of function words and punctuation, with all of their subtypes.
FUNCTION = (
    *("det", "case", "mark", "aux", "cop", "cc", "punct", "clf", "expl", "fixed", "goeswith", "reparandum"),
    *("discourse", "dep", "root", "orphan", "dislocated"),
    *("auxpass", "predet", "preconj", "possessive", "neg", "complm", "P", "DEP", "ROOT", "DET"),
    *("comp:aux", "unk"),
)
#: The names as rows in SQL; ``%s`` stands for the word.
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
#: The name of a row's relation in SQL, with its preposition if it has one. The rows of `NAMED` are joined as
#: ``exact`` by the relation, and as ``base`` by the relation without its subtype.
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
    """Return the condition that a relation, the id of a row of `tag` in SQL, is none of function words."""
    names = bindings.bind("function", list(FUNCTION))
    return (
        f"{relation} not in (select id from tag where name in {names} or split_part(name, ':', 1) in {names})"
    )


def word_of(pattern: str) -> str:
    """Return the word in a pattern of one token, without its prefix and its tag.

    >>> word_of("lemma:fall"), word_of("stock/NN"), word_of("camp")
    ('fall', 'stock', 'camp')
    """
    return pattern.removeprefix("lemma:").removeprefix("word:").partition("/")[0]


#: Conditions on the names of tags: relations of prepositions and of their further words; of nouns with a
#: preposition as modifier; of nouns with a preposition as head; of prepositions that are coordinated, which
#: are no link; and the part of speech of prepositions.
CASE, FIXED = "name = 'case'", "name = 'fixed'"
NOUN = "split_part(name, ':', 1) in ('obl', 'nmod') and name not in ('obl:agent', 'nmod:poss')"
OBJECT, COMPLEMENT = "name in ('pobj', 'PMOD')", "name = 'comp:obj'"
COORDINATED, ADPOSITION = "name in ('conj', 'CONJ', 'COORD')", "name = 'ADP'"


def tags(condition: str) -> str:
    """Return the query for the ids of tags whose name meets a condition."""
    return f"select id from tag where {condition}"


#: `link` has the nouns, with head and relation of the link; a noun with two prepositions has two rows. Both
#: sides of the joins are materialized, as DuckDB does not know that they have few of all tokens.
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
    """Return the common table expressions up to `link`, the tokens with a head through a preposition.

    Its rows are rows of `token`, where ``head`` is the head through the preposition, ``relation_id`` the
    relation to that head, and ``preposition`` the preposition in small letters.

    Args:
        columns: further columns of `token` that the statement needs; each takes time.
        of_tokens: conditions on rows ``t`` of `token` that hold for all tokens of a sentence or none.
    """
    more = "".join(f", t.{column}" for column in sorted({*columns} - {"deprel_id"}))
    conditions = "".join(f"\n    and {column}" for column in of_tokens)
    return _LINKED.format(columns=more, part=conditions)
