"""A saved query, which is a command line, as a method of `Database` with its options."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from sentgen.api.arguments import declare
from sentgen.errors import InputError
from sentgen.lookups.command_line import parse_parameter
from sentgen.lookups.question import Lookup
from sentgen.lookups.questions import QUESTIONS, check
from sentgen.options import NOT, Parameter, parameters_of
from sentgen.schema import readonly
from sentgen.schema.store import raw

#: Methods that have other names than their commands.
_METHODS = {"deps": "dependencies", "args": "arguments", "freq": "frequencies"}
#: How a command prints and waits, which Python does in its own way; those of the second line have a value.
_FLAGS = {"--csv", "--tsv", "--json", "--jsonl", "--bom", "--wide", "--show-sql", "--conllu"}
_VALUES = {"--width", "--memory-limit", "--timeout", "--wait", "--db"}


(_LIMIT,) = parameters_of(Lookup, ["limit"])


@dataclass(frozen=True, slots=True)
class _SavedCall:
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


def check_query(connection: Connection, line: str | Sequence[str]) -> _SavedCall:
    """Read a command line and look up what it names, without running it.

    Raises:
        SentgenError: running it would fail, or it is no command that can be saved.
    """
    command, *words = _words(line) or [""]
    call = read_query(command, words)
    if command == "sql":
        readonly.check(raw(connection), call.given["query"], call.given["parameters"])
    else:
        check(connection, declare(QUESTIONS[command], call.given))
    return call


def _words(line: str | Sequence[str]) -> list[str]:
    """Return the words of a command line behind the name of the program, if that is there."""
    try:
        words = shlex.split(line) if isinstance(line, str) else list(line)
    except ValueError as error:
        raise InputError(f"{line!r} is no command line: {error}; close each quote") from error
    return words[1:] if words[:1] == ["sentgen"] else words


def read_query(command: str, words: Sequence[str]) -> _SavedCall:
    """Read a command line as the command does.

    Raises:
        InputError: it cannot be saved, or an option cannot be read, or names a file.
    """
    if command == "sql":
        given = _sql(list(words))
    elif command in QUESTIONS:
        given = _named_options(command, parameters_of(QUESTIONS[command]), words)
    else:
        raise InputError(f"{command!r} cannot be saved; these commands can: {', '.join((*QUESTIONS, 'sql'))}")
    return _SavedCall(command, tuple(words), _METHODS.get(command, command), given)


def _sql(words: Sequence[str]) -> dict[str, Any]:
    arguments: list[str] = []
    values: dict[str, Any] = {}
    limit: Any = 0
    for name, value in _split(words, {"--param", "--limit", "-n"} | _VALUES):
        if not name:
            arguments.append(value)
        elif name == "--param":
            values |= [parse_parameter(value)]
        elif name in ("--limit", "-n"):
            limit = _LIMIT.read(value, "--limit")
        elif name not in _FLAGS | _VALUES:
            raise InputError(f"a saved sql has no option {name}")
    if len(arguments) != 1:
        raise InputError("sql takes one query; write it in quotes")
    # As `Database.sql` takes those of question marks: by their places.
    numbered = [values[str(position)] for position in range(1, len(values) + 1) if str(position) in values]
    return {"query": arguments[0], "parameters": numbered or values, "limit": limit}


def _named_options(command: str, parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command by name."""
    known = dict(_options(parameters))
    given: dict[str, Any] = {}
    arguments: list[str] = []
    for name, value in _split(
        words, {name for name, (parameter, _) in known.items() if not parameter.is_flag} | _VALUES
    ):
        if not name:
            arguments.append(value)
        elif name in known:
            parameter, off = known[name]
            if parameter.option.file:
                raise InputError(f"a saved query names no files; leave out {name}")
            if parameter.is_flag:
                given[parameter.name] = not off
            else:
                _add(given, parameter, f"{NOT}{value}" if off else value)
        elif name not in _FLAGS | _VALUES:
            raise InputError(f"a saved {command} has no option {name}; see sentgen {command} --help")
    for parameter in (parameter for parameter in parameters if parameter.option.argument):
        taken, arguments = (arguments, []) if parameter.is_list else (arguments[:1], arguments[1:])
        for text in taken:
            _add(given, parameter, text)
    if arguments:
        raise InputError(f"{command} has no place for {arguments[0]!r}; put several words into quotes")
    return given


def _options(parameters: Sequence[Parameter]) -> Iterator[tuple[str, tuple[Parameter, bool]]]:
    """Yield the names of options, and whether they say the opposite."""
    for parameter in parameters:
        if not parameter.option.argument:
            yield parameter.dashed, (parameter, False)
            yield parameter.off, (parameter, True)
            if parameter.option.short:
                yield parameter.option.short, (parameter, False)


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


def _add(given: dict[str, Any], parameter: Parameter, text: str) -> None:
    if parameter.is_list:
        given.setdefault(parameter.name, []).append(text)
    else:
        given[parameter.name] = parameter.read(text, parameter.dashed)
