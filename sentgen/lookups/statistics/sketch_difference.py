"""The difference of two word sketches: in each relation what one word has, the other has, and both share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from sentgen.lookups.base.statement import Answer, Bindings, Statement, limited_answer
from sentgen.lookups.statistics.relation_names import word_of
from sentgen.schema.engine import raw, registered

#: What a collocate belongs to that both words have.
BOTH = "both"
_SKETCHES = """\
sketch as (
{word}
),
sketch_against as (
{against}
),
"""
#: Both sketches have all collocates, so that each relation has one of rank 1.
_COMPARED = """\
with {sketches}either as (
  select *, false as against from sketch
  union all
  select *, true from sketch_against
),
ranked as (
  select *,
    sum(pairs) filter (rank = 1) over (partition by relation, role, preposition) as both_pairs,
    count >= {min_count} and row_number() over (
      partition by against, relation, role, preposition, count >= {min_count} order by rank
    ) <= {limit} as strong
  from either
),
compared as (
  select relation, role, preposition, any_value(both_pairs)::bigint as pairs, collocate,
    {columns},
    any_value(name) as name
  from ranked
  group by relation, role, preposition, collocate
  having bool_or(strong)
)
select relation, role, preposition, pairs,
  case when count is null then {second} when count_against is null then {first} else '{both}' end as word,
  collocate, {names}, name
from compared
order by pairs desc, relation, role, preposition nulls first,
  case when count_against is null then 0 when count is null then 2 else 1 end,
  case when count is not null and count_against is not null then {measure}_against - {measure}
    else -coalesce({measure}, {measure}_against) end,
  collocate"""
_COLUMNS = """\
any_value({column}) filter (not against) as {column},
    any_value({column}) filter (against) as {column}_against"""


def compared(
    connection: Connection,
    words: Sequence[str],
    sketches: Sequence[Answer],
    *,
    measure: str,
    min_count: int,
    limit: int,
) -> Answer:
    """Return the difference of two whole sketches.

    Of each relation, the collocates are those that are among the strongest of one of the words, as many of
    each as are asked for; first come those of the first word alone, then the shared ones, from what the first
    word prefers to what the second does, then those of the second word alone. Relations with most pairs of
    both words come first.

    Args:
        connection: the store.
        words: both, as patterns.
        sketches: theirs, with all collocates, and relations named for both.
        measure: the column by which collocates are ranked.
        min_count: omit those that neither word has so often.
        limit: collocates of each word in a relation; 0 for all.
    """
    word, against = (one.query for one in sketches)
    bindings = Bindings(**word.parameters)
    columns = ["count"] if measure == "count" else ["count", measure]
    told = {
        "min_count": bindings.bind("least", min_count),
        "limit": bindings.bind("each", limit) if limit else "'infinity'::double",
        "first": bindings.bind("first", word_of(words[0])),
        "second": bindings.bind("second", word_of(words[1])),
        "both": BOTH,
        "columns": ",\n    ".join(_COLUMNS.format(column=one) for one in columns),
        "names": ", ".join(f"{one}, {one}_against" for one in columns),
        "measure": measure,
    }
    # Parameters of the same names may differ between the two, so the second one has its values written in.
    both = _SKETCHES.format(word=word.text, against=against.with_values())
    definition, counted = (_COMPARED.format(sketches=one, **told) for one in (both, ""))
    missing = f"collocate of {words[0]!r} or {words[1]!r} in a relation"
    with registered(raw(connection), sketch=sketches[0].table, sketch_against=sketches[1].table):
        answer = limited_answer(connection, Statement(counted, bindings), 0, missing)
    return replace(answer, query=Statement(definition, bindings))
