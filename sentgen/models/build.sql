-- name: count_segment
create or replace temp view counted_{n} as
select {words}, count
from ngram_{n}
where segment_id = {segments}{within}

-- name: count_segments
create or replace temp view counted_{n} as
select {words}, sum(count)::bigint as count
from ngram_{n}
where segment_id in ({segments}){within}
group by all

-- name: part_segment
create or replace temp view part_{n} as
select {words}, count
from ngram_{n}
where segment_id = {segments}{within}

-- name: part_segments
-- Sorting runs that are sorted takes a fifth of grouping them first; what is equal is summed as it is read.
create or replace temp view part_{n} as
select {words}, count
from ngram_{n}
where segment_id in ({segments}){within}
order by {words}

-- name: part_counted
create or replace temp view part_{n} as
select {words}, count
from counted_{n}
order by {words}

-- name: misplaced
select count(*)
from part_2
where w1 = {eos} or w2 = {bos}

-- name: vocabulary
select count(*)
from counted_1
where count >= {least} and w1 not in ({bos}, {unk})

-- name: unigrams
select w1, count
from counted_1
order by w1

-- name: size
select count(*)
from part_{n}

-- name: rows
select {words}, count
from part_{n}
{order}

-- name: temporary
select table_name, table_type
from information_schema.tables
where table_catalog = 'temp'
  and regexp_full_match(
      table_name,
      '(counted|part|union)_[1-5]|stream|chosen|singleton|frequent|class|bracket|arpa_[a-z]+(_[1-5])?'
  )
order by table_type desc, table_name
