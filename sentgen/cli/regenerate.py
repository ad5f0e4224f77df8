"""`sentgen regenerate`: order the words and phrases of a sentence, and show that with trees and reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.options import Arrange, StoreOptions, check_file_option
from sentgen.cli.console.output import Output, printable
from sentgen.corpus.parsers import open_parser
from sentgen.errors import InputError
from sentgen.generation.answers import FILES_PANEL, PART, STEP_COLUMNS, Answers, OrderingRequest
from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.bag_reader import FORMATS, Bag, Notation
from sentgen.generation.clusters.clusters import Generated
from sentgen.generation.clusters.depviterbi import TraceStep
from sentgen.generation.drawing import tree_text
from sentgen.generation.notes import notes
from sentgen.models.caches import cache_statistics
from sentgen.options import PARSERS, Option
from sentgen.output.display import NATURAL, closed_up, decimal
from sentgen.output.files import write_text
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store

_AFTER = Arrange(after="algorithm")
_SENTENCE = "sentence"
_TRACE_COLUMNS = ["word", "ngram", "dep", "transition", "log10", "relation", "stack"]


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """The files that the trees go into, if any.

    Raises:
        typer.BadParameter: one is a folder, or `-`.
    """

    conllu: Annotated[Path | None, Option("Write the trees as CoNLL-U.", metavar="FILE")] = None
    svg: Annotated[Path | None, Option("Draw the trees.", metavar="FILE")] = None

    def __post_init__(self) -> None:
        for option, path in self.options.items():
            # Checked first, as a search of minutes would be lost when the file is written.
            check_file_option(option, path)

    @property
    def options(self) -> dict[str, Path | None]:
        """Return the files by the names of their options."""
        return {"--conllu": self.conllu, "--svg": self.svg}

    def write(self, answers: Answers | Generated, out: Output) -> None:
        """Write what was asked for."""
        for path, drawn in ((self.conllu, answers.conllu), (self.svg, answers.svg)):
            if path is not None:
                write_text(path, drawn())
                out.note(f"{path}: {quantity(len(answers.trees), 'tree')}")


def regenerate(
    *,
    request: OrderingRequest,
    input: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE", help="Bags, one a line or as JSON, or a treebank."),
        _AFTER,
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help=f"Format of the input: {', '.join(FORMATS)}. Default: detected."),
        _AFTER,
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option(
            "--parser",
            metavar="PARSER",
            help=f"Find the heads of phrases that have none: {PARSERS}.",
        ),
        _AFTER,
    ] = None,
    files: Annotated[TreeFiles, Arrange(after="tree", panel=FILES_PANEL)],
    options: Annotated[StoreOptions, Arrange(after="explain")],
    out: Output,
) -> None:
    """Order the words and phrases of a sentence; the order in which they are given does not matter.

    `log10` is the decimal log-probability of the sentence with its end, `log10_score` what the algorithm
    maximized, `unknown` the words that the model has not seen, `guessed` those that came without a tag and
    got the most frequent one; formats for programs have natural logarithms, too: `logp` and `score`. With
    `--nbest` the first sentence is the algorithm's own.

    Example: `sentgen regenerate --model ewt --algorithm ab --tree "down was [the dow] about [35 points]"`
    """
    if request.tree and request.explain and not out.for_reading:
        raise InputError(f"--tree and --explain are two tables, and --{out.form} is one; choose one of them")
    if request.tree and request.parts and out.for_reading:
        raise InputError(
            "--parts is a table, which --tree shows only for programs; leave one out, or give --json"
        )
    trees = open_parser(parser) if parser else None
    with options.lookups() as store:
        # The tags that a bag needs depend on the treebank, which `answer` finds first.
        answers = request.answer(
            store,
            lambda notation: _bags(request.bag, input, format, notation),
            parser=trees,
            files=files.options,
        )
        files.write(answers, out)
        _show(answers, out)
        if request.explain:
            out.note(_describe_caches(store))


def _bags(texts: list[str], file: str | None, form: str | None, notation: Notation) -> list[Bag]:
    if bool(texts) == bool(file):
        raise InputError("there is nothing to order, or too much; give either bags, or - , or --input FILE")
    if file is not None or texts == ["-"]:
        return notation.read(file or "-", form)
    if form is not None:
        raise InputError("--format is for what comes with --input FILE or - ; arguments are bags")
    return list(map(notation.bag, texts))


def _show(answers: Answers, out: Output) -> None:
    """Print the sentences, their trees or the reasons for them, and the notes on them."""
    request = answers.request
    if out.for_reading and (request.tree or request.explain):
        columns, tables = answers.reasons(full=False) if request.explain else ([], [])
        steps = answers.step_tables() if request.explain else []
        for number, sentence in enumerate(answers.sentences):
            rank = f", rank {sentence.rank}" if answers.plan.nbest > 1 else ""
            parts = (
                [partial(_tree, sentence.units, sentence.tree.heads)]
                if request.tree and sentence.tree
                else []
            )
            if request.explain:
                parts.append(partial(out.rows, columns, tables[number], programs=NATURAL))
                if steps[number]:
                    parts.append(partial(out.rows, STEP_COLUMNS, steps[number], programs=NATURAL))
            heading = f"bag {sentence.item}{rank}: {closed_up(sentence.text)}".rstrip()
            logs = f"log10 {decimal(sentence.logp):.2f}, log10_score {decimal(sentence.score):.2f}"
            _read(heading, logs, parts)
    else:
        _table(answers.table(), out)
    for note in notes(answers):
        out.note(note)


def show_generated(answers: Generated, out: Output) -> None:
    """Print the sentences with what was asked for, and say what is not proven, and what is missing."""
    request = answers.request
    if out.for_reading and (request.tree or request.traced):
        for sentence in answers.sentences:
            rank = f", rank {sentence.rank}" if (sentence.rank or 1) > 1 else ""
            trace = map(_trace_row, sentence.trace)
            parts = [partial(out.rows, _TRACE_COLUMNS, trace)] if request.traced else []
            if request.tree and sentence.tree:
                parts.append(partial(_tree, sentence.units, sentence.tree.heads))
            heading = f"{sentence.cluster}, length {sentence.length}{rank}: {closed_up(sentence.text)}"
            if request.rerank is not None:
                more = f", log10_score {decimal(sentence.score):.4f}"
            elif sentence.exact is None:
                more = ""
            else:
                more = ", exact" if sentence.exact else ", bounded by the beam"
            _read(heading, f"log10 {decimal(sentence.logp):.4f}{more}", parts)
    else:
        _table(answers.table(), out)
    for note in answers.notes():
        out.note(note)


def _table(table: Rows, out: Output) -> None:
    """Write a table; for reading, sentences have no blanks that their script lacks."""
    rows = table.rows
    if out.for_reading and _SENTENCE in table.columns:
        index = list(table.columns).index(_SENTENCE)
        rows = [(*row[:index], closed_up(str(row[index])), *row[index + 1 :]) for row in rows]
    natural = NATURAL.union(name for name in table.columns if name.startswith(PART))
    out.rows(table.columns, rows, programs=natural, essential=(_SENTENCE,))


def _read(heading: str, figures: str, parts: Sequence[Callable[[], None]]) -> None:
    """Print a sentence for reading, with its parts below it."""
    typer.echo(printable(heading))
    typer.echo(figures)
    for part in parts:
        typer.echo()
        part()
    typer.echo()


def _tree(units: Sequence[Unit], heads: Sequence[int]) -> None:
    for line in tree_text(units, heads):
        typer.echo(printable(line))


def _trace_row(step: TraceStep) -> tuple[object, ...]:
    """Return a step for reading: the relation in words, the stack growing to the right as in the papers."""
    relation = "" if step.partner is None else f"{step.rule} {step.partner}"
    stack = " | ".join(step.stack)
    return step.word, step.ngram, step.dep, step.transition, decimal(step.logp), relation, stack


def _describe_caches(store: Store) -> str:
    """Return a line with the share of look-ups that the caches answered."""
    used = [
        (name, statistics)
        for name, statistics in cache_statistics(store).items()
        if statistics.hits or statistics.misses
    ]
    parts = (
        f"{name}: {statistics.hits} in the cache, {statistics.misses} fetched" for name, statistics in used
    )
    return f"look-ups of {'; of '.join(parts)}"
