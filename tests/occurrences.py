"""Where words occur, as SQL has it from the tokens of a store."""

from __future__ import annotations

#: Corpus, attribute, word and token of every row that `occurrence` must have.
EXPECTED = """
select t.corpus_id, 'word' as attribute, t.word_id, s.first_token + t.position - 1 as token
from token t
join sentence s on s.id = t.sentence_id
union all
select t.corpus_id, 'lemma', t.lemma_id, s.first_token + t.position - 1
from token t
join sentence s on s.id = t.sentence_id
where t.lemma_id is not null
"""
#: What puts them into a store of one segment a corpus, which has the number of the corpus.
FILL = f"""
insert into occurrence by name
select corpus_id as segment_id, attribute, word_id, token
from ({EXPECTED})
order by all
"""
#: What counts the words of such a store.
COUNT = "insert into ngram_1 select corpus_id, word_id, count(*) from token group by all"
#: The rows that there are.
STORED = """
select s.corpus_id, o.attribute, o.word_id, o.token
from occurrence o
left join segment s on s.id = o.segment_id
"""
