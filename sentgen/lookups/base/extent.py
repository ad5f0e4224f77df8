"""How far a match reaches: to the ends of its sentence, or with ``--across`` to those of its document.

Statements name the tokens of a match by a sentence and positions in it. Across, the sentence is the first one
of the document, and positions go on counting over the ends of sentences: the same statements find matches in
documents when they read ``running`` in the place of `token`. What is shown is found again through ``placed``,
which says of each sentence how many tokens of its document come before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sentgen.lookups.base.statement import where

_PLACED = """\
  select s.id, d.first_sentence as start, s.length, (s.first_token - b.first_token)::integer as before
  from sentence as s
  join document as d on d.id = s.document_id
  join sentence as b on b.id = d.first_sentence{conditions}"""
_RUNNING = """\
  select t.*, p.start, p.before + t.position as place
  from token as t
  join placed as p on p.id = t.sentence_id"""


@dataclass(frozen=True, slots=True)
class TableExpression:
    """A common table expression; ``kept`` or not where it is read more than once, if that is to be said."""

    name: str
    text: str
    materialized: bool | None = False

    def __str__(self) -> str:
        how = (
            "not materialized " if self.materialized is None else "materialized " if self.materialized else ""
        )
        return f"{self.name} as {how}(\n{self.text}\n)"


@dataclass(frozen=True, slots=True)
class Extent:
    """What tokens are read from.

    Args:
        tokens: a table with the columns of `token`.
        sentence: its column with the sentence from which matches count.
        position: its column with the number of a token from there.
    """

    tokens: str
    sentence: str
    position: str


SENTENCE = Extent("token", "sentence_id", "position")
DOCUMENT = Extent("running", "start", "place")


def document_offsets(conditions: Sequence[str] = ()) -> TableExpression:
    """Return the places of sentences ``s`` in their documents; conditions choose whole documents."""
    return TableExpression("placed", _PLACED.format(conditions=where(conditions, "  ")), materialized=True)


def document_tokens(conditions: Sequence[str] = ()) -> list[TableExpression]:
    """Return what `DOCUMENT` reads from."""
    # Not materialized: it has all tokens.
    return [document_offsets(conditions), TableExpression("running", _RUNNING, materialized=None)]


def expressions_text(parts: Sequence[TableExpression]) -> str:
    """Return common table expressions, each with a comma and a line feed behind it."""
    return "".join(f"{part},\n" for part in parts)


def only_expressions(parts: str) -> str:
    """Return what a statement begins with that has no common table expressions but these."""
    return f"with recursive {parts.rstrip().rstrip(',')}\n" if parts else ""


@dataclass(frozen=True, slots=True)
class HitSource:
    """Where hits come from in a statement.

    Args:
        table: what follows ``from``.
        sentence: the number of the sentence.
        first: the position of the first token.
        last: the position of the last one.
        parts: common table expressions before it, each with a comma and a line feed behind it.
        extent: how far hits reach, and so what they are counted from.
        match: the table with the places of labels, one row for each way to place them.
        labels: label to its column there.
    """

    table: str
    sentence: str = "sentence_id"
    first: str = "first"
    last: str = "last"
    parts: str = ""
    extent: Extent = SENTENCE
    match: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def with_start(self) -> str:
        """What a statement begins with that has a common table expression after these."""
        return f"with recursive {self.parts}" if self.parts else "with "

    @property
    def with_clause(self) -> str:
        """What a statement begins with that has no others."""
        return only_expressions(self.parts)
