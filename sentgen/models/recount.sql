-- name: singletons
create or replace temp table singleton as
select w1
from ngram_1
where segment_id in ({segments}) and w1 > {root}
group by w1
having sum(count) = 1

-- name: classes
create or replace temp table class as
select t.corpus_id, t.sentence_id, t.position, '<unk:' || g.name || '>' as form
from token t
join singleton s on s.w1 = t.word_id
left join tag g on g.id = coalesce(t.xpos_id, t.upos_id)
where t.corpus_id in ({corpora})

-- name: no_classes
create or replace temp table class (sentence_id bigint, position integer, form varchar)

-- name: untagged
select distinct c.name
from class s
join corpus c on c.id = s.corpus_id
where s.form is null
order by c.name

-- name: without_phrases
select c.name
from token t
join corpus c on c.id = t.corpus_id
where c.id in ({corpora})
group by c.name
having count(t.np) < count(*) or max(t.np) = 0
order by c.name

-- name: bracket_words
select count(*)
from token t
join word w on w.id = t.word_id
where t.corpus_id in ({corpora}) and w.form in ('{opening}', '{closing}')

-- name: brackets
create or replace temp table bracket as
with neighbor as (
    select sentence_id, position, np, lag(np, 1, 0) over sentence as before, lead(np, 1, 0) over sentence as after
    from token
    where corpus_id in ({corpora})
    window sentence as (partition by sentence_id order by position)
)
select sentence_id, position, 0 as place, '{opening}' as form
from neighbor
where np > 0 and before <> np and after = np
union all
select sentence_id, position, 2, '{closing}'
from neighbor
where np > 0 and after <> np and before = np

-- name: no_brackets
create or replace temp table bracket (sentence_id bigint, position integer, place integer, form varchar)

-- name: add_words
insert into word (id, form)
select (select max(id) from word) + row_number() over (order by form), form
from (select form from class union select form from bracket) s
where not exists (select 1 from word w where w.form = s.form)

-- name: stream
create or replace temp table stream as
with mapped as (
    select t.sentence_id, t.position, 1 as place, coalesce(w.id, t.word_id) as word_id
    from token t
    left join class c on c.sentence_id = t.sentence_id and c.position = t.position
    left join word w on w.form = c.form
    where t.corpus_id in ({corpora})
    union all
    select b.sentence_id, b.position, b.place, w.id
    from bracket b
    join word w on w.form = b.form
    union all
    select id, 0, 1, {bos} from sentence where corpus_id in ({corpora})
    union all
    select id, length + 1, 1, {eos} from sentence where corpus_id in ({corpora})
)
select word_id as w1, {leads}
from mapped
window following as (partition by sentence_id order by position, place)

-- name: count_stream
create or replace temp table counted_{n} as
select {words}, count(*) as count
from stream
where w{n} is not null
group by all
