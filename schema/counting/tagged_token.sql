-- Tokens of a range of sentences of one corpus that have a tree, with the tag that the counts use.
-- Parameters: corpus, first, last. `_` (tag 1) stands for a missing tag.
select
    token.sentence_id,
    token.position,
    token.word_id,
    coalesce(
        case when corpus.tags = 'upos' then token.upos_id else token.xpos_id end,
        case when corpus.tags = 'upos' then token.xpos_id else token.upos_id end,
        1
    ) as tag_id,
    token.head,
    token.unit_head
from token
join corpus on corpus.id = token.corpus_id
where token.corpus_id = $corpus
    and token.sentence_id between $first and $last
    and token.head is not null
