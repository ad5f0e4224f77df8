"""Plug-ins: readers, algorithms, aligners and scorers that other installed packages add by entry points.

They are looked for only where a name is not one of ours, or where all names are listed: looking through the
installed packages takes 0.02 s, and nothing of a plug-in is imported before it is used or described.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from traceback import extract_tb
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from sentgen.errors import PluginError, SentgenError

if TYPE_CHECKING:  # importing takes 0.02 s, and only plug-ins need it
    from importlib.metadata import EntryPoint

Kind = Literal["reader", "algorithm", "aligner", "scorer"]
Thing = TypeVar("Thing")

#: Colons, commas and blanks separate names in lists of systems.
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One reader, algorithm, aligner or scorer of another package, which is imported when it is loaded."""

    kind: Kind
    entry: EntryPoint

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r} of {self.package}"

    @property
    def name(self) -> str:
        """Return the name that users give, that of its entry point."""
        return self.entry.name

    @property
    def package(self) -> str:
        """Return the package that adds it, with its version."""
        distribution = self.entry.dist
        return f"{distribution.name} {distribution.version}" if distribution else "a package without a name"

    def load(self) -> object:
        """Import what the entry point names.

        Raises:
            PluginError: the plug-in cannot be imported.
        """
        try:
            return self.entry.load()
        # A package may do anything while it is imported, ending the process included.
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"cannot be imported: {_first_line(error)}; repair or uninstall that package", plugin=self
            ) from error

    @contextmanager
    def at_work(self, position: Callable[[], tuple[str, int]] = lambda: ("", 0)) -> Iterator[None]:
        """Turn exceptions of the plug-in into a `PluginError` of one line; errors of sentgen pass unchanged.

        Args:
            position: returns the file and the line that the plug-in is reading.

        Raises:
            PluginError: the plug-in has raised an exception that is no error of sentgen.
        """
        try:
            yield
        except SentgenError:
            raise
        except Exception as error:
            path, line = position()
            raise PluginError(
                f"has failed: {_first_line(error)}{_where(error)}; tell its authors",
                plugin=self,
                path=path,
                line=line,
            ) from error

    def of_kind(self, given: object, wanted: type[Thing]) -> Thing:
        """Return the object that an entry point names, if it is of the right class.

        Raises:
            PluginError: the object is of another class.
        """
        if not isinstance(given, wanted):
            raise PluginError(
                f"is of the class {type(given).__name__}, not {wanted.__name__} of sentgen.plugins;"
                " its authors must change that",
                plugin=self,
            )
        return given

    def check_called(self, name: str) -> None:
        """Refuse an object whose own name is not the name of its entry point.

        Raises:
            PluginError: the names differ.
        """
        if name != self.name:
            raise PluginError(
                f"calls itself {name!r}; its authors must make both names the same", plugin=self
            )


def _first_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message."""
    message = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _where(error: BaseException) -> str:
    """Return the line of code that has raised an error."""
    last = extract_tb(error.__traceback__)[-1]
    return f" ({last.filename.replace(chr(92), '/').rpartition('/')[2]}:{last.lineno})"


@cache
def plugins_of_kind(kind: Kind) -> tuple[Plugin, ...]:
    """Return what installed packages add of a kind, by name; imports none of them."""
    from importlib.metadata import entry_points

    entries = entry_points(group=f"sentgen.{kind}s")
    return tuple(
        sorted((Plugin(kind, entry) for entry in entries), key=lambda entry: (entry.name, entry.package))
    )


@dataclass(frozen=True, slots=True)
class Registry(Generic[Thing]):
    """All readers, algorithms, aligners or scorers by name: built-in ones, and those of plug-ins.

    Attributes:
        kind: the kind of the things.
        own: the built-in things.
        checked: takes a plug-in and the object that its entry point names, and returns the checked thing.
        reserved: further names that plug-ins cannot have.
    """

    kind: Kind
    own: Mapping[str, Thing]
    checked: Callable[[Plugin, object], Thing]
    reserved: Collection[str] = ()
    _loaded: dict[Plugin, Thing | PluginError] = field(default_factory=dict)

    def find(self, name: str) -> Thing | None:
        """Return the thing of a name, none if there is none.

        Raises:
            PluginError: a plug-in has a thing of this name, which cannot be used.
        """
        if name in self.own:
            return self.own[name]
        plugin = next((other for other in plugins_of_kind(self.kind) if other.name == name), None)
        if plugin is None or name in self.reserved:
            return None
        thing = self._loaded_once(plugin)
        if isinstance(thing, PluginError):
            raise thing
        return thing

    def package(self, name: str) -> str:
        """Return the package that adds a name, with its version; empty if it is one of ours."""
        added = () if name in self.own else plugins_of_kind(self.kind)
        return next((plugin.package for plugin in added if plugin.name == name), "")

    def names(self) -> list[str]:
        """Return all names, those of plug-ins last; imports none of these."""
        return [*self.own, *added_names(self.kind, (*self.own, *self.reserved))]

    def usable(self) -> dict[str, Thing]:
        """Return all things by name, without the plug-ins that cannot be used."""
        return {name: thing for name, _, thing in self.listed()[0]}

    def listed(self) -> tuple[list[tuple[str, str, Thing]], list[str]]:
        """Return name, package and thing of all that can be used, ours first, and the others' errors."""
        there, wrong = [(name, "sentgen", thing) for name, thing in self.own.items()], list[str]()
        for plugin in plugins_of_kind(self.kind):
            thing = self._loaded_once(plugin)
            if isinstance(thing, PluginError):
                wrong.append(str(thing))
            else:
                there.append((plugin.name, plugin.package, thing))
        return there, wrong

    def _loaded_once(self, plugin: Plugin) -> Thing | PluginError:
        if plugin not in self._loaded:
            try:
                self._check_name(plugin)
                thing: Thing | PluginError = self.checked(plugin, plugin.load())
            except PluginError as error:
                thing = error
            # If two threads load a plug-in, the first object is kept: readers are compared by identity.
            self._loaded.setdefault(plugin, thing)
        return self._loaded[plugin]

    def _check_name(self, plugin: Plugin) -> None:
        """Refuse a name that cannot be told from others."""
        if not _NAME.fullmatch(plugin.name):
            raise PluginError(
                "has a name that is not of letters, digits, `-` and `_`; its authors must choose another",
                plugin=plugin,
            )
        if plugin.name in self.own or plugin.name in self.reserved:
            raise PluginError(
                "has the name of a built-in one, which is taken; its authors must choose another",
                plugin=plugin,
            )
        others = [
            other.package
            for other in plugins_of_kind(self.kind)
            if other.name == plugin.name and other != plugin
        ]
        if others:
            raise PluginError(f"has the same name as that of {others[0]}; uninstall one", plugin=plugin)


def added_names(kind: Kind, known: Collection[str] = ()) -> list[str]:
    """Return the names that plug-ins add to those that are known, each once; imports none of them."""
    return list(dict.fromkeys(plugin.name for plugin in plugins_of_kind(kind) if plugin.name not in known))
