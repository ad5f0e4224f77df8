"""The order of concordance lines: by words beside the node, by the node, its surprisal, or metadata.

Words are given by their offset: the k-th token to the left or to the right of the node. Lines without such a
token, as at the end of a sentence, or without a value of metadata, are first. Of values, numbers are before
other strings, and sorted by size. Strings are compared by code points.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from sentgen.case_folding import fold_sql
from sentgen.errors import InputError
from sentgen.lookups.base.attributes import Key, by_value
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.statement import DOCUMENT, Bindings, Extent, limit_clause
from sentgen.lookups.base.surprisals import SurprisalKey
from sentgen.lookups.concordances.typical import SCORE, Typical
from sentgen.options import Option

#: No order but that of the corpus.
NONE = "none"
NODE, LEFT, RIGHT = "node", "left", "right"
#: The name of the order with good examples first.
TYPICAL = "typical"
_PLACE = re.compile(r"([1-9]\d{0,2})([LR])", re.IGNORECASE)
_FOLDED = "%c"
_MOST_KEYS = 20
#: The columns by which hits are sorted if no order is given.
_BY_PLACE = "sentence_id, first, last"

_HIT = """\
keyed as (
  select h.*{keys}
  from {every} as h{joins}
),
hit as materialized (
  select *, row_number() over (order by {order}) as rank
  from (
    select *
    from keyed
    order by {order}{limit}
  )
)"""
#: The words of a hit, or beside it, in the order in which they are compared; no words are first. Their
#: positions are listed, as DuckDB would compare all tokens of a document with a range.
_WORDS = """
    coalesce((
      select list({form} order by b.place{turned})
      from (select unnest(range({low}, {high} + 1)) as place) as b
      join {tokens} as t on t.{sentence} = h.sentence_id and t.{position} = b.place
      join word as w on w.id = t.word_id
    ), [])"""
_OF_HIT = "\n  join sentence as of_hit on of_hit.id = {home}"
#: The sentence of the first token of a hit in a document.
_HOME = "\n  asof join placed as p on p.start = h.sentence_id and p.before < h.first"


@dataclass(frozen=True, slots=True)
class SortKey:
    """A key by which lines are sorted.

    Args:
        name: name of the key; names of offsets, such as ``1L``, are in capitals.
        fold: whether the case of letters is ignored.
        descending: whether the order is descending.
        offset: offset of a token from the node, below 0 before it; 0 for other keys.
    """

    name: str
    fold: bool
    descending: bool
    offset: int = 0

    def beside(self, context: int) -> range:
        """Return the offsets of the tokens of the key, in the order in which they are compared."""
        if self.offset:
            return range(self.offset, self.offset + 1)
        return range(-1, -context - 1, -1) if self.name == LEFT else range(1, context + 1)

    @staticmethod
    def read_all(text: str) -> tuple[SortKey, ...]:
        """Read keys with commas between them, such as ``1L, 2L%c, -year``; nothing of ``none``.

        Raises:
            InputError: a key is empty or given twice, or there are too many.
        """
        if text.strip() == NONE:
            return ()
        keys = tuple(_read_key(part.strip()) for part in text.split(","))
        names = [key.name for key in keys]
        if not all(names) or NONE in names or len(set(names)) < len(names):
            raise InputError(f"{text!r} has an empty sort key, or one twice; write keys as in 1L,2L%c,-year")
        if len(keys) > _MOST_KEYS:
            raise InputError(f"lines are sorted by {_MOST_KEYS} keys at most; there are {len(keys)}")
        return keys


SortOption = Annotated[
    str,
    Option(
        "Sort all hits, or those drawn at random, by keys: `1L`, `2R` (words beside the node), `node`,"
        " `document`, metadata such as `year`, `surprisal`, `left` or `right`, or `typical`: good examples"
        " first; `1L%c` ignores case, `-year` turns it.",
        metavar="KEYS",
    ),
]


def _read_key(text: str) -> SortKey:
    name = text.removeprefix("-").strip()
    descending, fold = name != text, name.endswith(_FOLDED)
    name = name.removesuffix(_FOLDED).strip()
    if match := _PLACE.fullmatch(name):
        side = match[2].upper()
        return SortKey(f"{match[1]}{side}", fold, descending, int(match[1]) * (-1 if side == "L" else 1))
    # `left` and `right` always ignore case, for compatibility with the first versions.
    return SortKey(name, fold or name in (LEFT, RIGHT), descending)


@dataclass(frozen=True, slots=True)
class LineOrder:
    """The keys of an order, looked up in a store.

    Args:
        keys: the keys by which lines are sorted; none for the order of the corpus.
        values: the keys of metadata, regions and surprisal, by their names.
        context: number of tokens beside the node that ``left`` and ``right`` compare.
        typical: scores of good examples, if one of the keys is ``typical``.
        explain: whether lines have columns with the parts of the score.
    """

    keys: tuple[SortKey, ...] = ()
    values: Mapping[str, Key] = field(default_factory=dict)
    context: int = 0
    typical: Typical | None = None
    explain: bool = False

    @property
    def reasons(self) -> list[str]:
        """The columns of lines with the score and its parts."""
        return self.typical.parts if self.typical and self.explain else []

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the order, for the answer."""
        return self.typical.remarks if self.typical else ()

    @property
    def by(self) -> str:
        """The columns by which the final statement sorts lines."""
        return "rank" if self.keys else f"line.{_BY_PLACE}"

    def hits(
        self, every: str, extent: Extent, bindings: Bindings, limit: int, *, ties: str = _BY_PLACE
    ) -> str:
        """Return the common table expression ``hit``, which has the first hits, with their ``rank``.

        Args:
            every: the table with all hits: ``sentence_id``, ``first``, ``last``, and maybe further columns.
            extent: whether positions, and words beside hits, count within sentences or documents.
            limit: number of hits; 0 for all.
            ties: the columns by which equal hits are sorted.
        """
        bindings["sorted"] = self.context
        at, home, position = "", "h.sentence_id", "h.first"
        if extent is DOCUMENT:
            at, home, position = _HOME, "p.id", "h.first - p.before"
        scored = ""
        if self.typical:
            scored = self.typical.scored_hits(every, at, (home, position), bindings, ties=ties)
            every, ties = "scored", f"in_document, {ties}"
        values, columns, order = self.values, list[str](), list[str]()
        for number, sort_key in enumerate(self.keys, 1):
            if sort_key.name == TYPICAL:
                value = SCORE
            elif sort_key.name in values:
                value = values[sort_key.name].value_at("of_hit", position, bindings)
                if sort_key.fold and not isinstance(values[sort_key.name], SurprisalKey):
                    value = fold_sql(value)
            else:
                value = _words(sort_key, extent)
            columns.append(f", {value} as key_{number}")
            # Scores descend, so that the best examples are first.
            key, down = f"key_{number}", sort_key.descending != (sort_key.name == TYPICAL)
            order.append(by_value(key, down=down) if sort_key.name in values else key + " desc" * down)
        return scored + _HIT.format(
            keys="".join(columns),
            every=every,
            joins=at + _OF_HIT.format(home=home) if values else "",
            order=", ".join([*order, ties]),
            limit=limit_clause(limit, bindings, "    "),
        )

    @classmethod
    def of_keys(
        cls, store_keys: StoreKeys, keys: tuple[SortKey, ...], context: int, *, explain: bool = False
    ) -> LineOrder:
        """Look up the keys of an order in a store; ``explain``: lines have the parts of ``typical``.

        Raises:
            InputError: there is no key of a name.
        """
        others = [NODE, LEFT, RIGHT, TYPICAL]
        named = [key.name for key in keys if not key.offset and key.name not in others]
        keys_of_values = {name: store_keys.require(name, "sort key", ["1L", "1R", *others]) for name in named}
        typical = Typical.of_store(store_keys) if any(key.name == TYPICAL for key in keys) else None
        return cls(keys, keys_of_values, context, typical, explain)


def _words(key: SortKey, extent: Extent) -> str:
    places = {
        NODE: ("h.first", "h.last"),
        LEFT: ("h.first - $sorted", "h.first - 1"),
        RIGHT: ("h.last + 1", "h.last + $sorted"),
    }
    position = f"h.first - {-key.offset}" if key.offset < 0 else f"h.last + {key.offset}"
    low, high = (position, position) if key.offset else places[key.name]
    return _WORDS.format(
        form=fold_sql("w.form") if key.fold else "w.form",
        turned=" desc" if key.name == LEFT else "",
        low=low,
        high=high,
        tokens=extent.tokens,
        sentence=extent.sentence,
        position=extent.position,
    )
