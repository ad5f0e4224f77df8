"""Words as they are written: one word of a text may be several tokens.

French *du* is the multiword token of *de* and *le*, and *don't* the tokens *do* and *n't* with no space
between them. Where a pattern asks for a word, it finds what else is written so: a multiword token of that
form, and tokens with no space between them whose forms, one after the other, are the word. What a wildcard or
a regular expression asks for is a token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlalchemy import Connection

from sentgen.lookups.attributes import Value
from sentgen.lookups.concordances.surface import surface_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.tokens import no_space
from sentgen.lookups.languages import Every
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, where
from sentgen.schema.engine import kept, raw

#: Letters of a word that is looked for in pieces, pieces of it, ways to cut it, and steps to find these.
_MOST_LETTERS, _MOST_PIECES, _MOST_WAYS, _MOST_STEPS = 100, 8, 16, 1000

_UNSPACED = "select 1 from token where space_after = false limit 1"
_PIECES = """\
with asked as (
  select unnest($texts) as text, unnest(range(len($texts))) as number
)
select number, word.id
from asked
join word on {of_word} = {of_text}"""
_MULTIWORDS = """
union all
select distinct number, -1 - number
from asked
join multiword as m on {of_multiword} = {of_text}"""
#: Of which two pieces the first one stands before the other, with no space between them.
_JOINED = """\
with unit as not materialized (
  select t.sentence_id, t.position as first, t.position as last, t.word_id as id,
    {no_space} as joined
  from token as t
  where word_id in ({words})
  union all
  select m.sentence_id, m."first", m."last", -1 - asked.number, t.space_after = false
  from (select unnest($texts) as text, unnest(range(len($texts))) as number) as asked
  join multiword as m on {of_multiword} = {of_text}
  join token as t on t.sentence_id = m.sentence_id and t.position = m."last"
)
select distinct one.id, other.id
from unit as one
join unit as other on other.sentence_id = one.sentence_id and other.first = one.last + 1
where one.joined"""
#: The tokens that multiword tokens of a form are most often.
_TOKENS = """\
select tokens
from (
  select string_agg(word.form, ' ' order by t.position) as tokens
  from multiword as m
  join token as t on t.sentence_id = m.sentence_id and t.position between m."first" and m."last"
  join word on word.id = t.word_id{conditions}
  group by m.sentence_id, m."first"
)
group by tokens
order by count(*) desc, tokens
limit 1"""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a word that is a token, or a multiword token, of its own."""

    begin: int
    end: int
    multiword: bool


#: Each piece with the numbers of its words; those of multiword tokens are less than 0.
_Pieces: TypeAlias = "dict[_Piece, set[int]]"


def as_written(
    connection: Connection, pattern: syntax.Pattern, selection: Selection, *, across: bool = False
) -> syntax.Pattern:
    """Return a pattern in which each word stands for all that is written so in the store.

    A label of the word is one of the first token; ``across``: matches reach over the ends of sentences, which
    words do not.
    """
    multiwords, unspaced = surface_of(connection).multiwords, _is_unspaced(connection)
    if not (multiwords or unspaced):
        return pattern

    def change(part: syntax.Pattern) -> syntax.Pattern:
        if not isinstance(part, syntax.Token):
            return syntax.rebuilt(part, change)
        value = word_of(part)
        ways = [] if value is None else ways_to_write(connection, value, selection)
        if not ways:
            return part
        ways = [_labelled(one, part.labels) for one in ways]
        if across:
            sentence = syntax.RegionPattern("s")
            ways = [syntax.Within(one, sentence) for one in ways]
        return syntax.Alternatives((part, *ways))

    return change(pattern)


def word_of(token: syntax.Token) -> Value | None:
    """Return the word that a token has to be, if it is asked for by that alone."""
    match token.condition:
        case syntax.CqlComparison(
            syntax.Term("word" | "form", ""), Value((str(),), regex=False) as value, negated=False
        ):
            return value
    return None


def ways_to_write(connection: Connection, value: Value, selection: Selection) -> list[syntax.Pattern]:
    """Return what other than one token is written as a word: multiword tokens, and tokens without spaces."""
    (text,) = value.texts
    if not 0 < len(text) <= _MOST_LETTERS:
        return []
    search = _Search(connection, replace(value, ignore_case=value.ignore_case or selection.loose))
    pieces = search.pieces()
    whole = _Piece(0, len(text), multiword=True)
    found = list[syntax.Pattern]([syntax.Multiword(value)] if whole in pieces else [])
    parts = _of_ways(pieces, len(text))
    if parts and _is_unspaced(connection):
        joined = search.joined(parts)
        for way in _ways(parts, joined, len(text)):
            found.append(_sequence(value, way))
            if len(found) == _MOST_WAYS:
                break
    return found


def tokens_of(connection: Connection, value: Value, selection: Selection) -> str:
    """Return the tokens that a word is, with spaces between them; empty if it is never several."""
    for way in ways_to_write(connection, value, selection):
        parts = way.parts if isinstance(way, syntax.Sequence) else (way,)
        return " ".join(_tokens_of(connection, one, selection) for one in parts)
    return ""


def _tokens_of(connection: Connection, part: syntax.Pattern, selection: Selection) -> str:
    if isinstance(part, syntax.Multiword):
        bindings = Bindings()
        form = replace(part.form, ignore_case=part.form.ignore_case or selection.loose)
        text = _TOKENS.format(conditions=where([form.condition("m.form", bindings)], "  "))
        return str(Statement(text, bindings).value(connection))
    assert isinstance(part, syntax.Token)
    (value,) = (each.right for each in syntax.comparisons(part.condition))
    assert isinstance(value, Value)
    return value.texts[0]


def _is_unspaced(connection: Connection) -> bool:
    """Return whether any two tokens of the store have no space between them; looked up once, as `kept` is."""
    found = kept(connection)
    if _is_unspaced not in found:
        found[_is_unspaced] = Statement(_UNSPACED).value(connection) is not None
    return bool(found[_is_unspaced])


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks up what the parts of a word are in a store.

    Args:
        connection: the store.
        value: the word, and how it is compared.
    """

    connection: Connection
    value: Value

    def _spelled(self) -> dict[str, str]:
        columns = {"of_word": "word.form", "of_multiword": "m.form", "of_text": "asked.text"}
        return {name: self.value.spelled(column) for name, column in columns.items()}

    @property
    def _parts(self) -> dict[str, list[tuple[int, int]]]:
        """The parts of the word, each with where it stands."""
        (text,), found = self.value.texts, dict[str, list[tuple[int, int]]]()
        for begin in range(len(text)):
            for end in range(begin + 1, len(text) + 1):
                found.setdefault(text[begin:end], []).append((begin, end))
        return found

    def pieces(self) -> _Pieces:
        """Return the parts of the word that are words of the dictionary or multiword tokens."""
        parts = self._parts
        query = _PIECES + (_MULTIWORDS if surface_of(self.connection).multiwords else "")
        text = query.format(**self._spelled())
        places = list(parts.values())
        found: _Pieces = {}
        for number, word in raw(self.connection).execute(text, {"texts": list(parts)}).fetchall():
            for begin, end in places[number]:
                found.setdefault(_Piece(begin, end, word < 0), set()).add(word)
        return found

    def joined(self, pieces: _Pieces) -> set[tuple[int, int]]:
        """Return which of the words of pieces stand side by side, with no space between them."""
        numbers = set[int]().union(*pieces.values())
        if min(numbers) >= 0:
            return self._joined_words(pieces)
        words = ", ".join(str(one) for one in sorted(numbers) if one >= 0) or "null"
        text = _JOINED.format(words=words, no_space=no_space(self.connection, "t"), **self._spelled())
        return set(raw(self.connection).execute(text, {"texts": list(self._parts)}).fetchall())

    def _joined_words(self, pieces: _Pieces) -> set[tuple[int, int]]:
        """Return the same where no piece is a multiword token."""
        asked = [
            (one, other)
            for before, words in pieces.items()
            for after, others in pieces.items()
            if before.end == after.begin
            for one in words
            for other in others
        ]
        # Not where a look-up of counts only asks what a word is.
        import numpy as np

        from sentgen.lookups.search.tokens import joined_words

        known = joined_words(self.connection)
        keys = np.array([one << 32 | other for one, other in asked], np.int64)
        there = np.append(known, -1)[np.searchsorted(known, keys)] == keys
        return {asked[at] for at in np.flatnonzero(there)}


def _of_ways(pieces: _Pieces, length: int) -> _Pieces:
    """Return the pieces of which several, one after the other, are the word."""
    some = {one: words for one, words in pieces.items() if one.end - one.begin < length}
    begins, ends = {0}, {length}
    for one in sorted(some, key=lambda one: one.begin):
        if one.begin in begins:
            begins.add(one.end)
    for one in sorted(some, key=lambda one: one.end, reverse=True):
        if one.end in ends:
            ends.add(one.begin)
    return {one: words for one, words in some.items() if one.begin in begins and one.end in ends}


def _ways(pieces: _Pieces, joined: set[tuple[int, int]], length: int) -> Iterator[tuple[_Piece, ...]]:
    """Yield ways to put the word together from pieces that stand side by side, those of long ones first."""
    after: dict[_Piece, list[_Piece]] = {
        one: [
            other
            for other in sorted(pieces, key=lambda other: other.end)
            if other.begin == one.end and any((a, b) in joined for a in pieces[one] for b in pieces[other])
        ]
        for one in pieces
    }
    waiting: list[tuple[_Piece, ...]] = [
        (one,) for one in sorted(pieces, key=lambda one: one.end) if one.begin == 0
    ]
    # A word of one letter again and again has more ways than can be tried.
    for _ in range(_MOST_STEPS):
        if not waiting:
            return
        way = waiting.pop()
        if way[-1].end == length:
            yield way
        elif len(way) < _MOST_PIECES:
            waiting += [(*way, other) for other in after[way[-1]]]


def _sequence(value: Value, way: tuple[_Piece, ...]) -> syntax.Sequence:
    (text,), parts = value.texts, list[syntax.Pattern]()
    for piece in way:
        form = replace(value, texts=(text[piece.begin : piece.end],))
        joined = piece is not way[-1]
        if piece.multiword:
            parts.append(syntax.Multiword(form, joined))
            continue
        condition = syntax.CqlComparison(syntax.Term("word"), form)
        parts.append(syntax.Token(Every((condition, syntax.NoSpace())) if joined else condition))
    return syntax.Sequence(tuple(parts))


def _labelled(way: syntax.Pattern, labels: tuple[str, ...]) -> syntax.Pattern:
    """Return a way to write a word with labels of its first token."""
    if isinstance(way, syntax.Token | syntax.Multiword):
        return replace(way, labels=labels)
    assert isinstance(way, syntax.Sequence)
    return replace(way, parts=(_labelled(way.parts[0], labels), *way.parts[1:]))
