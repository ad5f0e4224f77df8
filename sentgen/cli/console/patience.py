"""How long a command waits for a store that another process has: ``--wait``, wherever there is ``--db``."""

from __future__ import annotations

from functools import cache
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

#: Longer than ten million tokens, or a model of them, take to be written (benchmarks/readers.py).
_SECONDS = 10.0


def be_patient(command: TyperCommand | TyperGroup) -> None:
    """Give a command the option, behind ``--db``, if it opens a store."""
    names = [parameter.name for parameter in command.params]
    if "db" in names and "wait" not in names:
        command.params.insert(names.index("db") + 1, _option())


def _note(context: typer.Context, seconds: float) -> float:
    """Tell the library, and under which name this process is known to others that wait for it."""
    if context.resilient_parsing:  # a TAB waits for nothing
        return seconds
    from sentgen.schema.durability.write_lock import lock_policy

    lock_policy.wait, lock_policy.command = seconds, context.command_path
    return seconds


@cache
def _option() -> TyperOption:
    """Return the option, as Typer makes it."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def declared(
        wait: Annotated[
            float,
            typer.Option(
                "--wait",
                metavar="SECONDS",
                min=0,
                envvar="SENTGEN_WAIT",
                show_envvar=False,
                callback=_note,
                help="How long to wait for a store that another process has. Also: $SENTGEN_WAIT.",
            ),
        ] = _SECONDS,
    ) -> None: ...

    (option,) = typer.main.get_command(app).params
    assert isinstance(option, TyperOption)
    # The callback says it all: no command has to take it.
    option.expose_value = False
    return option
