-- Which tagged words occur in which sentence, sorted by word.
select
    layer,
    word_id,
    tag_id,
    sentence_id,
    count(*) as count
from layer_token
group by all
order by layer, word_id, tag_id, sentence_id
