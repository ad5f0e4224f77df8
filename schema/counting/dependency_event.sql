-- Head-modifier events at the four back-off levels; a word that is backed off is null.
select
    layer,
    case
        when grouping(head_word_id) = 0 and grouping(modifier_word_id) = 0 then 'word-word'
        when grouping(modifier_word_id) = 0 then 'tag-word'
        when grouping(head_word_id) = 0 then 'word-tag'
        else 'tag-tag'
    end as level,
    head_word_id,
    head_tag_id,
    modifier_word_id,
    modifier_tag_id,
    direction,
    distance,
    count(*) as count
from attachment
group by grouping sets (
    (layer, head_word_id, head_tag_id, modifier_word_id, modifier_tag_id, direction, distance),
    (layer, head_tag_id, modifier_word_id, modifier_tag_id, direction, distance),
    (layer, head_word_id, head_tag_id, modifier_tag_id, direction, distance),
    (layer, head_tag_id, modifier_tag_id, direction, distance)
)
order by all
