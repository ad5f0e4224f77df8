"""Building models: versions, settings, unknown words by tag, refusals."""

from __future__ import annotations

from typing import Any

import pytest
from stored import rows
from toy_corpus import add_corpus, assert_sums_to_one, ngrams

from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.models import build, list_models
from sentgen.models import build as module_function
from sentgen.schema import Store


def test_room_exports_build() -> None:
    assert module_function is build


def test_same_name_makes_the_next_version(store: Store) -> None:
    add_corpus(store, "toy", ["a b"])

    first = build(store, "m", ["toy"], order=1)
    second = build(store, "m", ["toy"], order=2)

    assert [first.version, second.version] == [1, 2]
    assert list_models(store) == [first, second]


def test_rows_lie_sorted_by_anchor(store: Store) -> None:
    add_corpus(store, "toy", ["a b a", "c b a"])

    model = build(store, "m", ["toy"], order=3)

    stored = rows(store, "select anchor, n, w1, w2, w3, w4, w5 from model_ngram order by rowid")
    assert stored == sorted(stored, key=lambda row: tuple(-1 if value is None else value for value in row))
    assert all(row[0] == max(word for word in row[2:] if word is not None) for row in stored)
    assert model.corpora == ("toy",)
    assert rows(store, "select table_name from information_schema.tables where table_catalog = 'temp'") == []


def test_progress_is_reported(store: Store) -> None:
    add_corpus(store, "toy", ["a b a"])
    lines: list[str] = []

    build(store, "m", ["toy"], order=1, progress=lines.append)

    assert lines[-1] == "writing the model"


@pytest.mark.parametrize("tags", ["xpos_id", "upos_id"])
def test_words_seen_once_become_their_tag(store: Store, tags: str) -> None:
    """the occurs twice; dog, cat, barks and sleeps once: <unk:N> and <unk:V>."""
    add_corpus(store, "toy", ["the/D dog/N barks/V", "the/D cat/N sleeps/V"], tags=tags)

    model = build(store, "m", ["toy"], order=2, unknown="tag")

    found = ngrams(store, model)
    words = {gram[0] for gram in found if len(gram) == 1}
    assert words == {"<s>", "</s>", "<unk>", "the", "<unk:N>", "<unk:V>"}
    assert ("the", "<unk:N>") in found
    assert ("<unk:V>", "</s>") in found
    assert_sums_to_one(found, 2)


def test_tag_classes_are_added_to_the_words_once(store: Store) -> None:
    add_corpus(store, "toy", ["the/D dog/N barks/V", "the/D cat/N sleeps/V"], tags="upos_id")

    build(store, "m", ["toy"], order=1, unknown="tag")
    build(store, "m", ["toy"], order=1, unknown="tag")

    added = rows(
        store, "select form, count(*) from word where form like '<unk:%' group by form order by form"
    )
    assert added == [("<unk:N>", 1), ("<unk:V>", 1)]


def test_singletons_count_over_all_corpora(store: Store) -> None:
    add_corpus(store, "one", ["the/D dog/N"], tags="upos_id")
    add_corpus(store, "two", ["the/D dog/N cat/N"], tags="upos_id")

    model = build(store, "m", ["one", "two"], order=1, unknown="tag")

    assert set(ngrams(store, model)) == {("<s>",), ("</s>",), ("<unk>",), ("the",), ("dog",), ("<unk:N>",)}


def test_tag_classes_need_tags(store: Store) -> None:
    add_corpus(store, "plain", ["the dog"])

    with pytest.raises(ModelError, match=r"plain: words seen once have no tags"):
        build(store, "m", ["plain"], order=1, unknown="tag")


def test_unknown_corpus_names_those_that_exist(store: Store) -> None:
    add_corpus(store, "one", ["a"])
    add_corpus(store, "two", ["a"])

    with pytest.raises(NotFoundError, match=r"no corpus 'three'; there are: one, two"):
        build(store, "m", ["three"], order=1)


def test_failed_build_leaves_nothing(store: Store) -> None:
    add_corpus(store, "toy", ["a b"])

    def fail(line: str) -> None:
        if line == "writing the model":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(store, "m", ["toy"], order=2, progress=fail)

    assert list_models(store) == []
    assert rows(store, "select * from model_parameter") == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 6}, "between 1 and 5"),
        ({"smoothing": "witten-bell"}, "kneser-ney, katz"),
        ({"unknown": "all"}, "word, none, tag"),
        ({"min_count": [2, 1]}, "do not fall"),
        ({"min_count": [0]}, "from 1"),
        ({"min_count": [1, 1, 1]}, "3 numbers"),
        ({"name": " "}, "needs a name"),
    ],
)
def test_wrong_settings_are_refused(store: Store, settings: dict[str, Any], message: str) -> None:
    add_corpus(store, "toy", ["a b"])
    name = settings.pop("name", "m")

    with pytest.raises(InputError, match=message):
        build(store, name, ["toy"], **{"order": 2, **settings})


def test_corpora_must_fit(store: Store) -> None:
    add_corpus(store, "short", ["a b"], max_order=2)
    add_corpus(store, "empty", [])
    add_corpus(store, "wrapped", ["a </s> b"])

    with pytest.raises(ModelError, match="up to order 2"):
        build(store, "m", ["short"], order=3)
    with pytest.raises(ModelError, match="no sentences in empty"):
        build(store, "m", ["empty"], order=1)
    with pytest.raises(ModelError, match="contains <s> or </s>"):
        build(store, "m", ["wrapped"], order=2)
    with pytest.raises(ModelError, match="needs a corpus"):
        build(store, "m", [], order=1)
