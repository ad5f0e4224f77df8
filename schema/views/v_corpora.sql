-- One row per corpus: what was read into it and how it is counted.
-- corpus: Name of the corpus.
-- kind: corpus, or cluster for a group of related sentences.
-- licence: Licence of the texts.
-- sources: Number of its sources (files, archive members or streams).
-- documents: Number of its documents.
-- sentences: Number of its sentences.
-- tokens: Number of its tokens.
-- rejected: Sentences that a check refused.
-- segments: Number of its segments of counts; more than a few slow queries down (sentgen db compact).
-- max_order: Highest order of n-grams that is counted.
-- tags: Which tags its dependency counts use: xpos or upos.
-- lowercase: Whether forms and lemmas were lower-cased on the way in.
-- created_at: When the corpus was created (UTC).
create or replace view v_corpora as
select
    c.name as corpus,
    c.kind,
    c.licence,
    (select count(*) from source s where s.corpus_id = c.id) as sources,
    (select count(*) from document d where d.corpus_id = c.id) as documents,
    (select coalesce(sum(s.sentences), 0)::bigint from source s where s.corpus_id = c.id) as sentences,
    (select coalesce(sum(s.tokens), 0)::bigint from source s where s.corpus_id = c.id) as tokens,
    (select coalesce(sum(s.rejected), 0)::bigint from source s where s.corpus_id = c.id) as rejected,
    (select count(*) from segment g where g.corpus_id = c.id) as segments,
    c.max_order,
    c.tags,
    c.lowercase,
    c.created_at
from corpus c
order by c.name;
