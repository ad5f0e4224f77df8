"""The models of a store: find, list and remove them, and detect whether their corpora have changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
from sqlalchemy import Connection, Row, delete, func, insert, or_, select

from sentgen import temporary
from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.models.base import sql
from sentgen.models.base.symbols import OF_WORDS, Symbols
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store, folders
from sentgen.schema.connections import cursor
from sentgen.schema.engine import temporary_folder
from sentgen.schema.store import now, raw, scalar, translated_errors
from sentgen.schema.tables import models as tables
from sentgen.schema.tables.corpus import corpus, source
from sentgen.schema.tables.counts import segment
from sentgen.system import files

#: Name of the parameter that marks models which count the brackets of base noun phrases.
BRACKETS = "brackets"
#: Prefix of the parameter whose name holds the condition on the sentences of a model.
CONDITION = "where: "
#: Prefix of the parameter whose name holds the symbols of a model, if they are not words; its value is the
#: number of words that are kept.
SYMBOLS = "over: "
#: Tables whose rows belong to a model.
_OF_MODEL = (
    tables.model_ngram,
    tables.model_weight,
    tables.model_parameter,
    tables.model_corpus,
    tables.surprisal,
)
#: Smoothing of models that read counts, and of mixtures of other models.
STUPID_BACKOFF, MIXTURE, PRUNED = "stupid-backoff", "mixture", "pruned"
#: Smoothing of a mixture without n-grams: the probabilities of its models are summed at each look-up.
DYNAMIC = "dynamic-mixture"
#: Smoothing of scorers of plug-ins, of which the store has the surprisal of tokens but no n-grams.
SCORER = "scorer"
#: Prefix of the parameter whose name holds the package of a scorer.
PACKAGE = "package: "

_NAMES = "select id, created_at from model"
#: Extension of the files in which models are laid out for look-ups.
_SUFFIX = ".ngrams"
_SOURCES = """
select m.corpus_name, c.id is null, s.id, s.sentences + s.tokens
from model_corpus m
left join corpus c on c.id = m.corpus_id
left join segment s on s.corpus_id = m.corpus_id
where m.model_id = ?
order by s.id
"""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A built model: its settings, and the corpora or models that it was built from.

    ``min_count`` has one number per order, and is empty for an imported model; ``brackets`` says whether the
    brackets of base noun phrases are words of it; ``vocabulary`` counts the unigrams without <s>;
    ``condition`` is what the metadata of its sentences meet, empty for whole corpora; ``symbols`` are what
    its n-grams are made of; ``parts`` are the labels of the models that it was made of, and what they weigh;
    ``package`` is that of a scorer, which has no n-grams.
    """

    id: int
    name: str
    version: int
    order: int
    smoothing: str
    min_count: tuple[int, ...]
    unknown: str
    brackets: bool
    vocabulary: int
    sentences: int
    tokens: int
    created_at: datetime
    corpora: tuple[str, ...]
    condition: str = ""
    symbols: Symbols = OF_WORDS
    parts: tuple[tuple[str, float], ...] = ()
    package: str = ""

    @property
    def label(self) -> str:
        """Name and version, as `find` reads them."""
        return f"{self.name}@{self.version}"

    @property
    def size(self) -> str:
        """How many words, tags, classes or items the model knows."""
        return self.symbols.counted(self.vocabulary)

    def parameters(self, store: Store) -> list[tuple[int, str, float]]:
        """Return the estimates of smoothing as triples: order (0 for all), name and value."""
        table = tables.model_parameter
        query = select(table.c.n, table.c.name, table.c.value).where(table.c.model_id == self.id, ~_NOTES)
        with store.connect() as connection:
            rows = connection.execute(query.order_by(table.c.n, table.c.name)).all()
        return [(row.n, row.name, row.value) for row in rows]

    def count_ngrams(self, store: Store) -> dict[int, int]:
        """Return how many n-grams of each order the model has, or reads from counts."""
        if self.smoothing == STUPID_BACKOFF:
            with store.connect() as connection, translated_errors(store.path):
                return _count_counted(raw(connection), self)
        table = tables.model_ngram
        query = select(table.c.n, func.count()).where(table.c.model_id == self.id)
        with store.connect() as connection:
            rows = connection.execute(query.group_by(table.c.n).order_by(table.c.n)).all()
        return {int(n): int(count) for n, count in rows}

    def looked_up(self, store: Store) -> list[tuple[ModelInfo, float]]:
        """Return the models that a mixture looks up, with their weights.

        Raises:
            NotFoundError: one of the models was removed.
        """
        with store.connect() as connection:
            return [(find_in(connection, label), weight) for label, weight in self.parts]

    def changes(self, store: Store) -> list[str]:
        """Return a line for each corpus that changed or vanished since the model was built."""
        table = tables.model_corpus
        with store.connect() as connection:
            built = connection.execute(select(table).where(table.c.model_id == self.id)).all()
            tokens = {row.id: row.tokens for row in connection.execute(_TOKENS)}
            newest = {row.corpus_id: row.newest for row in connection.execute(_NEWEST)}
        lines = []
        for row in sorted(built, key=lambda row: row.corpus_name):
            # Compared by id: a new corpus may have the name of a removed one.
            if row.corpus_id not in tokens:
                lines.append(f"corpus {row.corpus_name!r} was removed")
            elif tokens[row.corpus_id] != row.tokens:
                had = quantity(row.tokens, "token")
                lines.append(f"corpus {row.corpus_name!r} had {had}, now {tokens[row.corpus_id]}")
            elif row.corpus_id in newest and newest[row.corpus_id] > self.created_at:
                lines.append(f"corpus {row.corpus_name!r} {LATER}")
        return lines

    def is_stale(self, store: Store) -> bool:
        """Return whether a corpus of the model changed or vanished since it was built."""
        return bool(self.changes(store))

    def describe(self, store: Store) -> list[tuple[str, int | None, str]]:
        """Return everything about a model as rows: property, order of n-grams or none, value."""
        changed = self.changes(store)
        settings: dict[str, object] = {
            "name": self.name,
            "version": self.version,
            "order": self.order,
            "smoothing": self.smoothing,
            **(
                {"of": ", ".join(f"{part} {weight:.6g}" for part, weight in self.parts)} if self.parts else {}
            ),
            "min_count": ",".join(map(str, self.min_count)),
            "unknown": self.unknown,
            "brackets": "yes" if self.brackets else "no",
            **({} if self.symbols.are_words else {"over": self.symbols}),
            "vocabulary": self.vocabulary,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "created_at": self.created_at.isoformat(sep=" ", timespec="seconds"),
            "corpora": ", ".join(self.corpora),
            **({"where": self.condition} if self.condition else {}),
            "stale": "; ".join(changed) if changed else "no",
        }
        rows: list[tuple[str, int | None, str]] = [(key, None, str(value)) for key, value in settings.items()]
        rows += [("ngrams", n, str(count)) for n, count in self.count_ngrams(store).items()]
        rows += [(name, n, f"{value:.6g}") for n, name, value in self.parameters(store)]
        return rows

    def properties(self, store: Store) -> Rows:
        """Return the rows of `describe` as a table."""
        return Rows(("property", "order", "value"), self.describe(store))


#: The report on a corpus that changed although its number of tokens did not.
LATER = "has as many tokens, some from sources that came later"

#: Brackets, symbols, conditions and parts are kept in the table of parameters, but are not estimates.
_NOTES = or_(
    tables.model_parameter.c.name == BRACKETS,
    *(tables.model_parameter.c.name.startswith(note) for note in (CONDITION, SYMBOLS, tables.PARTS, PACKAGE)),
)
#: The tokens of each corpus.
_TOKENS = (
    select(corpus.c.id, func.coalesce(func.sum(segment.c.tokens), 0).label("tokens"))
    .select_from(corpus.outerjoin(segment, segment.c.corpus_id == corpus.c.id))
    .group_by(corpus.c.id)
)
#: When the last source of each corpus was stored: a changed text may have the same number of tokens.
_NEWEST = select(source.c.corpus_id, func.max(source.c.ingested_at).label("newest")).group_by(
    source.c.corpus_id
)


def find(store: Store, label: str) -> ModelInfo:
    """Return the newest model of a name, or with ``NAME@VERSION`` that version.

    Raises:
        NotFoundError: there is no such model; the message names the models that exist.
    """
    with store.connect() as connection:
        return find_in(connection, label)


def find_in(connection: Connection, label: str) -> ModelInfo:
    """Do what `find` does, inside a transaction."""
    models = [model for model in _all_in(connection, label) if model.smoothing != SCORER]
    if not models:
        raise NotFoundError(
            f"no model {label!r} but a scorer, which has no n-grams; the store has only its surprisal"
        )
    # Sorted by version, so that the last is the newest.
    return models[-1]


def matching(models: Iterable[ModelInfo], label: str) -> list[ModelInfo]:
    """Return the versions that a label means, oldest first.

    ``NAME@VERSION`` is looked up first as the name of a model, then as a version of ``NAME``.
    """
    models = list(models)
    return [model for model in models if model.name == label] or [
        model for model in models if model.label == label
    ]


def list_models(store: Store) -> list[ModelInfo]:
    """Return all models, without scorers, by name and version."""
    return [model for model in _every(store) if model.smoothing != SCORER]


def list_scorers(store: Store) -> list[ModelInfo]:
    """Return the scorers that were applied, by name and version."""
    return [model for model in _every(store) if model.smoothing == SCORER]


def _every(store: Store) -> list[ModelInfo]:
    with store.connect() as connection:
        return _infos(connection)


def find_all(store: Store, label: str) -> list[ModelInfo]:
    """Return all versions of a model that a label means, oldest first.

    Raises:
        NotFoundError: there is no such model.
    """
    with store.connect() as connection:
        return _all_in(connection, label)


def _all_in(connection: Connection, label: str) -> list[ModelInfo]:
    models = _infos(connection)
    matches = matching(models, label)
    if not matches:
        there = f"there are: {', '.join(model.label for model in models)}"
        none = "there are none yet; build one with: sentgen models build NAME --corpus CORPUS"
        raise NotFoundError(f"no model {label!r}; {there if models else none}")
    return matches


def require_name(name: str) -> None:
    """Refuse a blank as the name of a model.

    Raises:
        InputError: the name is blank.
    """
    if not name.strip():
        raise InputError("a model needs a name")


def remove(store: Store, label: str, *, dry_run: bool = False) -> list[ModelInfo]:
    """Remove one version (``NAME@VERSION``) or all versions of a model, and return what was removed.

    With ``dry_run`` nothing is removed, and the models that would be are returned.

    Raises:
        NotFoundError: there is no such model.
        ModelError: a mixture that is not removed looks the model up.
    """
    with store.connect() if dry_run else store.begin() as connection:
        models = _all_in(connection, label)
        _refuse_looked_up(connection, models)
        if not dry_run:
            _delete(connection, models)
    if not dry_run:
        _remove_unused_files(store)
    return models


def next_version(connection: Connection, name: str) -> tuple[int, int]:
    """Return the id of the next model, and its version under the name: both never used before."""
    # Never used again: caches and users' notes refer to models by id or label.
    there, gone = tables.model.c, tables.removed_model.c
    ids = (select(func.max(table.id)) for table in (there, gone))
    versions = (select(func.max(table.version)).where(table.name == name) for table in (there, gone))
    return max(scalar(connection, last) for last in ids) + 1, max(
        scalar(connection, last) for last in versions
    ) + 1


def _refuse_looked_up(connection: Connection, models: list[ModelInfo]) -> None:
    gone = {model.label for model in models}
    for other in _infos(connection):
        needed = [label for label, _ in other.parts if label in gone]
        if other.smoothing == DYNAMIC and other.label not in gone and needed:
            raise ModelError(
                f"{other.label} looks {' and '.join(needed)} up; first: sentgen models remove {other.label}"
            )


def _delete(connection: Connection, models: list[ModelInfo]) -> None:
    removed_at = now()
    rows = [
        {"id": one.id, "name": one.name, "version": one.version, "removed_at": removed_at} for one in models
    ]
    connection.execute(insert(tables.removed_model), rows)
    ids = [model.id for model in models]
    for table in _OF_MODEL:
        connection.execute(delete(table).where(table.c.model_id.in_(ids)))
    connection.execute(delete(tables.model).where(tables.model.c.id.in_(ids)))


def _count_counted(duck: duckdb.DuckDBPyConnection, model: ModelInfo) -> dict[int, int]:
    """Return how many n-grams of each order a model reads; none if the counts of a corpus are gone."""
    try:
        counts = ModelCounts.of_model(duck, model)
    except ModelError:
        return {}
    segments, sizes = ", ".join(map(str, counts.segments)) or "null", {}
    for n in range(1, model.order + 1):
        groups = f"select {sql.words(n)} from ngram_{n} where segment_id in ({segments}) group by all"
        query = f"select count(*) from ({groups} having sum(count) >= {counts.min_count[n - 1]})"
        ((sizes[n],),) = duck.execute(query).fetchall()
    return sizes


class ModelCounts(NamedTuple):
    """The counts that a model reads: their segments, their lowest ones by order, and the number of events."""

    segments: tuple[int, ...]
    min_count: tuple[int, ...]
    total: int

    @classmethod
    def of_model(cls, duck: duckdb.DuckDBPyConnection, model: ModelInfo) -> ModelCounts:
        """Return which counts a model reads now.

        Raises:
            ModelError: a corpus of the model was removed, and its counts with it.
        """
        rows = duck.execute(_SOURCES, [model.id]).fetchall()
        for name, gone, _, _ in rows:
            if gone:
                raise ModelError(
                    f"model {model.label} reads the counts of corpus {name!r}, which was"
                    " removed; build it again"
                )
        ((least,),) = duck.execute("select min_count from model where id = ?", [model.id]).fetchall()
        segments = tuple(number for _, _, number, _ in rows if number is not None)
        return cls(segments, tuple(map(int, least.split(","))), sum(int(size or 0) for _, _, _, size in rows))


def overview(store: Store) -> Rows:
    """Return all models with their settings, and whether they are stale."""
    settings = ("name", "version", "order", "smoothing", "min_count", "unknown", "brackets", "vocabulary")
    rows = [
        (
            model.name,
            model.version,
            model.order,
            model.smoothing,
            ",".join(map(str, model.min_count)),
            model.unknown,
            model.brackets,
            model.vocabulary,
            model.tokens,
            ", ".join(model.corpora),
            model.created_at,
            model.is_stale(store),
            str(model.symbols),
            model.condition or None,
        )
        for model in _every(store)
    ]
    return Rows((*settings, "tokens", "corpora", "created_at", "stale", "over", "where"), rows)


def _infos(connection: Connection) -> list[ModelInfo]:
    corpora: dict[int, list[str]] = {}
    table = tables.model_corpus
    names = select(table.c.model_id, table.c.corpus_name).order_by(table.c.corpus_name)
    for row in connection.execute(names):
        corpora.setdefault(row.model_id, []).append(row.corpus_name)
    notes: dict[int, dict[str, float]] = {}
    parameter = tables.model_parameter.c
    query = select(parameter.model_id, parameter.name, parameter.value).where(_NOTES)
    for model_id, note, value in connection.execute(query.order_by(parameter.model_id, parameter.name)):
        notes.setdefault(model_id, {})[note] = value
    order = (tables.model.c.name, tables.model.c.version)
    rows = connection.execute(select(tables.model).order_by(*order)).all()
    return [_info(row, corpora.get(row.id, []), notes.get(row.id, {})) for row in rows]


def _info(row: Row[*tuple[object, ...]], corpora: list[str], notes: dict[str, float]) -> ModelInfo:
    """Return the model of a row, given the names of its corpora, and its notes with their values."""
    conditions = [note.removeprefix(CONDITION) for note in notes if note.startswith(CONDITION)]
    over = [
        Symbols(note.removeprefix(SYMBOLS), int(value))
        for note, value in notes.items()
        if note.startswith(SYMBOLS)
    ]
    return ModelInfo(
        id=row.id,
        name=row.name,
        version=row.version,
        order=row.max_order,
        smoothing=row.smoothing,
        min_count=tuple(int(count) for count in row.min_count.split(",") if count),
        unknown=row.unknown,
        brackets=BRACKETS in notes,
        vocabulary=row.vocabulary,
        sentences=row.sentences,
        tokens=row.tokens,
        created_at=row.created_at,
        corpora=tuple(corpora),
        condition=next(iter(conditions), ""),
        symbols=next(iter(over), OF_WORDS),
        parts=tuple(
            (note.removeprefix(tables.PARTS), notes[note]) for note in notes if note.startswith(tables.PARTS)
        ),
        package=next((note.removeprefix(PACKAGE) for note in notes if note.startswith(PACKAGE)), ""),
    )


def laid_out_file(store: Store, model: ModelInfo) -> Path | None:
    """Return the file in which a model of the store is laid out; ``None`` if the store lacks the model."""
    # A cursor of its own: threads may share a store.
    with store.connect() as connection, cursor(raw(connection)) as duck:
        names = dict(duck.execute(_NAMES).fetchall())
    return _folder(store) / _file_name(model.id, names[model.id]) if model.id in names else None


def _remove_unused_files(store: Store) -> None:
    """Remove the files of models that the store does not have, and unfinished files."""
    folder = _folder(store)
    if not folders.is_ours(folder):
        return
    with store.connect() as connection:
        there = {_file_name(model_id, when) for model_id, when in raw(connection).execute(_NAMES).fetchall()}
    for path in folder.iterdir():
        with suppress(OSError):  # in use
            if folders.is_draft(path.name):
                temporary.require_left(path)
                files.remove(path)
            elif path.suffix == _SUFFIX and path.name not in there:
                files.remove_unless_open(path)
    if folders.is_empty(folder):
        folders.remove(folder)


def _folder(store: Store) -> Path:
    """Return the folder in which models are laid out; a temporary one where the store's cannot be written."""
    beside = store.path.with_name(f"{store.path.name}.models")
    if not store.lake and (os.access(beside.parent, os.W_OK) or folders.is_ours(beside)):
        return beside
    return temporary_folder(store.path.absolute())


def _file_name(model_id: int, created_at: datetime) -> str:
    # The time distinguishes models of the same id in a store that was made again under the same name.
    return f"{model_id}-{created_at:%Y%m%dT%H%M%S%f}{_SUFFIX}"
