"""Export to CoNLL-U: CoNLL-U comes back byte for byte, other formats as CoNLL-U that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from stored import problems

from sentgen.counts import conllu_export, corpora, writer
from sentgen.counts.exports import export
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import NotFoundError
from sentgen.schema import Store
from sentgen.schema.lake_transfer import export as write_lake
from sentgen.schema.places import Place
from sentgen.schema.store import fetch_arrow
from sentgen.schema.tables import fidelity

#: A file with every feature of CoNLL-U.
WHOLE = """\
# newdoc id = d
# global.columns = ID FORM
# meta::genre = essay
#sent_id=odd
# text = Du  pain.\x20
# speaker = Ann = B
#bare
# newpar
0.1\tThere\tthere\t_\t_\t_\t_\t_\t2:expl\t_
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\tLang=fr|SpaceAfter=No
1\tDe\tde\tADP\tE\tB=2|A=1\t3\tcase\t3:case:de\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t3:det|0.1:x\tSpaceAfter=No
3\tpain\tpain\tNOUN\tS\t_\t0\troot\t0:root\tGloss=bread|SpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t3:punct\tSpaceAfter=No
4.1\tmange\tmanger\tVERB\t_\tMood=Ind\t_\t_\t0:root\tCopy=3


# sent_id = 2
1\tOui\t_\t_\t_\t_\t0\troot\t09:bad\t_
2\t.\t_\t_\t_\t_\t1\tpunct\t_\t_

# newdoc
1\tNon\t_\t_\t_\t_\t_\t_\t_\t_
"""

NOTHING = "\t_"
#: A treebank without words and lemmas, as licences of their texts may demand.
MASKED = re.sub(r"(?m)^([0-9.-]+)\t[^\t]+\t[^\t]+", rf"\1{2 * NOTHING}", WHOLE)
#: A treebank with all columns masked.
BLANK = re.sub(r"(?m)^([0-9.-]+)\t.*", rf"\1{9 * NOTHING}", WHOLE)


@pytest.fixture
def store(emptied_store: Store) -> Store:
    return emptied_store


def exported(store: Store, name: str = "x") -> bytes:
    with store.connect() as connection:
        return b"".join(export(connection, name, "conllu")[0])


def lost(store: Store) -> tuple[str, ...]:
    with store.connect() as connection:
        return export(connection, "x", "conllu")[1]


def given_back(store: Store, path: Path, content: bytes) -> bytes:
    """Ingest a file into a corpus of its own, and return the export of that corpus."""
    path.write_bytes(content)
    ingest(store, [str(path)], Settings("x", format="conllu"))
    return exported(store)


def column(store: Store, query: str) -> list[object]:
    with store.connect() as connection:
        return fetch_arrow(connection, query).columns[0].to_pylist()


def sizes(store: Store) -> dict[str, int]:
    return {
        table.name: int(str(column(store, f"select count(*) from {table.name}")[0]))
        for table in fidelity.OF_CORPUS
        if table.name not in ("table_meta", "surprisal")  # whose rows do not come from sources
    }


def test_one_of_everything(store: Store, tmp_path: Path) -> None:
    """The rows can be queried, pass all checks, and are gone with the corpus."""
    assert given_back(store, tmp_path / "a.conllu", WHOLE.encode()) == WHOLE.encode()

    assert column(
        store, "select key || '=' || value from v_metadata order by sentence_id nulls first, key"
    ) == [
        "genre=essay",
        "global.columns=ID FORM",
        "speaker=Ann = B",
    ]
    edge = "coalesce(form, '') || ' ' || deprel || ' ' || coalesce(head_form, '0')"
    assert column(store, f"select {edge} from v_enhanced order by sentence_id, position, minor, place") == [
        "There expl le",
        "De case:de pain",
        "le det pain",
        "le x There",
        "pain root 0",
        ". punct pain",
        "mange root 0",
    ]
    assert column(store, "select deps from enhanced_cell") == ["09:bad"]
    assert column(store, "select form from v_empty_nodes order by position") == ["There", "mange"]
    assert column(store, "select distinct form || ' ' || misc from v_misc order by all") == [
        "le SpaceAfter=No",
        "pain Gloss=bread|SpaceAfter=No",
    ]
    assert column(store, "select concat_ws(' ', form, key, value) from v_misc order by position, key") == [
        "le SpaceAfter No",
        "pain Gloss bread",
        "pain SpaceAfter No",
    ]
    assert column(store, "select empty_nodes || '' from v_sources") == ["2"]
    assert column(store, "select tokens || ' ' || misc from v_multiwords") == ["De le Lang=fr|SpaceAfter=No"]
    assert problems(store) == {}
    assert all(sizes(store).values())
    corpora.remove(store, "x")
    assert not any(sizes(store).values())


def test_replaced_as_if_it_always_had_been_so(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    given_back(store, path, WHOLE.encode())
    other = WHOLE.replace("Gloss=bread", "Gloss=loaf").replace("essay", "news").rstrip("\n").encode()
    before = sizes(store)

    path.write_bytes(other)
    ingest(store, [str(path)], Settings("x", replace=True))

    assert exported(store) == other
    assert sizes(store) == before
    assert problems(store) == {}


def test_a_lake_gives_back_the_same(store: Store, tmp_path: Path) -> None:
    given_back(store, tmp_path / "a.conllu", WHOLE.encode())
    write_lake(store, Place(str(tmp_path / "lake")))

    with Store(tmp_path / "lake", read_only=True) as lake:
        assert exported(lake) == WHOLE.encode()


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("content", [MASKED, BLANK], ids=["words", "everything"])
@pytest.mark.parametrize("flush", [1, writer.FLUSH_TOKENS], ids=["each sentence", "all at once"])
def test_masked_words_are_words(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, flush: int
) -> None:
    """Whole sentences and whole blocks of `_` are stored, counted and exported."""
    monkeypatch.setattr(writer, "FLUSH_TOKENS", flush)

    assert given_back(store, tmp_path / "a.conllu", content.encode()) == content.encode()

    assert column(store, "select count from v_ngrams_1 where w1 = '_'") == [7]
    assert column(store, "select count(*) from v_tokens where lemma is not null") == [0]
    assert problems(store) == {}


def test_masked_block_among_others(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences of `_` alone between two with words come back, in buffers of any size."""
    content = WHOLE + "\n" + MASKED + "\n" + BLANK + "\n" + WHOLE
    exports = set()
    for flush in (1, 5, 9, writer.FLUSH_TOKENS):
        monkeypatch.setattr(writer, "FLUSH_TOKENS", flush)
        exports.add(given_back(store, tmp_path / "a.conllu", content.encode()))
        corpora.remove(store, "x")

    assert exports == {content.encode()}


def test_lemma_of_an_underscore_is_itself(store: Store, tmp_path: Path) -> None:
    """`_` is the lemma of the word `_` if others of its sentence have lemmas; for other words, it is none."""
    rows = ("_\t_", "a\ta", "b\t_", "_\tof")
    given_back(
        store,
        tmp_path / "a.conllu",
        "".join(f"{i}\t{row}{7 * NOTHING}\n" for i, row in enumerate(rows, 1)).encode()
        + f"\n1\t_{8 * NOTHING}\n2\ta{8 * NOTHING}\n".encode(),
    )

    assert column(store, "select lemma from v_tokens order by sentence_id, position") == [
        *("_", "a", None, "of"),
        *(None, None),
    ]


def test_sources_follow_each_other(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences keep their order, with a blank line between them, for ranges of any size."""
    monkeypatch.setattr(conllu_export, "SENTENCES", 1)
    for name in ("b", "a"):
        (tmp_path / f"{name}.conllu").write_bytes(WHOLE.replace("pain", name).encode())
        ingest(store, [str(tmp_path / f"{name}.conllu")], Settings("x"))

    assert exported(store) == f"{WHOLE.replace('pain', 'b')}\n{WHOLE.replace('pain', 'a')}".encode()


def test_other_formats_become_conllu(store: Store, tmp_path: Path) -> None:
    """Lines without trees are exported with all columns, and fields of JSON Lines as metadata."""
    (tmp_path / "a.lines").write_text("one two\nthree\n")
    ingest(store, [str(tmp_path / "a.lines")], Settings("x"))
    assert (
        exported(store).decode()
        == (
            f"# newdoc id = {tmp_path / 'a.lines'}\n1\tone"
            + "\t_" * 8
            + "\n2\ttwo"
            + "\t_" * 8
            + "\n\n1\tthree"
        )
        + "\t_" * 8
        + "\n\n"
    )
    corpora.remove(store, "x")

    (tmp_path / "a.jsonl").write_text(
        '{"id": "d", "year": 2010, "genre": "a\\nb", "deep": [1], "text": "It is so. It was."}\n'
        '{"tokens": ["Yes"], "lemmas": ["yes"], "speaker": "Ann", "sent_id": "s"}\n'
    )
    ingest(store, [str(tmp_path / "a.jsonl")], Settings("x"))
    text = exported(store).decode()
    assert text.startswith(
        "# newdoc id = d\n# text = It is so.\n# meta::year = 2010\n# meta::genre = a b\n1\tIt\t"
    )
    assert text.endswith("\n\n# sent_id = s\n# speaker = Ann\n1\tYes\tyes" + "\t_" * 7 + "\n\n")
    again = tmp_path / "again.conllu"
    again.write_text(text)
    ingest(store, [str(again)], Settings("y"))
    assert exported(store, "y").decode() == text


def test_what_is_not_given_back_is_said(store: Store, tmp_path: Path) -> None:
    given_back(store, tmp_path / "a.conllu", WHOLE.encode())
    assert lost(store) == ()
    corpora.remove(store, "x")

    (tmp_path / "b.conllu").write_text(WHOLE + "\n1\tno\tcolumns\n")
    ingest(store, [str(tmp_path / "b.conllu")], Settings("x", on_error="skip", lowercase=True))
    assert [line.split(",")[0] for line in lost(store)] == [
        "x is lower-cased",
        "sentences that were refused are not there",
    ]
    with pytest.raises(NotFoundError), store.connect() as connection:
        export(connection, "none", "conllu")


_WORD = st.sampled_from(["a", "de", "l'", "“", "猫", "_", "#", "1-2"])
_CELL = st.sampled_from(["_", "a", "B=2|A=1", "_|_", "x y"])
_DEPS = st.sampled_from(
    ["_", "0:root", "1:nsubj|0:root", "1:a:b|1:a", "9:far", "01:x", "x", "1:", "0.1:e", "|"]
)
_MISC = st.sampled_from(["_", "SpaceAfter=No", "SpaceAfter=No|A=1", "A=1", "SpaceAfter=Yes"])
_COMMENT = st.sampled_from(
    [
        "# sent_id = 1",
        "# sent_id=2",
        "# sent_id =",
        "# text = a b",
        "#text = a",
        "# text =  a ",
        "#",
        "# ",
        "#  x",
        "# newdoc id = d",
        "# newdoc",
        "# newdoc id =",
        "# newpar",
        "# meta::genre = news",
        "#k=v",
        "# k = v = w",
    ]
)


@st.composite
def _sentence(draw: st.DrawFn) -> str:
    lines = draw(st.lists(_COMMENT, max_size=5))
    # Chosen for the whole sentence, as otherwise hardly any sentence would have no word at all.
    words = draw(st.sampled_from([_WORD, st.just("_")]))
    size = draw(st.integers(1, 4))
    root = draw(st.integers(1, size))
    heads = (
        [0 if word == root else root for word in range(1, size + 1)] if draw(st.booleans()) else ["_"] * size
    )
    within = 0

    def row(number: str, head: object = "_") -> str:
        texts = [
            draw(words),
            *(draw(_CELL) for _ in range(4)),
            str(head),
            draw(_CELL),
            draw(_DEPS),
            draw(_MISC),
        ]
        return "\t".join([number, *texts])

    for word in range(size + 1):
        if word:
            lines.append(row(str(word), heads[word - 1]))
        nodes = [row(f"{word}.{minor}") for minor in range(1, draw(st.integers(0, 2)) + 1)]
        if word < size and word >= within and draw(st.booleans()):
            within = draw(st.integers(word + 1, size))
            nodes.insert(draw(st.integers(0, len(nodes))), row(f"{word + 1}-{within}"))
        lines += nodes
    return "\n".join(lines)


@st.composite
def _file(draw: st.DrawFn) -> bytes:
    text = "\n" * draw(st.integers(0, 2))
    for sentence in draw(st.lists(_sentence(), min_size=1, max_size=3)):
        text += sentence + "\n" * draw(st.integers(2, 3))
    text = text.rstrip("\n") + "\n" * draw(st.integers(0, 3))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


@given(_file())
@example(MASKED.encode())
@example(BLANK.encode())
@example(f"1{9 * NOTHING}\n".encode())
@example("\n\n".join(["1\ta" + 8 * "\t_", "# \n1\ta" + 8 * "\t_"]).encode())
@settings(
    max_examples=settings.default.max_examples // 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_conllu_comes_back(store: Store, tmp_path: Path, content: bytes) -> None:
    try:
        assert given_back(store, tmp_path / "a.conllu", content) == content
    finally:
        corpora.remove(store, "x")


@given(st.lists(_file(), min_size=4, max_size=4))
@settings(
    max_examples=settings.default.max_examples // 8,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_conllu_is_stored_soundly(store: Store, tmp_path: Path, contents: list[bytes]) -> None:
    """Random files come back; several are checked at once, as checks take most of the time."""
    paths = [tmp_path / f"{number}.conllu" for number, _ in enumerate(contents)]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    try:
        ingest(store, [str(path) for path in paths], Settings("x"))
        assert problems(store) == {}
    finally:
        corpora.remove(store, "x")


@pytest.mark.data
@pytest.mark.parametrize(
    "size", [*(pytest.param(one, marks=pytest.mark.nightly) for one in ("large", "small")), "smallest"]
)
def test_all_treebanks_come_back(store: Store, data_dir: Path, size: str) -> None:
    """English, Arabic, Chinese, Finnish and French treebanks come back byte for byte."""
    files = sorted((data_dir / "ud").glob("*.conllu"), key=lambda path: path.stat().st_size)
    assert files
    for path in files if size != "smallest" else files[:1]:
        if (path.stat().st_size > 3_000_000) == (size == "large"):
            ingest(store, [str(path)], Settings("x"))
            assert exported(store) == path.read_bytes(), path.name
            corpora.remove(store, "x")
