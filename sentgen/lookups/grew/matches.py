"""Ask a request: `match` is what `sentgen match`, the API and Python call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue as Named
from sentgen.lookups.absence import explained
from sentgen.lookups.attributes import Test, Value
from sentgen.lookups.concordances.hit_places import hit_places, spread_statement
from sentgen.lookups.concordances.hits import HitSource
from sentgen.lookups.concordances.places import SentenceRange, sentences_of
from sentgen.lookups.concordances.sorting import NONE, SortOption, line_order, read_order
from sentgen.lookups.concordances.surface import surface_of
from sentgen.lookups.grew.asked_keys import check_request, read_keys
from sentgen.lookups.grew.compiler import Compiler
from sentgen.lookups.grew.features import TOKEN_KEYS
from sentgen.lookups.grew.statements import GrewStatements
from sentgen.lookups.grew.syntax import (
    Clause,
    FeatureCondition,
    FeatureRelation,
    Filter,
    GrewComparison,
    GrewEdge,
    GrewRequest,
    Node,
)
from sentgen.lookups.keys import StoreKeys
from sentgen.lookups.paging import OffsetOption, behind, in_pages
from sentgen.lookups.question import MOST, ContextOption, Lookup
from sentgen.lookups.regular import fault
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, gathered, limited
from sentgen.options import Option
from sentgen.output.tabular import Rows

#: Sentences that are searched at once, and what part of them the first time, where the first hits are enough.
SENTENCES = 100_000
_FIRST = 8
_GATHERED = Statement("select count(*) from gathered")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Lookup):
    """The places where a Grew request matches the trees."""

    request: Annotated[
        str,
        Option("The request, such as `pattern { V [upos=VERB]; V -[obj]-> O }`.", argument=True),
    ] = ""
    key: Annotated[
        list[str],
        Option(
            "What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`.",
            shell="What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`;"
            " may be repeated.",
            metavar="KEY",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    whether: Annotated[
        list[str],
        Option(
            "Conditions to count hits by, yes or no: `S [upos=PRON]`.",
            shell="Condition to count hits by, yes or no: `S [upos=PRON]`; may be repeated.",
            metavar="CLAUSES",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    count: Annotated[bool, Option("Only the number of hits.")] = False
    context: ContextOption = 15
    sort: SortOption = NONE
    random: Annotated[
        int | None,
        Option(
            "Seed: hits drawn at random, not the first ones.",
            shell="Hits drawn at random, not the first ones.",
            metavar="SEED",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None
    offset: OffsetOption = 0

    def __post_init__(self) -> None:
        if self.count and self.sort != NONE:
            raise InputError("--sort puts lines and rows in order, and a count has none; leave it out")
        if self.offset and self.random is not None:
            raise InputError("--random draws the hits that are shown; ask without --offset")
        if not self.counted:
            read_order(self.sort)

    @property
    def counted(self) -> bool:
        """Whether hits are counted, so that there are no lines."""
        return bool(self.count or self.key or self.whether)

    def ask(self, connection: Connection) -> Answer:
        """Return the hits of a Grew request in context, or how many there are.

        The columns of hits are ``corpus``, ``document``, ``sent_id``, ``left``, ``node``, ``right``, where
        the node reaches from the first token to the last one of the hit, and ``nodes``
        (``V=fell@4 S=prices@3``, and the relations of edges with names).

        Counts are one row, or one for each of the values of keys. The columns are those of the keys and
        conditions, ``count``, and with them ``frequency``, the share in all hits; the most frequent come
        first. With metadata among the keys (but for ``text`` and ``sent_id``), ``per_million_in_part`` is the
        count per million tokens of the sentences that have the same metadata.

        Raises:
            InputError: the request does not parse, or names what it does not have.
            NotFoundError: no such corpus.
        """
        if self.key or self.whether:
            return self._by_keys(connection)
        return self._counted(connection) if self.count else behind(self, lambda one: one._hits(connection))

    @in_pages
    def _by_keys(self, connection: Connection) -> Answer:
        search = self._search(connection)
        with search.counted() as statements:
            answer = limited(connection, search.keyed(statements, self.limit), self.limit, self._missing)
        answer = replace(answer, query=search.keyed(search.whole, self.limit))
        return _with_hints(connection, answer, search)

    def _counted(self, connection: Connection) -> Answer:
        search = self._search(connection)
        total = search.count()
        found = Rows(("count",), [(total,)], ("BIGINT",))
        answer = Answer(found, search.whole.count(), self._missing, total=total)
        return _with_hints(connection, answer, search)

    def _hits(self, connection: Connection) -> Answer:
        search = self._search(connection)
        answer = _hits(search, self.limit, self.context, self.random, self._missing)
        return _with_hints(connection, answer, search)

    def places(self, connection: Connection, limit: int) -> Answer:
        """Return the documents with hits, and where these are (see `hit_places`); 0 is no limit."""
        search, bindings = self._search(connection), Bindings()
        source = search.placed(bindings)
        parts: Iterable[SentenceRange | None] = search.parts or [None]
        spread = (search.spread(within).run(connection) for within in parts)
        return hit_places(connection, source, bindings, spread, limit, self._missing)

    @property
    def _missing(self) -> str:
        return f"match of {' '.join(self.request.split())!r}"

    def check(self, connection: Connection) -> None:
        """Refuse what `ask` would, without looking for hits."""
        search = self._search(connection)
        if self.key or self.whether:
            search.keyed(search.whole, 0)

    def sentences(self, connection: Connection) -> list[int]:
        """Return the numbers of the sentences of the hits, in the order of the corpus; none of counts."""
        if self.counted:
            return []
        limit = self.limit and self.offset + self.limit
        seed, search = self.random, self._search(connection)
        with search.chosen(limit, seed) as statements:
            found = statements.sentences(limit, seed, search.order).run(connection)
        return [int(number) for number in found["sentence_id"].to_pylist()[self.offset :]]

    def _search(self, connection: Connection) -> _Search:
        if self.count and (self.key or self.whether):
            raise InputError("a count alone has no keys; ask for one of the two")
        return _Search(connection, self.select(connection, sentences=True), self)


class _Search:
    """A request that is asked, of the whole store or part by part."""

    def __init__(self, connection: Connection, selection: Selection, asked: Match) -> None:
        # Its parser takes longer to import than other look-ups take, which need none.
        from sentgen.lookups.grew.reading import read_key, read_request, read_whether

        self.connection, self.selection, self._sentences = connection, selection, sentences_of(connection)
        self._whether = [(text, read_whether(text)) for text in asked.whether]
        self.request = read_request(asked.request)
        self._there = StoreKeys(connection, selection.names)
        others = [condition for _, condition in self._whether]
        self.keys = read_keys(self._there, self.request, list(map(read_key, asked.key)))
        # What is wrong with its names is said first.
        self.whole = self.statements()
        check_request(self._there, self.request, others)
        for value in _values(self.request, others):
            _check_regex(connection, value)
        # Counts are sorted by their columns.
        sort = NONE if asked.counted else asked.sort
        self.order = line_order(self._there, read_order(sort), asked.context)

    def keyed(self, statements: GrewStatements, limit: int) -> Statement:
        """Return the statement that counts hits by the keys and conditions."""
        return statements.keyed(self.keys, self._whether, limit)

    def statements(
        self,
        within: SentenceRange | None = None,
        *,
        gathered: bool = False,
        bindings: Bindings | None = None,
    ) -> GrewStatements:
        """Compile the request, for all sentences or some of them."""
        bindings = Bindings() if bindings is None else bindings
        compiler = Compiler(bindings, self.selection, self._there, within)
        source = compiler.source(self.request, self.keys, [condition for _, condition in self._whether])
        return GrewStatements(compiler, source, bindings, gathered)

    def placed(self, bindings: Bindings, within: SentenceRange | None = None) -> HitSource:
        """Return where the hits come from in a statement with other bindings."""
        return self.statements(within, bindings=bindings).placed

    def spread(self, within: SentenceRange | None) -> Statement:
        """Return what counts the places of the hits in a part of the store."""
        bindings = Bindings()
        return spread_statement(self.placed(bindings, within), bindings)

    @property
    def parts(self) -> Iterable[SentenceRange] | None:
        """The parts of the store, if they are asked one after the other."""
        every = SentenceRange(1, self._sentences)
        return every.cut(SENTENCES) if self._sentences > SENTENCES else None

    def count(self) -> int:
        """Return the number of hits."""
        parts = [self.whole] if self.parts is None else map(self.statements, self.parts)
        return sum(int(part.count().value(self.connection)) for part in parts)

    @contextmanager
    def counted(self) -> Iterator[GrewStatements]:
        """Yield statements that know the counts by keys."""
        if self.parts is None:
            yield self.whole
            return
        parts = (self.statements(part).counts(self.keys, self._whether) for part in self.parts)
        with gathered(self.connection, "gathered", parts):
            yield self.statements(gathered=True)

    @contextmanager
    def chosen(self, limit: int, seed: int | None) -> Iterator[GrewStatements]:
        """Yield statements that know the hits asked for, of which the first ones end the search."""
        if self.parts is None:
            yield self.whole
            return
        with gathered(self.connection, "gathered", self._hits_by_part(limit, seed)):
            yield self.statements(gathered=True)

    def _hits_by_part(self, limit: int, seed: int | None) -> Iterator[Statement]:
        if self.order.keys and seed is None:  # which come first is known when all are
            limit = 0
        first_ones = bool(limit) and seed is None
        low, size = 1, max(SENTENCES // _FIRST, 1) if first_ones else SENTENCES
        while low <= self._sentences:
            yield self.statements(SentenceRange(low, min(low + size - 1, self._sentences))).hits(limit, seed)
            if first_ones and int(_GATHERED.value(self.connection)) >= limit:
                return
            low, size = low + size, min(2 * size, SENTENCES)


def _hits(search: _Search, limit: int, context: int, seed: int | None, missing: str) -> Answer:
    surface = surface_of(search.connection)
    with search.chosen(limit, seed) as statements:
        lines = statements.lines(limit, context, seed, surface, search.order)
        found = lines.fetch(search.connection, limit)
    total = found.num_rows
    if limit and total == limit:
        total = search.count()
    query = search.whole.lines(limit, context, seed, surface, search.order)
    more = total > found.num_rows
    return Answer(found, query, missing, truncated=more, total=total, remarks=search.order.remarks)


def _check_regex(connection: Connection, value: Value) -> None:
    for text in value.texts if value.regex else ():
        if wrong := fault(connection, text):
            raise InputError(f"{text!r} is no regular expression: {wrong}")


def _values(request: GrewRequest, others: Iterable[Filter]) -> Iterator[Value]:
    """Yield all values of a request, but for bounds of numbers."""
    yield from (one for one in _tests(request, others) if isinstance(one, Value))


def _tests(request: GrewRequest, others: Iterable[Filter]) -> Iterator[Test]:
    for clause in request.every_clause(others):
        if isinstance(clause, GrewEdge):
            yield from clause.label.values
        elif isinstance(clause, GrewComparison) and isinstance(clause.right, tuple):
            yield from clause.right
        for one in _features(clause):
            yield from one.values
    for one in request.metadata:
        yield from one.values


def _features(clause: Clause) -> Iterator[FeatureCondition]:
    if isinstance(clause, Node):
        yield from (one for every in clause.descriptions for one in every)
    elif isinstance(clause, GrewEdge):
        yield from clause.label.parts


def _with_hints(connection: Connection, answer: Answer, search: _Search) -> Answer:
    """Say of an answer that found nothing what of the pattern never occurs."""
    if not answer.nothing:
        return answer
    named: list[Named] = []
    for clause in search.request.clauses:
        if isinstance(clause, GrewEdge) and not (clause.label.negated or clause.label.enhanced):
            named += _named("deprel", "", clause.label.values)
        for one in _features(clause) if isinstance(clause, Node) else ():
            if one.key in TOKEN_KEYS and one.relation is FeatureRelation.IS:
                attribute = "word" if one.key == "form" else one.key
                named += _named(attribute, f"{one.key}=", one.values)
    trees = any(isinstance(one, GrewEdge) and not one.label.enhanced for one in search.request.clauses)
    return explained(connection, answer, search.selection, named, trees=trees, of_tokens=True)


def _named(attribute: str, prefix: str, values: Iterable[Test]) -> list[Named]:
    """Return what values name, as word patterns, in which a star would be any characters."""
    given = [(text, one.regex) for one in values if isinstance(one, Value) for text in one.texts]
    texts = [text for text, regex in given if not regex]
    escaped = [text.replace("\\", "\\\\").replace("*", "\\*") for text in texts]
    return [
        *(Named(attribute, text if text == "?" else text.replace("?", "\\?"), prefix) for text in escaped),
        *(Named(attribute, text, prefix, regex=True) for text, regex in given if regex),
    ]
