-- One row per token and model that was applied to it: how surprising the model finds the token.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- position: Position of the token.
-- form: Word form.
-- model: Name of the model.
-- version: Version of the model.
-- surprisal: -log2 of the probability of the token after those before it, in bits; of an unknown word that of <unk>.
-- unknown: Whether the model does not know the word.
create or replace view v_surprisal as
select
    c.name as corpus,
    d.name as document,
    p.sentence_id,
    s.sent_id,
    p.position,
    w.form,
    m.name as model,
    m.version,
    p.bits as surprisal,
    p.unknown
from surprisal p
join token t on t.sentence_id = p.sentence_id and t.position = p.position
join word w on w.id = t.word_id
join sentence s on s.id = p.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = p.corpus_id
join model m on m.id = p.model_id;
