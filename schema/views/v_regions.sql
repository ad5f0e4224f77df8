-- One row per region: a stretch of tokens that a source marks, such as a paragraph or what somebody says.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence of its first token.
-- place: Its number among the regions that begin in that sentence.
-- kind: What it is, such as p, speaker or div: the tag that the source has.
-- attributes: Attributes of its tag, such as party=Y, one a line.
-- position: Position of its first token in that sentence.
-- last_sentence_id: Number of the sentence of its last token.
-- last_position: Position of its last token in that sentence.
create or replace view v_regions as
select
    c.name as corpus,
    d.name as document,
    r.sentence_id,
    r.place,
    r.kind,
    m.attributes,
    r.position,
    r.last_sentence_id,
    r.last_position
from region r
join sentence s on s.id = r.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = r.corpus_id
left join (
    select sentence_id, place, string_agg(key || '=' || value, chr(10)) as attributes
    from region_meta
    group by sentence_id, place
) m on m.sentence_id = r.sentence_id and m.place = r.place;
