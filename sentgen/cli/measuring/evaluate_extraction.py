"""`sentgen evaluate extraction`: an extractor learnt from alignments, on pairs that it has not seen."""

from __future__ import annotations

from typing import Annotated

import typer

from sentgen.alignment.stored.extraction import SIZE
from sentgen.cli.aligning.align_extract import AlignedOption, LearnOption, SizeOption
from sentgen.cli.console.options import DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.evaluation.alignment.extraction import evaluate_extraction, rows_of
from sentgen.evaluation.report.tables import differences_table, score_table
from sentgen.output.wording import quantity


@output_options
def extraction(
    *,
    pairs: LearnOption,
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="Aligned pairs to test it on.")],
    model: AlignedOption = None,
    size: SizeOption = SIZE,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of samples and tests.")] = 1,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Learn from aligned pairs which sentences abstracts come from, and test it on other aligned pairs.

    Beside the extractor stand the first sentences of each document (`lead`), those most like the document
    (`salience`), and those from which most words of the abstract come (`alignment`), which no system knows.

    Example: `sentgen evaluate extraction --pairs train --of dev --size 1`
    """
    with open_store(db, memory_limit=memory_limit) as store:
        result = evaluate_extraction(store, pairs, of, model, size=size, seed=seed)
    if not out.for_reading:
        out.table(score_table(rows_of(result), "pairs", result.pairs))
        return
    names = ("rouge-1", "rouge-2", "source-f1")
    rows = []
    for system in result.ranked:
        interval = system.intervals["rouge-1"]
        first, *others = (100 * system.value(name) for name in names)
        rows.append((system.system, first, 100 * interval.low, 100 * interval.high, *others))
    out.rows(("system", "ROUGE-1", "low", "high", "ROUGE-2", "source F1"), rows)
    differences = differences_table(result)
    typer.echo()
    cells = [[cell.replace("\n", " ") for cell in row] for row in differences.rows]
    out.rows(differences.columns, cells, align=dict.fromkeys(differences.columns[1:], "right"))
    about = f"{quantity(result.pairs, 'pair')}, {quantity(size, 'sentence')} a document, in percent"
    out.note(f"{about}; run {result.run_id}")
    out.note(f"{differences.title}. {differences.note}")
