"""Contexts that go over the ends of sentences: so many tokens, sentences or paragraphs around a hit.

A hit is a place in its document (`sentgen.lookups.base.extent`), and so are the ends of its context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.base.extent import Reach
from sentgen.lookups.base.statement import Statement
from sentgen.lookups.base.surface import Surface
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

#: Sentences, or paragraphs, as places in documents.
_SENTENCES = """\
stretch as materialized (
  select start, before + 1 as first, before + length as last,
    row_number() over (partition by start order by id) as number
  from placed
  where length > 0
),
"""
_PARAGRAPHS = f"""\
stretch as materialized (
  select b.start, b.before + region.position as first, e.before + region.last_position as last,
    row_number() over (partition by b.start order by region.sentence_id, region.position, place) as number
  from region
  join placed as b on b.id = region.sentence_id
  join placed as e on e.id = region.last_sentence_id
  where region.kind = '{PARAGRAPH}'
),
"""
#: The first and the last token that is shown of a hit; outside of all paragraphs, of its sentence.
_SHOWN = f"""\
shown as (
  select hit.*,
    case when a.last >= hit.first then coalesce(x.first, 1) else c.before + 1 end as low,
    case when b.last >= hit.last then coalesce(y.last, {_END}) else d.before + d.length end as high
  from hit
  asof join placed as c on c.start = hit.sentence_id and c.before < hit.first
  asof join placed as d on d.start = hit.sentence_id and d.before < hit.last
  asof left join stretch as a on a.start = hit.sentence_id and a.first <= hit.first
  asof left join stretch as b on b.start = hit.sentence_id and b.first <= hit.last
  left join stretch as x on x.start = hit.sentence_id and x.number = a.number - $context + 1
  left join stretch as y on y.start = hit.sentence_id and y.number = b.number + $context - 1
),
"""
_ANY_PARAGRAPH = f"select 1 from region where kind = '{PARAGRAPH}' limit 1"


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


def lines_in(context: LineContext, surface: Surface, reach: Reach, more: Sequence[str]) -> str:
    """Return the common table expressions that make ``line`` of the hits in ``hit``.

    Args:
        context: what is shown of what is around them, ``$context`` of these.
        surface: how tokens become text.
        reach: what hits are counted from: documents, but for words in their sentences.
        more: columns of ``hit`` that lines have, too.
    """
    if not context.unit:
        return surface.lines("hit", more, reach=reach)
    stretches = _SENTENCES if context.unit == "s" else _PARAGRAPHS
    lines = surface.lines("shown", more, reach=reach, low="hit.low", high="hit.high")
    return f"{stretches}{_SHOWN}{lines}"
