"""Ask a request: `match` is what `sentgen match`, the API and Python call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue as Named
from sentgen.lookups.absence import explained
from sentgen.lookups.attributes import Value
from sentgen.lookups.concordances.places import SentenceRange, sentences_of
from sentgen.lookups.concordances.surface import surface_of
from sentgen.lookups.grew.asked_keys import check_request, read_keys
from sentgen.lookups.grew.compiler import Compiler
from sentgen.lookups.grew.features import TOKEN_KEYS
from sentgen.lookups.grew.reading import read_key, read_request, read_whether
from sentgen.lookups.grew.statements import GrewStatements
from sentgen.lookups.grew.syntax import (
    Clause,
    CountKey,
    FeatureCondition,
    FeatureRelation,
    Filter,
    GrewComparison,
    GrewEdge,
    GrewRequest,
    Node,
)
from sentgen.lookups.keys import StoreKeys
from sentgen.lookups.regular import fault
from sentgen.lookups.selection import Selection, select_corpora
from sentgen.lookups.statement import Answer, Bindings, Statement, gathered, limited
from sentgen.output.tabular import Rows

#: Sentences that are searched at once, and what part of them the first time, where the first hits are enough.
SENTENCES = 100_000
_FIRST = 8
_GATHERED = Statement("select count(*) from gathered")


def match(
    connection: Connection,
    request: str,
    *,
    context: int = 15,
    seed: int | None = None,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return the hits of a Grew request in context, in the order of the corpus.

    The columns are ``corpus``, ``document``, ``sent_id``, ``left``, ``node``, ``right``, where the node
    reaches from the first token to the last one of the hit, and ``nodes`` (``V=fell@4 S=prices@3``, and the
    relations of edges with names).

    Args:
        connection: the store.
        request: the request, as https://grew.fr/doc/request/ describes it.
        context: words on each side at most.
        seed: draw the hits at random instead of the first ones: the same for the same seed and store.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: compare forms and lemmas in capital and small letters alike.
        limit: hits at most, 0 for all.

    Raises:
        InputError: the request does not parse, or names what it does not have.
        NotFoundError: no such corpus.
    """
    selection = _selected(connection, corpora, condition, ignore_case)
    search = _Search.of(connection, request, selection)
    answer = _hits(search, limit, context, seed, _missing(request))
    return _with_hints(connection, answer, selection, search.request)


def count_matches(
    connection: Connection,
    request: str,
    *,
    keys: Sequence[str] = (),
    whether: Sequence[str] = (),
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return how many hits a Grew request has: one row, or one for each of the values of keys.

    The columns are those of the keys and conditions, ``count``, and with them ``frequency``, the share in
    all hits; the most frequent come first. With metadata among the keys (but for ``text`` and ``sent_id``),
    ``per_million_in_part`` is the count per million tokens of the sentences that have the same metadata.

    Args:
        connection: the store.
        request: the request.
        keys: what to count hits by: ``V.lemma``, ``e.label``, ``S#V#O``, ``delta(V,S)``, ``meta.genre``.
        whether: conditions to count hits by: ``S [upos=PRON]``.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: compare forms and lemmas in capital and small letters alike.
        limit: rows at most, 0 for all.

    Raises:
        InputError: something does not parse, or names what the request does not have.
        NotFoundError: no such corpus.
    """
    selection = _selected(connection, corpora, condition, ignore_case)
    search = _Search.of(connection, request, selection, keys, whether)
    if not (keys or whether):
        total = search.count()
        found = Rows(("count",), [(total,)], ("BIGINT",))
        answer = Answer(found, search.statements().count(), _missing(request), total=total)
    else:
        with search.counted() as statements:
            answer = limited(connection, search.keyed(statements, limit), limit, _missing(request))
            answer = replace(answer, query=search.keyed(search.statements(), limit))
    return _with_hints(connection, answer, selection, search.request)


def check_match(
    connection: Connection,
    request: str,
    *,
    keys: Sequence[str] = (),
    whether: Sequence[str] = (),
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
) -> None:
    """Refuse what `match` and `count_matches` would refuse, without looking for hits."""
    selection = _selected(connection, corpora, condition, ignore_case)
    search = _Search.of(connection, request, selection, keys, whether)
    if keys or whether:
        search.keyed(search.statements(), 0)


def _selected(
    connection: Connection, corpora: Iterable[str], condition: str | None, ignore_case: bool
) -> Selection:
    """Return the corpora of a request, which always asks for their sentences."""
    return select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case, sentences=True)


def _missing(request: str) -> str:
    return f"match of {' '.join(request.split())!r}"


def matched_sentences(
    connection: Connection,
    request: str,
    *,
    seed: int | None = None,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> list[int]:
    """Return the numbers of the sentences of the hits that `match` returns, in the order of the corpus."""
    selection = _selected(connection, corpora, condition, ignore_case)
    with _Search.of(connection, request, selection).chosen(limit, seed) as statements:
        found = statements.sentences(limit, seed).run(connection)
    return [int(number) for number in found["sentence_id"].to_pylist()]


class _Search:
    """A request that is asked, of the whole store or part by part."""

    def __init__(
        self,
        connection: Connection,
        request: GrewRequest,
        selection: Selection,
        keys: Sequence[CountKey] = (),
        whether: Sequence[tuple[str, Filter]] = (),
    ) -> None:
        self.connection, self._sentences = connection, sentences_of(connection)
        self.request, self._selection, self._whether = request, selection, whether
        self._there, others = StoreKeys(connection), [condition for _, condition in whether]
        self.keys = read_keys(self._there, request, keys)
        # What is wrong with its names is said first.
        self.statements()
        check_request(self._there, request, others)
        for value in _values(request, others):
            _check_regex(connection, value)

    @classmethod
    def of(
        cls,
        connection: Connection,
        request: str,
        selection: Selection,
        keys: Sequence[str] = (),
        whether: Sequence[str] = (),
    ) -> _Search:
        """Read a request, and what its hits are counted by."""
        conditions = [(text, read_whether(text)) for text in whether]
        return cls(connection, read_request(request), selection, list(map(read_key, keys)), conditions)

    def keyed(self, statements: GrewStatements, limit: int) -> Statement:
        """Return the statement that counts hits by the keys and conditions."""
        return statements.keyed(self.keys, self._whether, limit)

    def statements(self, within: SentenceRange | None = None, *, gathered: bool = False) -> GrewStatements:
        """Compile the request, for all sentences or some of them."""
        bindings = Bindings()
        compiler = Compiler(bindings, self._selection, self._there, within)
        source = compiler.source(self.request, self.keys, [condition for _, condition in self._whether])
        return GrewStatements(compiler, source, bindings, gathered)

    def count(self) -> int:
        """Return the number of hits."""
        parts = [None] if self._at_once else SentenceRange(1, self._sentences).cut(SENTENCES)
        return sum(int(self.statements(part).count().value(self.connection)) for part in parts)

    @contextmanager
    def counted(self) -> Iterator[GrewStatements]:
        """Yield statements that know the counts by keys."""
        if self._at_once:
            yield self.statements()
            return
        parts = (
            self.statements(part).counts(self.keys, self._whether)
            for part in SentenceRange(1, self._sentences).cut(SENTENCES)
        )
        with gathered(self.connection, "gathered", parts):
            yield self.statements(gathered=True)

    @contextmanager
    def chosen(self, limit: int, seed: int | None) -> Iterator[GrewStatements]:
        """Yield statements that know the hits asked for, of which the first ones end the search."""
        if self._at_once:
            yield self.statements()
            return
        with gathered(self.connection, "gathered", self._parts(limit, seed)):
            yield self.statements(gathered=True)

    def _parts(self, limit: int, seed: int | None) -> Iterator[Statement]:
        first_ones = bool(limit) and seed is None
        low, size = 1, max(SENTENCES // _FIRST, 1) if first_ones else SENTENCES
        while low <= self._sentences:
            yield self.statements(SentenceRange(low, min(low + size - 1, self._sentences))).hits(limit, seed)
            if first_ones and int(_GATHERED.value(self.connection)) >= limit:
                return
            low, size = low + size, min(2 * size, SENTENCES)

    @property
    def _at_once(self) -> bool:
        return self._sentences <= SENTENCES


def _hits(search: _Search, limit: int, context: int, seed: int | None, missing: str) -> Answer:
    surface = surface_of(search.connection)
    with search.chosen(limit, seed) as statements:
        found = statements.lines(limit, context, seed, surface).fetch(search.connection, limit)
    total = found.num_rows
    if limit and total == limit:
        total = search.count()
    query = search.statements().lines(limit, context, seed, surface)
    return Answer(found, query, missing, truncated=total > found.num_rows, total=total)


def _check_regex(connection: Connection, value: Value) -> None:
    for text in value.texts if value.regex else ():
        if wrong := fault(connection, text):
            raise InputError(f"{text!r} is no regular expression: {wrong}")


def _values(request: GrewRequest, others: Iterable[Filter]) -> Iterator[Value]:
    """Yield all values of a request."""
    blocks = [request.clauses, *(one.clauses for one in (*request.filters, *others))]
    for clause in (clause for block in blocks for clause in block):
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


def _with_hints(connection: Connection, answer: Answer, selection: Selection, request: GrewRequest) -> Answer:
    """Say of an answer that found nothing what of the pattern never occurs."""
    if not answer.nothing:
        return answer
    named: list[Named] = []
    for clause in request.clauses:
        if isinstance(clause, GrewEdge) and not (clause.label.negated or clause.label.enhanced):
            named += _named("deprel", "", clause.label.values)
        for one in _features(clause) if isinstance(clause, Node) else ():
            if one.key in TOKEN_KEYS and one.relation is FeatureRelation.IS:
                attribute = "word" if one.key == "form" else one.key
                named += _named(attribute, f"{one.key}=", one.values)
    return explained(connection, answer, selection, named)


def _named(attribute: str, prefix: str, values: Iterable[Value]) -> list[Named]:
    """Return what values name, as word patterns, in which a star would be any characters."""
    texts = [text for value in values if not value.regex for text in value.texts]
    escaped = [text.replace("\\", "\\\\").replace("*", "\\*") for text in texts]
    return [Named(attribute, text if text == "?" else text.replace("?", "\\?"), prefix) for text in escaped]
