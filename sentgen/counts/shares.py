"""How the memory of a process is shared out; apart: to open a store takes nothing else of counting."""

#: Share of the memory limit that counting may take, and that of DuckDB.
# Measured: docs/design.md, "Measurements".
COUNTING_SHARE = 0.35
DATABASE_SHARE = 0.4
