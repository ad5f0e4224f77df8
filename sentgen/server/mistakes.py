"""What is wrong with the parameters of a request, in our words: pydantic tells it in those of Python."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile

from pydantic_core import ErrorDetails

from sentgen.output.wording import either

#: The most mistakes that are told.
_MOST = 5
#: Kinds of mistakes, as pydantic calls them; in braces stands what it tells of one.
_TOLD = {
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
#: Where several kinds of values are tried, the place goes on with what pydantic calls the kind.
_KINDS = ("str", "int", "float", "bool")


def told(errors: Sequence[ErrorDetails], names: Collection[str] = (), *, inside: int = 0) -> str:
    """Return in one line what is wrong.

    Args:
        errors: as pydantic tells them.
        names: the parameters that there are.
        inside: how deep in a request parameters are.
    """
    # Never the input, which pydantic tells as well: it may be as long as the request.
    found = dict.fromkeys(_each(errors, names, inside))
    return "; ".join([*found][:_MOST])


def _each(errors: Sequence[ErrorDetails], names: Collection[str], inside: int) -> Iterator[str]:
    for error in errors:
        kind, place = str(error["type"]), list(error["loc"])[inside:]
        if kind == "json_invalid":  # the place is that of a character
            place = []
        whole = list(takewhile(_is_ours, place))
        message = _OTHER if len(whole) < len(place) else _message(kind, error.get("ctx", {}))
        if kind == "extra_forbidden":
            whole, message = place, _unknown(str(place[-1]), names if len(place) == 1 else ())
        yield f"{'.'.join(map(str, whole)) or 'the body'}: {message}"


def _is_ours(part: object) -> bool:
    """Say whether a part of a place is a number of an item, or the name of a parameter."""
    return isinstance(part, int) or (str(part).isidentifier() and part not in _KINDS)


def _message(kind: str, about: Mapping[str, object]) -> str:
    if kind in ("value_error", "assertion_error"):
        return str(about.get("error") or _OTHER)
    try:
        return _TOLD.get(kind, _OTHER).format_map(
            {name: str(value).replace("'", "") for name, value in about.items()}
        )
    except (KeyError, IndexError):  # of another version of pydantic
        return _OTHER


def _unknown(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name, names, n=2)
    if near:
        return f"there is no such parameter, did you mean {either(near)}?"
    listed = f"; there are {', '.join(sorted(names))}" if names else ""
    return f"there is no such parameter{listed}"
