"""Take out of a store what no source, segment, model, pair or run accounts for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from sentgen.schema.base import quote_identifier
from sentgen.schema.engine import one_number, one_row, raw, translated_errors
from sentgen.schema.integrity.check import REINGEST, REPAIR, Check
from sentgen.schema.integrity.checks import checks, orphan_rows
from sentgen.schema.migrate import back_up
from sentgen.schema.store import Store

#: Models are wrong if the counts, or the texts, that they were built from are.
_MODELS = """
select distinct m.name || '@' || m.version
from model m
join model_corpus k on k.model_id = m.id
where k.corpus_name in (select unnest($names::varchar[]))
order by all
"""
_ALIGNMENT_MODELS = """
select name
from alignment_model
where corpus_id <> 0
    and corpus_name in (select unnest($names::varchar[]))
order by name
"""


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """Rows of a table that nothing accounted for."""

    table: str
    rows: int
    reason: str


@dataclass(slots=True)
class Repair:
    """What a repair did, and what only the user can do.

    Attributes:
        removed: what was removed, or would be.
        backup: where the store is as it was, if a copy was made.
        corpora: names of corpora whose counts do not add up.
        models: labels of models that are damaged, or were built from those.
        alignment_models: names of alignment models that were trained on those.
        others: other checks that the store does not pass.
    """

    removed: list[RemovedRows] = field(default_factory=list)
    backup: Path | None = None
    corpora: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    alignment_models: list[str] = field(default_factory=list)
    others: list[Check] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.corpora or self.models or self.alignment_models or self.others)


def repair(
    path: Path, *, dry_run: bool = False, backup: bool = True, memory_limit: int | None = None
) -> Repair:
    """Remove what nothing accounts for in one transaction, after a backup; find what must be made again.

    Nothing is counted again: what adds up and is wrong all the same is for `sentgen db check` to find.

    Args:
        path: the store.
        dry_run: change nothing, and say what would be removed and what would be left to do.
        backup: copy the store to a file beside it first, if there is anything to remove.
        memory_limit: bytes that DuckDB may use.

    Raises:
        NotFoundError: there is no store.
        StoreError: it cannot be opened, or there is no room for the backup; it is then as it was.
    """
    done = Repair()
    opened = Store(path, read_only=dry_run, memory_limit=memory_limit)
    with opened as store, store.connect() as connection:
        # A dry run sees what the store would be, through views in the place of tables, and writes nothing.
        done.removed = _hide(raw(connection))
        if dry_run or not done.removed:
            _look_for_the_rest(raw(connection), done)
    if dry_run:
        return done
    if done.removed:
        if backup:
            with translated_errors(path):
                # The store is closed here: a copy of an open one might be half of a commit.
                done.backup = back_up(path, "repair")
        with Store(path, memory_limit=memory_limit) as store, store.begin() as connection:
            done.removed = _remove(raw(connection))
            _look_for_the_rest(raw(connection), done)
    return done


def _hide(duck: duckdb.DuckDBPyConnection) -> list[RemovedRows]:
    """Lay views over the tables that hide what nothing accounts for, and return what they hide."""
    (name,) = one_row(duck, "select current_database()") or ("",)
    hidden: dict[str, list[str]] = {}
    removed = []
    for rows in orphan_rows():
        if count := one_number(duck, f"select count(*) from ({rows.query})"):
            removed.append(RemovedRows(rows.table, count, rows.name))
            # `is not true`: a row for which the condition is null has an owner, as far as SQL can tell.
            hidden.setdefault(rows.table, []).append(f"({rows.condition}) is not true")
            shown = " and ".join(hidden[rows.table])
            table = f"{quote_identifier(name)}.main.{rows.table}"
            duck.execute(f"create or replace temp view {rows.table} as from {table} where {shown}")
    return removed


def _remove(duck: duckdb.DuckDBPyConnection) -> list[RemovedRows]:
    counts = ((rows, one_number(duck, rows.removal)) for rows in orphan_rows())
    return [RemovedRows(rows.table, count, rows.name) for rows, count in counts if count]


def _look_for_the_rest(duck: duckdb.DuckDBPyConnection, done: Repair) -> None:
    """Run the quick checks, and name what to make again."""
    corpora: set[str] = set()
    models: set[str] = set()
    for check in checks():
        if check.slow:
            continue
        columns = [
            str(column[0]) for column in duck.execute(f"from ({check.query}) limit 0").description or ()
        ]
        named = {"corpus": corpora, "model": models}.get(columns[0])
        if named is not None:
            named |= {
                str(row[0])
                for row in duck.execute(f"select distinct {columns[0]} from ({check.query})").fetchall()
            }
        elif one_row(duck, f"from ({check.query}) limit 1"):
            done.others.append(check)
    built = duck.execute(_MODELS, {"names": sorted(corpora)}).fetchall()
    trained = duck.execute(_ALIGNMENT_MODELS, {"names": sorted(corpora)}).fetchall()
    done.corpora = sorted(corpora)
    done.models = sorted(models | {label for (label,) in built})
    done.alignment_models = [name for (name,) in trained]
    if corpora:  # to make them again cures these too
        done.others = [check for check in done.others if check.cure not in (REINGEST, REPAIR)]
