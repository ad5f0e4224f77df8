"""Look up n-grams by a pattern of words, or of their lemmas or tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.patterns import ANY, glob, loose, split_pattern
from sentgen.lookups.base.question import (
    MOST,
    Lookup,
    MinCountOption,
    OffsetOption,
    RowSortOption,
    in_pages,
)
from sentgen.lookups.base.selection import TAG_ENDS, Selection
from sentgen.lookups.base.statement import (
    Answer,
    Bindings,
    Statement,
    at_least,
    limit_clause,
    limited_answer,
    literal,
    where,
)
from sentgen.lookups.search.absence import QuestionValue, explain_absence
from sentgen.lookups.statistics.frequencies import OF_WORDS, By
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS
from sentgen.schema.tables.counts import MAX_ORDER

_STATEMENT = """\
with found as (
  select {keys}, sum(count)::bigint as count{documents}
  from {table}{spelling}{conditions}
  group by all
  having sum(count) >= $min_count{in_documents}
),
best as (
  select * from found{cut}
),
context as (
{context}
)
select {forms},
  best.count,{range}
  1e6 * best.count / ({size}) as per_million,
  {probability} as probability
from best
{joins}
order by best.count desc, {order_by}{limit}"""

#: Ties are ordered by words; only n-grams at least as frequent as the last one shown need theirs.
_CUT = """
  where count >= (select min(count) from (select count from found order by count desc limit $limit))"""

_CONTEXT = """\
  select {keys}, sum(count)::bigint as count
  from {table}{spelling}{needed}{conditions}
  group by all"""

_ALL_WORDS = """\
  select sum(count)::bigint as count
  from {table}{conditions}"""


#: A word has a letter or a digit.
_IS_WORD = rf"select id from word where regexp_matches(form, '[\p{{L}}\p{{N}}]') and id not in ({BOS}, {EOS})"
_TAGS = "(select id, name from tag union all values {ends})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ngrams(Lookup):
    """The n-grams that match a pattern."""

    pattern: Annotated[
        str, Option("1 to 5 words; `*` is any word, `down*` a word that begins with down.", argument=True)
    ]
    by: Annotated[By, Option("What the n-grams are of.")] = By.WORD
    words: Annotated[
        bool, Option("Only of words: none with a mark, without a letter or a digit, or an end of a sentence.")
    ] = False
    min_count: MinCountOption = 1
    min_documents: Annotated[
        int,
        Option("Omit what fewer documents have, and show how many have it.", least=0, api={"le": MOST}),
    ] = 0
    sort: RowSortOption = ""
    offset: OffsetOption = 0

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the n-grams of 1 to 5 words, most frequent first, then by their words.

        The columns are ``w1`` to ``wn``; ``count``; with ``min_documents``, ``documents``, the number of
        documents that have it (its range); ``per_million``, the count per million tokens; and
        ``probability``, the maximum likelihood estimate c(w1..wn) / c(w1..wn-1) of the last word after the
        others, over all selected corpora. For a single word it is the share of all words and ``</s>``;
        ``<s>`` follows nothing and has no probability. Corpora that are not counted to that order are left
        out. With ``ignore_case``, everything is counted as if all words were lower-cased. A token without the
        attribute that n-grams are ``by`` is in no n-gram; with ``words``, neither are punctuation and the
        ends of sentences, and no count includes them; the words on both sides of such a token make no n-gram.
        Linear in the n-grams of that order, a column scan. By another attribute than words, with
        ``min_documents`` or with a condition, the n-grams are counted from tokens first, of any order.

        Raises:
            InputError: the pattern is empty or too long, or has the end of a sentence along with ``words``.
            NotFoundError: no such corpus, or none counted to that order.
        """
        given = split_pattern(self.pattern, most=MAX_ORDER)
        if self.words and (end := next((word for word in given if word in _ENDS), None)):
            raise InputError(f"{end} is no word; leave out {spell('words')}, or {end}")
        of_words = self.by in OF_WORDS
        # Case is ignored in words and lemmas only.
        lookup = self if of_words else replace(self, ignore_case=False)
        counted = self.by is By.WORD and not self.min_documents
        selection = lookup.select(connection, min_order=len(given) if counted else 0, sentences=not counted)
        patterns = [selection.fold(word) if of_words else word for word in given]
        query = _NgramQuery(self, selection, patterns, Bindings(min_count=self.min_count)).statement()
        missing = f"n-gram {self.pattern!r}{at_least(self.min_count)}"
        if self.min_documents > 1:
            missing += f" in at least {quantity(self.min_documents, 'document')}"
        answer = replace(limited_answer(connection, query, self.limit, missing), left_out=selection.left_out)
        values = [QuestionValue(self.by, pattern) for pattern in patterns]
        return explain_absence(connection, answer, selection, values, of_tokens=True)


_ENDS = (RESERVED_WORDS[BOS], RESERVED_WORDS[EOS])


@dataclass(frozen=True, slots=True)
class _NgramQuery:
    """Writes the statement for a question; the patterns of words are lower-cased if the corpora are."""

    question: Ngrams
    selection: Selection
    patterns: Sequence[str]
    bindings: Bindings

    def statement(self) -> Statement:
        selection, bindings, order = self.selection, self.bindings, len(self.patterns)
        limit, documents = self.question.limit, self.question.min_documents
        names, folded = [f"w{i}" for i in range(1, order + 1)], selection.ignore_case
        # <s> is counted as a unigram, but no model predicts it: it is none of the words that shares are of.
        if order == 1:
            table, chosen = self._source(1)
            start = self._ends[0]
            context = _ALL_WORDS.format(table=table, conditions=where([f"w1 <> {start}", *chosen], "  "))
            start_key = literal(RESERVED_WORDS[BOS]) if folded else start
            probability = f"case when best.w1 <> {start_key} then best.count / context.count end"
            joined = "cross join context"
        else:
            # Without folding, a semi join with the hits restricts the contexts before they are summed up.
            needed = "" if folded else f"\n  semi join best using ({', '.join(names[:-1])})"
            context = _CONTEXT.format(**self._parts(self.patterns[:-1]), needed=needed)
            probability = "best.count / context.count"
            joined = f"left join context using ({', '.join(names[:-1])})"
        forms = [f"best.{name}" if folded else f"{self._string(name)} as {name}" for name in names]
        text = _STATEMENT.format(
            **self._parts(self.patterns, documents=documents > 0),
            documents=", count(distinct document_id) as documents" if documents else "",
            in_documents=f" and count(distinct document_id) >= {bindings.bind('min_documents', documents)}"
            if documents
            else "",
            range="\n  best.documents," if documents else "",
            cut=_CUT if limit else "",
            context=context,
            forms=", ".join(forms),
            size=selection.size(bindings),
            probability=probability,
            joins="\n".join([*([] if folded else self._spelling_joins(names, "best")), joined]),
            order_by=", ".join(form.partition(" as ")[0] for form in forms),
            limit=limit_clause(limit, bindings),
        )
        return Statement(text, bindings)

    @property
    def _ends(self) -> tuple[int, int]:
        return (BOS, EOS) if self.question.by in OF_WORDS else TAG_ENDS

    def _source(self, order: int, *, documents: bool = False) -> tuple[str, list[str]]:
        """Return the table or subquery that has the n-grams, and conditions on its rows."""
        selection, bindings, by = self.selection, self.bindings, self.question.by
        only_words = self.question.words
        if by is By.WORD and not documents and selection.condition is None:
            table, conditions = selection.ngrams(order, bindings)
            words = [f"{table}.w{i} in ({_IS_WORD})" for i in range(1, order + 1) if only_words]
            return table, [*conditions, *words]
        source = selection.token_ngrams(
            order,
            bindings,
            column=COLUMNS[by][0],
            conditions=[f"word_id in ({_IS_WORD})"] if only_words else (),
            ends=None if only_words else self._ends,
            documents=documents,
        )
        return source, []

    def _parts(self, patterns: Sequence[str], *, documents: bool = False) -> dict[str, str]:
        """Return the parts of a statement that counts matching n-grams: source, keys, joins, conditions.

        The keys are ids, or with ``ignore_case`` lower-cased strings, which need joins.
        """
        table, selection = f"ngram_{len(patterns)}", self.selection
        source, chosen = self._source(len(patterns), documents=documents)
        names = [f"w{i}" for i in range(1, len(patterns) + 1)]
        matches = [
            self._matches(f"{table}.{name}", pattern) for name, pattern in zip(names, patterns, strict=True)
        ]
        keys = [f"{selection.word_key(self._string(name))} as {name}" for name in names]
        folded = selection.ignore_case
        joins = self._spelling_joins(names, table) if folded else []
        return {
            "table": source,
            "keys": ", ".join(keys if folded else names),
            "spelling": "".join(f"\n  {join}" for join in joins),
            "conditions": where([*matches, *chosen], "  "),
        }

    @property
    def _strings(self) -> str:
        """The table, or subquery, with the strings of the ids, also those of the ends of sentences."""
        if self.question.by in OF_WORDS:
            return "word"
        ends = ", ".join(f"({n}, {literal(end)})" for n, end in zip(TAG_ENDS, _ENDS, strict=True))
        return _TAGS.format(ends=ends)

    def _string(self, name: str) -> str:
        return f"word_{name}.{COLUMNS[self.question.by][2]}"

    def _matches(self, column: str, pattern: str) -> str:
        """Return the condition that a column of ids matches a pattern; empty for ``*``."""
        if pattern == ANY:
            return ""
        # The pattern is matched once against each different word; the n-grams are then compared by ids.
        _, table, string = COLUMNS[self.question.by]
        ignore_case = table == "word" and loose(pattern, self.selection)
        matches = glob(pattern).condition(string, self.bindings, ignore_case=ignore_case)
        return f"{column} in (select id from {self._strings} where {matches})"

    def _spelling_joins(self, names: Sequence[str], table: str) -> list[str]:
        return [f"join {self._strings} as word_{name} on word_{name}.id = {table}.{name}" for name in names]
