"""What a dependency parser is to sentgen, and the parser that a specification such as `udpipe:FILE` names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Never, Protocol, cast

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError


class Parser(Protocol):
    """A tokenizer, tagger and dependency parser behind one small interface.

    ``name`` and ``version`` together say which parses it gives: the same ones, the same text, the same trees.
    Sentences have lemmas, tags, heads (exactly one root) and relations, as far as the model gives them.
    """

    name: str
    version: str

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each raw text, split and tokenized by the parser."""
        ...

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Yield one sentence, with the same tokens, for each list of tokens; none is empty."""
        ...


class GoldParser:
    """The parser of those who want no parser: trees are in the source, or it is refused."""

    name = "gold"
    version = "1"

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Refuse raw text."""
        return self._refuse(texts)

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Refuse sentences without trees."""
        return self._refuse(sentences)

    def _refuse(self, items: Sequence[object]) -> Iterator[Never]:
        if items:
            raise InputError("no tree here; --parser gold needs a treebank, such as CoNLL-U with heads")
        return iter(())


#: How each kind of parser is asked for. Its module holds a function `load` and is imported only then.
KINDS = {"udpipe": "udpipe:FILE", "spacy": "spacy:NAME", "stanza": "stanza:LANGUAGE", "gold": "gold"}


def open_parser(specification: str) -> Parser:
    """Load the parser that ``udpipe:FILE``, ``spacy:NAME``, ``stanza:LANGUAGE`` or ``gold`` names.

    Raises:
        InputError: there is no such kind of parser, or its package is not installed.
        NotFoundError: there is no such model.
        ModelError: the model is broken.
    """
    kind, _, model = specification.partition(":")
    if specification == "gold":
        return GoldParser()
    if kind not in KINDS or kind == "gold" or not model:
        raise InputError(f"{specification!r} is no parser; write one of: {', '.join(KINDS.values())}")
    # Imported here: each of these packages takes seconds to load.
    return cast(Parser, import_module(f"sentgen.corpus.parsers.{kind}").load(model))
