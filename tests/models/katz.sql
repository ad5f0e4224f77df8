-- name: statistics
select count(*) filter (count = 1), count(*) filter (count = 2), count(*) filter (count = 3),
       count(*) filter (count = 4), count(*) filter (count = 5), count(*) filter (count = 6)
from counted_{n}
where {n} > 1 or w1 <> {bos}

-- name: unigrams
create or replace temp table probability_1 as
with space as (
    select sum(count::double) as total, sum(({discounted})::double) filter ({kept}) as mass
    from counted_1
    where w1 <> {bos}
), unit as (
    select mass,
           case when not {unknown} then mass when mass < total then total else total + 1 end as divisor
    from space
)
select w1, {discounted} / divisor + case when w1 = {unk} then 1 - mass / divisor else 0 end as p
from counted_1, unit
where {kept} and w1 <> {bos}
union all
select {unk}, 1 - mass / divisor
from unit
where {unknown} and not exists (select 1 from counted_1 where w1 = {unk})
union all
select {bos}, 1.0

-- name: vocabulary
select count(*)
from probability_1
where w1 <> {bos}

-- name: contexts
create or replace temp table context_{n} as
with space as (
    select {context},
           sum(count::double) as total,
           coalesce(sum(({discounted})::double) filter ({kept}), 0) as mass,
           count(*) filter ({kept}) as seen
    from counted_{n}
    group by all
)
select {context},
       case when seen = {vocabulary} then mass when mass < total then total else total + 1 end as divisor
from space

-- name: discount
create or replace temp table probability_{n} as
select {words}, {discounted} / k.divisor as p
from counted_{n} g
left join context_{n} k on {same_context}
where {kept}

-- name: weights
create or replace temp table weight_{n} as
select {context},
       case when count(*) = {vocabulary} then 1
            else greatest(1 - sum(g.p), 0) / greatest(1 - sum(l.p), 1e-15) end as weight
from probability_{n} g
left join probability_{shorter} l on {same_suffix}
group by all

-- name: combine
create or replace temp view smoothed_{n} as
select {words}, g.p, {weight} as weight
from probability_{n} g
{longer_context}
