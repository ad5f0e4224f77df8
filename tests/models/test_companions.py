"""`models build --companions`: a model with those over tags, classes and items, in one go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_symbols import add_phrases
from toy_corpus import add_corpus, ngrams

from sentgen.errors import InputError, ModelError
from sentgen.generation.ngrams.features import companions
from sentgen.models import build
from sentgen.models.base.registry import ModelInfo, find, list_models, remove
from sentgen.models.base.symbols import Symbols
from sentgen.models.build_request import BuildRequest
from sentgen.models.mix import MixRequest
from sentgen.schema import Store


def built(store: Store, corpora: list[str], **settings: Any) -> list[ModelInfo]:
    return BuildRequest(name="m", corpus=corpora, companions=True, **settings).build(store)


def test_they_are_the_models_that_one_would_build(store: Store) -> None:
    """Companions equal models that are built one by one; settings for words apply to the words only."""
    add_phrases(store)
    steps: list[str] = []
    request = BuildRequest(
        name="m",
        corpus=["trees"],
        companions=True,
        order=3,
        min_count="1,2",
        unknown="tag",
        brackets=True,
        classes=3,
    )
    words, *others = request.build(store, steps.append)

    assert [model.label for model in (words, *others)] == ["m@1", "m-tags@1", "m-classes@1", "m-items@1"]
    assert (words.unknown, words.brackets, words.symbols.over) == ("tag", True, "words")
    assert {line.split(":")[0] for line in steps} == {"m", "m-tags", "m-classes", "m-items"}
    for model, made_of in zip(
        others, [Symbols("tags"), Symbols("classes", 3), Symbols("items", 3)], strict=True
    ):
        alone = build(store, "alone", ["trees"], order=3, min_count=[1, 2], symbols=made_of)
        assert (model.symbols, model.brackets, model.unknown) == (made_of, False, "word")
        assert ngrams(store, model) == ngrams(store, alone)


def test_a_search_finds_them(store: Store) -> None:
    """Joint decoding uses the companions that were built, and their next versions."""
    add_phrases(store)
    for version in (1, 2):
        model = built(store, ["trees"], order=2)[0]
        assert [*companions(store, model).values()] == [
            f"m-{over}@{version}" for over in ("tags", "classes", "items")
        ]


def test_a_model_goes_with_its_own(store: Store) -> None:
    """A model keeps its own companions when others are built over the same corpora."""
    add_phrases(store)
    model = built(store, ["trees"], order=2)[0]
    other = BuildRequest(name="n", corpus=["trees"], companions=True, order=2).build(store)[0]

    for one in (model, other):
        assert {label.split("-")[0] for label in companions(store, one).values()} == {one.name}


def test_more_text_is_known_by_its_name(store: Store) -> None:
    """NAME-text goes with one model, text with all: the newest version over words without test sentences."""
    add_phrases(store)
    for name in ("plain", "other"):
        add_corpus(store, name, ["the dog saw", "the dog"])
    model = build(store, "m", ["trees"], order=2)

    def more() -> str | None:
        return companions(store, model).get("text")

    build(store, "plain", ["plain"], order=2)
    build(store, "n-text", ["plain"], order=2)
    build(store, "m-text", ["trees"], order=2, symbols=Symbols("classes", 2))
    assert more() is None
    text = build(store, "text", ["plain"], order=2)
    assert more() == "text@1"
    # A model is no more text for itself; and each model has its own.
    assert companions(store, text) == {}
    build(store, "m-text", ["plain", "other"], order=2)
    assert more() == "m-text@2"
    MixRequest(name="m-text", of="plain,m", dynamic=True).make(store)
    assert more() == "m-text@3"
    assert companions(store, find(store, "plain")) == {"text": "text@1"}


def test_what_is_built_already_is_found(store: Store) -> None:
    """Built models are reused until settings differ, a corpus grows, or one of the models is missing."""
    add_phrases(store)
    asked = BuildRequest(name="m", corpus=["trees"], companions=True, order=2)
    assert asked.built(store) == []
    models = asked.build(store)

    assert asked.built(store) == models
    for settings in (
        {"order": 3},
        {"brackets": True},
        {"min_count": "2"},
        {"classes": 3},
        {"smoothing": "katz"},
    ):
        assert replace(asked, **settings).built(store) == []
    remove(store, "m-items")
    assert asked.built(store) == []
    models = asked.build(store)
    assert asked.built(store) == models
    add_corpus(store, "trees", ["a/D dog/N"], tags="xpos_id")
    assert replace(asked, companions=False).built(store) == []


def test_plain_text_is_for_the_words_alone(store: Store) -> None:
    """A model of a treebank and of more text has companions of the treebank."""
    add_phrases(store)
    add_corpus(store, "plain", ["the dog saw", "the dog"])
    words, *others = built(store, ["plain", "trees"], order=2)

    assert words.corpora == ("plain", "trees")
    assert [model.corpora for model in others] == [("trees",)] * 3


def test_a_model_that_reads_counts_has_smoothed_companions(store: Store) -> None:
    add_phrases(store)

    assert [model.smoothing for model in built(store, ["trees"], order=2, smoothing="stupid-backoff")] == [
        "stupid-backoff", *["kneser-ney"] * 3,
    ]  # fmt: skip


def test_nothing_is_built_where_there_can_be_none(store: Store) -> None:
    """Without tags or base noun phrases the build fails in one line, and builds no model of words either."""
    add_corpus(store, "plain", ["the dog saw", "the dog"])
    add_corpus(store, "tagged", ["the/D dog/N"], tags="xpos_id")
    for corpora in (["plain"], ["tagged"], ["plain", "tagged"]):
        with pytest.raises(
            ModelError, match=f"^{', '.join(corpora)}: not every word has a tag .*`companions` out$"
        ):
            built(store, corpora, order=2)
    assert list_models(store) == []


def test_companions_go_with_words() -> None:
    with pytest.raises(InputError, match="over words, not over tags"):
        BuildRequest(name="m", corpus=["c"], over="tags", companions=True)
