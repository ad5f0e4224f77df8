-- name: union
create or replace temp table union_{n} as
select {words}, {columns}
from (
    select {words}, model_id, logp, backoff
    from model_ngram
    where model_id in ({models}) and n = {n}
    {suffixes}
)
group by all
order by {words}

-- name: column
max({value}) filter (where model_id = {model}) as {value}_{place}

-- name: suffixes
-- A pruned model may lack them.
union all
select distinct {words}, null, null, null
from union_{longer}

-- name: size
select count(*)
from union_{n}

-- name: columns
select {words}, {columns}
from union_{n}
order by {words}
