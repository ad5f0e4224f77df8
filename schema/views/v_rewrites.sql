-- What phrases become: the rewrite tables as strings.
-- model: Name of the model.
-- direction: forward: abstracts from documents; reverse: documents from abstracts.
-- layer: words, or stems for the table of stems.
-- source: Phrase that is rewritten.
-- target: What it becomes.
-- prob: P(target | source) in the table; the mixture adds equal stems and identity.
-- iteration: Iteration after which it holds.
create or replace view v_rewrites as
select
    m.name as model,
    if(r.reverse, 'reverse', 'forward') as direction,
    s.layer,
    s.form as source,
    t.form as target,
    r.prob,
    r.iteration
from alignment_rewrite r
join alignment_model m on m.id = r.model_id
join alignment_phrase s on s.model_id = r.model_id and (s.layer = 'stems') = r.stems and s.key = r.source
join alignment_phrase t on t.model_id = r.model_id and t.layer = s.layer and t.key = r.target;
