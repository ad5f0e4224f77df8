-- How many modifiers a head takes on each side.
-- corpus: Name of the corpus.
-- layer: word: all tokens. unit: base noun phrases as one unit.
-- level: word: the word with its tag. tag: all words of the tag.
-- head: Head word; null at level tag.
-- head_tag: Tag of the head.
-- direction: Side of the head: left or right.
-- arguments: Number of modifiers on that side, 0 to 7; 7 stands for seven and more.
-- count: How often the head occurs in the corpus with that number of modifiers.
create or replace view v_arguments as
select
    c.name as corpus,
    a.layer,
    a.level,
    w.form as head,
    t.name as head_tag,
    a.direction,
    a.arguments,
    sum(a.count)::bigint as count
from argument_count a
join segment s on s.id = a.segment_id
join corpus c on c.id = s.corpus_id
left join word w on w.id = a.word_id
join tag t on t.id = a.tag_id
group by all;
