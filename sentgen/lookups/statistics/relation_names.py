"""Dependency relations as a word sketch calls them: `subjects of fall`, not `nsubj` with the role `modifier`.

Known are the relations of Universal Dependencies, SUD, Stanford and the conversions of the Penn Treebank;
others keep their names. A subtype without a name of its own has that of its relation.
"""

from __future__ import annotations

from sentgen.lookups.base.statement import Bindings

#: Relations to what modifiers with them are of a head, and what a word with them is of its head.
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
#: What function words and punctuation hang by, as relations or the first part of them.
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
