"""Train the phrase-based HMM on the pairs of a corpus: EM over a stream; the store has each iteration.

The expected counts of the rewrite tables are summed in place (`cells`), all others in small arrays (`em`).
Posteriors are computed in threads and counted in the order of the pairs, so that results do not depend on the
number of threads.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Annotated

import numpy as np
import pyarrow as pa

from sentgen.alignment.pairs.budget import ALIGNMENT_DATABASE_SHARE, Budget, PairSizes
from sentgen.alignment.phrase_hmm.em import ExpectedCounts, PairPosteriors, explain
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, forms_of_stems
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored import model_store
from sentgen.alignment.stored.cells import (
    TEXTS,
    PartBuffer,
    RewriteCells,
    StoredPhrases,
    batches,
    fake_counts,
    lay_out,
)
from sentgen.alignment.stored.model_store import DIRECTIONS, LAYERS, AlignmentModelInfo, StoredIteration
from sentgen.alignment.stored.stored_model import named_vectors
from sentgen.alignment.stored.stored_pairs import batches_of, pair_corpus, pair_numbers, pairs_hash
from sentgen.alignment.words.kinship import Nearness
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Ints, Space
from sentgen.errors import InputError, MemoryLimitError, ModelError, spell
from sentgen.models.vectors import WordVectors
from sentgen.options import Option
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow, translated_errors

_BATCH = 500
#: Least product of the words of document and abstract of a large pair.
_LARGE = 1 << 20
#: Most words of pairs that are kept in memory, 8 bytes a word.
_KEPT = 10_000_000


class _StoredIds:
    """The pairs of a corpus as ids of words, which are numbered in alphabetical order.

    So ids do not depend on the order in which the pairs were stored.
    """

    def __init__(self, store: Store, corpus: str, *, fold: bool) -> None:
        self.store = store
        with store.connect() as connection:
            self.corpus_id = int(pair_corpus(connection, corpus).id)
            self.numbers = pair_numbers(connection, corpus)
            self._batches = list(batches_of(connection, self.numbers, most=_BATCH))
            self.hash = pairs_hash(connection, self.corpus_id)
            query = """
                select id, form
                from word
                where id in (select distinct word_id from token where corpus_id = ?)
            """
            rows = fetch_arrow(connection, query, [self.corpus_id])
        forms = [form.lower() if fold else form for form in rows["form"].to_pylist()]
        self.lexicon = Lexicon(sorted(set(forms)), fold=fold)
        words = rows["id"].to_numpy()
        self._number = np.zeros(int(words.max(initial=0)) + 1, np.int32)
        self._number[words] = self.lexicon.ids(forms)
        self.stem_of = self.lexicon.stem_of
        #: The pairs, in memory if they are few.
        self._kept: list[PairIds] | None = None
        # Flags of the words of each side.
        self.in_documents = np.zeros(len(self.lexicon), np.bool_)
        self.in_abstracts = np.zeros(len(self.lexicon), np.bool_)
        #: Sizes of large pairs, in both directions.
        self.large: list[PairSizes] = []
        first_pairs: list[PairIds] = []
        words = 0
        for pair in self.stream():
            self.in_documents[pair.document] = True
            self.in_abstracts[pair.abstract] = True
            if len(pair.document) * len(pair.abstract) >= _LARGE:
                self.large += (pair.sizes(), pair.swap_texts().sizes())
            words += len(pair.document) + len(pair.abstract)
            if words <= _KEPT:
                first_pairs.append(pair)
            else:
                # Too many words: the pairs so far are dropped, too.
                first_pairs = []
        self._kept = first_pairs if words <= _KEPT else None

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.numbers)

    def stream(self, *, exchanged: bool = False) -> Iterator[PairIds]:
        """Yield the pairs, with document and abstract ``exchanged`` if wanted."""
        stored = chain.from_iterable(map(self._batch, self._batches))
        for pair in stored if self._kept is None else self._kept:
            yield pair.swap_texts() if exchanged else pair

    def _batch(self, numbers: Sequence[int]) -> Iterator[PairIds]:
        wanted = "select unnest(?::integer[]) as id"
        texts_query = f"""
            select p.document_id, p.abstract_id
            from pair p
            semi join ({wanted}) using (id)
            order by p.id
        """
        # With the range of sentence ids DuckDB skips most of `token`; with the join alone it would read all.
        words_query = f"""
            with texts as (
                select unnest([document_id, abstract_id]) as id
                from pair
                semi join ({wanted}) using (id)
            ),
            sentences as (
                select s.id, s.document_id
                from sentence s
                semi join texts on texts.id = s.document_id
            )
            select s.document_id, t.word_id
            from token t
            join sentences s on s.id = t.sentence_id
            where t.sentence_id between (select min(id) from sentences) and (select max(id) from sentences)
            order by t.sentence_id, t.position
        """
        with self.store.connect() as connection:
            texts = fetch_arrow(connection, texts_query, [list(numbers)])
            words = fetch_arrow(connection, words_query, [list(numbers)])
        ids = self._number[words["word_id"].to_numpy()]
        bounds = _bounds(words["document_id"])
        columns = (texts[name].to_pylist() for name in ("document_id", "abstract_id"))
        for document, abstract in zip(*columns, strict=True):
            texts_ids = ids[slice(*bounds[document])], ids[slice(*bounds[abstract])]
            yield PairIds(*texts_ids, *(self.stem_of[words_ids] for words_ids in texts_ids))

    def forms(self, *, exchanged: bool = False) -> Ints:
        """Return the number of words of abstracts (documents, if exchanged) with each stem, at least 1."""
        words = np.flatnonzero(self.in_documents if exchanged else self.in_abstracts).astype(np.int32)
        return forms_of_stems(words, self.stem_of)


def _bounds(documents: pa.ChunkedArray) -> dict[int, tuple[int, int]]:
    """Return the span of rows of each document; the words of a document are consecutive rows."""
    numbers = documents.to_numpy()
    firsts = (
        np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
        if len(numbers)
        else np.empty(0, np.int64)
    )
    ends = [*firsts[1:].tolist(), len(numbers)]
    return {int(numbers[first]): (int(first), end) for first, end in zip(firsts, ends, strict=True)}


#: Shares of the memory limit for the rewrite tables, and for parts of tables that do not fit; DuckDB,
#: inference and Python share the rest.
_CELL_SHARE, _PART_SHARE = 0.21, 0.21
#: Share of inference, and pairs in it for each thread: one in work and two that wait to be counted.
_PAIR_SHARE = 1 - ALIGNMENT_DATABASE_SHARE - _CELL_SHARE - _PART_SHARE
_PAIRS = 3
#: Share of its memory at which a space releases pages of its files.
_FULL_SHARE = 0.8
#: Expected count below which phrase cells are removed after an iteration.
_DROP = 1e-6

#: Called with direction, iteration, pairs done and all pairs; iteration 0 allocates the tables.
Progress = Callable[[str, int, int, int], None]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Options of the training; ``memory`` is in bytes, for everything."""

    iterations: Annotated[int, Option("Iterations of EM, in each direction.", metavar="N", least=1)] = 10
    drop: Annotated[float, Option("Forget phrases expected less often; 0: none.", metavar="X", least=0)] = (
        _DROP
    )
    jobs: Annotated[int, Option("Threads.", short="-j", metavar="N", least=1)] = 1
    resume: Annotated[bool, Option("Go on with a model that was begun; its settings hold.")] = False
    memory: int = 4 << 30

    @property
    def budget(self) -> Budget:
        """Budget of the inference of a pair."""
        # Without threads no pair waits to be counted.
        parts = 1 if self.jobs == 1 else _PAIRS * self.jobs
        return Budget.of_limit(self.memory, share=_PAIR_SHARE, parts=parts)


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

    With ``plan.resume``, a killed run continues after its last stored iteration, with the settings of the
    model. Reverse iterations (documents from abstracts) are run if the settings decode in both directions.

    Raises:
        InputError: the model exists, its pairs have changed, or vectors change nothing.
        NotFoundError: there is no such corpus, no such model to resume, or there are no such vectors.
        MemoryLimitError: a pair takes more memory than there is for inference.
        ModelError: a pair is impossible under the settings; a model without iterations is removed.
    """
    if plan.iterations < 1:
        raise InputError(f"training takes at least 1 iteration; give {spell('iterations')} N")
    find = AlignmentModelInfo.get if plan.resume else AlignmentModelInfo.find
    with store.connect() as connection:
        known = find(connection, name)
    if known is not None and not plan.resume:
        raise InputError(
            f"the alignment model {name!r} exists; go on with it with {spell('resume')}, choose"
            " another name, "
            f"or remove it: sentgen align remove {name}"
        )
    settings = known.settings if known is not None else settings
    ids = _StoredIds(store, corpus, fold=settings.fold)
    if not len(ids):
        raise InputError(f"the corpus {corpus!r} has no pairs; add some with: sentgen pairs ingest")
    # Before the first iteration, which may take hours.
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
        done = [model.iterations_done(connection, direction) for direction in DIRECTIONS]
    if not any(done):
        model_store.remove_model(store, model.name)


def _begin(
    store: Store,
    ids: _StoredIds,
    corpus: str,
    name: str,
    settings: PbhmmSettings,
    plan: TrainingPlan,
    known: AlignmentModelInfo | None,
) -> AlignmentModelInfo:
    """Return the model, which is added if it is new."""
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
            AlignmentModelInfo.add(
                connection,
                name,
                settings,
                corpus_id=ids.corpus_id,
                corpus=corpus,
                pairs=len(ids),
                pairs_hash=ids.hash,
                iterations=plan.iterations,
            )
        model = AlignmentModelInfo.get(connection, name)
        model.save_words(connection, ids.lexicon, ids.in_documents, ids.in_abstracts)
    return model


class _Training:
    """EM in one direction."""

    def __init__(
        self,
        store: Store,
        ids: _StoredIds,
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
            int(plan.memory * _CELL_SHARE), store.path.parent, most=int(plan.memory * _FULL_SHARE)
        )
        self.wordnet = find_wordnet() if self.settings.needs_kinship else None
        self.nearness = None if vectors is None else Nearness(vectors, self.settings.nearness)
        #: Tables of words and of stems.
        self.layers: dict[str, RewriteCells] = {}
        #: Phrases of these tables, until they are stored.
        self.phrases: dict[str, tuple[StoredPhrases, StoredPhrases]] = {}

    def run(self) -> Iterator[StoredIteration]:
        """Run the missing iterations, and yield each."""
        with self.store.begin() as connection:
            # A run that was killed between the transactions of `_store` has left the tables of two
            # iterations.
            done = self.model.iterations_done(connection, self.direction)
            self.model.forget_older(connection, self.direction, done)
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
                raise ModelError(
                    f"some pair is impossible under these settings; choose others with {spell('set')}"
                )
            parameters = self._maximize(expected, parameters)
            self.space.relax()
            yield self._store(number, expected.logp, posterior, parameters, began)

    def _start(self) -> RewriteParameters:
        """Allocate the tables, and return the initial parameters of EM."""
        self.progress(self.direction, 0, 0, len(self.ids))
        for layer in LAYERS:
            stems = layer == "stems"
            if stems and self.settings.stems != "table":
                self.layers[layer] = RewriteCells.none(fake_counts(self.settings.prior, stems=True))
                continue
            cells, *sides = lay_out(self.stream, self.settings, self.space, stems=stems)
            self.layers[layer], self.phrases[layer] = cells, (sides[0], sides[1])
        return RewriteParameters.starting(
            self.settings,
            words=len(self.ids.lexicon),
            forms=self.forms,
            table=self.layers["words"].table(),
            stems=self.layers["stems"].table(),
        )

    def _load(self) -> RewriteParameters:
        """Return the parameters of the last stored iteration."""
        with self.store.connect() as connection:
            self.model.ensure_same_stems(connection, self.ids.lexicon)
            parameters = self.model.load_parameters(connection, self.direction, self.forms)
            for layer in LAYERS:
                self.layers[layer] = self.model.load_cells(
                    connection, self.direction, layer, space=self.space
                )
        return self._with_tables(parameters)

    def _with_tables(self, parameters: RewriteParameters) -> RewriteParameters:
        return replace(parameters, table=self.layers["words"].table(), stems=self.layers["stems"].table())

    def _count(self, parameters: RewriteParameters, number: int) -> ExpectedCounts:
        """Return the expected counts of all pairs; the tables have their own counts."""
        words, stems = self.layers["words"], self.layers["stems"]
        tables = words.counts[: words.size], stems.counts[: stems.size]
        expected, done = ExpectedCounts.zeros(parameters, *tables), 0
        for pairs, part in self._parts(parameters, expected):
            for explained in self._explain_all(pairs, part):
                expected.add(explained, part, self.settings)
                done += 1
                self.progress(self.direction, number, done, len(self.ids))
        return expected

    def _parts(
        self, parameters: RewriteParameters, expected: ExpectedCounts
    ) -> Iterator[tuple[Iterator[PairIds], RewriteParameters]]:
        """Yield all pairs with all tables or, if tables are in files, batches of pairs with their cells."""
        if not self.space.spilled:
            yield self.stream(), parameters
            return
        memory, every = self.plan.memory * _PART_SHARE, sum(cells.size for cells in self.layers.values())
        buffers = {
            layer: PartBuffer(cells, TEXTS[layer], self.settings, memory * cells.size / every)
            for layer, cells in self.layers.items()
        }
        for pairs, parts in batches(self.stream(), buffers):
            words, stems = parts["words"], parts["stems"]
            some = replace(parameters, table=words.table, stems=stems.table)
            expected.table, expected.stems = words.counts, stems.counts
            yield iter(pairs), some

    def _explain_all(
        self, pairs: Iterator[PairIds], parameters: RewriteParameters
    ) -> Iterator[PairPosteriors]:
        """Yield pairs with their posteriors, in their order."""
        if self.plan.jobs == 1:
            yield from (self._explain(pair, parameters) for pair in pairs)
            return
        with ThreadPoolExecutor(self.plan.jobs) as threads:

            def submit(pair: PairIds) -> Future[PairPosteriors]:
                return threads.submit(self._explain, pair, parameters)

            # No more pairs at a time: each may take `_PAIR_SHARE` of the memory.
            waiting = deque(map(submit, islice(pairs, 2 * self.plan.jobs)))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(map(submit, islice(pairs, 1)))

    def _explain(self, pair: PairIds, parameters: RewriteParameters) -> PairPosteriors:
        if self.settings.needs_kinship:
            pair = self.ids.lexicon.with_kinship(pair, wordnet=self.wordnet, nearness=self.nearness)
        return explain(pair, parameters, self.settings, self.plan.budget)

    def _log_prior(self, parameters: RewriteParameters) -> float:
        total = parameters.log_prior(self._but_tables())
        if "table" not in self.settings.fixed:
            total += sum(cells.log_prior() for cells in self.layers.values())
        return total

    def _maximize(self, expected: ExpectedCounts, parameters: RewriteParameters) -> RewriteParameters:
        parameters = expected.maximize(parameters, self._but_tables())
        for cells in self.layers.values():
            if "table" in self.settings.fixed:
                # As `maximize` would do.
                cells.counts[: cells.size] = 0.0
                continue
            # Before `maximize`, which sets the counts to 0.
            if self.plan.drop:
                cells.drop(self.plan.drop)
            cells.maximize()
        return self._with_tables(parameters)

    def _but_tables(self) -> PbhmmSettings:
        """Return settings with fixed tables, for functions of `em`; the tables are maximized here."""
        return replace(self.settings, fixed=self.settings.fixed | {"table"})

    def _store(
        self, number: int, logp: float, posterior: float, parameters: RewriteParameters, began: float
    ) -> StoredIteration:
        """Store the iteration, then remove the tables of the previous one."""
        seconds = time.monotonic() - began
        lexicon = self.ids.lexicon
        names = {"words": lexicon.words, "stems": lexicon.stems}
        with self.store.begin(in_order=True) as connection:
            for layer, sides in self.phrases.items():
                self.model.save_phrases(connection, layer, names[layer], sides)
            done = self.model.save_iteration(
                connection,
                parameters,
                direction=self.direction,
                iteration=number,
                logp=logp,
                log_posterior=posterior,
                cells=sum(cells.size for cells in self.layers.values()),
                seconds=seconds,
            )
            for layer, cells in self.layers.items():
                self.model.save_cells(connection, self.direction, layer, number, cells)
        # The phrases are the same in all iterations, and are stored once.
        self.phrases = {}
        with self.store.begin() as connection:
            # Last: until the iteration is stored, a killed run resumes from the previous one.
            self.model.forget_older(connection, self.direction, number)
        self.store.downgrade_to_read()
        return done
