"""The experiments of Wan et al. 2007 and 2009, run from the treebank on, beside the published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from sqlalchemy import func, select

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.evaluation.regeneration.answers import Progress
from sentgen.evaluation.regeneration.bleu import overlap_metrics
from sentgen.evaluation.regeneration.experiment import evaluate_regeneration
from sentgen.evaluation.regeneration.penn_treebank import Split
from sentgen.evaluation.regeneration.published import TABLES, WAN_2009_BLLIP, PublishedTable, record_published
from sentgen.evaluation.regeneration.results import RegenerationResult
from sentgen.evaluation.testset import read_test_set
from sentgen.generation import Search
from sentgen.generation.problem import Paper
from sentgen.models import ModelInfo, build, registry
from sentgen.schema import Store
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import corpus, source
from sentgen.wording import quantity

#: "A 4-gram language model ... smoothed using Katz's method" (2009, section 5.2; 2007, section 6.2).
_ORDER, _SMOOTHING = 4, "katz"
_LM_TEXT = "lm-text"
PAPERS = tuple(sorted({table.paper for table in TABLES}))

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a paper's table: what it says, and what came out here.

    ``result`` holds each algorithm twice: as the paper's text reads (``NAME:as-published=YEAR``), and with
    the defaults of sentgen.
    """

    table: PublishedTable
    model: ModelInfo
    result: RegenerationResult

    def rows(self) -> Iterator[tuple[str, float, str, str]]:
        """Yield algorithm, figure of the paper, and the names of the literal and of the default system."""
        year = self.table.paper.removeprefix("wan")
        for name, bleu in self.table.bleu.items():
            yield name, bleu, f"{name}:as-published={year}", name


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What was trained and tested on, and the columns of the paper's table."""

    split: Split
    columns: Sequence[Column]


def reproduce(
    store: Store,
    paper: str,
    split: Split,
    *,
    lm_text: Sequence[str] = (),
    seed: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
    report: Report | None = None,
) -> Reproduction:
    """Ingest a treebank, build the models of a paper, and regenerate its test set with all of its systems.

    What is there already is used again. Text is lower-cased, as in the examples that the papers print. The
    model of ``lm_text`` is built from that text alone, as the BLLIP model of 2009 was.

    Args:
        store: where corpora, models, runs and the published figures go.
        paper: `wan2007` or `wan2009`.
        split: what to train and to test on (see `split_treebank`).
        lm_text: files of text for a second language model.
        seed: of the shuffle and of the samples of the tests.
        jobs: threads that search.
        progress: called after every sentence of a column.
        report: called with a line a step.

    Raises:
        InputError: the paper is unknown, a text cannot be used, or sacreBLEU is missing.
    """
    if paper not in PAPERS:
        raise InputError(f"no paper {paper!r}; there are: {', '.join(PAPERS)}")
    overlap_metrics()  # refuses where there are none, before anything long is run
    tables = [table for table in TABLES if table.paper == paper and (table is not WAN_2009_BLLIP or lm_text)]
    say = report or (lambda _: None)
    record_published(store)
    say(f"reading {quantity(len(split.train), 'file')} of {split.title}")
    _ingest(store, split.name, split.train)
    if lm_text:
        say("reading the text for the language model")
        _ingest(store, _LM_TEXT, lm_text)
    columns = []
    for table in tables:
        name = _LM_TEXT if table is WAN_2009_BLLIP else split.name
        say(f"building the model of {name}")
        model = _model(store, name)
        say(f"regenerating the sentences of {quantity(len(split.test), 'file')}: {table.citation}")
        columns.append(Column(table, model, _evaluate(store, model, table, split, seed, jobs, progress)))
    return Reproduction(split, columns)


def _ingest(store: Store, name: str, paths: Sequence[str]) -> None:
    """Bring a corpus into the store, and make sure that it holds nothing else."""
    summary = ingest(store, paths, Settings(name, order=_ORDER, lowercase=True))
    query = select(func.count()).select_from(source).join(corpus, corpus.c.id == source.c.corpus_id)
    with store.connect() as connection:
        sources = scalar(connection, query.where(corpus.c.name == name))
    # Sentences of another source in the model would be no reproduction.
    if sources > summary.sources + summary.unchanged:  # fewer where files have the same content
        raise InputError(
            f"corpus {name!r} holds other sources than these; remove it with: sentgen corpora remove {name}"
        )


def _model(store: Store, name: str) -> ModelInfo:
    """Return the newest model of a name if it is as it would be built now, else build it."""
    try:
        model = registry.find(store, name)
    except NotFoundError:
        return build(store, name, [name], order=_ORDER, smoothing=_SMOOTHING)
    same = model.corpora == (name,) and model.order == _ORDER and model.smoothing == _SMOOTHING
    if same and not (model.condition or registry.is_stale(store, model)):
        return model
    return build(store, name, [name], order=_ORDER, smoothing=_SMOOTHING)


def _evaluate(
    store: Store,
    model: ModelInfo,
    table: PublishedTable,
    split: Split,
    seed: int,
    jobs: int,
    progress: Progress | None,
) -> RegenerationResult:
    year = cast(Paper, table.paper.removeprefix("wan"))
    # Each twice: as the paper reads, and as it works best here.
    systems = [name for algorithm in table.bleu for name in (f"{algorithm}:as-published={year}", algorithm)]
    return evaluate_regeneration(
        store,
        model,
        _sentences(split.test),
        systems,
        Search(dependencies=[split.name], seed=seed, lowercase=True),
        jobs=jobs,
        source=split.title,
        progress=progress,
    )


def _sentences(paths: Sequence[str]) -> Iterator[Sentence]:
    return chain.from_iterable(read_test_set(path) for path in paths)
