-- Every attachment of a modifier to its head; 3 and 0 are word and tag of the root. Direction (right of the head
-- or not) and distance bucket are one number, 2 * distance + right, and grouped as such: short keys are fast keys.
select
    modifier.layer,
    modifier.sentence_id,
    modifier.position as modifier_position,
    modifier.head as head_position,
    coalesce(head.word_id, 3) as head_word_id,
    coalesce(head.tag_id, 0) as head_tag_id,
    modifier.word_id as modifier_word_id,
    modifier.tag_id as modifier_tag_id,
    (2 * least(abs(modifier.place - coalesce(head.place, 0)), 3)
        + (modifier.position > modifier.head)::integer)::utinyint as side
from layer_token as modifier
left join layer_token as head
    on head.layer = modifier.layer
    and head.sentence_id = modifier.sentence_id
    and head.position = modifier.head
