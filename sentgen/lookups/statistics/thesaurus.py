"""A thesaurus: words of the same class that have the same collocates by dependency relation (Lin 1998).

Lin 1998, "Automatic retrieval and clustering of similar words", COLING-ACL. A context of a word is a
relation, the role of the word in it, and a collocate. The information of a word w and a context (r, v) is,
counted over the pairs of all words of the class of w::

    I(w, r, v) = log( |w, r, v| |*, r, *| / ( |w, r, *| |*, r, v| ) )

T(w) are the contexts of w with I > 0, and the similarity of two words is the sum of I(w1, r, v) + I(w2, r, v)
over T(w1) and T(w2) in common, divided by the sum of I(w1, r, v) over T(w1) and of I(w2, r, v) over T(w2).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import duckdb
from sqlalchemy import Connection

from sentgen.case_folding import fold_sql
from sentgen.errors import InputError
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.question import MOST, Lookup
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer, Bindings, Statement, limit_clause, limited_answer, where
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.search.absence import PARSE, explain_absence, no_trees
from sentgen.lookups.statistics.collocations import CollocateUnit, read_node
from sentgen.lookups.statistics.relations import no_function
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema.engine import one_row, raw, register_arrow

if TYPE_CHECKING:
    import pyarrow as pa

#: The word that a pattern means: the most frequent word or lemma of its tokens, with its most frequent class.
_WORD = """\
with found as (
  select t.{column} as id, word.form, u.name as upos,
    if(u.name is null, left(x.name, 2), null) as xpos
  from token as t
  left join word on word.id = t.{column}
  left join tag as u on u.id = t.upos_id
  left join tag as x on x.id = t.xpos_id{conditions}
)
select id, form, upos, xpos, count(*) as count
from found
group by id, form, upos, xpos
order by (id is null), count(*) desc, id, upos, xpos
limit 1"""
_PAIRS = """\
select item, deprel_id, role, other, count(*) as count
from (
    select d.{column} as item, d.deprel_id, 'head' as role, h.{column} as other
    from token as d
    join token as h on h.sentence_id = d.sentence_id and h.position = d.head{of_modifiers}
    union all
    select h.{column}, d.deprel_id, 'modifier', d.{column}
    from token as d
    join token as h on h.sentence_id = d.sentence_id and h.position = d.head{of_heads}
  )
group by all"""
#: The pairs that were counted in arrays.
_COUNTED = "select * from counted_pairs"
_ALIKE = """\
with spelling as (
  select id, form, {folded} as item
  from word
  where {content}
),
pair as (
{pairs}
),
context as (
  select s.item, deprel_id, role, o.item as other, sum(count)::double as count
  from pair
  join spelling as s on s.id = pair.item
  join spelling as o on o.id = pair.other
  group by all
),
of_item as (
  select item, deprel_id, role, sum(count) as count from context group by all
),
of_other as (
  select deprel_id, role, other, sum(count) as count from context group by all
),
of_relation as (
  select deprel_id, role, sum(count) as count from of_item group by all
),
-- As decimals, whose sum is the same in any order.
informed as (
  select item, deprel_id, role, other,
    ln(c.count * n.count / (i.count * o.count))::decimal(38, 18) as information
  from context as c
  join of_item as i using (item, deprel_id, role)
  join of_other as o using (deprel_id, role, other)
  join of_relation as n using (deprel_id, role)
  where c.count * n.count > i.count * o.count
),
own as (
  select * from informed
  where item = (select item from spelling where id = $word)
),
alike as (
  select t.item, count(*) as shared, sum(t.information + own.information)::double as common
  from informed as t
  join own using (deprel_id, role, other)
  where t.item <> own.item
  group by t.item
  having count(*) >= $min_count
),
scored as (
  select item, shared,
    common / ((select sum(information) from own) + sum(t.information))::double as similarity
  from alike
  join informed as t using (item)
  group by item, shared, common
),
strongest as (
  select {form} as word, similarity, shared, item
  from scored
  join word on word.id = item
  order by similarity desc, word{limit}
)
select word, similarity, shared, (
    select count(*)
    from token as t
    where t.{column} in (select id from spelling where spelling.item = strongest.item){of_tokens}
  ) as frequency
from strongest
order by similarity desc, word"""
#: Collocates and words without a letter or a digit are left out.
_CONTENT = r"regexp_matches(form, '[\pL\pN]')"


@dataclass(frozen=True, slots=True)
class _ComparedWord:
    """The word or lemma that is compared, with its class and its frequency in that class."""

    id: int
    form: str
    upos: str | None
    xpos: str | None
    count: int

    @property
    def tag(self) -> str | None:
        """The class: a universal part of speech, or else the first two letters of treebank tags."""
        return self.upos or self.xpos

    def tags(self, bindings: Bindings) -> str:
        name = "name" if self.upos else "left(name, 2)"
        return f"select id from tag where {name} = {bindings.bind('class', self.tag)}"

    def conditions(self, alias: str, bindings: Bindings) -> list[str]:
        if self.upos:
            return [f"{alias}.upos_id in ({self.tags(bindings)})"]
        if self.xpos:
            return [f"{alias}.upos_id is null", f"{alias}.xpos_id in ({self.tags(bindings)})"]
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Thesaurus(Lookup):
    """Words of the same class with the same collocates."""

    word: Annotated[str, Option("The word: `stock`, `lemma:fall`, `stock/NN`.", argument=True)]
    by: Annotated[CollocateUnit, Option("Compare words or lemmas.")] = CollocateUnit.LEMMA
    min_count: Annotated[int, Option("Collocates to share at least.", least=1, api={"le": MOST})] = 2
    function_words: Annotated[bool, Option("Function words and punctuation as collocates, too.")] = False

    def ask(self, connection: Connection) -> Answer:
        """Return the words that are most similar to a word, as Lin 1998 defines it.

        Compared are words of one class: the same universal part of speech, or where there is none, tags that
        begin with the same two letters. A pattern means the word, or lemma, and the class that its tokens
        have most often. The columns are ``word``; ``similarity``, from 0 to 1; ``shared``, how many
        collocates both have in the same relation; and ``frequency``, how often the word occurs in its class.

        Raises:
            InputError: the pattern is not of one token, or the corpora have no trees, or no lemmas.
            NotFoundError: no such corpus.
        """
        selection = self.select(connection, sentences=True)
        node = read_node(connection, self.word, selection, one_token=True)
        if no_trees(connection, selection):
            raise InputError(
                f"these corpora have no trees, and a thesaurus compares words by what is in them; {PARSE}"
            )
        least = max(self.min_count, 1)
        word = self._compared_word(connection, node, selection)
        if word is None:
            empty = Statement("select word.form as word from word where false")
            answer = limited_answer(connection, empty, 0, f"{self.word!r} in these corpora")
            return explain_absence(connection, answer, selection, node.values)
        missing = f"word that shares {quantity(least, 'collocate')} or more with {self.word!r}"
        bindings = Bindings(min_count=least, word=word.id)
        clause = limit_clause(self.limit, bindings, "  ")
        name = f"{word.form}, {word.tag}" if word.tag else word.form
        pairs = self._pairs(word, selection, bindings)
        definition, counted = (
            self._statement(word, selection, bindings, text, clause) for text in (pairs, _COUNTED)
        )
        with _temporary_table(connection, self._count_pairs(connection, word, selection)):
            answer = limited_answer(connection, Statement(counted, bindings), self.limit, missing)
        remark = f"compared with {name}, which has {quantity(word.count, 'occurrence')}"
        return replace(answer, query=Statement(definition, bindings), remarks=(remark,))

    def _compared_word(
        self, connection: Connection, node: Query, selection: Selection
    ) -> _ComparedWord | None:
        """Return the word that the pattern means; ``None`` if it matches no token."""
        bindings = Bindings()
        conditions = [node.cql.of_token("t", bindings), *selection.of_tokens(bindings, "t")]
        text = _WORD.format(column=COLUMNS[self.by][0], conditions=where(conditions))
        row = one_row(raw(connection), text, Statement(text, bindings).used_parameters)
        if row is None:
            return None
        if row[0] is None:
            raise InputError(f"{self.word!r} has no lemma in these corpora; compare words instead")
        return _ComparedWord(*row)

    def _pairs(self, word: _ComparedWord, selection: Selection, bindings: Bindings) -> str:
        common = [*self._relations("d.deprel_id", bindings), *selection.of_tokens(bindings, "d")]
        return _PAIRS.format(
            column=COLUMNS[self.by][0],
            of_modifiers=where([*word.conditions("d", bindings), *common], "    "),
            of_heads=where([*word.conditions("h", bindings), *common], "    "),
        )

    def _relations(self, relation: str, bindings: Bindings) -> list[str]:
        return [] if self.function_words else [no_function(relation, bindings)]

    def _count_pairs(self, connection: Connection, word: _ComparedWord, selection: Selection) -> pa.Table:
        """Return the pairs of `_pairs`, counted in arrays."""
        from sentgen.lookups.statistics.collocate_counts import class_pairs

        bindings = Bindings()
        relations = Statement(f"select id from tag{where(self._relations('id', bindings))}", bindings)
        tags = None
        if word.tag:
            bindings = Bindings()
            tags = "upos_id" if word.upos else "xpos_id", Statement(word.tags(bindings), bindings)
        return class_pairs(connection, selection, relations, COLUMNS[self.by][0], tags)

    def _statement(
        self, word: _ComparedWord, selection: Selection, bindings: Bindings, pairs: str, limit: str
    ) -> str:
        of_tokens = [*word.conditions("t", bindings), *selection.of_tokens(bindings, "t")]
        return _ALIKE.format(
            pairs=pairs,
            folded=f"min(id) over (partition by {fold_sql('form')})" if selection.ignore_case else "id",
            content="true" if self.function_words else _CONTENT,
            form=selection.word_key("word.form"),
            column=COLUMNS[self.by][0],
            of_tokens="".join(f"\n      and {condition}" for condition in of_tokens),
            limit=limit,
        )


@contextmanager
def _temporary_table(connection: Connection, pairs: pa.Table) -> Iterator[None]:
    """Let statements read pairs as a table of the connection.

    DuckDB orders joins by the number of values of a table. It does not know that of a registered Arrow table,
    and took minutes.
    """
    duck = raw(connection)
    try:
        with register_arrow(duck, lent_pairs=pairs):
            duck.execute("create or replace temp table counted_pairs as select * from lent_pairs")
        yield
    finally:
        # An interrupted statement rolls its transaction back, and the table with it.
        with suppress(duckdb.Error):
            duck.execute("drop table if exists counted_pairs")
