"""Dependency parsers: their interface, those that `udpipe:FILE` and the like name, and a cache of parses.

The cache keeps parses in the store: the same text is parsed once by the same parser.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from typing import Never, Protocol, TypeVar

import pyarrow as pa

from sentgen.corpus.parser_adapters import LOADERS, parser_path
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, NotFoundError, spell
from sentgen.options import PARSERS
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.durability import block_journal
from sentgen.schema.engine import raw, translated_errors
from sentgen.schema.store import now
from sentgen.schema.tables.parses import count_parses, find_parses, is_writable, keep_parses, remove_parses


class Parser(Protocol):
    """A tokenizer, tagger and dependency parser behind one small interface.

    ``name`` and ``version`` identify its parses: parsers with the same name and version give the same text
    the same trees. Sentences have lemmas, tags, heads (exactly one root) and relations, if the model has
    them.
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
    """Refuses to parse: the source must have trees."""

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
            raise InputError(
                f"no tree here; {spell('parser')} gold needs a treebank, such as CoNLL-U with heads"
            )
        return iter(())


def open_parser(specification: str) -> Parser:
    """Load a parser: the name of a trained one, or ``udpipe:FILE``, ``spacy:NAME``, ``gold`` and the like.

    Raises:
        InputError: there is no such parser, or its package is not installed.
        NotFoundError: there is no such model.
        ModelError: the model is broken.
    """
    kind, _, model = specification.partition(":")
    if specification == "gold":
        return GoldParser()
    trained = sorted(path.stem for path in parser_path("any").parent.glob("*.udpipe"))
    if specification in trained:
        return LOADERS["udpipe"](str(parser_path(specification)))
    if kind not in LOADERS or not model:
        known = f"; trained here: {', '.join(trained)}" if trained else ""
        raise InputError(f"{specification!r} is no parser; write the {PARSERS}; or gold{known}")
    return LOADERS[kind](model)


#: Texts that are looked up in one query.
_QUERY_TEXTS = 2_000
#: Tokens that are stored in one transaction: some seconds of parsing.
_COMMIT_TOKENS = 10_000

_T = TypeVar("_T")
#: Fields of a sentence that belong to the parse; line and document belong to the source.
_FIELDS = [field.name for field in fields(Sentence) if field.name not in ("line", "document")]


class CachedParser:
    """A parser that looks up parses in the store first, and stores the parses that it makes.

    It writes with a connection of its own, so that parses are kept even if the surrounding transaction is
    rolled back; in a store that is open for reading it only looks up. A context manager; close it before the
    store.
    """

    def __init__(self, parser: Parser, store: Store) -> None:
        self.name, self.version = parser.name, parser.version
        self._parser, self._path = parser, store.path
        self._opened = ExitStack()
        self._duck = self._opened.enter_context(store.second())
        self._keeps = is_writable(self._duck)

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each raw text."""
        return self._parse_missing(
            texts, [_hash(text) for text in texts], self._parser.parse, tokenized=False
        )

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Yield one sentence for each list of tokens."""

        def parse(missing: Sequence[Sequence[str]]) -> Iterator[list[Sentence]]:
            return ([sentence] for sentence in self._parser.parse_tokenized(missing))

        # A line feed after each token: lists of tokens never share a hash, as no token has a line feed.
        keys = [_hash("".join(f"{form}\n" for form in forms)) for forms in sentences]
        for parsed in self._parse_missing(sentences, keys, parse, tokenized=True):
            yield from parsed

    def _parse_missing(
        self,
        items: Sequence[_T],
        keys: Sequence[str],
        parse: Callable[[Sequence[_T]], Iterator[list[Sentence]]],
        *,
        tokenized: bool,
    ) -> Iterator[list[Sentence]]:
        for start in range(0, len(items), _QUERY_TEXTS):
            wanted = keys[start : start + _QUERY_TEXTS]
            with translated_errors(self._path):
                known = find_parses(self._duck, self.name, self.version, tokenized=tokenized, sha256=wanted)
            # By key, so that a text that occurs twice in a batch is parsed once.
            missing = {
                key: item for key, item in zip(wanted, items[start:], strict=False) if key not in known
            }
            # Lazily, so that parses are stored while others are made, and an interrupt loses few.
            fresh = self._store_parses(missing, parse(list(missing.values())), tokenized)
            for key in wanted:
                while key not in known:
                    known.update([next(fresh)])
                # New parses are converted through JSON as well, so that they are equal to stored ones.
                yield [Sentence(**values) for values in json.loads(known[key])]
            next(fresh, None)  # stores the last parses

    def _store_parses(
        self, keys: Iterable[str], parses: Iterator[list[Sentence]], tokenized: bool
    ) -> Iterator[tuple[str, str]]:
        """Yield hash and result of each parse, and store them in groups, also when interrupted."""
        rows: list[tuple[str, int, int, str]] = []
        pending = 0
        try:
            for key, sentences in zip(keys, parses, strict=True):
                tokens = sum(len(sentence.forms) for sentence in sentences)
                result = json.dumps([_values(sentence) for sentence in sentences], ensure_ascii=False)
                rows.append((key, len(sentences), tokens, result))
                pending += tokens
                if pending >= _COMMIT_TOKENS:
                    self._keep(rows, tokenized)
                    rows, pending = [], 0
                yield key, result
        finally:
            self._keep(rows, tokenized)

    def _keep(self, rows: list[tuple[str, int, int, str]], tokenized: bool) -> None:
        if not rows or not self._keeps:
            return
        same = {"parser": self.name, "version": self.version, "tokenized": tokenized, "parsed_at": now()}
        columns: dict[str, Sequence[object]] = {name: [value] * len(rows) for name, value in same.items()}
        columns |= dict(
            zip(("sha256", "sentences", "tokens", "result"), zip(*rows, strict=True), strict=True)
        )
        with translated_errors(self._path), block_journal.keep_blocks(self._duck, self._path):
            keep_parses(self._duck, pa.table(columns))

    def close(self) -> None:
        """Close the connection to the store."""
        self._opened.close()

    def __enter__(self) -> CachedParser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _values(sentence: Sentence) -> dict[str, object]:
    values = {name: getattr(sentence, name) for name in _FIELDS}
    return {
        name: value for name, value in values.items() if value not in (None, [], (), "", 0) or name == "forms"
    }


def stored_parses(store: Store) -> Rows:
    """Return the stored parses, by parser and version, as a table."""
    with store.connect() as connection:
        return Rows(("parser", "version", "texts", "sentences", "tokens"), count_parses(raw(connection)))


def forget_parses(store: Store, parser: str, version: str | None = None, *, dry_run: bool = False) -> int:
    """Remove the parses of a parser, or of one version of it, and return the number of texts.

    Raises:
        NotFoundError: the store has no such parses.
    """
    stored = stored_parses(store).rows
    texts = [row[2] for row in stored if row[0] == parser and version in (None, row[1])]
    if not texts:
        known = ", ".join(sorted({row[0] for row in stored}))
        there = f"there are: {known}" if known else "the store has no parses"
        raise NotFoundError(f"no parses of {' '.join(filter(None, (parser, version)))!r}; {there}")
    if not dry_run:
        with store.begin() as connection:
            remove_parses(raw(connection), parser, version)
    return sum(texts)
