-- One row per token whose column MISC says more than whether a space follows.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- position: Position of the token.
-- form: Word form.
-- misc: The column MISC as the source has it, such as Gloss=dog|SpaceAfter=No.
create or replace view v_misc as
select
    c.name as corpus,
    d.name as document,
    m.sentence_id,
    s.sent_id,
    m.position,
    w.form,
    m.misc
from token_misc m
join token t on t.sentence_id = m.sentence_id and t.position = m.position
join word w on w.id = t.word_id
join sentence s on s.id = m.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = m.corpus_id;
