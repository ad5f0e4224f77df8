-- Phrase links: which phrase of an abstract comes from which phrase of the document.
-- model: Name of the model.
-- corpus: Corpus of the pairs.
-- pair: Name of the pair.
-- document_first: Offset of the first word of the document phrase, from 0.
-- document_end: Offset after its last word.
-- abstract_first: Offset of the first word of the abstract phrase, from 0.
-- abstract_end: Offset after its last word.
-- posterior: Probability of the link given both texts.
create or replace view v_alignment_links as
select
    m.name as model,
    c.name as corpus,
    p.name as pair,
    l.document_first,
    l.document_end,
    l.abstract_first,
    l.abstract_end,
    l.posterior
from alignment_link l
join alignment_model m on m.id = l.model_id
join pair p on p.id = l.pair_id
join corpus c on c.id = l.corpus_id;
