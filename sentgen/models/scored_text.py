"""The answer of `score`: rows for sentences, tokens, documents or regions of a stored or another text.

Only a batch of sentences and the sums are in memory, so that a text may be longer than memory.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, groupby

import numpy as np
from sqlalchemy import Connection, select

from sentgen.corpus.reader import ENGLISH
from sentgen.corpus.readers import jsonl, text
from sentgen.corpus.readers.lines import split_tokens
from sentgen.errors import InputError, NotFoundError, Rejection
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.selection import Selection
from sentgen.models.base.registry import ModelInfo
from sentgen.models.request import UNITS, ScoreRequest
from sentgen.models.scoring import (
    FIGURES,
    TOTALS,
    ScoredBatch,
    SentenceScore,
    Totals,
    figures_of,
    perplexity_of,
    score_batches,
    score_sentences,
)
from sentgen.models.stored_text import RegionPart, SentencePlace, stored_sentences
from sentgen.models.text_batches import TextBatch
from sentgen.output.display import decimal
from sentgen.output.tabular import Rows
from sentgen.output.wording import instead, quantity
from sentgen.schema import Store
from sentgen.schema.tables.corpus import source
from sentgen.schema.tables.models import model_corpus

#: The columns that identify a region, after its corpus and document.
_REGION = ("sentence", "position", "attributes", "sentences")
#: The columns of a token: its identity and its scores.
_OF_TOKEN = ("position", "token", "log10", "logp", "surprisal", "unknown")
_LN2 = math.log(2)
_END = "</s>"
Row = tuple[object, ...]
#: The part of a reader's version that names the language of raw text, if it is not English.
_LANGUAGE = re.compile(r"\d+-([a-z]{2,3})\b")


@dataclass(slots=True)
class ScoredText:
    """The answer to a request; its rows can be read once, and its sums are complete after the last row.

    Args:
        texts: the text, some lines each, if it is not stored.
        path: name of the text in errors.
    """

    store: Store
    model: ModelInfo
    asked: ScoreRequest
    texts: Iterable[str] = ()
    path: str = "-"
    totals: Totals = field(default_factory=Totals)
    kept: int = 0
    number: int = field(default=0, init=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        places = ("corpus", "document", "sentence") if self.asked.corpus else ("sentence",)
        if self.asked.totals:
            return TOTALS
        of_unit = {
            "token": (*places, *_OF_TOKEN),
            "sentence": (*places, *FIGURES, "text"),
            "document": (*places[:2], "sentences", *FIGURES),
        }
        return of_unit.get(self.asked.by, (*places[:2], *_REGION, *FIGURES))

    @property
    def essential(self) -> tuple[str, ...]:
        """The columns that are always shown."""
        of_unit = {
            "token": ("token", "surprisal"),
            "sentence": ("log10", "text"),
            "document": ("document", "log10", "perplexity"),
        }
        return of_unit.get(self.asked.by, ("attributes", "log10", "perplexity"))

    def rows(self) -> Iterator[Row]:
        """Yield the rows; for totals a single row, after the whole text is read."""
        if self.asked.totals:
            for _ in self._batches() if self._of_batches else self.scores():
                pass
            yield self.totals.row
        elif self.asked.by == "document":
            for document, scores in groupby(self.scores(), key=lambda item: item[0].names[:2]):
                sums = Totals()
                for _, score in scores:
                    sums.add(score)
                yield (*document, sums.sentences, *figures_of(sums.log10, sums.tokens, sums.oov))
        elif self.asked.by == "sentence" and self._of_batches:
            yield from self._sentence_rows()
        elif self.asked.by in UNITS:
            for place, score in self.scores():
                if self.asked.by == "token":
                    yield from _tokens(place.names, score)
                else:
                    figures = figures_of(score.log10, score.tokens, score.oov)
                    yield (*place.names, *figures, " ".join(score.words))
        else:
            none = True
            for row in _region_rows(self.scores()):
                none = False
                yield row
            if none:
                raise NotFoundError(f"there is no region {self.asked.by!r} in these sentences; choose others")

    def table(self, most: int = 0) -> Rows:
        """Return all rows, or the first ``most``; all are read, for the sums, and ``number`` counts them."""
        rows = []
        for row in self.rows():
            self.number += 1
            if not most or self.number <= most:
                rows.append(row)
        return Rows(self.columns, rows)

    @property
    def notes(self) -> list[str]:
        """Notes on the totals; complete after the rows are read."""
        return [*self.totals.notes, *self.warnings]

    @property
    def warnings(self) -> list[str]:
        """Return warnings about the text and the model; complete after the rows are read."""
        warnings = list(self.totals.warnings)
        if self.asked.keep_below is not None:
            summary = f"kept {self.kept:,} of {quantity(self.totals.sentences, 'sentence')}"
            warnings.append(f"{summary}, of a perplexity below {self.asked.keep_below:g}")
        return warnings

    def scores(self) -> Iterator[tuple[SentencePlace, SentenceScore]]:
        """Yield the place (names or number) and the score of each sentence that passes the filters."""
        places, below = deque[SentencePlace](), self.asked.keep_below
        scores = score_sentences(
            self.store, self.model, self._sentences(places), lowercase=self.asked.lowercase
        )
        for number, score in enumerate(scores, 1):
            place = places.popleft() if self.asked.corpus else SentencePlace((number,))
            # The units of the interval are documents, or sentences of a text without documents.
            self.totals.add(score, place.names[:2] if self.asked.corpus else None)
            if below is None or score.perplexity < below:
                self.kept += 1
                yield place, score

    def _sentence_rows(self) -> Iterator[Row]:
        """Yield a row for each line of tokens that passes the filters."""
        below, number = self.asked.keep_below, 0
        for scored in self._batches():
            columns = (scored.log10.tolist(), (scored.batch.lengths + 1).tolist(), scored.oov.tolist())
            for words, log10, tokens, oov in zip(scored.batch.sentences, *columns, strict=True):
                number += 1
                if below is None or perplexity_of(log10, tokens) < below:
                    self.kept += 1
                    yield number, *figures_of(log10, tokens, oov), " ".join(words)

    def lines_below(self) -> Iterator[str]:
        """Yield the sentences that pass the filters, words separated by blanks."""
        if self._of_batches:
            for scored in self._batches():
                keep = scored.perplexities < (self.asked.keep_below or 0)
                self.kept += int(np.count_nonzero(keep))
                sentences = compress(scored.batch.sentences, keep.tolist())
                yield from map(" ".join, sentences)
        else:
            yield from (" ".join(score.words) for _, score in self.scores())

    @property
    def _of_batches(self) -> bool:
        """Whether the text is lines of tokens, whose scores can be summed batch by batch."""
        return not self.asked.corpus and not self.asked.tokenize

    def _batches(self) -> Iterator[ScoredBatch]:
        """Yield the batches of lines of tokens, and count them."""
        batches = TextBatch.of_lines(self.texts)
        for scored in score_batches(self.store, self.model, batches, self.asked.lowercase):
            self.totals.add_batch(scored)
            yield scored

    def _sentences(self, places: deque[SentencePlace]) -> Iterator[Sequence[str]]:
        """Yield the words of sentences; the places of stored sentences are appended to ``places``."""
        if not self.asked.corpus:
            lines = (line for part in self.texts for line in part.split("\n"))
            yield from words_of(self.store, self.model, lines, tokenize=self.asked.tokenize, path=self.path)
            return
        with self.store.connect() as connection:
            selection = Selection.named(
                connection, self.asked.corpus, condition=self.asked.where, sentences=True
            )
            hints = selection.condition.hints(connection) if selection.condition else []
            kinds = () if self.asked.by in UNITS else _kinds(connection, self.asked.by)
        place = None
        for place, words in stored_sentences(self.store, selection, kinds):
            places.append(place)
            yield words
        if place is None:
            why = f"; {'; '.join(hints)}" if hints else ""
            raise NotFoundError(f"there is no sentence to score{why}")


@dataclass(slots=True)
class _RegionSums:
    """The sums over the sentences that a region has a part of."""

    region: RegionPart
    sentences: int = 0
    log10: float = 0.0
    tokens: int = 0
    oov: int = 0

    def add(self, score: SentenceScore, part: RegionPart) -> None:
        """Count the tokens of a part, and the end of the sentence if it goes up to that."""
        start, size = part.first - 1, len(score.words)
        end = part.last if part.last < size else size + 1
        self.sentences += 1
        self.log10 += decimal(float(score.logps[start:end].sum()))
        self.tokens += end - start
        self.oov += int(score.unknown[start:end].sum())

    @property
    def row(self) -> tuple[object, ...]:
        """The columns of the region's row."""
        at = self.region
        names = (at.sentence, at.position, at.attributes, self.sentences)
        return (*names, *figures_of(self.log10, self.tokens, self.oov))


def _region_rows(scores: Iterable[tuple[SentencePlace, SentenceScore]]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each region, in the order in which they begin; regions end with their document."""
    for document, own in groupby(scores, key=lambda item: item[0].names[:2]):
        sums = dict[tuple[int, int, int], _RegionSums]()
        for place, score in own:
            for part in place.regions:
                sums.setdefault(part[:3], _RegionSums(part)).add(score, part)
        for _, region in sorted(sums.items()):
            yield (*document, *region.row)


def _kinds(connection: Connection, name: str) -> tuple[str, ...]:
    """Return the kinds of regions of a name.

    Raises:
        InputError: no regions have this name.
    """
    keys = StoreKeys(connection)
    if kinds := keys.find_kinds(name):
        return kinds
    raise InputError(f"no rows by {name!r}; {instead(name, [*UNITS, *keys.kinds])}")


def _tokens(names: Row, score: SentenceScore) -> Iterator[Row]:
    """Yield a row for each token, and for the end of the sentence."""
    unknown = [*score.unknown.tolist(), False]
    for position, (word, logp) in enumerate(zip((*score.words, _END), score.logps.tolist(), strict=True), 1):
        yield (*names, position, word, decimal(logp), logp, -logp / _LN2, unknown[position - 1])


def words_of(
    store: Store, model: ModelInfo, lines: Iterable[str], *, tokenize: bool = False, path: str = "-"
) -> Iterator[Sequence[str]]:
    """Yield the words of sentences, one a line; or of raw text in the language of the model's corpora.

    Args:
        lines: the text.
        tokenize: whether it is raw.
        path: name of the text in errors.

    Raises:
        InputError: a sentence of raw text is too long.
    """
    if not tokenize:
        yield from map(split_tokens, lines)
        return
    for item in text.read(lines, path=path, language=_language_of(store, model)):
        if isinstance(item, Rejection):
            raise item.as_error()
        yield item.forms


def _language_of(store: Store, model: ModelInfo) -> str:
    """Return the language in which raw text of the model's corpora was read; English if there is none."""
    raw = select(source.c.reader_version).where(
        source.c.format.in_([text.READER.name, jsonl.READER.name]),
        source.c.corpus_id.in_(select(model_corpus.c.corpus_id).where(model_corpus.c.model_id == model.id)),
    )
    with store.connect() as connection:
        versions = connection.execute(raw.distinct()).scalars().all()
    languages = {match[1] if (match := _LANGUAGE.match(version)) else ENGLISH for version in versions}
    return languages.pop() if len(languages) == 1 else ENGLISH
