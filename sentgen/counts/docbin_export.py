"""Write a corpus as a DocBin of spaCy, from which our reader makes the same sentences and documents.

spaCy packs all documents at once, so the corpus must fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row

from sentgen.corpus.readers.docbin import ENTITY
from sentgen.corpus.sentence import ABSENT
from sentgen.counts.exports import Marked, marked_sentences
from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.schema.store import fetch_arrow

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_ATTRIBUTES = ("ORTH", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE")
_LABEL = "label"
_SPECIAL = """
select
    (select count(*) from multiword where corpus_id = $corpus) as ranges,
    (select count(*) from enhanced_edge where corpus_id = $corpus) as edges,
    (select count(*) from token_misc where corpus_id = $corpus) as misc,
    (select count(*) from region where corpus_id = $corpus and kind <> 'ent') as regions,
    (select count(sent_id) from sentence where corpus_id = $corpus)
        + (select count(*) from sentence_meta where corpus_id = $corpus) as sentences
"""
_LOST = {
    "ranges": "multiword ranges have no place in a DocBin: their words are tokens",
    "edges": "enhanced edges and empty nodes have no place in a DocBin",
    "misc": "what MISC says of tokens is left out",
    "regions": f"regions of other kinds than {ENTITY} are left out",
    "sentences": "names of sentences, and what is said of them, are left out",
}


def write_docbin(
    connection: Connection, corpus: Row[Any], span: tuple[int, int]
) -> tuple[Iterator[bytes], Iterator[str]]:
    """Return a corpus as a DocBin, with a `Doc` for each document, whose `user_data` has name and metadata.

    Raises:
        InputError: spaCy is not installed.
    """
    with needs("spacy", "spaCy"):
        import spacy.tokens  # noqa: F401
    [counts] = fetch_arrow(connection, _SPECIAL, {"corpus": corpus.id}).to_pylist()
    return _packed(connection, corpus.id, span), (loss for key, loss in _LOST.items() if counts[key])


def _packed(connection: Connection, corpus: int, span: tuple[int, int]) -> Iterator[bytes]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    packed, vocab, waiting = DocBin(attrs=_ATTRIBUTES, store_user_data=True), Vocab(), list[Marked]()
    for several in marked_sentences(connection, corpus, span):
        for marked in several:
            if marked.sentence.first and waiting:
                packed.add(_document(vocab, waiting))
                waiting.clear()
            waiting.append(marked)
    packed.add(_document(vocab, waiting))
    yield packed.to_bytes()


def _document(vocab: Vocab, sentences: Sequence[Marked]) -> Doc:
    from spacy.tokens import Doc

    forms, tags, universal, features, lemmas, relations = (list[str]() for _ in range(6))
    heads, starts, spaces = list[int](), list[bool](), list[bool]()
    entities: dict[tuple[int, int], str] = {}
    trees = True
    for row, regions, _ in sentences:
        offset = len(forms)
        for position, (form, xpos, lemma, upos, feats, head, deprel) in enumerate(row.fields, 1):
            forms.append(form)
            tags.append(_some(xpos))
            universal.append(_some(upos))
            features.append(_some(feats))
            lemmas.append(_some(lemma))
            relations.append(_some(deprel))
            trees = trees and head != ABSENT
            # In spaCy, the root is its own head.
            heads.append(offset + (int(head) if head not in (ABSENT, "0") else position) - 1)
            starts.append(position == 1)
            spaces.append(row.spaces[position - 1] is not False)
        for region in regions:
            # In spaCy, entities lie within sentences and do not overlap.
            if region.kind == ENTITY and region.last_sentence_id == row.id:
                label = dict(region.attributes or ()).get(_LABEL, ENTITY)
                entities.setdefault((offset + region.position, offset + region.last_position), label)
    name = sentences[0].sentence.document
    marks = _without_overlaps(len(forms), entities)
    # If there are trees, spaCy takes sentences from them.
    given = {"heads": heads, "deps": relations} if trees else {"sent_starts": starts}
    try:
        document = Doc(
            vocab,
            words=forms,
            spaces=spaces,
            tags=tags,
            pos=universal,
            morphs=features,
            lemmas=lemmas,
            ents=marks,
            **given,
        )
    except ValueError as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"spaCy does not take the document {name!r}: {reason}") from None
    document.user_data["id"] = name
    document.user_data["metadata"] = dict(sentences[0].said)
    return document


def _some(value: str) -> str:
    return "" if value == ABSENT else value


def _without_overlaps(length: int, entities: dict[tuple[int, int], str]) -> list[str]:
    """Return the entities as tags of tokens, the first and longest of those that overlap."""
    tags = ["O"] * length
    for (first, last), label in sorted(entities.items(), key=lambda item: (item[0][0], -item[0][1])):
        if tags[first - 1 : last] == ["O"] * (last - first + 1):
            tags[first - 1 : last] = [f"B-{label}", *[f"I-{label}"] * (last - first)]
    return tags
