"""Papers of `sentgen reproduce`: their experiments, options and results.

The store holds published figures as it holds the figures of our own runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from sqlalchemy import select

from sentgen.evaluation.figures.measurement import SystemComparison
from sentgen.evaluation.figures.report import probability
from sentgen.evaluation.figures.results import FigureRow, Recorder, RunResult
from sentgen.evaluation.regeneration.answers import Progress
from sentgen.options import PARSERS, Option
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.tables.runs import run

Report = Callable[[str], None]
#: The files of a treebank that heads are taken from, `+pos` where base noun phrases come from tagged files.
Trees = Literal["mrg+pos", "dp+pos", "mrg", "dp"]
TREES: tuple[Trees, ...] = get_args(Trees)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRequest:
    """Options of an experiment.

    Attributes:
        memory: bytes that all may take; the usual limit if not given.
        progress: called after every sentence.
        report: called with a line a step.
    """

    ptb: Annotated[
        Path | None, Option("Penn Treebank WSJ, or its section 01 as in NLTK.", metavar="FOLDER")
    ] = None
    trees: Annotated[
        Trees | None,
        Option(
            "What of it is read. Default: the first of which there is all.",
            closed=True,
            metavar="|".join(TREES),
        ),
    ] = None
    lm_text: Annotated[
        list[str],
        Option(
            "Text for a second language model, as BLLIP in 2009; may be repeated.",
            metavar="PATH",
        ),
    ] = field(default_factory=list)
    gold: Annotated[str | None, Option("daume2004: alignments that people made.", metavar="PATH")] = None
    format: Annotated[
        str | None,
        Option("Their format, as of `evaluate alignment`.", short="-f", metavar="FORMAT"),
    ] = None
    pseudo_documents: Annotated[
        str | None,
        Option("Put N of the documents together with M of their abstracts, such as 22x8.", metavar="NxM"),
    ] = None
    train: Annotated[
        list[str],
        Option("Pairs to learn from beside those of --gold; may be repeated.", metavar="PATH"),
    ] = field(default_factory=list)
    clusters: Annotated[
        Path | None, Option("Clusters of related sentences, a document each.", metavar="FILE")
    ] = None
    parser: Annotated[str | None, Option(f"Parser of strings: {PARSERS}.", metavar="PARSER")] = None
    dependencies: Annotated[
        list[str],
        Option("Treebank of the store beside clusters; may be repeated.", metavar="CORPUS"),
    ] = field(default_factory=list)
    quick: Annotated[bool, Option("Run on a part of the data, in a few minutes.")] = False
    seed: Annotated[int, Option("Seed of the shuffle.", least=0)] = 1
    jobs: Annotated[int, Option("Threads that search.", short="-j", least=1)] = 1
    memory: int | None = None
    progress: Progress | None = None
    report: Report = lambda _: None


@dataclass(frozen=True, slots=True)
class Findings:
    """Results: figures with the published ones, tests between systems, and notes.

    ``figures`` are the rows that a program gets; each paper has its own columns, but always ``published``.
    """

    figures: Rows
    tests: Rows
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its name and citation, the part of it that is run (``what``), and its published tables.

    ``prepare`` reads the data and refuses data that it cannot use, before a store is opened; it returns the
    function that runs the experiment in a store. ``needs`` are the options that must be given, ``takes``
    those that may be; options that only other papers take are refused.
    """

    name: str
    citation: str
    what: str
    tables: Sequence[PublishedTable]
    prepare: Callable[[PaperRequest], Callable[[Store], Findings]]
    needs: Sequence[str] = ()
    takes: Sequence[str] = ()


#: The columns of tests between systems; ``published`` is the difference in the paper, and ``in the paper``
#: what the paper says of its significance.
TESTS = (
    *("figure", "systems", "worse", "better", "by", "published", "in the paper"),
    *("+", "-", "=", "p (sign)", "p (shuffled)"),
)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A column of a published table: the figure of each system, by the name of the system in sentgen.

    ``data`` describes training and test data, ``reading`` what the paper leaves open. ``significant`` has
    the paper's own words on the significance of a difference, by pairs of systems, the lower one first.
    """

    paper: str
    citation: str
    data: str
    figures: Mapping[str, float]
    metric: str = "bleu"
    reading: str = "tokenization and case not stated"
    significant: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """Return the signature of the figures: citation, data and reading."""
        return "; ".join(part for part in (self.citation, self.data, self.reading) if part)

    def difference(self, worse: str, better: str) -> float:
        """Return the difference of two systems in the paper; negative if the first one is lower."""
        # Papers print decimals: 30.7 - 29.6 is to be 1.1.
        return round(self.figures[better] - self.figures[worse], 6)

    def significance(self, system: str, other: str) -> str:
        """Return what the paper says about the difference of two systems, an empty string if nothing."""
        return self.significant.get((system, other)) or self.significant.get((other, system), "")

    def tests(
        self, comparisons: Iterable[SystemComparison], names: Mapping[str, str], label: str
    ) -> list[list[object]]:
        """Return a row of `TESTS` for each pair of systems that are both in this table.

        Args:
            comparisons: comparisons of pairs of systems of our run.
            names: name in ``figures`` of each system of our run that is in the table.
            label: the way in which the systems were run (`literal` or `defaults`); empty if there is one.
        """
        return [
            [
                *(self.citation, label, worse, better, pair.difference, self.difference(worse, better)),
                *(self.significance(worse, better), pair.pluses, pair.minuses, pair.equal),
                *map(probability, (pair.sign_p, pair.shuffle_p)),
            ]
            for pair in comparisons
            if pair.worse in names and pair.better in names
            for worse, better in [(names[pair.worse], names[pair.better])]
        ]

    def record(self, store: Store) -> int:
        """Record the table as a run named `published`, unless the store has it; return the number of the run.

        A table is found again by its parameters (paper, citation, data). Its run has no seed and no time.
        """
        parameters = {"paper": self.paper, "citation": self.citation, "data": self.data}
        # Written as `Recorder` writes parameters.
        written = json.dumps(parameters, sort_keys=True)
        query = select(run.c.id).where(run.c.command == "published", run.c.parameters == written)
        with store.connect() as connection:
            number: int | None = connection.execute(query.order_by(run.c.id)).scalars().first()
        if number is not None:
            return number
        rows = [FigureRow(name, self.metric, value, self.signature) for name, value in self.figures.items()]
        result = RunResult(parameters=parameters, scores=rows)
        return Recorder(store, "published", timed=False).record(result).run_id
