"""Concordances: the places where a pattern occurs, with their context (KWIC)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import explained, values_of
from sentgen.lookups.patterns import TokenPattern, split_pattern, tag_query, token_pattern, word_query
from sentgen.lookups.queries import Answer, Bindings, Held, Query, Selection, select_corpora, where
from sentgen.lookups.surface import surface_of
from sentgen.lookups.surface_words import Shape, shapes_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Each token of a pattern is a join: DuckDB took seconds for ten thousand of them on an empty store.
MOST_TOKENS = 50
#: Sentences that are searched at once, and lines that are made of their hits at once: some ten megabytes.
SENTENCES = 500_000
LINES = 20_000


class Order(StrEnum):
    """How concordance lines are sorted."""

    NONE = "none"
    LEFT = "left"
    RIGHT = "right"


_COUNT = """\
select count(*) as hits
from {source}"""

#: What `{source}` is where words of the pattern may be surface words of several tokens.
_ANY_OF = """(
  {selects}
) as hit"""

_LINES = """\
with hit as materialized (
  select {sentence} as sentence_id, {first} as first, {last} as last{key}
  from {source}
  order by {order}{limit}
),
line as (
  select hit.sentence_id, hit.first, hit.last,{any_key}
    {columns}{words}
  from hit
  join token as c on c.sentence_id = hit.sentence_id
    and c.position between hit.first - $context and hit.last + $context
  join word on word.id = c.word_id{surface}{in_part}
  group by hit.sentence_id, hit.first, hit.last
)
select corpus.name as corpus, document.name as document,
  coalesce(sentence.sent_id, sentence.id::varchar) as sent_id,
  rtrim(coalesce("left", '')) as "left", rtrim(node) as node, rtrim(coalesce("right", '')) as "right"{keys}
from line
join sentence on sentence.id = line.sentence_id
join corpus on corpus.id = sentence.corpus_id
join document on document.id = sentence.document_id{of_part}
order by {sort}"""

#: The words beside the node, nearest first.
_BEFORE = ", list(lower(word.form) order by c.position desc) filter (where c.position < hit.first) as before"
_AFTER = ", list(lower(word.form) order by c.position) filter (where c.position > hit.last) as after"
_WORDS = {"before": _BEFORE, "after": _AFTER}

#: What lines are put in order by that were found range by range.
_KEYS = ",\n  line.sentence_id, first, last, chosen_by, {words}"
_SIZE = "select coalesce(max(id), 0) as sentences from sentence"
#: Columns of the answer; the keys come after them.
_COLUMNS = 6
_SORT = {
    Order.NONE: "line.sentence_id, first, last",
    Order.LEFT: "coalesce(before, []), line.sentence_id, first, last",
    Order.RIGHT: "coalesce(after, []), line.sentence_id, first, last",
}


def concordance(
    connection: Connection,
    pattern: str,
    *,
    context: int = 15,
    order: Order = Order.NONE,
    seed: int | None = None,
    corpora: Iterable[str] = (),
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return the places where a pattern of tokens occurs within a sentence, in the order of the corpus.

    The columns are ``corpus``, ``document``, ``sent_id`` (its number where the source gives no name),
    ``left``, ``node`` and ``right``. A word is found among the tokens, and among the surface words that
    cover several of them; the lines have the latter. The words are matched as numbers in one scan of
    `token`; only the sentences of the lines returned are read as text. Contexts end at the sentence. A large
    store is searched in ranges of sentences, which bounds memory; the statement of the answer is that for
    all of it.

    Args:
        connection: the store.
        pattern: one or more token patterns (see `sentgen.lookups.patterns`).
        context: words on each side at most.
        order: ``left`` sorts the lines returned by the words before the node, nearest first;
            ``right`` by those after it.
        seed: draw the lines at random instead of the first ones: the same for the same seed and store.
        corpora: their names; none for all.
        ignore_case: find words and lemmas in capital and small letters alike.
        limit: lines at most, 0 for all.

    Raises:
        InputError: the pattern is empty, longer than `MOST_TOKENS`, or all stars.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora, ignore_case=ignore_case)
    search = _search(connection, pattern, context, order, seed if limit else None, selection)
    missing = f"occurrence of {pattern!r}"
    lines = search.lines(limit)
    if limit and search.sentences <= SENTENCES:
        found = lines.fetch(connection, limit)
        if found.num_rows < limit:
            answer = Answer(found, lines, missing, total=found.num_rows)
            return explained(connection, answer, selection, values_of(search.tokens))
        total = search.hits(None)
    else:
        found, total = search.gathered(limit)
    answer = Answer(found, lines, missing, truncated=total > found.num_rows, total=total)
    return explained(connection, answer, selection, values_of(search.tokens))


def all_lines(
    connection: Connection,
    pattern: str,
    *,
    context: int = 15,
    corpora: Iterable[str] = (),
    ignore_case: bool = False,
) -> tuple[Query, Iterator[pa.Table]]:
    """Return the statement for all lines of a concordance, and the lines themselves, a part at a time.

    For answers that memory does not hold: as `concordance` without a limit, in the order of the corpus.
    """
    selection = select_corpora(connection, corpora, ignore_case=ignore_case)
    search = _search(connection, pattern, context, Order.NONE, None, selection)
    return search.lines(0), search.parts()


@dataclass(frozen=True, slots=True)
class _Range:
    """Sentences by number, both ends included."""

    low: int
    high: int

    def cut(self, size: int) -> Iterator[_Range]:
        """Yield ranges of that many sentences, the last one of fewer."""
        for low in range(self.low, self.high + 1, size):
            yield _Range(low, min(low + size - 1, self.high))


@dataclass(frozen=True, slots=True)
class _Search:
    """A concordance that is asked for, of the whole store or of a range of its sentences."""

    connection: Connection
    tokens: Sequence[TokenPattern]
    shapes: Sequence[Shape]
    selection: Selection
    context: int
    order: Order
    seed: int | None
    sentences: int

    def count(self, within: _Range | None = None) -> Query:
        """Return the statement that counts the hits."""
        bindings = Bindings()
        return Query(_COUNT.format(source=self.source(bindings, within).text), bindings)

    def source(self, bindings: Bindings, within: _Range | None) -> _Source:
        """Return where the hits are."""
        found = [_source(shape, self.selection, bindings, within) for shape in self.shapes]
        if len(found) == 1:
            return found[0]
        # A surface word of one token is found twice at its place, and meant once.
        selects = (
            f"select {one.sentence} as sentence_id, {one.first} as first, {one.last} as last from {one.text}"
            for one in found
        )
        text = _ANY_OF.format(selects="\n  union\n  ".join(selects))
        return _Source(text, "sentence_id", "first", "last")

    def hits(self, within: _Range | None) -> int:
        """Return how many there are."""
        return int(self.count(within).value(self.connection))

    def lines(self, limit: int, within: _Range | None = None) -> Query:
        """Return the statement for the lines; of a range with the keys that put them in order."""
        bindings, surface = Bindings(context=self.context), surface_of(self.connection)
        found = self.source(bindings, within)
        key, chosen = "null", f"{found.sentence}, {found.first}{', last' if len(self.shapes) > 1 else ''}"
        if self.seed is not None:
            # A hash of the place: the same lines for a seed, however the store is searched.
            key = f"md5(concat_ws(':', {bindings.bind('seed', self.seed)}, {found.sentence}, {found.first}))"
            chosen = f"{key}, {chosen}"
        beside = {Order.LEFT: "before", Order.RIGHT: "after"}.get(self.order)
        part = f"between {within.low} and {within.high}" if within else ""
        text = _LINES.format(
            sentence=found.sentence,
            first=found.first,
            last=found.last,
            key=f", {key} as chosen_by" if within else "",
            any_key=" any_value(hit.chosen_by) as chosen_by," if within else "",
            keys=_KEYS.format(words=f"coalesce({beside}, []) as words" if beside else "null as words")
            if within
            else "",
            words=_WORDS[beside] if beside else "",
            columns=surface.columns("hit.first", "hit.last", "hit.first - $context"),
            surface=surface.join,
            in_part=f"\n  where c.sentence_id {part}" if part else "",
            of_part=f"\nwhere sentence.id {part}" if part else "",
            source=found.text,
            order=chosen,
            limit=f"\n  limit {bindings.bind('limit', limit)}" if limit else "",
            sort=_SORT[self.order],
        )
        return Query(text, bindings)

    def parts(self) -> Iterator[pa.Table]:
        """Yield all lines, in parts that memory holds; the first one may be empty."""
        # No sentence has the number 0: this gives the columns where there are no lines.
        yield self.lines(1, _Range(0, 0)).run(self.connection).select(range(_COLUMNS))
        for within in _Range(1, self.sentences).cut(SENTENCES):
            for smaller in _with_few(within, self.hits(within)):
                yield self.lines(0, smaller).run(self.connection).select(range(_COLUMNS))

    def gathered(self, limit: int) -> tuple[pa.Table, int]:
        """Return at most ``limit`` lines (0: all) and the number of hits, range by range."""
        found, total = _Found(self, limit), 0
        for within in _Range(1, self.sentences).cut(SENTENCES):
            hits = self.hits(within)
            total += hits
            # No more lines than asked for come from one range, whatever it holds.
            for smaller in _with_few(within, min(hits, limit) if limit else hits) if hits else ():
                if not found.wants_more:
                    break
                found.add(self.lines(limit, smaller).run(self.connection))
        return found.table(), total


def _with_few(within: _Range, hits: int) -> Iterator[_Range]:
    """Cut a range so that its parts have `LINES` hits, if they are spread evenly."""
    parts = -(-hits // LINES)
    return within.cut(-(-(within.high - within.low + 1) // parts)) if parts else iter(())


class _Found:
    """The lines found so far: the first ones, or those whose keys are lowest if they are drawn at random."""

    def __init__(self, search: _Search, limit: int) -> None:
        self._search, self._limit = search, limit
        self._held = Held(search.connection)
        self._tables = [search.lines(1, _Range(0, 0)).run(search.connection)]

    @property
    def wants_more(self) -> bool:
        """Whether lines of later sentences could still be among them."""
        # Drawn at random, a later line may have a lower key.
        if not self._limit or self._search.seed is not None:
            return True
        return bool(sum(table.num_rows for table in self._tables) < self._limit)

    def add(self, lines: pa.Table) -> None:
        """Take lines of later sentences."""
        import pyarrow as pa

        self._tables.append(lines)
        if self._limit and self._search.seed is not None:
            rows = pa.concat_tables(self._tables)
            by = [(name, "ascending") for name in ("chosen_by", "sentence_id", "first", "last")]
            self._tables = [rows.sort_by(by).slice(0, self._limit).combine_chunks()]
        self._held.check(self._tables)

    def table(self) -> pa.Table:
        """Return the lines in the order asked for."""
        import pyarrow as pa

        rows = pa.concat_tables(self._tables)
        if self._limit:
            rows = rows.slice(0, self._limit)
        order = self._search.order
        places: list[tuple[Any, ...]] = list(
            zip(
                *(rows[name].to_pylist() for name in ("sentence_id", "first", "last")),
                range(rows.num_rows),
                strict=True,
            )
        )
        if order is not Order.NONE:
            words = rows["words"].to_pylist()
            places = [(words[place[-1]], *place) for place in places]
        return rows.take(pa.array([place[-1] for place in sorted(places)], pa.int64())).select(
            range(_COLUMNS)
        )


def _search(
    connection: Connection,
    pattern: str,
    context: int,
    order: Order,
    seed: int | None,
    selection: Selection,
) -> _Search:
    tokens = read_pattern(connection, pattern, selection)
    sentences = int(Query(_SIZE).value(connection))
    shapes = shapes_of(connection, tokens)
    return _Search(connection, tokens, shapes, selection, context, order, seed, sentences)


def read_pattern(connection: Connection, pattern: str, selection: Selection) -> list[TokenPattern]:
    """Read a pattern of tokens.

    Raises:
        InputError: it is empty or too long, names an attribute that there is not, or every token matches it.
    """

    def is_tag(text: str) -> bool:
        return tag_query(text).value(connection) is not None

    def is_word(text: str) -> bool:
        return word_query(text, selection).value(connection) is not None

    words = split_pattern(pattern, most=MOST_TOKENS)
    tokens = [token_pattern(text, selection, is_tag, is_word) for text in words]
    if all(token.free for token in tokens):
        raise InputError("a pattern of stars alone matches everywhere; give at least one word, tag or lemma")
    return tokens


@dataclass(frozen=True, slots=True)
class _Source:
    """Where hits are: what follows ``from``, and what yields sentence, first and last token."""

    text: str
    sentence: str
    first: str
    last: str


def _source(shape: Shape, selection: Selection, bindings: Bindings, within: _Range | None) -> _Source:
    """Return where the hits of one shape of the pattern are."""
    # Stars are no joins: they only ask for room in the sentence.
    fixed = [part for part in shape if not part.token.free]
    base, offset = fixed[0].alias, fixed[0].offset
    position, size = f"{base}.{fixed[0].column}", shape[-1].offset + shape[-1].size
    joins = [f"{fixed[0].table} as {base}"]
    conditions = fixed[0].conditions(bindings) + selection.of_tokens(bindings, f"{base}.corpus_id")
    if within is not None:  # said of every table, so that each of them is read in that range only
        low, high = bindings.bind("low", within.low), bindings.bind("high", within.high)
        conditions += [f"{part.alias}.sentence_id between {low} and {high}" for part in fixed]
    for part in fixed[1:]:
        alias = part.alias
        on = f"{alias}.sentence_id = {base}.sentence_id and {alias}.{part.column} = {position} + "
        joins.append(f"  join {part.table} as {alias} on {on}{part.offset - offset}")
        conditions += part.conditions(bindings)
    # Room for the stars before the first word.
    if offset:
        conditions.append(f"{position} > {offset}")
    if fixed[-1] is not shape[-1]:
        joins.append(f"  join sentence as s on s.id = {base}.sentence_id")
        conditions.append(f"{position} + {size - 1 - offset} <= s.length")
    first = f"{position} - {offset}" if offset else position
    last = f"{position} + {size - 1 - offset}" if size - 1 - offset else position
    return _Source("\n".join(joins) + where(conditions, "  "), f"{base}.sentence_id", first, last)
