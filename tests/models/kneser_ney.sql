-- name: adjust_highest
create or replace temp view adjusted_{n} as
select {words}, count as a, count as c
from counted_{n}
where {n} > 1 or w1 <> {bos}

-- name: adjust
create or replace temp table adjusted_{n} as
select {shifted}, count(*) as a, sum(count)::bigint as c
from counted_{longer}
group by all
union all
select {words}, count, count
from counted_{n}
where {n} > 1 and w1 = {bos}

-- name: statistics
select count(*) filter (a = 1), count(*) filter (a = 2), count(*) filter (a = 3), count(*) filter (a = 4)
from adjusted_{n}

-- name: contexts
create or replace temp table context_{n} as
select {context},
       sum(a::double) as total,
       sum(case when {kept} then {discount} else a end) / sum(a::double) as gamma
from adjusted_{n}
group by all

-- name: unigrams
create or replace temp table initial as
with space as (
    select sum(a::double) as total,
           sum(case when {kept} then {discount} else a end) / sum(a::double) as gamma,
           count(*) filter ({kept}) + {unknown}::int * (1 - count(*) filter (w1 = {unk})) as vocabulary
    from adjusted_1
)
select w1, (a - {discount}) / total + gamma / vocabulary as p
from adjusted_1, space
where {kept}
union all
select {unk}, gamma / vocabulary
from space
where {unknown} and not exists (select 1 from adjusted_1 where w1 = {unk})
union all
select {bos}, 1.0

-- name: interpolate
-- Left joins, though all rows match: else the planner may join context and suffix first, on the words they share.
create or replace temp table smoothed_{n} as
select {words}, (g.a - {discount}) / k.total + k.gamma * l.p as p, {weight} as weight
from adjusted_{n} g
left join context_{n} k on {same_context}
left join smoothed_{shorter} l on {same_suffix}
{longer_context}
where {kept}

-- name: unigram_weights
create or replace temp table smoothed_1 as
select g.w1, g.p, {weight} as weight
from initial g
{longer_context}
