"""Ask a request: `match` is what `sentgen match`, the API and Python call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue as Named
from sentgen.lookups.absence import explained
from sentgen.lookups.attributes import NAMED, Test, Value
from sentgen.lookups.concordances.hit_places import hit_places, spread_statement
from sentgen.lookups.concordances.sorting import NONE, SortOption, line_order, read_order
from sentgen.lookups.concordances.surface import surface_of
from sentgen.lookups.grew.compiler import Compiler
from sentgen.lookups.grew.statements import GrewStatements
from sentgen.lookups.grew.syntax import FeatureRelation, GrewEdge, Node
from sentgen.lookups.keys import StoreKeys
from sentgen.lookups.paging import OffsetOption, behind, in_pages
from sentgen.lookups.question import MOST, ContextOption, Lookup
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, limited
from sentgen.options import Option
from sentgen.output.tabular import Rows

#: Sentences that are searched where the first hits are enough: at first a part of so many, which grows so.
SENTENCES, _FIRST = 100_000, 8
_LAST = "select coalesce(max(id), 0) from sentence"


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
        answer = limited(connection, search.keyed(self.limit), self.limit, self._missing)
        return _with_hints(connection, answer, search)

    def _counted(self, connection: Connection) -> Answer:
        search = self._search(connection)
        query = search.whole.count()
        total = int(query.value(connection))
        answer = Answer(Rows(("count",), [(total,)], ("BIGINT",)), query, self._missing, total=total)
        return _with_hints(connection, answer, search)

    def _hits(self, connection: Connection) -> Answer:
        search, surface = self._search(connection), surface_of(connection)
        limit, seed, order = self.limit, self.random, search.order
        lines = search.chosen(limit, seed).lines(limit, self.context, seed, surface, order)
        found = lines.fetch(connection, limit)
        total = found.num_rows
        if limit and total == limit:
            total = int(search.whole.count().value(connection))
        query = search.whole.lines(limit, self.context, seed, surface, order)
        more = total > found.num_rows
        answer = Answer(found, query, self._missing, truncated=more, total=total, remarks=order.remarks)
        return _with_hints(connection, answer, search)

    def places(self, connection: Connection, limit: int) -> Answer:
        """Return the documents with hits, and where these are (see `hit_places`); 0 is no limit."""
        search, bindings = self._search(connection), Bindings()
        source = search.statements(bindings).placed
        spread = spread_statement(source, bindings).run(connection)
        return hit_places(connection, source, bindings, [spread], limit, self._missing)

    @property
    def _missing(self) -> str:
        return f"match of {' '.join(self.request.split())!r}"

    def check(self, connection: Connection) -> None:
        """Refuse what `ask` would, without looking for hits."""
        search = self._search(connection)
        if self.key or self.whether:
            search.keyed(0)

    def sentences(self, connection: Connection) -> list[int]:
        """Return the numbers of the sentences of the hits, in the order of the corpus; none of counts."""
        if self.counted:
            return []
        limit = self.limit and self.offset + self.limit
        seed, search = self.random, self._search(connection)
        found = search.chosen(limit, seed).sentences(limit, seed, search.order).run(connection)
        return [int(number) for number in found["sentence_id"].to_pylist()[self.offset :]]

    def _search(self, connection: Connection) -> _Search:
        if self.count and (self.key or self.whether):
            raise InputError("a count alone has no keys; ask for one of the two")
        return _Search(connection, self.select(connection, sentences=True), self)


class _Search:
    """A request that is asked."""

    def __init__(self, connection: Connection, selection: Selection, asked: Match) -> None:
        # Its parser takes longer to import than other look-ups take, which need none.
        from sentgen.lookups.grew.reading import read_key, read_request, read_whether

        self.connection, self.selection = connection, selection
        self._whether = [(text, read_whether(text)) for text in asked.whether]
        self.request = read_request(asked.request)
        self._there = StoreKeys(connection, selection.names)
        self._keys = list(map(read_key, asked.key))
        self.whole = self.statements(Bindings())
        # Counts are sorted by their columns.
        sort = NONE if asked.counted else asked.sort
        self.order = line_order(self._there, read_order(sort), asked.context)

    def keyed(self, limit: int) -> Statement:
        """Return the statement that counts hits by the keys and conditions."""
        return self.whole.keyed(self._keys, self._whether, limit)

    def statements(self, bindings: Bindings, first: int = 0) -> GrewStatements:
        """Compile the request, for all sentences or the first ones."""
        compiler = Compiler(bindings, self.selection, self._there, first)
        source = compiler.source(self.request, self._keys, [condition for _, condition in self._whether])
        return GrewStatements(compiler, source, bindings)

    def chosen(self, limit: int, seed: int | None) -> GrewStatements:
        """Return the statements of the first sentences, as many as have the hits asked for."""
        size, last = max(SENTENCES // _FIRST, 1), int(Statement(_LAST).value(self.connection))
        while limit and seed is None and not self.order.keys and size < last:
            part = self.statements(Bindings(), size)
            if int(part.count(limit).value(self.connection)) == limit:
                return part
            size *= _FIRST
        return self.whole


def _with_hints(connection: Connection, answer: Answer, search: _Search) -> Answer:
    """Say of an answer that found nothing what of the pattern never occurs."""
    if not answer.nothing:
        return answer
    named: list[Named] = []
    for clause in search.request.clauses:
        if isinstance(clause, GrewEdge) and not (clause.label.negated or clause.label.enhanced):
            named += _named("deprel", "", clause.label.values)
        for every in clause.descriptions if isinstance(clause, Node) else ():
            for one in every:
                attribute = "word" if one.key == "form" else one.key
                if attribute in NAMED and one.relation is FeatureRelation.IS:
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
