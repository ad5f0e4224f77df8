"""The experiment of Wan et al. 2005: does dependency-propagating search make fewer spurious verb arguments?

From every cluster the system and the bigram baseline generate the best string of each length. A parser parses
the strings, and their verb arguments are looked up among those of the cluster (see `verb_arguments`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bools, Floats, Longs
from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import FORMS, KINDS, SourceArguments, Spelling, parse_once
from sentgen.evaluation.clusters.clusters import Cluster, ClusterSet
from sentgen.evaluation.clusters.results import GenerationResult, Undefined
from sentgen.evaluation.figures.results import Progress, Recorder
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters, written_lengths
from sentgen.generation.clusters.generate import LENGTHS, GenerationSettings, Reranker, generate
from sentgen.generation.clusters.prepared import CorpusDependencies
from sentgen.models import find
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

COMMAND = "evaluate generation"
_BASELINE = "bigram"


class StringMaker(NamedTuple):
    """What makes strings: settings of the search, and if there are any, a model that chooses among the best
    ones, and treebanks whose dependencies those of the clusters back off to.
    """

    settings: GenerationSettings = GenerationSettings()
    reranker: Reranker | None = None
    dependencies: CorpusDependencies | None = None

    @property
    def name(self) -> str:
        """Return what tables call it."""
        own = self.settings.name
        return own if self.reranker is None else f"{own}+{self.reranker.scorer.name}"

    @property
    def parameters(self) -> dict[str, object]:
        """Return what runs record of it."""
        one = self.reranker
        chosen: dict[str, object] = {
            "rerank": one and one.scorer.name,
            "rerank_weight": one and one.weight,
            "dependencies": self.dependencies and list(self.dependencies.names),
        }
        if one and one.scorer.package:
            chosen["plugin"] = one.scorer.package
        return chosen | asdict(self.settings)

    def without_dependencies(self) -> StringMaker:
        """Return the baseline: the same settings otherwise, so that the dependencies are all that differs."""
        return StringMaker(replace(self.settings, algorithm="bigram", arguments="all", nearness=1.0))


#: As settings are if nobody says otherwise.
DEPENDENCIES = StringMaker()


def evaluate_generation(
    store: Store,
    source: ClusterSet,
    parser: Parser,
    *,
    lengths: Sequence[int] = LENGTHS,
    system: StringMaker = DEPENDENCIES,
    spelling: Spelling = FORMS,
    undefined: Undefined = "skip",
    fluency_model: str | None = None,
    progress: Progress | None = None,
) -> GenerationResult:
    """Generate with the system and the baseline, parse, compare, and record all of it as a run.

    Args:
        store: where the run is recorded, so not read-only.
        source: the clusters; they do not go into the store.
        parser: for the strings.
        lengths: of the strings, in words.
        system: what is compared with the baseline, which has the same settings, without dependencies.
        spelling: what makes two words the same.
        undefined: what to do with a string without verb arguments: `skip` it, or take its figures for `zero`.
        fluency_model: a model of the store that says how fluent the strings are.
        progress: called as clusters and strings are done.

    Raises:
        InputError: there are no clusters or lengths, or the system is the baseline.
        NotFoundError: there is no such model.
    """
    if fluency_model is not None:
        find(store, fluency_model)  # refuses where there is none, before anything long is run
    recorder = Recorder(store, COMMAND)
    store.downgrade_to_read()
    _check(source, lengths, system.settings)
    report = progress or (lambda what, done, total: None)
    strings = _generated(source.learned(), (system, system.without_dependencies()), lengths, report)
    result = GenerationResult(
        systems=(system.name, _BASELINE),
        clusters=[cluster.name for cluster in source.clusters],
        lengths=list(lengths),
        counts=_compared(source.clusters, strings, parser, spelling, report),
        strings=[[[_joined(text) for text in row] for row in of] for of in strings],
        copied=copies(strings, [cluster.sentences for cluster in source.clusters]),
        fluency=None if fluency_model is None else fluency(store, fluency_model, strings),
        undefined=undefined,
        signature=_signature(parser, spelling, undefined),
        parameters={
            **_described(source),
            "lengths": written_lengths(sorted(lengths)),
            "parser": f"{parser.name}@{parser.version}",
            "undefined": undefined,
            "fluency": fluency_model,
            "heads": source.heads,
            **asdict(spelling),
            **system.parameters,
        },
    )
    return recorder.record(result)


def copies(strings: Strings, clusters: Sequence[Sequence[Sentence]]) -> Bools:
    """Return (systems, clusters, lengths) whether a string is a sentence of its cluster or a piece of one."""
    return np.array(
        [
            [
                [text is not None and is_copied(text, cluster) for text in row]
                for row, cluster in zip(system, clusters, strict=True)
            ]
            for system in strings
        ],
        bool,
    )


def is_copied(words: Sequence[str], sentences: Sequence[Sentence]) -> bool:
    """Return whether words are one of some sentences, or a piece of one, capitals aside."""
    return any(_spaced(words) in _spaced(sentence.forms) for sentence in sentences)


def fluency(store: Store, model: str, strings: Strings) -> Floats:
    """Return (systems, clusters, lengths) log10 a word, the end included, by a model; NaN without a string.

    Raises:
        NotFoundError: there is no such model.
    """
    found = np.full((len(strings), len(strings[0]), len(strings[0][0])), np.nan)
    places = [place for place in np.ndindex(found.shape) if _at(strings, place) is not None]
    texts = [_at(strings, place) or () for place in places]
    for place, score in zip(places, score_sentences(store, find(store, model), texts), strict=True):
        found[place] = score.log10 / (len(score.words) + 1)
    return found


def _described(source: ClusterSet) -> dict[str, object]:
    return {
        "clusters": source.source,
        "sha256": source.sha256,
        "number": len(source.clusters),
        "sentences": sum(len(cluster.sentences) for cluster in source.clusters),
    }


def _check(source: ClusterSet, lengths: Sequence[int], settings: GenerationSettings) -> None:
    """Refuse what there is nothing to generate from, and nothing to compare with."""
    if not source.clusters:
        raise InputError("there are no clusters to generate from", path=source.source or None)
    if not lengths:
        raise InputError("there are no lengths to generate; give some, such as 1-40")
    if settings.algorithm == _BASELINE:
        raise InputError("the bigram baseline is what systems are compared with; choose another one")


def _signature(parser: Parser, spelling: Spelling, undefined: Undefined) -> str:
    word, case = "lemma" if spelling.lemmas else "form", "mixed" if spelling.match_case else "lc"
    made_by = f"{parser.name}@{parser.version}"
    return f"verb arguments|word:{word}|case:{case}|undefined:{undefined}|parser:{made_by}"


def _joined(words: tuple[str, ...] | None) -> str | None:
    return None if words is None else " ".join(words)


def _generated(
    clusters: Sequence[Sequence[Sentence]],
    systems: Sequence[StringMaker],
    lengths: Sequence[int],
    progress: Progress,
) -> Strings:
    """Return the best string of each length: [system][cluster][length], None where there is none."""
    place = {length: i for i, length in enumerate(lengths)}
    strings: Strings = [[[None] * len(lengths) for _ in clusters] for _ in systems]
    total = len(systems) * len(clusters)
    with stored_clusters(clusters) as store:
        for s, (settings, reranker, dependencies) in enumerate(systems):
            for found in generate(
                store,
                CORPUS,
                lengths=lengths,
                settings=settings,
                dependencies=dependencies,
                reranker=reranker,
            ):
                number = int(found.cluster)
                strings[s][number][place[found.length]] = found.words
                # Once a cluster: its shortest sentence comes first.
                if found.length == min(lengths):
                    progress("clusters", s * len(clusters) + number + 1, total)
    return strings


def _compared(
    clusters: Sequence[Cluster], strings: Strings, parser: Parser, spelling: Spelling, progress: Progress
) -> Longs:
    """Parse all strings, the same ones once, and count what matches."""
    wanted = (text for of in strings for row in of for text in row if text is not None)
    trees = parse_once(wanted, parser, partial(progress, "strings"))
    lengths = len(strings[0][0])
    # The last axis: generated, matched, source, recalled.
    counts = np.zeros((len(strings), len(clusters), lengths, len(KINDS), 4), np.int64)
    for c, cluster in enumerate(clusters):
        source = SourceArguments(cluster.sentences, spelling)
        for s in range(len(strings)):
            for i, text in enumerate(strings[s][c]):
                if text is not None:
                    found = source.compare([trees[text]])
                    counts[s, c, i] = [
                        (one.generated, one.matched, one.source, one.recalled)
                        for one in (found[kind] for kind in KINDS)
                    ]
    return counts


#: Of each system, cluster and length.
Strings = list[list[list[tuple[str, ...] | None]]]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words).lower()} "


def _at(strings: Strings, index: tuple[int, ...]) -> tuple[str, ...] | None:
    system, cluster, length = index
    return strings[system][cluster][length]
