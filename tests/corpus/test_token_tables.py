"""Parquet with lists of words: the sentences are the same as in other formats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.formats import choose_reader
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.reading import read_source, sentences_of
from sentgen.corpus.sentence import Sentence
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, Rejection

#: Two sentences of a document, and one of another.
WORDS = [["Rain", "fell", "."], ["It", "stopped", "."], ["Go", "!"]]


def read(path: Path, **given: object) -> list[Sentence | Rejection]:
    """Return what a file holds, as `sentgen ingest` reads it."""
    (source,) = expand([str(path)])
    reader = choose_reader(source, None, given)
    assert isinstance(reader, Reader)
    return list(read_source(reader, source.open()))


def sentences(
    tmp_path: Path, columns: Mapping[str, Sequence[object]], schema: pa.Schema | None = None, **given: object
) -> list[Sentence]:
    """Return the sentences of a table."""
    found = read(write(tmp_path, columns, schema), **given)
    assert not any(isinstance(one, Rejection) for one in found), found
    return [one for one in found if isinstance(one, Sentence)]


def write(tmp_path: Path, columns: Mapping[str, Sequence[object]], schema: pa.Schema | None = None) -> Path:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(dict(columns), schema=schema), path)
    return path


def wrong(tmp_path: Path, columns: Mapping[str, Sequence[object]], **given: object) -> list[str]:
    """Return what is refused of a table."""
    found = read(write(tmp_path, columns), **given)
    return [str(one.as_error()).rpartition("/")[2] for one in found if isinstance(one, Rejection)]


def test_a_treebank_is_the_same_in_parquet(tmp_path: Path) -> None:
    """All that CoNLL-U says of words, trees included, read from lists with its names or those of others."""
    told = list(sentences_of(expand([str(TREEBANK)])))
    columns: dict[str, list[object]] = {
        "tokens": [one.forms for one in told],
        "lemmas": [one.lemmas for one in told],
        "upos": [one.upos for one in told],
        "pos_tags": [one.xpos for one in told],
        "feats": [one.feats for one in told],
        "head": [one.heads for one in told],
        "deprel": [one.deprels for one in told],
        "sent_id": [one.sent_id for one in told],
        "space_after": [one.space_after for one in told],
        "text": [one.text for one in told],
    }

    found = sentences(tmp_path, columns)
    for one, other in zip(told, found, strict=True):
        for name in (
            "forms",
            "lemmas",
            "upos",
            "xpos",
            "feats",
            "heads",
            "deprels",
            "sent_id",
            "space_after",
        ):
            assert getattr(one, name) == getattr(other, name), name
    assert found[0].document == "x.parquet"
    assert not any(one.document or one.metadata for one in found[1:])


WORD = st.text("abé.", min_size=1, max_size=3)


@given(
    rows=st.lists(
        st.lists(st.tuples(WORD, WORD, st.none() | WORD), min_size=1, max_size=4), min_size=1, max_size=4
    )
)
def test_words_are_those_of_json_lines(
    rows: list[list[tuple[str, str, str | None]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same objects in both formats are the same sentences; another list is an attribute of tokens."""
    tmp_path = tmp_path_factory.mktemp("rows")
    objects = [
        {"tokens": [one[0] for one in row], "lemmas": [one[1] for one in row], "n": number}
        for number, row in enumerate(rows)
    ]
    lines = tmp_path / "x.jsonl"
    lines.write_text("".join(f"{json.dumps(one)}\n" for one in objects))
    columns: dict[str, list[object]] = {name: [one[name] for one in objects] for name in objects[0]}
    columns["ner"] = [[one[2] for one in row] for row in rows]

    found = sentences(tmp_path, columns)
    for one, other, row in zip(found, read(lines), rows, strict=True):
        assert isinstance(other, Sentence)
        assert (one.forms, one.lemmas, one.metadata) == (other.forms, other.lemmas, other.metadata)
        said = tuple(f"ner={value}" if value else "_" for _, _, value in row)
        assert one.misc == (said if any(value for _, _, value in row) else None)


def test_rows_of_one_id_are_a_document(tmp_path: Path) -> None:
    """What the first of them says is metadata of the document; what others say otherwise, of the sentence."""
    columns = {"words": WORDS, "talk": ["a", "a", "b"], "year": [1990, 1990, 2001], "by": ["X", "Y", "X"]}

    found = sentences(tmp_path, columns, id="talk")
    assert [one.document for one in found] == ["a", None, "b"]
    assert [one.metadata for one in found] == [
        ["meta::year = 1990", "meta::by = X"],
        ["by = Y"],
        ["meta::year = 2001", "meta::by = X"],
    ]
    # Without one, the file is the document, and an id is that of a sentence.
    found = sentences(tmp_path, columns | {"id": [7, 8, 9]})
    assert [(one.document, one.sent_id) for one in found] == [("x.parquet", "7"), (None, "8"), (None, "9")]
    assert found[1].metadata == ["talk = a", "year = 1990", "by = Y"]


def test_lists_of_sentences_are_documents(tmp_path: Path) -> None:
    """Each row is a document, named by its id or its number."""
    columns = {
        "sentences": [WORDS[:2], WORDS[2:]],
        "tags": [[["N", "V", "."], ["P", "V", "."]], None],
        "id": ["a", "b"],
        "genre": ["news", "talk"],
    }

    found = sentences(tmp_path, columns, text="sentences")
    assert [one.forms for one in found] == WORDS
    assert [(one.document, one.xpos, one.metadata) for one in found] == [
        ("a", ["N", "V", "."], ["meta::genre = news"]),
        (None, ["P", "V", "."], []),
        ("b", None, ["meta::genre = talk"]),
    ]
    del columns["id"]
    found = sentences(tmp_path, columns, text="sentences")
    assert [one.document for one in found] == ["x.parquet#1", None, "x.parquet#2"]


def test_numbers_of_labels_are_their_names(tmp_path: Path) -> None:
    """As Hugging Face writes them into a schema: in lists, and for a row; -1 is none."""
    features = {
        "upos": {"feature": {"names": ["NOUN", "VERB", "PUNCT"], "_type": "ClassLabel"}, "_type": "List"},
        "label": {"names": ["news", "talk"], "_type": "ClassLabel"},
    }
    told = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    schema = pa.schema(
        [
            ("tokens", pa.list_(pa.string())),
            ("upos", pa.list_(pa.int64())),
            ("label", pa.int64()),
        ],
        metadata=told,
    )
    columns = {"tokens": WORDS[:2], "upos": [[0, 1, 2], [-1, 1, 2]], "label": [1, -1]}

    first, second = sentences(tmp_path, columns, schema)
    assert (first.upos, second.upos) == (["NOUN", "VERB", "PUNCT"], ["_", "VERB", "PUNCT"])
    assert (first.metadata, second.metadata) == (["label = talk"], [])
    assert wrong(tmp_path, {"tokens": WORDS[:1], "upos": [[0, 1, 2]]}) == [
        "x.parquet:1: value 1 of upos is 0, which is no text [columns]"
    ]


def test_misc_says_which_spaces_are_not_there(tmp_path: Path) -> None:
    columns = {"tokens": WORDS[:1], "misc": [["A=b", "SpaceAfter=No|C=d", None]]}

    (found,) = sentences(tmp_path, columns)
    assert (found.misc, found.space_after) == (("A=b", "C=d", "_"), [True, False, True])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"tokens": [["a", None]]}, "value 2 of tokens is missing [columns]"),
        ({"tokens": [[1, 2]]}, "value 1 of tokens is 1, which is no text [columns]"),
        ({"tokens": [None, ["a"]]}, "no words in the column tokens [empty-sentence]"),
        ({"tokens": [[], ["a"]]}, "the sentence has no token [empty-sentence]"),
        ({"tokens": [["a\x01"]]}, "a control character or lone surrogate in tokens [control-character]"),
        ({"tokens": [["a"]], "pos": [["X", "Y"]]}, "2 of pos for 1 token [column-length]"),
        ({"tokens": [["a"]], "ner": [["X", "Y"]]}, "2 of ner for 1 token [column-length]"),
        ({"tokens": [["a"]], "heads": [["+1"]]}, "heads: head '+1' is not a whole number [head-number]"),
        ({"tokens": [["a"]], "heads": [[0.5]]}, "value 1 of heads is 0.5; write a whole number [columns]"),
        (
            {"tokens": [["a", "b"]], "heads": [[0, 3]]},
            "token 2 has head 3 in a sentence of 2 tokens [head-range]",
        ),
        (
            {"tokens": [[["a"]]], "pos": [[["X"], ["Y"]]]},
            "2 of pos for 1 sentence (sentence x.parquet#1) [column-length]",
        ),
    ],
)
def test_what_is_wrong_names_row_and_column(
    columns: dict[str, list[object]], message: str, tmp_path: Path
) -> None:
    assert wrong(tmp_path, columns) == [f"x.parquet:1: {message}"]


def test_documents_are_told_apart(tmp_path: Path) -> None:
    """Rows of a document must be consecutive, and each row needs a name."""
    columns = {"tokens": WORDS, "talk": ["a", "b", "a"]}
    assert wrong(tmp_path, columns, id="talk") == [
        "x.parquet:3: the id 'a' is that of row 1, too; rows of a document follow one another (sentence a)"
        " [document-id]"
    ]
    columns["talk"] = ["a", "", "b"]
    assert wrong(tmp_path, columns, id="talk") == ["x.parquet:2: the row has no id [document-id]"]


def test_names_that_no_attribute_has_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"tokens": [["a"]], "NER tag": [["X"]]})
    with pytest.raises(InputError, match="'NER tag' is no name for what tokens have; rename"):
        read(path)


def test_a_text_wins_over_nothing_but_lists(tmp_path: Path) -> None:
    """Where `text` names a text, lists are metadata as JSON; where `tokens` is no list, `text` is the text."""
    path = write(tmp_path, {"text": ["It is. So."], "tokens": ["x"], "tags": [["a", "b"]], "id": ["d"]})
    (source,) = expand([str(path)])
    reader = choose_reader(source, None, {})
    assert isinstance(reader, Reader)

    (found,) = reader.items(source.open())
    assert not isinstance(found, Rejection)
    assert (found.text, found.document) == ("It is. So.", "d")
    assert found.metadata == ["meta::tokens = x", 'meta::tags = ["a", "b"]']
