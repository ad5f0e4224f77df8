"""`sentgen regenerate`: order the words and phrases of a sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.options import DbOption, MemoryOption, open_store
from sentgen.cli.output import Output, output_options
from sentgen.corpus.base_np import mark_base_nps
from sentgen.corpus.formats import detect
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import expand
from sentgen.errors import InputError
from sentgen.evaluation.testset import ANNOTATED, read_test_set
from sentgen.generation import ALGORITHMS, Unit, broken_up, parse_bag, units_of
from sentgen.generation import regenerate as run
from sentgen.models import registry

COLUMNS = ["bag", "rank", "sentence", "logp", "score", "unknown"]


@output_options
def regenerate(
    bag: Annotated[
        list[str] | None,
        typer.Argument(metavar="BAG|-", help="Words and [base noun phrases], or - for standard input."),
    ] = None,
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME[@VERSION]", help="Language model.")],
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", help=f"One of: {', '.join(sorted(ALGORITHMS))}.")
    ] = "lmo",
    input: Annotated[
        Path | None,
        typer.Option("--input", "-i", metavar="FILE", help="Bags from a file, one a line, or a treebank."),
    ] = None,
    units: Annotated[
        str,
        typer.Option("--units", metavar="np|word", help="Keep base noun phrases whole, or break them up."),
    ] = "np",
    joiner: Annotated[
        str, typer.Option("--joiner", help="What joins the words of a phrase, such as _ in the_dow.")
    ] = "",
    tagged: Annotated[
        bool | None,
        typer.Option("--tagged/--no-tagged", help="Words are word/TAG. Default: if all have a slash."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the shuffle that breaks ties.")] = 1,
    nbest: Annotated[
        int, typer.Option("--nbest", min=1, help="Sentences to give for each bag, at most.")
    ] = 1,
    order: Annotated[int, typer.Option("--order", min=2, max=5, help="Order of the n-grams to use.")] = 4,
    lowercase: Annotated[
        bool | None,
        typer.Option(
            "--lowercase/--keep-case", help="Look words up lower-cased. Default: as the model's corpora."
        ),
    ] = None,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Order the words and phrases of a sentence; the order in which they are given does not matter.

    `logp` is the natural log-probability of the sentence with its end, `score` what the algorithm maximized.
    With `--nbest` the first sentence is the algorithm's own; the others begin with another unit.

    Example: `sentgen regenerate --model ewt --algorithm lmo "down was [the dow] about [35 points]"`
    """
    if units not in ("np", "word"):
        raise typer.BadParameter(f"{units!r} is neither np nor word", param_hint="--units")
    bags = _bags(bag or [], input, joiner, tagged)
    if units == "word":
        bags = [broken_up(found) for found in bags]
    with open_store(db, read_only=True, memory_limit=memory_limit) as store:
        found = run(
            store,
            registry.find(store, model),
            bags,
            algorithm=algorithm,
            seed=seed,
            changes={"order": order},
            nbest=nbest,
            lowercase=lowercase,
        )
        rows = ((one.item, one.rank, one.text, one.logp, one.score, one.unknown) for one in found)
        out.rows(COLUMNS, rows)


def _bags(texts: list[str], file: Path | None, joiner: str, tagged: bool | None) -> list[list[Unit]]:
    """Read the bags that the arguments name."""
    if bool(texts) == bool(file):
        raise InputError("there is nothing to order, or too much; give either bags, or - , or --input FILE")
    if file is not None and str(file) != "-":
        return _from_file(str(file), joiner, tagged)
    if file is not None or texts == ["-"]:
        return _parse(sys.stdin, "-", joiner, tagged)
    return [parse_bag(text, joiner=joiner, tagged=tagged) for text in texts]


def _from_file(path: str, joiner: str, tagged: bool | None) -> list[list[Unit]]:
    """Read a treebank, or bags one a line."""
    if any(detect(source) in ANNOTATED - {"pos"} for source in expand([path])):
        return [_units(sentence) for sentence in read_test_set(path)]
    return [bag for source in expand([path]) for bag in _parse(source.lines(), source.name, joiner, tagged)]


def _parse(lines: Iterable[str], path: str, joiner: str, tagged: bool | None) -> list[list[Unit]]:
    """Read one bag a line; a line without words is an error that says where it is."""
    bags = []
    for number, line in enumerate(lines, 1):
        try:
            bags.append(parse_bag(line, joiner=joiner, tagged=tagged))
        except InputError as error:
            raise InputError(error.message, path=path, line=number) from error
    return bags


def _units(sentence: Sentence) -> list[Unit]:
    mark_base_nps(sentence)
    return units_of(sentence)
