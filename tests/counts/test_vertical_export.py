"""Export to a vertical file: a corpus read from the export is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from all_counts import CONLLU, all_counts
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from stored import empty, problems

from sentgen.counts import exports
from sentgen.counts.exports import export
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export as write_lake
from sentgen.schema.places import Place
from sentgen.schema.store import fetch_arrow

#: Queries for the data of a corpus, without ids, which depend on other corpora.
TABLES = {
    "tokens": """
        select document, sent_id, position, form, lemma, upos, xpos, feats, head, deprel, space_after
        from v_tokens
        order by sentence_id, position
    """,
    "misc": "select position, form, misc from v_misc order by sentence_id, position",
    "sentences": "select metadata, length from sentence order by id",
    "metadata": "select document, key, value from v_metadata order by document, sentence_id nulls first, key",
    "regions": """
        select document, kind, attributes, position, last_sentence_id - sentence_id as sentences, last_position
        from v_regions
        where kind <> 'doc' -- of a file whose documents are called text
        order by sentence_id, place
    """,
}
EMPTY = "\t_" * 7
COLUMNS = "word,pos,lemma,mode,head,wsafter,x"


@pytest.fixture
def store(emptied_store: Store) -> Store:
    return emptied_store


def exported(store: Store) -> bytes:
    with store.connect() as connection:
        return b"".join(export(connection, "x", "vertical")[0])


def told(store: Store) -> dict[str, list[dict[str, object]]]:
    with store.connect() as connection:
        return {name: fetch_arrow(connection, query).to_pylist() for name, query in TABLES.items()}


def goes_round(store: Store, path: Path, chosen: Settings) -> bytes:
    """Ingest a file, export it, ingest the export and compare; return the export."""
    ingest(store, [str(path)], chosen)
    before, text = told(store), exported(store)
    empty(store)
    again = path.with_name("again.vert")
    again.write_bytes(text)
    ingest(store, [str(again)], Settings("x"))
    assert told(store) == before
    assert exported(store) == text
    return text


_LINES = st.sampled_from(
    [
        "<corpus>",
        '<doc id="d &quot;1&quot;" genre=news>',
        "</doc>",
        "<text title='t' n='&lt;'>",
        "</text>",
        "<s>",
        '<s id="1" mood="x y" loud>',
        '<s speaker="Ann">',
        "</s>",
        "<p n='1'>",
        "<p>",
        "</p>",
        "<hi>",
        "</hi>",
        "<g/>",
        "",
        *(
            f"{word}\t{pos}\t{lemma}\t{mode}\t{head}\t{space}\t{x}"
            for word, pos, lemma, mode, head, space, x in (
                ("a", "A", "a", "_", "0", "_", "_"),
                ("b", "_", "b", "m|n", "1", "No", "_"),
                ("R&amp;amp;D", "B", "_", "_", "_", '""', "1"),
                ("<", "<", "<", "a\\p", "0", "_", "a=b"),
                ("_", "_", "_", "_", "1", "_", "_"),
                (".", ".", ".", "_", "_", "_", "_"),
            )
        ),
    ]
)


@given(st.lists(_LINES, min_size=1, max_size=20))
@example(["<text>", "<hi>", "<p>", *(["a\tA\ta\t_\t0\t_\t_"] * 2), "</p>", "b\tA\ta\t_\t0\t_\t_", "</hi>"])
@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_vertical_file_comes_back(store: Store, tmp_path: Path, lines: list[str]) -> None:
    """Documents, sentences and regions keep their order and attributes, and columns any names."""
    path = tmp_path / "a.vert"
    path.write_text("\n".join([*lines, "z\tZ\tz\t_\t_\t_\t_"]), "utf-8")
    try:
        goes_round(store, path, Settings("x", columns=COLUMNS, on_error="skip"))
    finally:
        empty(store)


@pytest.mark.parametrize("size", [1, 5_000])
def test_an_export_is_what_others_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Tags nest where regions do, for ranges of sentences of any size."""
    text = """\
<!-- #vrt positional-attributes: word pos lemma mode -->
<doc id="d" genre="news &amp; &quot;more&quot;">
<p n="1">
<s id="1" mood="calm">
<name type="org">
R&amp;D	NN	_	SUBJ
</name>
<g/>
.	.	.	_
</s>
<s>
b	B	b	a|b
</s>
</p>
</doc>
<doc id="e">
<s>
c	_	_	_
</s>
</doc>
"""
    path = tmp_path / "a.vert"
    path.write_text(text, "utf-8")
    monkeypatch.setattr(exports, "SENTENCES", size)

    assert goes_round(store, path, Settings("x")).decode() == text
    assert problems(store) == {}


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    ("misc", "columns"),
    [
        (["A=1|B=2", "B=2|C=3"], ["A", "B", "C"]),
        (["A=1|B=2", "B=2|A=1"], ["A", "B"]),
        (["A=1|loose", "A=2"], ["misc"]),
        (["A=1|A=2", "_"], ["misc"]),
        (["A=", "_"], ["misc"]),
        (["pos=1", "_"], ["misc"]),
        (["tag=1", "wsafter=2"], ["misc"]),
        (["two words=1", "_"], ["misc"]),
    ],
)
def test_misc_in_columns(store: Store, tmp_path: Path, misc: list[str], columns: list[str]) -> None:
    """Each key of MISC has a column; a part without a key makes one column with MISC as it is."""
    path = tmp_path / "a.conllu"
    path.write_text("".join(f"{i}\tw{EMPTY}\t{one}\n" for i, one in enumerate(misc, 1)), "utf-8")
    ingest(store, [str(path)], Settings("x"))
    text = exported(store)
    assert (
        text.split(b"\n", 1)[0].decode()
        == f"<!-- #vrt positional-attributes: word pos lemma {' '.join(columns)} -->"
    )
    if misc[1] != "B=2|A=1":
        goes_round(store, path, Settings("x"))


def counts_both_ways(store: Store, path: Path) -> None:
    """Compare the counts of a treebank with those of its vertical export."""
    ingest(store, [str(path)], Settings("x"))
    before, text = all_counts(store), exported(store)
    regions = told(store)["regions"]
    empty(store)
    again = path.with_suffix(".vert")
    again.write_bytes(text)
    ingest(store, [str(again)], Settings("x"))
    assert all_counts(store) == before
    assert told(store)["regions"] == regions


def test_a_treebank_counts_the_same(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(
        CONLLU.replace("# newdoc id = d2", "# newdoc id = d2\n# newpar id = p1\n# speaker = Ann"), "utf-8"
    )
    counts_both_ways(store, path)


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "ud/en_partut-ud-dev.conllu",
        *(
            pytest.param(one, marks=pytest.mark.nightly)
            for one in (
                "ud/en_ewt-ud-dev.conllu",
                "ud/en_gum-ud-dev.conllu",
                "formats/eltec/ENG18872_Lyall.xml",
            )
        ),
    ],
)
def test_real_texts_count_the_same(store: Store, tmp_path: Path, data_dir: Path, name: str) -> None:
    """Treebanks, and a novel in TEI with its regions, come back."""
    path = tmp_path / Path(name).name
    path.write_bytes((data_dir / name).read_bytes())
    counts_both_ways(store, path)


def test_a_lake_gives_the_same(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.vert"
    path.write_text("<doc genre=x>\n<p>\n<s>\na\tA\ta\n<g/>\nb\tB\tb\n</s>\n</p>\n</doc>\n", "utf-8")
    ingest(store, [str(path)], Settings("x"))
    write_lake(store, Place(str(tmp_path / "lake")))

    with Store(tmp_path / "lake", read_only=True) as lake:
        assert exported(lake) == exported(store)


def test_what_is_not_given_back_is_said(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, "utf-8")
    ingest(store, [str(path)], Settings("x"))
    with store.connect() as connection:
        assert "multiword ranges" in export(connection, "x", "vertical")[1][0]


@pytest.mark.data
def test_the_modes_of_a_real_file(store: Store, data_dir: Path) -> None:
    """Columns of emtsv come back; its heads are no trees, as punctuation has no heads."""
    path = data_dir / "formats" / "vertical" / "emagyardemo.vert"
    with pytest.raises(InputError, match=r"emagyardemo\.vert:3: 12 tab-separated columns where 3 belong"):
        ingest(store, [str(path)], Settings("x"))
    columns = "word,wsafter,anas,lemma,xpos,upos,feats,id,mode,head,np,ner"
    done = ingest(store, [str(path)], Settings("x", columns=columns))
    subjects = sum(line.split("\t")[8:9] == ["SUBJ"] for line in path.read_text("utf-8").split("\n"))
    query = "select count(*) from token_misc where list_contains(string_split(misc, '|'), 'mode=SUBJ')"
    with store.connect() as connection:
        assert connection.exec_driver_sql(query).scalar() == subjects > 0
    assert [note for _, note in done.notes] == [
        "the heads of 6 sentences make no tree, and are only the attribute head of their tokens"
    ]
