-- name: unsafe
select distinct w.id, w.form
from word w
join (select distinct w1 from model_ngram where model_id = {model} and n = 1) g on g.w1 = w.id
where regexp_matches(w.form, '[\x00-\x20\x7f\\]') or w.form in ('', '<UNK>')

-- name: forms
create or replace temp table arpa_form as
select w.id, coalesce(e.form, w.form) as form
from word w
join (select w1 from model_ngram where model_id = {model} and n = 1) g on g.w1 = w.id
left join arpa_escaped e on e.id = w.id

-- name: counts
select n, count(*)
from model_ngram
where model_id = {model}
group by n
order by n

-- name: lines
select format('{{:.9g}}', g.logp / ln(10)) || chr(9) || {forms}
       || {weight} as line
from model_ngram g
{joins}
where g.model_id = {model} and g.n = {n}
order by {words}

-- name: table
create or replace temp table arpa_gram_{n} ({columns}, logp double, backoff double, line bigint)

-- name: duplicate
select min(line)
from (select max(line) as line from arpa_gram_{n} group by {words} having count(*) > 1)

-- name: without_prefix
select min(g.line)
from arpa_gram_{n} g
where not exists (select 1 from arpa_gram_{shorter} p where {same})

-- name: without_unigram
select min(g.line)
from arpa_gram_{n} g
where not exists (select 1 from arpa_gram_1 p where p.w1 = g.w{n})

-- name: anchors
select greatest({words}) as anchor, count(*) as ngrams
from arpa_gram_{n}
group by all

-- name: sorted
select {words}, logp, backoff
from arpa_gram_{n}
where greatest({words}) >= {least} and greatest({words}) < {end}
order by {words}

-- name: brackets
select distinct w.form
from arpa_gram_1 g
join word w on w.id = g.w1
where w.form in ('{opening}', '{closing}')
