"""What DuckDB must not do on its own."""

from __future__ import annotations

#: Settings of every connection: else it looks for extensions on the network, and keeps them in ``~/.duckdb``.
NEVER_LOADED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
