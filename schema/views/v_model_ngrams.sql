-- The n-grams of the models with their probabilities and back-off weights; none of stupid-backoff and dynamic-mixture.
-- model: Name of the model.
-- version: Version of the model.
-- n: Order of the n-gram.
-- ngram: Its words, joined by spaces.
-- w1: First word.
-- w2: Second word; null beyond the order.
-- w3: Third word; null beyond the order.
-- w4: Fourth word; null beyond the order.
-- w5: Fifth word; null beyond the order.
-- logp: Natural logarithm of the probability of the last word after the others.
-- backoff: Natural logarithm of the back-off weight; 0 if the n-gram has none.
-- log10p: The same probability as a decimal logarithm, as in ARPA files.
-- log10_backoff: The same back-off weight as a decimal logarithm, as in ARPA files.
create or replace view v_model_ngrams as
select
    m.name as model,
    m.version,
    g.n,
    concat_ws(' ', a.form, b.form, c.form, d.form, e.form) as ngram,
    a.form as w1,
    b.form as w2,
    c.form as w3,
    d.form as w4,
    e.form as w5,
    g.logp,
    g.backoff,
    g.logp / ln(10) as log10p,
    g.backoff / ln(10) as log10_backoff
from model_ngram g
join model m on m.id = g.model_id
join word a on a.id = g.w1
left join word b on b.id = g.w2
left join word c on c.id = g.w3
left join word d on d.id = g.w4
left join word e on e.id = g.w5;
