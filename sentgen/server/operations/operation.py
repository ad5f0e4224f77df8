"""What an operation is: a declaration in, a result out, and the command line that gives the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import duckdb

from sentgen.corpus.parsers import Parser, open_parser
from sentgen.desk.desk import desk_of
from sentgen.errors import InputError, Spelling
from sentgen.listings import LISTINGS
from sentgen.lookups.base.question import Question
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.command_line import command_line as called
from sentgen.options import dashed, parameters_of, values_of
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.engine import connection_cache
from sentgen.server.operations import Kind, Opening

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: What a command is told and a request is not, as whoever runs the server has decided it.
_OF_SERVER = {
    "memory_limit": "the server's memory (sentgen serve --worker-memory)",
    "parser": "the server's parser (sentgen serve --parser)",
}
#: Hits whose tokens are told: as many as a page shows.
MARKED = 500


@dataclass(frozen=True, slots=True)
class Context:
    """What an operation works on, inside a worker.

    ``store`` is open for reading only, with its locks; the SQL worker has a ``locked`` connection instead.
    """

    opening: Opening
    store: Store | None = None
    locked: duckdb.DuckDBPyConnection | None = None
    client: str = ""

    @property
    def opened(self) -> Store:
        """Return the store."""
        if self.store is None:
            raise RuntimeError("this worker has no store")
        return self.store

    @property
    def desk(self) -> Path | None:
        """Return the file with the line sets of who asks; none where there are none."""
        if not self.opening.desk:
            return None
        path = Path(self.opening.desk)
        return desk_of(path, [self.client]) if self.opening.apart else path

    def limit(self, request: int) -> int:
        """Return how many rows to ask the library for: what was asked, at most what the server gives."""
        return min(request or self.opening.limits.rows, self.opening.limits.rows)

    def check_size(self, words: Iterable[int], what: str, *, most: int = 0) -> None:
        """Refuse a batch of too many items, or an item of too many words; ``words`` has one number an item.

        Args:
            words: words of each item.
            what: an item is.
            most: words that an item may have; what the server takes of most things if not given.

        Raises:
            InputError: with the number of the item.
        """
        most = most or self.opening.limits.words
        for number, size in enumerate(words, 1):
            if number > self.opening.limits.items:
                raise InputError(f"more than {self.opening.limits.items} in one request; send a {what} fewer")
            if size > most:
                raise InputError(f"{what} {number} has {quantity(size, 'word')}; at most {most} are taken")

    @property
    def parser(self) -> Parser | None:
        """Return the parser of the server, if it has one."""
        return _parser(self.opening.parser) if self.opening.parser else None

    @contextmanager
    def file(self, name: str, text: str) -> Iterator[str]:
        """Write a text where the library can read it, in the folder of this worker."""
        # A name of ours, never one that was sent; a worker does one thing at a time, so that it is free.
        path = Path(name)
        path.write_text(text, encoding="utf-8", newline="\n")
        try:
            yield name
        finally:
            path.unlink()

    def ask(self, request: Question) -> Result:
        """Answer a question to the counts, for as many rows as the server gives."""
        with self.opened.connect() as connection:
            # The limit of the server goes into the SQL: rows that nobody may have are not fetched.
            return Result.from_answer(replace(request, limit=self.limit(request.limit)).ask(connection))


@dataclass(frozen=True, slots=True)
class Result:
    """What an operation gives.

    Attributes:
        table: the rows.
        truncated: whether there are more.
        notes: what the command says on standard error.
        sql: the statements that give these rows, ready to be pasted.
        more: what does not fit into a table, such as drawings.
    """

    table: Rows
    truncated: bool = False
    notes: Sequence[str] = ()
    sql: Sequence[str] = ()
    more: Mapping[str, object] = field(default_factory=dict)

    @staticmethod
    def from_answer(answer: Answer) -> Result:
        """Return the result of a question to the counts, with the notes of its command."""
        more: dict[str, object] = {} if answer.total is None else {"total": answer.total}
        if answer.near:
            more["near"] = answer.near
        return Result(answer.rows, answer.truncated, answer.notes, (answer.query.with_values(),), more)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that the server does.

    Attributes:
        name: name of the operation, and of its route unless ``path`` says otherwise.
        summary: what the operation does, in one line.
        command: the words of the command that does the same.
        declaration: the class of what is asked (see `sentgen.options`).
        run: the function that is asked; it calls the library and nothing else. A question is asked itself.
        kind: whose workers do it, as the table of modules says.
        method: `GET` with a query string, or `POST` with JSON.
        path: route below /v1; parts in braces are parameters.
        example: parameters that can be tried with the demo store.
        api: whether it has a route; the others are for the pages, and their command is `sql`.
        row: JSON Schema of a row, where values are more than numbers and texts.
    """

    name: str
    summary: str
    command: str
    declaration: type[DataclassInstance]
    run: Callable[[Context, Any], Result] = Context.ask
    kind: Kind = "lookup"
    method: Literal["GET", "POST"] = "GET"
    path: str = ""
    example: Mapping[str, object] = field(default_factory=dict)
    api: bool = True
    row: Mapping[str, object] = field(default_factory=dict)

    @property
    def route(self) -> str:
        """Return the path of its route."""
        return f"/v1/{self.path or self.name}"

    def command_line(self, request: DataclassInstance) -> str:
        """Return the command that gives the same answer; options that have their defaults are left out.

        A text that the command reads from a file is the name of one. A batch whose command takes one at a
        time is a command a line, the files of which have a number.
        """
        for parameter, value in values_of(request):
            if parameter.option.line == "each" and value:
                # An item may have more, such as an id, which changes nothing of its answer.
                taken = [
                    {name: part for name, part in asdict(item).items() if hasattr(request, name)}
                    for item in value
                ]
                items = [replace(request, **{parameter.name: []}, **item) for item in taken]
                lines = (called(self.command, item, f"-{i}") for i, item in enumerate(items, 1))
                return "\n".join(lines)
        return called(self.command, request)

    def spelling(self) -> Spelling:
        """Return what names its parameters in messages, in the place of options of its command.

        >>> from sentgen.server.operations import operations
        >>> operations()["regenerate"].spelling()("verb_root", "--any-root")
        '`verb_root`: false'
        """
        names = {
            # In a list whose values have names, each is given by another option of the command line.
            each.option.short[2:] if each.option.line == "named" else each.name: each.name
            for each in parameters_of(self.declaration)
        }

        def write(option: str, off: str) -> str:
            if option in names:
                return f"`{names[option]}`: false" if off else f"`{names[option]}`"
            return _OF_SERVER.get(option) or dashed(option, off)

        return write

    def names(self) -> list[str]:
        """Return the names of the parameters of an operation."""
        return [each.name for each in parameters_of(self.declaration)]


@dataclass(frozen=True, slots=True)
class Nothing:
    """No parameters."""


def listing(name: str, *, api: bool = True) -> Operation:
    """Return the operation that lists what there is of something, which all pages ask for."""
    listed = LISTINGS[name]

    def run(context: Context, request: Nothing) -> Result:
        if not listed.of_store:
            table, wrong = listed.rows(None)
            return Result(table, notes=wrong)
        with context.opened.connect() as connection:
            known = connection_cache(connection)
        if listed not in known:
            known[listed], _ = listed.rows(context.opened)
        return Result(known[listed])

    return Operation(name, listed.summary, listed.command, Nothing, run, api=api)


@cache
def _parser(name: str) -> Parser:
    return open_parser(name)
