-- One row per edge of the enhanced dependency graphs, with words and labels as strings.
-- corpus: Name of the corpus.
-- document: Name of the document.
-- sentence_id: Number of the sentence.
-- sent_id: Name of the sentence in its source.
-- position: Position of the dependent; of an empty node, that of the token before it.
-- minor: 0 for a token, else the number of the empty node at that position.
-- place: Place of the edge among those of its dependent, from 1.
-- form: Word form of the dependent.
-- head: Position of the head, 0 for the root; as position for an empty node.
-- head_minor: 0 for a token or the root, else the number of the empty node.
-- head_form: Word form of the head.
-- deprel: Enhanced dependency relation to the head.
create or replace view v_enhanced as
select
    c.name as corpus,
    d.name as document,
    e.sentence_id,
    s.sent_id,
    e.position,
    e.minor,
    e.place,
    coalesce(dw.form, dn.form) as form,
    e.head,
    e.head_minor,
    coalesce(hw.form, hn.form) as head_form,
    r.name as deprel
from enhanced_edge e
join sentence s on s.id = e.sentence_id
join document d on d.id = s.document_id
join corpus c on c.id = e.corpus_id
join tag r on r.id = e.deprel_id
left join token dt on dt.sentence_id = e.sentence_id and dt.position = e.position and e.minor = 0
left join word dw on dw.id = dt.word_id
left join token ht on ht.sentence_id = e.sentence_id and ht.position = e.head and e.head_minor = 0
left join word hw on hw.id = ht.word_id
left join empty_node dn
    on dn.sentence_id = e.sentence_id and dn.position = e.position and dn.minor = e.minor
left join empty_node hn
    on hn.sentence_id = e.sentence_id and hn.position = e.head and hn.minor = e.head_minor;
