"""Errors for missing packages, which are extras of pyproject.toml, and for packages with other internals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from sentgen.errors import InputError, SentgenError


@contextmanager
def needs(extra: str, package: str, instead: str = "") -> Iterator[None]:
    """Turn a failed import into an error with the missing package and the command that installs it.

    Args:
        extra: name of the extra in pyproject.toml.
        package: name of the package, and its purpose, for the message.
        instead: what users can do without the package.

    Raises:
        InputError: the package is not installed.

    >>> with needs("plots", "matplotlib"):
    ...     import no_such_package
    Traceback (most recent call last):
    sentgen.errors.InputError: matplotlib is not installed; run: pip install 'sentgen[plots]'
    """
    try:
        yield
    except ImportError as error:
        rest = f", {instead}" if instead else ""
        raise InputError(f"{package} is not installed; run: pip install 'sentgen[{extra}]'{rest}") from error


@contextmanager
def insides_of(package: str) -> Iterator[None]:
    """Turn a failed use of internal names of a package into an error that names its version.

    Raises:
        SentgenError: the package lacks a name.
    """
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise SentgenError(
            f"{package} {version(package)} is not as sentgen knows it ({error});"
            f" install an earlier one: pip install '{package}<{version(package)}'"
        ) from error
