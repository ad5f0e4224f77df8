-- name: chosen
create or replace temp table chosen as
select s.id, s.length
from sentence s
where {among}

-- name: size_of_chosen
select count(*), coalesce(sum(length), 0)::bigint
from chosen

-- name: draw
-- By a hash of seed and place in the corpus: the same in every store, the fewer among the more.
create or replace temp table chosen as
with placed as (
    select s.id, k.name as corpus, s.id - min(s.id) over (partition by s.corpus_id) as place
    from sentence s
    join corpus k on k.id = s.corpus_id
    where s.corpus_id in (select x.corpus_id from sentence x semi join chosen c on c.id = x.id)
)
select c.id, c.length
from chosen c
join placed p on p.id = c.id
order by md5(concat_ws(' ', {seed}, p.place, p.corpus)), c.id
limit {number}

-- name: singletons
create or replace temp table singleton as
select t.word_id as w1
from token t
where {tokens} and t.word_id > {root}
group by w1
having count(*) = 1

-- name: classes
create or replace temp table class as
select t.corpus_id, t.sentence_id, t.position, true as stands, '<unk:' || g.name || '>' as form
from token t
join singleton s on s.w1 = t.word_id
left join tag g on g.id = coalesce(t.xpos_id, t.upos_id)
where {tokens}

-- name: no_classes
create or replace temp table class (sentence_id bigint, position integer, stands boolean, form varchar)

-- name: frequent
create or replace temp table frequent as
select w.id as w1, w.form
from token t
join word w on w.id = t.word_id
where {tokens} and w.id > {root}
group by w.id, w.form
order by count(*) desc, w.form
limit {kept}

-- name: frequent_symbols
select form
from frequent
where starts_with(form, '{tag}') or starts_with(form, '{phrase}')
order by form

-- name: tagged
create or replace temp table class as
select t.corpus_id, t.sentence_id, t.position, true as stands, '{tag}' || g.name || '>' as form
from token t
anti join frequent f on f.w1 = t.word_id
left join tag g on g.id = coalesce(t.xpos_id, t.upos_id)
where {tokens}

-- name: items
-- Of a phrase only the last word has a symbol, and stands for all of it.
create or replace temp table class as
with neighbor as (
    select t.corpus_id, t.sentence_id, t.position, t.word_id, coalesce(t.xpos_id, t.upos_id) as tag_id,
        t.np > 0 and t.np = lag(t.np, 1, 0) over sentence as follows,
        t.np > 0 and t.np = lead(t.np, 1, 0) over sentence as goes_on
    from token t
    where {tokens}
    window sentence as (partition by t.sentence_id order by t.position)
)
select n.corpus_id, n.sentence_id, n.position, not n.goes_on as stands,
    case
        when n.goes_on then null
        when n.follows then '{phrase}' || g.name || '>'
        else '{tag}' || g.name || '>'
    end as form
from neighbor n
left join frequent f on f.w1 = n.word_id
left join tag g on g.id = n.tag_id
where f.w1 is null or n.follows or n.goes_on

-- name: untagged
select distinct c.name
from class s
join corpus c on c.id = s.corpus_id
where s.form is null and s.stands
order by c.name

-- name: without_phrases
select c.name
from token t
join corpus c on c.id = t.corpus_id
where {tokens}
group by c.name
having count(t.np) < count(*) or max(t.np) = 0
order by c.name

-- name: annotated
select t.corpus_id
from token t
where t.corpus_id in ({corpora})
group by t.corpus_id
having count(t.np) = count(*) and max(t.np) > 0 and count(coalesce(t.xpos_id, t.upos_id)) = count(*)

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
from (select form from class where stands union select form from bracket) s
where not exists (select 1 from word w where w.form = s.form)

-- name: stream
create or replace temp table stream as
with mapped as (
    select t.sentence_id, t.position, 1 as place, coalesce(w.id, t.word_id) as word_id
    from token t
    left join class c on c.sentence_id = t.sentence_id and c.position = t.position
    left join word w on w.form = c.form
    where {tokens} and c.stands is distinct from false
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
