"""Align the pairs of a corpus with a model, and store the alignments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, delete, insert, select

from sentgen.alignment.pairs.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.model_store import DIRECTIONS, PRIORS, AlignmentModelInfo, append_columns
from sentgen.alignment.stored.stored_model import StoredAligner, with_vectors
from sentgen.alignment.stored.stored_pairs import pair_batches, pair_corpus, pair_numbers
from sentgen.alignment.view.view import Figures, places_of
from sentgen.alignment.words.states import WordState
from sentgen.alignment.words.word_states import word_states
from sentgen.errors import InputError, NotFoundError, spell
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.store import fetch_rows, raw
from sentgen.schema.tables import alignment as tables

#: Pairs whose alignments share a transaction.
_BATCH = 200

_LINK_COLUMNS = ("pair_id", "document_first", "document_end", "abstract_first", "abstract_end", "posterior")
_STATE_COLUMNS = ("pair_id", "position", "state", "source", "posterior", "p_null", "why", "elsewhere")
#: Types of the columns that are not integers.
_TYPES = {
    **dict.fromkeys(("posterior", "p_null"), pa.float64()),
    **dict.fromkeys(("state", "why"), pa.string()),
    **dict.fromkeys(("source", "elsewhere"), pa.list_(pa.int32())),
}

#: Called with the number of pairs done and of all pairs.
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class ApplicationSummary:
    """Figures of the application of a model."""

    pairs: int = 0
    unchanged: int = 0
    words: int = 0
    links: int = 0
    changed: int = 0
    new: int = 0
    seconds: float = 0.0


def apply_model(
    store: Store,
    corpus: str,
    name: str | None,
    *,
    preset: str | None = None,
    decode: Literal["viterbi", "posterior"] | None = None,
    threshold: float | None = None,
    vectors: str | None = None,
    budget: Budget = UNBOUNDED,
    progress: Progress | None = None,
) -> ApplicationSummary:
    """Align the pairs of a corpus; store links, states of words and figures, a transaction for each batch.

    Without the name of a model, the priors of a preset align them.
    Pairs that the model has already aligned with the same settings and iterations are skipped; pairs that it
    has aligned with others are aligned again.

    Raises:
        NotFoundError: there is no such corpus or model, or there are no such vectors.
        InputError: a threshold for the best path, or vectors change nothing.
        MemoryLimitError: a pair does not fit into the budget; what was aligned before is kept.
    """
    began = time.monotonic()
    with store.connect() as connection:
        total = len(pair_numbers(connection, corpus))
    name = name if name is not None else _priors_model(store, preset or "best")
    aligner = with_vectors(StoredAligner.load(store, name), store, vectors)
    settings = aligner.settings.with_decoding(decode=decode, threshold=threshold)
    aligner = replace(aligner, settings=settings, budget=budget)
    done = ApplicationSummary()
    for batch in pair_batches(store, corpus, batch=_BATCH):
        with store.connect() as connection:
            known = _known(connection, aligner, [number for number, _ in batch])
        fresh = [(number, pair) for number, pair in batch if number not in known]
        done.unchanged += len(known)
        if fresh:
            store.downgrade_to_read()
            answers = list(aligner.align([pair for _, pair in fresh]))
            states = [word_states(pair, answer) for (_, pair), answer in zip(fresh, answers, strict=True)]
            with store.begin() as connection:
                corpus_id = int(pair_corpus(connection, corpus).id)
                _keep(connection, aligner, corpus_id, fresh, answers, states, done)
        if progress is not None:
            progress(done.pairs + done.unchanged, total)
    done.seconds = time.monotonic() - began
    return done


def _marks(connection: Connection, aligner: StoredAligner) -> dict[str, object]:
    """Return the columns that distinguish alignments of a model by its settings and iterations."""
    settings = aligner.settings
    posterior = settings.decode == "posterior"
    return {
        "model_id": aligner.model.id,
        # Vectors are written as settings of a system are; a column for them would need a migration.
        "decode": f"{settings.decode}:vectors={settings.vectors}" if settings.vectors else settings.decode,
        "threshold": settings.threshold if posterior else None,
        "iteration": aligner.model.iterations_done(connection, DIRECTIONS[0]),
    }


def _known(connection: Connection, aligner: StoredAligner, numbers: Sequence[int]) -> set[int]:
    query = """
        select pair_id
        from alignment
        where model_id = ?
            and decode = ?
            and threshold is not distinct from ?
            and iteration = ?
            and pair_id in (select unnest(?::integer[]))
    """
    # `is not distinct from`: the best path has no threshold, and null = null is not true.
    given = [*_marks(connection, aligner).values(), list(numbers)]
    return {number for (number,) in raw(connection).execute(query, given).fetchall()}


def _keep(
    connection: Connection,
    aligner: StoredAligner,
    corpus_id: int,
    pairs: Sequence[tuple[int, Pair]],
    answers: Sequence[Alignment],
    states: Sequence[Sequence[WordState]],
    done: ApplicationSummary,
) -> None:
    """Store alignments in place of older ones of the same model."""
    marks = _marks(connection, aligner)
    numbers = [number for number, _ in pairs]
    # A model has one alignment of a pair: older ones are deleted, however they were decoded.
    for table in (tables.alignment_state, tables.alignment_link, tables.alignment):
        same = (table.c.model_id == aligner.model.id, table.c.pair_id.in_(numbers))
        connection.execute(delete(table).where(*same))
    rows = []
    for (number, pair), answer, words in zip(pairs, answers, states, strict=True):
        pair_figures = Figures.count(pair, words)
        row = {
            "corpus_id": corpus_id,
            "pair_id": number,
            "logp": answer.logp if answer.logp is not None and np.isfinite(answer.logp) else None,
            "coverage": pair_figures.coverage,
            "density": pair_figures.density,
            "null_share": pair_figures.new,
            "changed_share": pair_figures.changed,
            "longest_run": pair_figures.longest,
        }
        rows.append(marks | row)
        done.pairs += 1
        done.words += pair_figures.words
        done.links += len(answer.phrases)
        done.changed += len(places_of("changed", words))
        done.new += len(places_of("new", words))
    connection.execute(insert(tables.alignment), rows)
    links = [
        (number, *link.document, *link.abstract, link.posterior)
        for number, answer in zip(numbers, answers, strict=True)
        for link in answer.phrases
    ]
    of_words = [
        (number, position, state.state, state.source, state.posterior, state.null, state.why, state.elsewhere)
        for number, words in zip(numbers, states, strict=True)
        for position, state in enumerate(words)
    ]
    for table, names, rows_of in (
        (tables.alignment_link, _LINK_COLUMNS, links),
        (tables.alignment_state, _STATE_COLUMNS, of_words),
    ):
        # In columns: pairs have thousands of links, too many for one row at a time.
        if rows_of:
            arrays = {
                name: pa.array(values, _TYPES.get(name, pa.int32()))
                for name, values in zip(names, zip(*rows_of, strict=True), strict=True)
            }
            append_columns(connection, table, arrays, model_id=aligner.model.id, corpus_id=corpus_id)


def alignments(store: Store, corpus: str, name: str | None, *, limit: int = 0) -> Rows:
    """Return a row a pair that a model has aligned in a corpus, with the figures of its abstract.

    ``limit``: the first pairs only; 0 for all.

    Raises:
        NotFoundError: there is no such corpus or model, or the model has not been applied to the corpus.
    """
    query = """
        select * exclude (model, corpus), logp / ln(10) as log10
        from v_alignments
        where model = ?
            and corpus = ?
        order by pair
    """
    return _stored_rows(store, corpus, name, query, limit)


#: Queries for links, words and sentences of pairs, and the order of their rows.
_FOUND = {
    "links": ("v_alignment_links", "pair, abstract_first, document_first"),
    "words": ("v_alignment", "pair, position"),
    "sentences": ("v_alignment_sentences", "pair, sentence, rank"),
}


def found_rows(
    store: Store,
    corpus: str,
    name: str | None,
    *,
    words: bool = False,
    sentences: bool = False,
    limit: int = 0,
) -> Rows:
    """Return the phrase links of a model in a corpus, or the states of words, or the sources of sentences.

    Offsets count from 0, sentences from 1; for limit and errors see `alignments`.

    Raises:
        InputError: both words and sentences are wanted.
    """
    if words and sentences:
        raise InputError(f"{spell('words')} and {spell('sentences')} are rows of two kinds; choose one")
    view, order = _FOUND["words" if words else "sentences" if sentences else "links"]
    query = f"""
        select * exclude (model, corpus)
        from {view}
        where model = ?
            and corpus = ?
        order by {order}
    """
    return _stored_rows(store, corpus, name, query, limit)


def stored_alignments(
    store: Store, corpus: str, name: str | None, *, limit: int = 0
) -> Iterator[tuple[str, Alignment]]:
    """Yield names and alignments of pairs, in their order; limit and errors are those of `alignments`."""
    query = """
        select
            p.name,
            list((l.document_first, l.document_end, l.abstract_first, l.abstract_end)::row(
                a integer, b integer, c integer, d integer
            ) order by l.abstract_first, l.document_first) filter (l.pair_id is not null) as phrases
        from alignment a
        join alignment_model m on m.id = a.model_id
        join pair p on p.id = a.pair_id
        join corpus c on c.id = a.corpus_id
        left join alignment_link l on l.model_id = a.model_id and l.pair_id = a.pair_id
        where m.name = ?
            and c.name = ?
        group by p.id, p.name
        order by p.id
    """
    for pair, phrases in _stored_rows(store, corpus, name, query, limit):
        yield (
            pair,
            Alignment(
                tuple(
                    PhraseLink(abstract=(phrase["c"], phrase["d"]), document=(phrase["a"], phrase["b"]))
                    for phrase in phrases or ()
                )
            ),
        )


def _stored_rows(store: Store, corpus: str, name: str | None, query: str, limit: int) -> Rows:
    """Return the (first ``limit``) rows of a query about a model and a corpus that the model has aligned.

    Without a name, the model is that of the priors.
    """
    apply = f"sentgen align apply --pairs {corpus} --model {name}"
    if name is None:
        name, apply = PRIORS, f"sentgen align apply --pairs {corpus}"
    with store.connect() as connection:
        if name == PRIORS and AlignmentModelInfo.find(connection, name) is None:
            raise NotFoundError(f"nothing has been aligned by the priors; run: {apply}")
        model = AlignmentModelInfo.get(connection, name).id
        corpus_id = pair_corpus(connection, corpus).id
        columns = tables.alignment.c
        some = select(columns.pair_id).where(columns.model_id == model, columns.corpus_id == corpus_id)
        if connection.execute(some.limit(1)).first() is None:
            raise NotFoundError(f"the model {name!r} has not been applied to {corpus!r}; run: {apply}")
        return fetch_rows(connection, f"{query}\nlimit {limit}" if limit else query, [name, corpus])


def _priors_model(store: Store, preset_name: str) -> str:
    """Return the name under which the store keeps alignments by the priors of a preset; begin it if need be.

    It is a model without iterations: ``priors``, or ``priors-PRESET`` of another preset than the best.

    Raises:
        InputError: a model that has learnt something has that name.
    """
    name = PRIORS if preset_name == "best" else f"{PRIORS}-{preset_name}"
    with store.begin() as connection:
        model = AlignmentModelInfo.find(connection, name)
        if model is None:
            settings = PbhmmSettings.preset(preset_name)
            AlignmentModelInfo.add(
                connection, name, settings, corpus_id=0, corpus="", pairs=0, pairs_hash="", iterations=0
            )
        elif model.iterations:
            raise InputError(
                f"the alignment model {name!r} is one that learnt from pairs; align by its name, or remove"
                f" it: sentgen align remove {name}"
            )
    return name
