"""Adapters for dependency parsers, each of which is imported only when it is used.

* UDPipe 1: small, fast, and without dependencies; Straka and Straková (2017), "Tokenizing, POS Tagging,
  Lemmatizing and Parsing UD 2.0 with UDPipe".
* spaCy: a pipeline that is installed as a package, such as `en_core_web_sm`. The relations are those of
  the model: most English models use ClearNLP's instead of Universal Dependencies. Of these, `ROOT` and `poss`
  are renamed to `root` and `nmod:poss`, so that trees have a root and base noun phrases their owners;
  prepositions govern their phrase already.
* Stanza: neural models of Universal Dependencies for some seventy languages, slow without a GPU.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.default_store import unnamed_path
from sentgen.errors import InputError, ModelError, NotFoundError, spell
from sentgen.extras import needs

#: Increased when parses of the same model are stored differently.
_VERSION = "1"


_MODELS = (
    "get one from https://ufal.mff.cuni.cz/udpipe/1/models, or train one: sentgen parser train NAME --corpus"
    " TREEBANK"
)
#: Allowed names, which become names of files: letters, digits and marks without a meaning in paths.
_NAME = re.compile(r"\w[\w.-]*")


def parser_path(name: str) -> Path:
    """Return the file of a parser that was trained under a name, in the user's data folder.

    Raises:
        InputError: a file cannot have this name.
    """
    if not _NAME.fullmatch(name) or name == "gold":
        raise InputError(f"{name!r} cannot be the name of a parser; take letters, digits, '-', '_' and '.'")
    return unnamed_path().parent / "parsers" / f"{name}.udpipe"


def _load_udpipe(model: str) -> _UDPipe:
    with needs("udpipe", "UDPipe"):
        from ufal import udpipe
    path = Path(model)
    if not path.is_file():
        raise NotFoundError(f"{model}: no model here; {_MODELS}")
    loaded = udpipe.Model.load(model)
    if loaded is None:
        raise ModelError(f"{model}: not a UDPipe 1 model; {_MODELS}")
    # The hash, not the file name: parses are cached under this version.
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return _UDPipe(udpipe, loaded, model, f"{_VERSION}-{digest[:16]}")


#: Columns of a sentence, in the order of CoNLL-U.
_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels")


def _columns(words: Sequence[Any], *names: str) -> dict[str, Any]:
    """Return the columns of `_COLUMNS` of words, whose attributes have these names in their library."""
    columns: dict[str, Any] = {}
    for column, name in zip(_COLUMNS, names, strict=False):  # tags only: without the last two
        values = [getattr(word, name) for word in words]
        is_text = column not in ("forms", "heads")
        columns[column] = [str(value or "") or ABSENT for value in values] if is_text else values
    return columns


#: UDPipe's names of these columns.
_FIELDS = ("form", "lemma", "upostag", "xpostag", "feats", "head", "deprel")


class _UDPipe:
    """A loaded model; its version is the hash of the file, whatever its path."""

    name = "udpipe"

    def __init__(self, udpipe: ModuleType, model: Any, path: str, version: str) -> None:
        self._udpipe, self._model, self._path = udpipe, model, path
        self.version = version
        #: A model may have only tags; that it lacks a parser shows only when it parses a sentence.
        word = udpipe.Sentence()
        word.addWord("a")
        self._has_trees = bool(model.parse(word, "", udpipe.ProcessingError()))

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        # One tokenizer for all texts: setText resets it.
        tokenizer = self._model.newTokenizer("")
        if tokenizer is None:
            raise ModelError(
                f"{self._path}: the model has no tokenizer; give tokenized text ({spell('format')} lines)"
            )
        error = self._udpipe.ProcessingError()
        for text in texts:
            tokenizer.setText(text)
            sentences = []
            parsed = self._udpipe.Sentence()
            while tokenizer.nextSentence(parsed, error):
                sentences.append(self._annotate(parsed))
                parsed = self._udpipe.Sentence()
            if error.occurred():
                raise ModelError(f"{self._path}: {error.message}")
            if sentences and sentences[-1].space_after:
                sentences[-1].space_after[-1] = True  # a space separates the text from the next one
            yield sentences

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        for forms in sentences:
            parsed = self._udpipe.Sentence()
            for form in forms:
                parsed.addWord(form)
            sentence = self._annotate(parsed)
            sentence.forms, sentence.space_after, sentence.text = list(forms), None, ""
            yield sentence

    def _annotate(self, parsed: Any) -> Sentence:
        """Tag and parse a sentence of UDPipe's and return it as ours."""
        error = self._udpipe.ProcessingError()
        done = self._model.tag(parsed, "", error) and (
            not self._has_trees or self._model.parse(parsed, "", error)
        )
        if not done:
            raise ModelError(f"{self._path}: {error.message or 'the model has no tagger'}")
        words = list(parsed.words)[1:]  # the first one is the root
        return Sentence(
            **_columns(words, *(_FIELDS if self._has_trees else _FIELDS[:-2])),
            space_after=_udpipe_spaces(words, parsed.multiwordTokens),
            multiwords=[(token.idFirst, token.idLast, token.form) for token in parsed.multiwordTokens],
            text=parsed.getText(),
        )


def _udpipe_spaces(words: Sequence[Any], ranges: Sequence[Any]) -> list[bool]:
    """Return which words a space follows: none inside a range; after its last word, the range's MISC says."""
    spaces = [bool(word.getSpaceAfter()) for word in words]
    for token in ranges:
        size = token.idLast - token.idFirst
        spaces[token.idFirst - 1 : token.idLast] = [False] * size + [bool(token.getSpaceAfter())]
    return spaces


_RENAMED = {"ROOT": "root", "poss": "nmod:poss"}


def _load_spacy(model: str) -> _SpaCy:
    with needs("spacy", "spaCy"):
        import spacy
    try:
        # Named entities are not stored, and finding them takes time.
        pipeline = spacy.load(model, exclude=["ner"])
    except OSError as error:
        raise NotFoundError(
            f"spaCy has no model {model!r}; get it with: python -m spacy download {model}"
        ) from error
    return _SpaCy(
        pipeline, model, f"{_VERSION}-{pipeline.meta.get('version', '0')}-spacy-{spacy.__version__}"
    )


class _SpaCy:
    """A loaded pipeline; its version is that of the model and of spaCy."""

    def __init__(self, pipeline: Any, model: str, version: str) -> None:
        if not any("token.dep" in pipeline.get_pipe_meta(name).assigns for name in pipeline.pipe_names):
            raise ModelError(f"spaCy model {model!r} has no parser; try en_core_web_sm")
        self.name, self.version = f"spacy:{model}", version
        self._pipeline = pipeline

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        for document in self._pipeline.pipe(texts):
            parsed = [spacy_sentence(list(sentence), sentence.text.strip()) for sentence in document.sents]
            yield [sentence for sentence in parsed if sentence.forms]

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        documents = (self._document(forms) for forms in sentences)
        for forms, document in zip(sentences, self._pipeline.pipe(documents), strict=True):
            sentence = spacy_sentence(list(document), "")
            sentence.forms, sentence.space_after = list(forms), None
            yield sentence

    def _document(self, forms: Sequence[str]) -> Any:
        from spacy.tokens import Doc

        starts = [index == 0 for index in range(len(forms))]
        return Doc(self._pipeline.vocab, words=list(forms), sent_starts=starts)


def spacy_sentence(tokens: list[Any], text: str) -> Sentence:
    """Return a sentence of the tokens that are not white space, which spaCy counts as tokens."""
    words = [token for token in tokens if not token.is_space]
    positions = {token.i: position for position, token in enumerate(words, 1)}
    spaces = {token.i - 1 for token in tokens if token.is_space}
    columns = _columns(words, "text", "lemma_", "pos_", "tag_", "morph", "head", "dep_")
    columns["heads"] = [_spacy_head(token, positions) for token in words]
    columns["deprels"] = [_RENAMED.get(relation, relation) for relation in columns["deprels"]]
    _hang_on_first_root(columns["heads"], columns["deprels"])
    return Sentence(
        **columns,
        space_after=[bool(token.whitespace_) or token.i in spaces for token in words],
        text=text,
    )


def _spacy_head(token: Any, positions: dict[int, int]) -> int:
    """Return the position of the nearest word above a token, 0 for a root, which is its own head in spaCy."""
    while token.head.i != token.i:
        token = token.head
        if token.i in positions:
            return positions[token.i]
    return 0


def _hang_on_first_root(heads: list[int], relations: list[str]) -> None:
    """Attach all roots but the first to the first one, as `parataxis`.

    A sentence has several roots if white space was the root, or if a model splits the sentence.
    """
    roots = [position for position, head in enumerate(heads, 1) if head == 0]
    for position in roots[:1]:
        relations[position - 1] = "root"
    for position in roots[1:]:
        heads[position - 1], relations[position - 1] = roots[0], "parataxis"


#: Texts and sentences that are passed to Stanza at once.
_STANZA_BATCH = 100

_PROCESSORS = "tokenize,pos,lemma,depparse"


def _load_stanza(language: str) -> _Stanza:
    with needs("stanza", "Stanza"):
        import stanza
    return _Stanza(stanza, language)


class _Stanza:
    """The models of a language; their version is that of Stanza, which pins them."""

    def __init__(self, stanza: ModuleType, language: str) -> None:
        self.name, self.version = f"stanza:{language}", f"{_VERSION}-{stanza.__version__}"
        self._stanza, self._language = stanza, language
        _ = self._raw  # a missing model is reported now, not after the store was opened

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        for start in range(0, len(texts), _STANZA_BATCH):
            for document in self._raw.bulk_process(list(texts[start : start + _STANZA_BATCH])):
                yield [_stanza_sentence(sentence) for sentence in document.sentences]

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        for start in range(0, len(sentences), _STANZA_BATCH):
            batch = [list(forms) for forms in sentences[start : start + _STANZA_BATCH]]
            for forms, parsed in zip(batch, self._pretokenized(batch).sentences, strict=True):
                sentence = _stanza_sentence(parsed)
                sentence.forms, sentence.space_after, sentence.text = forms, None, ""
                yield sentence

    @cached_property
    def _raw(self) -> Any:
        return self._pipeline()

    @cached_property
    def _pretokenized(self) -> Any:
        return self._pipeline(tokenize_pretokenized=True)

    def _pipeline(self, **options: bool) -> Any:
        try:
            # Nothing is downloaded automatically: it takes minutes, and a server may have no network.
            return self._stanza.Pipeline(
                self._language, processors=_PROCESSORS, download_method=None, verbose=False, **options
            )
        except (FileNotFoundError, ValueError) as error:
            language = self._language
            raise NotFoundError(
                f"Stanza has no models for {language!r} here; get them with: "
                f"python -c \"import stanza; stanza.download('{language}')\""
            ) from error


def _stanza_sentence(parsed: Any) -> Sentence:
    words = parsed.words
    return Sentence(
        **_columns(words, "text", "lemma", "upos", "xpos", "feats", "head", "deprel"),
        space_after=_stanza_spaces(parsed.tokens),
        multiwords=[
            (token.words[0].id, token.words[-1].id, token.text)
            for token in parsed.tokens
            if len(token.words) > 1
        ],
        text=parsed.text or "",
    )


def _stanza_spaces(tokens: Sequence[Any]) -> list[bool]:
    """Return which words a space follows: none within a multiword token; the last word always."""
    apart = [after.start_char != before.end_char for before, after in pairwise(tokens)]
    return [
        space if word is token.words[-1] else False
        for token, space in zip(tokens, [*apart, True], strict=True)
        for word in token.words
    ]


#: How to load a parser, by the part of its name before the colon.
LOADERS: dict[str, Callable[[str], _UDPipe | _SpaCy | _Stanza]] = {
    "udpipe": _load_udpipe,
    "spacy": _load_spacy,
    "stanza": _load_stanza,
}
