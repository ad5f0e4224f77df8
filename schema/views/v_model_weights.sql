-- Weights that `sentgen tune` learnt.
-- model: Name of the model of the words.
-- model_version: Its version.
-- version: Counts what was learnt for that model, from 1.
-- algorithm: Algorithm whose weights they are.
-- kind: feature: another model, factor: a part of trees.
-- name: Name of that model with its version, or of the factor.
-- weight: What it weighs beside the 1 of the words.
-- run: Run that learnt it.
create or replace view v_model_weights as
select
    m.name as model,
    m.version as model_version,
    w.version,
    w.algorithm,
    w.kind,
    w.name,
    w.weight,
    w.run_id as run
from model_weight w
join model m on m.id = w.model_id
order by m.name, m.version, w.version, w.kind, w.name;
