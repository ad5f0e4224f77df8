-- How often one modifier stands next after another on a side of their head, from the head outwards.
with modifier as (
    select
        layer,
        head_tag_id,
        modifier_tag_id,
        side % 2 as is_right,
        lag(modifier_tag_id) over (
            partition by layer, sentence_id, head_position, side % 2
            order by abs(modifier_position - head_position)
        ) as before_tag_id
    from attachment
)
select
    if(layer = 1, 'word', 'unit') as layer,
    head_tag_id,
    before_tag_id,
    modifier_tag_id,
    if(is_right = 1, 'right', 'left') as direction,
    count(*) as count
from modifier
where before_tag_id is not null
group by layer, head_tag_id, before_tag_id, modifier_tag_id, is_right
order by layer, head_tag_id, before_tag_id, modifier_tag_id, is_right
