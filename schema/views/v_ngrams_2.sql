-- Bigrams with their counts; sentences are wrapped in <s> and </s>.
-- corpus: Name of the corpus.
-- w1: First word.
-- w2: Second word.
-- count: How often the n-gram occurs in the corpus.
create or replace view v_ngrams_2 as
select
    c.name as corpus,
    a.form as w1,
    b.form as w2,
    sum(g.count)::bigint as count
from ngram_2 g
join segment s on s.id = g.segment_id
join corpus c on c.id = s.corpus_id
join word a on a.id = g.w1
join word b on b.id = g.w2
group by all;
