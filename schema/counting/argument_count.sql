-- How many modifiers each node has on each side, 0 to 7, for its word and for its tag. The root counts too.
with node as (
    select layer, sentence_id, position, word_id, tag_id from layer_token
    union all
    select distinct layer, sentence_id, 0 as position, 3 as word_id, 0 as tag_id from layer_token
),
taken as (
    select
        layer,
        sentence_id,
        head_position,
        count(*) filter (side % 2 = 0) as on_left,
        count(*) filter (side % 2 = 1) as on_right
    from attachment
    group by all
),
node_taken as (
    select
        node.layer,
        node.word_id,
        node.tag_id,
        least(coalesce(taken.on_left, 0), 7)::utinyint as on_left,
        least(coalesce(taken.on_right, 0), 7)::utinyint as on_right
    from node
    left join taken
        on taken.layer = node.layer
        and taken.sentence_id = node.sentence_id
        and taken.head_position = node.position
),
word_level as (
    select layer, word_id, tag_id, true as is_right, on_right as arguments, count(*) as count
    from node_taken
    group by all
    union all
    select layer, word_id, tag_id, false as is_right, on_left as arguments, count(*) as count
    from node_taken
    group by all
),
both_levels as (
    select 1 as level, * from word_level
    union all by name
    select 2 as level, layer, tag_id, is_right, arguments, sum(count) as count
    from word_level
    group by all
)
select
    if(layer = 1, 'word', 'unit') as layer,
    if(level = 1, 'word', 'tag') as level,
    word_id,
    tag_id,
    if(is_right, 'right', 'left') as direction,
    arguments::smallint as arguments,
    count::bigint as count
from (from both_levels order by layer, level, word_id, tag_id, is_right, arguments)
