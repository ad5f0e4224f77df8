"""Build a model in the store or lake that has its counts, for `models build` and Python.

In a store, counts are summed by DuckDB, which spills to the disk under the memory limit; smoothing and
sorting are passes over arrays, which are kept in unnamed files where they do not fit
(`sentgen.models.building`). Unless the store is small, other processes may read it until the rows are
written, which is one transaction: a build that fails or is interrupted leaves no trace.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from sqlalchemy import Connection

from sentgen import temporary
from sentgen.arrays import Longs, Space
from sentgen.errors import InputError, ModelError, StoreError, spell
from sentgen.models.base import registry
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo, find, find_in, next_version, require_name
from sentgen.models.base.symbols import ITEMS, KEPT, OVER, TAGS, WORDS, Symbols
from sentgen.models.building.recipe import (
    ESTIMATORS,
    BuiltFrom,
    Chosen,
    Draw,
    Progress,
    Recipe,
    drop_temporary,
    selected,
)
from sentgen.models.building.writing import (
    Parameters,
    Source,
    anchors_of,
    insert_rows,
    record,
    rows_of,
    smoothed,
)
from sentgen.models.companions import COMPANIONS, companion_name, corpora_of_companions
from sentgen.models.request import WhereOption
from sentgen.options import Option
from sentgen.schema import Store
from sentgen.schema.engine import COUNTING_SHARE, DATABASE_SHARE

#: Shares of the memory of the whole process: for the n-grams during smoothing, and the limit above which
#: pages of files are given back. DuckDB's share is `DATABASE_SHARE`.
ROWS_SHARE, _FULL_SHARE = 0.65 * COUNTING_SHARE, 0.8
#: Bytes that numba and its compiled code take from the share of the n-grams.
_COMPILED = 64 << 20


def _build_of_counts(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Store a model that reads the counts of its corpora."""
    with store.begin() as connection:
        sources = [BuiltFrom.find(connection, each) for each in dict.fromkeys(corpora)]
        settings.check(sources)
        words = settings.vocabulary(connection, sources)
        model_id, version = next_version(connection, name)
        insert_rows(connection, rows_of(model_id, (name, version), settings, sources, words))
        return find_in(connection, f"{name}@{version}")


def space_of(store: Store) -> Space:
    """Return the `Space` for the n-grams of a model that is made."""
    memory = store.memory_limit / DATABASE_SHARE
    size = max(0, int(memory * ROWS_SHARE) - _COMPILED)
    return Space(size, store.path.parent, most=int(memory * _FULL_SHARE))


def _smoothed(
    connection: Connection,
    corpora: Sequence[str],
    settings: Recipe,
    condition: str | None,
    draw: Draw | None,
    space: Space,
    report: Progress,
) -> tuple[list[BuiltFrom], Parameters, tuple[Longs, Source], Chosen | None]:
    """Sum the counts of the corpora, and smooth them; return what `record` stores."""
    names, among = selected(connection, corpora, condition)
    sources = [BuiltFrom.find(connection, each) for each in names]
    settings.check(sources)
    chosen: Chosen | None = None
    if among is not None or draw is not None:
        chosen = Chosen.choose(connection, among, draw, [each.id for each in sources])
    settings.count(connection, sources, report, chosen=chosen is not None)
    orders, parameters = ESTIMATORS[settings.smoothing](
        connection,
        order=settings.order,
        min_count=settings.min_count,
        unknown=settings.unknown != "none",
        space=space,
        progress=report,
    )
    drop_temporary(connection)
    report("writing the model")
    return sources, parameters, (anchors_of(orders, space), smoothed(orders, space)), chosen


def build(
    store: Store,
    name: str,
    corpora: Sequence[str],
    settings: Recipe | None = None,
    *,
    condition: str | None = None,
    draw: Draw | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> ModelInfo:
    """Build the next version of a model from the counts of the given corpora.

    Args:
        store: the store, open for writing.
        name: name of the model; older versions of it stay.
        corpora: names of the corpora whose counts are summed; sentences of subcorpora are counted anew.
        settings: how it is built.
        condition: count only sentences whose metadata meet this (see `sentgen.lookups.base.metadata`).
        draw: count only some of the sentences, drawn by a seed.
        progress: called with one line a step.
        fields: settings by name instead (see `sentgen.models.building.recipe.Recipe`): ``order`` and, if
            wanted, ``smoothing``, ``min_count``, ``unknown``, ``brackets`` and ``symbols``.

    Raises:
        InputError: a setting is out of range, or the condition cannot be read.
        NotFoundError: there is no such corpus.
        ModelError: fewer sentences than are to be drawn, a corpus has no counts, too low an order, no tags
            where they are needed, or no base noun phrases.
        StoreError: the store is a lake, which takes models of ``stupid-backoff`` alone.
    """
    require_name(name)
    settings = settings or Recipe.checked(**fields)
    report = progress or (lambda _: None)
    if settings.smoothing == STUPID_BACKOFF:
        _refuse_chosen(store, corpora, condition, draw)
        of_counts = _build_in_lake if store.lake else _build_of_counts
        return of_counts(store, name, corpora, settings)
    if store.lake:
        raise StoreError(
            f"{store.lake}: a lake is only read; a model of kneser-ney is built in it with: "
            f"sentgen cluster models {shlex.quote(name)} --in {shlex.quote(str(store.lake))}"
        )
    wanted = corpora, settings, condition, draw, space_of(store), report
    if not settings.as_counted:
        # Classes, brackets and symbols become words of the store before they are counted.
        with store.begin() as connection:
            return record(store, connection, name, settings, *_smoothed(connection, *wanted))
    store.downgrade_to_read(unless_small=True)
    with store.connect() as connection:
        made = _smoothed(connection, *wanted)
    with store.begin() as connection:
        return record(store, connection, name, settings, *made)


def _refuse_chosen(store: Store, corpora: Sequence[str], condition: str | None, draw: Draw | None) -> None:
    """Refuse a condition or a draw: the counts of selected sentences are not stored."""
    with store.connect() as connection:
        if draw or selected(connection, corpora, condition)[1] is not None:
            raise ModelError(
                f"{STUPID_BACKOFF} reads the counts of whole corpora;"
                " for chosen sentences take kneser-ney or katz"
            )


def _build_in_lake(store: Store, name: str, corpora: Sequence[str], settings: Recipe) -> ModelInfo:
    """Add a model that reads the counts of its corpora to a lake, as one more file."""
    # Imported here: a server holds in memory what its workers import, and none of them builds models.
    from sentgen.counts.cluster.stages import Inline
    from sentgen.models.cluster.job import ModelJob

    lake, memory = store.lake, store.memory_limit
    assert lake is not None
    with temporary.folder() as folder:
        work = Path(lake.root) / "_work" if lake.files is None else folder / "work"
        built = ModelJob(lake, work, Inline(), memory).run(name, corpora, settings)
    # The open store still lists the files before the build.
    with Store(lake.root, read_only=True, memory_limit=memory) as opened:
        return find(opened, built.label)


_KNESER_NEY = "kneser-ney"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """A model of some corpora.

    Raises:
        InputError: ``min_count`` is no list of numbers, ``over`` is none of `OVER`, or a model that is not
            over words should have companions.
    """

    name: Annotated[str, Option("Name of the model.", argument=True, metavar="NAME")]
    corpus: Annotated[
        list[str],
        Option("Corpora to count.", shell="Corpus to count; may be repeated.", metavar="NAME", given=True),
    ]
    order: Annotated[int, Option("Highest order of n-grams.", least=1, most=5)] = 4
    smoothing: Annotated[str, Option("kneser-ney, katz or stupid-backoff.", metavar="METHOD")] = _KNESER_NEY
    min_count: Annotated[
        str | None,
        Option("Lowest count kept per order; the last one for the rest.", metavar="N,N,..."),
    ] = None
    unknown: Annotated[
        str, Option("Unknown words: word (one `<unk>`), tag (one per tag) or none.", metavar="HOW")
    ] = "word"
    brackets: Annotated[
        bool, Option("Count the brackets of base noun phrases, `<np>` and `</np>`, as words.")
    ] = False
    over: Annotated[str, Option(f"What n-grams are made of: {', '.join(OVER)}.", metavar="WHAT")] = "words"
    classes: Annotated[
        int | None,
        Option(f"Frequent words that classes and items keep. Default: {KEPT}.", metavar="N", least=0),
    ] = None
    where: WhereOption = None
    sentences: Annotated[
        int | None,
        Option(
            "Count only N of the sentences, drawn by `seed`.",
            shell="Count only N of the sentences, drawn by --seed.",
            metavar="N",
            least=1,
        ),
    ] = None
    share: Annotated[
        float | None,
        Option(
            "Count only this share of the sentences, drawn by `seed`.",
            shell="Count only this share of the sentences, drawn by --seed.",
            metavar="0..1",
            least=0,
            most=1,
        ),
    ] = None
    seed: Annotated[int, Option("Seed by which sentences are drawn.", least=0)] = 1
    companions: Annotated[
        bool,
        Option(
            "Also build NAME-tags, NAME-classes and NAME-items, the models over these of the same corpora,"
            " which joint decoding asks as well."
        ),
    ] = False

    def __post_init__(self) -> None:
        parse_counts(self.min_count)
        if self.companions and self.over != WORDS:
            raise InputError(
                f"companions go with a model over words, not over {self.over};"
                f" leave {spell('over')} or {spell('companions')} out"
            )
        if self.sentences is not None and self.share is not None:
            raise InputError("a number of sentences and a share exclude each other; leave one out")
        Symbols.checked(ITEMS if self.companions else self.over, self.classes)

    def build(self, store: Store, progress: Progress | None = None) -> list[ModelInfo]:
        """Build the next version of the model, then of its companions, if they are wanted.

        See `sentgen.models.build_request.build`.
        """
        built, wanted = [], self.requests(store)
        for each in wanted:
            step = partial(_report_name, progress, each.name) if progress and len(wanted) > 1 else progress
            where, draw = each.where, each._draw
            built.append(
                build(store, each.name, each.corpus, each._recipe, condition=where, draw=draw, progress=step)
            )
        return built

    def built(self, store: Store) -> list[ModelInfo]:
        """Return the newest models of these names if they have these settings and are not stale."""
        wanted = self.requests(store)
        there = {model.name: model for model in registry.list_models(store)}
        models = [there[each.name] for each in wanted if each.name in there]
        if len(models) < len(wanted):
            return []
        same = all(each._describes(model) for each, model in zip(wanted, models, strict=True))
        return models if same and not any(model.is_stale(store) for model in models) else []

    @property
    def _recipe(self) -> Recipe:
        counts, made_of = parse_counts(self.min_count), Symbols.checked(self.over, self.classes)
        return Recipe.checked(self.order, self.smoothing, counts, self.unknown, self.brackets, made_of)

    def _describes(self, model: ModelInfo) -> bool:
        """Return whether a model has these settings; False for selected sentences, which are not compared."""
        chosen = self.where or self._draw or model.condition
        return (
            self._recipe == Recipe.of_model(model) and set(self.corpus) == set(model.corpora) and not chosen
        )

    def requests(self, store: Store) -> list[BuildRequest]:
        """Return a request for each model that is asked for, the one over words first.

        Raises:
            ModelError: no corpus can have companions, or sentences are drawn and some corpora can have none.
        """
        if not self.companions:
            return [self]
        tagged = corpora_of_companions(store, self.corpus)
        if self._draw and set(tagged) != set(self.corpus):
            raise ModelError(
                f"companions are of {', '.join(tagged)} alone, and would be of other sentences than are drawn"
                f" for the model; name these corpora alone, or leave {spell('companions')} out"
            )
        words = replace(self, companions=False, classes=None)
        # Companions have counts of their own, and their symbols replace rare words and brackets already.
        smoothing = _KNESER_NEY if self.smoothing == STUPID_BACKOFF else self.smoothing
        alike = replace(words, corpus=tagged, smoothing=smoothing, unknown="word", brackets=False)
        return [
            words,
            *(
                replace(
                    alike,
                    name=companion_name(self.name, over),
                    over=over,
                    classes=None if over == TAGS else self.classes,
                )
                for over in COMPANIONS
            ),
        ]

    @property
    def _draw(self) -> Draw | None:
        drawn = self.sentences is not None or self.share is not None
        return Draw(self.sentences, self.share, self.seed) if drawn else None


def _report_name(progress: Progress, name: str, line: str) -> None:
    progress(f"{name}: {line}")


def parse_counts(text: str | None) -> list[int] | None:
    """Read the lowest counts by order, such as ``1,1,2``.

    Raises:
        InputError: the text is no list of numbers.
    """
    if text is None:
        return None
    parts = text.split(",")
    # More digits than any count has; int() refuses some thousand of them with a traceback.
    if not all(part.strip().isdecimal() and len(part.strip()) <= 9 for part in parts):
        raise InputError(f"{spell('min_count')} {text[:40]!r} is no list of numbers; write it like 1,1,2")
    return [int(part) for part in parts]
