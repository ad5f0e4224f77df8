-- name: sentences
select list(w.form order by t.position) as forms
from token t
join word w on w.id = t.word_id
where {within}
group by t.sentence_id
order by t.sentence_id
