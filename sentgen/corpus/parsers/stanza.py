"""Stanza: neural models of Universal Dependencies for some seventy languages, slow without a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import Any

from sentgen.corpus.sentence import Sentence
from sentgen.errors import NotFoundError
from sentgen.extras import needs

#: Changes when the same model's parses are stored differently.
VERSION = "1"
#: Texts and sentences that Stanza gets at once.
BATCH = 100

_PROCESSORS = "tokenize,pos,lemma,depparse"


def load(language: str) -> Stanza:
    """Load the default models of a language, which must be on this machine."""
    with needs("stanza", "Stanza"):
        import stanza
    return Stanza(stanza, language)


class Stanza:
    """The models of a language; their version is that of Stanza, which pins them."""

    def __init__(self, stanza: ModuleType, language: str) -> None:
        self.name, self.version = f"stanza:{language}", f"{VERSION}-{stanza.__version__}"
        self._stanza, self._language = stanza, language
        _ = self._raw  # a missing model is told now, not after the store was opened

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each raw text."""
        for start in range(0, len(texts), BATCH):
            for document in self._raw.bulk_process(list(texts[start : start + BATCH])):
                yield [_sentence(sentence) for sentence in document.sentences]

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Yield one sentence for each list of tokens."""
        for start in range(0, len(sentences), BATCH):
            batch = [list(forms) for forms in sentences[start : start + BATCH]]
            for forms, found in zip(batch, self._tokenized(batch).sentences, strict=True):
                sentence = _sentence(found)
                sentence.forms, sentence.space_after, sentence.text = forms, None, ""
                yield sentence

    @cached_property
    def _raw(self) -> Any:
        return self._pipeline()

    @cached_property
    def _tokenized(self) -> Any:
        return self._pipeline(tokenize_pretokenized=True)

    def _pipeline(self, **options: bool) -> Any:
        try:
            # Nothing is downloaded unasked: it takes minutes, and a server may have no network.
            return self._stanza.Pipeline(
                self._language, processors=_PROCESSORS, download_method=None, verbose=False, **options
            )
        except (FileNotFoundError, ValueError) as error:
            language = self._language
            raise NotFoundError(
                f"Stanza has no models for {language!r} here; get them with: "
                f"python -c \"import stanza; stanza.download('{language}')\""
            ) from error


def _sentence(found: Any) -> Sentence:
    words = found.words
    return Sentence(
        [word.text for word in words],
        lemmas=[word.lemma or "_" for word in words],
        upos=[word.upos or "_" for word in words],
        xpos=[word.xpos or "_" for word in words],
        feats=[word.feats or "_" for word in words],
        heads=[word.head for word in words],
        deprels=[word.deprel or "_" for word in words],
        space_after=_spaces(found.tokens),
        multiwords=[
            (token.words[0].id, token.words[-1].id, token.text)
            for token in found.tokens
            if len(token.words) > 1
        ],
        text=found.text or "",
    )


def _spaces(tokens: Sequence[Any]) -> list[bool]:
    """Tell which words a space follows: none within a multiword token, one after the sentence."""
    apart = [after.start_char != before.end_char for before, after in pairwise(tokens)]
    return [
        space if word is token.words[-1] else False
        for token, space in zip(tokens, [*apart, True], strict=True)
        for word in token.words
    ]
