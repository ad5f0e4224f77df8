-- name: chosen
create or replace temp table chosen as
select s.id, s.length
from sentence s
where {among}

-- name: size_of_chosen
select count(*), coalesce(sum(length), 0)::bigint
from chosen

-- name: singletons
create or replace temp table singleton as
select t.word_id as w1
from token t
where {tokens} and t.word_id > {root}
group by w1
having count(*) = 1

-- name: classes
create or replace temp table class as
select t.corpus_id, t.sentence_id, t.position, '<unk:' || g.name || '>' as form
from token t
join singleton s on s.w1 = t.word_id
left join tag g on g.id = coalesce(t.xpos_id, t.upos_id)
where {tokens}

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
where {tokens}
group by c.name
having count(t.np) < count(*) or max(t.np) = 0
order by c.name

-- name: bracket_words
select count(*)
from token t
join word w on w.id = t.word_id
where {tokens} and w.form in ('{opening}', '{closing}')

-- name: brackets
create or replace temp table bracket as
with neighbor as (
    select sentence_id, position, np, lag(np, 1, 0) over sentence as before, lead(np, 1, 0) over sentence as after
    from token t
    where {tokens}
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
    where {tokens}
    union all
    select b.sentence_id, b.position, b.place, w.id
    from bracket b
    join word w on w.form = b.form
    union all
    select s.id, 0, 1, {bos} from sentence s where {sentences}
    union all
    select s.id, s.length + 1, 1, {eos} from sentence s where {sentences}
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
