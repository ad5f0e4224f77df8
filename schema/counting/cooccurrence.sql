-- How often frequent words and all tags stand in one sentence, from the postings of a segment.
-- Parameters: segment, frequent (tokens from which on a word is).
with frequent as (
    select w1 as word_id
    from ngram_1
    where segment_id = $segment
        and count >= $frequent
),
node as (
    select layer = 'unit' as is_unit, sentence_id, word_id, tag_id, count::integer as count
    from posting
    where segment_id = $segment
),
word_node as (
    select node.*
    from node
    join frequent using (word_id)
),
tag_node as (
    select is_unit, sentence_id, tag_id, sum(count)::integer as count
    from node
    group by all
),
-- A token is no pair with itself.
pair as (
    select
        1 as level,
        a.is_unit,
        a.word_id,
        a.tag_id,
        b.word_id as other_word_id,
        b.tag_id as other_tag_id,
        sum(a.count * b.count - if((a.word_id, a.tag_id) = (b.word_id, b.tag_id), a.count, 0)) as count
    from word_node as a
    join word_node as b
        on b.is_unit = a.is_unit
        and b.sentence_id = a.sentence_id
        and (b.word_id, b.tag_id) <= (a.word_id, a.tag_id)
    group by all
    union all by name
    select
        2 as level,
        a.is_unit,
        a.word_id,
        a.tag_id,
        null as other_word_id,
        b.tag_id as other_tag_id,
        sum(a.count * b.count - if(a.tag_id = b.tag_id, a.count, 0)) as count
    from word_node as a
    join tag_node as b
        on b.is_unit = a.is_unit
        and b.sentence_id = a.sentence_id
    group by all
    union all by name
    select
        3 as level,
        a.is_unit,
        null as word_id,
        a.tag_id,
        null as other_word_id,
        b.tag_id as other_tag_id,
        sum(a.count * b.count - if(a.tag_id = b.tag_id, a.count, 0)) as count
    from tag_node as a
    join tag_node as b
        on b.is_unit = a.is_unit
        and b.sentence_id = a.sentence_id
        and b.tag_id <= a.tag_id
    group by all
)
select
    if(is_unit, 'unit', 'word') as layer,
    case level when 1 then 'word-word' when 2 then 'word-tag' else 'tag-tag' end as level,
    word_id,
    tag_id,
    other_word_id,
    other_tag_id,
    count::bigint as count
from (from pair where count > 0 order by is_unit, level, word_id, tag_id, other_word_id, other_tag_id)
