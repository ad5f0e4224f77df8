"""Train the phrase-based HMM on the pairs of a corpus: EM over a stream, each iteration kept in the store.

The expected counts of the rewrite tables are added up in place (`cells`), all others in small arrays (`em`).
Pairs are explained in threads and counted in their order, so that the number of threads changes nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Annotated

import numpy as np

from sentgen.alignment.budget import DATABASE_SHARE, Budget
from sentgen.alignment.phrase_hmm.rewriting.em import (
    ExpectedCounts,
    PairPosteriors,
    Tally,
    explain,
    log_prior,
    maximize,
)
from sentgen.alignment.phrase_hmm.rewriting.lexicon import PairIds
from sentgen.alignment.phrase_hmm.rewriting.parameters import RewriteParameters, starting_parameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored import model_store
from sentgen.alignment.stored.cell_parts import TEXTS, PartRoom, batches
from sentgen.alignment.stored.cells import RewriteCells, StoredPhrases, fake_counts, lay_out, no_cells
from sentgen.alignment.stored.model_store import DIRECTIONS, AlignmentModelInfo, StoredIteration
from sentgen.alignment.stored.stored_cells import LAYERS, forget_older, load_cells, save_cells
from sentgen.alignment.stored.stored_ids import StoredIds
from sentgen.alignment.stored.stored_model import named_vectors
from sentgen.alignment.words.nearness import Nearness
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.errors import InputError, MemoryLimitError, ModelError
from sentgen.models.vectors.loading import WordVectors
from sentgen.options import Option
from sentgen.schema import Store
from sentgen.schema.store import translated_errors
from sentgen.space import Space

#: Shares of the memory limit for the rewrite tables, and for parts of those that do not fit; inference and
#: Python have what DuckDB leaves of the rest.
CELL_SHARE, PART_SHARE = 0.21, 0.21
#: What inference has: the rest, for one of these pairs a thread: one at work and two that wait to be counted.
PAIR_SHARE = 1 - DATABASE_SHARE - CELL_SHARE - PART_SHARE
_PAIRS = 3
#: Share from which on pages of files are given back.
FULL_SHARE = 0.8
#: Expected counts below which phrase cells are forgotten after an iteration.
DROP = 1e-6

#: Called with direction, iteration, pairs done and pairs in all; iteration 0 lays the tables out.
Progress = Callable[[str, int, int, int], None]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How to train, with ``memory`` in bytes for everything."""

    iterations: Annotated[int, Option("Iterations of EM, in each direction.", metavar="N", least=1)] = 10
    drop: Annotated[float, Option("Forget phrases expected less often; 0: none.", metavar="X", least=0)] = (
        DROP
    )
    jobs: Annotated[int, Option("Threads.", short="-j", metavar="N", least=1)] = 1
    resume: Annotated[bool, Option("Go on with a model that was begun; its settings hold.")] = False
    memory: int = 4 << 30

    @property
    def budget(self) -> Budget:
        """What the inference of a pair may take."""
        # Without threads no pair waits to be counted.
        parts = 1 if self.jobs == 1 else _PAIRS * self.jobs
        return Budget.of_limit(self.memory, share=PAIR_SHARE, parts=parts)


def train_model(
    store: Store,
    corpus: str,
    name: str,
    settings: PbhmmSettings,
    plan: TrainingPlan,
    *,
    progress: Progress | None = None,
) -> Iterator[StoredIteration]:
    """Train a model and yield each iteration once it is stored.

    A killed run goes on with ``plan.resume`` after the last iteration that was stored; settings are then
    those of the model. Reverse iterations (documents from abstracts) are run where the settings decode in
    both directions.

    Raises:
        InputError: the model exists, its pairs have changed, or vectors change nothing.
        NotFoundError: there is no such corpus, no such model to go on with, or there are no such vectors.
        MemoryLimitError: a pair takes more memory than there is for inference.
        ModelError: a pair is impossible under the settings; a model without an iteration is removed.
    """
    if plan.iterations < 1:
        raise InputError("training takes at least 1 iteration; give --iterations N")
    find = model_store.get_model if plan.resume else model_store.find_model
    with store.connect() as connection:
        known = find(connection, name)
    if known is not None and not plan.resume:
        raise InputError(
            f"the alignment model {name!r} exists; go on with it with --resume, choose another name, "
            f"or remove it: sentgen align remove {name}"
        )
    settings = known.settings if known is not None else settings
    ids = StoredIds(store, corpus, fold=settings.fold)
    if not len(ids):
        raise InputError(f"the corpus {corpus!r} has no pairs; add some with: sentgen pairs ingest")
    # Now, and not after hours in the first iteration.
    for sizes in ids.large:
        plan.budget.plan(sizes, table=False)
    vectors = named_vectors(store, settings, f"the model {name}")
    model = _begin(store, ids, corpus, name, settings, plan, known)
    report = progress or (lambda *_: None)
    try:
        for direction in model.directions:
            yield from _Training(store, ids, model, direction, plan, report, vectors).run()
    except (ModelError, MemoryLimitError):
        _forget_empty(store, model)
        raise


def _forget_empty(store: Store, model: AlignmentModelInfo) -> None:
    """Remove a model that has no iteration, so that its name is free for other settings."""
    with store.connect() as connection:
        done = [model_store.iterations_done(connection, model, one) for one in DIRECTIONS]
    if not any(done):
        model_store.remove_model(store, model.name)


def _begin(
    store: Store,
    ids: StoredIds,
    corpus: str,
    name: str,
    settings: PbhmmSettings,
    plan: TrainingPlan,
    known: AlignmentModelInfo | None,
) -> AlignmentModelInfo:
    """Return the model, made now if it is new."""
    if known is not None and not known.corpus_id:
        learnt = "was tuned on gold links" if known.iterations else "has the priors only"
        raise InputError(f"the alignment model {name!r} {learnt}; train another one")
    if known is not None and (known.corpus_id != ids.corpus_id or known.pairs_hash != ids.hash):
        raise InputError(
            f"the alignment model {name!r} was begun with other pairs ({known.pairs:,} of "
            f"{known.corpus!r}); train another one"
        )
    with store.begin() as connection:
        if known is None:
            model_store.add_model(
                connection,
                name,
                settings,
                corpus_id=ids.corpus_id,
                corpus=corpus,
                pairs=len(ids),
                pairs_hash=ids.hash,
                iterations=plan.iterations,
            )
        model = model_store.get_model(connection, name)
        model_store.save_words(connection, model, ids.lexicon, ids.in_documents, ids.in_abstracts)
    return model


class _Training:
    """EM in one direction."""

    def __init__(
        self,
        store: Store,
        ids: StoredIds,
        model: AlignmentModelInfo,
        direction: str,
        plan: TrainingPlan,
        progress: Progress,
        vectors: WordVectors | None,
    ) -> None:
        self.store, self.ids, self.model, self.direction, self.plan = store, ids, model, direction, plan
        self.settings, self.progress = model.settings, progress
        exchanged = direction == DIRECTIONS[1]
        self.stream = partial(ids.stream, exchanged=exchanged)
        self.forms = ids.forms(exchanged=exchanged)
        self.space = Space(
            int(plan.memory * CELL_SHARE), store.path.parent, most=int(plan.memory * FULL_SHARE)
        )
        self.wordnet = find_wordnet() if self.settings.kindred else None
        self.nearness = None if vectors is None else Nearness(vectors, self.settings.nearness)
        #: Tables of words and of stems.
        self.layers: dict[str, RewriteCells] = {}
        #: Their phrases, until they are stored.
        self.phrases: dict[str, tuple[StoredPhrases, StoredPhrases]] = {}

    def run(self) -> Iterator[StoredIteration]:
        """Run the iterations that are missing."""
        with self.store.begin() as connection:
            # A run that was killed between the transactions of `_store` has left two tables.
            done = model_store.iterations_done(connection, self.model, self.direction)
            forget_older(connection, self.model, self.direction, done)
        if done >= self.plan.iterations:
            return
        with translated_errors(self.store.path):
            self.store.downgrade_to_read()
            parameters = self._load() if done else self._start()
        for number in range(done + 1, self.plan.iterations + 1):
            began = time.monotonic()
            expected = self._count(parameters, number)
            posterior = expected.logp + self._log_prior(parameters)
            if not np.isfinite(posterior):
                raise ModelError("some pair is impossible under these settings; choose others with --set")
            parameters = self._maximize(expected, parameters)
            self.space.relax()
            yield self._store(number, expected.logp, posterior, parameters, began)

    def _start(self) -> RewriteParameters:
        """Lay the tables out and return the parameters at which EM starts."""
        self.progress(self.direction, 0, 0, len(self.ids))
        for layer in LAYERS:
            stems = layer == "stems"
            if stems and self.settings.stems != "table":
                self.layers[layer] = no_cells(fake_counts(self.settings.prior, stems=True))
                continue
            cells, *sides = lay_out(self.stream, self.settings, self.space, stems=stems)
            self.layers[layer], self.phrases[layer] = cells, (sides[0], sides[1])
        return starting_parameters(
            self.settings,
            words=len(self.ids.lexicon),
            forms=self.forms,
            table=self.layers["words"].table(),
            stems=self.layers["stems"].table(),
        )

    def _load(self) -> RewriteParameters:
        """Return the parameters of the last iteration that was stored."""
        with self.store.connect() as connection:
            model_store.check_stems(connection, self.model, self.ids.lexicon)
            parameters = model_store.load_parameters(connection, self.model, self.direction, self.forms)
            for layer in LAYERS:
                self.layers[layer] = load_cells(
                    connection, self.model, self.direction, layer, space=self.space
                )
        return self._with_tables(parameters)

    def _with_tables(self, parameters: RewriteParameters) -> RewriteParameters:
        return replace(parameters, table=self.layers["words"].table(), stems=self.layers["stems"].table())

    def _count(self, parameters: RewriteParameters, number: int) -> ExpectedCounts:
        """Return the expected counts of all pairs; those of the tables are in their cells."""
        words, stems = self.layers["words"], self.layers["stems"]
        tally = Tally(parameters, self.settings, words.counts[: words.size], stems.counts[: stems.size])
        done = 0
        for pairs, part in self._parts(parameters, tally):
            for explained in self._explained(pairs, part):
                tally.add(explained)
                done += 1
                self.progress(self.direction, number, done, len(self.ids))
        return tally.expected()

    def _parts(
        self, parameters: RewriteParameters, tally: Tally
    ) -> Iterator[tuple[Iterator[PairIds], RewriteParameters]]:
        """Yield all pairs with all tables, or some pairs with what they need of tables in files."""
        if not self.space.spilled:
            yield self.stream(), parameters
            return
        room, every = self.plan.memory * PART_SHARE, sum(cells.size for cells in self.layers.values())
        rooms = {
            layer: PartRoom(cells, TEXTS[layer], self.settings, room * cells.size / every)
            for layer, cells in self.layers.items()
        }
        for pairs, parts in batches(self.stream(), rooms):
            words, stems = parts["words"], parts["stems"]
            some = replace(parameters, table=words.table, stems=stems.table)
            tally.over(some, words.counts, stems.counts)
            yield iter(pairs), some

    def _explained(self, pairs: Iterator[PairIds], parameters: RewriteParameters) -> Iterator[PairPosteriors]:
        """Yield pairs with their posteriors, in their order."""
        if self.plan.jobs == 1:
            yield from (self._explain(pair, parameters) for pair in pairs)
            return
        with ThreadPoolExecutor(self.plan.jobs) as threads:

            def submit(pair: PairIds) -> Future[PairPosteriors]:
                return threads.submit(self._explain, pair, parameters)

            # No more than these: a pair with its posteriors takes what `PAIR_SHARE` has for it.
            waiting = deque(map(submit, islice(pairs, 2 * self.plan.jobs)))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(map(submit, islice(pairs, 1)))

    def _explain(self, pair: PairIds, parameters: RewriteParameters) -> PairPosteriors:
        if self.settings.kindred:
            pair = self.ids.lexicon.with_kinship(pair, wordnet=self.wordnet, nearness=self.nearness)
        return explain(pair, parameters, self.settings, self.plan.budget)

    def _log_prior(self, parameters: RewriteParameters) -> float:
        total = log_prior(parameters, self._but_tables())
        if "table" not in self.settings.fixed:
            total += sum(cells.log_prior() for cells in self.layers.values())
        return total

    def _maximize(self, expected: ExpectedCounts, parameters: RewriteParameters) -> RewriteParameters:
        parameters = maximize(expected, parameters, self._but_tables())
        for cells in self.layers.values():
            if "table" in self.settings.fixed:
                # What `maximize` would have done.
                cells.counts[: cells.size] = 0.0
                continue
            # Before `maximize`, which sets the counts to 0.
            if self.plan.drop:
                cells.drop(self.plan.drop)
            cells.maximize()
        return self._with_tables(parameters)

    def _but_tables(self) -> PbhmmSettings:
        """Return the settings for the functions of `em` that would look for the tables in their own form."""
        return replace(self.settings, fixed=self.settings.fixed | {"table"})

    def _store(
        self, number: int, logp: float, posterior: float, parameters: RewriteParameters, began: float
    ) -> StoredIteration:
        """Store the iteration, then forget the tables of the one before."""
        done = StoredIteration(
            direction=self.direction,
            number=number,
            logp=logp,
            log_posterior=posterior,
            p_null=parameters.p0,
            weights=(
                float(parameters.weights[0]),
                float(parameters.weights[1]),
                float(parameters.weights[2]),
            ),
            cells=sum(cells.size for cells in self.layers.values()),
            seconds=time.monotonic() - began,
        )
        lexicon = self.ids.lexicon
        names = {"words": lexicon.words, "stems": lexicon.stems}
        with self.store.begin(in_order=True) as connection:
            for layer, sides in self.phrases.items():
                model_store.save_phrases(connection, self.model, layer, names[layer], sides)
            model_store.save_iteration(connection, self.model, done, parameters)
            for layer, cells in self.layers.items():
                save_cells(connection, self.model, self.direction, layer, number, cells)
        # The phrases stay the same, and are stored once.
        self.phrases = {}
        with self.store.begin() as connection:
            # Last: until the iteration is stored, a killed run goes on with the one before.
            forget_older(connection, self.model, self.direction, number)
        self.store.downgrade_to_read()
        return done
