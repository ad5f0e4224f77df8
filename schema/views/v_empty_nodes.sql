-- One row per empty node of the enhanced dependency graphs.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- position: Position of the token that it follows, 0 before the first one.
-- minor: Its number among those that follow this token, from 1.
-- form: Word form.
-- lemma: Lemma.
-- upos: Universal part of speech.
-- xpos: Language-specific part of speech.
-- feats: Morphological features.
-- misc: The column MISC.
create or replace view v_empty_nodes as
select
    c.name as corpus,
    d.name as document,
    n.sentence_id,
    s.sent_id,
    n.position,
    n.minor,
    n.form,
    n.lemma,
    n.upos,
    n.xpos,
    n.feats,
    n.misc
from empty_node n
join sentence s on s.id = n.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = n.corpus_id;
