"""What an operation is: parameters in, a result out, and the command line that gives the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from sentgen.corpus.parsers import Parser, open_parser
from sentgen.errors import InputError
from sentgen.lookups.statement import Answer
from sentgen.options import Declaration, Parameter, declared, parameters_of
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.placeholders import written
from sentgen.server.settings import Kind
from sentgen.server.wire import Opening

#: Where a parameter stands on the command line, if it is no option: see `command_line`.
# `hidden` alters what comes with the rows only; of `each`, every item has a command of its own.
POSITIONAL, HIDDEN, NAMED, EACH = "positional", "hidden", "named", "each"
#: Of an option that the command line does not have.
ONLY_HERE = {"json_schema_extra": {"x-command-line": HIDDEN}}
#: Hits whose tokens are told: as many as a page shows.
MARKED = 500


class Parameters(BaseModel):
    """Parameters of an operation, named as the options of its command."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_enum_values=False, str_max_length=1_000_000)


def parameters(declaration: type, name: str = "") -> type[Parameters]:
    """Return the parameters that a class declares (see `sentgen.options`), under its name or another one."""
    fields: dict[str, Any] = {one.name: (one.kind, _field(one)) for one in parameters_of(declaration)}
    about = declaration.__doc__
    return create_model(name or declaration.__name__, __base__=Parameters, __doc__=about, **fields)


def taking(
    declaration: type[Declaration], run: Callable[[Context, Declaration], Result]
) -> Callable[[Context, Parameters], Result]:
    """Return the function of an operation that takes what a class declares."""
    return lambda context, given: run(context, declared(declaration, dict(given)))


def _field(one: Parameter) -> Any:
    """Return a parameter as pydantic reads it."""
    option, told = one.option, dict(one.option.api)
    extra: dict[str, Any] = {"x-command-line": POSITIONAL} if option.argument else {}
    extra |= {"x-file": option.file} if option.file else {}
    extra |= told.pop("json_schema_extra", {})
    # Three values: not given, on and off; off has an option of its own name.
    if option.off and one.kind == bool | None:
        extra["x-off"] = option.off
    told = {"description": option.help, "ge": option.least, "le": option.most, **told}
    # Pydantic would let all requests share one list.
    if isinstance(one.default, list):
        told["default_factory"] = list
    elif one.default is not MISSING:
        told["default"] = one.default
    return Field(json_schema_extra=extra or None, **told)


Limit = Annotated[int, Field(ge=0, le=1_000_000, description="Rows; 0 for as many as the server gives.")]


@dataclass(frozen=True, slots=True)
class Context:
    """What an operation works on, inside a worker.

    ``store`` is open for reading only, with its locks; the SQL worker has none, and opens one by itself.
    """

    opening: Opening
    store: Store | None = None
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def opened(self) -> Store:
        """Return the store."""
        if self.store is None:
            raise RuntimeError("this worker has no store")
        return self.store

    def limit(self, asked: int) -> int:
        """Return how many rows to ask the library for: what was asked, at most what the server gives."""
        return min(asked or self.opening.rows, self.opening.rows)

    def check_size(self, words: Iterable[int], what: str, *, most: int = 0) -> None:
        """Refuse a batch of too many items, or an item of too many words; ``words`` has one number an item.

        Args:
            words: of each item.
            what: an item is.
            most: words that an item may have; what the server takes of most things if not given.

        Raises:
            InputError: with the number of the item.
        """
        most = most or self.opening.words
        for number, size in enumerate(words, 1):
            if number > self.opening.items:
                raise InputError(f"more than {self.opening.items} in one request; send a {what} fewer")
            if size > most:
                raise InputError(f"{what} {number} has {quantity(size, 'word')}; at most {most} are taken")

    @property
    def parser(self) -> Parser | None:
        """Return the parser of the server, if it has one."""
        if self.opening.parser and "parser" not in self.state:
            self.state["parser"] = open_parser(self.opening.parser)
        return self.state.get("parser")

    @contextmanager
    def file(self, name: str, text: str) -> Iterator[str]:
        """Write a text where the library can read it, in the folder of this worker."""
        # A name of ours, never one that was sent; a worker does one thing at a time, so that it is free.
        path = Path(name)
        path.write_text(text, encoding="utf-8")
        try:
            yield name
        finally:
            path.unlink()


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

    table: pa.Table | Rows
    truncated: bool = False
    notes: Sequence[str] = ()
    sql: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that the server does.

    Attributes:
        name: of the operation, and of its route unless ``path`` says otherwise.
        summary: what it does, in one line.
        command: the words of the command that does the same.
        parameters: what it takes.
        run: the function; it calls the library and nothing else.
        kind: whose workers do it.
        method: `GET` with a query string, or `POST` with JSON.
        path: its route below /v1; parts in braces are parameters.
        example: parameters that can be tried with the demo store.
        api: whether it has a route; the others are for the pages, and their command is `sql`.
    """

    name: str
    summary: str
    command: str
    parameters: type[Parameters]
    run: Callable[[Context, Any], Result]
    kind: Kind = "lookup"
    method: Literal["GET", "POST"] = "GET"
    path: str = ""
    example: Mapping[str, Any] = field(default_factory=dict)
    api: bool = True

    @property
    def route(self) -> str:
        """Return the path of its route."""
        return f"/v1/{self.path or self.name}"


def command_line(operation: Operation, parameters: Parameters) -> str:
    """Return the command that gives the same answer; parameters that have their defaults are left out.

    Options are the names of the parameters. A truth value that is true by default has the option of its
    ``x-off``; a text that the command reads from a file stands as the name of one; values with names are
    those of the option ``x-option``. A batch whose command takes one at a time is a command a line, the files
    of which have a number.
    """
    items = _items(parameters)
    if not items:
        return _one_command(operation, parameters)
    numbered = enumerate(items, 1)
    return "\n".join(_one_command(operation, one, f"-{number}") for number, one in numbered)


def extra_of(about: FieldInfo) -> dict[str, Any]:
    """Return what is said of a parameter besides: where it stands on the command line."""
    return about.json_schema_extra if isinstance(about.json_schema_extra, dict) else {}


def _items(parameters: Parameters) -> list[Parameters]:
    """Return the parameters of each item alone, if they have a batch of items."""
    for name, about in type(parameters).model_fields.items():
        if extra_of(about).get("x-command-line") == EACH:
            items: list[BaseModel] = getattr(parameters, name)
            return [parameters.model_copy(update={name: [], **dict(item)}) for item in items]
    return []


def _one_command(operation: Operation, parameters: Parameters, number: str = "") -> str:
    words = ["sentgen", *operation.command.split()]
    options: list[str] = []
    for name, about in type(parameters).model_fields.items():
        value = getattr(parameters, name)
        extra = extra_of(about)
        place = extra.get("x-command-line")
        if (
            value is None
            or place in (HIDDEN, EACH)
            or (value == about.get_default(call_default_factory=True) and (place != POSITIONAL or not value))
        ):
            continue
        # A text is too long for a command line, which reads it from a file.
        if "x-file" in extra:
            option = [] if place == POSITIONAL else [_option(name)]
            (words if place == POSITIONAL else options).extend([*option, f"{extra['x-file']}{number}"])
        elif place == NAMED:
            by_name = value if isinstance(value, dict) else {str(i): one for i, one in enumerate(value, 1)}
            for each in by_name.items():
                options += [str(extra["x-option"]), written(*each)]
        elif place == POSITIONAL:
            words += map(str, value) if isinstance(value, list) else [str(value)]
        elif isinstance(value, bool):
            options.append(_option(name) if value else str(extra.get("x-off", _option(f"no_{name}"))))
        else:
            for item in value if isinstance(value, list) else [value]:
                options += [_option(name), str(item)]
    return shlex.join([*words, *options])


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def answered(answer: Answer) -> Result:
    """Return the result of a question to the counts, with the notes of its command."""
    more: dict[str, Any] = {} if answer.total is None else {"total": answer.total}
    if answer.near:
        more["near"] = answer.near
    return Result(answer.found, answer.truncated, answer.notes, (answer.query.filled(),), more)
