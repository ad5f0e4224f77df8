"""Parameters of requests: what a declaration takes, as pydantic and FastAPI read it, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from functools import cache, partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticSerializationError

from sentgen.errors import InputError
from sentgen.options import ApiBounds, Parameter, declared, parameters_of
from sentgen.server import mistakes, wire
from sentgen.server.operations import Operation
from sentgen.server.problems import Refused
from sentgen.server.wire import Call
from sentgen.server.wording import in_words_of

#: As pydantic tells it, which does not look at what is in a declaration within another one.
_NO_UNICODE = ErrorDetails(type="string_unicode", loc=(), msg="", input=None)


class Parameters(BaseModel):
    """Parameters of an operation, named as the options of its command."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1_000_000)


def parameters(operation: Operation, *, without: Iterable[str] = ()) -> type[Parameters]:
    """Return what an operation takes as a model of pydantic, without those that come another way."""
    return _model(operation.name.capitalize(), operation.declaration, tuple(without))


@cache
def _model(name: str, declaration: type, without: Sequence[str]) -> type[Parameters]:
    taken = {key: field for key, field in fields_of(declaration).items() if key not in without}
    return create_model(name, __base__=Parameters, __doc__=declaration.__doc__, **taken)


def fields_of(declaration: type) -> dict[str, Any]:
    """Return the fields of a model by name: type, and what is told of it."""
    return {one.name: (one.kind, _field(one)) for one in parameters_of(declaration)}


def _field(one: Parameter) -> Any:
    """Return a parameter as pydantic reads it."""
    option = one.option
    place = option.line or ("positional" if option.argument else None)
    said = {
        "x-command-line": place,
        "x-file": option.file,
        "x-option": option.short if place == "named" else "",
        # Three values: not given, on and off; off has an option of its own name.
        "x-off": option.off if one.kind == bool | None else "",
    }
    extra = {name: text for name, text in said.items() if text}
    bounds: ApiBounds = {"ge": option.least, "le": option.most, **option.api}
    field = partial(Field, description=option.help, json_schema_extra=extra or None, **bounds)
    if one.default is MISSING:
        return field()
    # Pydantic would let all requests share one list.
    return field(default_factory=list) if isinstance(one.default, list) else field(default=one.default)


def read(operation: Operation, given: Mapping[str, object]) -> Call:
    """Return the call of an operation with parameters by name.

    Raises:
        Refused: they are not such as can be taken, or exclude each other.
    """
    try:
        return call(operation, dict(parameters(operation).model_validate(given)))
    except ValidationError as error:
        raise Refused(422, "parameters", mistakes.told(error.errors(), names_of(operation))) from error


def call(operation: Operation, values: Mapping[str, object]) -> Call:
    """Return the same with values that are valid each by itself.

    Raises:
        Refused: they exclude each other, or are no Unicode.
    """
    try:
        return Call(operation.name, wire.encode(declared(operation.declaration, values)))
    except InputError as error:
        raise Refused(400, "input", in_words_of(operation, str(error))) from error
    except PydanticSerializationError as error:
        raise Refused(422, "parameters", mistakes.told([_NO_UNICODE])) from error


def names_of(operation: Operation) -> list[str]:
    """Return the names of the parameters of an operation."""
    return [one.name for one in parameters_of(operation.declaration)]
