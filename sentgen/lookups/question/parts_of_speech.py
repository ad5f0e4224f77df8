"""Parts of speech that are asked for: ``NOUN,ADJ``, ``NN*``, or ``content`` for all but function words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from sentgen.errors import InputError
from sentgen.lookups.base.statement import Bindings, any_of
from sentgen.lookups.question.patterns import tag_among
from sentgen.options import Option

#: The open classes of Universal Dependencies, and numbers, which no list of stop words has either.
CONTENT = {"content": ("ADJ", "ADV", "INTJ", "NOUN", "NUM", "PROPN", "VERB")}
PosOption = Annotated[
    str | None,
    Option(
        "Only what has one of these parts of speech: `NOUN`, or `ADJ,NN*`; `content`: no function words.",
        metavar="TAG,...",
        api={"max_length": 1000},
    ),
]


def read_pos(text: str | None) -> tuple[str, ...]:
    """Return patterns of parts of speech, none if all are meant.

    >>> read_pos("NN*, content")[:3], read_pos(None)
    (('NN*', 'ADJ', 'ADV'), ())

    Raises:
        InputError: there is nothing between the commas.
    """
    given = () if text is None else filter(None, map(str.strip, text.split(",")))
    found = tuple(dict.fromkeys(tag for one in given for tag in CONTENT.get(one, (one,))))
    if text is not None and not found:
        raise InputError("no part of speech was given; name some, such as NOUN,ADJ")
    return found


def has_pos(alias: str, pos: Sequence[str], bindings: Bindings) -> list[str]:
    """Return the condition that a token has one of some parts of speech, universal or of the treebank."""
    tags = [tag_among(f"{alias}.{kind}", one, bindings) for one in pos for kind in ("upos_id", "xpos_id")]
    return [any_of(tags)] if tags and all(tags) else []
