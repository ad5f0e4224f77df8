-- One row per source: a file, archive member or stream that was read.
-- corpus: Name of the corpus.
-- path: File as given; archive members as archive.zip!member.
-- format: Reader that read it.
-- reader_version: Version of that reader.
-- documents: Number of documents in it.
-- sentences: Sentences stored from it.
-- tokens: Tokens stored from it.
-- rejected: Sentences of it that a check refused.
-- cyclic: Sentences whose units form no tree; left out of the unit layer.
-- empty_nodes: Empty nodes of enhanced graphs; v_empty_nodes has them.
-- sha256: SHA-256 of the content after decompression.
-- ingested_at: When it was stored (UTC).
create or replace view v_sources as
select
    c.name as corpus,
    s.path,
    s.format,
    s.reader_version,
    (select count(*) from document d where d.source_id = s.id) as documents,
    s.sentences,
    s.tokens,
    s.rejected,
    s.cyclic,
    s.empty_nodes,
    s.sha256,
    date_trunc('second', s.ingested_at) as ingested_at
from source s
join corpus c on c.id = s.corpus_id;
