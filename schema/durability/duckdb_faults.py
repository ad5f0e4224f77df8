"""What DuckDB gets wrong, in which versions, and until when sentgen makes up for it.

pyproject.toml asks for 1.4.1 to 2.x. Once it may ask for 2 alone (to be looked at on 2027-05-25), what waits
for 2.0 here goes, with all that it guards.
"""

from __future__ import annotations

import duckdb

_VERSION = tuple(map(int, duckdb.__version__.split(".")[:2]))

#: Replay of a log that a crash cut short keeps rows of a transaction that never committed (duckdb #25931):
#: seen in 1.3.2 to 1.5.6, right in 2.0.0 and 2.0.1. So commits write no log, what a torn one has is cut off
#: (`write_ahead_log`), and a store with one is looked into (`crash_mark`, `recovery`). Waits for 2.0.
TORN_LOGS_COME_BACK = _VERSION < (2, 0)

#: A commit writes the new state beside the old one and switches to it by one write to the header of a file.
#: A log would be another thing to lose: the disk may write its pages in any order, and after a power cut no
#: version opens a store whose log has a hole in a transaction that did not end (seen in 1.5.6 to 2.0.1).
#: From 2.0.1 on, 97 bytes of log say that a checkpoint begins, and nothing of the transaction: lost or torn,
#: they change nothing. Where they cannot be written, as where a folder has the name, the database fails.
WITHOUT_LOG = {"checkpoint_threshold": "0B"}
# 1.4 leaves the log out by itself, and refuses a setting that it does not know.
if _VERSION >= (1, 5):
    WITHOUT_LOG["auto_checkpoint_skip_wal_threshold"] = "0"

#: Two joins of the same tables are taken for one that ask for different columns, as heads and modifiers of a
#: word with a left join behind them: heads came back that are modifiers. It is of the kind of duckdb #25819,
#: whose own case is right in 1.5.6, and is not reported. 1.5.6 answers 32 of 400 generated queries otherwise
#: with it than without, 2.0.0 and 2.0.1 none; 1.4 has no such optimizer. A case is in docs/design.md and in
#: `tests/schema/test_right_plans.py`, which fails once this is of no use. Waits for 2.0.
RIGHT_PLANS = {"disabled_optimizers": "common_subplan"} if (1, 5) <= _VERSION < (2, 0) else {}

#: A new file of 2.0 is of a version that 1.4 and 1.5 do not open, unless it is asked for one that they do:
#: here, that of the oldest that pyproject.toml asks for, so that a store goes from machine to machine. A file
#: that is there keeps its version. Waits for 2.0.
READABLE_BEFORE = {"storage_compatibility_version": "v1.4.0"} if _VERSION >= (2, 0) else {}

#: A checkpoint writes over blocks of the catalog that the state before needs, so that a kill within leaves a
#: file that does not open: 1.4.1 to 2.0.1 do, and nobody has reported it. `block_journal` keeps such blocks;
#: `block_restore` reads and writes the file for that, whose layout is known of these versions. Waits for a
#: version with which `tests/schema/test_block_journal.py` finds no file that it cannot open.
LAYOUT_IS_KNOWN = _VERSION < (2, 1)

#: The methods that return Arrow were renamed in 1.5. Waits for 1.5.
ARROW_IS_FETCHED = _VERSION < (1, 5)

#: Arrow of a statement that was executed is a copy of its rows, of which 2.0 warns; Arrow of a relation is
#: none. Before, a relation with parameters has all its rows in memory. Waits for 2.0.
ARROW_OF_RELATIONS = _VERSION >= (2, 0)
