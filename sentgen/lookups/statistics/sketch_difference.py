"""The difference of two word sketches: in each relation what one word has, the other has, and both share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentgen.lookups.statement import Answer, Statement
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
  coalesce(a.preposition, b.preposition) as preposition,
  coalesce(a.collocate, b.collocate) as collocate, a.count, b.count as count_against,
  a.{measure}, b.{measure} as {measure}_against
from a
full join b on (a.relation, a.role, coalesce(a.preposition, ''), a.collocate)
  = (b.relation, b.role, coalesce(b.preposition, ''), b.collocate)
order by relation, role, preposition nulls first, collocate"""

Row = Mapping[str, Any]
#: A collocate as each of the words has it, if it does.
Both = list[Row | None]
#: A relation: its name in the treebank, the role of its collocates, and a preposition or nothing.
Key = tuple[str, str, str]


def compared(
    words: Sequence[str], sketches: Sequence[Answer], *, measure: str, min_count: int, limit: int
) -> Answer:
    """Return the difference of two whole sketches.

    Of each relation, the collocates are those that are among the strongest of one of the words, as many of
    each as are asked for; first come those of the first word alone, then the shared ones, from what the first
    word prefers to what the second does, then those of the second word alone. Relations with most pairs of
    both words come first.

    Args:
        words: both, as patterns.
        sketches: theirs, with all collocates, and relations named for both.
        measure: the column by which collocates are ranked.
        min_count: omit those that neither word has so often.
        limit: collocates of each word in a relation; 0 for all.
    """
    relations: dict[Key, dict[str, Both]] = defaultdict(dict)
    pairs: dict[Key, int] = defaultdict(int)
    names: dict[Key, str] = {}
    for place, answer in enumerate(sketches):
        for row in answer.table.to_pylist():
            key = (row["relation"], row["role"], row["preposition"] or "")
            # All rows of a relation have the same number.
            pairs[key] += row["pairs"] if row["rank"] == 1 else 0
            names[key] = row["name"]
            relations[key].setdefault(row["collocate"], [None, None])[place] = row
    shown = ["count"] if measure == "count" else ["count", measure]
    columns = ["relation", "role", "preposition", "pairs", "word", "collocate"]
    columns += [column for one in shown for column in (one, f"{one}_against")]
    texts = [word_of(one) for one in words]
    rows = [
        (
            *(
                *key[:2],
                key[2] or None,
                pairs[key],
                BOTH if all(both) else texts[0 if both[0] else 1],
                collocate,
            ),
            *(row and row[column] for column in shown for row in both),
            names[key],
        )
        for key in sorted(relations, key=lambda one: (-pairs[one], one))
        for collocate, both in _strongest(relations[key], measure, min_count, limit)
    ]
    word, against = (one.query for one in sketches)
    # Parameters of the same names may differ between the two, so the second one has its values written in.
    sql = _COMPARED.format(word=word.text, against=against.filled(), measure=measure)
    missing = f"collocate of {words[0]!r} or {words[1]!r} in a relation"
    return Answer(Rows([*columns, "name"], rows), Statement(sql, word.parameters), missing)


def _strongest(
    collocates: Mapping[str, Both], measure: str, min_count: int, limit: int
) -> Iterator[tuple[str, Both]]:
    """Yield the collocates of one relation that are shown, in their order."""
    strongest: set[str] = set()
    for place in range(2):
        rows = [row for both in collocates.values() if (row := both[place]) is not None]
        ranked = sorted((row["rank"], row["collocate"]) for row in rows if row["count"] >= min_count)
        strongest.update(name for _, name in ranked[: limit or None])

    def order(name: str) -> tuple[int, float, str]:
        word, against = collocates[name]
        if word is None or against is None:
            only = word or against or {}
            return 0 if against is None else 2, -only[measure], name
        return 1, against[measure] - word[measure], name

    for name in sorted(strongest, key=order):
        yield name, collocates[name]
