"""Arguments of methods, with names, types and defaults of the command line and the server.

`sentgen.api.options` is written from the declarations, for type checkers and editors; here, arguments are
turned into a declaration, and methods get signatures that `help` can show.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from difflib import get_close_matches
from enum import Enum
from os import PathLike, fspath
from typing import TYPE_CHECKING, SupportsFloat, SupportsIndex, TypeVar, get_args, get_type_hints

from sentgen.errors import InputError
from sentgen.options import Declaration, Parameter, parameters_of
from sentgen.options import declared as declared_of

if TYPE_CHECKING:
    from sentgen.corpus.frames import Tabular

Owner = TypeVar("Owner")


def declare(declaration: type[Declaration], given: Mapping[str, object]) -> Declaration:
    """Return a declaration of the values that were given by name.

    A text is a list of one; a word stands for the member of an enumeration.

    Raises:
        InputError: there is no such option, one is missing, or a value cannot be one of it.
    """
    known = {parameter.name: parameter for parameter in parameters_of(declaration)}
    for name in given:
        if name not in known:
            raise InputError(f"there is no option {name!r}; {_instead(name, known)}")
    for parameter in known.values():
        if parameter.default is MISSING and parameter.name not in given:
            raise InputError(f"`{parameter.name}` is missing: {parameter.option.help}")
    return declared_of(declaration, {name: _value(known[name], value) for name, value in given.items()})


def table_or_paths(given: object) -> tuple[Tabular | None, list[str]]:
    """Return a table in memory and no paths, or no table and a list of paths.

    Raises:
        InputError: the value is neither a table, nor a path or several.
    """
    from sentgen.corpus.frames import is_table

    if isinstance(given, (str, PathLike)):
        return None, [fspath(given)]
    if is_table(given):
        return given, []
    listed = list(given) if isinstance(given, Iterable) else [given]
    if is_table(listed):
        return listed, []
    wrong = next((item for item in listed if not isinstance(item, (str, PathLike))), None)
    if wrong is not None:
        message = f"{type(wrong).__name__} is neither a path nor a table; give paths, a data frame, or dicts"
        raise InputError(message)
    return None, [fspath(item) for item in listed if isinstance(item, (str, PathLike))]


def _instead(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"


def _value(parameter: Parameter, value: object) -> object:
    if value is None and parameter.optional:
        return None
    # A parameter for numbers or texts takes the text.
    kind, *others = parameter.kinds
    if others and isinstance(value, str):
        (kind,) = others
    if parameter.is_list:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, Iterable) or not all(isinstance(item, str) for item in items):
            raise InputError(f"`{parameter.name}` is a text, or several; {value!r} is none")
        return list(items)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(parameter.name, kind, value)
    return _check_bounds(parameter, _READERS.get(kind, _text)(parameter.name, value))


def _member(name: str, kind: type[Enum], value: object) -> Enum:
    try:
        return kind(value)
    except ValueError as error:
        listed = ", ".join(str(member.value) for member in kind)
        raise InputError(f"`{name}` {value!r} is none of: {listed}") from error


def _check_bounds(parameter: Parameter, value: object) -> object:
    least, most = parameter.option.least, parameter.option.most
    if isinstance(value, (int, float)):
        if least is not None and value < least:
            raise InputError(f"`{parameter.name}` {value} is less than {least:g}")
        if most is not None and value > most:
            raise InputError(f"`{parameter.name}` {value} is more than {most:g}")
    return value


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"`{name}` is True or False; {value!r} is neither")
    return value


def _whole(name: str, value: object) -> int:
    if not isinstance(value, SupportsIndex):  # integers, also of numpy, but nothing that would be rounded
        raise InputError(f"`{name}` is a whole number; {value!r} is none")
    return operator.index(value)


def _number(name: str, value: object) -> float:
    if isinstance(value, (str, bytes)) or not isinstance(value, (SupportsFloat, SupportsIndex)):
        raise InputError(f"`{name}` is a number; {value!r} is none")
    return float(value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"`{name}` is a text; {value!r} is none")
    return value


#: Functions that read values by type; values of other types are texts.
_READERS: dict[object, Callable[[str, object], object]] = {bool: _truth, int: _whole, float: _number}


def with_signatures(owner: type[Owner]) -> type[Owner]:
    """Give the methods of a class that take ``**options`` the signature and the description of each.

    Their annotations name a class of `sentgen.api.options`: type, default and help of each option.
    """
    for method in vars(owner).values():
        if inspect.isfunction(method) and (annotation := method.__annotations__.get("options")):
            # Evaluated, as all modules import `annotations` from `__future__`, so it is a text.
            (options,) = get_args(eval(annotation, method.__globals__))
            _describe(method, options)
    return owner


def _describe(method: Callable[..., object], options: type) -> None:
    signature = inspect.signature(method)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    option_lines = []
    for name, hint in get_type_hints(options, include_extras=True).items():
        kind, (default, about) = hint.__origin__, hint.__metadata__
        own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
        option_lines.append(f"    {name}: {about}")
    method.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    method.__doc__ = "\n".join([inspect.cleandoc(method.__doc__ or ""), "", "Options:", *option_lines])


def corpora_in(call: str) -> list[str]:
    """Return the corpora that a call of a method names; none of what is no call.

    >>> corpora_in('db.kwic("home", corpus=["news", "web"])'), corpora_in('db.keyness("web", "news")')
    (['news', 'web'], ['web', 'news'])
    """
    try:
        nodes = list(ast.walk(ast.parse(call.strip(), mode="eval")))
    except (SyntaxError, ValueError):
        return []
    corpora: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Call):
            compared = isinstance(node.func, ast.Attribute) and node.func.attr == "keyness"
            names = {"corpus", "against"} if compared else {"corpus"}
            given = [
                *(node.args if compared else []),
                *(part.value for part in node.keywords if part.arg in names),
            ]
            words = (
                part.value for each in given for part in ast.walk(each) if isinstance(part, ast.Constant)
            )
            corpora += [word for word in words if isinstance(word, str)]
    return corpora
