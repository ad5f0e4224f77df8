-- What tuned models learnt from gold links: the weights of their features, those that are not 0.
-- model: Name of the model.
-- direction: forward: abstracts from documents; reverse: documents from abstracts.
-- feature: Feature of a link, a null word (null: ...), a copied run or a jump.
-- value: What it is.
-- weight: What is added to the logarithm of the score; above 0 it makes what has this value more probable.
create or replace view v_alignment_weights as
select
    m.name as model,
    w.direction,
    w.feature,
    w.value,
    w.weight
from alignment_weight w
join alignment_model m on m.id = w.model_id;
