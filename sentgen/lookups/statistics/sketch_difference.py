"""The difference of two word sketches: in each relation what one word has, the other has, and both share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sentgen.lookups.statement import Answer, Statement
from sentgen.lookups.statistics.collocation_measures import COLUMN, Measure
from sentgen.lookups.statistics.relation_names import word_of
from sentgen.output.tabular import Rows

#: What a collocate belongs to that both words have.
BOTH = "both"
#: Both statements give rows of the same columns; what is asked of them is how they differ.
_COMPARED = """\
with a as (
{word}
),
b as (
{against}
)
select coalesce(a.relation, b.relation) as relation, coalesce(a.role, b.role) as role,
  coalesce(a.collocate, b.collocate) as collocate, a.count, b.count as count_against,
  a.{measure}, b.{measure} as {measure}_against
from a
full join b using (relation, role, collocate)
order by relation, role, collocate"""

Row = Mapping[str, Any]


class Asked(Protocol):
    """What is asked of a sketch."""

    @property
    def word(self) -> str: ...
    @property
    def against(self) -> str | None: ...
    @property
    def measure(self) -> Measure: ...
    @property
    def min_count(self) -> int: ...
    @property
    def limit(self) -> int: ...


@dataclass(frozen=True, slots=True)
class _Pair:
    """A collocate in a relation, as each of the words has it."""

    word: Row | None
    against: Row | None

    def score(self, measure: str) -> tuple[float, float]:
        """Return how strong it is with each; nothing is weaker than not at all."""
        scores = (None if one is None else one[measure] for one in (self.word, self.against))
        first, second = (float("-inf") if one is None else float(one) for one in scores)
        return first, second


def compared(asked: Asked, word: Answer, against: Answer) -> Answer:
    """Return the difference of two whole sketches.

    Of each relation, the collocates are those that are among the strongest of one of the words, as many of
    each as are asked for; first come those of the first word alone, then the shared ones, from what the first
    word prefers to what the second does, then those of the second word alone. Relations with most pairs of
    both words come first.
    """
    measure = COLUMN.get(asked.measure, "count")
    texts = (word_of(asked.word), word_of(str(asked.against)))
    relations: dict[tuple[str, str], dict[str, list[Row | None]]] = defaultdict(dict)
    pairs: dict[tuple[str, str], int] = defaultdict(int)
    names: dict[tuple[str, str], str] = {}
    for place, answer in enumerate((word, against)):
        for row in answer.table.to_pylist():
            key = (row["relation"], row["role"])
            # All rows of a relation have the same number, and the name with their word in it.
            pairs[key] += row["pairs"] if row["rank"] == 1 else 0
            names.setdefault(key, row["name"].replace(texts[place], " / ".join(texts)))
            relations[key].setdefault(row["collocate"], [None, None])[place] = row
    columns = ["relation", "role", "pairs", "word", "collocate", "count", "count_against"]
    columns += [] if measure == "count" else [measure, f"{measure}_against"]
    rows = [
        (*key, pairs[key], *one, names[key])
        for key in sorted(relations, key=lambda one: (-pairs[one], one))
        for one in _of_relation(relations[key], measure, asked, texts)
    ]
    sql = _COMPARED.format(word=word.query.text, against="{against}", measure=measure)
    # Parameters of the same names may differ between the two, so the second one has its values written in.
    query = Statement(sql.replace("{against}", against.query.filled()), word.query.parameters)
    missing = f"collocate of {asked.word!r} or {asked.against!r} in a relation"
    hints = (*word.hints, *against.hints)
    return Answer(
        Rows([*columns, "name"], rows), query, missing, hints=hints, near={**word.near, **against.near}
    )


def _of_relation(
    collocates: Mapping[str, list[Row | None]], measure: str, asked: Asked, words: tuple[str, str]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one relation."""
    strongest: set[str] = set()
    for place in range(2):
        rows = [row for both in collocates.values() if (row := both[place]) is not None]
        ranked = sorted((row["rank"], row["collocate"]) for row in rows if row["count"] >= asked.min_count)
        strongest.update(name for _, name in ranked[: asked.limit or None])
    found = {name: _Pair(*both) for name, both in collocates.items() if name in strongest}

    def order(name: str) -> tuple[int, float, str]:
        one, other = found[name].score(measure)
        if found[name].against is None:
            return 0, -one, name
        return (2, -other, name) if found[name].word is None else (1, other - one, name)

    for name in sorted(found, key=order):
        pair = found[name]
        belongs = BOTH if pair.word and pair.against else words[0 if pair.word else 1]
        counts = [None if one is None else one["count"] for one in (pair.word, pair.against)]
        scores = [None if one is None else one[measure] for one in (pair.word, pair.against)]
        yield belongs, name, *counts, *([] if measure == "count" else scores)
