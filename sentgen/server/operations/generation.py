"""New sentences: from words to be ordered, from clusters of related sentences, and by fusion of sentences.

For the pages, there is also an operation for one sentence of a corpus with its tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated

from sentgen.errors import InputError, spell
from sentgen.evaluation.fusion.texts import FusionTexts
from sentgen.generation.answers import OrderingRequest
from sentgen.generation.clusters.clusters import Clusters, parse_lengths
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.generation.drawing import corpus_tree_svg
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.generation.notes import notes
from sentgen.lookups.browsing import find_sentence
from sentgen.models.dependency.cluster_counts import cluster_names
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import Context, Operation, Result


def _regenerate(context: Context, request: OrderingRequest) -> Result:
    if request.tree and request.explain:
        raise InputError(f"{spell('tree')} and {spell('explain')} are two tables; choose one of them")
    context.check_size((len(bag.split()) for bag in request.bag), "bag")
    answers = request.answer(context.opened, lambda notation: list(map(notation.bag, request.bag)))
    more = {"svg": answers.svg(), "conllu": answers.conllu()} if request.tree else {}
    return Result(answers.table(), notes=list(notes(answers)), more=more)


_LONGEST = 100
_CLUSTER = """\
# newdoc id = relief
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\treached\treach\tVERB\tVBD\t_\t0\troot\t_\t_
3\tcamps\tcamp\tNOUN\tNNS\t_\t2\tobj\t_\t_

1\tAid\taid\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\treached\treach\tVERB\tVBD\t_\t0\troot\t_\t_
3\tvillages\tvillage\tNOUN\tNNS\t_\t2\tobj\t_\t_

"""


def _generate(context: Context, request: ClusterRequest) -> Result:
    lengths = parse_lengths(request.lengths)
    if lengths[-1] > _LONGEST:
        raise InputError(f"sentences of {lengths[-1]} words take too long here; ask for {_LONGEST} at most")
    with _open_clusters(context, request) as clusters:
        generated = clusters.generate_all(
            lengths,
            request,
            request.settings(request.salience, request.algorithm),
            request.models(context.opened),
        )
    more = {"svg": generated.svg(), "conllu": generated.conllu()} if request.tree else {}
    return Result(generated.table(), notes=list(generated.notes()), more=more)


@contextmanager
def _open_clusters(context: Context, request: ClusterRequest) -> Iterator[Clusters]:
    """Open the clusters of a corpus, or of the text that was sent."""
    names = request.cluster or None
    if (request.file is None) == (request.corpus is None):
        raise InputError("give either the text of the clusters as `file`, or the name of a `corpus`")
    if request.corpus is not None:
        if request.format is not None:
            raise InputError("`format` is for `file`; clusters of a corpus are read already")
        chosen = cluster_names(context.opened, request.corpus, names=names)
        # Limits only the number of clusters; their words are counted later.
        context.check_size((1 for _ in chosen), "cluster")
        yield Clusters(context.opened, request.corpus, chosen, kept=True)
        return
    # The temporary store has a DuckDB of its own, in addition to that of the snapshot.
    limit = context.opening.limits.memory // 8
    with (
        context.file("file", request.file or "") as path,
        Clusters.temporary(
            path, names=names, form=request.format, parser=context.parser, memory_limit=limit
        ) as clusters,
    ):
        context.check_size((1 for _ in clusters.chosen), "cluster")
        yield clusters


_RELATED = """\
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\treached\treach\tVERB\tVBD\t_\t0\troot\t_\t_
3\tsurvivors\tsurvivor\tNOUN\tNNS\t_\t2\tobj\t_\t_
4\tof\tof\tADP\tIN\t_\t6\tcase\t_\t_
5\tthe\tthe\tDET\tDT\t_\t6\tdet\t_\t_
6\tearthquake\tearthquake\tNOUN\tNN\t_\t3\tnmod\t_\t_
7\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

1\tSoldiers\tsoldier\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\thelped\thelp\tVERB\tVBD\t_\t0\troot\t_\t_
3\tsurvivors\tsurvivor\tNOUN\tNNS\t_\t2\tobj\t_\t_
4\tof\tof\tADP\tIN\t_\t6\tcase\t_\t_
5\tthe\tthe\tDET\tDT\t_\t6\tdet\t_\t_
6\tearthquake\tearthquake\tNOUN\tNN\t_\t3\tnmod\t_\t_
7\tin\tin\tADP\tIN\t_\t8\tcase\t_\t_
8\tSarkesh\tSarkesh\tPROPN\tNNP\t_\t6\tnmod\t_\t_
9\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""


def _fuse(context: Context, request: FusionTexts) -> Result:
    request.check()
    _check_texts(context, request)
    with context.file("related", request.related) as path:
        key, related = replace(request, related=path).sentences(context.parser)
    context.check_size((len(sentence.forms) for sentence in (key, *related)), "sentence")
    fusion = fused_sentences(key, related, request, context.store)
    more = {
        "sources": [sentence.forms for sentence in (fusion.key, *fusion.related)],
        "words": _objects(fusion.origin_table()),
        "changes": _objects(fusion.change_table()),
    }
    return Result(fusion.table(), notes=list(fusion.notes()), more=more)


def _check_texts(context: Context, request: FusionTexts) -> None:
    """Refuse texts that are too long to be parsed."""
    # Before anything is parsed, so that a refusal costs next to nothing.
    most = context.opening.limits.align_words
    for name, text in (("key", str(request.key)), ("related", request.related)):
        # Text with tabs is CoNLL-U, with a word per line.
        size = text.count("\n") if "\t" in text else len(text.split())
        if size > most:
            raise InputError(f"has {quantity(size, 'word')}; at most {most:,} are taken", path=name)


def _objects(table: Rows) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentenceByName:
    """A sentence by its name."""

    corpus: Annotated[str, Option("Name of the corpus.")]
    document: Annotated[str, Option("Name of the document.")]
    sentence: Annotated[str, Option("Name of the sentence.")]
    marked: Annotated[
        list[int], Option("Positions of tokens to be marked in the drawing.", api={"max_length": 1000})
    ] = field(default_factory=list)


def _sentence(context: Context, request: _SentenceByName) -> Result:
    """Return the tokens of a sentence, its text, its neighbors, and its tree, if it has one, as SVG."""
    with context.opened.connect() as connection:
        looked_up, about = find_sentence(connection, request.corpus, request.document, request.sentence)
    tokens = looked_up.rows.to_pylist()
    result = Result.from_answer(looked_up)
    heads = [token["head"] for token in tokens]
    drawing = None
    if tokens and None not in heads:
        drawing = corpus_tree_svg(
            request.sentence,
            [token["form"] for token in tokens],
            [token["upos"] or token["xpos"] or "" for token in tokens],
            heads,
            [token["deprel"] or "" for token in tokens],
            marked=request.marked,
        )
    return Result(result.table, result.truncated, result.notes, result.sql, {**about, "svg": drawing})


OPERATIONS = (
    Operation(
        "regenerate",
        "Order the words and phrases of sentences.",
        "regenerate",
        OrderingRequest,
        _regenerate,
        method="POST",
        example={"bag": ["[the trucks] reached [the city] ."], "model": "relief", "algorithm": "ab"},
    ),
    Operation(
        "generate",
        "New sentences from clusters of related ones.",
        "generate",
        ClusterRequest,
        _generate,
        method="POST",
        example={"file": _CLUSTER, "lengths": "1-4"},
    ),
    Operation(
        "fuse",
        "A new sentence of a key sentence and what related ones say beside it.",
        "fuse",
        FusionTexts,
        _fuse,
        method="POST",
        example={"key": "1", "related": _RELATED},
    ),
    Operation("sentence", "A sentence with its tree.", "sql", _SentenceByName, _sentence, api=False),
)
