-- The jump tables: how far the next document phrase lies from the end of the one before; 1 goes straight on.
-- model: Name of the model.
-- direction: forward: abstracts from documents; reverse: documents from abstracts.
-- iteration: Iteration after which it holds.
-- first: Smallest distance of the cell.
-- last: Largest distance of the cell.
-- prob: Probability of the whole cell.
create or replace view v_jumps as
select
    m.name as model,
    j.direction,
    j.iteration,
    j.first,
    j.last,
    j.prob
from alignment_jump j
join alignment_model m on m.id = j.model_id;
