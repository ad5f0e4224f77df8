"""``sentgen saved``: queries under a name, in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from sentgen.cli.application import LATER_WINS, Commands, build, refuse_repeated
from sentgen.cli.console.listings import listing
from sentgen.cli.console.options import DbOptions, DeskAndDbOptions, made_of
from sentgen.cli.console.output import Output
from sentgen.cli.match import check_parts
from sentgen.cli.sql import check_sql
from sentgen.errors import InputError
from sentgen.lookups.base.question import Question
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.questions import QUESTIONS, check
from sentgen.options import parameters_of
from sentgen.schema.durability.write_lock import lock_policy
from sentgen.schema.tables.saved import SavedQuery

app = typer.Typer(help="Save queries under a name, and run them.")

#: Base class of errors in a command line, which has no public name in Typer.
_MISTAKE: Any = typer.BadParameter.__base__

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the query.")]


@app.command()
def add(
    name: NameArgument,
    words: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND", help="A command that looks into the counts, as you would type it."),
    ],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="In place of an older one of this name.")
    ] = False,
    options: DeskAndDbOptions,
) -> None:
    """Save a query under a name; write it behind `--`, so that its options are its own.

    It is not run, but checked: its options, and the query, with all that it names in the store. It names no
    files, so that it runs wherever the store goes.

    Example: `sentgen saved add go-home -- kwic '[lemma="go"] []{0,3} "home"' --sort left --limit 50`
    """
    command, *arguments = words
    if options.desk:
        _check_labels(command)
    with _refusals(command):
        given = _options(command, arguments)
        request = None if command == "sql" else _question(command, given)
        if command == "sql":
            check_sql(given["query"], given["param"], options.path)
    with options.store() as store, store.begin() as connection:
        if request is not None:
            check(connection, request)
        SavedQuery.save(connection, name, command, arguments, replace=replace)
    typer.echo(f"saved {name}", err=True)


app.command("list")(listing("saved"))


@app.command()
def run(
    name: NameArgument,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="OPTION", help="More options, behind `--`; they go before saved ones."),
    ] = None,
    *,
    options: DeskAndDbOptions,
) -> None:
    """Run a saved query, with more options behind `--` if you like.

    Example: `sentgen saved run go-home`, or `sentgen saved run go-home -- --limit 0 --csv`
    """
    with options.connection() as connection:
        saved = SavedQuery.find(connection, name)
    files = [*(["--db", str(options.db)] if options.db else ())]
    if options.desk:
        _check_labels(saved.command)
        files += ["--desk", str(options.desk)]
    of_store = ["--wait", str(lock_policy.wait), *files]
    with _context(saved.command, [*of_store, *saved.arguments, *(more or [])], obj=LATER_WINS) as context:
        refuse_repeated(context, more or [])
        context.command.invoke(context)


@app.command()
def remove(name: NameArgument, *, options: DbOptions) -> None:
    """Remove a saved query.

    Example: `sentgen saved remove go-home`
    """
    with options.store() as store, store.begin() as connection:
        SavedQuery.remove(connection, name)
    typer.echo(f"removed {name}", err=True)


def _check_labels(command: str) -> None:
    """Refuse the option for line sets for a command that does not use them."""
    if command == "sql":
        raise InputError("sentgen sql sees no labels of line sets; leave out --desk")


def _context(name: str, arguments: Sequence[str], *, obj: object = None) -> Any:
    """Return the context of a command, so that errors in options are reported as of that command."""
    if name not in (*QUESTIONS, "sql"):
        raise InputError(f"{name!r} cannot be saved; these commands can: {', '.join((*QUESTIONS, 'sql'))}")
    root = get_command(build())
    assert isinstance(root, Commands)
    return root.load(name).make_context(f"sentgen {name}", list(arguments), obj=obj, **root.context_settings)


def _options(name: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command by name; refuse options that exclude each other, and file names."""
    with _keep_lock_policy(), _context(name, arguments) as context:
        given = dict(context.params)
    made_of(Output, given)  # refuses formats that exclude each other
    taken = parameters_of(QUESTIONS[name]) if name in QUESTIONS else ()
    texts = {parameter.name for parameter in taken if parameter.option.file}
    if files := [key for key, value in given.items() if isinstance(value, Path) or (value and key in texts)]:
        listed = ", ".join(f"--{key.replace('_', '-')}" for key in files)
        later = ""
        if {*Output.LAST} >= {*files}:
            later = ", and give it to sentgen saved run"
        elif {"desk", "db"} >= {*files}:
            later = ", and give it to sentgen saved add and to sentgen saved run, before the --"
        raise InputError(f"a saved query names no files; leave out {listed}{later}")
    return given


def _question(command: str, given: Mapping[str, object]) -> Question | None:
    """Return the question of a command; ``None`` if it is read from standard input."""
    request = made_of(QUESTIONS[command], given)
    if isinstance(request, Match):
        check_parts(request, None, conllu=bool(given["conllu"]), svg=None)
    return None if given.get("request") == "-" else request


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Report errors of the block in one line, as errors of a command."""
    try:
        yield
    except _MISTAKE as error:
        message = " ".join(error.format_message().split())
        raise InputError(f"sentgen {name} refuses this: {message}; see sentgen {name} --help") from error


@contextmanager
def _keep_lock_policy() -> Iterator[None]:
    """Restore the time to wait for a store, which parsing the options of another command sets."""
    before = lock_policy.wait, lock_policy.command
    try:
        yield
    finally:
        lock_policy.wait, lock_policy.command = before
