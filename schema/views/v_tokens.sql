-- One row per token, with words and labels as strings.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- position: Place in the sentence, from 1.
-- form: Word form.
-- lemma: Lemma.
-- upos: Universal part of speech.
-- xpos: Language-specific part of speech.
-- feats: Morphological features.
-- head: Position of the head, 0 for the root.
-- deprel: Dependency relation to the head.
-- np: Number of the base noun phrase in the sentence, 0 outside.
-- unit_head: On the last word of a unit: position of the last word of the governing unit, 0 for the root.
-- space_after: Whether a space follows in the raw text.
create or replace view v_tokens as
select
    c.name as corpus,
    d.name as document,
    t.sentence_id,
    s.sent_id,
    t.position,
    w.form,
    l.form as lemma,
    u.name as upos,
    x.name as xpos,
    f.name as feats,
    t.head,
    r.name as deprel,
    t.np,
    t.unit_head,
    t.space_after
from token t
join sentence s on s.id = t.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = t.corpus_id
join word w on w.id = t.word_id
left join word l on l.id = t.lemma_id
left join tag u on u.id = t.upos_id
left join tag x on x.id = t.xpos_id
left join tag f on f.id = t.feats_id
left join tag r on r.id = t.deprel_id;
