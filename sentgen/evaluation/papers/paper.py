"""What `sentgen reproduce` knows of a paper, what it asks of one, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sentgen.evaluation.figures.significance import SystemComparison
from sentgen.evaluation.papers.penn_treebank import Trees
from sentgen.evaluation.papers.published import PublishedTable
from sentgen.evaluation.regeneration.answers import Progress
from sentgen.evaluation.report.tables import probability
from sentgen.output.tabular import Rows
from sentgen.schema import Store

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRequest:
    """What to run an experiment with; fields are options of the command, by name.

    Args:
        ptb: folder of a treebank.
        trees: which of its files are read (see `split_treebank`).
        lm_text: files of text for a second language model.
        gold: links between documents and abstracts that people drew.
        format: of the links.
        pseudo_documents: how many documents and abstracts of these are put together, such as 22x8.
        train: pairs to learn from beside those with links.
        clusters: file of clusters of related sentences.
        parser: of what has no trees, such as `udpipe:FILE`.
        dependencies: treebanks of the store.
        quick: only a part of the data, said in the output, so that it takes minutes.
        seed: of everything that is random.
        jobs: threads that search.
        memory: bytes that all may take; the usual limit if not given.
        progress: called after every sentence.
        report: called with a line a step.
    """

    ptb: str | None = None
    trees: Trees | None = None
    lm_text: Sequence[str] = ()
    gold: str | None = None
    format: str | None = None
    pseudo_documents: str | None = None
    train: Sequence[str] = ()
    clusters: str | None = None
    parser: str | None = None
    dependencies: Sequence[str] = ()
    quick: bool = False
    seed: int = 1
    jobs: int = 1
    memory: int | None = None
    progress: Progress | None = None
    report: Report = lambda _: None


@dataclass(frozen=True, slots=True)
class Findings:
    """What came out: figures beside the published ones, tests between systems, and what is said of both.

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


def tests_of(
    table: PublishedTable, comparisons: Iterable[SystemComparison], names: Mapping[str, str], label: str
) -> list[list[object]]:
    """Return a row of `TESTS` for each pair of systems that the paper has, too.

    Args:
        table: the figures of the paper.
        comparisons: the pairs.
        names: of systems, those of the table; pairs of others are left out.
        label: what the systems are, where the table is run in more than one way; empty otherwise.
    """
    return [
        [
            *(table.citation, label, worse, better, pair.difference, table.difference(worse, better)),
            *(table.significance(worse, better), pair.pluses, pair.minuses, pair.equal),
            *map(probability, (pair.sign_p, pair.shuffle_p)),
        ]
        for pair in comparisons
        if pair.worse in names and pair.better in names
        for worse, better in [(names[pair.worse], names[pair.better])]
    ]
