"""Messages of the library in the words of the API: the library names options of commands."""

from __future__ import annotations

import re

from sentgen.options import parameters_of
from sentgen.server.operations.operation import Operation

#: An option, or a whole command, whose options are its own.
_OPTION = re.compile(r"(?P<command>\bsentgen [a-z][^;,`()]*)|(?<![\w-])--(?P<option>[a-z][a-z-]*)")
#: What a command is told and a request is not, as whoever runs the server has decided it.
_OF_SERVER = {
    "memory-limit": "the server's memory (sentgen serve --worker-memory)",
    "parser": "the server's parser (sentgen serve --parser)",
}


def in_words_of(operation: Operation, message: str) -> str:
    """Return a message with parameters of an operation in the place of the options of its command.

    >>> from sentgen.server.operations import operations
    >>> in_words_of(operations()["align"], "--model and --system exclude each other; see sentgen -h")
    '`model` and `system` exclude each other; see sentgen -h'
    """
    named = _named(operation)

    def replaced(match: re.Match[str]) -> str:
        option = match["option"]
        if not option:
            return match[0]
        return named.get(option) or _OF_SERVER.get(option) or match[0]

    return _OPTION.sub(replaced, message)


def _named(operation: Operation) -> dict[str, str]:
    """Return what each option of the command is called, without its dashes."""
    named: dict[str, str] = {}
    for one in parameters_of(operation.declaration):
        option = one.option.short if one.option.line == "named" else one.dashed
        named |= {option[2:]: f"`{one.name}`", one.off[2:]: f"`{one.name}`: false"}
    return named
