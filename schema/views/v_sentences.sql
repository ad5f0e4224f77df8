-- One row per sentence with its text; where the source gives none, its tokens joined.
-- id: Number of the sentence.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sent_id: Name of the sentence in its source.
-- length: Number of tokens.
-- line: Line of the source on which the sentence starts.
-- text: Raw text, or the words as they are written, joined by spaces (except where no space follows).
-- metadata: Other comment lines of the sentence.
create or replace view v_sentences as
select
    s.id,
    c.name as corpus,
    d.name as document,
    s.sent_id,
    s.length,
    s.line,
    coalesce(
        s.text,
        (
            select rtrim(
                string_agg(
                    case when m.form is null then w.form when k.position = m.first then m.form else '' end
                    || case when k.space_after is false or k.position < m.last then '' else ' ' end,
                    '' order by k.position
                )
            )
            from token k
            join word w on w.id = k.word_id
            left join multiword m
                on m.sentence_id = k.sentence_id and k.position between m.first and m.last
            where k.sentence_id = s.id
                and s.text is null
        )
    ) as text,
    s.metadata
from sentence s
join document d on d.id = s.document_id
join corpus c on c.id = s.corpus_id;
