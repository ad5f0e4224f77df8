-- Every node has one number of modifiers on its left, so that these counts add up to its occurrences.

-- name: occurrences
select w.form, a.layer, t.name as tag, sum(a.count)::bigint as count
from argument_count a
join segment s on s.id = a.segment_id
join word w on w.id = a.word_id
join tag t on t.id = a.tag_id
where s.corpus_id in (select unnest($1::integer[]))
    and a.level = 'word'
    and a.direction = 'left'
    and a.word_id <> {root}
    and w.form in (select name from _names)
group by all

-- name: seen_once
with singleton as (
    select a.word_id, min(a.tag_id) as tag_id
    from argument_count a
    join segment s on s.id = a.segment_id
    where s.corpus_id in (select unnest($1::integer[]))
        and a.layer = $2
        and a.level = 'word'
        and a.direction = 'left'
        and a.word_id <> {root}
    group by a.word_id
    having sum(a.count) = 1
),
ended as (
    select
        regexp_replace({ending}, '[0-9]', '0', 'g') as suffix,
        left(w.form, 1) <> {first} as capitalized,
        t.name as tag
    from singleton
    join word w on w.id = singleton.word_id
    join tag t on t.id = singleton.tag_id
)
select n.suffix, n.capitalized, e.tag, count(*) as count
from ended e
left join _endings n on n.suffix = e.suffix and n.capitalized = e.capitalized
group by all

-- name: known_tags
select distinct t.name
from argument_count a
join segment s on s.id = a.segment_id
join tag t on t.id = a.tag_id
where s.corpus_id in (select unnest($1::integer[]))
    and a.layer = $2
    and a.level = 'tag'

-- name: pairs
select w.form, other.name as other, tag.name as tag, count(*) as count
from token t
left join word w on w.id = t.word_id and w.form in (select name from _names)
join tag other on other.id = t.{other}_id
join tag tag on tag.id = t.{kind}_id
where t.corpus_id in (select unnest($1::integer[]))
group by all
