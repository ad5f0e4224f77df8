"""Smoothing over sorted rows equals the reference in SQL, for all counts and cutoffs."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Any

import pytest
import smoothing_reference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import rows as rows_of
from toy_corpus import add_corpus

from sentgen.arrays import Space
from sentgen.errors import DamagedError, StoreError
from sentgen.models import ModelInfo
from sentgen.models import build as build_model
from sentgen.models.base import registry
from sentgen.models.building import rows, writing
from sentgen.models.building.recipe import BuiltFrom, Recipe
from sentgen.schema import Store
from sentgen.schema.store import raw

#: Words with tags; ``<unk>`` may be one of them, and some occur once, so that a tag stands for them.
WORDS = ["a/D", "b/N", "c/N", "d/V", "e/V", "<unk>/X", "f/N", "g/V"]
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), min_size=1, max_size=8)
#: Segments of one or two corpora.
texts = st.lists(st.tuples(st.sampled_from(["one", "two"]), sentences), min_size=1, max_size=3)
thresholds = st.lists(st.integers(1, 3), min_size=1, max_size=5).map(sorted)


def stored(store: Store, model: ModelInfo) -> list[tuple[Any, ...]]:
    query = "select * exclude model_id from model_ngram where model_id = ? order by rowid"
    return rows_of(store, query, model.id)


def assert_equals_reference(
    store: Store, corpora: Sequence[str], smoothing: str, settings: dict[str, Any]
) -> None:
    """Compare a model, its order of rows and its parameters with the reference."""
    model = build_model(store, "m", corpora, smoothing=smoothing, **settings)
    wanted = Recipe.checked(
        settings["order"],
        smoothing,
        settings.get("min_count"),
        settings.get("unknown", "word"),
        settings.get("brackets", False),
    )
    with store.begin() as connection:
        wanted.count(connection, [BuiltFrom.find(connection, name) for name in corpora], lambda _: None)
        expected, parameters = smoothing_reference.smooth(
            connection,
            smoothing,
            order=model.order,
            min_count=model.min_count,
            unknown=model.unknown != "none",
        )
    found = stored(store, model)

    assert {row[2 : 2 + row[1]] for row in found} == expected.keys()
    assert len(found) == len(expected)
    keys = [tuple(-1 if value is None else value for value in row[:7]) for row in found]
    assert keys == sorted(keys)
    for anchor, n, *words, logp, backoff in found:
        assert words[n:] == [None] * (5 - n)
        assert anchor == max(words[:n])
        assert (logp, backoff) == pytest.approx(expected[tuple(words[:n])], rel=1e-12, abs=1e-12)
    kept = [parameter for parameter in model.parameters(store) if parameter[0]]
    assert sorted(kept) == parameters


@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=texts,
    order=st.integers(1, 5),
    min_count=thresholds,
    unknown=st.sampled_from(["word", "none", "tag"]),
    block=st.sampled_from([1, 3, 1 << 20]),
    memory=st.sampled_from([0, 400, 1 << 30]),
    brackets=st.booleans(),
)
def test_equals_the_reference(
    smoothing: str,
    text: list[tuple[str, list[list[str]]]],
    order: int,
    min_count: list[int],
    unknown: str,
    block: int,
    memory: int,
    brackets: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """This holds for segments and corpora, with pruning and classes, in blocks, in memory and in files."""
    with (
        pytest.MonkeyPatch.context() as patch,
        Store(tmp_path_factory.mktemp("rows") / "s.duckdb", create=True, threads=2) as store,
    ):
        patch.setattr(rows, "BLOCK", block)
        patch.setattr(rows, "_READ", max(block, 2))
        patch.setattr(writing, "_BYTES_A_ROW", 1 << 30 if block == 1 else 36)
        patch.setitem(
            build_model.__globals__, "Space", lambda _, folder, *, most: Space(memory, folder, most=0)
        )
        for name, part in text:
            add_corpus(store, name, [" ".join(words) for words in part], tags="upos_id")
        with store.begin() as connection:
            raw(connection).execute("update token set np = case when position <= 2 then 1 else 0 end")
        settings = {
            "order": order,
            "min_count": min_count[:order],
            "unknown": unknown,
            "brackets": brackets,
        }

        assert_equals_reference(store, sorted({name for name, _ in text}), smoothing, settings)

        assert not [path for path in store.path.parent.iterdir() if not path.name.startswith("s.duckdb")]


def test_rows_that_do_not_lie_in_order_are_sorted(store: Store) -> None:
    add_corpus(store, "toy", ["a b a c", "c b a"])
    add_corpus(store, "mixed", ["a b a c", "c b a"])
    with store.begin() as connection:
        raw(connection).execute("create temp table mixed as select * from ngram_3 where segment_id = 2")
        raw(connection).execute("delete from ngram_3 where segment_id = 2")
        raw(connection).execute("insert into ngram_3 select * from mixed order by w3, w2, w1")

    in_order, mixed = (build_model(store, name, [name], order=3) for name in ("toy", "mixed"))

    assert stored(store, mixed) == stored(store, in_order)


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    "damage",
    [
        "delete from ngram_2 where w1 = 4",  # the prefix of an n-gram
        "delete from ngram_2 where rowid = (select max(rowid) from ngram_2)",
        "delete from ngram_2 where w1 <> 1 and rowid = (select min(rowid) from ngram_2 where w1 <> 1)",
        "update ngram_3 set w3 = 99 where rowid = (select min(rowid) from ngram_3)",  # no such suffix
        "delete from ngram_1 where w1 = 2",
    ],
)
@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
def test_counts_that_do_not_fit_are_refused(store: Store, damage: str, smoothing: str) -> None:
    """The error says what to do, and nothing is stored."""
    add_corpus(store, "toy", ["a b a c", "c b a"])
    with store.begin() as connection:
        raw(connection).execute(damage)

    with pytest.raises(DamagedError, match=r"do not fit .* sentgen db check"):
        build_model(store, "m", ["toy"], order=3, smoothing=smoothing)

    assert registry.list_models(store) == []


def test_a_full_disk_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disk space is allocated before it is used, so that a full disk is an error and not a signal."""
    add_corpus(store, "toy", ["a b a c", "c b a"])
    monkeypatch.setattr("sentgen.models.build_request.ROWS_SHARE", 0.0)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    log = f"{store.path.name}.wal"  # where DuckDB writes
    before = {path.name for path in store.path.parent.iterdir()} - {log}

    with pytest.raises(StoreError, match="the disk is full"):
        build_model(store, "m", ["toy"], order=3)

    assert registry.list_models(store) == []
    assert {path.name for path in store.path.parent.iterdir()} - {log} == before


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
@pytest.mark.parametrize("moment", ["_find_prefixes", "_find_suffixes", "arrow_reader"])
def test_an_interrupt_leaves_nothing(
    store: Store, smoothing: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_corpus(store, "toy", ["a b a c", "c b a"])

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rows, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            build_model(store, "m", ["toy"], order=3, smoothing=smoothing)

    assert registry.list_models(store) == []
    assert build_model(store, "m", ["toy"], order=3, smoothing=smoothing).version == 1
