"""String regeneration: shuffle the units of real sentences, order them again, and compare.

The task of Bangalore et al. 2000, as Wan et al. 2007 and 2009 evaluate on it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, cast

from sqlalchemy import select

from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, spell
from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.figures.results import (
    ExperimentResult,
    FigureRow,
    MainFigure,
    OutputRow,
    Recorder,
    SystemResult,
)
from sentgen.evaluation.regeneration.answers import (
    OutputsFile,
    Progress,
    SystemAnswers,
    answer_all,
    given_answers,
)
from sentgen.evaluation.regeneration.bleu import overlap_metrics, sentence_bleu
from sentgen.evaluation.regeneration.cases import Preparation
from sentgen.evaluation.regeneration.measures import measurements, verb_argument_figures
from sentgen.generation import RegeneratedSentence, Search, SearchPlan, algorithm_named
from sentgen.generation.algorithms import settings_record
from sentgen.generation.bags.bag_reader import TagKind, other_kind
from sentgen.generation.prepare import with_known_tags
from sentgen.generation.regenerate import Gold
from sentgen.models.base.registry import ModelInfo
from sentgen.models.dependency.tagging import have_function_heads, tag_set
from sentgen.models.submodel import lowercases
from sentgen.options import Option, parse_system
from sentgen.schema import Store
from sentgen.schema.tables.corpus import corpus

#: The figure by which systems are compared: BLEU, lower-cased, tokenized as the test set is. (sacreBLEU's
#: default, 13a, splits web addresses and runs of punctuation into tokens that are always in order.)
PRIMARY = "bleu-lc-none"
#: Fewest and most words of the sentences of a bucket, both included.
_LENGTHS = ((1, 4), (5, 9), (10, 14), (15, 19), (20, 29), (30, 39), (40, None))


@dataclass(frozen=True, slots=True)
class OrderingResult(SystemResult[RegeneratedSentence]):
    """Answers and figures of one system; its times are of look-up and search, in milliseconds a sentence."""

    @property
    def sentences(self) -> int:
        """Return the number of sentences."""
        return len(self.answers)

    @property
    def outputs(self) -> list[str]:
        """Return the answers as texts."""
        return [answer.text for answer in self.answers]


@dataclass(frozen=True, slots=True)
class _LengthBucket:
    """The sentences of the test set, by their positions, whose numbers of words are in a range."""

    label: str
    sentences: Sequence[int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """A system of a learning curve: its algorithm, and the number of sentences it was learnt from."""

    system: str
    algorithm: str
    sentences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegenerationResult(ExperimentResult[OrderingResult]):
    """A run over a test set.

    ``references`` are the original sentences, ``lengths`` buckets of them if figures by length are wanted,
    ``curve`` a point for each system of a learning curve.
    """

    main = MainFigure(PRIMARY, "BLEU, lower-cased")
    lengths: Sequence[_LengthBucket]
    references: Sequence[str] = field(repr=False)
    curve: Sequence[LearningPoint] = ()

    def by_length(self, system: OrderingResult) -> Iterator[Measurement]:
        """Yield the main figure of a system over the sentences of each bucket."""
        whole = system.measurements[PRIMARY]
        for bucket in self.lengths:
            signature = f"{whole.signature}|words:{bucket.label}|sentences:{len(bucket.sentences)}"
            yield replace(whole.of(bucket.sentences), metric=f"{PRIMARY}:{bucket.label}", signature=signature)

    def rows(self) -> Iterator[FigureRow]:
        """Yield the figures, times and figures by length (``bleu-lc-none:10-14``); then the comparisons."""
        for system in self.systems:
            yield from system.rows_with_intervals(self.seed)
            yield from system.rows([*system.times.values(), *self.by_length(system)])
        yield from self.comparison_rows()

    def item_rows(self) -> Iterator[FigureRow]:
        """Yield BLEU of each sentence of each system."""
        for system in self.systems:
            values, signature = sentence_bleu(system.measurements["bleu-lc-13a"])
            for item, value in enumerate(values, 1):
                yield FigureRow(system.system, "sentence-bleu", value, signature, item)

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every answer with the bag that was ordered and the reference."""
        for system in self.systems:
            for item, (answer, reference) in enumerate(zip(system.answers, self.references, strict=True), 1):
                given = " ".join(map(str, answer.given))
                yield OutputRow(system.system, item, given, answer.text, reference)


def _length_buckets(references: Sequence[str]) -> list[_LengthBucket]:
    """Return the buckets of `_LENGTHS` that have sentences."""
    words = [len(reference.split()) for reference in references]
    buckets = []
    for low, high in _LENGTHS:
        label = f"{low}-{high}" if high else f"{low}+"
        inside = [i for i, size in enumerate(words) if low <= size and (high is None or size <= high)]
        buckets.append(_LengthBucket(label, inside))
    # An empty bucket has no figure.
    return [bucket for bucket in buckets if bucket.sentences]


logger = logging.getLogger(__name__)

COMMAND = "evaluate regeneration"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegenerationSettings(Search):
    """How a test set is put in order and compared, and the search that all systems share."""

    outputs: Annotated[
        list[str],
        Option(
            "Answers of another system, a sentence a line in the order of the test; may be repeated.",
            metavar="NAME=FILE",
        ),
    ] = field(default_factory=list)
    seed: Annotated[int, Option("Seed of the shuffle, samples, tests and drawn sentences.", least=0)] = 1
    punct: Annotated[bool, Option("Keep punctuation.")] = True
    lowercase: Annotated[
        bool | None, Option("Lower-case the test. Default: as the model's corpora.", off="--keep-case")
    ] = None
    by_length: Annotated[bool, Option("Give BLEU by length of the sentence, too.")] = False
    jobs: Annotated[int, Option("Threads that search; take times with 1.", short="-j", least=1)] = 1


@dataclass(frozen=True, slots=True)
class _Entry:
    """A model of the evaluation: the plans of its systems, its treebanks, and its preparation of cases."""

    model: ModelInfo
    plans: Mapping[str, SearchPlan]
    treebanks: list[int]
    preparation: Preparation

    @property
    def label(self) -> str:
        return f"{self.model.name}@{self.model.version}"


def evaluate_regeneration(
    store: Store,
    model: ModelInfo | Sequence[ModelInfo],
    sentences: Iterable[Sentence],
    algorithms: Sequence[str],
    settings: RegenerationSettings | None = None,
    *,
    parser: Parser | None = None,
    source: str = "",
    progress: Progress | None = None,
    **fields: Any,
) -> RegenerationResult:
    """Order the bag of every sentence with every system, measure and compare the answers, and record a run.

    `Preparation.case` makes cases, `measurements` gives the figures, `intervals` their confidence intervals,
    `compare_all` the tests between systems. Sentences without words are left out.

    Args:
        store: the store with the model, in which the run is recorded; not read-only.
        model: the language model, or several; then each system runs with each model, as ``beam@ewt``.
        sentences: the test set.
        algorithms: names of algorithms, with settings where wanted (see `parse_systems`).
        settings: search and evaluation. The seed is that of the samples and tests, too. Times include waiting
            for other threads, so that they mean most with one job. With `word` units, trees are over words.
        parser: parser for the verb arguments of outputs and originals (see `verb_argument_figures`).
        source: origin of the sentences, for the record.
        progress: called after each part of the test set.
        fields: fields of ``settings``, by name, which replace those of ``settings``.

    Raises:
        InputError: an algorithm or setting is unknown, a sentence is too long, there are no sentences, two
            systems have one name, models are of corpora in different case, or sacreBLEU is missing.
        ModelError: an algorithm needs trees, and no corpus has any.
    """
    overlap_metrics()  # raises without sacreBLEU, before anything that takes long
    recorder = Recorder(store, COMMAND)
    store.downgrade_to_read()
    settings = replace(settings or RegenerationSettings(), **fields)
    files = OutputsFile.read_all(settings.outputs)
    models = list(model) if isinstance(model, Sequence) else [model]
    entries = _entries(store, models, algorithms, settings)
    names = [*(name for entry in entries for name in entry.plans), *files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{twice} is there twice; give the outputs another name")
    read = list(sentences)
    tests = [_cases(store, read, entry.preparation, entry.treebanks) for entry in entries]
    used = [bool(entries[0].preparation.case(sentence).units) for sentence in read] if files else []
    given = {name: file.of(used) for name, file in files.items()}
    # Before the search, which may take long, so that faults of a file are reported at once.
    theirs = given_answers(given, tests[0], lowercase=entries[0].preparation.lowercase)
    answered: dict[str, SystemAnswers] = {}
    for entry, cases, tell in zip(entries, tests, _progress(progress, entries, tests), strict=True):
        answered |= answer_all(store, cases, entry.plans, jobs=settings.jobs, progress=tell)
    result = summarize(
        answered | theirs, tests[0], seed=settings.seed, by_length=settings.by_length, parser=parser
    )
    parameters = {
        "model": ", ".join(entry.label for entry in entries),
        **set_record(source, result.references),
        **_setup(store, entries, files, settings.jobs),
        **({"parser": f"{parser.name}@{parser.version}"} if parser else {}),
    }
    return recorder.record(replace(result, parameters=parameters))


def _entries(
    store: Store, models: Sequence[ModelInfo], algorithms: Sequence[str], settings: RegenerationSettings
) -> list[_Entry]:
    """Return an entry for each model, after checks that models differ and agree on case."""
    labels = [model.label for model in models]
    if not models or len(set(labels)) < len(labels):
        raise InputError(f"models {', '.join(labels) or 'none'}: name one or more, each once")
    entries = []
    for model, label in zip(models, labels, strict=True):
        named = model.name if [model.name for model in models].count(model.name) == 1 else label
        plans = _plans(store, model, algorithms, settings)
        if len(models) > 1:
            plans = {f"{name}@{named}": plan for name, plan in plans.items()}
        treebanks = _treebanks(plans.values())
        preparation = _preparation(store, model, settings, treebanks, punctuation=settings.punct)
        entries.append(_Entry(model, plans, treebanks, preparation))
    if len({entry.preparation.lowercase for entry in entries}) > 1:
        raise InputError(
            f"of {', '.join(labels)} some are of lower-cased corpora and some are not;"
            f" say how the test set is with {spell('lowercase')} or {spell('lowercase', off='--keep-case')}"
        )
    return entries


def _progress(
    progress: Progress | None, entries: Sequence[_Entry], tests: Sequence[Sequence[Gold]]
) -> Iterator[Progress | None]:
    """Yield a callback for each model that reports progress over the sentences of all models."""
    sizes = [len(cases) * len(entry.plans) for entry, cases in zip(entries, tests, strict=True)]
    for before in accumulate(sizes[:-1], initial=0):
        yield progress and partial(_report, progress, before, sum(sizes))


def _report(progress: Progress, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def set_record(source: str, references: Sequence[str]) -> dict[str, object]:
    """Return the record of a test set: its origin, the hash of its references, and their number."""
    sha256 = hashlib.sha256("\n".join(references).encode()).hexdigest()
    return {"test": source, "sha256": sha256, "sentences": len(references)}


def cases_of(
    store: Store, model: ModelInfo, sentences: Iterable[Sentence], search: Search, plan: SearchPlan
) -> list[Gold]:
    """Return the test cases that an evaluation of this search alone would make of the sentences."""
    corpora = _treebanks([plan])
    preparation = _preparation(store, model, search, corpora, punctuation=True)
    return _cases(store, sentences, preparation, corpora)


def _treebanks(plans: Iterable[SearchPlan]) -> list[int]:
    """Return the ids of the corpora from which the plans have their dependencies, in order."""
    return sorted({number for plan in plans if plan.treebank for number in plan.treebank.corpora})


def _setup(
    store: Store, entries: Sequence[_Entry], files: Mapping[str, OutputsFile], jobs: int
) -> dict[str, object]:
    """Return the record of systems, jobs and preparation of the test set.

    Parameters of the preparation that differ between models are recorded for each model.
    """
    systems: dict[str, object] = {}
    for entry in entries:
        model = {"model": entry.label} if len(entries) > 1 else {}
        for name, plan in entry.plans.items():
            packages = {scorer.name: scorer.package for scorer, _ in plan.rerankers if scorer.package}
            own = settings_record(plan.algorithm, plan.settings)
            systems[name] = {**own, **({"scorers": packages} if packages else {}), **model}
    systems |= {name: {"outputs": file.path, "sha256": file.sha256} for name, file in files.items()}
    prepared = {
        entry.label: {
            "dependencies": _names(store, entry.treebanks),
            **({"where": entry.model.condition} if any(each.model.condition for each in entries) else {}),
            **asdict(entry.preparation),
        }
        for entry in entries
    }
    first = next(iter(prepared.values()))
    alike = {key for key, value in first.items() if all(other[key] == value for other in prepared.values())}
    return {
        "systems": systems,
        "jobs": jobs,
        **{
            key: value if key in alike else {label: settings[key] for label, settings in prepared.items()}
            for key, value in first.items()
        },
    }


def _plans(
    store: Store, model: ModelInfo, algorithms: Sequence[str], search: Search
) -> dict[str, SearchPlan]:
    """Return the plan of each system, without lower-casing, as the test set is lower-cased already."""
    systems = parse_systems(algorithms, replace(search, lowercase=False))
    plans = {name: search.plan(store, model) for name, search in systems.items()}
    for hint in dict.fromkeys(hint for plan in plans.values() for hint in plan.hints):
        logger.warning("%s", hint)
    return plans


def _cases(
    store: Store, sentences: Iterable[Sentence], preparation: Preparation, corpora: Sequence[int]
) -> list[Gold]:
    """Return the test cases that have units, with the tags by which the corpora count dependencies."""
    kind = preparation.tags
    other = replace(preparation, tags=other_kind(kind)) if kind else preparation
    both = [(preparation.case(sentence), other.case(sentence)) for sentence in sentences]
    both = [pair for pair in both if pair[0].units]
    if not both:
        raise InputError("nothing of the test set is left to put in order; give sentences with words")
    cases = [case for case, _ in both]
    if kind:
        bags, warning = with_known_tags(
            store, corpora, kind, [case.units for case in cases], [case.units for _, case in both]
        )
        if warning:
            logger.warning("%s", warning)
        cases = [replace(case, units=tuple(bag)) for case, bag in zip(cases, bags, strict=True)]
    return cases


def _preparation(
    store: Store, model: ModelInfo, search: Search, corpora: Sequence[int], *, punctuation: bool
) -> Preparation:
    """Return how sentences become cases for a model; ``corpora`` are those with the dependencies, if any."""
    return Preparation(
        units=search.units,
        punctuation=punctuation,
        lowercase=lowercases(store, model) if search.lowercase is None else search.lowercase,
        tags=cast(TagKind, tag_set(store, corpora)) if corpora else None,
        function_heads=have_function_heads(store, corpora),
    )


def _names(store: Store, corpora: Sequence[int]) -> list[str]:
    query = select(corpus.c.name).where(corpus.c.id.in_(corpora)).order_by(corpus.c.id)
    with store.connect() as connection:
        return [str(name) for name in connection.execute(query).scalars()]


def summarize(
    answered: Mapping[str, SystemAnswers],
    cases: Sequence[Gold],
    *,
    seed: int,
    by_length: bool = False,
    parser: Parser | None = None,
) -> RegenerationResult:
    """Return all figures and comparisons of a run, without its number, parameters and time.

    ``answered`` has for each system an answer a case. Without a parser there are no verb arguments.
    """
    sentences = {name: answers.answers for name, answers in answered.items()}
    parsed = verb_argument_figures(sentences, cases, parser) if parser else {}
    systems = [_ordering_result(name, answers, parsed.get(name)) for name, answers in answered.items()]
    references = [case.reference for case in cases]
    lengths = _length_buckets(references) if by_length else ()
    return RegenerationResult.from_systems(systems, seed, lengths=lengths, references=references)


def _ordering_result(name: str, answered: SystemAnswers, parsed: Measurement | None) -> OrderingResult:
    seconds = {
        "lookup-ms": [answer.lookup for answer in answered.answers],
        "search-ms": [answer.search for answer in answered.answers],
    }
    times = {
        metric: Measurement.mean(metric, "milliseconds a sentence, mean", [1000 * one for one in each])
        for metric, each in seconds.items()
    }
    figures = measurements(answered.statistics) | ({parsed.metric: parsed} if parsed else {})
    # The times of answers from files are unknown.
    own = any(answer.given for answer in answered.answers)
    return OrderingResult(name, answered.answers, figures, times if own else {})


def parse_systems(texts: Sequence[str], search: Search) -> dict[str, Search]:
    """Return the search of each system, ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE`` (see `read_system`).

    Args:
        texts: a text for each system.
        search: options that all systems share: the paper for systems that name none, and settings for systems
            that have them and do not set them themselves.

    Raises:
        InputError: there is no such algorithm, no system has a setting that is shared, or two systems are the
            same.

    >>> parse_systems(["lmo", "beam"], Search(changes={"beam": 8}))["lmo"].changes
    {}
    """
    if not texts:
        raise InputError("there is nothing to compare; name an algorithm or more, such as lmo,beam")
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is there twice; name each system once")
    algorithms = {text: algorithm_named(parse_system(text)[0]) for text in texts}
    looked_at = {name for algorithm in algorithms.values() for name in algorithm.options}
    idle = sorted(
        name for name, value in search.changes.items() if value is not None and name not in looked_at
    )
    if idle:
        raise InputError(f"none of {', '.join(texts)} looks at {idle[0].replace('_', '-')}; leave it out")
    # Each system gets only the shared settings that it has, as it refuses others.
    return {
        text: replace(
            search,
            algorithm=text,
            changes={name: value for name, value in search.changes.items() if name in algorithm.options},
        )
        for text, algorithm in algorithms.items()
    }
