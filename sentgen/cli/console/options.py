"""Options that several commands share, declared once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from sqlalchemy import Connection

from sentgen import options
from sentgen.desk.lending import lend_labels
from sentgen.errors import InputError
from sentgen.options import PARSERS, Option
from sentgen.output.plots import check_plot
from sentgen.schema import Store, default_path
from sentgen.schema.store import default_memory_limit


@dataclass(frozen=True, slots=True)
class Arrange:
    """How options stand in a command: ``Annotated[ParserOption, Arrange(after="format")]``.

    Attributes:
        after: the option of a declaration that they follow in the help.
        only: the fields of the declaration that are taken; all if none are named.
        panel: the panel of the help, of options that name none.
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
    """Take what the library refuses as a mistake in the command line, in an option if one is named.

    Raises:
        typer.BadParameter: it refuses something.
    """
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(error.message, param_hint=option) from error


def check_file_option(option: str, path: Path | None) -> None:
    """Refuse a path that names no file.

    Raises:
        typer.BadParameter: it is a folder, or `-`.
    """
    if path is not None and (str(path) == "-" or os.path.isdir(path)):
        raise typer.BadParameter(f"{option} needs the name of a file, and {str(path)!r} is none")


def check_plot_option(plot: Path | None) -> None:
    """Refuse, before anything is asked, a file that no plot can be.

    Raises:
        typer.BadParameter: it is a folder, or `-`.
        InputError: it has another ending, or there is nothing to draw with.
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
    """Return how many rows to ask for, so that one beyond the limit tells that there are more; 0 for all."""
    return limit + 1 if limit else 0


def report_into(what: str) -> Any:
    """Return the option of an experiment that writes a report."""
    return typer.Option("--report", metavar="DIR", help=f"Write {what} into a folder.")


#: Share of the memory that DuckDB may use where it does the work: it takes up to a fifth more than it counts,
#: and Python with its libraries 0.15 to 0.2 GB.
_SQL_SHARE = 0.6
#: The same where sub-models, caches and compiled code need the rest.
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


#: Of commands that take so little that nobody limits it.
DbOptions = Annotated[StoreOptions, Arrange(only=("db",))]
DeskAndDbOptions = Annotated[DeskOptions, Arrange(only=("desk", "db"))]
