-- One row per model that aligns: what it was trained on and how far.
-- model: Name of the model.
-- corpus: Corpus of its pairs.
-- pairs: Number of its pairs.
-- iterations: Iterations of EM that were asked for.
-- forward: Iterations done, abstracts from documents.
-- reverse: Iterations done, documents from abstracts.
-- log_posterior: Natural logarithm of the posterior at the last forward iteration, but for a constant.
-- cells: Cells of its rewrite tables, both directions.
-- settings: Settings as JSON.
-- version: Version of sentgen.
-- created_at: When training began (UTC).
create or replace view v_alignment_models as
select
    m.name as model,
    m.corpus_name as corpus,
    m.pairs,
    m.iterations,
    count(i.iteration) filter (i.direction = 'forward') as forward,
    count(i.iteration) filter (i.direction = 'reverse') as reverse,
    arg_max(i.log_posterior, i.iteration) filter (i.direction = 'forward') as log_posterior,
    (select count(*) from alignment_rewrite r where r.model_id = m.id) as cells,
    m.settings,
    m.version,
    m.created_at
from alignment_model m
left join alignment_iteration i on i.model_id = m.id
group by all
order by m.name;
