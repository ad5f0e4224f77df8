-- How many modifiers each node has on each side, 0 to 7, for its word and for its tag. The root counts too.
with node as (
    select layer, sentence_id, position, word_id, tag_id from layer_token
    union all
    select distinct layer, sentence_id, 0 as position, 3 as word_id, 0 as tag_id from layer_token
),
side as (
    select unnest(['left', 'right']) as direction
),
taken as (
    select layer, sentence_id, head_position, direction, count(*) as modifiers
    from attachment
    group by all
),
node_side as (
    select
        node.layer,
        node.word_id,
        node.tag_id,
        side.direction,
        least(coalesce(taken.modifiers, 0), 7)::smallint as arguments
    from node
    cross join side
    left join taken
        on taken.layer = node.layer
        and taken.sentence_id = node.sentence_id
        and taken.head_position = node.position
        and taken.direction = side.direction
)
select
    layer,
    case when grouping(word_id) = 0 then 'word' else 'tag' end as level,
    word_id,
    tag_id,
    direction,
    arguments,
    count(*) as count
from node_side
group by grouping sets (
    (layer, word_id, tag_id, direction, arguments),
    (layer, tag_id, direction, arguments)
)
order by all
