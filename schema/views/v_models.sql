-- One row per model: what it was built from and how.
-- model: Name of the model.
-- version: Counts the builds under that name, from 1; never used twice.
-- corpora: Corpora that it was built from, joined by commas.
-- max_order: Highest order of its n-grams.
-- smoothing: katz, kneser-ney, stupid-backoff, arpa (imported), mixture, dynamic-mixture or pruned.
-- min_count: Lowest count kept per order, joined by commas.
-- unknown: What unknown words get: none, word or tag.
-- vocabulary: Number of its unigrams, <unk> and </s> included, <s> left out.
-- sentences: Sentences that it was counted from.
-- tokens: Tokens that it was counted from.
-- created_at: When it was built (UTC).
create or replace view v_models as
select
    m.name as model,
    m.version,
    (
        select string_agg(mc.corpus_name, ', ' order by mc.corpus_name)
        from model_corpus mc
        where mc.model_id = m.id
    ) as corpora,
    m.max_order,
    m.smoothing,
    m.min_count,
    m.unknown,
    m.vocabulary,
    m.sentences,
    m.tokens,
    m.created_at
from model m
order by m.name, m.version;
