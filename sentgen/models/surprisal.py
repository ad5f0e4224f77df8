"""Surprisal of stored tokens by a model, stored with the tokens.

The surprisal of a token is -log2 p(token | tokens before it in the sentence), in bits (Hale 2001, Levy 2008);
that of an unknown word is that of <unk>. Scores are those of `sentgen score`: the bits of a sentence and its
end sum up to its log10 there, divided by -log10 2.

A scorer of a plug-in is recorded as a model of the store, each version of its package as another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import numpy as np
from sqlalchemy import Connection, select

from sentgen.arrays import Bools, Floats
from sentgen.counts.batch import spill_folder
from sentgen.counts.draft import Draft
from sentgen.errors import ModelError, NotFoundError, spell
from sentgen.lookups.base.selection import Selection
from sentgen.models.base import registry
from sentgen.models.base.registry import (
    PACKAGE,
    SCORER,
    STUPID_BACKOFF,
    ModelInfo,
    list_scorers,
    next_version,
)
from sentgen.models.building.recipe import Recipe
from sentgen.models.building.writing import insert_rows, rows_of
from sentgen.models.ngrams.model_reader import ModelReader
from sentgen.models.scorer import Scorer, ScoreWords, scorer_named
from sentgen.models.scoring import are_words, score_tokens
from sentgen.models.stored_text import StoredText
from sentgen.models.submodel import lowercases
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema import Store, folders
from sentgen.schema.store import now
from sentgen.schema.tables.corpus import UNK
from sentgen.schema.tables.models import model, model_parameter


def _words_of(scorer: Scorer) -> ScoreWords:
    """Return the function of a scorer that scores the words of sentences.

    Raises:
        ModelError: the scorer knows whole sentences only.
    """
    if scorer.score_words is None:
        raise ModelError(
            f"the scorer {scorer.name!r} of {scorer.package} has no score_words, and surprisal is that of"
            " words; its authors may add it"
        )
    return scorer.score_words


def _stored_scorer(store: Store, scorer: Scorer) -> ModelInfo:
    """Return the model that records a scorer in the store, or a new one for this version of its package."""
    there = [one for one in list_scorers(store) if (one.name, one.package) == (scorer.name, scorer.package)]
    if there:
        return there[-1]
    with store.connect() as connection:
        number, version = next_version(connection, scorer.name)
    return ModelInfo(
        id=number,
        name=scorer.name,
        version=version,
        order=0,
        smoothing=SCORER,
        min_count=(),
        unknown="none",
        brackets=False,
        vocabulary=0,
        sentences=0,
        tokens=0,
        created_at=now(),
        corpora=(),
        package=scorer.package,
    )


def _add_scorer(connection: Connection, scorer: ModelInfo) -> None:
    """Store a scorer that the store does not have yet; models that are no scorers are ignored."""
    there = connection.execute(select(model.c.id).where(model.c.id == scorer.id)).first()
    if scorer.smoothing != SCORER or there:
        return
    label = scorer.name, scorer.version
    rows = rows_of(scorer.id, label, Recipe.of_model(scorer), (), 0, scorer.created_at)
    noted = {"model_id": scorer.id, "n": 0, "name": f"{PACKAGE}{scorer.package}", "value": 0.0}
    insert_rows(connection, rows | {model_parameter.name: [noted]})


if TYPE_CHECKING:
    import pyarrow as pa

#: Decimals to which bits are rounded: DuckDB stores such numbers in half the bytes.
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Application:
    """The result of applying a model to the sentences that did not have its surprisal yet.

    ``unknown`` counts the tokens that the model does not know; ``bits`` is the sum over all tokens.
    """

    model: ModelInfo
    sentences: int = 0
    tokens: int = 0
    unknown: int = 0
    bits: float = 0.0

    def __str__(self) -> str:
        if not self.sentences:
            return f"{self.model.label}: applied to all of these sentences before"
        text = (
            f"{self.model.label}: {quantity(self.tokens, 'token')} of {quantity(self.sentences, 'sentence')}"
        )
        unknown = f", {self.unknown:,} unknown" if self.unknown else ""
        return f"{text}{unknown}; surprisal {self.bits / self.tokens:.2f} bits a token"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """A model, and what it is applied to."""

    name: Annotated[
        str,
        Option(
            "Name of the model, its newest version; or NAME@VERSION; or of a scorer of a plug-in.",
            argument=True,
            metavar="NAME[@VERSION]",
        ),
    ]
    corpus: Annotated[
        list[str],
        Option(
            "Corpora or subcorpora whose tokens get its surprisal.",
            shell="Corpus or subcorpus whose tokens get its surprisal; may be repeated.",
            metavar="NAME",
            given=True,
        ),
    ]

    def apply(self, store: Store, progress: Callable[[str], None] | None = None) -> Application:
        """Store the surprisal of all tokens that do not have that of this version of the model yet.

        All of them are stored in one transaction.

        Args:
            store: the store, open for writing.
            progress: called with one line a part of the text.

        Raises:
            NotFoundError: there is no such model, scorer or corpus.
            ModelError: the model, or scorer, has no probabilities of words as the store has them.
            PluginError: the scorer fails.
        """
        store.downgrade_to_read()
        info, say = _speaker(store, self.name)
        draft = Draft(spill_folder(store))
        try:
            done = self._draft(store, info, say, draft, progress)
            if done.sentences:
                with store.begin(in_order=True) as connection:
                    _add_scorer(connection, info)
                    draft.write(connection)
        finally:
            draft.close()
            folders.remove(draft.folder)
        return done

    def _draft(
        self,
        store: Store,
        model: ModelInfo,
        say: Speaker,
        draft: Draft,
        progress: Callable[[str], None] | None,
    ) -> Application:
        with store.connect() as connection:
            selection = Selection.named(connection, self.corpus, sentences=True)
        done = Application(model)
        for text in StoredText.read(store, selection, without=model.id):
            logps, unknown = say(text)
            # 0, not -0.0, for a probability of 1.
            bits = np.round(logps / -math.log(2), _DECIMALS) + 0.0
            draft.append("surprisal", _rows(model, text, bits, unknown))
            done = Application(
                model,
                done.sentences + len(text.lengths),
                done.tokens + len(bits),
                done.unknown + int(np.count_nonzero(unknown)),
                done.bits + float(bits.sum()),
            )
            if progress:
                progress(quantity(done.tokens, "token"))
        return done


#: Returns the log-probabilities of the tokens of a text, and which of them are unknown.
Speaker = Callable[[StoredText], tuple[Floats, Bools]]


def _speaker(store: Store, name: str) -> tuple[ModelInfo, Speaker]:
    """Return the model or scorer of a name, and the function with which it scores texts."""
    try:
        info = registry.find(store, name)
    except NotFoundError:
        if (scorer := scorer_named(name)) is None:
            raise
        return _stored_scorer(store, scorer), partial(_score_by_scorer, _words_of(scorer))
    _require_probabilities(info)
    return info, partial(_score_by_model, ModelReader(store, info), lowercases(store, info))


def _score_by_model(reader: ModelReader, lower: bool, text: StoredText) -> tuple[Floats, Bools]:
    known, events = score_tokens(reader, text.forms, text.numbers, text.lengths, lower=lower)
    return events.logp[are_words(text.lengths)], known[text.numbers] == UNK


def _score_by_scorer(score_words: ScoreWords, text: StoredText) -> tuple[Floats, Bools]:
    words = [text.forms[number] for number in text.numbers.tolist()]
    ends = np.cumsum(text.lengths).tolist()
    scores = score_words([words[begin:end] for begin, end in zip([0, *ends], ends, strict=False)])
    return np.array(list(chain.from_iterable(scores)), float), np.zeros(len(words), np.bool_)


def _require_probabilities(model: ModelInfo) -> None:
    model.symbols.require_words(model.label)
    if model.brackets:
        raise ModelError(
            f"{model.label} counts the brackets of base noun phrases, which stored tokens do not have; apply"
            f" a model that was built without {spell('brackets')}"
        )
    if model.smoothing == STUPID_BACKOFF:
        raise ModelError(
            f"{model.label} is a stupid backoff, whose scores are no probabilities and have no surprisal;"
            f" build one with {spell('smoothing')} kneser-ney"
        )


def _rows(model: ModelInfo, text: StoredText, bits: Floats, unknown: Bools) -> pa.Table:
    import pyarrow as pa

    ends = np.cumsum(text.lengths)
    positions = np.arange(1, len(bits) + 1) - np.repeat(ends - text.lengths, text.lengths)
    return pa.table(
        {
            "model_id": np.full(len(bits), model.id, np.int32),
            "corpus_id": np.repeat(text.corpora, text.lengths),
            "sentence_id": np.repeat(text.sentences, text.lengths),
            "position": positions.astype(np.int32),
            "bits": bits,
            "unknown": unknown,
        }
    )
