"""Names of CTEs: in generated statements, a name that the guard takes for a CTE is one for DuckDB's binder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import duckdb
import pytest

from sentgen.errors import QueryRejected
from sentgen.schema.guard import require_harmless

TABLES = ["word", "tag"]
#: Views of DuckDB itself, a file that it would read, and names of nothing.
OTHERS = [
    *("duckdb_databases", "duckdb_tables", "duckdb_logs", "sqlite_master", "pg_class"),
    *("nothing", "Kiosk", "x.parquet"),
]
#: Results of the binder for a statement.
CLEAN, FORBIDDEN, MISSING, WRONG = "clean", "forbidden", "missing", "wrong"

#: A program that prints what the plan of each statement, a line of JSON, reads before optimization.
BINDER = """
import json, sys
import duckdb

duck = duckdb.connect(config={"python_enable_replacements": "false", "threads": "1"})
duck.execute("create table word (x integer)")
duck.execute("create table tag (x integer)")
duck.execute("copy (select 1 as x) to 'x.parquet'")
duck.execute("set explain_output = 'all'")

def operators(node):
    if isinstance(node, list):
        return {name for one in node for name in operators(one)}
    return {node["name"].strip().lower()} | operators(node["children"])

def told(sql):
    try:
        plan = dict(duck.execute("explain (format json) " + sql).fetchall())["logical_plan"]
    except duckdb.CatalogException as error:
        return "missing" if "does not exist" in str(error) else "wrong"
    except duckdb.IOException:  # a file that is not there
        return "forbidden"
    except duckdb.Error:
        return "wrong"
    outside = [name for name in operators(json.loads(plan)) if name.startswith(("duckdb_", "pg_", "parquet_", "read_"))]
    return "forbidden" if outside else "clean"

for line in sys.stdin:
    print(told(json.loads(line)), flush=True)
"""


class Statements:
    """Draws statements with nested, shadowing and recursive CTEs and names in any case.

    Each statement has one column, so that few are wrong for other reasons. Most names are those of CTEs in
    sight or of tables; some are random, and may be in sight or not.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.in_sight: list[str] = []

    def name(self, *, strange: float = 0.06) -> str:
        """Draw a name, quoted, sometimes in another spelling."""
        if self.random.random() < strange:
            name = self.random.choice([*TABLES, *OTHERS])
        else:
            # The last names more often, as these CTEs are the nearest.
            name = self.random.choice([*TABLES, *self.in_sight, *self.in_sight[-2:]])
        return f'"{self.folded(name)}"'

    def folded(self, name: str) -> str:
        """Return a name as it is, in another case for DuckDB, or in one that is the same for Python only."""
        kind = self.random.random()
        if kind < 0.03:
            return name.replace("k", "\u212a").replace("s", "\u017f")
        return name.upper() if kind < 0.2 else name.title() if kind < 0.3 else name

    def relation(self, depth: int) -> str:
        """Draw a relation for a from clause."""
        kinds: list[Callable[[], str]] = [
            *[self.name] * 4,
            lambda: f"{self.name()} as {self.name(strange=0.5)}",
            lambda: f"{self.name()} as t(x)",
            lambda: f"main.{self.random.choice(TABLES)}",
            lambda: "'" + self.name().strip('"') + "'",
        ]
        if self.random.random() < 0.02:
            return f"main.{self.name()}"
        if depth:
            kinds += [
                lambda: self.query(depth - 1),
                lambda: f"{self.query(depth - 1)} as {self.name(strange=0.5)}",
                lambda: f"lateral {self.query(depth - 1)}",
                lambda: f"({self.relation(depth - 1)} positional join {self.name()})",
                lambda: f"({self.relation(depth - 1)} left join {self.relation(depth - 1)} on true)",
                lambda: f"{self.relation(depth - 1)}, {self.relation(depth - 1)}",
            ]
        return self.random.choice(kinds)()

    def query(self, depth: int) -> str:
        """Draw a query of one column, in parentheses."""
        kinds: list[Callable[[], str]] = [
            lambda: f"select 1 as x from {self.relation(depth)}",
            lambda: f"from {self.relation(depth)} select 1 as x",
            lambda: "values (1)",
        ]
        if depth:
            within = depth - 1
            kinds += [
                lambda: f"select (select max(1) from {self.relation(within)}) as x",
                lambda: f"select 1 as x where exists {self.query(within)}",
                lambda: f"select 1 as x from {self.relation(within)} where 1 in {self.query(within)}",
                lambda: f"select 1 as x order by (select min(1) from {self.relation(within)}) limit 3",
                lambda: f"{self.query(within)} {self.together()} {self.query(within)}",
                lambda: f"select 1 as x from {self.relation(within)} {self.together()} {self.query(within)}",
                *[lambda: self.with_ctes(within)] * 8,
            ]
        return f"({self.random.choice(kinds)()})"

    def together(self) -> str:
        """Draw a set operation that joins two queries."""
        return self.random.choice(["union all", "union", "except", "intersect", "union all by name"])

    def with_ctes(self, depth: int) -> str:
        """Draw a query with CTEs, all of which are used, as DuckDB does not bind unused ones."""
        before = len(self.in_sight)
        recursive = "recursive " if self.random.random() < 0.5 else ""
        ctes = []
        for name in self.random.sample([*OTHERS, "word"], self.random.choice([1, 1, 2, 3])):
            ctes.append(self.cte(name, depth, recursive=bool(recursive)))
            self.in_sight.append(name)
        used = "), (".join(f'select 1 from "{name}"' for name in self.in_sight[before:])
        query = (
            f"with {recursive}{', '.join(ctes)} {self.query(depth)} union all (select 1 as x from ({used}))"
        )
        del self.in_sight[before:]
        return query

    def cte(self, name: str, depth: int, *, recursive: bool) -> str:
        """Draw the definition of a CTE."""
        written = f'"{self.folded(name)}"'
        if not recursive or self.random.random() < 0.2:
            kept = self.random.choice(["", "", "materialized ", "not materialized "])
            return f"{written}{self.random.choice(['', '(x)'])} as {kept}{self.query(depth)}"
        first = self.half(name, depth, 0.05)
        if self.random.random() < 0.2:
            return f"{written}(x) using key (x) as ({first} union {self.half(name, depth, 0.8)})"
        own = f"(with other as {self.half(name, 0, 0.1)} select 1 as x from other)"
        first = self.random.choice([first, first, first, own])
        return f"{written}(x) as ({first} {self.random.choice(['union', 'union all'])} {self.half(name, depth, 0.8)})"

    def half(self, name: str, depth: int, often: float) -> str:
        """Draw a half of a recursive union, which may name the CTE that it defines."""
        if self.random.random() < often:
            return f'(select 1 as x from "{self.folded(name)}")'
        return self.query(depth)


def asked(statements: list[str], folder: Path) -> Iterator[str]:
    """Yield the binder's results from a process of its own, which is started again whenever it crashes."""
    while statements:
        lines = "".join(json.dumps(one) + "\n" for one in statements)
        command = [sys.executable, "-c", BINDER]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, cwd=folder)
        told = done.stdout.split()
        yield from told
        if len(told) < len(statements):
            yield WRONG
        statements = statements[len(told) + 1 :]


def accepted(duck: duckdb.DuckDBPyConnection, sql: str) -> bool:
    with suppress(QueryRejected):
        require_harmless(duck, sql)
        return True
    return False


@pytest.mark.parametrize(
    "drawn", [0, *[pytest.param(one, marks=pytest.mark.nightly) for one in range(1, 10)]]
)
def test_what_the_guard_takes_for_a_cte_is_one(drawn: int, tmp_path: Path) -> None:
    """The guard accepts no statement that reads other relations, and refuses few others.

    There are 200 statements by day, 2,000 at night.
    """
    made = Statements(Random(drawn))
    statements = [made.with_ctes(2) for _ in range(200)]
    with duckdb.connect() as duck:
        told = [
            (truth, accepted(duck, sql), sql)
            for truth, sql in zip(asked(statements, tmp_path), statements, strict=True)
        ]

    assert [sql for truth, through, sql in told if through and truth in (FORBIDDEN, MISSING)] == []
    clean = [through for truth, through, _ in told if truth == CLEAN]
    assert len(clean) > 60
    # DuckDB does not bind a CTE that only another unused one reads, nor shows all of a plan.
    assert clean.count(False) <= 2
