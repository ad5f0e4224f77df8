"""ARPA files: equality with KenLM's reading, round trips, and refusals by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from toy_corpus import add_corpus, lookup, ngrams

from sentgen.errors import InputError
from sentgen.models import build, export_arpa, import_arpa, list_models
from sentgen.models.arpa import escape, unescape
from sentgen.models.mix import MixRequest
from sentgen.models.prune import PruneRequest
from sentgen.schema import Store
from sentgen.schema.store import raw

TEXT = ["a b a", "a c", "b a ü", "a b a", "b b c a"]

SMALL = """\\data\\
ngram 1=5
ngram 2=1

\\1-grams:
-1.0\t<unk>
-0.5\ta\t-0.25
-0.5\tb
-99\t<s>\t-0.5
-0.75\t</s>

\\2-grams:
-0.125\ta b

\\end\\
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
@pytest.mark.parametrize("name", ["m.arpa", "m.arpa.gz"])
@pytest.mark.parametrize("order", [2, 4])
def test_kenlm_scores_as_the_store_says(
    store: Store, tmp_path: Path, smoothing: str, name: str, order: int
) -> None:
    kenlm = pytest.importorskip("kenlm")
    add_corpus(store, "toy", TEXT)
    model = build(store, "m", ["toy"], order=order, smoothing=smoothing)
    export_arpa(store, model, tmp_path / name)

    reader = kenlm.LanguageModel(str(tmp_path / name))

    stored = ngrams(store, model)
    for line in [*TEXT, "c c zzz a", "zzz", "ü a b"]:
        words = [word if (word,) in stored else "<unk>" for word in ["<s>", *line.split(), "</s>"]]
        expected = [lookup(stored, tuple(words[max(0, i - order + 1) : i + 1])) for i in range(1, len(words))]
        assert [score for score, _, _ in reader.full_scores(line)] == pytest.approx(expected, abs=1e-5)


def test_round_trip(store: Store, tmp_path: Path) -> None:
    """A round trip keeps the model, with words that ARPA cannot hold."""
    add_corpus(
        store, "toy", [*[line.split() for line in TEXT], ["New York", "<UNK>", "\\u0041", "\t", "\\x"]]
    )
    model = build(store, "m", ["toy"], order=3)

    export_arpa(store, model, tmp_path / "m.arpa")
    again = import_arpa(store, "m", tmp_path / "m.arpa")

    expected, found = ngrams(store, model), ngrams(store, again)
    assert found.keys() == expected.keys()
    assert all(found[gram] == pytest.approx(expected[gram], abs=1e-6) for gram in expected)
    assert (again.version, again.smoothing, again.order, again.vocabulary) == (2, "arpa", 3, model.vocabulary)


def test_no_temporary_table_is_left(store: Store, tmp_path: Path) -> None:
    """Imports and builds leave no temporary tables, which would take memory while the store is open."""

    def left() -> list[object]:
        with store.connect() as connection:
            query = "select table_name from information_schema.tables where table_catalog = 'temp'"
            return raw(connection).execute(query).fetchall()

    add_corpus(store, "toy", TEXT)
    model = build(store, "m", ["toy"], order=3)
    assert left() == []
    export_arpa(store, model, tmp_path / "m.arpa")
    assert left() == []
    import_arpa(store, "again", tmp_path / "m.arpa")
    assert left() == []
    MixRequest(name="both", of="m,again").make(store)
    assert left() == []
    PruneRequest(name="small", of="m", entropy=1e-3).make(store)
    assert left() == []


@pytest.mark.parametrize("form", ["New York", "<UNK>", "\\u0041", "\\x", "a\\", "\t", "\x00"])
def test_escapes_are_undone(form: str) -> None:
    assert unescape(escape(form)) == form
    assert " " not in escape(form)


def test_other_models_are_read(store: Store, tmp_path: Path) -> None:
    model = import_arpa(store, "small", write(tmp_path / "small.arpa", SMALL))

    expected = {
        ("<unk>",): (-1.0, 0.0),
        ("a",): (-0.5, -0.25),
        ("b",): (-0.5, 0.0),
        ("<s>",): (-99, -0.5),
        ("</s>",): (-0.75, 0.0),
        ("a", "b"): (-0.125, 0.0),
    }
    found = ngrams(store, model)
    assert found.keys() == expected.keys()
    assert all(found[gram] == pytest.approx(expected[gram]) for gram in expected)
    assert model.unknown == "word"


def test_impossible_words_get_the_lowest_number(store: Store, tmp_path: Path) -> None:
    text = SMALL.replace("-1.0\t<unk>", "-inf\tc")

    model = import_arpa(store, "small", write(tmp_path / "small.arpa", text))

    assert ngrams(store, model)["c",][0] == pytest.approx(-99)
    assert model.unknown == "none"


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("\\data\\", "hello", 1, "not an ARPA file"),
        ("ngram 1=5", "ngram 1=4", 12, "5 1-grams, but the header says 4"),
        ("ngram 2=1", "ngram 3=1", 3, "expected the number of 2-grams"),
        ("ngram 2=1", f"ngram 2={'9' * 4301}", 3, "expected ngram 1=NUMBER"),
        ("ngram 1=5\nngram 2=1", "", 4, "expected ngram 1=NUMBER"),
        (
            "ngram 2=1",
            "\n".join(f"ngram {n}=1" for n in range(2, 7)),
            9,
            "highest that a model may have is 5",
        ),
        ("\\2-grams:", "\\3-grams:", 12, "expected \\2-grams:"),
        ("-0.125\ta b", "-0.125\ta", 13, "expected a number, 2 words"),
        ("-0.125\ta b", "zero\ta b", 13, "not a logarithm"),
        ("-0.125\ta b", "-0_1\ta b", 13, "not a logarithm"),
        ("-0.125\ta b", "nan\ta b", 13, "not a logarithm"),
        ("-0.125\ta b", "0.125\ta b", 13, "above 0"),
        ("-0.125\ta b", "-0.125\tc b", 13, "without its last word is no 1-gram"),
        ("-0.125\ta b", "-0.125\ta c", 13, "last word of this 2-gram is no unigram"),
        ("-0.5\tb", "-0.5\ta", 8, "occurs twice"),
        ("\n\\end\\\n", "", 13, "was cut off"),
        ("\\end\\", "\\fin\\", 15, "expected \\end\\"),
        ("-0.5\tb", "-0.5\tb\\u000a", 8, "line feed"),
    ],
)
def test_damaged_files_are_refused(
    store: Store, tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    """A damaged file is refused with the line, and nothing is stored."""
    assert old in SMALL
    path = write(tmp_path / "bad.arpa", SMALL.replace(old, new, 1))

    with pytest.raises(InputError) as caught:
        import_arpa(store, "bad", path)

    assert message in str(caught.value)
    assert caught.value.line == line
    assert list_models(store) == []


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ("-0.75\t</s>\n", "", "</s>"),
        ("-99\t<s>\t-0.5\n", "", "<s>"),
        ("-99\t<s>\t-0.5\n-0.75\t</s>\n", "", "<s> or </s>"),
        ("</s>", "</S>", "</s>"),
    ],
)
def test_a_model_that_ends_no_sentence_is_refused(
    store: Store, tmp_path: Path, old: str, new: str, missing: str
) -> None:
    """KenLM refuses it, too: each end would cost what an unknown word does."""
    text = SMALL.replace(old, new).replace("1=5", f"1={5 - (old.count('<') if not new else 0)}")

    with pytest.raises(InputError, match=f"no 1-gram is {missing}, without"):
        import_arpa(store, "bad", write(tmp_path / "bad.arpa", text))
    assert list_models(store) == []


@pytest.mark.parametrize(
    "written",
    [
        "\ufeff" + SMALL,
        "A model\nof a toolkit\n\n# with notes\n" + SMALL,
        "\ufeffA model\n\n" + SMALL,
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\t", " "),
        SMALL.replace("\n-", "\n\n  -"),
        SMALL.replace("data", "DATA")
        .replace("grams", "Grams")
        .replace("end", "END")
        .replace("ngram", "NGRAM"),
        SMALL.replace("<unk>", "<UNK>"),
        SMALL + "what follows\n",
        SMALL.replace("-0.5", "-5e-1"),
    ],
)
def test_ways_of_writing_the_same(store: Store, tmp_path: Path, written: str) -> None:
    """Byte order mark, text before the data, line ends, blanks, capitals: the model is the same, packed, too."""
    expected = ngrams(store, import_arpa(store, "small", write(tmp_path / "small.arpa", SMALL)))
    (tmp_path / "other.arpa").write_bytes(gzip.compress(written.encode()))

    for path in (write(tmp_path / "plain.arpa", written), tmp_path / "other.arpa"):
        assert ngrams(store, import_arpa(store, "other", path)) == expected


def test_unreadable_files_are_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(SMALL.encode())[:-20])
    (tmp_path / "latin1").write_bytes(SMALL.replace("\tb\n", "\tü\n").encode("latin-1"))

    with pytest.raises(InputError, match="damaged"):
        import_arpa(store, "bad", tmp_path / "cut.gz")
    with pytest.raises(InputError, match="not valid UTF-8"):
        import_arpa(store, "bad", tmp_path / "latin1")
    with pytest.raises(InputError, match="cannot be read"):
        import_arpa(store, "bad", tmp_path / "missing")
    with pytest.raises(InputError, match="needs a name"):
        import_arpa(store, "", tmp_path / "missing")


def test_export_replaces_whole_files_only(store: Store, tmp_path: Path) -> None:
    add_corpus(store, "toy", TEXT)
    model = build(store, "m", ["toy"], order=2)
    target = tmp_path / "out" / "m.arpa"
    target.parent.mkdir()
    target.write_text("old")

    def fail(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_arpa(store, model, target, progress=fail)
    with pytest.raises(InputError, match="cannot be written"):
        export_arpa(store, model, tmp_path / "nowhere" / "m.arpa")

    assert [path.name for path in target.parent.iterdir()] == ["m.arpa"]
    assert target.read_text() == "old"
