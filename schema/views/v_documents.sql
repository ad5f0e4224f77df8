-- One row per document: a text as its source marks it, or the whole source.
-- id: Number of the document.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- source: File or archive member that it was read from.
-- first_sentence: Id of its first sentence.
-- sentences: Number of its sentences, which have consecutive ids.
create or replace view v_documents as
select
    d.id,
    c.name as corpus,
    d.name as document,
    s.path as source,
    d.first_sentence,
    d.sentences
from document d
join corpus c on c.id = d.corpus_id
join source s on s.id = d.source_id;
