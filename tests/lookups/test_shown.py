"""Columns of metadata and annotation before the words of a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from meta_treebank import sentences, store_of
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.base import tokens
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store

ROWS = {one.sent_id: one for one in sentences()}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = store_of(tmp_path_factory.mktemp("shown") / "s.duckdb", ROWS.values())
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


@pytest.mark.parametrize("more", [{}, {"across": True}, {"context": "2s"}, {"sort": "-year,1L", "random": 1}])
def test_values_are_those_of_the_sentence_or_its_document(
    connection: Connection, more: dict[str, object]
) -> None:
    asked = Kwic(cql='[upos="NOUN"]', show=["genre,match.doc_genre", "meta.year", "length"], limit=30, **more)
    answer = asked.ask(connection)

    rows = answer.table.to_pylist()
    places = ["corpus", "document", "sent_id"]
    assert list(rows[0]) == [
        *places,
        "genre",
        "match.doc_genre",
        "meta.year",
        "length",
        "left",
        "node",
        "right",
    ]
    for row in rows:
        of = ROWS[row["sent_id"]]
        told = of.value("genre"), of.of_document.get("genre"), of.value("year"), str(len(of.tokens))
        assert (row["genre"], row["match.doc_genre"], row["meta.year"], row["length"]) == told
    assert answer.query.run(connection).to_pylist() == rows


def test_what_every_line_has_is_there_once(connection: Connection) -> None:
    table = Kwic(pattern="dog", show=["document, genre", "corpus"]).ask(connection).table

    assert table.column_names == ["corpus", "document", "sent_id", "genre", "left", "node", "right"]


def test_names_of_keys_are_never_sql(tmp_path: Path) -> None:
    """Keys may have quotes and dollar signs in their names."""
    keys = {'a"b': "1", "in $limit": "2", "x' --": "3"}
    (tmp_path / "t.jsonl").write_text(json.dumps({"text": "a dog", **keys}) + "\n")
    with Store(tmp_path / "t.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "t.jsonl")], Settings("t"))
        with store.connect() as opened:
            (row,) = Kwic(pattern="dog", show=[*keys], sort=",".join(keys)).ask(opened).table.to_pylist()

    assert (row['a"b'], row["in limit"], row["x' --"]) == ("1", "2", "3")


@pytest.mark.parametrize("across", [False, True])
def test_regions_say_who_speaks(tmp_path: Path, across: bool) -> None:
    """An attribute of a region is that of the innermost region around the first token of the node."""
    text = "# newdoc id = d\n" + "".join(
        f"# speaker = {who}\n# sent_id = {n}\n1\tso\tso\tADV\t_\t_\t2\tadvmod\t_\t_\n"
        f"2\t{word}\t{word}\tVERB\t_\t_\t0\troot\t_\t_\n\n"
        for n, (who, word) in enumerate((("Ann", "b"), ("Ann", "a"), ("Bob", "c")))
    )
    (tmp_path / "talk.conllu").write_text(text)
    with Store(tmp_path / "talk.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "talk.conllu")], Settings("talk"))
        with store.connect() as opened:
            asked = Kwic(cql='[upos="VERB"]', show=["speaker.name"], sort="-speaker.name,node", across=across)
            rows = asked.ask(opened).table.select(["speaker.name", "node"]).to_pylist()

    assert [tuple(row.values()) for row in rows] == [("Bob", "c"), ("Ann", "a"), ("Ann", "b")]


def test_attributes_of_the_first_token(tmp_path: Path) -> None:
    """Columns, FEATS and MISC can be shown and sorted by, unless sentences have metadata of that name."""
    text = (
        "# newdoc id = d\n# lang = da\n"
        "1\tHunden\thund\tNOUN\t_\tNumber=Sing\t2\tnsubj\t_\tGloss=dog|lang=x\n"
        "2\tløb\tløbe\tVERB\t_\t_\t0\troot\t_\tGloss=a=b|Ref-id=7\n"
        "3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
    )
    (tmp_path / "d.conllu").write_text(text, "utf-8")
    names = ["lemma", "Number", "Gloss", "Ref_id", "lang", "deprel"]
    with Store(tmp_path / "d.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "d.conllu")], Settings("d"))
        with store.connect() as opened:
            asked = Kwic(cql="[] []", show=[",".join(names)], sort="Gloss")
            rows = asked.ask(opened).table.select(names).to_pylist()

    assert [tuple(row.values()) for row in rows] == [
        ("løbe", None, "a=b", "7", "da", "root"),
        ("hund", "Sing", "dog", None, "da", "nsubj"),
    ]


def test_lines_in_the_order_of_what_is_said_of_them_are_those_of_the_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orders by keys of any kind, up and down, with words, and in blocks of any size, are the statement's."""
    rng = Random(7)
    text = "# newdoc id = d\n"
    for number in range(1, 25):
        text += "# newdoc id = e\n" if number == 13 else ""
        text += f"# speaker = {rng.choice(('Ann', 'ann', 'Bob'))}\n" if rng.random() < 0.8 else ""
        text += f"# n = {rng.choice(('2', '10', 'x', 'É'))}\n"
        for position in range(1, 4):
            feats = rng.choice(("_", "Number=Sing", "Number=Plur"))
            gloss = rng.choice(("_", "Gloss=9", "Gloss=10", "Gloss=b", "Gloss=B"))
            word, lemma = rng.choice("aAbé"), rng.choice("xyX_")
            text += f"{position}\t{word}\t{lemma}\tNOUN\t_\t{feats}\t{position - 1}\tdep\t_\t{gloss}\n"
        text += "\n"
    (tmp_path / "d.conllu").write_text(text, "utf-8")
    with Store(tmp_path / "d.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "d.conllu")], Settings("d"))
    monkeypatch.setattr(tokens, "SIZE", 40)
    asked: list[tuple[str, dict[str, object]]] = [
        ("-Gloss%c,-1R", {"context": "2s"}),
        ("n,2R,-Number", {"across": True}),
        ("node,speaker.name%c,lemma", {}),
    ]
    with Store(tmp_path / "d.duckdb", read_only=True) as store, store.connect() as opened:
        for sort, more in asked:
            answer = Kwic(cql='[word != "é"]', sort=sort, limit=11, **more).ask(opened)

            assert answer.table.to_pylist() == answer.query.run(opened).to_pylist(), sort


@pytest.mark.parametrize(
    ("shown", "problem"),
    [
        (["gnre"], "no metadata 'gnre'; did you mean genre?"),
        (["genre,"], "'genre,' has an empty key, or one twice, or more than 50; write keys as in genre,year"),
        (["genre", "genre"], "'genre, genre' has an empty key, or one twice, or more than 50; write keys as"),
        (["node"], "a line has a column 'node' already; write meta.node for metadata"),
    ],
)
def test_what_cannot_be_shown_is_refused(connection: Connection, shown: list[str], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        Kwic(pattern="dog", show=shown).ask(connection)

    assert str(refused.value).startswith(problem)
