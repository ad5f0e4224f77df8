-- Which tagged words occur in which sentence, sorted by word.
with occurrence as (
    select layer, word_id, tag_id, sentence_id, count(*) as count
    from layer_token
    group by all
)
select if(layer = 1, 'word', 'unit') as layer, word_id, tag_id, sentence_id, count
from (from occurrence order by layer, word_id, tag_id, sentence_id)
