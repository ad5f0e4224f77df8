"""`sentgen reproduce`: the experiments of a paper, beside the figures that it reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sentgen.cli.console.options import LOOKUP_SHARE, parse_size
from sentgen.cli.console.output import StoreOutput
from sentgen.evaluation.papers import PAPERS, prepared
from sentgen.evaluation.papers.paper import PaperRequest
from sentgen.output.progress import counting_bar


def command(
    paper: Annotated[str, typer.Argument(metavar="|".join(PAPERS), help="The paper.")],
    *,
    request: PaperRequest,
    out: StoreOutput,
) -> None:
    """Train and test as a paper did, and print its figures beside those that come out.

    wan2007, wan2009 (Wan, Dras, Dale and Paris) and schmaltz2016 (Schmaltz, Rush and Shieber) put sentences
    of the Penn Treebank in order. With its sections 02-22 and 23 the data are those of the papers. With
    section 01 alone, as NLTK distributes it, files 0100-0179 are for training and 0180-0199 for testing, so
    that only the order of the systems can be compared. Heads come from .mrg files, base noun phrases from
    .pos files, as in the papers of Wan et al., or from what there is; the output says from which.

    daume2004 (Daumé and Marcu) aligns documents with abstracts. Its corpus, Ziff-Davis, is licensed: give
    your copy, or any links of --gold, where only the order of the systems can be compared.

    wan2005 generates sentences from clusters of --clusters, and parses them.

    `literal` takes every literal reading of the paper, `defaults` those of sentgen; BLEU is lower-cased,
    tokenized as the treebank or (`13a`) as sacreBLEU does. Behind the systems of Wan et al. come those that
    they do not have, with the best model of the treebank. A second table has the differences between systems,
    in the paper and here: sign test with the sampling method of Collins et al. 2005, as there, and
    approximate randomization. Corpora, models, runs, tests and the published figures stay in the store.

    Example: `sentgen reproduce wan2009 --ptb wsj01 --db wan.duckdb`
    """
    if paper not in PAPERS:
        raise typer.BadParameter(f"{paper!r} is none of: {', '.join(PAPERS)}", param_hint="PAPER")
    with counting_bar("sentences") as progress:
        request = replace(request, memory=parse_size(out.memory_limit), progress=progress, report=out.note)
        # First, so that unusable input does not leave an empty store.
        run = prepared(paper, request)
        with out.store(create=True, share=LOOKUP_SHARE) as store:
            results = run(store)
    out.table(results.figures)
    if out.for_reading and results.tests.num_rows:
        typer.echo()
        out.table(
            results.tests,
            align={"p (sign)": "right", "p (shuffled)": "right"},
            essential=("by", "p (sign)", "p (shuffled)"),
        )
    for note in results.notes:
        out.note(note)
