-- Documents with their abstracts.
-- id: Number of the pair.
-- corpus: Name of the corpus.
-- name: Name of the pair.
-- document_id: Its document (in v_documents).
-- abstract_id: Its abstract (in v_documents).
-- document_sentences: Number of sentences of the document.
-- document_words: Number of words of the document.
-- abstract_sentences: Number of sentences of the abstract.
-- abstract_words: Number of words of the abstract.
-- source: File that the document was read from.
create or replace view v_pairs as
select
    p.id,
    c.name as corpus,
    p.name,
    p.document_id,
    p.abstract_id,
    d.sentences as document_sentences,
    p.document_words,
    a.sentences as abstract_sentences,
    p.abstract_words,
    s.path as source
from pair p
join corpus c on c.id = p.corpus_id
join document d on d.id = p.document_id
join document a on a.id = p.abstract_id
join source s on s.id = d.source_id;
