"""Surface text: words that cover several tokens are read, and found, as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.concordances import surface_words
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.surface import surface_of
from sentgen.lookups.pair_lines import collocation_lines
from sentgen.lookups.selection import select_corpora
from sentgen.lookups.windows import Window
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow


def sentence(*words: str, heads: str = "") -> str:
    """Return rows of words, `du=de+le` for a range, with `~` before a word that follows without a space."""
    rows: list[str] = []
    position = 0
    for number, word in enumerate(words):
        glued = number + 1 < len(words) and words[number + 1].startswith("~")
        misc = "SpaceAfter=No" if glued else "_"
        form, _, tokens = word.removeprefix("~").partition("=")
        parts = tokens.split("+") if tokens else [form]
        if tokens:
            rows.append(f"{position + 1}-{position + len(parts)}\t{form}" + "\t_" * 7 + f"\t{misc}")
        for part in parts:
            position += 1
            rows.append(f"{position}\t{part}" + "\t_" * 7 + f"\t{'_' if tokens else misc}")
    return "\n".join([*rows, "", ""])


#: Texts, and the same as they are written.
TEXTS = {
    "a": (("Le", "prix", "du=de+le", "pain", "~."), "Le prix du pain."),
    "b": (("Du=De+le", "~,", "puis", "aux=à+les", "~!"), "Du, puis aux!"),
    "c": (("de", "le", "dire", "du=du"), "de le dire du"),
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    folder = tmp_path_factory.mktemp("surface")
    (folder / "t.conllu").write_text(
        "".join(f"# sent_id = {name}\n{sentence(*words)}" for name, (words, _) in TEXTS.items())
    )
    (folder / "s.duckdb").write_bytes(empty_store.read_bytes())
    with Store(folder / "s.duckdb") as store:
        ingest(store, [str(folder / "t.conllu")], Settings("t"))
    with Store(folder / "s.duckdb", read_only=True) as store, store.connect() as opened:
        yield opened


def lines(connection: Connection, pattern: str, **options: object) -> list[tuple[str, ...]]:
    found = Kwic(pattern=pattern, **options).ask(connection).table  # type: ignore[arg-type]
    names = ("sent_id", "left", "node", "right")
    return list(zip(*(found[name].to_pylist() for name in names), strict=True))


def test_sentences_are_as_they_are_written(connection: Connection) -> None:
    texts = fetch_arrow(connection, "select text from v_sentences order by id")["text"].to_pylist()

    assert texts == [text for _, text in TEXTS.values()]


def test_a_statement_with_surface_text(connection: Connection) -> None:
    """As the docstring of the module tells others to write it."""
    surface = surface_of(connection)
    query = f"""
        select rtrim(string_agg({surface.text()}, '' order by c.position)) as text
        from token as c
        join word on word.id = c.word_id{surface.join}
        group by c.sentence_id
        order by c.sentence_id
    """

    assert fetch_arrow(connection, query)["text"].to_pylist() == [text for _, text in TEXTS.values()]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        # Written as one: the whole is the node, and no token is called so; of one token, it is found once.
        ("du", [("a", "Le prix", "du", "pain."), ("c", "de le dire", "du", "")]),
        ("du pain", [("a", "Le prix", "du pain", ".")]),
        ("prix du * .", [("a", "Le", "prix du pain.", "")]),
        ("* aux", [("b", "Du,", "puis aux", "!")]),
        # A token within it stands in its surface word; tokens are tokens elsewhere.
        (
            "le",
            [("a", "Le prix", "du", "pain."), ("b", "", "Du", ", puis aux!"), ("c", "de", "le", "dire du")],
        ),
        ("le pain", [("a", "Le prix", "du pain", ".")]),
        ("de le", [("a", "Le prix", "du", "pain."), ("c", "", "de le", "dire du")]),
        # A wildcard means tokens.
        (
            "d?",
            [("a", "Le prix", "du", "pain."), ("c", "", "de", "le dire du"), ("c", "de le dire", "du", "")],
        ),
    ],
)
def test_words_are_found_as_they_are_written(
    connection: Connection, pattern: str, found: list[tuple[str, ...]]
) -> None:
    assert lines(connection, pattern) == found
    assert lines(connection, pattern, limit=0) == found
    assert Kwic(pattern=pattern, limit=1).ask(connection).total in (len(found), None)


def test_case_and_order(connection: Connection) -> None:
    assert [line[0] for line in lines(connection, "DU", ignore_case=True)] == ["a", "b", "c"]
    assert [line[0] for line in lines(connection, "du", sort="right", ignore_case=True)] == [
        "c",
        "b",
        "a",
    ]
    drawn = lines(connection, "du", random=3, limit=2)
    assert sorted(drawn) == lines(connection, "du")


def test_a_context_that_begins_within_a_word_has_all_of_it(connection: Connection) -> None:
    # One token before "pain" is "le", and one after "puis" is "à".
    assert lines(connection, "pain", context=1) == [("a", "du", "pain", ".")]
    assert lines(connection, "puis", context=1) == [("b", ",", "puis", "aux")]


def test_pairs_of_words_are_lines_of_surface_text(connection: Connection) -> None:
    answer = collocation_lines(
        connection, "prix", "le", window=Window(2, 2), selection=select_corpora(connection, []), limit=5
    )

    assert answer.table.select(["left", "node", "right"]).to_pylist() == [
        {"left": "Le", "node": "prix du", "right": "pain."}
    ]


def test_too_many_ways_to_read_a_pattern(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_words, "MOST_SHAPES", 3)

    with pytest.raises(InputError, match="ask for fewer words"):
        Kwic(pattern="du du").ask(connection)
