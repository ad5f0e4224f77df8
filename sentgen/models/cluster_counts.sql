-- name: documents
select d.id, d.name
from document d
join source s on s.id = d.source_id
where d.corpus_id = $corpus
  and d.sentences > 0
  and ($names is null or d.name in (select unnest($names::varchar[])))
  and ($sources is null or s.sha256 in (select unnest($sources::varchar[])))
order by d.id

-- name: tokens
create or replace temp table cluster_token as
with recursive node as (
    select s.document_id, t.sentence_id, t.position, t.head,
           {form} as form, coalesce({first}.name, {second}.name, '_') as tag,
           coalesce(deprel.name, '_') as deprel,
           case when {punctuation} then true
                when upos.name is not null then upos.name <> 'PUNCT'
                when xpos.name is not null
                    then xpos.name not in ('.', ',', ':', '``', '''''', '-LRB-', '-RRB-', 'HYPH', 'NFP', '#')
                else regexp_matches(w.form, '[\p{{L}}\p{{N}}]') end as kept
    from token t
    join sentence s on s.id = t.sentence_id
    join word w on w.id = t.word_id
    left join tag upos on upos.id = t.upos_id
    left join tag xpos on xpos.id = t.xpos_id
    left join tag deprel on deprel.id = t.deprel_id
    where s.document_id in ({documents})
), climb as (
    select sentence_id, position, head
    from node
    where kept
    union all
    select c.sentence_id, c.position, n.head
    from climb c
    join node n on n.sentence_id = c.sentence_id and n.position = c.head
    where not n.kept
), governed as (
    select c.sentence_id, c.position, c.head
    from climb c
    left join node n on n.sentence_id = c.sentence_id and n.position = c.head
    where coalesce(n.kept, true)
)
select n.document_id, n.sentence_id, n.position, g.head, n.form, n.tag, n.deprel,
       dense_rank() over (partition by n.document_id order by n.form) - 1 as w,
       dense_rank() over (partition by n.document_id order by n.tag) - 1 as t
from node n
join governed g using (sentence_id, position)

-- name: words
with counted as (
    select document_id, sentence_id, w, any_value(form) as form, count(*) as count
    from cluster_token
    group by document_id, sentence_id, w
), tagged as (
    select document_id, w, first(t order by count desc, t) as t, first(tag order by count desc, t) as tag
    from (select document_id, w, t, any_value(tag) as tag, count(*) as count from cluster_token group by all)
    group by document_id, w
)
select c.document_id, c.w, any_value(c.form) as form, any_value(g.t) as t, any_value(g.tag) as tag,
       sum(c.count)::integer as count, max(c.count)::integer as most, count(*)::integer as sentences
from counted c
join tagged g using (document_id, w)
group by c.document_id, c.w
order by c.document_id, c.w

-- name: sentences
select document_id, count(distinct sentence_id)::integer as sentences, count(head)::integer as heads,
       count(distinct t)::integer as tags
from cluster_token
group by document_id
order by document_id

-- name: bigrams
with stream as (
    select document_id, w,
           lag(w, 1, -1) over sentence_order as previous,
           lead(w, 1, -1) over sentence_order as following
    from cluster_token
    window sentence_order as (partition by sentence_id order by position)
)
select document_id, previous as a, w as b, count(*)::integer as count
from stream
group by all
union all
select document_id, w as a, following as b, count(*)::integer as count
from stream
where following = -1
group by all

-- name: pairs
select a.document_id, a.{of_a} as a, b.{of_b} as b, count(*)::integer as together,
       (count(*) filter (a.head = b.position))::integer as to_right,
       (count(*) filter (b.head = a.position))::integer as to_left
from cluster_token a
join cluster_token b on a.sentence_id = b.sentence_id and a.position < b.position
group by all

-- name: trees
select document_id, sentence_id, position, w, head, split_part(deprel, ':', 1) as relation
from cluster_token
order by document_id, sentence_id, position

-- name: drop
drop table cluster_token

-- name: document_frequencies
select {form} as form, count(distinct s.document_id)
from token t
join sentence s on s.id = t.sentence_id
join word w on w.id = t.word_id
where t.corpus_id = $corpus
  and {form} in (select unnest($words::varchar[]))
group by all

-- name: document_count
select count(*)
from document
where corpus_id = $corpus
  and sentences > 0
