"""The evidence for attachments: by hand, and equal to what the algorithms get."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from toy_treebank import LEFT, RIGHT, TREES, add, store_of

from sentgen.counts.ingestion import Settings, ingest
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.models.dependency.dependencies import (
    FLOOR,
    ROOT_UNIT,
    Attachment,
    LevelEvidence,
    TaggedWord,
    explain_attachments,
    prefetch_dependencies,
)
from sentgen.models.dependency.tree_counts import Layer
from sentgen.schema import Store
from sentgen.schema.store import raw

SIDES = ("left", "right")
_ATTACHED = """
select head, head_tag, modifier, modifier_tag, direction, word_events, word_pairs, word_ratio, word_weight,
    mixed_events, mixed_pairs, mixed_ratio, mixed_weight, tag_events, tag_pairs, tag_ratio, prob
from v_attachment"""
_TAKEN = """
select head, head_tag, direction, arguments, count, share, tag_count, tag_share, weight, prob
from v_argument_probabilities"""
_EVENTS = "select sum(count) filter (level = 'word-word') from v_dependencies"


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Store]:
    with store_of(TREES, tmp_path) as store:
        yield store


def test_levels_by_hand(toy: Store) -> None:
    """The counts and the arithmetic of `test_submodel_dependencies.test_by_hand`."""
    (found,) = explain_attachments(toy, [1], "word", [Attachment(("b", "Y"), ("a", "X"), LEFT)])

    assert found.levels == (
        LevelEvidence("word-word", 1, 3, 1 / 3, 3 / 4),
        LevelEvidence("tag-word + word-tag", 2, 8, 1 / 4, 8 / 9),
        LevelEvidence("tag-tag", 1, 5, 1 / 5, 1.0),
    )
    assert found.prob == pytest.approx(14 / 45)


def test_arguments_by_hand(toy: Store) -> None:
    """a/X (3 times) had 0, 2 and 1 modifiers on its right; X (6 times) 0, 0, 0, 0, 1 and 2.

    weight = 3/4; p_arg(1) = 3/4 * 1/3 + 1/4 * 1/6 = 7/24, and p_arg(2) the same.
    """
    (found,) = explain_attachments(toy, [1], "word", [Attachment(("a", "X"), ("b", "Y"), RIGHT, 0)])

    assert found.arguments.word == (1, 1, 1, 0, 0, 0, 0, 0)
    assert found.arguments.tag == (4, 1, 1, 0, 0, 0, 0, 0)
    assert found.arguments.weight == 3 / 4
    assert found.arguments.exactly == pytest.approx(7 / 24)
    assert found.arguments.at_least == pytest.approx(14 / 24)


def test_many_earlier_modifiers(toy: Store) -> None:
    """Seven and more are one number."""
    a, b = explain_attachments(
        toy, [1], "word", [Attachment(("a", "X"), ("b", "Y"), RIGHT, earlier) for earlier in (6, 60)]
    )

    assert a.arguments == b.arguments
    assert a.arguments.exactly == a.arguments.at_least == 0


def test_nothing_known(toy: Store) -> None:
    """Unknown words, tags and corpora have no evidence."""
    new = Attachment(("new", None), ("newer", "NEW"), RIGHT)
    (found,) = explain_attachments(toy, [1], "word", [new])

    assert [level.events + level.together for level in found.levels] == [0, 0, 0]
    assert (found.prob, found.arguments.at_least) == (0.0, 0.0)
    assert explain_attachments(toy, [9], "word", [new]) == [found]
    assert explain_attachments(toy, [1], "word", []) == []


def check(store: Store, corpora: Sequence[int], layer: Layer, bag: Sequence[TaggedWord]) -> None:
    """Compare every pair of a bag and every number of arguments."""
    (model,) = prefetch_dependencies(store, corpora, layer, [bag])
    units = [ROOT_UNIT, *bag]
    places = [p for p in product(range(len(units)), range(len(bag)), (LEFT, RIGHT)) if p[0] != p[1] + 1]
    attachments = [Attachment(units[i], bag[j], side, (i + j) % 8) for i, j, side in places]
    for (i, j, side), found in zip(
        places, explain_attachments(store, corpora, layer, attachments), strict=True
    ):
        number = min(found.attachment.earlier + 1, 7)
        p, p1, p2 = (level.ratio for level in found.levels)
        l1, l2, _ = (level.weight for level in found.levels)

        assert np.log(max(found.prob, FLOOR)) == model.prob[i, j, side]
        assert found.prob == pytest.approx(l1 * p + (1 - l1) * (l2 * p1 + (1 - l2) * p2))
        assert found.arguments.exactly == model.arguments[i, side, number]
        assert found.arguments.at_least == pytest.approx(model.arguments[i, side, number:].sum())


def check_views(store: Store, corpora: Sequence[str], layer: Layer, heads: Sequence[str]) -> None:
    """Compare the rows of the views for some heads with the evidence, to the last bit."""
    chosen = "where corpus = $1 and layer = $2 and head in (select unnest($3::varchar[]))"
    for number, corpus in enumerate(corpora, 1):
        with store.connect() as connection:
            duck = raw(connection)
            given = [corpus, layer, list(heads)]
            attached = duck.execute(f"{_ATTACHED} {chosen}", given).fetchall()
            taken = duck.execute(f"{_TAKEN} {chosen}", given).fetchall()
            events = duck.execute(f"{_EVENTS} {chosen}", given).fetchone()
        assert (sum(row[5] for row in attached),) == events
        asked = [
            Attachment((head, head_tag), (modifier, modifier_tag), SIDES.index(side))
            for head, head_tag, modifier, modifier_tag, side, *_ in attached
        ]
        for row, found in zip(attached, explain_attachments(store, [number], layer, asked), strict=True):
            words, mixed, tags = ([one.events, one.together, one.ratio] for one in found.levels)
            weights = [one.weight for one in found.levels]
            assert list(row[5:]) == [*words, weights[0], *mixed, weights[1], *tags, found.prob], row
        numbers = [
            Attachment((head, tag), ("new", "NEW"), SIDES.index(side), arguments - 1)
            for head, tag, side, arguments, *_ in taken
        ]
        for row, found in zip(taken, explain_attachments(store, [number], layer, numbers), strict=True):
            mine, of_tag, arguments = found.arguments.word, found.arguments.tag, row[3]
            shares = (mine[arguments] / max(1, sum(mine)), of_tag[arguments] / sum(of_tag))
            expected = (mine[arguments], shares[0], of_tag[arguments], shares[1], found.arguments.weight)
            assert row[4:] == (*expected, found.arguments.exactly), row
        assert sum(row[9] for row in taken) == pytest.approx(len({row[:3] for row in taken}))


def test_views_have_the_evidence(toy: Store) -> None:
    """Every pair and every number of modifiers in two corpora of three segments, the root included.

    b/Y and b/Z never stand in the second one, where a/X has their tags.
    """
    add(toy, "more", [[("d", "X", 0), ("a", "X", 1)], [("b", "Y", 2), ("c", "X", 0)]])
    add(toy, "more", [[("a", "X", 2), ("c", "X", 0)]])

    check_views(toy, ["toy", "more"], "word", ["a", "b", "c", "d", "<root>"])


def test_lookups_explain_as_the_generators_count(toy: Store) -> None:
    """Over two corpora, one with the pair, look-ups explain each level and each number of modifiers."""
    add(toy, "more", [[("d", "Y", 0), ("a", "X", 1)], [("c", "X", 2), ("a", "X", 0)]])
    with toy.connect() as connection:
        pair = Dependencies(head="a", modifier="b", explain=True).ask(connection).table.to_pylist()
        one = Arguments(word="a", explain=True).ask(connection).table.to_pylist()
    a, tags = ("a", "X"), [("b", "Y"), ("b", "Z")]
    asked = [Attachment(a, modifier, side) for modifier in tags for side in (LEFT, RIGHT)]
    found = explain_attachments(toy, [1, 2], "word", asked)
    numbers = [Attachment(a, a, SIDES.index(row["direction"]), row["arguments"] - 1) for row in one]

    assert [tuple(row.values()) for row in pair] == [
        (*a, *each.attachment.modifier, SIDES[each.attachment.side], *astuple(level), each.prob)
        for each in found
        for level in each.levels
    ]
    assert [row["prob"] for row in one] == [
        each.arguments.exactly for each in explain_attachments(toy, [1, 2], "word", numbers)
    ]


def test_same_as_the_algorithms_get(toy: Store) -> None:
    """The evidence is what the algorithms get, also for what was never seen."""
    units = [
        ("a", "X"),
        ("b", "Y"),
        ("c", "X"),
        ("c", "X"),
        ("b", "Z"),
        ("new", "X"),
        ("a", "NEW"),
        ("a", None),
    ]
    check(toy, [1], "word", units)


@pytest.mark.data
@pytest.mark.parametrize("layer", ["word", "unit"])
def test_same_on_real_sentences(tmp_path: Path, layer: Layer) -> None:
    """The evidence is the same in a treebank with base noun phrases, where units are not words."""
    default = Path(__file__).parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("SENTGEN_DATA", default)) / "ud" / "en_partut-ud-dev.conllu"
    if not path.exists():
        pytest.skip(f"no {path}; set SENTGEN_DATA")
    with Store(tmp_path / "partut.duckdb", create=True) as store:
        ingest(store, [str(path)], Settings("partut", order=2))
        for sentence in list(read_test_set(str(path)))[:4]:
            check(store, [1], layer, list(zip(sentence.forms, sentence.xpos or [], strict=True)))
        check_views(store, ["partut"], layer, ["is", "Commission", "<root>", "of"])
