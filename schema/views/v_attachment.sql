-- Where the probability of an attachment comes from: counts, ratio and weight at the three back-off levels.
-- It has the pairs of tagged words that were head and modifier in any corpus; filter on both, the whole is large.
-- corpus: Name of the corpus.
-- layer: word: all tokens. unit: base noun phrases as one unit.
-- head: Head word; <root> is the root.
-- head_tag: Its tag.
-- modifier: Modifier word.
-- modifier_tag: Its tag.
-- direction: Side of the head on which the modifier stands: left or right.
-- word_events: How often the words are head and modifier on that side.
-- word_pairs: How often they stand in one sentence; the root is in every sentence once.
-- word_ratio: word_events / word_pairs, 0 if there are none.
-- word_weight: Share of word_ratio in prob: word_pairs / (word_pairs + 1).
-- mixed_events: Events of one word with the tag of the other, both ways together.
-- mixed_pairs: How often these stand in one sentence.
-- mixed_ratio: mixed_events / mixed_pairs, 0 if there are none.
-- mixed_weight: Share of mixed_ratio in the rest of prob: mixed_pairs / (mixed_pairs + 1).
-- tag_events: Events of the two tags.
-- tag_pairs: How often these stand in one sentence.
-- tag_ratio: tag_events / tag_pairs, 0 if there are none.
-- prob: Sum of the ratios by their weights, as the generators have it; tag_ratio has the weight that is left.
create or replace view v_attachment as
with pair as not materialized (
    select distinct
        e.layer,
        e.head_word_id,
        e.head_tag_id,
        e.modifier_word_id,
        e.modifier_tag_id,
        h.form as head,
        ht.name as head_tag,
        m.form as modifier,
        mt.name as modifier_tag
    from dependency_event e
    join word h on h.id = e.head_word_id
    join tag ht on ht.id = e.head_tag_id
    join word m on m.id = e.modifier_word_id
    join tag mt on mt.id = e.modifier_tag_id
    where e.level = 'word-word'
),
-- Words whose pairs are stored; those of the others are counted in their few postings.
frequent as (
    select distinct layer, segment_id, word_id
    from cooccurrence
    where level = 'word-tag'
),
rare as (
    select *
    from posting
    anti join frequent using (layer, segment_id, word_id)
),
-- In one sentence, at the levels 1 (words), 2 (a word and a tag), 3 (tags). A token is no pair with itself.
met as (
    select
        pair.*,
        a.segment_id,
        unnest(if(b.word_id = modifier_word_id, [1, 2], [2])) as level,
        a.count * (b.count - ((b.word_id, b.tag_id) = (a.word_id, a.tag_id))::integer) as count
    from pair
    join rare a
        on a.layer = pair.layer
        and a.word_id = head_word_id
        and a.tag_id = head_tag_id
    join posting b
        on b.segment_id = a.segment_id
        and b.layer = a.layer
        and b.sentence_id = a.sentence_id
        and b.tag_id = modifier_tag_id
    union all by name
    select
        pair.*,
        a.segment_id,
        unnest(if(b.word_id = head_word_id and f.word_id is not null, [1, 2], [2])) as level,
        a.count * (b.count - ((b.word_id, b.tag_id) = (a.word_id, a.tag_id))::integer) as count
    from pair
    join rare a
        on a.layer = pair.layer
        and a.word_id = modifier_word_id
        and a.tag_id = modifier_tag_id
    join posting b
        on b.segment_id = a.segment_id
        and b.layer = a.layer
        and b.sentence_id = a.sentence_id
        and b.tag_id = head_tag_id
    left join frequent f
        on f.segment_id = a.segment_id
        and f.layer = a.layer
        and f.word_id = head_word_id
    union all by name
    select pair.*, c.segment_id, 1 as level, c.count
    from pair
    join cooccurrence c
        on c.layer = pair.layer
        and c.level = 'word-word'
        and (c.word_id, c.tag_id) = greatest((head_word_id, head_tag_id), (modifier_word_id, modifier_tag_id))
        and (c.other_word_id, c.other_tag_id)
            = least((head_word_id, head_tag_id), (modifier_word_id, modifier_tag_id))
    union all by name
    select pair.*, c.segment_id, 2 as level, c.count
    from pair
    join cooccurrence c
        on c.layer = pair.layer
        and c.level = 'word-tag'
        and c.word_id = head_word_id
        and c.tag_id = head_tag_id
        and c.other_tag_id = modifier_tag_id
    union all by name
    select pair.*, c.segment_id, 2 as level, c.count
    from pair
    join cooccurrence c
        on c.layer = pair.layer
        and c.level = 'word-tag'
        and c.word_id = modifier_word_id
        and c.tag_id = modifier_tag_id
        and c.other_tag_id = head_tag_id
    union all by name
    select pair.*, c.segment_id, 3 as level, c.count
    from pair
    join cooccurrence c
        on c.layer = pair.layer
        and c.level = 'tag-tag'
        and c.tag_id = greatest(head_tag_id, modifier_tag_id)
        and c.other_tag_id = least(head_tag_id, modifier_tag_id)
    union all by name
    -- The root is in every sentence once, and has no postings.
    select pair.*, n.segment_id, unnest(if(n.level = 'word', [1, 2], [2, 3])) as level, n.count
    from pair
    join argument_count n
        on n.layer = pair.layer
        and n.direction = 'left'
        and n.tag_id = modifier_tag_id
        and coalesce(n.word_id, modifier_word_id) = modifier_word_id
    where head_word_id = 3
        and head_tag_id = 0
),
counted as (
    select *, unnest(['left', 'right']) as direction, 0 as events, count as pairs
    from met
    union all by name
    select
        pair.*,
        e.segment_id,
        case e.level when 'word-word' then 1 when 'tag-tag' then 3 else 2 end as level,
        e.direction,
        e.count as events,
        0 as pairs
    from pair
    join dependency_event e
        on e.layer = pair.layer
        and e.head_tag_id = pair.head_tag_id
        and e.modifier_tag_id = pair.modifier_tag_id
        and coalesce(e.head_word_id, pair.head_word_id) = pair.head_word_id
        and coalesce(e.modifier_word_id, pair.modifier_word_id) = pair.modifier_word_id
),
level as (
    select
        c.name as corpus,
        layer,
        head,
        head_tag,
        modifier,
        modifier_tag,
        direction,
        coalesce(sum(events) filter (level = 1), 0)::bigint as word_events,
        coalesce(sum(pairs) filter (level = 1), 0)::bigint as word_pairs,
        coalesce(sum(events) filter (level = 2), 0)::bigint as mixed_events,
        coalesce(sum(pairs) filter (level = 2), 0)::bigint as mixed_pairs,
        coalesce(sum(events) filter (level = 3), 0)::bigint as tag_events,
        coalesce(sum(pairs) filter (level = 3), 0)::bigint as tag_pairs
    from counted
    join segment s on s.id = segment_id
    join corpus c on c.id = s.corpus_id
    group by all
),
weighted as (
    select
        *,
        coalesce(word_events / nullif(word_pairs, 0), 0) as word_ratio,
        word_pairs / (word_pairs + 1) as word_weight,
        coalesce(mixed_events / nullif(mixed_pairs, 0), 0) as mixed_ratio,
        mixed_pairs / (mixed_pairs + 1) as mixed_weight,
        coalesce(tag_events / nullif(tag_pairs, 0), 0) as tag_ratio
    from level
)
select
    corpus,
    layer,
    head,
    head_tag,
    modifier,
    modifier_tag,
    direction,
    word_events,
    word_pairs,
    word_ratio,
    word_weight,
    mixed_events,
    mixed_pairs,
    mixed_ratio,
    mixed_weight,
    tag_events,
    tag_pairs,
    tag_ratio,
    word_weight * word_ratio
        + (1 - word_weight) * (mixed_weight * mixed_ratio + (1 - mixed_weight) * tag_ratio) as prob
from weighted;
