"""Contexts that go over the ends of sentences: so many tokens, sentences or paragraphs around a hit.

A hit is a place in its document (`sentgen.lookups.reach`), and so are the ends of its context; only the
sentences between these are read as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.concordances.surface import Surface
from sentgen.lookups.reach import DOCUMENT, Reach, running, written
from sentgen.lookups.statement import Bindings, Statement
from sentgen.options import Option

#: Where nothing else is asked for, and words that lines are sorted by where contexts are no words.
WORDS = 15
#: Words, and sentences or paragraphs, on each side at most.
_MOST = {"": 1000, "s": 100, "p": 100}
#: The tag of paragraphs.
PARAGRAPH = "p"
#: Behind the last token of every document.
_END = 2**31 - 1

WideContextOption = Annotated[
    int | str,
    Option(
        "Words on each side at most; or `1s`, the sentence of the hit, `2s`, with those before and after it,"
        " and so on; `1p`, `2p` for paragraphs.",
        metavar="N|Ns|Np",
    ),
]

#: The hits that are shown, as places in their documents.
_SHOWN = """\
{places}shown as materialized (
  {shown}
),
"""
_IN_DOCUMENTS = "select hit.sentence_id as start, hit.first, hit.last{carried}\n  from hit"
#: What of a hit a line has, too.
CARRIED = " any_value(hit.{name}) as {name},"
_PLACED = (
    "select p.start, p.before + hit.first as first, p.before + hit.last as last{carried}\n"
    "  from hit\n  join placed as p on p.id = hit.sentence_id"
)
_DOCUMENTS = "s.document_id in (select document_id from sentence where id in (select sentence_id from hit))"

_OF_WORDS = (
    "  select s.*, greatest(s.first - $context, 1) as low, s.last + $context as high\n  from shown as s"
)
_OF_SENTENCES = """\
  select s.*, coalesce(x.before + 1, 1) as low, coalesce(y.before + y.length, {end}) as high
  from shown as s
  asof join placed as a on a.start = s.start and a.before < s.first
  asof join placed as b on b.start = s.start and b.before < s.last
  left join placed as x on x.start = s.start and x.id = a.id - $context + 1
  left join placed as y on y.start = s.start and y.id = b.id + $context - 1"""
#: Of a hit outside of all paragraphs, its sentence.
_OF_PARAGRAPHS = """\
  select s.*,
    case when a.last < s.first or a.last is null then c.before + 1 else coalesce(x.first, 1) end as low,
    case when b.last < s.last or b.last is null then d.before + d.length
      else coalesce(y.last, {end}) end as high
  from shown as s
  asof join placed as c on c.start = s.start and c.before < s.first
  asof join placed as d on d.start = s.start and d.before < s.last
  asof left join paragraph as a on a.start = s.start and a.first <= s.first
  asof left join paragraph as b on b.start = s.start and b.first <= s.last
  left join paragraph as x on x.start = s.start and x.number = a.number - $context + 1
  left join paragraph as y on y.start = s.start and y.number = b.number + $context - 1"""
_PARAGRAPHS = f"""\
paragraph as materialized (
  select b.start, b.before + region.position as first, e.before + region.last_position as last,
    row_number() over (partition by b.start order by region.sentence_id, region.position, place) as number
  from region
  join placed as b on b.id = region.sentence_id
  join placed as e on e.id = region.last_sentence_id
  where region.kind = '{PARAGRAPH}'
),
"""
_ANY_PARAGRAPH = f"select 1 from region where kind = '{PARAGRAPH}' limit 1"
_LINES = """\
around as (
{around}
),
stretch as materialized (
  select around.*, a.id as low_id, b.id as high_id
  from around
  asof join placed as a on a.start = around.start and a.before < around.low
  asof join placed as b on b.start = around.start and b.before < around.high
),
line as (
  select any_value(p.id) filter (where {here}) as sentence_id,
    hit.first - any_value(p.before) filter (where {here}) as first,
    hit.last - any_value(p.before) filter (where {here}) as last,{carried}
    {columns}
  from (select *, unnest(range(low_id, high_id + 1)) as id from stretch) as hit
  join placed as p on p.id = hit.id
  join token as c on c.sentence_id = hit.id and p.before + c.position between hit.low and hit.high
  join word on word.id = c.word_id{surface}
  group by hit.start, hit.first, hit.last
)
"""


@dataclass(frozen=True, slots=True)
class LineContext:
    """What is shown on each side of a hit: so many words, sentences (``s``) or paragraphs (``p``)."""

    size: int
    unit: str = ""

    @property
    def sorted_by(self) -> int:
        """How many words beside a hit say where it comes in order."""
        return WORDS if self.unit else self.size


def read_context(given: int | str) -> LineContext:
    """Read ``10``, ``2s`` or ``1p``.

    Raises:
        InputError: it is none of these, or too much.
    """
    found = re.fullmatch(r"(\d{1,9})([sp]?)", str(given).strip())
    least = 1 if found and found[2] else 0
    if not found or int(found[1]) < least:
        raise InputError(
            f"{str(given)!r} is no context; write 10 for words, 2s for sentences, 1p for paragraphs"
        )
    size, unit = int(found[1]), found[2]
    if size > _MOST[unit]:
        raise InputError(f"a context has at most {_MOST[unit]}{unit} on each side; {given} is more")
    return LineContext(size, unit)


def check_paragraphs(connection: Connection) -> None:
    """Refuse paragraphs of a store whose sources mark none.

    Raises:
        NotFoundError: there are none.
    """
    if Statement(_ANY_PARAGRAPH).value(connection) is None:
        raise NotFoundError("no paragraphs here: no source marks any (p); write 2s for sentences")


def wide_lines(
    reach: Reach,
    context: LineContext,
    surface: Surface,
    bindings: Bindings,
    *,
    carried: Sequence[str],
    placed_already: bool,
) -> str:
    """Return the common table expressions that make ``line`` of ``hit``, behind which they stand.

    Args:
        reach: what hits are counted from.
        context: what is shown of what is around them.
        surface: how tokens become text.
        bindings: of the statement.
        carried: columns of ``hit`` that lines have, too.
        placed_already: whether the statement has the places of sentences.
    """
    bindings["context"] = context.size
    shown = _IN_DOCUMENTS if reach is DOCUMENT else _PLACED
    text = _SHOWN.format(
        places="" if placed_already else written(running([_DOCUMENTS])),
        shown=shown.format(carried="".join(f", hit.{name}" for name in carried)),
    )
    if context.unit == "p":
        text += _PARAGRAPHS
    around = {"": _OF_WORDS, "s": _OF_SENTENCES, "p": _OF_PARAGRAPHS}[context.unit]
    return text + _LINES.format(
        around=around.format(end=_END),
        here="p.before + c.position = hit.first",
        carried="".join(CARRIED.format(name=name) for name in carried),
        columns=surface.columns("hit.first", "hit.last", "hit.low", before="p.before + "),
        surface=surface.join,
    )
