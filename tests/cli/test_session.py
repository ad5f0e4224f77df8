"""A user's session from the first corpus to a sentence, in small."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from conftest import PETS, Sentgen, refused

TAGGED = "[ The/DT dog/NN ]\nsaw/VBD\n[ a/DT cat/NN ]\n./.\n"
TREE = "( (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))) (. .)) )\n"
DEPENDENCIES = "The\tDT\t2\ndog\tNN\t3\nsaw\tVBD\t0\na\tDT\t5\ncat\tNN\t3\n.\t.\t3\n\n"
CHUNKS = "The DT B-NP\ndog NN I-NP\nsaw VBD B-VP\na DT B-NP\ncat NN I-NP\n. . O\n\n"


def field(report: str, name: str) -> str:
    """Return one line of the report of `sentgen ingest`."""
    return next(line[16:] for line in report.splitlines() if line.startswith(name))


def counts(store: Path) -> list[list[tuple[object, ...]]]:
    """Return every count of the store, in strings and in order."""
    with duckdb.connect(store, read_only=True) as connection:
        return [
            connection.sql(f"select * exclude corpus from {view} order by all").fetchall()
            for view in ("v_ngrams_1", "v_ngrams_3", "v_ngrams_5", "v_dependencies", "v_arguments")
        ]


#: Files as they are named, what they hold, and the format that they are found to be in.
FORMATS = [
    ("a.conllu", PETS, "conllu"),
    ("a.pos", TAGGED, "pos"),
    ("a.mrg", TREE, "mrg"),
    ("a.dp", DEPENDENCIES, "dp"),
    ("a.txt", CHUNKS, "conll2000"),
    ("a.txt", "The dog saw a cat. It ran.\n", "text"),
    ("a.txt", "the dog saw a cat . \nit ran , <unk> N times . \n", "lines"),
    ("a.jsonl", '{"tokens": ["The", "dog", "saw", "a", "cat", "."]}\n', "jsonl"),
    ("a.jsonl", '{"id": 1, "sentences": ["a cat .", "the dog ."]}\n', "jsonl"),
]


@pytest.mark.parametrize("formats", [FORMATS[:5], FORMATS[5:]], ids=["trees and tags", "text"])
def test_formats_are_detected(sentgen: Sentgen, tmp_path: Path, formats: list[tuple[str, str, str]]) -> None:
    """A format needs no option, and what was stored is sound."""
    found = {}
    for number, (name, text, form) in enumerate(formats):
        corpus = f"c{number}"
        (folder := tmp_path / corpus).mkdir()  # of two files beside each other, one may complete the other
        (folder / name).write_text(text)

        told = sentgen("ingest", folder / name, "--corpus", corpus)

        assert (told.code, told.err) == (0, ""), (name, form)
        found[corpus] = (form, field(told.out, "sentences"))

    query = (
        "select corpus, format, count(distinct sentence_id) from v_sources "
        "join v_tokens using (corpus) group by corpus, format"
    )
    rows = [line.split("\t") for line in sentgen("sql", query, "--tsv").out.splitlines()[1:]]
    assert {corpus: (form, number) for corpus, form, number in rows} == found
    assert sentgen("db", "check").code == 0


def test_dp_and_pos_are_merged(sentgen: Sentgen, tmp_path: Path) -> None:
    """A .dp file takes the base NPs of the .pos file beside it, unless told not to."""
    (tmp_path / "w.dp").write_text(DEPENDENCIES)
    (tmp_path / "w.pos").write_text(TAGGED)
    for corpus, options in (("merged", ()), ("asked", ("--format", "wsj")), ("plain", ("--format", "dp"))):
        assert sentgen("ingest", "w.dp", "--corpus", corpus, *options).code == 0

    # "The dog" and "a cat" are base NPs of two words each.
    query = (
        "select corpus, count(*) filter (where np > 0) as in_np from v_tokens group by corpus order by corpus"
    )
    assert sentgen("sql", query, "--tsv").out == "corpus\tin_np\nasked\t4\nmerged\t4\nplain\t0\n"


@pytest.mark.parametrize("end", [" \n", "\n", "", " ", " \n\n"])
def test_last_line_of_tokenized_text(sentgen: Sentgen, tmp_path: Path, end: str) -> None:
    """However the file ends, its last sentence counts."""
    (tmp_path / "a.lines").write_text(f"the dog saw a cat .\n it ran , twice .{end}")

    told = sentgen("ingest", "a.lines", "--corpus", "c")

    assert (field(told.out, "sentences"), field(told.out, "tokens")) == ("2", "11")


def test_compressed_files_are_the_same_content(sentgen: Sentgen, pets: Path) -> None:
    """Content is known by its hash, whatever it is packed in."""
    data = pets.read_bytes()
    Path("p.conllu.gz").write_bytes(gzip.compress(data))
    Path("p.conllu.xz").write_bytes(lzma.compress(data))
    Path("p.conllu.bz2").write_bytes(bz2.compress(data))
    with zipfile.ZipFile("p.zip", "w") as archive:
        archive.writestr("inside/p.conllu", data)

    sentgen("ingest", "p.zip", "--corpus", "c")
    told = sentgen("ingest", "p.conllu.*", pets, "--corpus", "c")

    assert field(told.out, "sources") == "0 (4 unchanged)"
    assert "p.zip!inside/p.conllu" in sentgen("corpora", "show", "c").out
    assert sentgen("corpora", "verify", "c").code == 0


def test_standard_input(sentgen: Sentgen, tmp_path: Path) -> None:
    """- reads what is piped in."""
    (tmp_path / "first.conllu").write_text(PETS)
    told = sentgen("ingest", "-", "--corpus", "c", stdin=PETS)

    assert field(told.out, "tokens") == "12"
    assert field(sentgen("ingest", "first.conllu", "--corpus", "c").out, "sources") == "0 (1 unchanged)"


def test_folder_with_other_files(sentgen: Sentgen, tmp_path: Path) -> None:
    """What lies beside a corpus is passed over and named; what the user names is not."""
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "a.conllu").write_text(PETS)
    (folder / "README.md").write_text("# A treebank\nOf pets. They run.\n")
    (folder / "LICENSE-pets.txt").write_text("Do what you like. Really.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "stats.xml").write_text('<?xml version="1.0"?>\n<a b="c d">x y</a>\n')
    (folder / "nothing.conllu").write_text("")
    (folder / ".hidden").write_text("x")

    told = sentgen("ingest", "bank", "--corpus", "c")

    assert told.code == 0
    assert (field(told.out, "sources"), field(told.out, "sentences")) == ("1", "2")
    passed = [line for line in told.err.splitlines() if line.startswith("passed over: ")]
    assert [line.split(": ")[1] for line in passed] == [
        f"bank/{name}"
        for name in ("LICENSE-pets.txt", "README.md", "nothing.conllu", "picture.png", "stats.xml")
    ]
    assert field(told.out, "passed over").startswith("5 files")
    refused(sentgen("ingest", "bank/nothing.conllu", "--corpus", "c"), "is empty")
    assert field(sentgen("ingest", "bank/LICENSE-pets.txt", "--corpus", "d").out, "sentences") == "2"


def test_folder_without_a_corpus(sentgen: Sentgen, tmp_path: Path, store: Path) -> None:
    """A folder in which nothing is a corpus is an error."""
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank" / "README").write_text("Nothing here yet.\n")

    refused(sentgen("ingest", "bank", "--corpus", "c"), "none of the files found is a corpus")
    assert sentgen("corpora", "list").out == ""


def test_found_file_with_a_known_name_is_not_passed_over(sentgen: Sentgen, tmp_path: Path) -> None:
    """A damaged corpus file in a folder is an error, not something that lies beside it."""
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank" / "a.conllu").write_text(PETS.replace("\tchased", "\tcha\0sed"))

    refused(sentgen("ingest", "bank", "--corpus", "c"), "bank/a.conllu:6: NUL in the text")


def test_adding_a_file_later(sentgen: Sentgen, tmp_path: Path, store: Path) -> None:
    """A corpus that grows counts the same as one read at once; a second run changes nothing."""
    (tmp_path / "a.conllu").write_text(PETS)
    (tmp_path / "b.conllu").write_text(PETS.replace("dog", "bird"))
    sentgen("ingest", "a.conllu", "--corpus", "c")
    told = sentgen("ingest", "a.conllu", "b.conllu", "--corpus", "c")
    assert field(told.out, "sources") == "1 (1 unchanged)"
    grown = counts(store)
    sentgen("ingest", "a.conllu", "b.conllu", "--corpus", "c")
    assert counts(store) == grown
    sentgen("corpora", "remove", "c", "--yes")
    sentgen("ingest", "a.conllu", "b.conllu", "--corpus", "c")

    assert counts(store) == grown


def test_removing(filled: Sentgen, tmp_path: Path, store: Path) -> None:
    """Removal leaves what never having ingested would."""
    before = counts(store)
    (tmp_path / "b.conllu").write_text(PETS.replace("dog", "bird") * 3)
    filled("ingest", "b.conllu", "--corpus", "gone")
    assert (
        filled("corpora", "remove", "gone", "--dry-run").out == "would remove gone: 6 sentences, 36 tokens\n"
    )
    assert counts(store) != before
    # Nobody sits there to answer.
    refused(
        filled("corpora", "remove", "gone"),
        "this would remove gone: 6 sentences, 36 tokens; give --yes, or --dry-run",
    )
    assert counts(store) != before

    assert filled("corpora", "remove", "gone", "--yes").out == "removed gone: 6 sentences, 36 tokens\n"

    assert counts(store) == before
    assert filled("db", "check").code == 0


def test_compacting(filled: Sentgen, tmp_path: Path, store: Path) -> None:
    """What a removal leaves is packed, and changes no count."""
    (tmp_path / "b.conllu").write_text(PETS.replace("dog", "bird") * 3)
    filled("ingest", "b.conllu", "--corpus", "gone")
    filled("corpora", "remove", "gone", "--yes")
    before = counts(store)

    told = filled("db", "compact")

    assert (told.code, "segments: 1 before, 1 after" in told.err) == (0, True)
    assert counts(store) == before
    assert filled("db", "check").code == 0


def test_lowercase_and_order(sentgen: Sentgen, pets: Path) -> None:
    """The settings of a corpus hold for all of its files."""
    assert sentgen("ingest", pets, "--corpus", "c", "--lowercase", "--order", "3").code == 0

    query = "select count(*) as n from {}"
    assert sentgen("sql", query.format("v_ngrams_4"), "--tsv").out == "n\n0\n"
    assert sentgen("sql", "select count(*) as n from v_tokens where form = 'The'", "--tsv").out == "n\n0\n"
    refused(sentgen("ingest", pets, "--corpus", "c"), "made with --lowercase, not without --lowercase")
    refused(
        sentgen("ingest", pets, "--corpus", "c", "--lowercase"), "made with --order 3, not with --order 5"
    )


def test_look_ups(filled: Sentgen) -> None:
    """Every look-up finds what is in two sentences."""
    # The | dog | chased a cat . | The cat saw | the | dog | .
    assert filled("ngrams", "the *", "--csv").out.splitlines()[0].startswith("w1,w2,count")
    assert json.loads(filled("ngrams", "The cat", "--json").out)[0]["count"] == 1
    assert json.loads(filled("freq", "--json", "-n", "1").out)[0]["count"] == 2
    assert "dog" in filled("deps", "saw").out
    assert "VBD" in filled("args", "saw").out
    assert "chased" in filled("kwic", "dog").out
    assert filled("collocations", "dog", "--min-count", "1").code == 0
    assert filled("ngrams", "the *", "--show-sql").err.lower().startswith("with")
    assert filled("schema", "v_ngrams_2").out.startswith("column")
    assert filled("db", "info").code == 0
    for command in (("ngrams", "no such"), ("deps", "such"), ("kwic", "such")):
        assert filled(*command).code == 1


def test_outputs(filled: Sentgen) -> None:
    """One query in all formats."""
    query = ("sql", "select form, count from v_ngrams_1 as n(corpus, form, count) where form = 'dog'")

    assert filled(*query).out == "form  count\ndog       2\n"
    assert filled(*query, "--csv").out == "form,count\ndog,2\n"
    assert filled(*query, "--tsv").out == "form\tcount\ndog\t2\n"
    assert filled(*query, "--json").out == '[{"form": "dog", "count": 2}]\n'
    assert filled(*query, "--jsonl").out == '{"form": "dog", "count": 2}\n'
    assert filled(*query, "--parquet", "o.parquet").out == ""
    assert pq.read_table("o.parquet").to_pylist() == [{"form": "dog", "count": 2}]
    assert filled(*query, "--csv", "--json").code == 2


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("smoothing", "order"), [("katz", 2), ("katz", 4), ("kneser-ney", 3), ("kneser-ney", 5)]
)
def test_models(filled: Sentgen, smoothing: str, order: int) -> None:
    """A model survives its own ARPA file, and dies when it is removed."""
    build = ("models", "build", "m", "--corpus", "pets", "--order", order, "--smoothing", smoothing)
    assert filled(*build).code == 0
    assert filled("models", "export", "m", "--arpa", "m.arpa.gz").code == 0
    assert filled("models", "import-arpa", "again", "m.arpa.gz").code == 0

    sentences = ("The dog saw a cat .", "a bird", "")
    first, second = (
        [row["log10"] for row in json.loads(filled("score", "-m", name, *sentences, "--json").out)]
        for name in ("m", "again")
    )
    assert first == pytest.approx(second, abs=1e-5)
    assert json.loads(filled("models", "show", "m", "--json").out)[2]["value"] == str(order)
    assert filled("models", "remove", "m").code == 0
    refused(filled("models", "show", "m"), "no model 'm'; there are: again@1, pets@1")


def test_models_of_counts_and_tags(filled: Sentgen) -> None:
    """Unknown words may have one symbol for each tag; rare n-grams may be left out."""
    options = ("--unknown", "tag", "--min-count", "1,2", "--order", "2")
    assert filled("models", "build", "t", "--corpus", "pets", *options).code == 0

    rows = json.loads(filled("models", "list", "--json").out)
    assert [(r["name"], r["min_count"], r["unknown"], r["stale"]) for r in rows] == [
        ("pets", "1,1,1", "word", False),
        ("t", "1,2", "tag", False),
    ]


def test_stale_model(filled: Sentgen) -> None:
    """A model whose corpus changed says so, and still answers."""
    filled("corpora", "remove", "pets", "--yes")

    assert json.loads(filled("models", "list", "--json").out)[0]["stale"] is True
    assert filled("score", "-m", "pets", "The dog").code == 0


@pytest.mark.parametrize("algorithm", ["lmo", "greedy"])
def test_regenerate(filled: Sentgen, algorithm: str) -> None:
    """Words come back whole, whatever they are and however they come in."""
    regenerate = ("regenerate", "-m", "pets", "-a", algorithm, "--json")
    bag = "[the dog] dog dog zebra saw ."

    rows = json.loads(filled(*regenerate, bag, "--nbest", "3").out)

    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert all("the dog" in row["sentence"] for row in rows)
    assert all(
        sorted(row["sentence"].split()) == sorted(["the", "dog", "dog", "dog", "zebra", "saw", "."])
        for row in rows
    )
    assert {row["unknown"] for row in rows} == {1}
    assert json.loads(filled(*regenerate, "dog").out)[0]["sentence"] == "dog"
    Path("bags.txt").write_text("saw The dog\n[a cat] .\n")
    from_file = filled(*regenerate, "--input", "bags.txt").out
    assert filled(*regenerate, "-", stdin="saw The dog\n[a cat] .\n").out == from_file
    assert filled(*regenerate, "saw The dog", "[a cat] .").out == from_file
    assert json.loads(filled(*regenerate, "--input", "pets.conllu", "--units", "word").out)[1]["bag"] == 2


def test_evaluate(filled: Sentgen) -> None:
    """An experiment prints its figures with signatures and keeps them."""
    evaluate = (
        "evaluate",
        "regeneration",
        "--model",
        "pets",
        "--test",
        "pets.conllu",
        "--seed",
        "1",
        "--json",
    )
    rows = json.loads(filled(*evaluate, "--algorithms", "lmo,greedy").out)

    figures = [row for row in rows if " vs " not in row["system"]]

    assert {row["system"] for row in figures} == {"lmo", "greedy"}
    assert all("tok:" in row["signature"] for row in figures if row["metric"].startswith("bleu"))
    assert "lmo" in filled("sql", "select system from v_scores").out
