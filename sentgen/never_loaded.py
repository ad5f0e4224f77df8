"""Keeps DuckDB from loading extensions and pandas on its own.

If pandas is installed, DuckDB imports it to check whether a value is one of pandas. No command has such
values, and the import takes longer than most commands; if pandas is not installed, the search in all folders
at each statement takes time, too.
"""

from __future__ import annotations

import sys

#: Settings of every connection; else DuckDB downloads extensions to ``~/.duckdb``.
NEVER_LOADED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


#: Packages whose imports of pandas are refused, as they run the statements; plug-ins may use pandas.
_OURS = frozenset({"sentgen", "sqlalchemy", "duckdb"})


class WithoutPandas:
    """A finder of modules by which pandas is not installed for DuckDB, but for all others."""

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
    """Return the package that runs an import; for DuckDB, which has no frames, the package that called it."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib."):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
