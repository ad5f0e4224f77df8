"""How every command reads its words, beyond what Typer does of itself.

Options that may stand once are refused where they stand twice, as one of the values would be lost. An option
and its opposite, such as ``--within 3L`` and ``--without 3L``, are values of one list, so that their order is
kept; those of the opposite begin with ``not``. Values that cannot be wrong are not checked. Wherever there is
``--db``, ``--wait`` says how long to wait for a store that another process has.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from sentgen.options import NOT

#: What a context holds in which later options are meant to take the place of earlier ones.
LATER_WINS = "later options win"
#: Longer than ten million tokens, or a model of them, take to be written (benchmarks/readers.py).
_SECONDS = 10.0


def adapt(command: TyperCommand | TyperGroup) -> None:
    """Let a command read its words so."""
    names = [parameter.name for parameter in command.params]
    if "db" in names and "wait" not in names:
        command.params.insert(names.index("db") + 1, _wait_option())
    opposites = {
        option.opts[1]: option.opts[0]
        for option in command.params
        # The other name may be a short one of the same.
        if [name[:2] for name in option.opts] == ["--", "--"] and getattr(option, "multiple", False)
    }
    command.parse_args = partial(_parse, command.parse_args, opposites)  # type: ignore[method-assign]
    skip_checks(command)


def _parse(
    parse: Callable[[Any, list[str]], list[str]], opposites: Mapping[str, str], context: Any, words: list[str]
) -> list[str]:
    words = list(_replace_opposites(words, opposites))
    if not context.resilient_parsing and context.obj != LATER_WINS:
        refuse_repeated(context, words)
    return parse(context, words)


def _replace_opposites(words: list[str], opposites: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of a command line, an opposite as the option whose value says so.

    >>> words = ["a", "--without", "3L", "--without=b", "--", "--without"]
    >>> list(_replace_opposites(words, {"--without": "--within"}))
    ['a', '--within', 'not 3L', '--within=not b', '--', '--without']
    """
    following = iter(words)
    for word in following:
        if word == "--":
            yield word
            break
        name, equals, value = word.partition("=")
        if name not in opposites:
            yield word
        elif equals:
            yield f"{opposites[name]}={NOT}{value}"
        else:
            yield opposites[name]
            # Without a value it is refused as the other one.
            yield from (f"{NOT}{value}" for value in islice(following, 1))
    yield from following


def refuse_repeated(context: Any, words: Sequence[str]) -> None:
    """Refuse words in which an option that is no list stands twice, as a mistake in the command line."""
    _, _, order = context.command.make_parser(context).parse_args(list(words))
    numbers = Counter(map(id, order))
    for option in order:
        lists = getattr(option, "multiple", False) or option.param_type_name == "argument"
        if numbers[id(option)] > 1 and not lists and option.name not in context.help_option_names:
            name = max(option.opts, key=len)
            context.fail(f"{name} is given {numbers[id(option)]} times, and takes one value; give it once")


def skip_checks(command: TyperCommand | TyperGroup) -> None:
    """Let a command take what was left out, any text where text is wanted, and files that can be read.

    For all other values Typer imports pydantic, which takes 0.05 CPU s; these come out as from there.
    """
    parameters = inspect.signature(command.callback).parameters if command.callback else {}
    kinds = {name: getattr(each.annotation, "__origin__", None) for name, each in parameters.items()}
    command.get_params = partial(_parameters, command.get_params, kinds)  # type: ignore[method-assign]


def _parameters(get: Callable[[Any], list[Any]], kinds: Mapping[str, Any], context: Any) -> list[Any]:
    """Return the parameters of a command, with those that Typer adds when it first asks for them."""
    parameters = get(context)
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            kind = kinds.get(parameter.name)
            parameter.process_value = partial(
                _process, parameter.process_value, parameter, {kind, *get_args(kind)}
            )
    return parameters


def _process(
    process: Callable[[Any, Any], Any], parameter: Any, kinds: set[object], context: Any, value: Any
) -> Any:
    """Return the value of a parameter as Typer does."""
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if parameter.required and not value:
        return process(context, value)
    if value is None:
        value = () if several else None
    elif several and value and list[str] in kinds:
        value = list(value)
    elif isinstance(value, str) and Path in kinds and os.access(value, os.R_OK):
        value = Path(value)
    elif several or not (value is parameter.default or (isinstance(value, str) and str in kinds)):
        return process(context, value)
    return parameter.callback(context, parameter, value) if parameter.callback else value


def _note_wait(context: typer.Context, seconds: float) -> float:
    """Tell the library, and under which name this process is known to others that wait for it."""
    if context.resilient_parsing:  # a TAB waits for nothing
        return seconds
    from sentgen.schema.durability.write_lock import lock_policy

    lock_policy.wait, lock_policy.command = seconds, context.command_path
    return seconds


@cache
def _wait_option() -> TyperOption:
    """Return the option, as Typer makes it."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def command(
        wait: Annotated[
            float,
            typer.Option(
                "--wait",
                metavar="SECONDS",
                min=0,
                envvar="SENTGEN_WAIT",
                show_envvar=False,
                callback=_note_wait,
                help="How long to wait for a store that another process has. Also: $SENTGEN_WAIT.",
            ),
        ] = _SECONDS,
    ) -> None: ...

    (option,) = typer.main.get_command(app).params
    assert isinstance(option, TyperOption)
    # The callback says it all: no command has to take it.
    option.expose_value = False
    return option
