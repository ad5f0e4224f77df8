-- Sentences that were not stored, and why.
-- corpus: Name of the corpus for which the source was read.
-- path: Source of the sentence.
-- line: Line of the source on which the problem stands.
-- sent_id: Name of the sentence in its source.
-- check_name: Check that refused it.
-- message: What is wrong.
-- rejected_at: When it was refused (UTC).
create or replace view v_rejections as
select
    c.name as corpus,
    r.path,
    r.line,
    r.sent_id,
    r.check_name,
    r.message,
    r.rejected_at
from rejection r
join corpus c on c.id = r.corpus_id;
