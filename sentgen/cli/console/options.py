"""Options of commands: those that several commands share, and declarations, which are replaced by options.

A command is a function. A parameter that is annotated with a declaration (see `sentgen.options`), or with
another dataclass whose fields are annotated with options of Typer, such as `Output`, is replaced by options::

    def ngrams(*, request: Ngrams, out: QuestionOutput) -> None:
        ...

`sentgen.cli.application` calls `with_options` for all commands, so functions need no decorator.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

import typer
from sqlalchemy import Connection

from sentgen import options
from sentgen.desk.lending import lend_labels
from sentgen.errors import InputError
from sentgen.options import PARSERS, Declaration, Option, Parameter, declared, parameters_of
from sentgen.output.plots import check_plot
from sentgen.schema import Store, default_path
from sentgen.schema.store import default_memory_limit


@dataclass(frozen=True, slots=True)
class Arrange:
    """Place of options in the help of a command, as in ``Annotated[ParserOption, Arrange(after="format")]``.

    Attributes:
        after: option of a declaration that they follow in the help.
        only: fields of the declaration that the command has; all if empty.
        panel: panel of the help, for options that name none.
    """

    after: str = ""
    only: Sequence[str] = ()
    panel: str = ""


ParserOption = Annotated[
    str | None,
    typer.Option(
        "--parser",
        metavar="PARSER",
        help=f"Parse what has no trees: {PARSERS}; or insist on trees: gold.",
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the rows: .svg, .png or .pdf (plots extra)."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")]
LearnOption = Annotated[str, typer.Option("--pairs", metavar="NAME", help="Aligned pairs to learn from.")]
AlignedOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="M", help="Model that aligned them; if not given, the priors."),
]
SizeOption = Annotated[int, typer.Option("--size", min=1, metavar="N", help="Sentences of each document.")]


@contextmanager
def mistakes(option: str | None = None) -> Iterator[None]:
    """Turn an error of the library into an error of the command line, of an option if one is named.

    Raises:
        typer.BadParameter: the library raised an error.
    """
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(error.message, param_hint=option) from error


def check_file_option(option: str, path: Path | None) -> None:
    """Refuse a path that names no file.

    Raises:
        typer.BadParameter: the path is a folder, or `-`.
    """
    if path is not None and (str(path) == "-" or os.path.isdir(path)):
        raise typer.BadParameter(f"{option} needs the name of a file, and {str(path)!r} is none")


def check_plot_option(plot: Path | None) -> None:
    """Refuse, before anything is asked, a file that no plot can be.

    Raises:
        typer.BadParameter: it is a folder, or `-`.
        InputError: the file has another ending, or there is nothing to draw with.
    """
    check_file_option("--plot", plot)
    check_plot(plot)


def require_terminal(question: str, *, otherwise: str) -> None:
    """Refuse to ask where nobody can answer; ``otherwise`` names the options that answer."""
    if not (sys.stdin and sys.stdin.isatty()):
        raise InputError(f"this would {question}; give {otherwise}")


def confirm(question: str, *, otherwise: str) -> None:
    """Ask whether to do something, and end the command if not."""
    require_terminal(question, otherwise=otherwise)
    typer.confirm(f"{question}?", abort=True, err=True)


def one_more(limit: int) -> int:
    """Return the number of rows to ask for: one above the limit, to see if there are more; 0 for all."""
    return limit + 1 if limit else 0


def report_into(what: str) -> Any:
    """Return the option of an experiment that writes a report."""
    return typer.Option("--report", metavar="DIR", help=f"Write {what} into a folder.")


#: Share of the memory that DuckDB may use where it does the work: it takes up to a fifth more than it counts,
#: and Python with its libraries 0.15 to 0.2 GB.
_SQL_SHARE = 0.6
#: Share of DuckDB if sub-models, caches and compiled code need the rest.
LOOKUP_SHARE = 0.35


def parse_size(text: str | None) -> int | None:
    """Read a size such as ``2GB``, ``500M`` or ``1073741824``."""
    with mistakes():
        return None if text is None else options.parse_size(text)


@dataclass(frozen=True, kw_only=True)
class StoreOptions:
    """Which store, and the memory that the process may use."""

    db: Annotated[
        Path | None, Option("The store. Default: $SENTGEN_DB, else in your data folder.", metavar="FILE")
    ] = None
    memory_limit: Annotated[
        str | None, Option("Memory to use, such as 2GB. Default: a quarter of RAM.", metavar="SIZE")
    ] = None

    @property
    def path(self) -> Path:
        """Where the store is, or is to be."""
        return self.db or default_path()

    @property
    def desk(self) -> Path | None:
        """Where line sets are, if not beside the store."""
        return None

    @property
    def memory(self) -> int:
        """Bytes that the process may use."""
        return parse_size(self.memory_limit) or default_memory_limit()

    def database_memory(self, share: float = _SQL_SHARE) -> int:
        """Return the bytes that DuckDB may use; the option means the process, and DuckDB takes more."""
        return int(self.memory * share)

    def store(
        self,
        *,
        create: bool = False,
        read_only: bool = False,
        share: float = _SQL_SHARE,
        threads: int | None = None,
    ) -> Store:
        """Open the store; DuckDB may use that share of the memory, and so many threads."""
        limit = self.database_memory(share)
        opened = Store(self.path, create=create, read_only=read_only, memory_limit=limit, threads=threads)
        return lend_labels(opened, self.desk)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Open the store to read."""
        with self.store(read_only=True) as store, store.connect() as connection:
            yield connection

    def lookups(self) -> Store:
        """Open the store to look up models, on one thread.

        What DuckDB reads waits to be filtered here anyway: two take up to a third more CPU time, and as long
        by the clock.
        """
        return self.store(read_only=True, share=LOOKUP_SHARE, threads=1)


@dataclass(frozen=True, kw_only=True)
class DeskOptions(StoreOptions):
    """The same with its line sets, whose labels are keys and choose sentences."""

    LAST: ClassVar[tuple[str, ...]] = ("desk", "db", "memory_limit")

    desk: Annotated[
        Path | None,
        Option("File of line sets. Default: study.desk beside study.duckdb.", metavar="FILE"),
    ] = None


#: Options of commands that need too little memory to limit it.
DbOptions = Annotated[StoreOptions, Arrange(only=("db",))]
DeskAndDbOptions = Annotated[DeskOptions, Arrange(only=("desk", "db"))]


def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command for Typer, with options in place of each declaration.

    The default limit of rows holds only for tables for reading: formats for programs have all rows, as a
    program would not notice that there are more.
    """
    # Annotations are texts, as all modules import `annotations` from `__future__`.
    own = inspect.signature(function, eval_str=True).parameters.values()
    kinds = {each.name: _arranged(each.annotation) for each in own}
    groups: dict[str, Any] = {name: kind for name, (kind, _) in kinds.items() if is_dataclass(kind)}
    if not groups:
        return function
    by_name: dict[str, list[inspect.Parameter]] = {}
    for each in own:
        kind, arrange = kinds[each.name]
        by_name[each.name] = (
            _options(kind, arrange) if each.name in groups else [each.replace(annotation=kind)]
        )
    taken = _in_order(by_name, {name: arrange.after for name, (_, arrange) in kinds.items()})
    limits = {each.name: each.default for each in taken if _is_limit(each)} if "out" in groups else {}
    # The output first, as the number of rows depends on whether it is for reading.
    makes = sorted(groups, key=lambda name: name != "out")

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        made: dict[str, Any] = {}
        for name in makes:
            values = {each.name: given.pop(each.name) for each in by_name[name]}
            made[name] = made_of(groups[name], values)
            if name == "out":
                _limit_rows(limits, given, for_reading=made[name].for_reading)
        return function(**given, **made)

    parameters = [_optional(each) if each.name in limits else each for each in taken]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    del command.__wrapped__  # else Typer would read the old signature
    return command


def _arranged(annotation: Any) -> tuple[Any, Arrange]:
    """Return an annotation for Typer, and the place of its options."""
    kind, *about = (
        (annotation.__origin__, *annotation.__metadata__) if _annotated(annotation) else (annotation,)
    )
    arrange = next((each for each in about if isinstance(each, Arrange)), Arrange())
    rest = [each for each in about if each is not arrange]
    return (Annotated[kind, *rest] if rest else kind), arrange


def _annotated(annotation: Any) -> bool:
    return hasattr(annotation, "__metadata__")


def _options(declaration: type, arrange: Arrange) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(each),
            annotation=_annotation(each, arrange.panel),
        )
        for each in parameters_of(declaration, arrange.only)
    ]


def _in_order(
    options: Mapping[str, Sequence[inspect.Parameter]], after: Mapping[str, str]
) -> list[inspect.Parameter]:
    """Return all parameters in the order of the help, with those that follow an option after it."""
    following = {name: [each for each in options if after[each] == name] for name in after.values() if name}
    taken: list[inspect.Parameter] = []
    for name, group in options.items():
        if after[name]:
            continue
        for each in group:
            taken.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            for mine in following.get(each.name, ()):
                taken += options[mine]
    return taken


def made_of(declaration: type[Declaration], given: Mapping[str, object]) -> Declaration:
    """Return an instance of a declaration from options by name, as Typer parses them; ignore other options.

    Raises:
        typer.BadParameter: options exclude each other.
    """
    taken = {each.name: each for each in parameters_of(declaration)}
    values = {
        name: value or [] if taken[name].is_list else value
        for name, value in given.items()
        # An omitted limit depends on the output; a query that is only checked has none.
        if name in taken and not (value is None and _limits_rows(taken[name]))
    }
    with mistakes():
        return declared(declaration, values)


def _limits_rows(parameter: Parameter) -> bool:
    return isinstance(parameter.option, Option) and parameter.option.rows


def _default(parameter: Parameter) -> object:
    if parameter.kind == list[str] and not (isinstance(parameter.option, Option) and parameter.option.given):
        return None
    return inspect.Parameter.empty if parameter.default is MISSING else parameter.default


def _annotation(parameter: Parameter, panel: str) -> object:
    """Return the annotation of a parameter for Typer."""
    option, kind = parameter.option, parameter.kind
    if not isinstance(option, Option):  # an option of Typer already
        return Annotated[kind, option]
    if _limits_rows(parameter):
        return LimitOption
    if parameter.default is None:
        # Typer needs no `None` in the type, as the default says that the option may be omitted.
        (kind,) = set(get_args(kind)) - {NoneType}
    if kind == int | str:
        kind = str  # parsed by the library
    metavar = option.metavar
    if get_origin(kind) is Literal and not option.closed:
        # The library checks the value, and its message says what to do.
        kind, metavar = str, metavar or "|".join(get_args(kind))
    if parameter.default is None or kind == list[str]:
        kind = kind | None
    settings: dict[str, Any] = {"help": option.shell or option.help, "metavar": metavar}
    settings |= {"min": option.least, "max": option.most, "rich_help_panel": option.panel or panel or None}
    if option.argument:
        return Annotated[kind, typer.Argument(**settings)]
    return Annotated[kind, typer.Option(*_names(parameter), **settings)]


def _names(parameter: Parameter) -> list[str]:
    if parameter.is_list and parameter.option.off:
        return [parameter.dashed, parameter.off]  # see `sentgen.cli.application`
    if parameter.kind == bool | None or parameter.default is True or parameter.option.off:
        return [f"{parameter.dashed}/{parameter.off}"]
    return [parameter.dashed, *([parameter.option.short] if parameter.option.short else [])]


_ROWS = "Rows to show; 0 for all."
_LIMIT = typer.Option("--limit", "-n", min=0, help=_ROWS)
#: The limit of rows, which is recognised by this option, as other parameters may be called ``limit``, too.
LimitOption = Annotated[int, _LIMIT]


def _limit_rows(limits: Mapping[str, int], given: dict[str, Any], *, for_reading: bool) -> None:
    """Set omitted limits."""
    for name, default in limits.items():
        if given[name] is None:
            # A graph has a number of collocates, never all.
            given[name] = default if for_reading or given.get("graph") else 0


def _is_limit(parameter: inspect.Parameter) -> bool:
    return any(about is _LIMIT for about in getattr(parameter.annotation, "__metadata__", ()))


def _optional(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return the parameter of a limit that may be omitted, with a help that says so."""
    if not parameter.default:
        return parameter
    about = f"{_ROWS} Default: {parameter.default} in tables, all in formats for programs."
    option = typer.Option("--limit", "-n", min=0, help=about)
    return parameter.replace(annotation=Annotated[int | None, option], default=None)
