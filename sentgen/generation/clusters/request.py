"""The request of `generate`, for the command line and the server alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, ClassVar, NamedTuple

from sentgen.errors import InputError
from sentgen.generation.clusters.depviterbi import BEAM
from sentgen.generation.clusters.generate import WEIGHT, Reranker
from sentgen.generation.clusters.prepared import CorpusDependencies, MixedModel
from sentgen.generation.clusters.settings import (
    KINDS,
    Arguments,
    GenerationAlgorithm,
    GenerationSettings,
    Kind,
    Reuse,
    Transitions,
)
from sentgen.models.base import registry
from sentgen.models.dependency.cluster_model import Smoothing
from sentgen.options import Option
from sentgen.schema import Store

#: The language model of the paper: the cluster alone.
_OWN = "cluster"
#: The panel of the help about trees and traces.
FILES_PANEL = "Trees and traces"
_model = partial(Option, panel="Model")
#: Options of the search, which mean nothing for a given sentence.
_SEARCHED = ("lengths", "nbest", "best", "rerank", "reuse", "beam")


class Models(NamedTuple):
    """Models of a store for clusters: a model whose bigrams are mixed in, a reranker, and treebanks."""

    lm: MixedModel | None = None
    reranker: Reranker | None = None
    dependencies: CorpusDependencies | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSearch:
    """How sentences are searched for among the words of a cluster, and chosen."""

    weight: Annotated[
        float,
        _model(
            "Weight of dependencies against bigrams.",
            shell="Weight of dependencies against bigrams, below 1.",
            metavar="0..1",
            api={"ge": 0, "lt": 1},
        ),
    ] = 0.5
    reuse: Annotated[
        Reuse,
        _model(
            "Each token once, a word as often as in one sentence, or freely.",
            shell="Each token once, a word as often as in one sentence, or without limit.",
        ),
    ] = "none"
    transitions: Annotated[
        Transitions,
        _model(
            "A word may follow any other, or only as seen.",
            shell="A word may follow any other, or only one that it follows in the cluster.",
        ),
    ] = "all"
    arguments: Annotated[
        Arguments,
        _model(
            "A word may have any argument, or only one that a sentence of the cluster gives it.",
            metavar="all|supported",
        ),
    ] = "all"
    smoothing: Annotated[Smoothing, _model("Of dependencies: none, or back-off to tags.")] = "none"
    nearness: Annotated[
        float,
        _model(
            "What each item above one on the head stack leaves of its relations' probability; 1 leaves all.",
            metavar="0..1",
            api={"gt": 0, "le": 1},
        ),
    ] = 1.0
    dependencies: Annotated[
        list[str],
        _model(
            "Treebanks whose dependencies those of the cluster back off to.",
            shell="Treebank whose dependencies those of the cluster back off to; may be repeated.",
            metavar="CORPUS",
            api={"max_length": 100},
        ),
    ] = field(default_factory=list)
    rerank: Annotated[
        str | None,
        _model(
            "Choose among the best sentences of each length by this model, or scorer of a plug-in.",
            metavar="MODEL",
        ),
    ] = None
    rerank_weight: Annotated[
        float,
        _model(
            "Weight of the model of `rerank` beside the cluster.",
            shell="Weight of the model of --rerank beside the cluster.",
            metavar="0..1",
            api={"ge": 0, "le": 1},
        ),
    ] = WEIGHT
    salience: Annotated[
        Kind,
        _model(
            "Which words are chosen: all alike, or by frequency.",
            shell="Which words are chosen: all alike, by frequency, or by the weights of a file.",
            metavar=f"{'|'.join(KINDS)}|FILE",
        ),
    ] = "uniform"
    beam: Annotated[
        int | None,
        _model(
            "Paths for each length and last word.",
            shell=f"Paths for each length and last word; 1 is the paper's search. Default: {BEAM}, and with"
            " --reuse free as many as prove the answer.",
            metavar="N",
            least=1,
            api={"le": 2048},
        ),
    ] = None
    punct: Annotated[bool, _model("Keep punctuation.")] = True
    lowercase: Annotated[bool, _model("Lower-case words.", off="--keep-case")] = False

    def settings(
        self, salience: Kind | Mapping[str, float], algorithm: GenerationAlgorithm = "depviterbi"
    ) -> GenerationSettings:
        """Return the settings of the search, with weights of words if given."""
        return GenerationSettings(
            algorithm=algorithm,
            weight=self.weight,
            reuse=self.reuse,
            transitions=self.transitions,
            arguments=self.arguments,
            smoothing=self.smoothing,
            nearness=self.nearness,
            salience=salience,
            beam=self.beam,
            punctuation=self.punct,
            lowercase=self.lowercase,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRequest(ClusterSearch):
    """Clusters: documents of a corpus, or a text with trees (or any text if the server has a parser).

    Raises:
        InputError: a sentence is given together with an option of the search.
    """

    LAST: ClassVar = (*ClusterSearch.__annotations__, "lm", "lm_weight", "tree", "trace")

    file: Annotated[
        str | None,
        Option(
            "The clusters, a document each.",
            argument=True,
            shell="Clusters: a document each, in any format with trees.",
            metavar="FILE|-",
            file="file",
        ),
    ] = None
    lengths: Annotated[
        str,
        Option("Words of a sentence, such as 1-40 or 5,10-12.", metavar="LIST", api={"max_length": 200}),
    ] = "1-40"
    sentence: Annotated[
        str | None,
        Option(
            "Read this sentence, its words separated by blanks, with probabilities and head stack by word.",
            shell="Show this sentence by word, as --trace does, instead of searching.",
            metavar="TEXT",
            api={"max_length": 10_000},
        ),
    ] = None
    nbest: Annotated[int, Option("Sentences to give for each length, at most.", least=1, api={"le": 100})] = 1
    best: Annotated[bool, Option("Give the best sentences of all lengths, not of each.")] = False
    corpus: Annotated[
        str | None,
        Option(
            "Take the clusters that this corpus has, instead of a text.",
            shell="Keep FILE as this corpus; without FILE, take what is there.",
            metavar="NAME",
        ),
    ] = None
    cluster: Annotated[
        list[str],
        Option(
            "Only these documents.",
            shell="Only this document; may be repeated.",
            metavar="NAME",
            api={"max_length": 100},
        ),
    ] = field(default_factory=list)
    format: Annotated[
        str | None,
        Option(
            "Format of the text; detected if not given.",
            shell="Format of FILE; detected if not given.",
            short="-f",
        ),
    ] = None
    algorithm: Annotated[
        GenerationAlgorithm,
        _model(
            "With dependencies, or the baseline.",
            shell="With dependencies, or without: the baseline.",
            short="-a",
        ),
    ] = "depviterbi"
    lm: Annotated[
        str,
        _model("Bigrams of the cluster alone, or mixed with those of a model.", metavar=f"{_OWN}|MODEL"),
    ] = _OWN
    lm_weight: Annotated[
        float,
        _model(
            "Weight of the cluster's own bigrams beside `lm`.",
            shell="Weight of the cluster's own bigrams beside --lm MODEL.",
            metavar="0..1",
            api={"ge": 0, "le": 1},
        ),
    ] = 0.5
    tree: Annotated[
        bool,
        Option(
            "Give the dependency trees, also as SVG and CoNLL-U.",
            shell="Show the dependency trees.",
            panel=FILES_PANEL,
        ),
    ] = False
    trace: Annotated[
        bool,
        Option(
            "Give probabilities and head stack by word.",
            shell="Show probabilities and head stack by word.",
            panel=FILES_PANEL,
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.sentence is None:
            return
        for name in _SEARCHED:
            if getattr(self, name) != self.__dataclass_fields__[name].default:
                raise InputError(f"a sentence that is given is not searched for; leave {name} out")

    @property
    def traced(self) -> bool:
        """Return whether sentences are shown word by word."""
        return self.trace or self.sentence is not None

    @property
    def asks_models(self) -> bool:
        """Return whether a model or treebank of a store is needed."""
        return self.lm != _OWN or self.rerank is not None or bool(self.dependencies)

    def models(self, store: Store) -> Models:
        """Return the models and treebanks of a store that are needed.

        Raises:
            NotFoundError: there is no such model or corpus.
            ModelError: a corpus has no trees.
            InputError: a weight is out of range, or dependencies are asked for where none are used.
        """
        lm = None
        if self.lm != _OWN:
            lm = MixedModel(store, registry.find(store, self.lm), self.lm_weight)
        return Models(
            lm,
            Reranker.named(store, self.rerank, self.rerank_weight),
            CorpusDependencies.named(store, self.dependencies),
        )
