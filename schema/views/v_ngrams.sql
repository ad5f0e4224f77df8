-- N-grams of all orders with their counts; v_ngrams_1 to v_ngrams_5 hold one order each.
-- corpus: Name of the corpus.
-- n: Order of the n-gram.
-- ngram: Its words, joined by spaces.
-- w1: First word.
-- w2: Second word; null beyond the order.
-- w3: Third word; null beyond the order.
-- w4: Fourth word; null beyond the order.
-- w5: Fifth word; null beyond the order.
-- count: How often the n-gram occurs in the corpus.
create or replace view v_ngrams as
select corpus, 1 as n, w1 as ngram, w1, null::varchar as w2, null::varchar as w3, null::varchar as w4, null::varchar as w5, count
from v_ngrams_1
union all
select corpus, 2, concat_ws(' ', w1, w2), w1, w2, null, null, null, count
from v_ngrams_2
union all
select corpus, 3, concat_ws(' ', w1, w2, w3), w1, w2, w3, null, null, count
from v_ngrams_3
union all
select corpus, 4, concat_ws(' ', w1, w2, w3, w4), w1, w2, w3, w4, null, count
from v_ngrams_4
union all
select corpus, 5, concat_ws(' ', w1, w2, w3, w4, w5), w1, w2, w3, w4, w5, count
from v_ngrams_5;
