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

-- name: write
insert into model_ngram (model_id, anchor, n, w1, w2, w3, w4, w5, logp, backoff)
select {model}, greatest(w1, w2, w3, w4, w5) as anchor, n, w1, w2, w3, w4, w5,
       least(ln(p), 0), ln(greatest(coalesce(weight, 1), 1e-100))
from ({orders}) g
where greatest(w1, w2, w3, w4, w5) > {above} and greatest(w1, w2, w3, w4, w5) <= {up_to}
order by anchor, n, w1, w2, w3, w4, w5

-- name: size
select count(*) from ({orders}) g

-- name: cuts
select unnest(approx_quantile(greatest(w1, w2, w3, w4, w5), {shares})) as cut
from ({orders}) g
order by cut

-- name: temporary
select table_name, table_type
from information_schema.tables
where table_catalog = 'temp'
  and regexp_full_match(
      table_name,
      '(counted|adjusted|context|smoothed|probability|weight)_[1-5]|initial|stream|singleton|class|bracket|arpa_[a-z]+'
  )
order by table_type desc, table_name
