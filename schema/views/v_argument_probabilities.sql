-- How probable it is that a head takes a number of modifiers on a side, from its word and from its tag.
-- It has the tagged words of all corpora for each, and the numbers that its tag was seen with.
-- corpus: Name of the corpus.
-- layer: word: all tokens. unit: base noun phrases as one unit.
-- head: Head word; <root> is the root.
-- head_tag: Its tag.
-- direction: Side of the head: left or right.
-- arguments: Number of modifiers on that side, 0 to 7; 7 stands for seven and more.
-- count: How often the word occurs with that number.
-- share: Part of all occurrences of the word.
-- tag_count: How often the tag occurs with that number.
-- tag_share: Part of all occurrences of the tag.
-- weight: Share of share in prob: occurrences of the word / (occurrences + 1).
-- prob: weight * share + (1 - weight) * tag_share, as the generators have it.
create or replace view v_argument_probabilities as
with counted as (
    select corpus, layer, head, head_tag, direction, arguments, count, 0 as tag_count
    from v_arguments
    where level = 'word'
    union all
    select t.corpus, t.layer, h.head, t.head_tag, t.direction, t.arguments, 0 as count, t.count as tag_count
    from (select distinct layer, head, head_tag from v_arguments where level = 'word') h
    join v_arguments t
        on t.layer = h.layer
        and t.head_tag = h.head_tag
        and t.level = 'tag'
),
summed as (
    select
        corpus,
        layer,
        head,
        head_tag,
        direction,
        arguments,
        sum(count)::bigint as count,
        sum(tag_count)::bigint as tag_count
    from counted
    group by all
),
shared as (
    select
        *,
        coalesce(count / nullif(sum(count) over side, 0), 0) as share,
        tag_count / sum(tag_count) over side as tag_share,
        sum(count) over side / (sum(count) over side + 1) as weight
    from summed
    window side as (partition by corpus, layer, head, head_tag, direction)
)
select
    corpus,
    layer,
    head,
    head_tag,
    direction,
    arguments,
    count,
    share,
    tag_count,
    tag_share,
    weight,
    weight * share + (1 - weight) * tag_share as prob
from shared;
