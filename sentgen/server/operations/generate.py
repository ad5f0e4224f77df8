"""New sentences from a cluster of related ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from pydantic import Field

from sentgen.counts import corpora
from sentgen.errors import InputError
from sentgen.generation.bag_reader import TagKind
from sentgen.generation.clusters.clusters import (
    Clusters,
    generated_conllu,
    generated_notes,
    generated_svg,
    generated_table,
    parse_lengths,
    temporary_clusters,
)
from sentgen.generation.clusters.generate import (
    GenerationAlgorithm,
    GenerationSettings,
    LanguageModel,
    Reuse,
    Transitions,
)
from sentgen.generation.clusters.generate import generate as run
from sentgen.generation.clusters.salience import Kind as Salience
from sentgen.models import registry
from sentgen.models.cluster_counts import cluster_names
from sentgen.models.cluster_model import Smoothing
from sentgen.server.operations.operation import Context, Operation, Parameters, Positional, Result

#: The language model of the paper: the cluster alone.
_OWN = "cluster"
_LONGEST = 100
_EXAMPLE = """\
# newdoc id = relief
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\treached\treach\tVERB\tVBD\t_\t0\troot\t_\t_
3\tcamps\tcamp\tNOUN\tNNS\t_\t2\tobj\t_\t_

1\tAid\taid\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\treached\treach\tVERB\tVBD\t_\t0\troot\t_\t_
3\tvillages\tvillage\tNOUN\tNNS\t_\t2\tobj\t_\t_

"""


class Generate(Parameters):
    """Clusters: documents of a corpus, or a text with trees (or any text if the server has a parser)."""

    file: str | None = Positional("The clusters, a document each.", default=None, file="file")
    lengths: str = Field("1-40", max_length=200, description="Words of a sentence, such as 1-40 or 5,10-12.")
    nbest: int = Field(1, ge=1, le=100, description="Sentences to give for each length, at most.")
    corpus: str | None = Field(None, description="Take the clusters that this corpus has, instead of a text.")
    cluster: list[str] = Field(default_factory=list, max_length=100, description="Only these documents.")
    format: str | None = Field(None, description="Format of the text; detected if not given.")
    algorithm: GenerationAlgorithm = Field("depviterbi", description="With dependencies, or the baseline.")
    weight: float = Field(0.5, ge=0, lt=1, description="Weight of dependencies against bigrams.")
    reuse: Reuse = Field(
        "none", description="Each token once, a word as often as in one sentence, or freely."
    )
    transitions: Transitions = Field("all", description="A word may follow any other, or only as seen.")
    smoothing: Smoothing = Field("none", description="Of dependencies: none, or back-off to tags.")
    lm: str = Field(_OWN, description="Bigrams of the cluster alone, or mixed with those of a model.")
    lm_weight: float = Field(0.5, ge=0, le=1, description="Weight of the cluster's own bigrams beside `lm`.")
    salience: Salience = Field("uniform", description="Which words are chosen: all alike, or by frequency.")
    beam: int | None = Field(None, ge=1, le=2048, description="Paths for each length and last word.")
    punct: bool = Field(True, description="Keep punctuation.")
    lowercase: bool = Field(False, description="Lower-case words.")
    tree: bool = Field(False, description="Give the dependency trees, also as SVG and CoNLL-U.")
    trace: bool = Field(False, description="Give probabilities and head stack by word.")


def generate(context: Context, asked: Generate) -> Result:
    """Answer `sentgen generate`."""
    lengths = parse_lengths(asked.lengths)
    if lengths[-1] > _LONGEST:
        raise InputError(f"sentences of {lengths[-1]} words take too long here; ask for {_LONGEST} at most")
    settings = GenerationSettings(
        algorithm=asked.algorithm,
        weight=asked.weight,
        reuse=asked.reuse,
        transitions=asked.transitions,
        smoothing=asked.smoothing,
        salience=asked.salience,
        beam=asked.beam,
        punctuation=asked.punct,
        lowercase=asked.lowercase,
    )
    with _clusters(context, asked) as clusters:
        lm = None
        if asked.lm != _OWN:
            lm = LanguageModel(context.opened, registry.find(context.opened, asked.lm), asked.lm_weight)
        found = list(
            run(
                clusters.store,
                clusters.corpus,
                lengths=lengths,
                settings=settings,
                clusters=clusters.chosen,
                nbest=asked.nbest,
                lm=lm,
            )
        )
        with clusters.store.connect() as connection:
            tags = cast(TagKind, corpora.find(connection, clusters.corpus).tags)
    more = {"svg": generated_svg(found), "conllu": generated_conllu(found, tags)} if asked.tree else {}
    notes = list(generated_notes(found, len(clusters.chosen), lengths))
    return Result(generated_table(found, tree=asked.tree, trace=asked.trace), notes=notes, more=more)


@contextmanager
def _clusters(context: Context, asked: Generate) -> Iterator[Clusters]:
    """Open the clusters: those of a corpus, or of the text."""
    names = asked.cluster or None
    if (asked.file is None) == (asked.corpus is None):
        raise InputError("give either the text of the clusters as `file`, or the name of a `corpus`")
    if asked.corpus is not None:
        if asked.format is not None:
            raise InputError("`format` is for `file`; clusters of a corpus are read already")
        chosen = cluster_names(context.opened, asked.corpus, names=names)
        context.check_size((1 for _ in chosen), "cluster")
        yield Clusters(context.opened, asked.corpus, chosen, kept=True)
        return
    limit = context.opening.memory // 8
    with (
        context.file("file", asked.file or "") as path,
        temporary_clusters(
            path, names=names, form=asked.format, parser=context.parser, memory_limit=limit
        ) as clusters,
    ):
        context.check_size((1 for _ in clusters.chosen), "cluster")
        yield clusters


OPERATIONS = (
    Operation(
        "generate",
        "New sentences from clusters of related ones.",
        "generate",
        Generate,
        generate,
        kind="compute",
        method="POST",
        example={"file": _EXAMPLE, "lengths": "1-4"},
    ),
)
