-- Pairs as models aligned them, with what can be said of each abstract.
-- model: Name of the model.
-- corpus: Corpus of the pairs.
-- pair: Name of the pair.
-- decode: viterbi or posterior, with :vectors=NAME behind it if vectors said which words are near.
-- threshold: Smallest posterior of a link; null for viterbi.
-- iteration: Iterations that the model had.
-- logp: Natural logarithm of P(abstract | document).
-- document_words: Number of words of the document.
-- abstract_words: Number of words of the abstract.
-- links: Number of phrase links.
-- coverage: Share of the abstract's words in fragments copied from the document.
-- density: Mean length of the copied fragment of a word of the abstract.
-- null_share: Share of the abstract's words that are new: come from nothing.
-- changed_share: Share of the abstract's words that the document contradicts.
-- longest_run: Words of the longest copied fragment.
create or replace view v_alignments as
select
    m.name as model,
    c.name as corpus,
    p.name as pair,
    a.decode,
    a.threshold,
    a.iteration,
    a.logp,
    p.document_words,
    p.abstract_words,
    (
        select count(*)
        from alignment_link l
        where l.model_id = a.model_id
            and l.pair_id = a.pair_id
    ) as links,
    a.coverage,
    a.density,
    a.null_share,
    a.changed_share,
    a.longest_run
from alignment a
join alignment_model m on m.id = a.model_id
join pair p on p.id = a.pair_id
join corpus c on c.id = a.corpus_id;
