"""The statements of frequency lists of hits, with the sums of which means and their intervals are made."""

from __future__ import annotations

from sentgen.lookups.statistics.dispersion import JUILLAND_D
from sentgen.lookups.statistics.intervals import MEANS

COUNTED = """\
with recursive {parts}item as (
{items}
),
counted as (
  select {keys}, {part} as part_id, count(*) as count{sums}
  from item
  join sentence on sentence.id = item.sentence_id
  group by {keys}, part_id
)"""
STATEMENT = """\
{counted},
part as (
  select {part_id} as part_id, sum(length) as size
  from {pieces}
  group by part_id
),
{kinds}{means}total as (
  select sum(size) as tokens, count(*) as parts, (select sum(count) from counted) as hits from part
)
select {shown}, sum(count)::bigint as count, sum(count) / any_value(hits) as share,
  1e6 * sum(count) / any_value(tokens) as per_million, count(*) as {parts},
  case when any_value(total.parts) > 1 then greatest(
    0.5 * (
      sum(abs(count / of_item - size / tokens) order by part_id) + 1 - sum(size) / any_value(tokens)
    ), 0
  ) end as dp,
  {juilland} as juilland_d, count(*) / any_value(total.parts) as {share}{within}{mean}
from (select *, sum(count) over (partition by {keys}) as of_item from counted)
join part using (part_id){join_kinds}{join_means}
cross join total
group by {keys}
order by count desc, {keys}{limit}"""

JUILLAND = JUILLAND_D.format(
    documents="any_value(total.parts)",
    squares="sum((count / size) ** 2 order by part_id)",
    rates="sum(count / size order by part_id)",
)

#: How many tokens the sentences have that agree in their metadata.
KINDS = """\
  select {strings}, sum(length)::bigint as kind_size
  from ({pieces}) as h
  group by all"""
SENTENCES = "select s.id as sentence_id, s.length from sentence as s{corpora}"
#: Means of numbers of the hits, beside their counts.
MEANS_OF = f"means as (\n{MEANS}\n),\n"
MEAN = ",\n  any_value(mean) as mean, any_value(mean_low) as mean_low, any_value(mean_high) as mean_high"
JOIN_MEANS = "\nleft join means using ({keys})"
#: The sums of which it is made, of hits and of parts.
SUMS = ", sum(value) as value, count(value) as valued"
WITHIN = ",\n  1e6 * sum(count) / any_value(kind_size) as per_million_in_part"

WHOLE = """\
(
    select h.sentence_id, h.first, h.last, {strings}
    from {hits} as h
    join token as t on t.sentence_id = h.sentence_id and t.position between h.first and h.last
    group by h.sentence_id, h.first, h.last
  )"""

#: By each place of a hit: documents are too long to look for it in all of one.
WHOLE_ACROSS = """\
(
    select h.sentence_id, h.first, h.last, {strings}
    from (select *, unnest(range(first, last + 1)) as place from {hits}) as h
    join running as t on t.start = h.sentence_id and t.place = h.place
    group by h.sentence_id, h.first, h.last
  )"""

PLACES = """\
(
    select distinct sentence_id, first, last, {places}
    from {match}
    join {hits} using (sentence_id, first, last)
  )"""
