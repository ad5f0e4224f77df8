-- One row per surface word that covers several tokens, such as French du for de and le.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- first: Position of its first token.
-- last: Position of its last token.
-- form: Surface form.
-- tokens: Its tokens, joined by spaces.
-- misc: The column MISC of its line, where it says more than whether a space follows.
create or replace view v_multiwords as
select
    c.name as corpus,
    d.name as document,
    m.sentence_id,
    s.sent_id,
    m.first,
    m.last,
    m.form,
    string_agg(w.form, ' ' order by t.position) as tokens,
    any_value(r.misc) as misc
from multiword m
join token t on t.sentence_id = m.sentence_id and t.position between m.first and m.last
join word w on w.id = t.word_id
join sentence s on s.id = m.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = m.corpus_id
left join multiword_row r on r.sentence_id = m.sentence_id and r.first = m.first
group by c.name, d.name, m.sentence_id, s.sent_id, m.first, m.last, m.form;
