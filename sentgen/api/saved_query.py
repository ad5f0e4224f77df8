"""A saved query, which is a command line, as a method of `Database` with its options."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from sqlalchemy import Connection

from sentgen.api.arguments import declared
from sentgen.errors import InputError
from sentgen.lookups.questions import QUESTIONS, check
from sentgen.options import NOT, Parameter, parameters_of
from sentgen.schema import readonly
from sentgen.schema.placeholders import named
from sentgen.schema.store import raw

#: Methods that have other names than their commands.
_METHODS = {"deps": "dependencies", "args": "arguments", "freq": "frequencies"}
#: How a command prints and waits, which Python does in its own way; those of the second line have a value.
_FLAGS = {"--csv", "--tsv", "--json", "--jsonl", "--bom", "--wide", "--show-sql", "--conllu"}
_VALUES = {"--width", "--memory-limit", "--timeout", "--wait", "--db"}


@dataclass(frozen=True, slots=True)
class SavedCall:
    """A saved query.

    Attributes:
        command: the command that it is of.
        words: what that is given.
        method: of `Database`, which does the same.
        given: to the method, by name.
    """

    command: str
    words: tuple[str, ...]
    method: str
    given: dict[str, Any]


def checked(connection: Connection, line: str | Sequence[str]) -> SavedCall:
    """Read a command line and look up what it names, without running it.

    Raises:
        SentgenError: running it would fail, or it is no command that can be saved.
    """
    command, *words = _words(line) or [""]
    call = read(command, words)
    if command == "sql":
        readonly.check(raw(connection), call.given["query"], call.given["parameters"])
    else:
        check(connection, declared(QUESTIONS[command], call.given))
    return call


def _words(line: str | Sequence[str]) -> list[str]:
    """Return the words of a command line behind the name of the program, if that is there."""
    try:
        words = shlex.split(line) if isinstance(line, str) else list(line)
    except ValueError as error:
        raise InputError(f"{line!r} is no command line: {error}; close each quote") from error
    return words[1:] if words[:1] == ["sentgen"] else words


def read(command: str, words: Sequence[str]) -> SavedCall:
    """Read a command line as the command does.

    Raises:
        InputError: it cannot be saved, or an option cannot be read, or names a file.
    """
    if command == "sql":
        given = _sql(list(words))
    elif command in QUESTIONS:
        given = _given(command, parameters_of(QUESTIONS[command]), words)
    else:
        raise InputError(f"{command!r} cannot be saved; these commands can: {', '.join((*QUESTIONS, 'sql'))}")
    return SavedCall(command, tuple(words), _METHODS.get(command, command), given)


def _sql(words: Sequence[str]) -> dict[str, Any]:
    places: list[str] = []
    values: dict[str, Any] = {}
    limit = 0
    for name, value in _split(words, {"--param", "--limit", "-n"} | _VALUES):
        if not name:
            places.append(value)
        elif name == "--param":
            values |= [named(value)]
        elif name in ("--limit", "-n"):
            limit = _number("--limit", int, value)
        elif name not in _FLAGS | _VALUES:
            raise InputError(f"a saved sql has no option {name}")
    if len(places) != 1:
        raise InputError("sql takes one query; write it in quotes")
    # As `Database.sql` takes those of question marks: by their places.
    numbered = [values[str(place)] for place in range(1, len(values) + 1) if str(place) in values]
    return {"query": places[0], "parameters": numbered or values, "limit": limit}


def _given(command: str, parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command by name."""
    known = dict(_options(parameters))
    given: dict[str, Any] = {}
    places: list[str] = []
    for name, value in _split(
        words, {name for name, (one, _) in known.items() if not _is_flag(one)} | _VALUES
    ):
        if not name:
            places.append(value)
        elif name in known:
            one, off = known[name]
            if one.option.file:
                raise InputError(f"a saved query names no files; leave out {name}")
            _add(given, one, not off if _is_flag(one) else f"{NOT}{value}" if off else value)
        elif name not in _FLAGS | _VALUES:
            raise InputError(f"a saved {command} has no option {name}; see sentgen {command} --help")
    for one in (one for one in parameters if one.option.argument):
        taken, places = (places, []) if _is_list(one) else (places[:1], places[1:])
        for text in taken:
            _add(given, one, text)
    if places:
        raise InputError(f"{command} has no place for {places[0]!r}; put several words into quotes")
    return given


def _options(parameters: Sequence[Parameter]) -> Iterator[tuple[str, tuple[Parameter, bool]]]:
    """Yield the names of options, and whether they say the opposite."""
    for one in parameters:
        if not one.option.argument:
            yield one.dashed, (one, False)
            yield one.off, (one, True)
            if one.option.short:
                yield one.option.short, (one, False)


def _split(words: Sequence[str], valued: set[str]) -> Iterator[tuple[str, str]]:
    """Yield options with their values, and without a name what stands in its place."""
    following = iter(words)
    for word in following:
        if word == "--":
            yield from (("", each) for each in following)
        elif not word.startswith("-") or word == "-":
            yield "", word
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            yield name, (value if equals else _next(name, following) if name in valued else "")
        else:  # -n5 or -n 5
            yield word[:2], word[2:] or (_next(word, following) if word in valued else "")


def _next(name: str, following: Iterator[str]) -> str:
    value = next(following, None)
    if value is None:
        raise InputError(f"{name} needs a value")
    return value


def _add(given: dict[str, Any], one: Parameter, value: str | bool) -> None:
    if _is_list(one):
        given.setdefault(one.name, []).append(value)
        return
    kinds = [kind for kind in _kinds(one) if kind is not NoneType]
    # Of a number or a text, which the library reads.
    given[one.name] = _number(one.dashed, kinds[0], value) if kinds in ([int], [float]) else value


def _number(name: str, kind: Any, value: str | bool) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(f"{name} is a number; {value!r} is none") from error


def _kinds(one: Parameter) -> tuple[Any, ...]:
    return get_args(one.kind) if get_origin(one.kind) in (Union, UnionType) else (one.kind,)


def _is_flag(one: Parameter) -> bool:
    return bool in _kinds(one)


def _is_list(one: Parameter) -> bool:
    return get_origin(one.kind) is list
