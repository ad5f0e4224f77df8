"""Bags whose tags are of another set than the treebank's: their words count, and it is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import ingest
from sentgen.counts.settings import Settings
from sentgen.demo import TREEBANK
from sentgen.evaluation.regeneration.experiment import evaluate_regeneration
from sentgen.generation import Search, Unit, plan_search
from sentgen.generation.prepare import prepare
from sentgen.generation.tag_sets import of_another_set, other_set_note
from sentgen.models import ModelInfo, build
from sentgen.schema import Store

WORDS = ("The", "governor", "closed", "the", "road", ".")
#: Tags as Italian treebanks have them, and those of the demo treebank.
FOREIGN, OWN = ("RD", "S", "V", "RD", "S", "FS"), ("DT", "NN", "VBD", "DT", "NN", ".")


@pytest.fixture(scope="module")
def relief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, ModelInfo]]:
    with Store(tmp_path_factory.mktemp("other_tags") / "s.duckdb", create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief"))
        yield store, build(store, "relief", ["relief"], order=2, smoothing="kneser-ney")


def bag(tags: tuple[str, ...] | None) -> list[Unit]:
    return [Unit((word,), (tags[i],) if tags else ()) for i, word in enumerate(WORDS)]


def test_a_bag_of_another_tag_set_is_one_without_tags(relief: tuple[Store, ModelInfo]) -> None:
    """Trees would tell nothing of tags that were never seen; a bag beside it keeps its own."""
    store, model = relief
    plan = plan_search(store, model, Search(algorithm="prim"))

    [[foreign, bare, own]] = list(prepare(store, plan, [bag(FOREIGN), bag(None), bag(OWN)]))

    assert [one.foreign for one in (foreign, bare, own)] == [True, False, False]
    assert [one.guessed for one in (foreign, bare, own)] == [6, 6, 0]
    assert dict(unit_tags(foreign.bag)) == dict(unit_tags(bare.bag))
    assert set(dict(unit_tags(foreign.bag)).values()).isdisjoint(FOREIGN)


def unit_tags(units: tuple[Unit, ...]) -> list[tuple[str, str]]:
    return [(word, tag) for unit in units for word, tag in zip(unit.words, unit.tags, strict=True)]


@given(st.lists(st.sampled_from("abcXYZ")))
def test_most_of_the_tags_decide(tags: list[str]) -> None:
    unknown = [tag for tag in tags if tag in "XYZ"]

    assert of_another_set(tags, set("abc")) == (len(unknown) > len(tags) - len(unknown))


def test_it_is_said_of_how_many_bags() -> None:
    assert other_set_note([False, False]) == ""
    assert other_set_note([True, False]).startswith("the tags of 1 of 2 bags are of another set")


def test_heads_are_compared_by_words_where_tags_were_guessed(relief: tuple[Store, ModelInfo]) -> None:
    """Units on their gold head are counted, whatever tags they got; and the score of the real order is there."""
    store, model = relief
    foreign = Sentence(
        list(WORDS), xpos=list(FOREIGN), upos=["X"] * 6, heads=[2, 3, 0, 5, 3, 3], deprels=["dep"] * 6
    )
    own = replace(foreign, xpos=list(OWN))

    figures = [
        evaluate_regeneration(store, model, [one], ["prim"]).systems[0].measurements["attachment"].value
        for one in (foreign, own)
    ]

    assert figures[0] == figures[1] > 0
