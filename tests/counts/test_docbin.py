"""DocBin of spaCy: reading documents made by hand, exporting a corpus, and refusals."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest
from stored import rows

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.schema import Store

SAID = """
select d.name, m.key, m.value from document d join document_meta m on m.document_id = d.id order by all
"""
TOKENS = """
select s.id - first(s.id) over (partition by c.id order by s.id), t.position, w.form, l.form, u.name, x.name,
    f.name, t.head, r.name, t.space_after is false
from token t
join sentence s on s.id = t.sentence_id
join corpus c on c.id = t.corpus_id
join word w on w.id = t.word_id
left join word l on l.id = t.lemma_id
left join tag u on u.id = t.upos_id
left join tag x on x.id = t.xpos_id
left join tag f on f.id = t.feats_id
left join tag r on r.id = t.deprel_id
where c.name = ?
order by t.sentence_id, t.position
"""


def test_without_spacy_a_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("spacy", "spacy.tokens"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "a.spacy").write_bytes(zlib.compress(b"x"))
    with (
        Store(tmp_path / "s.duckdb", create=True) as store,
        pytest.raises(InputError, match=r"pip install 'sentgen\[spacy\]'"),
    ):
        ingest(store, [str(tmp_path / "a.spacy")], Settings("c"))


@pytest.fixture
def spacy():
    """The module spaCy, whose extra tests do not install."""
    return pytest.importorskip("spacy", reason="spaCy is large: pip install 'sentgen[spacy]'")


def test_a_document_made_by_hand(tmp_path: Path, spacy) -> None:
    """Words, trees, entities, categories and extensions of a document are read; white space is no word."""
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    Doc.set_extension("year", default=None, force=True)
    document = Doc(
        Vocab(),
        words=["Ann", "\n", "sleeps", ".", "New", "York", "wakes"],
        spaces=[True, False, False, True, True, True, False],
        heads=[2, 0, 2, 2, 5, 6, 6],
        deps=["nsubj", "dep", "ROOT", "punct", "compound", "nsubj", "ROOT"],
        lemmas=["Ann", "", "sleep", ".", "New", "York", "wake"],
        ents=["B-PERSON", "O", "O", "O", "B-GPE", "I-GPE", "O"],
    )
    document.cats = {"news": 0.25}
    document.user_data["id"] = "first"
    document._.year = 1990
    packed = DocBin(store_user_data=True, attrs=["LEMMA", "HEAD", "DEP", "ENT_IOB", "ENT_TYPE", "SPACY"])
    packed.add(document)
    packed.add(Doc(Vocab(), words=["Plain", "text", "."]))
    packed.to_disk(tmp_path / "d.spacy")
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "d.spacy")], Settings("c"))
        found = [(row[0], *row[2:4], *row[7:9]) for row in rows(store, TOKENS, "c")]
        assert found[:6] == [
            (0, "Ann", "Ann", 2, "nsubj"),
            (0, "sleeps", "sleep", 0, "root"),
            (0, ".", ".", 2, "punct"),
            (1, "New", "New", 2, "compound"),
            (1, "York", "York", 3, "nsubj"),
            (1, "wakes", "wake", 0, "root"),
        ]
        assert [row[1] for row in found[6:]] == ["Plain", "text", "."]
        assert rows(store, SAID) == [("first", "news", "0.25"), ("first", "year", "1990")]
        assert rows(store, "select kind, position, last_position from region order by sentence_id") == [
            ("ent", 1, 1),
            ("ent", 1, 2),
        ]
        assert rows(store, "select value from region_meta order by all") == [("GPE",), ("PERSON",)]
        assert rows(store, "select name from document order by id") == [("first",), ("d.spacy#2",)]


def test_a_corpus_comes_back(tmp_path: Path, spacy) -> None:
    """An exported corpus is read again with the same sentences and documents."""
    from sentgen.counts.exports import export

    (tmp_path / "a.conllu").write_text(
        "# newdoc id = one\n# meta::genre = news\n"
        "1\tIt\tit\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\tSpaceAfter=No\n2\tis\tbe\tAUX\tVBZ\t_\t0\troot\t_\t_\n\n"
        "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
        "# newdoc id = two\n1\tNo\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"
    )
    (tmp_path / "b.spacy").write_text("of somebody else")
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "a.conllu")], Settings("a"))
        with store.connect() as connection:
            blocks, lost = export(connection, "a", "docbin")
            assert lost == ()
            (tmp_path / "a.spacy").write_bytes(b"".join(blocks))
        ingest(store, [str(tmp_path / "a.spacy")], Settings("b"))
        assert rows(store, TOKENS, "b") == rows(store, TOKENS, "a") != []
        assert rows(store, SAID) == [("one", "genre", "news")] * 2
    assert (tmp_path / "b.spacy").read_text() == "of somebody else"


@pytest.mark.parametrize("damage", ["text", "cut", "bomb", "other", "empty"])
def test_what_is_no_docbin_is_refused(tmp_path: Path, spacy, damage: str) -> None:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    whole = DocBin(docs=[Doc(Vocab(), words=["It", "is", "so"], sent_starts=[True, False, False])]).to_bytes()
    made = {
        "text": b"It is so.",
        "cut": whole[: len(whole) // 2],
        "bomb": zlib.compress(b"\0" * (1 << 25)),
        "other": zlib.compress(b"It is so."),
        "empty": b"",
    }
    path = tmp_path / "d.spacy"
    path.write_bytes(made[damage])
    with Store(tmp_path / "s.duckdb", create=True) as store:
        with pytest.raises(InputError, match=r"d\.spacy") as refused:
            ingest(store, [str(path)], Settings("c"))
        assert "\n" not in str(refused.value)
        assert rows(store, "select count(*) from sentence") == [(0,)]


def test_tags_without_sentences_are_refused_not_lost(tmp_path: Path, spacy) -> None:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    packed = DocBin(attrs=["TAG"])
    packed.add(Doc(Vocab(), words=["It", "is"], tags=["PRP", "VBZ"]))
    packed.to_disk(tmp_path / "d.spacy")
    with (
        Store(tmp_path / "s.duckdb", create=True) as store,
        pytest.raises(InputError, match=r"d\.spacy:1: it has TAG, but no sentences; run spaCy's sentencizer"),
    ):
        ingest(store, [str(tmp_path / "d.spacy")], Settings("c"))
