"""The experiments of Wan et al. 2007 and 2009, run from the treebank on, beside the published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from sqlalchemy import func, select

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.evaluation.regeneration.answers import Progress
from sentgen.evaluation.regeneration.bleu import overlap_metrics
from sentgen.evaluation.regeneration.experiment import evaluate_regeneration
from sentgen.evaluation.regeneration.penn_treebank import Split
from sentgen.evaluation.regeneration.published import TABLES, WAN_2009_BLLIP, PublishedTable, record_published
from sentgen.evaluation.regeneration.results import RegenerationResult
from sentgen.evaluation.testset import read_test_set
from sentgen.generation import Search
from sentgen.models import ModelInfo
from sentgen.models.building.build_request import BuildRequest
from sentgen.models.building.companions import is_annotated
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import corpus, source

#: "A 4-gram language model ... smoothed using Katz's method" (2009, section 5.2; 2007, section 6.2).
_OF_PAPERS = partial(BuildRequest, order=4, smoothing="katz")
#: What serves the searches best that no paper has (docs/beam.md); corpora are counted for it.
_ORDER = 5
_BEST = partial(BuildRequest, order=_ORDER, unknown="tag", brackets=True, companions=True)
#: Those searches: n-grams of words; of tags, classes and items as well; and with trees.
BEYOND = ("beam", "beam:features=auto", "joint")
_LM_TEXT = "lm-text"
PAPERS = tuple(sorted({table.paper for table in TABLES}))

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PaperColumn:
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
class Beyond:
    """What no paper has: the systems `BEYOND` with the best model of the treebank and its companions."""

    model: ModelInfo
    result: RegenerationResult


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What was trained and tested on, the columns of the paper's table, and what goes beyond it.

    Nothing does where the base noun phrases of the treebank are not known.
    """

    split: Split
    columns: Sequence[PaperColumn]
    beyond: Beyond | None


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

    Behind these come systems that no paper has. What is there already is used again. Text is lower-cased, as
    in the examples that the papers print. The model of ``lm_text`` is built from that text alone, as the
    BLLIP model of 2009 was.

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
    tested = quantity(len(split.test), "file")
    asked = partial(_evaluate, store, split, seed=seed, jobs=jobs, progress=progress)
    columns = []
    for table in tables:
        name = _LM_TEXT if table is WAN_2009_BLLIP else split.name
        say(f"building the model of {name}")
        model = _model(store, _OF_PAPERS(name=name, corpus=[name]))
        say(f"regenerating the sentences of {tested}: {table.citation}")
        columns.append(PaperColumn(table, model, asked(model, _systems(table))))
    if not is_annotated(store, split.name):
        say(f"no base noun phrases in {split.name}, such as .pos files have: nothing beyond the paper")
        return Reproduction(split, columns, None)
    say(f"building the best model of {split.name}, and those over tags, classes and items")
    model = _model(store, _BEST(name=f"{split.name}-best", corpus=[split.name]))
    say(f"regenerating the sentences of {tested}: {', '.join(BEYOND)}")
    return Reproduction(split, columns, Beyond(model, asked(model, BEYOND)))


def _ingest(store: Store, name: str, paths: Sequence[str]) -> None:
    """Bring a corpus into the store, and make sure that it holds nothing else."""
    with store.connect() as connection:
        counted = connection.execute(select(corpus.c.max_order).where(corpus.c.name == name)).scalar()
    if counted not in (None, _ORDER):
        raise InputError(
            f"corpus {name!r} is counted up to order {counted}, not {_ORDER}; remove it with:"
            f" sentgen corpora remove {name}"
        )
    summary = ingest(store, paths, Settings(name, order=_ORDER, lowercase=True))
    query = select(func.count()).select_from(source).join(corpus, corpus.c.id == source.c.corpus_id)
    with store.connect() as connection:
        sources = scalar(connection, query.where(corpus.c.name == name))
    # Sentences of another source in the model would be no reproduction.
    if sources > summary.sources + summary.unchanged:  # fewer where files have the same content
        raise InputError(
            f"corpus {name!r} holds other sources than these; remove it with: sentgen corpora remove {name}"
        )


def _model(store: Store, asked: BuildRequest) -> ModelInfo:
    """Return a model that is there already if it is as it would be built now, else build it."""
    return (asked.built(store) or asked.build(store))[0]


def _systems(table: PublishedTable) -> list[str]:
    """Return each algorithm of a table twice: as the paper reads, and as it works best here."""
    year = table.paper.removeprefix("wan")
    return [name for algorithm in table.bleu for name in (f"{algorithm}:as-published={year}", algorithm)]


def _evaluate(
    store: Store,
    split: Split,
    model: ModelInfo,
    systems: Sequence[str],
    *,
    seed: int,
    jobs: int,
    progress: Progress | None,
) -> RegenerationResult:
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
