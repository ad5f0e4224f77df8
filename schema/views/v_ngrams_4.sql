-- 4-grams with their counts; sentences are wrapped in <s> and </s>.
-- corpus: Name of the corpus.
-- w1: First word.
-- w2: Second word.
-- w3: Third word.
-- w4: Fourth word.
-- count: How often the n-gram occurs in the corpus.
create or replace view v_ngrams_4 as
select
    c.name as corpus,
    a.form as w1,
    b.form as w2,
    d.form as w3,
    e.form as w4,
    sum(g.count)::bigint as count
from ngram_4 g
join segment s on s.id = g.segment_id
join corpus c on c.id = s.corpus_id
join word a on a.id = g.w1
join word b on b.id = g.w2
join word d on d.id = g.w3
join word e on e.id = g.w4
group by all;
