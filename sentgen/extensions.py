"""What DuckDB must not do on its own."""

#: Settings of every connection: else it looks for extensions on the network, and keeps them in ``~/.duckdb``.
NEVER_LOADED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
