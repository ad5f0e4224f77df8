-- One row per token and key of its column MISC, of tokens where MISC says more than whether a space follows.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- position: Position of the token.
-- form: Word form.
-- key: Key, such as Gloss of Gloss=dog|SpaceAfter=No.
-- value: What stands behind its first equals sign, such as dog; null where there is none.
-- misc: The whole column MISC as the source has it.
create or replace view v_misc as
select
    c.name as corpus,
    d.name as document,
    m.sentence_id,
    s.sent_id,
    m.position,
    w.form,
    string_split(m.part, '=')[1] as key,
    if(contains(m.part, '='), substr(m.part, strpos(m.part, '=') + 1), null) as value,
    m.misc
from (select *, unnest(string_split(misc, '|')) as part from token_misc) m
join token t on t.sentence_id = m.sentence_id and t.position = m.position
join word w on w.id = t.word_id
join sentence s on s.id = m.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = m.corpus_id;
