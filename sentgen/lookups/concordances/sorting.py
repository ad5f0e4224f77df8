"""The order of concordance lines: by words beside the node, by the node, its surprisal, or metadata.

A word at a place is a token, the k-th one to the left or to the right of the node; where there is none, as at
the end of a sentence, the line comes first. So does one without a value of metadata; numbers among the values
come next, by their size, and then the others. Texts are compared letter by letter, as Unicode numbers them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sentgen.case_folding import folded
from sentgen.errors import InputError
from sentgen.lookups.concordances.shown import Home, LineKey, find_key
from sentgen.lookups.concordances.typical import SCORE, Typical, typical_lines
from sentgen.lookups.keys import StoreKeys
from sentgen.lookups.numbers import as_exact, as_number
from sentgen.lookups.reach import DOCUMENT, SENTENCE, Reach
from sentgen.lookups.statement import Bindings, limit_clause
from sentgen.lookups.surprisals import SurprisalKey
from sentgen.options import Option

#: No order but that of the corpus.
NONE = "none"
NODE, LEFT, RIGHT = "node", "left", "right"
#: Good examples first.
TYPICAL = "typical"
_PLACE = re.compile(r"([1-9]\d{0,2})([LR])", re.IGNORECASE)
_FOLDED = "%c"
_MOST_KEYS = 20
#: How hits are put in order where none is asked for.
BY_PLACE = "sentence_id, first, last"

_HIT = """\
{keyed}hit as materialized (
  select *{rank}
  from (
    select *
    from {hits}
    order by {order}{limit}
  )
)"""
_KEYED = """\
keyed as (
  select h.*{keys}
  from {every} as h{joins}
),
"""
#: Words of each hit, from one scan of the tokens, whatever their places are.
_WORDS = """
  left join (
    select b.sentence_id, b.first, b.last, {words}
    from (
      select h.*, {start} as start, {low} as low, {high} as high, unnest({places}) as place
      from {every} as h{at}
    ) as b
    join {tokens} as t on t.{sentence} = b.start and t.{position} = b.place
    join word as w on w.id = t.word_id
    group by b.sentence_id, b.first, b.last
  ) as s on s.sentence_id = h.sentence_id and s.first = h.first and s.last = h.last"""
#: Of all hits those whose next word is among the first ones: no other can be among the first lines.
_NEAREST = """\
beside as (
  select h.*, coalesce({form}, '') as near
  from {every} as h
  left join token as t on t.sentence_id = h.sentence_id and t.position = {place}
  left join word as w on w.id = t.word_id
),
nearest as (
  select * exclude near
  from beside
  where near {within} (select {last}(near) from (select near from beside order by near{turned} limit {limit}))
),
"""
_OF_HIT = "\n  join sentence as of_hit on of_hit.id = {home}"
#: Where a hit is in its document, and which sentence its first token is in.
_PLACED = "\n  join placed as p on p.id = h.sentence_id"
_HOME = "\n  asof join placed as p on p.start = h.sentence_id and p.before < h.first"


@dataclass(frozen=True, slots=True)
class SortKey:
    """One thing that lines are put in order by.

    Args:
        name: as it was written, in capitals if it is a place.
        fold: whether the case of letters is ignored.
        descending: whether the last ones come first.
        place: of a token, so many behind the node, or below 0 before it; 0 if it is no token.
    """

    name: str
    fold: bool
    descending: bool
    place: int = 0

    def tokens(self, context: int) -> int:
        """Return how many tokens of a hit are read, where its contexts are of so many."""
        return context if self.name in (LEFT, RIGHT) else 1


SortOption = Annotated[
    str,
    Option(
        "Sort all hits, or those drawn at random, by keys: `1L`, `2R` (words beside the node), `node`,"
        " `document`, metadata such as `year`, `surprisal`, `left` or `right`, or `typical`: good examples"
        " first; `1L%c` ignores case, `-year` turns it.",
        metavar="KEYS",
    ),
]


def read_order(text: str) -> tuple[SortKey, ...]:
    """Read keys with commas between them, such as ``1L, 2L%c, -year``; nothing of ``none``.

    Raises:
        InputError: a key is empty or given twice, or there are too many.
    """
    if text.strip() == NONE:
        return ()
    keys = tuple(_read_key(one.strip()) for one in text.split(","))
    names = [one.name for one in keys]
    if not all(names) or NONE in names or len(set(names)) < len(names):
        raise InputError(f"{text!r} has an empty sort key, or one twice; write keys as in 1L,2L%c,-year")
    if len(keys) > _MOST_KEYS:
        raise InputError(f"lines are sorted by {_MOST_KEYS} keys at most; there are {len(keys)}")
    return keys


def _read_key(text: str) -> SortKey:
    name = text.removeprefix("-").strip()
    descending, fold = name != text, name.endswith(_FOLDED)
    name = name.removesuffix(_FOLDED).strip()
    if found := _PLACE.fullmatch(name):
        side = found[2].upper()
        return SortKey(f"{found[1]}{side}", fold, descending, int(found[1]) * (-1 if side == "L" else 1))
    # As before there were others: by words beside the node whatever their case.
    return SortKey(name, fold or name in (LEFT, RIGHT), descending)


@dataclass(frozen=True, slots=True)
class LineOrder:
    """The keys of an order, looked up in a store.

    Args:
        keys: what lines are put in order by; none for their place in the corpus.
        found: those of metadata, regions and surprisal, by their names.
        context: how many tokens beside the node ``left`` and ``right`` look at.
        typical: what good examples are told by, if one of the keys asks for them.
        explained: whether lines say what made them good examples.
    """

    keys: tuple[SortKey, ...] = ()
    found: dict[str, LineKey] | None = None
    context: int = 0
    typical: Typical | None = None
    explained: bool = False

    @property
    def of_words(self) -> bool:
        """Whether all keys are words of the hit or beside it."""
        return all(one.place or one.name in (NODE, LEFT, RIGHT) for one in self.keys)

    @property
    def reasons(self) -> list[str]:
        """The columns of lines that say what made them good examples."""
        return self.typical.parts if self.typical and self.explained else []

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be known of the order."""
        return self.typical.remarks if self.typical else ()

    @property
    def by(self) -> str:
        """What of ``hit`` lines are put in order by at last."""
        return "rank" if self.keys else f"line.{BY_PLACE}"

    def hits(
        self,
        every: str,
        reach: Reach,
        bindings: Bindings,
        limit: int,
        *,
        wide: bool = False,
        ties: str = BY_PLACE,
    ) -> str:
        """Return the common table expression ``hit``, which has the first hits, with their ``rank``.

        Args:
            every: the table with all hits: ``sentence_id``, ``first`` and ``last``, and what else they have.
            reach: what they are counted from.
            bindings: of the statement.
            limit: how many; 0 for all.
            wide: whether words beside the node may be in other sentences.
            ties: the columns that put equal hits in order.
        """
        bindings["sorted"] = self.context
        nearest = "" if wide or reach is DOCUMENT else self._nearest(every, bindings, limit)
        every = "nearest" if nearest else every
        if self.typical:
            spot = _Spot(every, reach, wide)
            home = spot.home, spot.around.position
            nearest = self.typical.scored(every, spot.at, home, bindings, ties=ties)
            every, ties = "scored", f"in_document, {ties}"
        spot, values = _Spot(every, reach, wide), self.found or {}
        columns, words, read, order = list[str](), list[str](), list[str](), list[str]()
        for number, one in enumerate(self.keys, 1):
            if one.name == TYPICAL:
                value = SCORE
            elif one.name in values:
                value = spot.around.value(values[one.name], bindings)
                if one.fold and not isinstance(values[one.name], SurprisalKey):
                    value = folded(value)
            else:
                found, place = _words(one)
                words.append(f"{found} as words_{number}")
                read.append(place)
                value = f"coalesce(words_{number}, {chr(39) * 2 if one.place else '[]'})"
            columns.append(f", {value} as key_{number}")
            # The best ones first.
            turned = replace(one, descending=not one.descending) if one.name == TYPICAL else one
            order += _ascending(turned, number, is_value=one.name in values)
        joins = spot.at if values else ""
        joins += _OF_HIT.format(home=spot.home) if values else ""
        joins += spot.words(words, read) if words else ""
        by = ", ".join([*order, ties])
        keyed = _KEYED.format(keys="".join(columns), every=every, joins=joins)
        return _HIT.format(
            keyed=nearest + keyed if self.keys else "",
            hits="keyed" if self.keys else every,
            rank=f", row_number() over (order by {by}) as rank" if self.keys else "",
            order=by,
            limit=limit_clause(limit, bindings, "    "),
        )

    def _nearest(self, every: str, bindings: Bindings, limit: int) -> str:
        """Return what leaves out hits by their next word, which takes less than all words beside them."""
        first = self.keys[0] if self.keys else None
        if first is None or first.name not in (LEFT, RIGHT) or not (limit and self.context) or self.typical:
            return ""
        return _NEAREST.format(
            form=folded("w.form"),
            every=every,
            place="h.first - 1" if first.name == LEFT else "h.last + 1",
            within=">=" if first.descending else "<=",
            last="min" if first.descending else "max",
            turned=" desc" if first.descending else "",
            limit=bindings.bind("limit", limit),
        )


def _words(one: SortKey) -> tuple[str, str]:
    """Return what a key takes of the words ``w`` at the places ``b``, and the list of these places."""
    form = folded("w.form") if one.fold else "w.form"
    if one.place:
        place = f"low - {-one.place}" if one.place < 0 else f"high + {one.place}"
        return f"any_value({form}) filter (where b.place = {place})", f"[{place}]"
    turned, filtered, read = {
        NODE: ("", "b.place between low and high", "range(low, high + 1)"),
        LEFT: (" desc", "b.place < low", "range(low - $sorted, low)"),
        RIGHT: ("", "b.place > high", "range(high + 1, high + 1 + $sorted)"),
    }[one.name]
    return f"list({form} order by b.place{turned}) filter (where {filtered})", read


def line_order(
    there: StoreKeys, keys: tuple[SortKey, ...], context: int, *, explained: bool = False
) -> LineOrder:
    """Look up the keys of an order among those of a store; ``explained``: lines say why they are typical.

    Raises:
        InputError: there is none of a name.
    """
    others = [NODE, LEFT, RIGHT, TYPICAL]
    named = [one.name for one in keys if not one.place and one.name not in others]
    found = {name: find_key(there, name, "sort key", ["1L", "1R", *others]) for name in named}
    typical = typical_lines(there) if any(one.name == TYPICAL for one in keys) else None
    return LineOrder(keys, found, context, typical, explained)


def _ascending(one: SortKey, number: int, *, is_value: bool) -> list[str]:
    """Return what puts rows in the order of a key."""
    turned = " desc" if one.descending else ""
    key = f"key_{number}"
    if not is_value:
        return [f"{key}{turned}"]
    last, text = " desc nulls first" if one.descending else " nulls last", f"{key}::varchar"
    numbers = [f"{number}{last}" for number in (as_number(text), as_exact(text))]
    return [f"{key} is not null{turned}", *numbers, f"{key}{turned}"]


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the hits ``h`` are, so that tokens beside them can be found."""

    every: str
    reach: Reach
    wide: bool

    @property
    def _shifted(self) -> bool:
        """Whether hits are counted from their sentence, and tokens beside them from the document."""
        return self.wide and self.reach is SENTENCE

    @property
    def at(self) -> str:
        """What joins the place of a hit in its document."""
        if not self.wide:
            return ""
        return _PLACED if self._shifted else _HOME

    @property
    def start(self) -> str:
        return "p.start" if self._shifted else "h.sentence_id"

    @property
    def low(self) -> str:
        """The place of the first token."""
        return "p.before + h.first" if self._shifted else "h.first"

    @property
    def high(self) -> str:
        """The place of the last token."""
        return "p.before + h.last" if self._shifted else "h.last"

    @property
    def home(self) -> str:
        """The number of the sentence of the first token."""
        return "p.id" if self.wide else "h.sentence_id"

    @property
    def around(self) -> Home:
        """Where that sentence is."""
        shift = " - p.before" if self.wide and not self._shifted else ""
        return Home("of_hit", f"h.first{shift}")

    def words(self, words: Sequence[str], read: Sequence[str]) -> str:
        """Return what joins words of each hit.

        Args:
            words: what is taken of them.
            read: lists of their places.
        """
        tokens = DOCUMENT if self.wide else SENTENCE
        return _WORDS.format(
            words=", ".join(words),
            start=self.start,
            low=self.low,
            high=self.high,
            places=read[0] if len(read) == 1 else f"list_distinct(list_concat({', '.join(read)}))",
            every=self.every,
            at=self.at,
            tokens=tokens.tokens,
            sentence=tokens.sentence,
            position=tokens.position,
        )
