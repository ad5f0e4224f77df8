"""`sentgen regenerate`: order the words and phrases of a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sentgen.cli.console.answers import Wanted, show, write_files
from sentgen.cli.console.files import check_file_option
from sentgen.cli.console.options import LOOKUP_SHARE, DbOption, MemoryOption, open_store
from sentgen.cli.console.output import Output, output_options
from sentgen.cli.console.search_options import search_options
from sentgen.cli.console.waiting import told_when_slow
from sentgen.errors import InputError
from sentgen.generation import ALGORITHMS, Algorithm, Search, algorithm_named
from sentgen.generation.answers import Request, answer, bags_of, require_trees
from sentgen.generation.bag_reader import FORMATS, Bag, Notation, read_bags

_FILES = "Trees and reasons"


@output_options
@search_options
def regenerate(
    bag: Annotated[
        list[str] | None,
        typer.Argument(metavar="BAG|-", help="Words and [base noun phrases], or - for standard input."),
    ] = None,
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME[@VERSION]", help="Language model.")],
    algorithm: Annotated[
        str,
        typer.Option("--algorithm", "-a", metavar="NAME", help=f"One of: {', '.join(ALGORITHMS)}."),
    ] = "beam",
    input: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE", help="Bags, one a line or as JSON, or a treebank."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help=f"Format of the input: {', '.join(FORMATS)}. Default: detected."),
    ] = None,
    units: Annotated[
        str,
        typer.Option("--units", metavar="np|word", help="Keep base noun phrases whole, or break them up."),
    ] = "np",
    np_joiner: Annotated[
        str, typer.Option("--np-joiner", help="What joins the words of a phrase, such as _ in the_dow.")
    ] = "",
    tagged: Annotated[
        bool | None,
        typer.Option("--tagged/--no-tagged", help="Words are word/TAG. Default: if all have a slash."),
    ] = None,
    lowercase: Annotated[
        bool | None,
        typer.Option(
            "--lowercase/--keep-case", help="Look words up lower-cased. Default: as the model's corpora."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the shuffle that breaks ties.")] = 1,
    nbest: Annotated[
        int, typer.Option("--nbest", min=1, help="Sentences to give for each bag, at most.")
    ] = 1,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the dependency trees.", rich_help_panel=_FILES)
    ] = False,
    conllu: Annotated[
        Path | None,
        typer.Option("--conllu", metavar="FILE", help="Write the trees as CoNLL-U.", rich_help_panel=_FILES),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw the trees.", rich_help_panel=_FILES),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show what the store holds behind each attachment, or each word where there is no tree.",
            rich_help_panel=_FILES,
        ),
    ] = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    search: Search,
    out: Output,
) -> None:
    """Order the words and phrases of a sentence; the order in which they are given does not matter.

    `logp` is the natural log-probability of the sentence with its end, `score` what the algorithm maximized,
    `unknown` the words that the model has not seen, `guessed` those that came without a tag and got the most
    frequent one. With `--nbest` the first sentence is the algorithm's own.

    Example: `sentgen regenerate --model ewt --algorithm ab --tree "down was [the dow] about [35 points]"`
    """
    if units not in ("np", "word"):
        raise typer.BadParameter(f"{units!r} is neither np nor word", param_hint="--units")
    check_file_option("--conllu", conllu)
    check_file_option("--svg", svg)
    wanted = Wanted(tree, explain, conllu, svg)
    _check_trees(algorithm_named(algorithm), search, wanted, out)
    request = Request(
        model=model,
        algorithm=algorithm,
        units=cast(Any, units),
        np_joiner=np_joiner,
        tagged=tagged,
        lowercase=lowercase,
        seed=seed,
        nbest=nbest,
        as_published=search.as_published,
        changes=search.changes,
        dependencies=search.dependencies,
    )
    with open_store(db, read_only=True, memory_limit=memory_limit, share=LOOKUP_SHARE) as store:
        with told_when_slow():
            answers = answer(store, request, lambda notation: _bags(bag or [], input, format, notation))
        write_files(answers, wanted, out)
        show(answers, wanted, out)


def _check_trees(algorithm: Algorithm, search: Search, wanted: Wanted, out: Output) -> None:
    """Refuse to ask for trees where there are none, and for two tables at once."""
    asked = {
        "--tree": wanted.tree,
        "--conllu": wanted.conllu,
        "--svg": wanted.svg,
        "--dependencies": search.dependencies,
    }
    require_trees(algorithm, asked)
    if wanted.tree and wanted.explain and not out.for_reading:
        raise InputError(f"--tree and --explain are two tables, and --{out.form} is one; choose one of them")


def _bags(texts: list[str], file: str | None, form: str | None, notation: Notation) -> list[Bag]:
    """Read the bags that the arguments name."""
    if bool(texts) == bool(file):
        raise InputError("there is nothing to order, or too much; give either bags, or - , or --input FILE")
    if file is not None or texts == ["-"]:
        return read_bags(file or "-", notation, form)
    if form is not None:
        raise InputError("--format is for what comes with --input FILE or - ; arguments are bags")
    return bags_of(texts, notation)
