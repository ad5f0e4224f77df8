"""Find the tokens of a block that meet a condition of a query, on arrays of ids.

The ids of the strings that pass a test are looked up once for each question, and compared with the ids of
tokens. Attributes that are no column of `token` (MISC, surprisal, metadata, regions) are tested in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.lookups.base.attributes import COLUMNS, Test, TokenKey, Value
from sentgen.lookups.base.cache import ArrayCache, id_of
from sentgen.lookups.base.keys import MetadataKey
from sentgen.lookups.base.languages import Either, Every
from sentgen.lookups.base.statement import Bindings, where
from sentgen.lookups.base.tokens import NONE, UNSPACED, Block, Tokens
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.conditions import TokenConditions
from sentgen.lookups.search.number_sets import among
from sentgen.schema.engine import arrow_table, raw, register_arrow

#: A condition is computed for single tokens if they are fewer than the block divided by this.
_FEW = 4
#: Words up to which their tokens are looked up.
_MOST_WORDS = 5000
#: More tokens than any store has: the count of a condition that is not known.
UNKNOWN = 1 << 62

_RELATIONS: dict[str, Callable[[Longs, int], Bools]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "=": np.equal,
    "!=": np.not_equal,
}
_IDS = "select id from {table} where {matches}"
_SPOTS = """\
select spot.n
from spot
join token as t on t.sentence_id = spot.sentence_id and t.position = spot.position
join other on other.n = spot.n
join token as o on o.sentence_id = other.sentence_id and o.position = other.position
where {condition}"""
_OF_DOCUMENTS = """\
select document_id
from (select id as document_id, corpus_id from document) as meta
where {condition}"""


@dataclass(slots=True)
class Conditions:
    """Computes which tokens meet conditions, as `TokenConditions` writes them; ``tokens``: of the store."""

    written: TokenConditions
    tokens: int
    _block: Block | None = None
    _met: dict[syntax.Condition | None, Bools] = field(default_factory=dict)
    _found: dict[syntax.CqlComparison, Longs | None] = field(default_factory=dict)
    _documents: dict[syntax.CqlComparison, Longs] = field(default_factory=dict)
    _multiwords: dict[Value, tuple[Longs, Longs]] = field(default_factory=dict)
    _cache: ArrayCache = field(init=False)

    def __post_init__(self) -> None:
        self._cache = ArrayCache.of_store(self._connection)

    def hold(self, condition: syntax.Condition | None, block: Block, at: Longs | None = None) -> Bools:
        """Return which tokens of a block, all or those at some places, meet a condition."""
        match condition:
            case None:
                return np.ones(block.size if at is None else len(at), bool)
            case Every(parts) | Either(parts):
                held = self.hold(parts[0], block, at)
                for part in parts[1:]:
                    other = self.hold(part, block, at)
                    held = held & other if isinstance(condition, Every) else held | other
                return held
            case syntax.CqlComparison():
                return self._comparison_holds(condition, block, at)
            case syntax.NoSpace():
                unspaced = block.column(UNSPACED)
                no_space: Bools = (unspaced if at is None else unspaced[at]) == 1
                return no_space
        raise AssertionError(condition)  # labels are no conditions on tokens

    def met(self, condition: syntax.Condition | None, block: Block) -> Bools:
        """Return which tokens of a block meet a condition, cached for other patterns with this condition."""
        if self._block is not block:
            self._block, self._met = block, {}
        if condition not in self._met:
            self._met[condition] = self.hold(condition, block)
        return self._met[condition]

    def met_at(self, condition: syntax.Condition | None, block: Block, at: Longs) -> Bools:
        """Return which of some tokens meet a condition; all of the block are tested if that is less work."""
        known = self._block is block and condition in self._met
        names = (comparison.left.attribute for comparison in syntax.comparisons(condition))
        if (
            known
            or len(at) * _FEW > block.size
            or not all(isinstance(self.written.key(name), TokenKey) for name in names)
        ):
            return self.met(condition, block)[at]
        return self.hold(condition, block, at)

    def hold_of_labels(self, condition: syntax.Condition, block: Block, labels: Mapping[str, Longs]) -> Bools:
        """Return which matches meet a condition on their labels.

        Args:
            condition: the condition, whose terms have labels.
            labels: for each label, the place of its token in each match, `NONE` where it has no token.
        """
        held: Bools
        match condition:
            case syntax.LabelTest(name, negated=negated):
                held = (labels[name] == NONE) == negated
                return held
            case Every(parts) | Either(parts):
                each = [self.hold_of_labels(part, block, labels) for part in parts]
                held = (np.logical_and if isinstance(condition, Every) else np.logical_or).reduce(each)
                return held
        # A condition on a label without a token fails.
        bound = np.flatnonzero(
            np.logical_and.reduce([labels[term.label] != NONE for term in syntax.terms(condition)])
        )
        some = {name: at[bound] for name, at in labels.items()}
        held = np.zeros(len(labels["match"]), bool)
        if isinstance(condition, syntax.Measured):
            held[bound] = self._function_holds(condition, block, some)
        else:
            assert isinstance(condition, syntax.CqlComparison)
            right = condition.right if isinstance(condition.right, syntax.Term) else condition.left
            left, other = some[condition.left.label], some[right.label]
            held[bound] = self._comparison_holds(condition, block, left, other)
        return held

    def _function_holds(self, measured: syntax.Measured, block: Block, labels: Mapping[str, Longs]) -> Bools:
        if measured.function == "f":
            (term,) = measured.terms
            values = self._frequencies(COLUMNS[term.attribute][0], block, labels[term.label])
        else:
            first, second = (labels[term.label] for term in measured.terms)
            values = second - first
            if measured.function == "distabs":
                values = np.abs(values)
        met: Bools = _RELATIONS[measured.operator](values, measured.number)
        return met

    def _frequencies(self, column: str, block: Block, at: Longs) -> Longs:
        """Return for each token how often its value in a column occurs in the corpora."""
        codes, places_of = np.unique(block.column(column)[at], return_inverse=True)
        bindings = Bindings(codes=codes.tolist())
        conditions = [f"{column} in (select unnest($codes))", *self.written.selection.of_corpora(bindings)]
        text = f"select {column}, count(*) from token{where(conditions)} group by {column}"
        counts: dict[int, int] = dict(raw(self._connection).execute(text, dict(bindings)).fetchall())
        return np.array([counts.get(code, 0) for code in codes.tolist()], np.int64)[places_of]

    def count(self, condition: syntax.Condition | None) -> int:
        """Return a bound on the tokens that meet a condition, from its words, or `UNKNOWN`."""
        match condition:
            case Every(parts):
                return min(map(self.count, parts))
            case Either(parts):
                return min(sum(map(self.count, parts)), UNKNOWN)
            case syntax.CqlComparison():
                tokens = self._of_words(condition)
                return UNKNOWN if tokens is None else len(tokens)
        return UNKNOWN

    def occurrences(self, condition: syntax.Condition) -> Longs:
        """Return ascending numbers of tokens that include all that meet a condition with a known `count`."""
        match condition:
            case Every(parts):
                return self.occurrences(min(parts, key=self.count))
            case Either(parts):
                return np.unique(np.concatenate([self.occurrences(part) for part in parts]))
        assert isinstance(condition, syntax.CqlComparison)
        tokens = self._of_words(condition)
        assert tokens is not None
        return tokens

    def exact(self, condition: syntax.Condition | None) -> bool:
        """Return whether all `occurrences` of a condition meet it."""
        match condition:
            case Either(parts):
                return all(map(self.exact, parts))
        return isinstance(condition, syntax.CqlComparison)

    @property
    def _connection(self) -> Connection:
        return self.written.keys.connection

    def _of_words(self, comparison: syntax.CqlComparison) -> Longs | None:
        """Return the tokens for which a comparison holds, if it names words that are not too frequent."""
        name, value = comparison.left.attribute, comparison.right
        if isinstance(value, syntax.Term) or comparison.negated or value in self.written.empty:
            return None
        if name not in ("word", "form", "lemma"):
            return None
        if comparison not in self._found:
            key = self.written.key(name)
            assert isinstance(key, TokenKey)
            ids = self._numbers(key, self.written.selection.with_case(key, value))
            tokens: Longs | None = None if len(ids) else np.zeros(0, np.int64)
            if 0 < len(ids) <= _MOST_WORDS:
                attribute = "lemma" if name == "lemma" else "word"
                tokens = Tokens(self._connection).occurrences(attribute, ids)
            self._found[comparison] = tokens
        return self._found[comparison]

    def multiwords(self, form: Value) -> tuple[Longs, Longs]:
        """Return the numbers of the first and the last token of all multiword tokens of a form."""
        if form not in self._multiwords:
            bindings = Bindings()
            test = self.written.selection.with_case(self.written.key("word"), form)
            matches = test.condition("m.form", bindings)
            self._multiwords[form] = Tokens(self._connection).multiwords(matches, bindings)
        return self._multiwords[form]

    def _comparison_holds(
        self, comparison: syntax.CqlComparison, block: Block, at: Longs | None, other: Longs | None = None
    ) -> Bools:
        """Return for which tokens a comparison holds; ``other``: tokens of the right side, if different."""
        if isinstance(comparison.right, syntax.Term):
            met = self._attributes_agree(comparison, block, at, at if other is None else other)
        elif isinstance(key := self.written.key(comparison.left.attribute), TokenKey):
            value = comparison.right
            met = self._has(key, self.written.selection.with_case(key, value), block, at)
            if value in self.written.empty:
                # The value of a token without the attribute is the empty string.
                met |= ~self._has(key, None, block, at)
        else:
            met = self._query_store(comparison, block, at)
        return ~met if comparison.negated else met

    def _has(self, key: TokenKey, value: Test | None, block: Block, at: Longs | None) -> Bools:
        each = list[Bools]()
        for column in key.columns:
            values = block.column(column)
            if at is not None:
                values = values[at]
            there = value is None and not key.feature
            each.append(values != NONE if there else among(values, self._numbers(key, value)))
        met: Bools = np.logical_or.reduce(each)
        return met

    def _numbers(self, key: TokenKey, value: Test | None) -> Ints:
        """Return the ids of the strings of an attribute that pass a test, ascending."""
        key_of_ids = ("numbers", key.table, key.feature, value)
        ids: Ints | None = self._cache.find(key_of_ids)
        if ids is None:
            if isinstance(value, Value) and value.is_one_string and not key.feature:
                number = id_of(self._connection, key.table, value.texts[0])
                numbers = [] if number is None else [number]
            else:
                bindings = Bindings()
                query = _IDS.format(table=key.table, matches=key.matches(value, bindings))
                rows = raw(self._connection).execute(query, dict(bindings)).fetchall()
                numbers = [number for (number,) in rows]
            ids = self._cache.add(key_of_ids, np.sort(np.array(numbers, np.int32)))
        return ids

    def _attributes_agree(
        self, comparison: syntax.CqlComparison, block: Block, at: Longs | None, other: Longs | None
    ) -> Bools:
        assert isinstance(comparison.right, syntax.Term)
        terms = comparison.left, comparison.right
        left, right = (self.written.key(term.attribute) for term in terms)
        both = left.shared_columns(right)
        if both is None or comparison.operator != "=" or self.written.selection.ignore_case:
            return self._query_store(comparison, block, at, other)
        first, second = map(block.column, both)
        met: Bools = (first if at is None else first[at]) == (second if other is None else second[other])
        return met

    def _query_store(
        self, comparison: syntax.CqlComparison, block: Block, at: Longs | None, other: Longs | None = None
    ) -> Bools:
        key = self.written.key(comparison.left.attribute)
        of_documents = isinstance(key, MetadataKey) and key.one_a_document
        if of_documents and at is not None and not isinstance(comparison.right, syntax.Term):
            documents = block.sentences()[3][block.sentence_of(at)]
            among_those: Bools = np.isin(documents, self._documents_of(comparison))
            return among_those
        duck, bindings = raw(self._connection), Bindings()
        condition = self.written.comparison(replace(comparison, negated=False), "t", "o", bindings)
        places = np.arange(block.size) if at is None else at
        tables = {"spot": block.spots(places), "other": block.spots(places if other is None else other)}
        with register_arrow(duck, **tables):
            rows = arrow_table(duck, _SPOTS.format(condition=condition), dict(bindings))
        met = np.zeros(len(places), bool)
        met[rows.column(0).to_numpy()] = True
        return met

    def _documents_of(self, comparison: syntax.CqlComparison) -> Longs:
        positive = replace(comparison, negated=False)
        if positive not in self._documents:
            bindings = Bindings()
            condition = self.written.of_document(positive, "meta", bindings)
            text = _OF_DOCUMENTS.format(condition=condition)
            ids = arrow_table(raw(self._connection), text, dict(bindings)).column(0)
            self._documents[positive] = ids.to_numpy()
        return self._documents[positive]
