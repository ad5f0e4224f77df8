-- Head-modifier events at the four back-off levels; a word that is backed off is null.
with word_word as (
    select layer, head_word_id, head_tag_id, modifier_word_id, modifier_tag_id, side, count(*) as count
    from attachment
    group by all
),
tag_word as (
    select layer, head_tag_id, modifier_word_id, modifier_tag_id, side, sum(count) as count
    from word_word
    group by all
),
word_tag as (
    select layer, head_word_id, head_tag_id, modifier_tag_id, side, sum(count) as count
    from word_word
    group by all
),
tag_tag as (
    select layer, head_tag_id, modifier_tag_id, side, sum(count) as count
    from tag_word
    group by all
),
every_level as (
    select 1 as level, * from word_word
    union all by name
    select 2 as level, * from tag_word
    union all by name
    select 3 as level, * from word_tag
    union all by name
    select 4 as level, * from tag_tag
),
event as (
    select *, coalesce(greatest(head_word_id, modifier_word_id), 0) as anchor
    from every_level
)
select
    if(layer = 1, 'word', 'unit') as layer,
    anchor,
    case level when 1 then 'word-word' when 2 then 'tag-word' when 3 then 'word-tag' else 'tag-tag' end as level,
    head_word_id,
    head_tag_id,
    modifier_word_id,
    modifier_tag_id,
    if(side % 2 = 1, 'right', 'left') as direction,
    (side // 2)::smallint as distance,
    count::bigint as count
from (from event order by layer, anchor, level, head_word_id, head_tag_id, modifier_word_id, modifier_tag_id, side)
