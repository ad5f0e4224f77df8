"""Fusion against references: systems make a sentence of each cluster, which is measured and recorded.

A cluster has a key sentence, related ones, and references, which no system sees. A system is an algorithm of
`sentgen fuse`, or extraction, which takes a sentence as it is.

Each figure is computed from sums over the clusters (see `Measurement`): BLEU to references, verb arguments,
and how many are answered and copied. Figures of sentences are of the clusters for which all systems have one,
the same for all; what a cluster without one adds to a sum is nothing.

Verb arguments are those of `sentgen.evaluation.check.verb_arguments`: precision is the share of those of the
new sentences that the other text has, too, and recall the share of those of the other text, of verbs that the
new sentence has, that it has, too. All clusters count together, each relation alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, zip_longest

import numpy as np

from sentgen.arrays import Bools, Floats
from sentgen.corpus.formats import detect
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.corpus.readers import jsonl
from sentgen.corpus.readers._columns import FormatError
from sentgen.corpus.reading import read_parsed
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source
from sentgen.errors import InputError, Rejection, spell
from sentgen.evaluation.check.verb_arguments import FORMS, SourceArguments, Spelling, parse_once
from sentgen.evaluation.clusters.clusters import Cluster
from sentgen.evaluation.clusters.experiment import is_copied
from sentgen.evaluation.figures.measurement import Measurement, ratio
from sentgen.evaluation.figures.results import (
    ExperimentResult,
    MainFigure,
    OutputRow,
    Progress,
    Recorder,
    SystemResult,
    compare_systems,
)
from sentgen.evaluation.regeneration.bleu import bleu
from sentgen.extras import needs
from sentgen.generation.clusters.casing import capitalized
from sentgen.generation.fusion.answer import DEPVITERBI, FusionRequest
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.schema import Store

#: Keys of JSON Lines that say which sentence is what.
_KEY, _RELATED, _REFERENCES = "key", "related", "references"


@dataclass(frozen=True, slots=True)
class FusionCase:
    """A cluster with references: sentences with trees, of which fusion gets all but the references."""

    name: str
    key: Sentence
    related: tuple[Sentence, ...]
    references: tuple[Sentence, ...]

    @property
    def inputs(self) -> tuple[Sentence, ...]:
        """Return the input of fusion, the key sentence first."""
        return self.key, *self.related


@dataclass(frozen=True, slots=True)
class FusionCases:
    """The clusters of a test; ``short`` were left out, as they had too few sentences to hold some back."""

    cases: Sequence[FusionCase]
    short: int = 0
    source: str = ""

    @property
    def sha256(self) -> str:
        """Return the hash of the references."""
        texts = (" ".join(reference.forms) for case in self.cases for reference in case.references)
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    @staticmethod
    def read(
        path: str, *, parser: Parser, references: int, form: str | None = None, limit: int | None = None
    ) -> FusionCases:
        """Read clusters with references.

        Objects of JSON Lines may have a sentence ``key`` and lists ``related`` and ``references``. In any
        other cluster the first sentence is the key, the last ones are references, and those between them are
        related.

        Args:
            path: anything that `sentgen ingest` takes, a document a cluster.
            parser: parser for sentences without trees.
            references: number of references in a cluster that does not name them.
            form: name of the format; detected if ``None``.
            limit: number of clusters to read, without those that are too short; all if ``None``.

        Raises:
            InputError: a sentence or object is broken, or no cluster is left.
        """
        sources = list(expand([path]))
        short, cases = 0, list[FusionCase]()
        if all(_says_which(source, form) for source in sources):
            cases = list(
                islice((case for source in sources for case in _labeled_cases(source, parser)), limit)
            )
        else:
            for cluster in Cluster.all_in(path, parser=parser, form=form):
                if len(cases) == limit:
                    break
                key, *others = cluster.sentences
                if len(others) > references:
                    related, held = others[:-references], others[-references:]
                    cases.append(FusionCase(cluster.name, key, tuple(related), tuple(held)))
                else:
                    short += 1
        if not cases:
            needed = (
                f"a key, a related sentence and {references} to hold back; try fewer {spell('references')}"
            )
            raise InputError(f"no cluster has {needed}", path=path)
        return FusionCases(cases, short, path)


def _says_which(source: Source, form: str | None) -> bool:
    """Return whether the first object of a source says which of its sentences is the key."""
    if (form or detect(source)) != jsonl.READER.name:
        return False
    first = next((line for line in source.lines() if line.strip()), "")
    try:
        return _KEY in jsonl.parse_object(first)
    except FormatError:  # which reading tells with its line
        return False


def _labeled_cases(source: Source, parser: Parser) -> Iterator[FusionCase]:
    """Yield the cases of objects that say which sentence is what."""
    parts: dict[int, tuple[int, int]] = {}
    items = jsonl.read(_as_sentences(source, parts), path=source.name)
    sentences = read_parsed(items, parser, path=source.name)
    # A case a line: each is known before its sentences come.
    held: list[Sentence] = []
    name = ""
    for sentence in sentences:
        if isinstance(sentence, Rejection):
            raise sentence.as_error()
        name = sentence.document or name
        held.append(sentence)
        related, references = parts[sentence.line]
        if len(held) == 1 + related + references:
            key, *others = held
            yield FusionCase(name, key, tuple(others[:related]), tuple(others[related:]))
            held = []


def _as_sentences(source: Source, parts: dict[int, tuple[int, int]]) -> Iterator[str]:
    """Yield each object as the reader of JSON Lines takes it.

    ``parts`` gets its numbers of related sentences and of references, by line.
    """
    for number, line in enumerate(source.lines(), 1):
        if not line.strip():
            yield line
            continue
        try:
            value = jsonl.parse_object(line)
            name = jsonl.name_of(value, jsonl.ID) or str(number)
        except FormatError as error:
            raise InputError(error.message, path=source.name, line=number) from error
        related, references = (_listed(value, part, source, number) for part in (_RELATED, _REFERENCES))
        parts[number] = len(related), len(references)
        yield json.dumps({jsonl.ID: name, "sentences": [value.get(_KEY), *related, *references]})


def _listed(value: dict[str, object], part: str, source: Source, line: int) -> list[object]:
    listed = value.get(part)
    if not isinstance(listed, list) or not listed:
        raise InputError(f"`{part}` is no list of sentences", path=source.name, line=line)
    return listed


#: The figure that systems are compared by.
BLEU = "bleu-lc-none"
_ARGUMENTS = tuple(f"{of}-{figure}" for of in ("source", "reference") for figure in ("precision", "recall"))
#: What people call the figures.
LABELS = {
    "answered": "answered, %",
    "copied": "copied, %",
    "words": "words",
    BLEU: "BLEU, lower-cased",
    "source-precision": "P, sources",
    "source-recall": "R, sources",
    "reference-precision": "P, references",
    "reference-recall": "R, references",
}
_ORDER = 4


def require_bleu() -> None:
    """Refuse where there is no BLEU, before anything long is run.

    Raises:
        InputError: sacreBLEU is not installed.
    """
    with needs("evaluate", "sacreBLEU, which counts and signs for BLEU,"):
        import sacrebleu  # noqa: F401


def _measured(
    cases: Sequence[FusionCase],
    answers: Sequence[Sentence | None],
    common: Bools,
    spelling: Spelling,
    parser: str,
) -> dict[str, Measurement]:
    """Return the figures of a system; ``common``, (clusters,), says whether all systems have a sentence."""
    made = np.array([answer is not None for answer in answers])
    lengths = np.array([len(answer.forms) if answer else 0 for answer in answers], np.float64)
    given = zip(cases, answers, strict=True)
    copied = [answer is not None and is_copied(answer.forms, case.inputs) for case, answer in given]
    figures = {
        "answered": Measurement("answered", "clusters with a sentence", _share(made, made | True), ratio),
        "copied": Measurement(
            "copied", "sentences that are an input, or a piece of one", _share(copied, made), ratio
        ),
        "words": Measurement("words", "words a sentence", _share(lengths * common, common), ratio),
    }
    statistics, signature = bleu_statistics(
        [" ".join(answer.forms) if answer else "" for answer in answers],
        [[" ".join(reference.forms) for reference in case.references] for case in cases],
    )
    figures[BLEU] = Measurement(BLEU, signature, statistics * common[:, None], bleu)
    of_arguments = f"{spelling.signature}|pooled|parser:{parser}"
    for name, sums in _arguments(cases, answers, spelling).items():
        figures[name] = Measurement(name, of_arguments, sums * common[:, None], ratio)
    return {name: figures[name] for name in LABELS}


def bleu_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[Floats, str]:
    """Return the statistics of BLEU with several references, as for `bleu`, and sacreBLEU's signature.

    A reference is any sentence of a cluster: an n-gram matches as often as in the one that has it most, and
    the length is that of the nearest one, as sacreBLEU counts. Outputs are split at blanks.

    Returns:
        (sentences, 12): of 1- to 4-grams the number in the output, the length of the reference, the matches.
    """
    from sacrebleu.metrics import bleu as metrics

    # Of sentences it warns without effective order, which changes no count.
    each = metrics.BLEU(lowercase=True, tokenize="none", effective_order=True)
    scores = [each.sentence_score(output, list(of)) for output, of in zip(outputs, references, strict=True)]
    rows = [[(one.totals[n], one.ref_len, one.counts[n]) for n in range(_ORDER)] for one in scores]
    # The signature tells how many references there are once something was scored.
    whole = metrics.BLEU(lowercase=True, tokenize="none")
    whole.corpus_score(outputs, list(zip_longest(*references)))
    return np.array(rows, np.float64).reshape(len(rows), 3 * _ORDER), str(whole.get_signature())


def _share(part: Sequence[bool] | Floats | Bools, whole: Bools) -> Floats:
    """Return (clusters, 2): what is counted, and of what."""
    return np.stack([np.asarray(part, np.float64), whole.astype(np.float64)], axis=1)


def _arguments(
    cases: Sequence[FusionCase], answers: Sequence[Sentence | None], spelling: Spelling
) -> Mapping[str, Floats]:
    """Return by figure (clusters, 2): relations that match, and all."""
    figures = {name: np.zeros((len(cases), 2)) for name in _ARGUMENTS}
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        if answer is None:
            continue
        for texts, sentences in (("source", case.inputs), ("reference", case.references)):
            counts = SourceArguments(sentences, spelling).compare([answer])["all"]
            figures[f"{texts}-precision"][number] = counts.matched, counts.generated
            figures[f"{texts}-recall"][number] = counts.recalled, counts.source
    return figures


#: The words of a new sentence of a key and related sentences; None where there is none.
FusionSystem = Callable[[Sentence, Sequence[Sentence]], Sequence[str] | None]
#: Extraction: the key sentence, or the sentence that is most like the others.
_KEY_ITSELF, _CENTRAL = "key", "central"


def _central(key: Sentence, related: Sequence[Sentence]) -> Sequence[str]:
    """Return the sentence with the highest BLEU to the others as its references; of equals the first one."""
    texts = [" ".join(sentence.forms) for sentence in (key, *related)]
    if len(texts) == 1:
        return key.forms
    others = [texts[:number] + texts[number + 1 :] for number in range(len(texts))]
    statistics, _ = bleu_statistics(texts, others)
    best = int(np.argmax(bleu(statistics, effective=True)))
    return (key, *related)[best].forms


#: By name.
EXTRACTION: Mapping[str, FusionSystem] = {_KEY_ITSELF: lambda key, _: key.forms, _CENTRAL: _central}
#: Systems that are compared by default: fusion with its defaults, the search of 2005, and extraction.
DEFAULT = (FusionRequest().algorithm, DEPVITERBI, *EXTRACTION)


def parse_fusers(names: Sequence[str], request: FusionRequest, store: Store) -> dict[str, FusionSystem]:
    """Return the systems of some names, in their order.

    Names are those of extraction (`EXTRACTION`), or of algorithms of `sentgen fuse`, which share the options
    of the request; the search of 2005 takes no model, and gets none.

    Raises:
        InputError: no system is named, one is named twice, or an algorithm needs a model.
    """
    if not names or len(set(names)) < len(names):
        raise InputError(f"name some systems, each once, such as {','.join(DEFAULT)}")
    return {name: EXTRACTION.get(name) or _fuser(name, request, store) for name in names}


def _fuser(name: str, shared: FusionRequest, store: Store) -> FusionSystem:
    model = None if name == DEPVITERBI else shared.model
    request = replace(shared, algorithm=name, model=model, nbest=1)
    request.check()

    def fuse(key: Sentence, related: Sequence[Sentence]) -> Sequence[str] | None:
        sentences = fused_sentences(key, related, request, store).sentences
        return capitalized(sentences[0].words) if sentences else None

    return fuse


COMMAND = "evaluate fusion"

#: The words of each system's sentence of each cluster.
Answers = Mapping[str, list[Sequence[str] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionResult(ExperimentResult[SystemResult[str | None]]):
    """A run over clusters with references: of each system a sentence a cluster, or None.

    Systems are compared by BLEU, then by each figure of verb arguments that all of them have.

    Attributes:
        cases: the clusters.
        common: number of clusters for which all systems made a sentence; most figures are of these.
    """

    main = MainFigure(BLEU, LABELS[BLEU])
    cases: Sequence[FusionCase] = field(repr=False)
    common: int

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every sentence: what came in, the key first, and references."""
        for system in self.systems:
            for item, (case, answer) in enumerate(zip(self.cases, system.answers, strict=True), 1):
                if answer is not None:
                    given, references = (
                        "\n".join(" ".join(sentence.forms) for sentence in sentences)
                        for sentences in (case.inputs, case.references)
                    )
                    yield OutputRow(system.system, item, given, answer, references)


def evaluate_fusion(
    store: Store,
    source: FusionCases,
    parser: Parser,
    systems: Mapping[str, FusionSystem],
    *,
    spelling: Spelling = FORMS,
    seed: int = 1,
    parameters: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> FusionResult:
    """Fuse every cluster with every system, measure, compare, and record all of it as a run.

    See `_measured` for the figures, and `compare_all` for the tests.

    Args:
        store: the store in which the run is recorded, not read-only.
        source: the clusters, which are not stored.
        parser: parser of the new sentences.
        systems: the systems by name.
        spelling: the spelling by which two words of arguments are the same.
        seed: seed of samples and tests.
        parameters: further parameters for the record.
        progress: called as clusters and sentences are done.

    Raises:
        InputError: there is no cluster of which all systems make a sentence, or sacreBLEU is missing.
    """
    require_bleu()
    recorder = Recorder(store, COMMAND)
    store.downgrade_to_read()
    report = progress or (lambda what, done, total: None)
    answers = _answered(source, systems, report)
    result = _summarized(source, answers, parser, spelling, seed, report)
    described = {
        "clusters": source.source,
        "sha256": source.sha256,
        "number": len(source.cases),
        "too_short": source.short,
        "common": result.common,
        "parser": f"{parser.name}@{parser.version}",
        "lemmas": spelling.lemmas,
        **(parameters or {}),
    }
    return recorder.record(replace(result, parameters=described))


def _answered(source: FusionCases, systems: Mapping[str, FusionSystem], progress: Progress) -> Answers:
    answers: dict[str, list[Sequence[str] | None]] = {name: [] for name in systems}
    for done, case in enumerate(source.cases, 1):
        for name, system in systems.items():
            answers[name].append(system(case.key, case.related))
        progress("clusters", done, len(source.cases))
    return answers


def _summarized(
    source: FusionCases, answers: Answers, parser: Parser, spelling: Spelling, seed: int, progress: Progress
) -> FusionResult:
    """Measure and compare the systems; a run that has no number, parameters and time yet."""
    common = np.array([None not in texts for texts in zip(*answers.values(), strict=True)])
    if not common.any():
        counts = ", ".join(f"{name} {len(texts) - texts.count(None):,}" for name, texts in answers.items())
        raise InputError(
            f"no cluster of which all systems make a sentence ({counts} of {len(source.cases):,});"
            " leave out the one that makes fewest",
            path=source.source or None,
        )
    made = (words for texts in answers.values() for words in texts if words is not None)
    trees = parse_once(made, parser, partial(progress, "sentences"))
    named = f"{parser.name}@{parser.version}"
    systems = [
        SystemResult(
            name,
            [None if words is None else " ".join(words) for words in texts],
            _measured(
                source.cases,
                [None if words is None else trees[tuple(words)] for words in texts],
                common,
                spelling,
                named,
            ),
        )
        for name, texts in answers.items()
    ]
    result = FusionResult.from_systems(systems, seed, cases=source.cases, common=int(common.sum()))
    more = [
        pair
        for metric in _ARGUMENTS
        # Of no figure for which a system has nothing to count.
        if not any(np.isnan(system.value(metric)) for system in systems)
        for pair in compare_systems(systems, metric, seed)
    ]
    return replace(result, comparisons=[*result.comparisons, *more])
