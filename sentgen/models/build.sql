-- name: count_segment
create or replace temp view counted_{n} as
select {words}, count
from ngram_{n}
where segment_id = {segment}

-- name: count_segments
create or replace temp table counted_{n} as
select {words}, sum(count)::bigint as count
from ngram_{n}
where segment_id in ({segments})
group by all

-- name: misplaced
select count(*)
from counted_2
where w1 = {eos} or w2 = {bos}

-- name: unigrams
select w1, count
from counted_1
order by w1

-- name: size
select count(*)
from counted_{n}

-- name: rows
select {words}, count
from counted_{n}
{order}

-- name: temporary
select table_name, table_type
from information_schema.tables
where table_catalog = 'temp'
  and regexp_full_match(
      table_name,
      'counted_[1-5]|stream|singleton|class|bracket|arpa_[a-z]+'
  )
order by table_type desc, table_name
