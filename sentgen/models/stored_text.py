"""Read stored sentences as text for models: blocks of whole sentences, in the order of the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.corpus.paths import expand
from sentgen.corpus.reading import sentences_of
from sentgen.errors import InputError, ModelError
from sentgen.lookups.base.regions import of_kinds, parts_of
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.models.base.registry import ModelInfo
from sentgen.schema import Store

#: Tokens of a block, to within a sentence.
BLOCK_TOKENS = 500_000
_SENTENCES = """\
select s.id, s.corpus_id, s.length
from sentence as s{conditions}
order by s.id"""
#: Sentences to which a model was applied: since it is applied to whole sentences, one token is checked.
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
_REGIONS = """\
select p.sentence_id, p.began, r.position, p.place, p.first, p.last,
  coalesce(s.sent_id, s.id::varchar) as sentence,
  (select string_agg(m.key || '=' || m.value, ', ' order by m.key)
    from region_meta as m
    where m.sentence_id = p.began and m.place = p.place) as attributes
from ({parts}) as p
join region as r on r.sentence_id = p.began and r.place = p.place
join sentence as s on s.id = p.began
where p.sentence_id in (select unnest($ids::bigint[])) and p.first <= p.last
order by p.sentence_id, p.began, r.position, p.place"""
#: Regions that overlap these sentences, or others between them.
_AROUND = "r.sentence_id <= $end and r.last_sentence_id >= $start"
_FORMS = "select id, form from word where id in (select unnest($ids::integer[])) order by id"


@dataclass(frozen=True, slots=True, eq=False)
class StoredText:
    """Some whole sentences.

    Attributes:
        sentences: ids of the sentences.
        corpora: ids of their corpora.
        lengths: number of tokens of each sentence.
        forms: the different words of the text.
        numbers: the text, as indices of its words in ``forms``.
    """

    sentences: Longs
    corpora: Ints
    lengths: Ints
    forms: Sequence[str]
    numbers: Longs

    @classmethod
    def read(
        cls,
        store: Store,
        selection: Selection,
        *,
        without: int | None = None,
        tokens: int = BLOCK_TOKENS,
    ) -> Iterator[StoredText]:
        """Yield the sentences of some corpora.

        Args:
            store: the store; no connection is kept open between blocks.
            selection: the corpora, and which of their sentences.
            without: id of a model; sentences to which it was applied are left out.
            tokens: tokens of a block, to within a sentence.
        """
        bindings = Bindings()
        conditions = selection.of_sentences(bindings, "s")
        if without is not None:
            conditions.append(_NOT_APPLIED.format(model=bindings.bind("model", without)))
        with store.connect() as connection:
            table = Statement(_SENTENCES.format(conditions=where(conditions)), bindings).run(connection)
        ids, corpora, lengths = (table[name].to_numpy() for name in ("id", "corpus_id", "length"))
        ends = np.cumsum(lengths, dtype=np.int64)
        cuts = np.searchsorted(ends, np.arange(tokens, int(ends[-1]) if len(ends) else 0, tokens)) + 1
        for part in np.split(np.arange(len(ids)), np.unique(cuts)):
            if len(part):
                with store.connect() as connection:
                    words = _words(connection, ids[part])
                    different, numbers = np.unique(words, return_inverse=True)
                    forms = Statement(_FORMS, {"ids": different.tolist()}).run(connection)["form"].to_pylist()
                yield cls(ids[part], corpora[part], lengths[part], forms, numbers.astype(np.int64))


class RegionPart(NamedTuple):
    """The part of a region that is in one sentence.

    Attributes:
        began: id of the sentence in which the region begins.
        position: position of the first token of the region there.
        place: number of the region among those that begin at this token.
        first: position of the region's first token in this sentence.
        last: position of the last token of the region, or a greater number.
        sentence: name of the sentence in which the region begins.
        attributes: attributes of the region, joined by commas.
    """

    began: int
    position: int
    place: int
    first: int
    last: int
    sentence: str
    attributes: str | None


class SentencePlace(NamedTuple):
    """The names of a sentence's corpus, of its document and its own; and the regions around its tokens."""

    names: tuple[object, ...]
    regions: Sequence[RegionPart] = ()


def stored_sentences(
    store: Store, selection: Selection, kinds: tuple[str, ...] = ()
) -> Iterator[tuple[SentencePlace, list[str]]]:
    """Yield the sentences of some corpora, each with its place.

    Args:
        selection: the corpora, and which of their sentences.
        kinds: kinds of the regions that are returned with the places.
    """
    for text in StoredText.read(store, selection):
        with store.connect() as connection:
            places = Statement(_PLACES, {"ids": text.sentences.tolist()}).run(connection)
            regions = _regions(connection, text.sentences, kinds) if kinds else {}
        words = [text.forms[number] for number in text.numbers.tolist()]
        ends = np.cumsum(text.lengths).tolist()
        names = zip(*(places[name].to_pylist() for name in places.column_names), strict=True)
        for number, named, start, end in zip(text.sentences.tolist(), names, [0, *ends], ends, strict=False):
            yield SentencePlace(named, regions.get(number, ())), words[start:end]


def held_out(
    store: Store, models: Sequence[ModelInfo], *, file: str | None, corpus: str | None, form: str | None
) -> Iterator[Sequence[str]]:
    """Yield the words of each sentence of a file or a corpus.

    Raises:
        InputError: there is no such file, or it holds no sentence.
        NotFoundError: there is no such corpus.
        ModelError: the models have brackets or symbols, which text does not have.
    """
    for model in models:
        if model.brackets or not model.symbols.are_words:
            kind = f"over {model.symbols.over}" if not model.brackets else "with brackets"
            raise ModelError(f"{model.label} is a model {kind}, which no text has; take models over words")
    sentences: Iterator[Sequence[str]]
    if corpus:
        with store.connect() as connection:
            chosen = Selection.named(connection, [corpus], sentences=True)
        sentences = (words for _, words in stored_sentences(store, chosen))
    else:
        sentences = (sentence.forms for sentence in sentences_of(expand([str(file)]), form=form))
    none = True
    for forms in sentences:
        none = False
        yield forms
    if none:
        raise InputError("holds no sentence", path=corpus or str(file))


def of_training(models: Sequence[ModelInfo], corpus: str | None) -> list[str]:
    """Return the labels of models that were built from a whole corpus."""
    return [model.label for model in models if corpus in model.corpora and not model.condition]


def _regions(
    connection: Connection, sentences: Longs, kinds: tuple[str, ...]
) -> Mapping[int, Sequence[RegionPart]]:
    """Return the parts of regions in each sentence, by sentence id; the ids ascend."""
    bindings = Bindings(ids=sentences.tolist(), start=int(sentences[0]), end=int(sentences[-1]))
    parts = parts_of(f"{of_kinds(kinds, bindings)} and {_AROUND}")
    regions: dict[int, list[RegionPart]] = defaultdict(list)
    for row in Statement(_REGIONS.format(parts=parts), bindings).run(connection).to_pylist():
        regions[row.pop("sentence_id")].append(RegionPart(**row))
    return regions


def _words(connection: Connection, sentences: Longs) -> Ints:
    """Return the word ids of sentences whose ids ascend."""
    bindings = Bindings(first=int(sentences[0]), last=int(sentences[-1]))
    text = _TOKENS.format(conditions=where(["sentence_id between $first and $last"]))
    table = Statement(text, bindings).run(connection)
    ids, words = table["sentence_id"].to_numpy(), table["word_id"].to_numpy()
    # The range of ids may include other sentences.
    within: Ints = words[sentences[np.searchsorted(sentences, ids)] == ids]
    return within
