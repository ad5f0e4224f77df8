-- Words of abstracts: what became of each, and which words of the document it comes from.
-- model: Name of the model.
-- corpus: Corpus of the pairs.
-- pair: Name of the pair.
-- position: Offset of the word in the abstract, from 0.
-- sentence: Its sentence in the abstract, from 1.
-- word: The word as it stands there.
-- state: same, variant, related, changed or new.
-- document: The document words that it comes from, or that contradict it.
-- source: Their offsets, from 0.
-- posterior: Probability of its best link given both texts.
-- p_null: Probability that it comes from nothing in the document.
-- why: What tells its state, in a few words; may be empty.
-- elsewhere: Of a new word, the sentences of the document that have it, from 1.
create or replace view v_alignment as
with placed as not materialized (
    select
        s.document_id,
        (s.id - d.first_sentence + 1)::integer as sentence,
        (s.first_token - b.first_token + t.position - 1)::integer as place,
        w.form
    from token t
    join sentence s on s.id = t.sentence_id
    join document d on d.id = s.document_id
    join sentence b on b.id = d.first_sentence
    join word w on w.id = t.word_id
)
select
    m.name as model,
    c.name as corpus,
    p.name as pair,
    a.position,
    o.sentence,
    o.form as word,
    a.state,
    (
        select string_agg(f.form, ' ' order by f.place)
        from (select unnest(a.source) as place) n
        join placed f on f.place = n.place
        where f.document_id = p.document_id
    ) as document,
    a.source,
    a.posterior,
    a.p_null,
    a.why,
    a.elsewhere
from alignment_state a
join alignment_model m on m.id = a.model_id
join pair p on p.id = a.pair_id
join corpus c on c.id = a.corpus_id
join placed o on o.document_id = p.abstract_id and o.place = a.position;
