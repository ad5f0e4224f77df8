"""A new sentence of a key sentence and related ones."""

from __future__ import annotations

from dataclasses import replace

from sentgen.errors import InputError
from sentgen.evaluation.fusion.texts import FusionTexts
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.generation.fusion.table import change_table, fusion_notes, fusion_table, origin_table
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import Context, Operation, Result

_EXAMPLE = """\
1\tRains\train\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tflooded\tflood\tVERB\tVBD\t_\t0\troot\t_\t_
3\tvillages\tvillage\tNOUN\tNNS\t_\t2\tobj\t_\t_
4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

1\tRivers\triver\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tflooded\tflood\tVERB\tVBD\t_\t0\troot\t_\t_
3\tstreets\tstreet\tNOUN\tNNS\t_\t2\tobj\t_\t_
4\ton\ton\tADP\tIN\t_\t5\tcase\t_\t_
5\tMonday\tMonday\tPROPN\tNNP\t_\t2\tobl\t_\t_
6\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""


def fuse(context: Context, asked: FusionTexts) -> Result:
    """Answer `sentgen fuse`."""
    asked.check()
    _check_texts(context, asked)
    with context.file("related", asked.related) as path:
        key, related = replace(asked, related=path).sentences(context.parser)
    context.check_size((len(one.forms) for one in (key, *related)), "sentence")
    answer = fused_sentences(key, related, asked, context.store)
    more = {
        "sources": [one.forms for one in (answer.key, *answer.related)],
        "words": _objects(origin_table(answer)),
        "changes": _objects(change_table(answer)),
    }
    return Result(fusion_table(answer), notes=list(fusion_notes(answer)), more=more)


def _check_texts(context: Context, asked: FusionTexts) -> None:
    """Refuse texts that are too long to be parsed."""
    # Before anything is parsed: too much must cost nothing.
    most = context.opening.limits.align_words
    for name, text in (("key", str(asked.key)), ("related", asked.related)):
        # A line of CoNLL-U is a word.
        size = text.count("\n") if "\t" in text else len(text.split())
        if size > most:
            raise InputError(f"has {quantity(size, 'word')}; at most {most:,} are taken", path=name)


def _objects(table: Rows) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


OPERATIONS = (
    Operation(
        "fuse",
        "A new sentence of a key sentence and what related ones say beside it.",
        "fuse",
        FusionTexts,
        fuse,
        method="POST",
        example={"key": "1", "related": _EXAMPLE},
    ),
)
