"""What DuckDB must not load on its own: extensions, and pandas.

It imports pandas, where it is installed, to see whether a value that it is given is one of pandas' own. No
command has such values, and the import takes longer than most of them; where there is no pandas, looking for
it in all folders at each statement takes time, too.
"""

from __future__ import annotations

import sys

#: Settings of every connection: else it looks for extensions on the network, and keeps them in ``~/.duckdb``.
NEVER_LOADED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


#: Packages whose import of pandas is refused, as they run the statements. Plug-ins may use pandas.
_OURS = frozenset({"sentgen", "sqlalchemy", "duckdb"})


class WithoutPandas:
    """A finder of modules that tells DuckDB, and nobody else, that pandas is not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Refuse pandas, and leave all other modules to the next finder.

        Raises:
            ModuleNotFoundError: the package is pandas, and DuckDB asks for it.
        """
        if fullname == "pandas" and _importer() in _OURS:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def refuse_pandas() -> None:
    """Refuse pandas to DuckDB in this process from now on."""
    if not any(isinstance(finder, WithoutPandas) for finder in sys.meta_path):
        sys.meta_path.insert(0, WithoutPandas())


def _importer() -> str:
    """Return the package that runs an import; DuckDB has no frames, so that it is who has called it."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib."):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
