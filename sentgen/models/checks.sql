-- name: shape
select m.name, m.version, g.n, g.w1, g.w2, g.w3, g.w4, g.w5, g.logp, g.backoff
from model_ngram g
join model m on m.id = g.model_id
where g.n not between 1 and m.max_order
    or g.anchor <> greatest(g.w1, g.w2, g.w3, g.w4, g.w5)
    or case g.n
        when 1 then g.w1 is null or g.w2 is not null
        when 2 then g.w2 is null or g.w3 is not null
        when 3 then g.w3 is null or g.w4 is not null
        when 4 then g.w4 is null or g.w5 is not null
        else g.w5 is null
    end
    or not isfinite(g.logp)
    or g.logp > 0
    or not isfinite(g.backoff)

-- name: words
select g.model_id, g.w1
from model_ngram g
anti join word w on w.id = g.w1
where g.n = 1

-- name: vocabulary
select m.name, m.version, m.vocabulary, g.words
from model m
left join (
    select model_id, count(*) as words
    from model_ngram
    where n = 1
        and w1 <> {bos}
    group by model_id
) g on g.model_id = m.id
where m.smoothing not in ({unstored}) and m.vocabulary is distinct from g.words

-- name: corpora
select m.name, m.version, m.tokens, c.tokens as corpora
from model m
left join (
    select model_id, sum(tokens) as tokens
    from model_corpus
    group by model_id
) c on c.model_id = m.id
left join (
    select distinct model_id
    from model_parameter
    where starts_with(name, '{condition}')
) p on p.model_id = m.id
where m.tokens > coalesce(c.tokens, 0)
    or (m.tokens < c.tokens and p.model_id is null)
    or (m.smoothing = 'arpa' and c.model_id is not null)
    or (m.smoothing not in ('arpa', {made}) and c.model_id is null)

-- name: parameters
with expected as (
    select m.id, m.name, m.version, o.n, unnest({parameters}[m.smoothing]) as parameter
    from model m
    cross join range(1, {max_order} + 1) o (n)
    where o.n <= m.max_order
)
select e.name, e.version, e.n, e.parameter
from expected e
left join model_parameter p on p.model_id = e.id and p.n = e.n and p.name = e.parameter
where p.value is null
    or not isfinite(p.value)

-- name: unigrams
select sum(exp(logp)) as total
from model_ngram
where model_id = {model}
    and n = 1
    and w1 <> {bos}
having not abs(total - 1) <= {tolerance}

-- name: contexts
-- Of the words seen after a context, p and the p after the shorter context; the others share the rest by back-off.
with seen as (
    select {context}, sum(exp(g.logp)) as p, sum(exp(s.logp)) as shorter, count(*) - count(s.logp) as missing
    from model_ngram g
    left join model_ngram s on s.model_id = {model} and s.n = {shorter} and {same_suffix}
    where g.model_id = {model}
        and g.n = {n}
    group by all
)
select {names}, coalesce(k.p, 0) + exp(coalesce(c.backoff, 0)) * (1 - coalesce(k.shorter, 0)) as total
from seen k
full join (
    select {names}, backoff
    from model_ngram
    where model_id = {model}
        and n = {shorter}
        and backoff <> 0
) c using ({names})
where k.missing > 0
    or total is null
    or not abs(total - 1) <= {tolerance}

-- name: ngrams
with stored as (
    select n, count(*) as ngrams, sum(hash(w1, w2, w3, w4, w5)) as digest
    from model_ngram
    where model_id = {model}
    group by n
), counted as (
    {counted}
)
select n, stored.ngrams as stored, counted.ngrams as counted
from stored
full join counted using (n)
where (stored.ngrams, stored.digest) is distinct from (counted.ngrams, counted.digest)

-- name: kept
-- No row where every n-gram is too rare: none of that order is stored then.
select {n} as n, count(*) as ngrams, sum(hash({columns})) as digest
from (
    select {words}
    from counted_{n}
    where count >= {min_count}
)
having count(*) > 0

-- name: kept_unigrams
select 1 as n, count(*) as ngrams, sum(hash({columns})) as digest
from (
    select w1
    from counted_1
    where count >= {min_count}
        or w1 in ({unk}, {eos})
    union
    select unnest({always}::integer[])
)
