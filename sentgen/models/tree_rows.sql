-- What the store has counted about some words, as rows of `sentgen.models.dependency.tree_counts._TreeRows`.
-- `what` is 3 * side + distance - 1 for events, 6 for pairs in one sentence, 7 + 8 * side + number for heads
-- with a number of modifiers, 23 + side for one modifier next after another; the side is 0 for left. Ids are
-- literals where they are few: DuckDB looks into few row groups for them.

-- name: counted
select anchor, what, word_id, tag_id, other_word_id, other_tag_id, sum(count)::bigint as count
from (
    select
        anchor,
        3 * (direction = 'right')::integer + distance - 1 as what,
        coalesce(head_word_id, -1) as word_id,
        head_tag_id as tag_id,
        coalesce(modifier_word_id, -1) as other_word_id,
        modifier_tag_id as other_tag_id,
        count
    from dependency_event
    where segment_id in ({segments})
        and layer = '{layer}'
        and {events}
    union all
    select
        coalesce(word_id, 0),
        7 + 8 * (direction = 'right')::integer + arguments,
        coalesce(word_id, -1),
        tag_id,
        -1,
        -1,
        count
    from argument_count
    where segment_id in ({segments})
        and layer = '{layer}'
        and {heads}
    union all
    select
        coalesce(word_id, 0),
        6,
        coalesce(word_id, -1),
        tag_id,
        coalesce(other_word_id, -1),
        other_tag_id,
        count
    from cooccurrence
    where segment_id in ({segments})
        and layer = '{layer}'
        and {heads}
    {siblings}
)
group by all
order by anchor

-- name: siblings
union all
-- The tag before stands where others have a word.
select 0, 23 + (direction = 'right')::integer, -1, head_tag_id, before_tag_id, modifier_tag_id, count
from sibling_count
where segment_id in ({segments})
    and layer = '{layer}'

-- name: frequent
select segment_id, w1 as word_id
from ngram_1
where segment_id in ({segments})
    and {word_asked}
    and count >= {frequent}

-- name: rare
-- Pairs of words with few tokens in a segment, from the sentences that have them.
with rare as materialized (
    {postings}
),
met as materialized (
    select
        segment_id,
        a.word_id,
        a.tag_id,
        b.word_id as other_word_id,
        b.tag_id as other_tag_id,
        sum(a.count * b.count - if((a.word_id, a.tag_id) = (b.word_id, b.tag_id), a.count, 0)) as count
    from posting as b
    join rare as a using (segment_id, sentence_id)
    where segment_id in ({segments})
        and b.layer = '{layer}'
    group by all
),
frequent as (
    select segment_id, w1 as other_word_id
    from ngram_1
    where segment_id in ({segments})
        and count >= {frequent}
)
select word_id as anchor, 6 as what, word_id, tag_id, -1 as other_word_id, other_tag_id, sum(count)::bigint as count
from met
group by all
union all
-- A pair of two rare words comes with the greater one.
select word_id as anchor, 6 as what, word_id, tag_id, other_word_id, other_tag_id, sum(count)::bigint as count
from (
    from met semi join frequent using (segment_id, other_word_id)
    union all
    from met anti join frequent using (segment_id, other_word_id)
    where (other_word_id, other_tag_id) <= (word_id, tag_id)
)
group by all
order by anchor

-- name: postings
select segment_id, word_id, tag_id, sentence_id, count
from posting
where segment_id = {segment}
    and layer = '{layer}'
    and {word_asked}
