-- The nodes of the two layers: every token, and the last word of every unit. `place` counts nodes, not tokens;
-- the artificial root stands at place 0. Layer 1 is word, 2 is unit.
select
    1::utinyint as layer,
    sentence_id,
    position,
    position as place,
    word_id,
    tag_id,
    head
from tagged_token
union all
select
    2::utinyint as layer,
    sentence_id,
    position,
    row_number() over (partition by sentence_id order by position) as place,
    word_id,
    tag_id,
    unit_head as head
from tagged_token
where unit_head is not null
