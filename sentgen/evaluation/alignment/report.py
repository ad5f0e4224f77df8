"""The report of an evaluation of alignments: tables, plots, and pairs with what each system did to them.

The page stands alone: its plots are inside it, it loads nothing, and it runs no script.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import sentgen
from sentgen.alignment import Link, Pair
from sentgen.alignment.texts import pharaoh
from sentgen.evaluation.alignment import tables
from sentgen.evaluation.alignment.plots import precision_recall_plot, systems_plot
from sentgen.evaluation.alignment.results import AlignmentResult
from sentgen.evaluation.report.folder import write_files
from sentgen.evaluation.report.plots import Draw, plot_files, plot_urls
from sentgen.evaluation.report.tables import Table, comparisons_csv, csv_text, markdown, settings_table
from sentgen.templates import template

EXAMPLES = 20
#: Texts of an example that are longer than this many words are not shown whole.
_WORDS = 120


def write_alignment_report(result: AlignmentResult, folder: Path) -> list[Path]:
    """Write the report; return the files, the page first.

    Raises:
        InputError: a file cannot be written.
    """
    contents = {
        "index.html": page(result).encode(),
        "results.md": markdown_page(result).encode(),
        "scores.csv": tables.scores_csv(result).encode(),
        "comparisons.csv": comparisons_csv(result).encode(),
        "kinds.csv": tables.kinds_csv(result).encode(),
        "links.csv": links_csv(result).encode(),
        **plot_files(_plots(result)),
    }
    return write_files(folder, contents)


def links_csv(result: AlignmentResult) -> str:
    """Return a line a pair and system: its links as `i-j`, document and abstract."""
    return csv_text(
        ["system", "pair", "links"],
        [
            (system.system, pair.key, pharaoh(answer))
            for system in result.systems
            for pair, answer in zip(result.pairs, system.answers, strict=True)
        ],
    )


def all_tables(result: AlignmentResult) -> list[Table]:
    """Return the tables in their order, without those that have nothing to say."""
    found = [
        tables.figures_table(result),
        *([tables.differences_table(result)] if result.comparisons else []),
        tables.missing_table(result),
        *tables.scope_tables(result),
        tables.agreement_table(result),
        tables.kinds_table(result),
        *(tables.words_table(result, system) for system in result.ranked[:2]),
        tables.comparisons_table(result),
        settings_table(result),
        tables.signatures_table(result),
    ]
    return [table for table in found if table.rows]


def markdown_page(result: AlignmentResult) -> str:
    """Return tables and plots as Markdown."""
    first, *others = map(markdown, all_tables(result))
    plots = [
        "![SoftF of the systems with 95% intervals](systems.svg)\n",
        "![Soft precision against recall](precision-recall.svg)\n",
    ]
    return "\n".join([f"# Alignments, run {result.run_id}\n", first, *plots, *others])


def page(result: AlignmentResult) -> str:
    """Return the page; every text in it is escaped."""
    first, *others = all_tables(result)
    return template("sentgen.evaluation.alignment", "report.html.j2").render(
        run=result.run_id,
        version=sentgen.__version__,
        pairs=len(result.pairs),
        first=first,
        tables=others,
        plots=plot_urls(_plots(result)),
        examples=examples(result),
    )


def _plots(result: AlignmentResult) -> Mapping[str, Draw]:
    return {
        "systems": partial(systems_plot, result),
        "precision-recall": partial(precision_recall_plot, result),
    }


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one system did to a pair: links that it missed, and links that are wrong, as words."""

    system: str
    figure: str
    missed: Sequence[str]
    wrong: Sequence[str]


@dataclass(frozen=True, slots=True)
class Example:
    """A pair and the attempts, the best system of the run first."""

    key: str
    document: str
    abstract: str
    attempts: Sequence[Attempt]


def examples(result: AlignmentResult, count: int = EXAMPLES) -> list[Example]:
    """Return pairs that are drawn with the seed of the run, in their order, without looking at answers."""
    drawn = np.random.default_rng(result.seed).permutation(len(result.pairs))[:count]
    return [_example(result, int(item)) for item in sorted(drawn)]


def _example(result: AlignmentResult, item: int) -> Example:
    pair, gold = result.pairs[item], result.gold[item]
    attempts = []
    for system in result.ranked:
        links, measurement = system.answers[item].links, system.measurements["soft-f1"]
        figure = tables.percent(float(measurement.figure(measurement.statistics[item])))
        missed, wrong = _named(pair, gold.sure - links), _named(pair, links - gold.possible)
        attempts.append(Attempt(system.system, figure, missed, wrong))
    return Example(pair.key, _shortened(pair.document), _shortened(pair.abstract), attempts)


def _named(pair: Pair, links: Collection[Link]) -> list[str]:
    ordered = sorted(links, key=lambda link: (link[1], link[0]))
    return [f"{pair.document[i]} → {pair.abstract[j]}" for i, j in ordered]


def _shortened(words: Sequence[str]) -> str:
    more = len(words) - _WORDS
    return " ".join(words[:_WORDS]) + (f" … and {more} words more" if more > 0 else "")
