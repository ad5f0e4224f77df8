-- The iterations of training.
-- model: Name of the model.
-- direction: forward: abstracts from documents; reverse: documents from abstracts.
-- iteration: Number of the iteration.
-- logp: Natural logarithm of the likelihood of all pairs, before the M step.
-- log_posterior: The same plus that of the priors, but for a constant.
-- p_null: Probability that a word comes from null, after the M step.
-- weight_table: Mixture weight of the rewrite table.
-- weight_stem: Mixture weight of the stem model.
-- weight_identity: Mixture weight of identity.
-- cells: Cells of the rewrite tables.
-- seconds: How long the iteration took.
-- finished_at: When it was stored (UTC).
create or replace view v_alignment_iterations as
select
    m.name as model,
    i.direction,
    i.iteration,
    i.logp,
    i.log_posterior,
    i.p_null,
    i.weight_table,
    i.weight_stem,
    i.weight_identity,
    i.cells,
    i.seconds,
    i.finished_at
from alignment_iteration i
join alignment_model m on m.id = i.model_id;
