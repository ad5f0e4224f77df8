-- Every figure that an evaluation stored, with the run behind it.
-- run: Number of the run.
-- command: Command that ran.
-- started_at: When it began (UTC).
-- system: Algorithm or system that was measured.
-- item: Sentence of the test set, from 1; null for the whole set.
-- metric: Name of the metric.
-- value: Its value.
-- signature: How it was computed, so that others can repeat it.
create or replace view v_scores as
select
    r.id as run,
    r.command,
    r.started_at,
    s.system,
    s.item,
    s.metric,
    s.value,
    s.signature
from score s
join run r on r.id = s.run_id;
