-- Where each word form and each lemma occurs; filter on attribute and word, the whole is large.
-- corpus: Name of the corpus.
-- attribute: word: the form of the token. lemma: its lemma.
-- word: The form or lemma.
-- token: Number of the token; those of a sentence, and of the sentences of a document, are consecutive.
-- sentence_id: Number of the sentence.
-- position: Place in the sentence, from 1.
create or replace view v_occurrences as
select
    c.name as corpus,
    o.attribute,
    w.form as word,
    o.token,
    s.id as sentence_id,
    (o.token - s.first_token + 1)::integer as position
from occurrence o
join word w on w.id = o.word_id
join segment g on g.id = o.segment_id
join corpus c on c.id = g.corpus_id
asof join sentence s on s.first_token <= o.token;
