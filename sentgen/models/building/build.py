"""Build a model: sum the counts of its corpora, smooth them, and store the probabilities.

Counts are summed by DuckDB, which spills to the disk under the memory limit of the store; smoothing and
sorting are passes over arrays, which lie in files without names where they do not fit
(`sentgen.models.smoothing`, `sentgen.models.building.writing`). Others may read the store until the rows are
written, which is one transaction: a build that fails or is interrupted leaves no trace.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select

from sentgen.counts.batch import COUNTING_SHARE, DATABASE_SHARE
from sentgen.errors import InputError, ModelError, StoreError
from sentgen.models import sql
from sentgen.models.building.chosen import BuiltFrom, Chosen, built_from, choose, selected
from sentgen.models.building.recipe import ESTIMATORS, Recipe, recipe
from sentgen.models.building.recount import recount
from sentgen.models.building.symbols import Symbols
from sentgen.models.building.writing import anchors_of, smoothed, write_sorted
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.registry import BRACKETS, CONDITION, SYMBOLS, ModelInfo, find, find_in, next_version
from sentgen.schema import Store, metadata
from sentgen.schema.store import scalar
from sentgen.schema.tables import models as tables
from sentgen.schema.tables.corpus import BOS, EOS, UNK
from sentgen.space import Space

#: Shares of the memory of the whole process: what n-grams may take that are smoothed, what sorting them for
#: the store may take, and where pages of files are given back. DuckDB has its own (`DATABASE_SHARE`).
ROWS_SHARE, SORTING_SHARE, FULL_SHARE = 0.65 * COUNTING_SHARE, 0.35 * COUNTING_SHARE, 0.8
#: Bytes that numba and the code that it has compiled take from that of the n-grams.
_COMPILED = 64 << 20
_FILE = "build.sql"
Progress = Callable[[str], None]
Parameters = Sequence[tuple[int, str, float]]


def build(
    store: Store,
    name: str,
    corpora: Sequence[str],
    *,
    order: int,
    smoothing: str = "kneser-ney",
    min_count: Sequence[int] | None = None,
    unknown: str = "word",
    brackets: bool = False,
    symbols: Symbols | None = None,
    condition: str | None = None,
    progress: Progress | None = None,
) -> ModelInfo:
    """Build the next version of a model from the counts of the given corpora.

    Args:
        store: the store, open for writing.
        name: name of the model; older versions of it stay.
        corpora: names of the corpora whose counts are summed; sentences of subcorpora are counted anew.
        order: highest order of n-grams, 1 to 5.
        smoothing: ``kneser-ney`` (as lmplz), ``katz``, or ``stupid-backoff``, for which nothing is built:
            look-ups read the counts.
        min_count: lowest count kept per order; must not fall; the last one also holds for higher orders.
        unknown: ``word`` gives <unk> a probability; ``none`` does not; ``tag`` also maps words seen once to
            ``<unk:TAG>``, with the language-specific tag where there is one, else the universal one.
        brackets: count the brackets of base noun phrases as words, ``<np>`` and ``</np>``.
        symbols: what the n-grams are made of, if not of words (see `sentgen.models.building.symbols`).
        condition: count only sentences whose metadata meet this (see `sentgen.lookups.metadata`).
        progress: called with one line a step.

    Raises:
        InputError: a setting is out of range, or the condition cannot be read.
        NotFoundError: there is no such corpus.
        ModelError: a corpus has no counts, too low an order, no tags where they are needed, or no base
            noun phrases.
        StoreError: the store is a lake, which takes models of ``stupid-backoff`` alone.
    """
    if not name.strip():
        raise InputError("a model needs a name")
    settings = recipe(order, smoothing, min_count, unknown, brackets, symbols)
    report = progress or (lambda _: None)
    if smoothing == stupid_backoff.NAME:
        _refuse_chosen(store, corpora, condition)
        of_counts = _build_in_lake if store.lake else _build_of_counts
        return of_counts(store, name, corpora, settings)
    if store.lake:
        raise StoreError(
            f"{store.lake}: a lake is only read; a model of kneser-ney is built in it with: "
            f"sentgen cluster models {shlex.quote(name)} --in {shlex.quote(str(store.lake))}"
        )
    made = _Build(store, settings, condition, report)
    if not settings.as_counted:
        # Classes, brackets and symbols become words of the store before they are counted.
        with store.begin() as connection:
            made.smooth(connection, corpora)
            drop_temporary(connection)
            return made.write(connection, name)
    store.share()
    with store.connect() as connection:
        made.smooth(connection, corpora)
    with store.begin() as connection:
        return made.write(connection, name)


def _refuse_chosen(store: Store, corpora: Sequence[str], condition: str | None) -> None:
    """Refuse what has no counts to be read."""
    with store.connect() as connection:
        if selected(connection, corpora, condition)[1] is not None:
            raise ModelError(
                f"{stupid_backoff.NAME} reads the counts of whole corpora;"
                " for chosen sentences take kneser-ney or katz"
            )


def _build_of_counts(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Store a model that reads the counts of its corpora."""
    with store.begin() as connection:
        found = [built_from(connection, each) for each in dict.fromkeys(corpora)]
        check_corpora(found, settings)
        words = vocabulary(connection, found, settings)
        model_id, version = next_version(connection, name)
        _insert(connection, rows_of(model_id, (name, version), settings, found, words))
        return find_in(connection, f"{name}@{version}")


def _build_in_lake(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Add such a model to a lake, by a file more."""
    lake, memory = store.lake, store.memory_limit
    assert lake is not None
    # Here: every command that takes a model imports this module, and none of them writes Parquet.
    from sentgen.counts.cluster.engine import Inline
    from sentgen.models.cluster.job import ModelJob

    with tempfile.TemporaryDirectory() as folder:
        work = Path(lake.root) / "_work" if lake.files is None else Path(folder) / "work"
        built = ModelJob(lake, work, Inline(), memory).run(name, corpora, settings)
    # What is open names the files that were there.
    with Store(lake.root, read_only=True, memory_limit=memory) as opened:
        return find(opened, built.label)


def vocabulary(connection: Connection, corpora: Sequence[BuiltFrom], settings: Recipe) -> int:
    """Return how many words a model has that reads the counts of its corpora."""
    count(connection, corpora, settings, lambda _: None)
    unigrams = sql.run(connection, _FILE, "vocabulary", bos=BOS, unk=UNK, least=settings.min_count[0])
    drop_temporary(connection)
    return int(unigrams[0][0]) + (settings.unknown == "word")


class _Build:
    """A model on its way from counts to rows."""

    def __init__(self, store: Store, settings: Recipe, condition: str | None, report: Progress) -> None:
        self.settings, self.condition, self.report = settings, condition, report
        memory = store.memory_limit / DATABASE_SHARE
        self.sorting = int(memory * SORTING_SHARE)
        room = max(0, int(memory * ROWS_SHARE) - _COMPILED)
        self.space = Space(room, store.path.parent, most=int(memory * FULL_SHARE))

    def smooth(self, connection: Connection, corpora: Sequence[str]) -> None:
        """Sum the counts of the corpora, and smooth them."""
        settings = self.settings
        names, condition = selected(connection, corpora, self.condition)
        self.corpora = [built_from(connection, each) for each in names]
        check_corpora(self.corpora, settings)
        self.chosen: Chosen | None = None
        if condition is not None:
            self.chosen = choose(connection, condition, [each.id for each in self.corpora])
        count(connection, self.corpora, settings, self.report, chosen=self.chosen is not None)
        self.orders, self.parameters = ESTIMATORS[settings.smoothing](
            connection,
            order=settings.order,
            min_count=settings.min_count,
            unknown=settings.unknown != "none",
            space=self.space,
            progress=self.report,
        )
        self.anchors, self.source = anchors_of(self.orders, self.space), smoothed(self.orders, self.space)

    def write(self, connection: Connection, name: str) -> ModelInfo:
        """Store it as the next version of its name."""
        self.report("writing the model")
        model_id, version = next_version(connection, name)
        write_sorted(connection, model_id, self.anchors, self.source, memory=self.sorting)
        label, parameters = (name, version), self.parameters
        record(connection, model_id, label, self.settings, self.corpora, parameters, self.chosen)
        return find_in(connection, f"{name}@{version}")


def check_corpora(corpora: Sequence[BuiltFrom], settings: Recipe) -> None:
    """Refuse corpora that do not make such a model.

    Raises:
        ModelError: there are none, or they are empty or not counted to its order.
    """
    if not corpora:
        raise ModelError("a model needs a corpus; give --corpus NAME")
    for each in corpora:
        if each.max_order < settings.order:
            raise ModelError(
                f"corpus {each.name!r} is counted up to order {each.max_order}, not {settings.order}; "
                f"choose --order {each.max_order}, or ingest it again with --order {settings.order}"
            )
    if not sum(each.sentences for each in corpora):
        raise ModelError(f"no sentences in {', '.join(each.name for each in corpora)}; ingest some first")


def count(
    connection: Connection,
    corpora: Sequence[BuiltFrom],
    settings: Recipe,
    report: Progress,
    *,
    new_words: bool = True,
    first_words: tuple[int, int] | None = None,
    chosen: bool = False,
) -> None:
    """Make ``counted_1`` and up: the counts of the model's n-grams, in the corpora together.

    The same lie sorted in ``part_1`` and up, where an n-gram may have several rows.

    Args:
        connection: of the store.
        corpora: the corpora.
        settings: of the model.
        report: called with one line a step.
        new_words: if not, all words of the model must be in the store already, and nothing is written to it.
        first_words: those n-grams alone whose first word is at least the first number and less than the
            second; if nothing is counted again.
        chosen: whether the sentences of the table ``chosen`` alone count (`sentgen.models.building.chosen`).

    Raises:
        ModelError: marks of the ends of sentences stand within them.
    """
    segments = [number for each in corpora for number in each.segments]
    if chosen or not settings.as_counted:
        recount(
            connection,
            [each.id for each in corpora],
            settings,
            chosen=chosen,
            new_words=new_words and not settings.as_counted,
            progress=report,
        )
        statements = ["part_counted"]
    else:
        one = len(segments) == 1  # sorted and summed already: read it where it lies
        statements = ["count_segment", "part_segment"] if one else ["count_segments", "part_segments"]
    for n in range(1, settings.order + 1):
        for statement in statements:
            listed = ", ".join(map(str, segments))
            within = f" and w1 >= {first_words[0]} and w1 < {first_words[1]}" if first_words else ""
            sql.run(connection, _FILE, statement, n=n, words=sql.words(n), segments=listed, within=within)
    if settings.order > 1 and sql.run(connection, _FILE, "misplaced", bos=BOS, eos=EOS)[0][0]:
        raise ModelError(
            "the text contains <s> or </s> as words, which no language model can tell from the ends of "
            "sentences; replace them and ingest it again"
        )


def record(
    connection: Connection,
    model_id: int,
    label: tuple[str, int],
    settings: Recipe,
    corpora: Sequence[BuiltFrom],
    parameters: Parameters,
    chosen: Chosen | None = None,
) -> None:
    """Store what there is to know of a model whose n-grams are stored; ``label`` is its name and version.

    Imported models have no corpora; ``chosen`` are the sentences of them that were counted, if not all.
    """
    ngrams = tables.model_ngram.c
    unigrams = (ngrams.model_id == model_id, ngrams.n == 1, ngrams.w1 != BOS)
    words = scalar(connection, select(func.count()).where(*unigrams))
    rows = rows_of(model_id, label, settings, corpora, words)
    notes = {BRACKETS: 1.0} if settings.brackets else {}
    if not settings.symbols.are_words:
        notes[f"{SYMBOLS}{settings.symbols.over}"] = float(settings.symbols.kept)
    if chosen is not None:
        rows[tables.model.name][0] |= {"sentences": chosen.sentences, "tokens": chosen.tokens}
        notes[f"{CONDITION}{chosen.condition}"] = 1.0
    parameters = [*parameters, *((0, note, value) for note, value in notes.items())]
    rows[tables.model_parameter.name] = [
        {"model_id": model_id, "n": n, "name": key, "value": value} for n, key, value in parameters
    ]
    _insert(connection, rows)


def rows_of(
    model_id: int,
    label: tuple[str, int],
    settings: Recipe,
    corpora: Sequence[BuiltFrom],
    words: int,
    created_at: datetime | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that say what a model is, by table; it is made now unless a time is given."""
    name, version = label
    model = {
        "id": model_id,
        "name": name,
        "version": version,
        "max_order": settings.order,
        "smoothing": settings.smoothing,
        "min_count": ",".join(map(str, settings.min_count)),
        "unknown": settings.unknown,
        "vocabulary": words,
        "sentences": sum(each.sentences for each in corpora),
        "tokens": sum(each.tokens for each in corpora),
        "created_at": created_at or datetime.now(UTC).replace(tzinfo=None),
    }
    of = [
        {"model_id": model_id, "corpus_id": each.id, "corpus_name": each.name, "tokens": each.tokens}
        for each in corpora
    ]
    return {tables.model.name: [model], tables.model_corpus.name: of}


def _insert(connection: Connection, rows: dict[str, list[dict[str, Any]]]) -> None:
    for table, new in rows.items():
        if new:
            connection.execute(insert(metadata.tables[table]), new)


def drop_temporary(connection: Connection) -> None:
    """Drop the temporary tables and views of a build, which would keep their memory."""
    for name, kind in sql.run(connection, _FILE, "temporary"):
        sql.rows(connection, f"drop {'view' if kind == 'VIEW' else 'table'} temp.{name}")
