"""Commands whose errors are raised, for tests of what they say."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from sentgen.cli import build


def sentgen(*words: str) -> Result:
    """Run a command; its errors are raised."""
    result = CliRunner().invoke(build(), words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
