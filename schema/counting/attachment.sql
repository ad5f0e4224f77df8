-- Every attachment of a modifier to its head, with direction and distance bucket; 3 and 0 are word and tag of the root.
create or replace temp table attachment as
select
    modifier.layer,
    modifier.sentence_id,
    modifier.head as head_position,
    coalesce(head.word_id, 3) as head_word_id,
    coalesce(head.tag_id, 0) as head_tag_id,
    modifier.word_id as modifier_word_id,
    modifier.tag_id as modifier_tag_id,
    case when modifier.position > modifier.head then 'right' else 'left' end as direction,
    least(abs(modifier.place - coalesce(head.place, 0)), 3)::smallint as distance
from layer_token as modifier
left join layer_token as head
    on head.layer = modifier.layer
    and head.sentence_id = modifier.sentence_id
    and head.position = modifier.head;
