-- Head-modifier events, at four back-off levels and in two layers.
-- corpus: Name of the corpus.
-- layer: word: all tokens. unit: base noun phrases as one unit.
-- level: Back-off level, head first: word-word, tag-word, word-tag or tag-tag.
-- head: Head word; null where backed off to its tag.
-- head_tag: Tag of the head.
-- modifier: Modifier word; null where backed off to its tag.
-- modifier_tag: Tag of the modifier.
-- direction: Side of the head on which the modifier stands: left or right.
-- distance: Distance in words or units: 1, 2, or 3 for three and more.
-- count: How often the event occurs in the corpus.
create or replace view v_dependencies as
select
    c.name as corpus,
    e.layer,
    e.level,
    h.form as head,
    ht.name as head_tag,
    m.form as modifier,
    mt.name as modifier_tag,
    e.direction,
    e.distance,
    sum(e.count)::bigint as count
from dependency_event e
join segment s on s.id = e.segment_id
join corpus c on c.id = s.corpus_id
left join word h on h.id = e.head_word_id
join tag ht on ht.id = e.head_tag_id
left join word m on m.id = e.modifier_word_id
join tag mt on mt.id = e.modifier_tag_id
group by all;
