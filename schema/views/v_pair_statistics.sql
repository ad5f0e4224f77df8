-- Corpora of pairs in figures: a row of all documents, of all abstracts, and of both (Daumé and Marcu 2004, table 4).
-- corpus: Name of the corpus.
-- side: documents, abstracts or both.
-- texts: Number of texts; a document counts once for each of its abstracts.
-- sentences: Number of their sentences.
-- words: Number of their words.
-- types: Number of different words, as they are stored.
-- sentences_per_text: Mean number of sentences of a text.
-- words_per_text: Mean number of words of a text.
-- words_per_sentence: Mean number of words of a sentence.
-- compression: Words of all abstracts by words of all documents; null but for both.
create or replace view v_pair_statistics as
with text as (
    select corpus_id, 'documents' as side, document_id as id, document_words as words
    from pair
    union all
    select corpus_id, 'abstracts', abstract_id, abstract_words
    from pair
),
size as (
    select
        t.corpus_id,
        coalesce(t.side, 'both') as side,
        count(*) as texts,
        sum(d.sentences)::bigint as sentences,
        sum(t.words)::bigint as words,
        sum(t.words) filter (where t.side = 'abstracts') as abstract_words,
        sum(t.words) filter (where t.side = 'documents') as document_words
    from text t
    join document d on d.id = t.id
    group by grouping sets ((t.corpus_id, t.side), (t.corpus_id))
),
type as (
    select t.corpus_id, coalesce(t.side, 'both') as side, count(distinct k.word_id) as types
    from text t
    join sentence s on s.corpus_id = t.corpus_id and s.document_id = t.id
    join token k on k.corpus_id = s.corpus_id and k.sentence_id = s.id
    group by grouping sets ((t.corpus_id, t.side), (t.corpus_id))
)
select
    c.name as corpus,
    size.side,
    size.texts,
    size.sentences,
    size.words,
    type.types,
    size.sentences / size.texts as sentences_per_text,
    size.words / size.texts as words_per_text,
    size.words / size.sentences as words_per_sentence,
    size.abstract_words / size.document_words as compression
from size
join type on type.corpus_id = size.corpus_id and type.side = size.side
join corpus c on c.id = size.corpus_id;
