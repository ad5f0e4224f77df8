-- How often each word form occurs, by tags and lemma.
-- corpus: Name of the corpus.
-- form: Word form.
-- upos: Universal part of speech.
-- xpos: Language-specific part of speech.
-- lemma: Lemma.
-- count: How often it occurs in the corpus.
create or replace view v_frequencies as
select
    c.name as corpus,
    w.form,
    u.name as upos,
    x.name as xpos,
    l.form as lemma,
    count(*) as count
from token t
join corpus c on c.id = t.corpus_id
join word w on w.id = t.word_id
left join tag u on u.id = t.upos_id
left join tag x on x.id = t.xpos_id
left join word l on l.id = t.lemma_id
group by all;
