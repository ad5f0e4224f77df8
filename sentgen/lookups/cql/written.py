"""Words as they are written: one word of a text may be several tokens.

French *du* is the multiword token of *de* and *le*, and *don't* the tokens *do* and *n't* with no space
between them. A pattern of a word finds the tokens of that form, multiword tokens of that form, and tokens
without spaces between them whose forms, joined, are the word. A wildcard or a regular expression matches
single tokens only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.lookups.base.attributes import Value
from sentgen.lookups.base.cache import ArrayCache, all_words
from sentgen.lookups.base.languages import Every
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, any_row, where
from sentgen.lookups.base.surface import Surface
from sentgen.lookups.cql import syntax
from sentgen.schema.engine import arrow_table, connection_cache, raw

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.arrays import Longs

#: Limits: letters of a word that is cut into pieces, its pieces, ways to cut it, and steps to find these.
_MOST_LETTERS, _MOST_PIECES, _MOST_WAYS, _MOST_STEPS = 100, 8, 16, 1000
#: Words whose ways to be written are cached.
_MOST_KEPT = 1000

_PIECES = """\
with asked as (
  select unnest($texts) as text, unnest(range(len($texts))) as number
)
select number, word.id
from asked
join word on {of_word} = {of_text}"""
_MULTIWORDS = """
union all
select distinct number, null
from asked
join multiword as m on {of_multiword} = {of_text}"""
_MULTIWORD_FORMS = "select distinct form from multiword"
#: The most frequent sequence of tokens of multiword tokens with a form.
_TOKENS_OF_MULTIWORD = """\
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
    """A part of a word, given by offsets of letters, that is a token or a multiword token of its own."""

    begin: int
    end: int
    multiword: bool = False


#: Each piece with the ids of its words, and with its first and last tokens in the store.
_Pieces = dict[_Piece, list[int]]
_Places = dict[_Piece, "tuple[Longs, Longs]"]


def as_written(
    connection: Connection, pattern: syntax.Pattern, selection: Selection, *, across: bool = False
) -> syntax.Pattern:
    """Return a pattern in which each word is expanded to all tokens of the store that are written so.

    A label of the word becomes one of the first token; ``across``: matches may cross the ends of sentences,
    but words may not.
    """
    multiwords, unspaced = Surface.of_store(connection).multiwords, _is_unspaced(connection)
    if not (multiwords or unspaced):
        return pattern

    def change(part: syntax.Pattern) -> syntax.Pattern:
        if not isinstance(part, syntax.Token):
            return part.map_parts(change)
        value = word_of(part)
        ways = [] if value is None else ways_to_write(connection, value, selection)
        if not ways:
            return part
        ways = [_with_labels(way, part.labels) for way in ways]
        if across:
            sentence = syntax.RegionPattern("s")
            ways = [syntax.Within(way, sentence) for way in ways]
        return syntax.Alternatives((part, *ways))

    return change(pattern)


def word_of(token: syntax.Token) -> Value | None:
    """Return the word of a token pattern, if that is its only condition."""
    match token.condition:
        case syntax.CqlComparison(
            syntax.Term("word" | "form", ""), Value((str(),), regex=False) as value, negated=False
        ):
            return value
    return None


def ways_to_write(connection: Connection, value: Value, selection: Selection) -> list[syntax.Pattern]:
    """Return patterns of what is written as a word beside one token: multiwords, tokens without spaces."""
    (text,) = value.texts
    if not 0 < len(text) <= _MOST_LETTERS:
        return []
    search = _Search(connection, replace(value, ignore_case=value.ignore_case or selection.loose))
    known: dict[Value, list[tuple[_Piece, ...]]] = connection_cache(connection).setdefault(_Search, {})
    if search.value not in known:
        if len(known) >= _MOST_KEPT:
            known.clear()
        known[search.value] = search.ways()
    return [_pattern(value, way) for way in known[search.value]]


def tokens_of(connection: Connection, value: Value, selection: Selection) -> str:
    """Return the tokens of a word, joined by spaces; empty if it is never several tokens."""
    for way in ways_to_write(connection, value, selection):
        parts = way.parts if isinstance(way, syntax.Sequence) else (way,)
        return " ".join(_tokens_of(connection, part, selection) for part in parts)
    return ""


def _tokens_of(connection: Connection, part: syntax.Pattern, selection: Selection) -> str:
    if isinstance(part, syntax.Multiword):
        bindings = Bindings()
        form = replace(part.form, ignore_case=part.form.ignore_case or selection.loose)
        text = _TOKENS_OF_MULTIWORD.format(conditions=where([form.condition("m.form", bindings)], "  "))
        return str(Statement(text, bindings).value(connection))
    assert isinstance(part, syntax.Token)
    (value,) = (each.right for each in syntax.comparisons(part.condition))
    assert isinstance(value, Value)
    return value.texts[0]


def _is_unspaced(connection: Connection) -> bool:
    """Return whether any two tokens of the store have no space between them; looked up once."""
    cache = connection_cache(connection)
    if _is_unspaced not in cache:
        cache[_is_unspaced] = any_row(connection, "token", ["space_after = false"])
    return bool(cache[_is_unspaced])


@dataclass(frozen=True, slots=True)
class _Search:
    """Finds the ways in which a word is written in a store."""

    connection: Connection
    value: Value

    def ways(self) -> list[tuple[_Piece, ...]]:
        """Return the pieces of each way that occurs, a multiword token and long pieces first."""
        length, pieces = len(self.value.texts[0]), self._pieces()
        whole = _Piece(0, length, multiword=True)
        ways: list[tuple[_Piece, ...]] = [(whole,)] if whole in pieces else []
        if (parts := _of_ways(pieces, length)) and _is_unspaced(self.connection):
            ways += islice(self._join(self._places(parts), length), _MOST_WAYS - len(ways))
        return ways

    def _pieces(self) -> _Pieces:
        """Return the parts of the word that are words of the dictionary or multiword tokens."""
        (text,), parts = self.value.texts, dict[str, list[tuple[int, int]]]()
        for begin in range(len(text)):
            for end in range(begin + 1, len(text) + 1):
                parts.setdefault(text[begin:end], []).append((begin, end))
        pieces, ranges = _Pieces(), list(parts.values())
        for number, word in self._rows_of(list(parts)):
            for begin, end in ranges[number]:
                pieces.setdefault(_Piece(begin, end, word is None), []).append(word)
        return pieces

    def _rows_of(self, parts: Sequence[str]) -> Iterable[tuple[int, Any]]:
        """Yield the index of each text that is a word, with its id, or a multiword token, with None."""
        loose = self.value.ignore_case or self.value.ignore_accents
        # If all words are in the cache, a search among them is faster than planning a statement.
        if not loose and (every := all_words(self.connection)) is not None:
            numbers, at = _among(parts, every["form"].chunk(0))
            multiwords, _ = _among(parts, _multiword_forms(self.connection))
            words = zip(numbers, every["id"].to_numpy()[at].tolist(), strict=True)
            return [*words, *((number, None) for number in multiwords)]
        columns = {"of_word": "word.form", "of_multiword": "m.form", "of_text": "asked.text"}
        spelled = {name: self.value.comparison_key(column) for name, column in columns.items()}
        query = _PIECES + (_MULTIWORDS if Surface.of_store(self.connection).multiwords else "")
        return raw(self.connection).execute(query.format(**spelled), {"texts": list(parts)}).fetchall()

    def _places(self, pieces: _Pieces) -> _Places:
        import numpy as np

        from sentgen.lookups.base.tokens import Tokens

        store = Tokens(self.connection)
        ids = {word for piece, words in pieces.items() if not piece.multiword for word in words}
        tokens = store.occurrences_of_each(sorted(ids))
        places = _Places()
        for piece, words in pieces.items():
            if piece.multiword:
                bindings = Bindings()
                condition = _form(self.value, piece).condition("m.form", bindings)
                places[piece] = store.multiwords(condition, bindings)
            else:
                at = np.sort(np.concatenate([tokens[word] for word in words]))
                places[piece] = at, at
        return places

    def _join(self, places: _Places, length: int) -> Iterator[tuple[_Piece, ...]]:
        """Yield the ways to join the word from pieces that are adjacent in the store, without spaces."""
        from sentgen.lookups.base.tokens import Tokens

        after = sorted(places, key=lambda piece: piece.end)
        waiting: list[tuple[tuple[_Piece, ...], list[Longs]]] = [
            ((piece,), [places[piece][1]]) for piece in after if not piece.begin
        ]
        # A word that repeats one letter has more ways than can be tried.
        for _ in range(_MOST_STEPS):
            if not waiting:
                return
            way, lasts = waiting.pop()
            if way[-1].end == length:
                if Tokens(self.connection).ever_unspaced(lasts):
                    yield way
            elif len(way) < _MOST_PIECES:
                following = [piece for piece in after if piece.begin == way[-1].end]
                steps = [((*way, piece), _follow(lasts, places[piece])) for piece in following]
                waiting += [step for step in steps if len(step[1][0])]


def _among(texts: Sequence[str], strings: pa.Array) -> tuple[list[int], list[int]]:
    """Return the indices of the texts that are among distinct strings, and their indices there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pc.index_in(strings, value_set=pa.array(texts, strings.type))
    at = pc.indices_nonzero(numbers.is_valid())
    return numbers.take(at).to_pylist(), at.to_pylist()


def _multiword_forms(connection: Connection) -> pa.Array:
    """Return the forms of multiword tokens; they are read once if nobody can change the store."""
    import pyarrow as pa

    forms = ArrayCache.of_store(connection).get(
        _MULTIWORD_FORMS, lambda: arrow_table(raw(connection), _MULTIWORD_FORMS)
    )
    return pa.concat_arrays([pa.array([], forms["form"].type), *forms["form"].chunks])


def _follow(lasts: Sequence[Longs], piece: tuple[Longs, Longs]) -> list[Longs]:
    """Return the last tokens of sequences of pieces that another piece follows, and those of that piece."""
    import numpy as np

    first, last = piece
    at = np.searchsorted(first, lasts[-1] + 1)
    followed = np.append(first, -1)[at] == lasts[-1] + 1
    return [*(tokens[followed] for tokens in lasts), last[at[followed]]]


def _of_ways(pieces: _Pieces, length: int) -> _Pieces:
    """Return the pieces that are part of some sequence of pieces that is the word."""
    some = {piece: words for piece, words in pieces.items() if piece.end - piece.begin < length}
    begins, ends = {0}, {length}
    for piece in sorted(some, key=lambda piece: piece.begin):
        if piece.begin in begins:
            begins.add(piece.end)
    for piece in sorted(some, key=lambda piece: piece.end, reverse=True):
        if piece.end in ends:
            ends.add(piece.begin)
    return {piece: words for piece, words in some.items() if piece.begin in begins and piece.end in ends}


def _form(value: Value, piece: _Piece) -> Value:
    return replace(value, texts=(value.texts[0][piece.begin : piece.end],))


def _pattern(value: Value, way: tuple[_Piece, ...]) -> syntax.Pattern:
    parts = list[syntax.Pattern]()
    for piece in way:
        form, joined = _form(value, piece), piece is not way[-1]
        if piece.multiword:
            parts.append(syntax.Multiword(form, joined))
            continue
        condition = syntax.CqlComparison(syntax.Term("word"), form)
        parts.append(syntax.Token(Every((condition, syntax.NoSpace())) if joined else condition))
    return syntax.Sequence(tuple(parts)) if len(parts) > 1 else parts[0]


def _with_labels(way: syntax.Pattern, labels: tuple[str, ...]) -> syntax.Pattern:
    """Return a way to write a word with labels of its first token."""
    if isinstance(way, syntax.Token | syntax.Multiword):
        return replace(way, labels=labels)
    assert isinstance(way, syntax.Sequence)
    return replace(way, parts=(_with_labels(way.parts[0], labels), *way.parts[1:]))
