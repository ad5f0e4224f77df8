-- What ran, with which data and settings.
-- run: Number of the run.
-- command: Command that ran.
-- parameters: Its parameters as JSON, hashes of its input files among them.
-- seed: Seed of its random numbers.
-- version: Version of sentgen.
-- started_at: When it began (UTC).
-- seconds: How long it took.
-- systems: Number of systems that it measured.
-- scores: Number of figures that it stored.
create or replace view v_runs as
select
    r.id as run,
    r.command,
    r.parameters,
    r.seed,
    r.version,
    r.started_at,
    r.seconds,
    (select count(distinct s.system) from score s where s.run_id = r.id) as systems,
    (select count(*) from score s where s.run_id = r.id) as scores
from run r
order by r.id;
