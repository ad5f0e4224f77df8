"""spaCy: a pipeline that is installed as a package, such as `en_core_web_sm`.

The relations are those of the model: most English models use ClearNLP's instead of Universal Dependencies.
Of these, `ROOT` and `poss` are renamed to `root` and `nmod:poss`, so that trees have a root and base noun
phrases their owners; prepositions govern their phrase already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sentgen.corpus.sentence import Sentence
from sentgen.errors import ModelError, NotFoundError
from sentgen.extras import needs

#: Changes when the same model's parses are stored differently.
VERSION = "1"

_RENAMED = {"ROOT": "root", "poss": "nmod:poss"}


def load(model: str) -> SpaCy:
    """Load an installed pipeline."""
    with needs("spacy", "spaCy"):
        import spacy
    try:
        # Names are not stored, and finding them takes time.
        pipeline = spacy.load(model, exclude=["ner"])
    except OSError as error:
        raise NotFoundError(
            f"spaCy has no model {model!r}; get it with: python -m spacy download {model}"
        ) from error
    return SpaCy(pipeline, model, f"{VERSION}-{pipeline.meta.get('version', '0')}-spacy-{spacy.__version__}")


class SpaCy:
    """A loaded pipeline; its version is that of the model and of spaCy."""

    def __init__(self, pipeline: Any, model: str, version: str) -> None:
        if not any("token.dep" in pipeline.get_pipe_meta(name).assigns for name in pipeline.pipe_names):
            raise ModelError(f"spaCy model {model!r} has no parser; try en_core_web_sm")
        self.name, self.version = f"spacy:{model}", version
        self._pipeline = pipeline

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each raw text."""
        for document in self._pipeline.pipe(texts):
            found = [sentence_of(list(sentence), sentence.text.strip()) for sentence in document.sents]
            yield [sentence for sentence in found if sentence.forms]

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Yield one sentence for each list of tokens."""
        documents = (self._document(forms) for forms in sentences)
        for forms, document in zip(sentences, self._pipeline.pipe(documents), strict=True):
            sentence = sentence_of(list(document), "")
            sentence.forms, sentence.space_after = list(forms), None
            yield sentence

    def _document(self, forms: Sequence[str]) -> Any:
        """Return a document of one sentence."""
        from spacy.tokens import Doc

        starts = [place == 0 for place in range(len(forms))]
        return Doc(self._pipeline.vocab, words=list(forms), sent_starts=starts)


def sentence_of(tokens: list[Any], text: str) -> Sentence:
    """Return a sentence of the tokens that are not white space, which spaCy counts as tokens."""
    words = [token for token in tokens if not token.is_space]
    places = {token.i: place for place, token in enumerate(words, 1)}
    spaces = {token.i - 1 for token in tokens if token.is_space}
    heads = [_head(token, places) for token in words]
    relations = [_RENAMED.get(token.dep_, token.dep_) for token in words]
    _hang_on_first_root(heads, relations)
    return Sentence(
        [token.text for token in words],
        lemmas=[token.lemma_ or "_" for token in words],
        upos=[token.pos_ or "_" for token in words],
        xpos=[token.tag_ or "_" for token in words],
        feats=[str(token.morph) or "_" for token in words],
        heads=heads,
        deprels=[relation or "_" for relation in relations],
        space_after=[bool(token.whitespace_) or token.i in spaces for token in words],
        text=text,
    )


def _head(token: Any, places: dict[int, int]) -> int:
    """Return the place of the nearest word above a token, 0 for a root, which is its own head in spaCy."""
    while token.head.i != token.i:
        token = token.head
        if token.i in places:
            return places[token.i]
    return 0


def _hang_on_first_root(heads: list[int], relations: list[str]) -> None:
    """Hang all roots but the first one on that, as `parataxis`: side by side, without a link.

    There are several where white space was the root, or where a model splits what is one sentence.
    """
    roots = [place for place, head in enumerate(heads, 1) if head == 0]
    for place in roots[:1]:
        relations[place - 1] = "root"
    for place in roots[1:]:
        heads[place - 1], relations[place - 1] = roots[0], "parataxis"
