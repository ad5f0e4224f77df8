"""The class of operations, which take a request and return a result, and know their command line."""

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

#: Options of commands that requests do not have, as the server has settings for them.
_OF_SERVER = {
    "memory_limit": "the server's memory (sentgen serve --worker-memory)",
    "parser": "the server's parser (sentgen serve --parser)",
}
#: Most hits whose tokens are returned: as many as a page shows.
MARKED = 500


@dataclass(frozen=True, slots=True)
class Context:
    """The store and the settings with which an operation works, inside a worker.

    ``store`` is open for reading only, cut off from the file system; the SQL worker has a ``locked``
    connection instead.
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
        """Return the file with the line sets of the client; ``None`` without a desk."""
        if not self.opening.desk:
            return None
        path = Path(self.opening.desk)
        return desk_of(path, [self.client]) if self.opening.apart else path

    def limit(self, request: int) -> int:
        """Return the number of rows to ask for: that of the request, at most that of the server."""
        return min(request or self.opening.limits.rows, self.opening.limits.rows)

    def check_size(self, words: Iterable[int], what: str) -> None:
        """Refuse a batch of too many items, or an item of too many words.

        ``words`` are the numbers of words, one per item; ``what`` is a noun for an item.

        Raises:
            InputError: there are too many items, or words in an item, whose number it names.
        """
        most = self.opening.limits.words
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
        """Write a text to a file that the library can read, in the folder of this worker."""
        # Never a name from a request; it is free, as a worker does one thing at a time.
        path = Path(name)
        path.write_text(text, encoding="utf-8", newline="\n")
        try:
            yield name
        finally:
            path.unlink()

    def ask(self, request: Question) -> Result:
        """Answer a question to the counts, for as many rows as the server gives."""
        with self.opened.connect() as connection:
            # The limit of the server is part of the SQL, so that no more rows are fetched.
            return Result.from_answer(replace(request, limit=self.limit(request.limit)).ask(connection))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an operation.

    Attributes:
        table: the rows.
        truncated: whether there are more rows.
        notes: the lines that the command prints on standard error.
        sql: the statements that give these rows, with their values, ready to be pasted.
        more: results that do not fit into a table, such as drawings.
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
    """An operation of the server.

    Attributes:
        name: name of the operation, and of its route unless ``path`` says otherwise.
        summary: description of the operation in one line.
        command: the words of the command that does the same.
        declaration: the class of its requests (see `sentgen.options`).
        run: the function that answers a request, by a call of the library; without it, the request is a
            question, which is asked itself.
        kind: kind of the workers that do it, set from the table of modules.
        method: `GET` with a query string, or `POST` with JSON.
        path: route below /v1; parts in braces are parameters.
        example: example of parameters, for the demo store.
        api: whether it has a route; operations without one are for the pages, and their command is `sql`.
        row: JSON Schema of a row, if its values are more than numbers and texts.
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
        """Return the command line that gives the same answer, without options that have their defaults.

        A text that the command reads from a file is replaced by a name of a file. A batch whose command takes
        one item is a command per item, on lines, with numbered files.
        """
        for parameter, value in values_of(request):
            if parameter.option.line == "each" and value:
                # An item may have further fields, such as an id, which do not change its answer.
                taken = [
                    {name: part for name, part in asdict(item).items() if hasattr(request, name)}
                    for item in value
                ]
                items = [replace(request, **{parameter.name: []}, **item) for item in taken]
                lines = (called(self.command, item, f"-{i}") for i, item in enumerate(items, 1))
                return "\n".join(lines)
        return called(self.command, request)

    def spelling(self) -> Spelling:
        """Return the function that names parameters in messages, in place of options of the command.

        >>> from sentgen.server.operations import operations
        >>> operations()["regenerate"].spelling()("verb_root", "--any-root")
        '`verb_root`: false'
        """
        names = {
            # A list whose values have names has an option of the command line for each value.
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
    """Return the operation for a listing, which all pages may ask for."""
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


_parser = cache(open_parser)
