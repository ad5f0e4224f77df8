"""UDPipe 1: small, fast, and without dependencies.

Straka and Straková (2017), "Tokenizing, POS Tagging, Lemmatizing and Parsing UD 2.0 with UDPipe".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sentgen.corpus.sentence import Sentence
from sentgen.errors import ModelError, NotFoundError
from sentgen.extras import needs

#: Changes when the same model's parses are stored differently.
VERSION = "1"

_MODELS = "get one from https://ufal.mff.cuni.cz/udpipe/1/models, or train one with UDPipe"


def library() -> ModuleType:
    """Return the module `ufal.udpipe`.

    Raises:
        InputError: it is not installed.
    """
    with needs("udpipe", "UDPipe"):
        from ufal import udpipe
    module: ModuleType = udpipe
    return module


def load(model: str) -> UDPipe:
    """Load a model file."""
    udpipe = library()
    path = Path(model)
    if not path.is_file():
        raise NotFoundError(f"{model}: no model here; {_MODELS}")
    loaded = udpipe.Model.load(model)
    if loaded is None:
        raise ModelError(f"{model}: not a UDPipe 1 model; {_MODELS}")
    # The name of a file says nothing: parses are kept under this version.
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return UDPipe(udpipe, loaded, model, f"{VERSION}-{digest[:16]}")


class UDPipe:
    """A loaded model; its version is the hash of the file, wherever that lies."""

    name = "udpipe"

    def __init__(self, udpipe: ModuleType, model: Any, path: str, version: str) -> None:
        self._udpipe, self._model, self._path = udpipe, model, path
        self.version = version

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each raw text."""
        # One for all texts: setText starts it anew.
        tokenizer = self._model.newTokenizer("")
        if tokenizer is None:
            raise ModelError(
                f"{self._path}: the model has no tokenizer; give tokenized text (--format lines)"
            )
        error = self._udpipe.ProcessingError()
        for text in texts:
            tokenizer.setText(text)
            sentences = []
            found = self._udpipe.Sentence()
            while tokenizer.nextSentence(found, error):
                sentences.append(self._annotated(found))
                found = self._udpipe.Sentence()
            if error.occurred():
                raise ModelError(f"{self._path}: {error.message}")
            if sentences and sentences[-1].space_after:
                sentences[-1].space_after[-1] = True  # nothing follows, and a next text will stand apart
            yield sentences

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Yield one sentence for each list of tokens."""
        for forms in sentences:
            found = self._udpipe.Sentence()
            for form in forms:
                found.addWord(form)
            sentence = self._annotated(found)
            sentence.forms, sentence.space_after, sentence.text = list(forms), None, ""
            yield sentence

    def _annotated(self, found: Any) -> Sentence:
        """Tag and parse a sentence of UDPipe's and return it as ours."""
        error = self._udpipe.ProcessingError()
        done = self._model.tag(found, "", error) and self._model.parse(found, "", error)
        if not done:
            raise ModelError(f"{self._path}: {error.message or 'the model has no tagger or no parser'}")
        words = list(found.words)[1:]  # the first one is the root
        return Sentence(
            [word.form for word in words],
            lemmas=[word.lemma or "_" for word in words],
            upos=[word.upostag or "_" for word in words],
            xpos=[word.xpostag or "_" for word in words],
            feats=[word.feats or "_" for word in words],
            heads=[word.head for word in words],
            deprels=[word.deprel or "_" for word in words],
            space_after=_spaces(words, found.multiwordTokens),
            multiwords=[(token.idFirst, token.idLast, token.form) for token in found.multiwordTokens],
            text=found.getText(),
        )


def _spaces(words: Sequence[Any], ranges: Sequence[Any]) -> list[bool]:
    """Tell which words a space follows; inside a range none does, after it the range knows."""
    spaces = [bool(word.getSpaceAfter()) for word in words]
    for token in ranges:
        size = token.idLast - token.idFirst
        spaces[token.idFirst - 1 : token.idLast] = [False] * size + [bool(token.getSpaceAfter())]
    return spaces
