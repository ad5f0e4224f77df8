"""The corpora that a question is about, and the sentences that it selects from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy import Connection

from sentgen.case_folding import fold, fold_sql
from sentgen.errors import NotFoundError
from sentgen.lookups.base.attributes import Key, Test, Value
from sentgen.lookups.base.metadata import Condition, Subcorpus, both_hold, in_corpora
from sentgen.lookups.base.statement import Bindings, where
from sentgen.output.wording import quantity
from sentgen.schema import counting
from sentgen.schema.engine import connection_cache, raw
from sentgen.schema.tables.corpus import BOS, EOS

_NO_CORPORA = "none yet; make one with: sentgen ingest PATH --corpus NAME"
#: A corpus that was counted into a lake has a number of tokens, but no documents.
_CORPORA = """\
select name, lowercase, max_order, id in (select corpus_id from segment where tokens > 0)
  and id not in (select corpus_id from document) as counts_only
from corpus
order by name"""
#: As in `sentgen.schema.sum_checks`, each sentence has one <s> and one </s>, and no n-gram crosses them. A
#: token that is left out is null instead of removed, so that tokens around it do not become neighbours.
_NGRAMS = """\
(
    select {words}, 1 as count{document}
    from (
      select {following}
      from (
        select sentence_id, position, {value} as w1 from token{tokens}{ends}
      )
      window sentence_order as (partition by sentence_id order by position)
    ){document_of}
    where {complete}
  ) as ngram_{order}"""
_ENDS = """
        union all
        select id, 0, {bos} from sentence{sentences}
        union all
        select id, length + 1, {eos} from sentence{sentences}"""
_DOCUMENT_OF = "\n    join (select id as sentence_id, document_id from sentence) using (sentence_id)"
#: Ids for <s> and </s> in a column of tags; no tag has them.
TAG_ENDS = (-BOS, -EOS)


class _Corpus(NamedTuple):
    name: str
    lowercase: bool
    max_order: int
    counts_only: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """The corpora of a question, a condition on their sentences, and how their words are compared.

    Args:
        names: names of the corpora; empty for all of the store, so that statements need no condition.
        lowercase: whether all of them were lower-cased, so that words of the question must be as well.
        left_out: names of corpora that were left out, as they lack the counts or sentences that are needed.
        ignore_case: whether words that differ in the case of letters only are one word.
        condition: condition on the metadata of sentences; None for all sentences of the corpora.
    """

    names: tuple[str, ...]
    lowercase: bool = False
    left_out: tuple[str, ...] = ()
    ignore_case: bool = False
    condition: Condition | None = None

    def fold(self, text: str) -> str:
        """Return a word as these corpora spell it."""
        return fold(text) if self.lowercase else text

    @property
    def loose(self) -> bool:
        """Whether words are compared without regard to case, as always in lower-cased corpora."""
        return self.ignore_case or self.lowercase

    def with_case(self, key: Key | None, test: Test) -> Test:
        """Return a test of a key, which ignores case if the values are words that are compared so."""
        loose = self.loose and key is not None and key.is_word
        return replace(test, ignore_case=True) if loose and isinstance(test, Value) else test

    def word_key(self, form: str) -> str:
        """Return the SQL by which forms of a column are grouped: equal for forms that are one word."""
        return fold_sql(form) if self.ignore_case else form

    def of_tokens(self, bindings: Bindings, alias: str = "") -> list[str]:
        """Return the conditions of the selection on rows of a table with ``sentence_id``."""
        return self._conditions(bindings, alias, "sentence_id")

    def of_sentences(self, bindings: Bindings, alias: str = "") -> list[str]:
        """Return the same conditions on rows of `sentence`."""
        return self._conditions(bindings, alias, "id")

    @classmethod
    def named(
        cls,
        connection: Connection,
        names: Iterable[str],
        *,
        condition: str | None = None,
        min_order: int = 0,
        ignore_case: bool = False,
        sentences: bool = False,
    ) -> Selection:
        """Look up corpora and subcorpora by name; no names select the whole store.

        Args:
            connection: the store.
            names: names of the corpora and subcorpora.
            condition: condition on the metadata of sentences (see `sentgen.lookups.base.metadata`).
            min_order: leave out corpora whose n-grams of this order were not counted; with a condition no
                corpus is left out, as n-grams are counted from the sentences.
            ignore_case: whether words that differ in the case of letters only are one word.
            sentences: whether the question needs sentences, which a corpus counted into a lake does not have.

        Raises:
            NotFoundError: there is no corpus of a name, none that was counted up to ``min_order``, or a
                corpus has no sentences.
            QueryError: the condition cannot be read, or names an unknown key.
        """
        wanted = tuple(dict.fromkeys(names))
        known = {corpus.name: corpus for corpus in _corpora(connection)}
        subcorpora = _subcorpora(connection, [name for name in wanted if name not in known], known)
        whole = [name for name in wanted if name in known]
        if sentences or subcorpora or condition is not None:
            _require_sentences([known[name] for name in whole or sorted(known)])
        met = None
        if subcorpora:
            parts = [in_corpora(whole)] if whole else []
            parts += [corpus.condition for corpus in subcorpora]
            text = " or ".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]
            if condition is not None:
                Condition.read(connection, condition)  # raises errors with positions in the text of the user
                text = both_hold(text, condition)
            met = Condition.read(connection, text)
            within = [name for corpus in subcorpora for name in corpus.corpora or known]
            # The condition tests the corpus, too; with their names, whole ranges of rows are skipped.
            wanted = tuple(dict.fromkeys([*whole, *within]))
        elif condition is not None:
            met = Condition.read(connection, condition)
        chosen = [known[name] for name in wanted or sorted(known)]
        if not chosen:
            raise NotFoundError(f"the store has no corpora: {_NO_CORPORA}")
        counted = chosen if met is not None else _counted_corpora(chosen, min_order)
        left_out = tuple(corpus.name for corpus in chosen if corpus not in counted)
        # A statement without a condition is faster than one with a condition that all rows meet.
        everything = not left_out and (not wanted or (subcorpora and len(wanted) == len(known)))
        # If one corpus kept its case, folded words would miss its capitals.
        lowercase = all(corpus.lowercase for corpus in counted)
        return cls(
            names=() if everything else tuple(corpus.name for corpus in counted),
            lowercase=lowercase,
            left_out=left_out,
            ignore_case=ignore_case and not lowercase,
            condition=met,
        )

    def _conditions(self, bindings: Bindings, alias: str, sentence: str) -> list[str]:
        row = f"{alias}." if alias else ""
        conditions = self.of_corpora(bindings, f"{row}corpus_id")
        if self.condition is not None:
            conditions.append(f"{row}{sentence} in ({self.condition.sentences(bindings)})")
        return conditions

    def of_corpora(self, bindings: Bindings, column: str = "corpus_id") -> list[str]:
        """Return the condition of the selection on a column with ids of corpora."""
        if not self.names:
            return []
        names = bindings.bind("corpora", list(self.names))
        return [f"{column} in (select id from corpus where name in {names})"]

    def of_segments(self, bindings: Bindings) -> list[str]:
        """Return the condition on rows with ``segment_id``; segments exist for whole corpora only."""
        assert self.condition is None
        return [
            f"segment_id in (select id from segment where {inner})" for inner in self.of_corpora(bindings)
        ]

    def of_unigrams(self, bindings: Bindings) -> list[str]:
        """Return the conditions on rows of ``ngram_1`` that are words of whole corpora."""
        return [f"w1 not in ({BOS}, {EOS})", *self.of_segments(bindings)]

    def ngrams(self, order: int, bindings: Bindings) -> tuple[str, list[str]]:
        """Return the table of n-grams, or a query with its name, and the conditions on its rows."""
        if self.condition is None:
            return f"ngram_{order}", self.of_segments(bindings)
        return self.token_ngrams(order, bindings), []

    def token_ngrams(
        self,
        order: int,
        bindings: Bindings,
        *,
        column: str = "word_id",
        conditions: Sequence[str] = (),
        ends: tuple[int, int] | None = (BOS, EOS),
        documents: bool = False,
    ) -> str:
        """Return the query for the n-grams of the tokens, with a row for each occurrence.

        Args:
            order: tokens of an n-gram.
            bindings: bindings of the statement.
            column: column of `token` whose ids are in the n-grams.
            conditions: conditions on a row of `token`; a token that does not meet them is in no n-gram.
            ends: ids for the begin and the end of a sentence; None for n-grams without these.
            documents: whether rows have the id of their document.
        """
        names = [f"w{i}" for i in range(1, order + 1)]
        following = [f"lead(w1, {i}) over sentence_order as {name}" for i, name in enumerate(names)]
        chosen = where(self.of_sentences(bindings), " " * 8)
        return _NGRAMS.format(
            order=order,
            words=", ".join(names),
            document=", document_id" if documents else "",
            following=", ".join([*(["sentence_id"] if documents else []), "w1", *following[1:]]),
            value=f"case when {' and '.join(conditions)} then {column} end" if conditions else column,
            tokens=where(self.of_tokens(bindings), " " * 8),
            ends="" if ends is None else _ENDS.format(bos=ends[0], eos=ends[1], sentences=chosen),
            document_of=_DOCUMENT_OF if documents else "",
            complete=" and ".join(f"{name} is not null" for name in names),
        )

    def size(self, bindings: Bindings) -> str:
        """Return the query for the number of tokens of the selection."""
        if self.condition is None:
            return f"select sum(tokens) from segment{where(self.of_corpora(bindings), '    ')}"
        return f"select sum(length) from sentence{where(self.of_sentences(bindings), '    ')}"

    def trees(self, table: str, bindings: Bindings) -> tuple[str, list[str]]:
        """Return a table of `counting.COUNTED`, or a query with its name, and conditions on its rows."""
        if self.condition is None:
            return table, self.of_segments(bindings)
        chosen = " and ".join(self.of_tokens(bindings, "token"))
        return f"(\n{counting.counting_query(table, chosen)}\n  ) as {table}", []


def _counted_corpora(chosen: Sequence[_Corpus], order: int) -> Sequence[_Corpus]:
    counted = [corpus for corpus in chosen if corpus.max_order >= order]
    if not counted:
        highest = max(corpus.max_order for corpus in chosen)
        raise NotFoundError(
            f"no n-grams of order {order}: these corpora are counted up to {highest}; "
            f"ask for {quantity(highest, 'word')} at most, or count more with:"
            f" sentgen ingest PATH --corpus NAME --order {order}"
        )
    return counted


def _require_sentences(chosen: Sequence[_Corpus]) -> None:
    if bare := [corpus.name for corpus in chosen if corpus.counts_only]:
        which = "" if len(bare) == len(chosen) else f" of {', '.join(bare)}"
        raise NotFoundError(
            f"this lake holds counts, no sentences{which}; ask it for n-grams with: sentgen ngrams, or ask a"
            " store with the same texts"
        )


def _subcorpora(connection: Connection, names: Sequence[str], known: Collection[str]) -> list[Subcorpus]:
    """Return the subcorpora of some names, whose corpora must all be known."""
    if not names:
        return []
    there = {subcorpus.name: subcorpus for subcorpus in Subcorpus.all(connection)}
    unknown = [name for name in names if name not in there]
    if unknown:
        listing = ", ".join([*sorted(known), *there]) or _NO_CORPORA
        raise NotFoundError(f"no corpus {', '.join(map(repr, unknown))}; the store has: {listing}")
    for name in names:
        if gone := [corpus for corpus in there[name].corpora if corpus not in known]:
            raise NotFoundError(
                f"subcorpus {name!r} is of {', '.join(map(repr, gone))}, which the store has no more;"
                " define it again"
            )
    return [there[name] for name in names]


def _corpora(connection: Connection) -> list[_Corpus]:
    """Return all corpora, by name; they are looked up once if nobody can change the store."""
    known = connection_cache(connection)
    corpora: list[_Corpus] | None = known.get(_corpora)
    if corpora is None:
        corpora = known[_corpora] = [_Corpus(*row) for row in raw(connection).execute(_CORPORA).fetchall()]
    return corpora
