"""Alignment models in the store: a row a model, a row an iteration, and the tables that EM estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, Table, delete, func, insert, select

from sentgen import __version__
from sentgen.alignment.phrase_hmm.inference import jump_cells
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.cells import RewriteCells, StoredPhrases, fake_counts
from sentgen.arrays import Bools, Floats, Ints, Longs, Space
from sentgen.errors import NotFoundError, StoreError
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader, one_number, register_arrow
from sentgen.schema.store import append, fetch_arrow, fetch_rows, next_id, now, raw, scalar
from sentgen.schema.tables import alignment as tables

DIRECTIONS = ("forward", "reverse")
#: Name of the model of the priors in the store.
PRIORS = "priors"


@dataclass(frozen=True, slots=True)
class AlignmentModelInfo:
    """A model: training corpus, settings and iterations."""

    id: int
    name: str
    corpus_id: int
    corpus: str
    pairs: int
    pairs_hash: str
    settings: PbhmmSettings
    iterations: int
    created_at: datetime

    @property
    def directions(self) -> tuple[str, ...]:
        """The directions that the settings need."""
        return DIRECTIONS if self.settings.both else DIRECTIONS[:1]

    def iterations_done(self, connection: Connection, direction: str) -> int:
        """Return the number of iterations that are stored."""
        columns = tables.alignment_iteration.c
        newest = select(func.max(columns.iteration)).where(
            columns.model_id == self.id, columns.direction == direction
        )
        return scalar(connection, newest)

    def history(self, connection: Connection) -> list[StoredIteration]:
        """Return all iterations, in their order."""
        columns = tables.alignment_iteration.c
        query = select(*(columns[field.name] for field in fields(StoredIteration)))
        query = query.where(columns.model_id == self.id).order_by(columns.direction, columns.iteration)
        return [StoredIteration(*row) for row in connection.execute(query)]

    def save_words(
        self,
        connection: Connection,
        lexicon: Lexicon,
        documents: Bools,
        abstracts: Bools,
    ) -> None:
        """Store the words of a model, once; ``documents`` and ``abstracts`` flag those of each side."""
        table = tables.alignment_word
        # A resumed run has stored the words already, with the same numbers, as its pairs are the same.
        if connection.execute(select(table.c.id).where(table.c.model_id == self.id).limit(1)).first():
            return
        columns = {
            "id": np.arange(len(lexicon)),
            "form": lexicon.words,
            "documents": documents,
            "abstracts": abstracts,
        }
        append_columns(connection, table, columns, model_id=self.id)

    def save_phrases(
        self,
        connection: Connection,
        layer: str,
        names: Sequence[str],
        sides: Sequence[StoredPhrases],
    ) -> None:
        """Store the phrases of the keys of a layer, once; ``names`` are the words or stems by number."""
        table = tables.alignment_phrase
        same = (table.c.model_id == self.id, table.c.layer == layer)
        if connection.execute(select(table.c.key).where(*same).limit(1)).first():
            return
        forms: dict[int, str] = {}
        for side in sides:
            for key, words in zip(side.keys.tolist(), side.words.tolist(), strict=True):
                forms.setdefault(key, " ".join(names[word] for word in words if word >= 0))
        columns = {"key": list(forms), "form": list(forms.values())}
        append_columns(connection, table, columns, model_id=self.id, layer=layer)

    def ensure_same_stems(self, connection: Connection, lexicon: Lexicon) -> None:
        """Refuse a model whose table of stems was trained with another stemmer, such as NLTK's.

        Keys are numbers of stems, so that a word with another stem would change the numbers of all later
        stems.

        Raises:
            StoreError: the table was trained with another stemmer.
        """
        query = "select key, form from alignment_phrase where model_id = ? and layer = 'stems' and key >= 0"
        rows = fetch_arrow(connection, query, [self.id])
        for key, form in zip(rows["key"].to_pylist(), rows["form"].to_pylist(), strict=True):
            if key >= len(lexicon.stems) or lexicon.stems[key] != form:
                raise StoreError(
                    f"the alignment model {self.name!r} was trained with another stemmer; train another one: "
                    f"sentgen align train --pairs {self.corpus}"
                )

    def save_iteration(
        self,
        connection: Connection,
        parameters: RewriteParameters,
        *,
        direction: str,
        iteration: int,
        logp: float,
        log_posterior: float,
        cells: int,
        seconds: float,
    ) -> StoredIteration:
        """Store an iteration and its parameters but the rewrite tables; the previous iteration is kept."""
        table, stem, identity = parameters.weights.tolist()
        likelihood = direction, iteration, logp, log_posterior
        done = StoredIteration(*likelihood, parameters.p0, table, stem, identity, cells, seconds)
        row = asdict(done) | {"model_id": self.id, "finished_at": now()}
        connection.execute(insert(tables.alignment_iteration), row)
        bounds = jump_cells(self.settings.window, self.settings.reach)
        jumps = {"first": bounds.first, "last": bounds.last, "prob": parameters.jumps}
        same: dict[str, int | str] = {"model_id": self.id, "direction": direction, "iteration": iteration}
        append_columns(connection, tables.alignment_jump, jumps, **same)
        _save_unigram(connection, self, direction, parameters.unigram)
        return done

    def load_parameters(self, connection: Connection, direction: str, forms: Ints) -> RewriteParameters:
        """Return the parameters of the last iteration, without the rewrite tables.

        ``forms`` is the number of words with each stem.
        """
        number = self.iterations_done(connection, direction)
        if not number:
            raise StoreError(
                f"the alignment model {self.name!r} has no {direction} iteration yet; train it on: "
                f"sentgen align train --pairs {self.corpus} --model {self.name} --resume"
            )
        table = tables.alignment_iteration
        same = (table.c.model_id == self.id, table.c.direction == direction, table.c.iteration == number)
        row = connection.execute(select(table).where(*same)).mappings().one()
        jumps = """
            select prob
            from alignment_jump
            where model_id = ?
                and direction = ?
                and iteration = ?
            order by first
    """
        words = f"select null_{direction} as prob from alignment_word where model_id = ? order by id"
        return RewriteParameters(
            p0=row["p_null"],
            jumps=_floats(fetch_arrow(connection, jumps, [self.id, direction, number])),
            weights=np.array([row["weight_table"], row["weight_stem"], row["weight_identity"]]),
            # Rewrite tables are loaded by `load_cells`, as a whole or for some pairs.
            table=RewriteTable.none(),
            stems=RewriteTable.none(),
            unigram=_floats(fetch_arrow(connection, words, [self.id])),
            forms=forms,
            unseen=1 / self.settings.vocabulary,
        )

    def save_cells(
        self,
        connection: Connection,
        direction: str,
        layer: str,
        iteration: int,
        cells: RewriteCells,
    ) -> None:
        """Store a rewrite table after an iteration; that of the previous iteration is kept."""
        same = {
            "model_id": self.id,
            "reverse": direction == DIRECTIONS[1],
            "stems": layer == LAYERS[1],
            "iteration": iteration,
        }
        # A statement for each chunk: DuckDB keeps more of a stream in memory than of a table.
        for begin in range(0, cells.size, _CHUNK):
            end = min(begin + _CHUNK, cells.size)
            row = np.searchsorted(cells.starts, np.arange(begin, end), side="right") - 1
            columns = {
                "source": cells.rows[row],
                "target": cells.columns[cells.targets[begin:end]],
                "kind": cells.kinds[begin:end],
                "prob": cells.prob[begin:end],
            }
            append_columns(connection, tables.alignment_rewrite, columns, **same)
            cells.relax()

    def forget_older(self, connection: Connection, direction: str, newest: int) -> None:
        """Remove the rewrite tables of all iterations but the newest."""
        columns = tables.alignment_rewrite.c
        connection.execute(
            delete(tables.alignment_rewrite).where(
                columns.model_id == self.id,
                columns.reverse == (direction == DIRECTIONS[1]),
                columns.iteration != newest,
            )
        )

    def load_cells(
        self,
        connection: Connection,
        direction: str,
        layer: str,
        *,
        space: Space | None = None,
        sources: Longs | None = None,
        targets: Longs | None = None,
    ) -> RewriteCells:
        """Return the last rewrite table of a layer: all of it, or the cells of some sources and targets.

        The keys of sources and targets are sorted. The arrays are allocated in ``space``, or in memory.
        """
        number = self.iterations_done(connection, direction)
        duck = raw(connection)
        rows = """
            from alignment_rewrite
            where model_id = ?
                and reverse = ?
                and stems = ?
                and iteration = ?
    """
        given = [self.id, direction == DIRECTIONS[1], layer == LAYERS[1], number]
        wanted = {}
        for column, keys in (("source", sources), ("target", targets)):
            if keys is not None:
                wanted[f"_{column}s"] = pa.table({"key": pa.array(keys, pa.int64())})
                rows += f" and {column} in (select key from _{column}s)"
        with register_arrow(duck, **wanted):
            size = one_number(duck, f"select count(*) {rows}", given)
            # Keys that the table does not have are columns without cells.
            columns = targets
            if columns is None:
                every = duck.execute(f"select distinct target {rows} order by target", given)
                columns = every.fetchnumpy()["target"]
            fake = fake_counts(self.settings.prior, stems=layer == LAYERS[1])
            into = RewriteCells.of_size(
                np.empty(0, np.int64), np.zeros(1, np.int64), columns, size, fake, space
            )
            # A full scan returns rows in the order in which they were stored; a join with many keys in any
            # order.
            order = "" if sources is None and targets is None else "order by source, target"
            if len(into.targets):
                _fill(into, arrow_reader(duck, f"select source, target, kind, prob {rows} {order}", given))
        return into

    @staticmethod
    def find(connection: Connection, name: str) -> AlignmentModelInfo | None:
        """Return a model by its name."""
        table = tables.alignment_model
        row = connection.execute(select(table).where(table.c.name == name)).mappings().first()
        if row is None:
            return None
        return AlignmentModelInfo(
            id=row["id"],
            name=row["name"],
            corpus_id=row["corpus_id"],
            corpus=row["corpus_name"],
            pairs=row["pairs"],
            pairs_hash=row["pairs_hash"],
            settings=PbhmmSettings.from_json(row["settings"]),
            iterations=row["iterations"],
            created_at=row["created_at"],
        )

    @staticmethod
    def get(connection: Connection, name: str) -> AlignmentModelInfo:
        """Return a model by its name.

        Raises:
            NotFoundError: there is no such model; the message names those that exist.
        """
        model = AlignmentModelInfo.find(connection, name)
        if model is None:
            names = connection.scalars(
                select(tables.alignment_model.c.name).order_by(tables.alignment_model.c.name)
            )
            known = ", ".join(names)
            hint = (
                f"there are: {known}"
                if known
                else "train one with: sentgen align train --pairs NAME --model M"
            )
            raise NotFoundError(f"no alignment model {name!r}; {hint}")
        return model

    @staticmethod
    def add(
        connection: Connection,
        name: str,
        settings: PbhmmSettings,
        *,
        corpus_id: int,
        corpus: str,
        pairs: int,
        pairs_hash: str,
        iterations: int,
    ) -> None:
        """Add the row of a model."""
        row = {
            "id": next_id(connection, tables.alignment_model),
            "name": name,
            "corpus_id": corpus_id,
            "corpus_name": corpus,
            "pairs": pairs,
            "pairs_hash": pairs_hash,
            "settings": settings.as_json(),
            "iterations": iterations,
            "version": __version__,
            "created_at": now(),
        }
        connection.execute(insert(tables.alignment_model), row)


@dataclass(frozen=True, slots=True)
class StoredIteration:
    """An iteration of EM in one direction, in columns of the table of iterations.

    ``logp`` and ``log_posterior`` are those of the parameters before the M step, other values those after it.
    """

    direction: str
    iteration: int
    logp: float
    log_posterior: float
    p_null: float
    weight_table: float
    weight_stem: float
    weight_identity: float
    cells: int
    seconds: float


_MODELS = """
    select * exclude (settings), log_posterior / ln(10) as log10_posterior
    from v_alignment_models
    order by model
"""


def list_models(store: Store) -> Rows:
    """Return a row a model: training corpus, iterations, and natural and decimal log-probability."""
    with store.connect() as connection:
        return fetch_rows(connection, _MODELS)


def remove_model(store: Store, name: str, *, dry_run: bool = False) -> int:
    """Remove a model and its alignments; return the number of its iterations."""
    with store.connect() if dry_run else store.begin() as connection:
        model = AlignmentModelInfo.get(connection, name)
        done = sum(model.iterations_done(connection, direction) for direction in DIRECTIONS)
        if not dry_run:
            for table in tables.OF_MODEL:
                connection.execute(delete(table).where(table.c.model_id == model.id))
            table = tables.alignment_model
            connection.execute(delete(table).where(table.c.id == model.id))
    return done


def append_columns(
    connection: Connection, table: Table, columns: Mapping[str, Any], **same: int | str
) -> None:
    """Append rows to a table, in columns; ``same`` are further columns with one value for all rows."""
    rows = pa.table(dict(columns))
    for name, value in same.items():
        rows = rows.append_column(name, pa.repeat(value, rows.num_rows))
    append(connection, table.name, rows)


def _save_unigram(connection: Connection, model: AlignmentModelInfo, direction: str, unigram: Floats) -> None:
    # DuckDB finds the table by the name of this variable.
    _shares = pa.table({"id": pa.array(np.arange(len(unigram), dtype=np.int32)), "prob": pa.array(unigram)})
    query = f"""
        update alignment_word
        set null_{direction} = _shares.prob
        from _shares
        where alignment_word.model_id = ?
            and alignment_word.id = _shares.id
    """
    raw(connection).execute(query, [model.id])


def _floats(rows: pa.Table) -> Floats:
    return np.ascontiguousarray(rows["prob"].to_numpy(), np.float64)


#: Layers of a model: the table of words and phrases, and that of stems.
LAYERS = ("words", "stems")
_CHUNK = 1 << 19


def _fill(into: RewriteCells, batches: Iterator[pa.RecordBatch]) -> None:
    """Write batches of sorted rows into the arrays of a table."""
    keys: list[Longs] = []
    firsts: list[Longs] = []
    offset, last = 0, None
    for batch in batches:
        source = batch.column("source").to_numpy()
        # A row may continue from the batch before.
        new = np.append(last is None or source[0] != last, source[1:] != source[:-1])
        keys.append(source[new])
        firsts.append(np.flatnonzero(new) + offset)
        end = offset + len(source)
        into.targets[offset:end] = np.searchsorted(into.columns, batch.column("target").to_numpy())
        into.kinds[offset:end] = batch.column("kind").to_numpy()
        into.prob[offset:end] = batch.column("prob").to_numpy()
        offset, last = end, source[-1]
    into.rows = np.concatenate(keys)
    into.starts = np.append(np.concatenate(firsts), offset)
    # Binary search would miss rows that are out of order, without an error.
    if (into.rows[1:] <= into.rows[:-1]).any():
        raise StoreError("the rewrite table is out of order; train the alignment model again")
