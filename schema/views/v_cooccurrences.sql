-- How often two tagged words occur in the same sentence; filter on a or b, the whole is large.
-- Each pair is there in both orders; a word pairs with itself only when it occurs twice.
-- corpus: Name of the corpus.
-- layer: word: all tokens. unit: base noun phrases as one unit.
-- a: One word.
-- a_tag: Its tag.
-- b: The other word.
-- b_tag: Its tag.
-- count: Pairs of an occurrence of a and another one of b in the same sentence, over all sentences.
create or replace view v_cooccurrences as
select
    c.name as corpus,
    pa.layer,
    a.form as a,
    ta.name as a_tag,
    b.form as b,
    tb.name as b_tag,
    sum(
        pa.count * pb.count - case when pa.word_id = pb.word_id and pa.tag_id = pb.tag_id then pa.count else 0 end
    )::bigint as count
from posting pa
join posting pb
    on pb.sentence_id = pa.sentence_id
    and pb.layer = pa.layer
    and pb.segment_id = pa.segment_id
join segment s on s.id = pa.segment_id
join corpus c on c.id = s.corpus_id
join word a on a.id = pa.word_id
join tag ta on ta.id = pa.tag_id
join word b on b.id = pb.word_id
join tag tb on tb.id = pb.tag_id
where pa.word_id <> pb.word_id
    or pa.tag_id <> pb.tag_id
    or pa.count > 1
group by all;
