"""New sentences from a cluster of related ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sentgen.errors import InputError
from sentgen.generation.clusters.clusters import Clusters, generate_all, parse_lengths, temporary_clusters
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.models.related.cluster_counts import cluster_names
from sentgen.server.operations.operation import Context, Operation, Result

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


def generate(context: Context, asked: ClusterRequest) -> Result:
    """Answer `sentgen generate`."""
    lengths = parse_lengths(asked.lengths)
    if lengths[-1] > _LONGEST:
        raise InputError(f"sentences of {lengths[-1]} words take too long here; ask for {_LONGEST} at most")
    with _clusters(context, asked) as clusters:
        found = generate_all(
            clusters, lengths, asked, asked.settings(asked.salience), asked.models(context.opened)
        )
    more = {"svg": found.svg(), "conllu": found.conllu()} if asked.tree else {}
    return Result(found.table(), notes=list(found.notes()), more=more)


@contextmanager
def _clusters(context: Context, asked: ClusterRequest) -> Iterator[Clusters]:
    """Open the clusters: those of a corpus, or of the text."""
    names = asked.cluster or None
    if (asked.file is None) == (asked.corpus is None):
        raise InputError("give either the text of the clusters as `file`, or the name of a `corpus`")
    if asked.corpus is not None:
        if asked.format is not None:
            raise InputError("`format` is for `file`; clusters of a corpus are read already")
        chosen = cluster_names(context.opened, asked.corpus, names=names)
        # Only their number is bounded; the words of a cluster are where it is counted.
        context.check_size((1 for _ in chosen), "cluster")
        yield Clusters(context.opened, asked.corpus, chosen, kept=True)
        return
    # The temporary store has a DuckDB of its own, beside that of the snapshot.
    limit = context.opening.limits.memory // 8
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
        ClusterRequest,
        generate,
        method="POST",
        example={"file": _EXAMPLE, "lengths": "1-4"},
    ),
)
