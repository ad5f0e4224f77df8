-- One row per word with a vector: what the company of the word says of it, in few numbers.
-- space: Name of the vectors, as `sentgen vectors build` gave it.
-- rank: Place of the word by frequency, from 1.
-- word: The word, in lower case.
-- count: How often it occurs.
-- components: Its vector, of length 1: list_inner_product of two is their cosine.
create or replace view v_vectors as
select
    s.name as space,
    v.rank,
    v.form as word,
    v.count,
    v.components
from word_vector v
join vector_space s on s.id = v.space_id;
