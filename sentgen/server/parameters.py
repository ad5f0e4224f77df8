"""Parameters of requests: pydantic models of declarations, and messages about invalid values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING
from difflib import get_close_matches
from functools import cache, partial
from itertools import takewhile
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticSerializationError

from sentgen.errors import InputError, spelling
from sentgen.options import ApiBounds, Parameter, declared, parameters_of
from sentgen.output.wording import either
from sentgen.server import wire
from sentgen.server.operations.operation import Operation
from sentgen.server.problems import Refused
from sentgen.server.wire import Call

#: A field's information for pydantic, which does not inspect a declaration within another one.
_NO_UNICODE = ErrorDetails(type="string_unicode", loc=(), msg="", input=None)


class Parameters(BaseModel):
    """Parameters of an operation, named as the options of its command."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1_000_000)


def parameters(operation: Operation, *, without: Iterable[str] = ()) -> type[Parameters]:
    """Return the parameters of an operation as a pydantic model, without some of them."""
    return _model(operation.name.capitalize(), operation.declaration, tuple(without))


@cache
def _model(name: str, declaration: type, without: Sequence[str]) -> type[Parameters]:
    taken = {key: field for key, field in fields_of(declaration).items() if key not in without}
    return create_model(name, __base__=Parameters, __doc__=declaration.__doc__, **taken)


def fields_of(declaration: type) -> dict[str, Any]:
    """Return the fields of a model by name, each with its type and description."""
    return {each.name: (each.kind, _field(each)) for each in parameters_of(declaration)}


def _field(parameter: Parameter) -> Any:
    """Return a parameter as pydantic reads it."""
    option = parameter.option
    position = option.line or ("positional" if option.argument else None)
    about = {
        "x-command-line": position,
        "x-file": option.file,
        "x-option": option.short if position == "named" else "",
        # Three values: not given, on and off, which has its own option on the command line.
        "x-off": option.off if parameter.kind == bool | None else "",
    }
    extra = {name: text for name, text in about.items() if text}
    bounds: ApiBounds = {"ge": option.least, "le": option.most, **option.api}
    field = partial(Field, description=option.help, json_schema_extra=extra or None, **bounds)
    if parameter.default is MISSING:
        return field()
    # Else pydantic would share one list among all requests.
    shared = isinstance(parameter.default, list)
    return field(default_factory=list) if shared else field(default=parameter.default)


def read(operation: Operation, given: Mapping[str, object]) -> Call:
    """Return the call of an operation with parameters by name.

    Raises:
        Refused: a parameter is invalid, or some exclude each other.
    """
    try:
        return call(operation, dict(parameters(operation).model_validate(given)))
    except ValidationError as error:
        raise Refused(422, "parameters", mistakes_in(error.errors(), operation.names())) from error


def call(operation: Operation, values: Mapping[str, object]) -> Call:
    """Return the call of an operation with values that are each valid by itself.

    Raises:
        Refused: the values exclude each other, or are no Unicode.
    """
    try:
        with spelling(operation.spelling()):
            return Call(operation.name, wire.encode(declared(operation.declaration, values)))
    except InputError as error:
        raise Refused(400, "input", str(error)) from error
    except PydanticSerializationError as error:
        raise Refused(422, "parameters", mistakes_in([_NO_UNICODE])) from error


#: Maximal number of errors that a message names.
_MOST = 5
#: Messages by pydantic's error types, with placeholders for the context of an error.
_MISTAKES = {
    "missing": "is missing",
    "string_type": "give a text",
    "string_too_long": "give {max_length} characters at most",
    "string_too_short": "give {min_length} characters or more",
    "string_unicode": "what came is not UTF-8; give a text",
    "string_pattern_mismatch": "give a text such as {pattern}",
    "int_type": "give a whole number",
    "int_parsing": "give a whole number",
    "int_parsing_size": "give a whole number of fewer digits",
    "int_from_float": "give a whole number",
    "float_type": "give a number",
    "float_parsing": "give a number",
    "finite_number": "give a number, not nan and not endless",
    "bool_type": "give true or false",
    "bool_parsing": "give true or false",
    "enum": "give one of {expected}",
    "literal_error": "give one of {expected}",
    "greater_than": "give more than {gt}",
    "greater_than_equal": "give {ge} or more",
    "less_than": "give less than {lt}",
    "less_than_equal": "give {le} or less",
    "list_type": "give a list",
    "too_long": "give {max_length} at most, not {actual_length}",
    "too_short": "give {min_length} or more",
    "dict_type": "give an object",
    "model_type": "give an object",
    "model_attributes_type": "give an object",
    "dataclass_type": "give an object",
    "none_required": "give null",
    "json_invalid": "is no JSON",
}
_OTHER = "is not such as can be taken; /v1/openapi.json says what can"
#: If several types are tried, the path of an error continues with pydantic's name of the type.
_KINDS = ("str", "int", "float", "bool")


def mistakes_in(errors: Sequence[ErrorDetails], names: Collection[str] = (), *, inside: int = 0) -> str:
    """Return pydantic's errors as a message of one line.

    Args:
        errors: the errors of pydantic.
        names: the valid names of parameters.
        inside: depth of the parameters in a request.
    """
    # Without the input, which pydantic has as well: it may be as long as the request.
    return "; ".join([*dict.fromkeys(_each(errors, names, inside))][:_MOST])


def _each(errors: Sequence[ErrorDetails], names: Collection[str], inside: int) -> Iterator[str]:
    for error in errors:
        kind, path = str(error["type"]), list(error["loc"])[inside:]
        if kind == "json_invalid":  # the path is the position of a character
            path = []
        whole = list(takewhile(_is_ours, path))
        message = _OTHER if len(whole) < len(path) else _message(kind, error.get("ctx", {}))
        if kind == "extra_forbidden":
            whole, message = path, _unknown(str(path[-1]), names if len(path) == 1 else ())
        yield f"{'.'.join(map(str, whole)) or 'the body'}: {message}"


def _is_ours(part: object) -> bool:
    """Return whether a part of a path is the number of an item, or the name of a parameter."""
    return isinstance(part, int) or (str(part).isidentifier() and part not in _KINDS)


def _message(kind: str, about: Mapping[str, object]) -> str:
    if kind in ("value_error", "assertion_error"):
        return str(about.get("error") or _OTHER)
    try:
        return _MISTAKES.get(kind, _OTHER).format_map(
            {name: str(value).replace("'", "") for name, value in about.items()}
        )
    except (KeyError, IndexError):  # another version of pydantic has another context
        return _OTHER


def _unknown(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name, names, n=2)
    if near:
        return f"there is no such parameter, did you mean {either(near)}?"
    listed = f"; there are {', '.join(sorted(names))}" if names else ""
    return f"there is no such parameter{listed}"
