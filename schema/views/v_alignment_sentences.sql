-- Sentences of abstracts: from which sentences of the document their words come.
-- model: Name of the model.
-- corpus: Corpus of the pairs.
-- pair: Name of the pair.
-- sentence: Sentence of the abstract, from 1.
-- words: Number of its words.
-- source: Sentence of the document, from 1; null where no word of the sentence comes from anywhere.
-- linked: How many of the words come from there, or are contradicted there (v_alignment).
-- share: Their share of all words of the sentence; a word that comes from two sentences counts for both.
-- posterior: Mean over them of the probability of their best link; null where the aligner knows none.
-- rank: Place among the sources, from 1: by share, of equals the first in the document.
create or replace view v_alignment_sentences as
with placed as not materialized (
    select
        s.document_id,
        (s.id - d.first_sentence + 1)::integer as sentence,
        s.length as words,
        (s.first_token - b.first_token)::integer as place
    from sentence s
    join document d on d.id = s.document_id
    join sentence b on b.id = d.first_sentence
),
told as (
    select
        m.name as model,
        c.name as corpus,
        p.id as pair_id,
        p.name as pair,
        p.document_id,
        p.abstract_id,
        a.position,
        unnest(if(len(a.source) = 0, [null], a.source)) as place,
        a.posterior
    from alignment_state a
    join alignment_model m on m.id = a.model_id
    join corpus c on c.id = a.corpus_id
    join pair p on p.id = a.pair_id
),
of_word as (
    -- Once for each source: several words of one sentence are one source.
    select distinct t.model, t.corpus, t.pair_id, t.pair, o.sentence, o.words, t.position, t.posterior, f.sentence as source
    from told t
    asof join placed o on o.document_id = t.abstract_id and o.place <= t.position
    asof left join placed f on f.document_id = t.document_id and f.place <= t.place
),
counted as (
    select
        model,
        corpus,
        pair_id,
        pair,
        sentence,
        words,
        source,
        count(source) as linked,
        count(source) / words as share,
        -- In an order, as a sum of fractions depends on it in its last digit.
        avg(posterior order by position) filter (where source is not null) as posterior,
        bool_and(source is null) over (partition by model, corpus, pair_id, sentence) as alone
    from of_word
    group by model, corpus, pair_id, pair, sentence, words, source
)
select
    model,
    corpus,
    pair,
    sentence,
    words,
    source,
    linked,
    share,
    posterior,
    row_number() over (partition by model, corpus, pair_id, sentence order by linked desc, source) as rank
from counted
where source is not null
    or alone;
