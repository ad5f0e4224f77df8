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

-- name: singletons
create or replace temp table singleton as
select w1
from ngram_1
where segment_id in ({segments}) and w1 > {root}
group by w1
having sum(count) = 1

-- name: singleton_tokens
create or replace temp table singleton_token as
select t.corpus_id, t.sentence_id, t.position, '<unk:' || g.name || '>' as form
from token t
join singleton s on s.w1 = t.word_id
left join tag g on g.id = coalesce(t.xpos_id, t.upos_id)
where t.corpus_id in ({corpora})

-- name: untagged
select distinct c.name
from singleton_token s
join corpus c on c.id = s.corpus_id
where s.form is null
order by c.name

-- name: add_classes
insert into word (id, form)
select (select max(id) from word) + row_number() over (order by form), form
from (select distinct form from singleton_token) s
where not exists (select 1 from word w where w.form = s.form)

-- name: stream
create or replace temp table stream as
with mapped as (
    select t.sentence_id, t.position, coalesce(w.id, t.word_id) as word_id
    from token t
    left join singleton_token s on s.sentence_id = t.sentence_id and s.position = t.position
    left join word w on w.form = s.form
    where t.corpus_id in ({corpora})
    union all
    select id, 0, {bos} from sentence where corpus_id in ({corpora})
    union all
    select id, length + 1, {eos} from sentence where corpus_id in ({corpora})
)
select word_id as w1, {leads}
from mapped
window following as (partition by sentence_id order by position)

-- name: count_stream
create or replace temp table counted_{n} as
select {words}, count(*) as count
from stream
where w{n} is not null
group by all

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
      '(counted|adjusted|context|smoothed|probability|weight)_[1-5]|initial|stream|singleton|singleton_token|arpa_[a-z]+'
  )
order by table_type desc, table_name
