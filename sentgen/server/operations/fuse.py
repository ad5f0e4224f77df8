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
