"""The sentences of a store as text that models score: blocks of whole ones, in the order of the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, where
from sentgen.schema import Store

#: The names of a corpus, of a document in it, and of a sentence in that.
Place = tuple[str, str, str]
#: Tokens of a block, give or take a sentence.
BLOCK_TOKENS = 500_000
_SENTENCES = """\
select s.id, s.corpus_id, s.length
from sentence as s{conditions}
order by s.id"""
#: Models are applied to whole sentences, so that one token tells.
_NOT_APPLIED = "s.id not in (select sentence_id from surprisal where model_id = {model} and position = 1)"
_TOKENS = """\
select sentence_id, word_id
from token{conditions}
order by sentence_id, position"""
_PLACES = """\
select corpus.name as corpus, document.name as document, coalesce(s.sent_id, s.id::varchar) as sentence
from sentence as s
join document on document.id = s.document_id
join corpus on corpus.id = s.corpus_id
where s.id in (select unnest($ids::bigint[]))
order by s.id"""
_FORMS = "select id, form from word where id in (select unnest($ids::integer[])) order by id"


@dataclass(frozen=True, slots=True, eq=False)
class StoredText:
    """Some whole sentences.

    Attributes:
        sentences: their numbers.
        corpora: the numbers of their corpora.
        lengths: how many tokens each has.
        forms: the different words of the text.
        numbers: the text: the number of each of its words among these.
        more: whether others follow.
    """

    sentences: Longs
    corpora: Ints
    lengths: Ints
    forms: Sequence[str]
    numbers: Longs
    more: bool


def read_stored(
    store: Store,
    selection: Selection,
    *,
    without: int | None = None,
    tokens: int = BLOCK_TOKENS,
) -> Iterator[StoredText]:
    """Yield the sentences of some corpora.

    Args:
        store: the store, to which nothing is connected meanwhile.
        selection: the corpora, and which of their sentences.
        without: the number of a model; leave out what it was applied to.
        tokens: of a block, give or take a sentence.
    """
    bindings = Bindings()
    conditions = selection.of_sentences(bindings, "s")
    if without is not None:
        conditions.append(_NOT_APPLIED.format(model=bindings.bind("model", without)))
    with store.connect() as connection:
        found = Statement(_SENTENCES.format(conditions=where(conditions)), bindings).run(connection)
    ids, corpora, lengths = (found[name].to_numpy() for name in ("id", "corpus_id", "length"))
    ends = np.cumsum(lengths, dtype=np.int64)
    cuts = np.searchsorted(ends, np.arange(tokens, int(ends[-1]) if len(ends) else 0, tokens)) + 1
    for part in np.split(np.arange(len(ids)), np.unique(cuts)):
        if len(part):
            with store.connect() as connection:
                words = _words(connection, ids[part])
                different, numbers = np.unique(words, return_inverse=True)
                forms = Statement(_FORMS, {"ids": different.tolist()}).run(connection)["form"].to_pylist()
            more = int(part[-1]) + 1 < len(ids)
            yield StoredText(ids[part], corpora[part], lengths[part], forms, numbers.astype(np.int64), more)


def stored_sentences(store: Store, selection: Selection) -> Iterator[tuple[Place, list[str]]]:
    """Yield the sentences of some corpora, each with the names of its corpus, its document and itself."""
    for text in read_stored(store, selection):
        with store.connect() as connection:
            ids = {"ids": text.sentences.tolist()}
            found = Statement(_PLACES, ids).run(connection)
        words = [text.forms[number] for number in text.numbers.tolist()]
        ends = np.cumsum(text.lengths).tolist()
        places = zip(*(found[name].to_pylist() for name in found.column_names), strict=True)
        for place, start, end in zip(places, [0, *ends], ends, strict=False):
            yield place, words[start:end]


def _words(connection: Connection, sentences: Longs) -> Ints:
    """Return the words of sentences, whose numbers ascend."""
    bindings = Bindings(first=int(sentences[0]), last=int(sentences[-1]))
    text = _TOKENS.format(conditions=where(["sentence_id between $first and $last"]))
    found = Statement(text, bindings).run(connection)
    ids, words = found["sentence_id"].to_numpy(), found["word_id"].to_numpy()
    # Between the first one and the last one there may be others.
    within: Ints = words[sentences[np.searchsorted(sentences, ids)] == ids]
    return within
