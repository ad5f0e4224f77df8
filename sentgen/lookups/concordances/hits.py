"""What a concordance, a frequency list or collocations are asked of: patterns of tokens, or CQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue, values_of
from sentgen.lookups.concordances import places
from sentgen.lookups.concordances.filters import FilterOption, HitFilter, WithinOption, read_filters
from sentgen.lookups.concordances.places import SentenceNumbers, SentenceRange, Walked
from sentgen.lookups.concordances.surface_words import Shape, shapes_of, tokens_alone
from sentgen.lookups.cql.dialects import (
    AS_USUAL,
    AcrossOption,
    Dialect,
    DialectOption,
    Reading,
    StrategyOption,
)
from sentgen.lookups.cql.search import Cql, CqlMatches, is_cql, parse_cql
from sentgen.lookups.cql.syntax import one_token
from sentgen.lookups.patterns import TokenPattern, split_pattern, tag_query, token_pattern, word_query
from sentgen.lookups.question import Lookup
from sentgen.lookups.reach import DOCUMENT, SENTENCE, Reach, running, starts_of, written
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, where
from sentgen.schema.engine import raw, registered

#: Where words of the pattern may be surface words of several tokens.
_ANY_OF = """(
  {selects}
) as hit"""

#: What tables are read from where hits reach over the ends of sentences.
_ACROSS = {
    "token": "running",
    "multiword": """(
    select w.*, p.start, p.before + w."first" as place
    from multiword as w
    join placed as p on p.id = w.sentence_id
  )""",
}
_WHOLE = "(select start, sum(length) as length from placed group by start)"

#: Each token of a pattern is a join: DuckDB took seconds for ten thousand of them on an empty store.
MOST_TOKENS = 50


@dataclass(frozen=True, slots=True)
class HitSource:
    """Where hits come from in a statement.

    Args:
        table: what follows ``from``.
        sentence: the number of the sentence.
        first: the position of the first token.
        last: the position of the last one.
        parts: common table expressions before it, each with a comma and a line feed behind it.
        varied: whether several hits may begin with the same token.
        reach: how far hits reach, and so what they are counted from.
    """

    table: str
    sentence: str
    first: str
    last: str
    parts: str = ""
    varied: bool = False
    reach: Reach = SENTENCE

    @property
    def beginning(self) -> str:
        """What a statement begins with that has a common table expression after these."""
        return f"with recursive {self.parts}" if self.parts else "with "

    @property
    def alone(self) -> str:
        """What a statement begins with that has no others."""
        return f"with recursive {self.parts.rstrip().rstrip(',')}\n" if self.parts else ""


class ReadPattern(Protocol):
    """A pattern that was read."""

    def at_once(self, sentences: int) -> bool:
        """Return whether one statement finds the hits in that many sentences, within bounded memory."""

    @property
    def most(self) -> int:
        """How many sentences are searched at once."""

    def parts(self, connection: Connection, sentences: int) -> Iterator[SentenceRange]:
        """Yield parts of that many sentences, each ready to be searched until the next one."""

    @property
    def values(self) -> Sequence[QuestionValue]:
        """What it names, to say what of it never occurs."""

    @property
    def one_token(self) -> bool:
        """Whether each hit is one token."""

    @property
    def across(self) -> bool:
        """Whether what is asked of hits reaches over the ends of sentences; some hits need not."""

    @property
    def reach(self) -> Reach:
        """How far hits reach."""

    def source(self, bindings: Bindings, within: SentenceRange | SentenceNumbers | None = None) -> HitSource:
        """Return where the hits come from."""


@dataclass(frozen=True, slots=True)
class TokenHits:
    """A sequence of token patterns (see `sentgen.lookups.patterns`).

    Args:
        tokens: the patterns.
        selection: the corpora.
        shapes: the ways in which they may be tokens and surface words; never none.
        across: whether hits reach over the ends of sentences.
    """

    tokens: Sequence[TokenPattern]
    selection: Selection
    shapes: Sequence[Shape]
    across: bool = False

    @property
    def reach(self) -> Reach:
        """How far hits reach."""
        return DOCUMENT if self.across and len(self.tokens) > 1 else SENTENCE

    @property
    def most(self) -> int:
        """As many sentences as usual."""
        return places.SENTENCES

    def at_once(self, sentences: int) -> bool:
        """Return whether there are no more than usual."""
        return sentences <= self.most

    def parts(self, connection: Connection, sentences: int) -> Iterator[SentenceRange]:
        """Yield ranges of as many as usual."""
        starts = starts_of(connection) if self.across else ()
        return SentenceRange(1, sentences, starts).cut(self.most)

    @property
    def values(self) -> Sequence[QuestionValue]:
        """What it names."""
        return values_of(self.tokens)

    @property
    def one_token(self) -> bool:
        """Whether each hit is one token."""
        return len(self.tokens) == 1

    def source(self, bindings: Bindings, within: SentenceRange | SentenceNumbers | None = None) -> HitSource:
        """Return where the hits come from."""
        found = [self._source(shape, bindings, within) for shape in self.shapes]
        if len(found) == 1:
            return found[0]
        # A surface word of one token is found twice at its place, and meant once.
        selects = (
            f"select {one.sentence} as sentence_id, {one.first} as first, {one.last} as last from {one.table}"
            for one in found
        )
        table = _ANY_OF.format(selects="\n  union\n  ".join(selects))
        return replace(found[0], table=table, sentence="sentence_id", first="first", last="last", varied=True)

    def _source(
        self, shape: Shape, bindings: Bindings, within: SentenceRange | SentenceNumbers | None
    ) -> HitSource:
        """Return where the hits of one shape come from."""
        across, sentence = self.reach is DOCUMENT, self.reach.sentence
        # Stars are no joins: they only ask for room in the sentence, or across for a token that is chosen.
        chosen = across and self.selection.condition is not None
        fixed = [part for part in shape if chosen or not part.token.free]
        tables = {part.alias: _ACROSS[part.table] if across else part.table for part in fixed}
        columns = {part.alias: self.reach.position if across else part.column for part in fixed}
        base, offset = fixed[0].alias, fixed[0].offset
        position, size = f"{base}.{columns[base]}", shape[-1].offset + shape[-1].size
        joins = [f"{tables[base]} as {base}"]
        conditions = fixed[0].conditions(bindings)
        for part in fixed if chosen else fixed[:1]:
            conditions += self.selection.of_tokens(bindings, part.alias)
        if within is not None:  # said of every table, so that each of them is read in that part only
            conditions += [f"{part.alias}.sentence_id {within.part}" for part in fixed]
        for part in fixed[1:]:
            alias = part.alias
            on = f"{alias}.{sentence} = {base}.{sentence} and {alias}.{columns[alias]} = {position} + "
            joins.append(f"  join {tables[alias]} as {alias} on {on}{part.offset - offset}")
            conditions += part.conditions(bindings)
        # Room for the stars before the first word.
        if offset:
            conditions.append(f"{position} > {offset}")
        if fixed[-1] is not shape[-1]:
            whole = f"{_WHOLE} as s on s.start" if across else "sentence as s on s.id"
            joins.append(f"  join {whole} = {base}.{sentence}")
            conditions.append(f"{position} + {size - 1 - offset} <= s.length")
        first = f"{position} - {offset}" if offset else position
        last = f"{position} + {size - 1 - offset}" if size - 1 - offset else position
        # Of all documents: those that have the words are known only when the hits are.
        range_of = [f"s.id {within.part}"] if within is not None else []
        parts = written(running(range_of)) if across else ""
        table = "\n".join(joins) + where(conditions, "  ")
        return HitSource(table, f"{base}.{sentence}", first, last, parts, reach=self.reach)


@dataclass(frozen=True, slots=True)
class CqlHits:
    """A query in CQL; ``across``: whether what is asked of its hits reaches over the ends of sentences."""

    cql: Cql
    across: bool = False

    @property
    def reach(self) -> Reach:
        """How far hits reach."""
        return self.cql.reach

    @property
    def most(self) -> int:
        """As many sentences as were planned."""
        return self.cql.sentences

    def at_once(self, sentences: int) -> bool:
        """Return whether there are as few as are searched at once, and nothing is walked before."""
        return sentences <= self.most and not self.cql.walked

    def parts(self, connection: Connection, sentences: int) -> Iterator[SentenceRange]:
        """Yield ranges of them, walked where there is much to walk along."""
        starts = starts_of(connection) if self.across else ()
        for within in SentenceRange(1, sentences, starts).cut(self.most):
            if not self.cql.walked:
                yield within
                continue
            bindings = Bindings(low=within.low, high=within.high)
            walks = self.cql.walks(bindings, "$low", "$high")
            with registered(
                raw(connection), **{name: walk.spans(connection) for name, walk in walks.items()}
            ):
                yield Walked(within.low, within.high, starts)

    @property
    def values(self) -> Sequence[QuestionValue]:
        """What it names."""
        return [QuestionValue(*one) for one in self.cql.values]

    @property
    def one_token(self) -> bool:
        """Whether each hit is one token."""
        return one_token(self.cql.pattern)

    def source(self, bindings: Bindings, within: SentenceRange | SentenceNumbers | None = None) -> HitSource:
        """Return where the hits come from."""
        found = self.found(bindings, within)
        parts, reach = found.parts, self.reach
        return HitSource(found.hits, "sentence_id", "first", "last", parts, varied=True, reach=reach)

    def found(self, bindings: Bindings, within: SentenceRange | SentenceNumbers | None = None) -> CqlMatches:
        """Return the hits, with the places of labels."""
        if not isinstance(within, SentenceRange):  # sentences are named for plain words alone
            return self.cql.find(bindings)
        low, high = bindings.bind("low", within.low), bindings.bind("high", within.high)
        return self.cql.find(bindings, low, high, walked=isinstance(within, Walked))


@dataclass(frozen=True, slots=True, kw_only=True)
class HitLookup(Lookup):
    """A question about the hits of a pattern or a query: how these are read."""

    LAST: ClassVar[tuple[str, ...]] = ("filter", "within", "strategy", "dialect", "across", *Lookup.LAST)

    filter: FilterOption = field(default_factory=list)
    within: WithinOption = field(default_factory=list)
    strategy: StrategyOption = None
    dialect: DialectOption = Dialect.SENTGEN
    across: AcrossOption = False

    def __post_init__(self) -> None:
        read_filters(self.filter, self.within)

    @property
    def filters(self) -> tuple[HitFilter, ...]:
        """What has to stand near the hits, or must not."""
        return read_filters(self.filter, self.within)

    @property
    def reading(self) -> Reading:
        """How a query is read."""
        return Reading(self.dialect, self.strategy, self.across)


def read_hits(
    connection: Connection,
    pattern: str,
    selection: Selection,
    *,
    cql: str | None = None,
    reading: Reading = AS_USUAL,
    surface: bool = False,
) -> ReadPattern:
    """Read a pattern, or a query in CQL; ``surface``: a word may be a surface word of several tokens.

    Raises:
        InputError: it cannot be read, or the pattern is one that matches everywhere.
    """
    if cql is None and (is_cql(pattern) or reading.dialect is not Dialect.SENTGEN):
        cql = pattern
    if cql is not None:
        return CqlHits(parse_cql(connection, cql, selection, reading), reading.reaches)
    tokens = read_pattern(connection, pattern, selection)
    shapes = shapes_of(connection, tokens) if surface else [tokens_alone(tokens)]
    return TokenHits(tokens, selection, shapes, reading.reaches)


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
