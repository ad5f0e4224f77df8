"""Papers of `sentgen reproduce`: their experiments, options and results.

The figures of papers are rows of the store, as are those of our own runs.
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
#: What of a treebank heads are taken from, and what base noun phrases are, if from elsewhere.
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

    ``figures`` are what a program gets; their columns are up to the paper, but ``published`` is one.
    """

    figures: Rows
    tests: Rows
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its name, what it is, what of it is run, and its figures.

    ``prepare`` looks at what is given and refuses what cannot be used, before there is a store; it returns
    what runs in one. ``needs`` and ``takes`` are options that must be given and that may be; others that say
    nothing of this paper are refused.
    """

    name: str
    citation: str
    what: str
    tables: Sequence[PublishedTable]
    prepare: Callable[[PaperRequest], Callable[[Store], Findings]]
    needs: Sequence[str] = ()
    takes: Sequence[str] = ()


#: The columns of tests between systems; ``published`` is the difference in the paper, and what it says of it.
TESTS = (
    *("figure", "systems", "worse", "better", "by", "published", "in the paper"),
    *("+", "-", "=", "p (sign)", "p (shuffled)"),
)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A column of a table: the figure of each system under the name that it has here.

    ``data`` says what was trained and tested on, ``reading`` what the paper leaves open. ``significant`` are
    the pairs, the lower one first, of whose difference the paper says how sure it is, in its words.
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
        """Return where the figures come from."""
        return "; ".join(part for part in (self.citation, self.data, self.reading) if part)

    def difference(self, worse: str, better: str) -> float:
        """Return the difference of two systems in the paper; negative if the first one is lower."""
        # Decimal fractions of a page: 30.7 - 29.6 is 1.1.
        return round(self.figures[better] - self.figures[worse], 6)

    def significance(self, system: str, other: str) -> str:
        """Return what the paper says about the difference of two systems, an empty string if nothing."""
        return self.significant.get((system, other)) or self.significant.get((other, system), "")

    def tests(
        self, comparisons: Iterable[SystemComparison], names: Mapping[str, str], label: str
    ) -> list[list[object]]:
        """Return a row of `TESTS` for each pair of systems that the paper has, too.

        Args:
            comparisons: the pairs.
            names: names of the systems of the table; pairs of others are left out.
            label: what the systems are, where the table is run in more than one way; empty otherwise.
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


def record_published(store: Store, tables: Sequence[PublishedTable]) -> list[int]:
    """Write each table as a run named `published`, unless the store has it; return the numbers of the runs.

    A table is known by its parameters (paper, citation, data). Its run has no seed and took no time.
    """
    return [_number_of(store, table) or _record(store, table) for table in tables]


def _parameters(table: PublishedTable) -> dict[str, object]:
    return {"paper": table.paper, "citation": table.citation, "data": table.data}


def _number_of(store: Store, table: PublishedTable) -> int | None:
    """Return the number of the run that holds the table."""
    # As `Recorder` writes them.
    parameters = json.dumps(_parameters(table), sort_keys=True)
    query = select(run.c.id).where(run.c.command == "published", run.c.parameters == parameters)
    with store.connect() as connection:
        number: int | None = connection.execute(query.order_by(run.c.id)).scalars().first()
    return number


def _record(store: Store, table: PublishedTable) -> int:
    rows = [FigureRow(name, table.metric, value, table.signature) for name, value in table.figures.items()]
    result = RunResult(parameters=_parameters(table), scores=rows)
    return Recorder(store, "published", timed=False).record(result).run_id
