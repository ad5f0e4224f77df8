-- One row per metadata of a document or a sentence: what sources say of their texts, as key and value.
-- corpus: Name of the corpus.
-- document_id: Number of the document.
-- document: Name of the document.
-- sentence_id: Number of the sentence; null where it is said of the whole document.
-- sent_id: Name of the sentence in its source.
-- key: What is said, such as genre or speaker.
-- value: What it is.
create or replace view v_metadata as
select
    c.name as corpus,
    d.id as document_id,
    d.name as document,
    null::bigint as sentence_id,
    null::varchar as sent_id,
    m.key,
    m.value
from document_meta m
join document d on d.id = m.document_id
join corpus c on c.id = m.corpus_id
union all
select
    c.name as corpus,
    d.id as document_id,
    d.name as document,
    s.id as sentence_id,
    s.sent_id,
    m.key,
    m.value
from sentence_meta m
join sentence s on s.id = m.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = m.corpus_id;
