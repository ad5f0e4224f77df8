"""The words that lines are sorted by, against the words in the text of each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meta_treebank import sentences, store_of
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.hit_places import Marks
from sentgen.lookups.concordances.line_text import SortedSides, SortedWords
from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store

ROWS = sentences()


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = store_of(tmp_path_factory.mktemp("sorted") / "s.duckdb", ROWS)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


@pytest.mark.parametrize(
    ("order", "levels"),
    [
        ("none", {}),
        ("1L", {-1: 1}),
        ("3r,node,-1L%c,2L", {3: 1, 0: 2, -1: 3}),
        ("left", {-1: 1, -2: 2, -3: 3}),
        ("node,right", {0: 1, 1: 2, 2: 3}),
        # A word has the level of the first key that sorts by it.
        ("1L,left", {-1: 1, -2: 2, -3: 3}),
        # Keys that are no words take levels, too.
        ("year,2R,typical,1R", {2: 2}),
    ],
)
def test_keys_have_a_level_each(order: str, levels: Mapping[int, int]) -> None:
    """The first three keys have a level; a whole side counts as one key for each word."""
    assert SortedWords.of_order(order).levels == levels


def test_words_are_named_as_in_an_order() -> None:
    assert SortedWords.of_order("node,1L,2R").named == [("node", 1), ("1L", 2), ("2R", 3)]


@settings(max_examples=settings.default.max_examples // 3)
@given(
    order=st.lists(
        st.sampled_from(("1L", "2L", "3L", "4L", "1R", "2R", "3R", "node")), max_size=4, unique=True
    ),
    context=st.sampled_from((1, 2, 15, "1s", "2s")),
    across=st.booleans(),
    limit=st.sampled_from((1, 30)),
    data=st.data(),
)
def test_words_are_those_beside_the_node(
    connection: Connection,
    order: list[str],
    context: int | str,
    across: bool,
    limit: int,
    data: st.DataObject,
) -> None:
    """Words of the sentence or document beside the node have levels; words that are not shown have none."""
    if data.draw(st.booleans()):
        order = [*order, data.draw(st.sampled_from(("left", "right", "year")))]
    asked = Kwic(
        cql='[upos="NOUN"] []?', sort=",".join(order) or "none", context=context, across=across, limit=limit
    )
    rows = asked.lines(connection, placed=True).rows
    levels = SortedWords.of_order(asked.sort).levels

    for row, sides in zip(rows.to_pylist(), asked.sorted_sides(connection, rows), strict=True):
        for name, parts in sides._asdict().items():
            assert "".join(text for text, _ in parts) == row[name]
            words = [(word, level) for text, level in parts for word in text.split()]
            behind = name == "right"
            expected = [
                (word, levels.get(place if behind else -place, 0))
                for place, word in enumerate(row[name].split()[:: 1 if behind else -1], 1)
            ]
            assert words == expected[:: 1 if behind else -1]
            # Blanks beside a word do not belong to it.
            assert all(text == text.strip() for text, level in parts if level)


def test_words_of_several_tokens_are_whole(tmp_path: Path) -> None:
    """French *du* is the word beside *pain*, for a key of either of its tokens."""
    rows = ["1\tle", "2-3\tdu", "2\tde", "3\tle", "4\tpain", "5-6\taux", "5\tà", "6\tles", "7\tprix"]
    text = "".join(row + "\t_" * 8 + "\n" for row in rows)
    (tmp_path / "fr.conllu").write_text(f"{text}\n")
    with Store(tmp_path / "fr.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "fr.conllu")], Settings("fr"))
    with Store(tmp_path / "fr.duckdb", read_only=True) as store, store.connect() as connection:
        told = {}
        for order in ("1L", "2L", "3L", "2L,1L", "1R", "2R", "3R", "right"):
            asked = Kwic(cql='"pain"', sort=order)
            rows_found = asked.lines(connection, placed=True).rows
            (told[order],) = asked.sorted_sides(connection, rows_found)

    def leveled(order: str) -> list[tuple[str, int]]:
        return [(text, level) for side in told[order] for text, level in side if level]

    assert [leveled(order) for order in ("1L", "2L", "3L")] == [[("du", 1)], [("du", 1)], [("le", 1)]]
    assert [leveled(order) for order in ("1R", "2R", "3R")] == [[("aux", 1)], [("aux", 1)], [("prix", 1)]]
    assert [text for text, _ in leveled("right")] == ["aux", "prix"]
    assert all("".join(text for text, _ in one.left) == "le du" for one in told.values())


REQUESTS = (
    "pattern { D [upos=DET]; N [upos=NOUN]; D << N }",
    "pattern { H -> M }",
    "global { is_projective }",
)


@pytest.mark.parametrize("request_", REQUESTS)
def test_hits_of_trees_have_them_too(connection: Connection, request_: str) -> None:
    """Hits of requests have levels, too; a hit without nodes has no words beside it."""
    asked = Match(request=request_, sort="1L,2R", limit=40)
    hits = asked.ask(connection).rows.to_pylist()
    assert hits
    for hit, sides in zip(
        hits, asked.sorted_sides(connection, hits, list(Marks.of_hits(connection, hits))), strict=True
    ):
        assert isinstance(sides, SortedSides)
        for name in ("left", "right"):
            parts = getattr(sides, name)
            if "=" in hit["nodes"]:
                assert "".join(text for text, _ in parts) == hit[name]
        leveled = {level: text for side in sides for text, level in side if level}
        left, right = hit["left"].split(), hit["right"].split()
        if "=" in hit["nodes"]:
            assert leveled.get(1) == (left[-1] if left else None)
            assert leveled.get(2) == (right[1] if len(right) > 1 else None)
        else:
            assert leveled == {}
