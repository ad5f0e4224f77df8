"""`sentgen regenerate` as a user meets it: input in every form, trees, reasons, files, and refusals."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import conllu
import pyarrow.parquet as pq
import pytest
from conftest import PETS, Sentgen, Told, refused

from sentgen.counts.ingestion import Settings, ingest
from sentgen.generation import ALGORITHMS
from sentgen.models import build
from sentgen.schema import Store

DOG = "[the/DT dog/NN] saw/VBD [a/DT cat/NN] ./."
TREES = [name for name, algorithm in ALGORITHMS.items() if algorithm.trees]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the corpus and the model `pets`, made once."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "pets.conllu").write_text(PETS)
    with Store(folder / "made.duckdb", create=True) as store:
        ingest(store, [str(folder / "pets.conllu")], Settings("pets"))
        build(store, "pets", ["pets"], order=3)
    return folder / "made.duckdb"


@pytest.fixture
def regenerate(sentgen: Sentgen, made: Path, store: Path, pets: Path) -> Sentgen:
    """The command with the model of pets."""
    shutil.copy(made, store)

    def run(*arguments: object, stdin: str = "") -> Told:
        return sentgen("regenerate", "-m", "pets", *arguments, stdin=stdin)

    return run


def rows(told: Told) -> list[dict[str, Any]]:
    """Return the rows of an output in JSON."""
    assert told.code == 0, told.err
    found: list[dict[str, Any]] = json.loads(told.out)
    return found


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_bag_has_an_answer(regenerate: Sentgen, algorithm: str) -> None:
    """No words, one, unknown ones, the same again, no verb, sixty: all of them come back, each once."""
    bags = ["", "dog", "zebra", "zebra zebra [the dog] [the dog] dog", ". . .", "dog saw x " * 20]
    found = rows(regenerate("-a", algorithm, "--json", *bags))

    for row, bag in zip(found, bags, strict=True):
        assert sorted(row["sentence"].split()) == sorted(bag.replace("[", "").replace("]", "").split())


def test_line_k_belongs_to_line_k(regenerate: Sentgen) -> None:
    """A blank line has an empty sentence, and standard error says that there is one."""
    told = regenerate("-", "--json", "-a", "beam", stdin="saw The dog\n\ncat\n")

    assert [row["bag"] for row in rows(told)] == [1, 2, 3]
    assert [row["sentence"] for row in rows(told)][1:] == ["", "cat"]
    assert told.err == "1 of 3 bags have no words, and their sentences none either\n"


def test_inputs_mean_the_same(regenerate: Sentgen) -> None:
    """A bag as argument, joined, as line, and as JSON gives the same sentence, whatever the order."""
    Path("bags.txt").write_text(f"{DOG}\n")
    Path("joined.txt").write_text("./. a/DT_cat/NN saw/VBD the/DT_dog/NN\n")
    Path("bags.json").write_text(
        json.dumps(
            [
                {
                    "units": [["the", "dog"], "saw", ["a", "cat"], "."],
                    "tags": [["DT", "NN"], "VBD", ["DT", "NN"], "."],
                }
            ]
        )
    )
    answers = [
        rows(regenerate("-a", "cle", "--json", *arguments))
        for arguments in (
            (DOG,),
            ("./. [a/DT cat/NN] [the/DT dog/NN] saw/VBD",),
            ("-i", "bags.txt"),
            ("-i", "joined.txt", "--np-joiner", "_"),
            ("-i", "bags.json"),
        )
    ]

    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0]["guessed"] == 0


def test_a_treebank_as_input(regenerate: Sentgen) -> None:
    """Its phrases stay whole or are broken up, and its tags are those that the counts use."""
    whole, broken = (
        rows(regenerate("-a", "cle", "-i", "pets.conllu", "--units", units, "--tree", "--json"))
        for units in ("np", "word")
    )

    assert [sorted(row["units"]) for row in whole] == [
        [".", "The dog", "a cat", "chased"],
        [".", "The cat", "saw", "the dog"],
    ]
    assert {row["guessed"] for row in whole} == {0}
    assert sorted(broken[0]["units"]) == sorted(["The", "dog", "chased", "a", "cat", "."])


def test_format_of_the_input(regenerate: Sentgen) -> None:
    """--format says what a file is."""
    Path("odd.txt").write_text("The DT B-NP\ndog NN I-NP\nran VBD B-VP\n\n")

    assert len(rows(regenerate("--json", "-i", "odd.txt"))) == 4
    assert len(rows(regenerate("--json", "-i", "odd.txt", "--format", "conll2000"))) == 1


def test_guessed_tags_are_told(regenerate: Sentgen) -> None:
    """Words without tags get the most frequent one: a column says how many, and a note what to do."""
    told = regenerate("-a", "cle", "saw the dog", "--json")

    assert rows(told)[0]["guessed"] == 3
    assert (
        "3 of 3 words had no tag; each word's most frequent tag was used; give tags as word/TAG" in told.err
    )
    assert "tags" not in regenerate("-a", "lmo", "saw the dog").err


def test_broken_constraints_are_told(regenerate: Sentgen) -> None:
    """Two nouns, of which one must hang on the other: told, and not shown as a weight of minus 100,000."""
    told = regenerate("-a", "prim", "--one-root", "--explain", "--json", "dog/NN cat/NN")
    found = rows(told)

    assert "hard constraints broken, as nothing else was left: 1; --any-root" in told.err
    assert [row["forced"] for row in found].count(True) == 1
    assert all(row["weight"] > -100 for row in found)


def test_tags_of_another_kind_are_told(regenerate: Sentgen) -> None:
    """The counts use xpos here: NOUN and VERB mean nothing to them."""
    told = regenerate("-a", "cle", "dog/NOUN saw/VERB")

    assert "the tags here (NOUN, VERB) are of another set than the xpos of the dependency counts" in told.err


def test_tree_for_reading(regenerate: Sentgen) -> None:
    """The sentence, its scores, and a unit a line."""
    told = regenerate("-a", "cle", "--tree", "[The/DT cat/NN] saw/VBD")

    head, scores, blank, *drawn = told.out.splitlines()
    assert head == "bag 1: The cat saw"
    assert re.fullmatch(r"log10 -\d+\.\d\d, log10_score -\d+\.\d\d", scores)
    assert (blank, drawn) == ("", ["  ╭── The cat  NN", "╶─╯ saw  VBD", ""])


def test_trees_for_programs(regenerate: Sentgen) -> None:
    """In the other formats the units and the numbers of their heads are columns; 0 is the root."""
    (row,) = rows(regenerate("-a", "cle", "--tree", "--json", "[The/DT cat/NN] saw/VBD"))
    regenerate("-a", "cle", "--tree", "--parquet", "o.parquet", "[The/DT cat/NN] saw/VBD")

    assert (row["units"], row["heads"]) == (["The cat", "saw"], [2, 0])
    assert pq.read_table("o.parquet").to_pylist()[0]["heads"] == [2, 0]


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("algorithm", TREES)
def test_conllu_file(regenerate: Sentgen, sentgen: Sentgen, algorithm: str) -> None:
    """What is written can be read by others, and ingested; empty bags are left out."""
    told = regenerate("-a", algorithm, "--conllu", "o.conllu", "--nbest", "2", DOG, "", "dog/NN")
    sentences = conllu.parse(Path("o.conllu").read_text())

    assert told.code == 0
    assert f"o.conllu: {len(sentences)} trees" in told.err
    assert next(sentence.metadata["sent_id"] for sentence in sentences) == "1-1"
    assert "3-1" in [sentence.metadata["sent_id"] for sentence in sentences]
    assert sorted(token["form"] for token in sentences[0]) == sorted(["the", "dog", "saw", "a", "cat", "."])
    assert {token["xpos"] for token in sentences[0]} == {"DT", "NN", "VBD", "."}
    assert sentgen("ingest", "o.conllu", "--corpus", "again").code == 0


def test_names_of_sentences_are_kept(regenerate: Sentgen) -> None:
    """A sentence of a treebank is found again by its name."""
    regenerate("-a", "cle", "-i", "pets.conllu", "--conllu", "o.conllu")

    assert [one.metadata["sent_id"] for one in conllu.parse(Path("o.conllu").read_text())] == ["p1", "p2"]


def test_svg_file(regenerate: Sentgen) -> None:
    """One drawing for all sentences; what stood there before is replaced, as other commands do."""
    Path("o.svg").write_text("old")

    told = regenerate("-a", "cle", "--svg", "o.svg", DOG, "[<b>/DT cat/NN]")

    root = ElementTree.parse("o.svg").getroot()
    assert "o.svg: 2 trees" in told.err
    assert "<b> cat" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_files_that_cannot_be_written(regenerate: Sentgen) -> None:
    """A folder that is not there is named; a folder, or -, is no file."""
    refused(regenerate("-a", "cle", DOG, "--svg", "none/o.svg"), "none/o.svg: cannot be written")
    for option in ("--svg", "--conllu"):
        for name in ("-", "."):
            assert regenerate("-a", "cle", DOG, option, name).code == 2


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("algorithm", TREES)
def test_reasons_for_attachments(regenerate: Sentgen, algorithm: str) -> None:
    """A row for each attachment, in the order of the sentence, with counts at all levels."""
    found = rows(regenerate("-a", algorithm, "--explain", "--json", "[The/DT cat/NN] saw/VBD"))

    assert [row["modifier"] for row in found] == ["The cat", "saw"]
    assert [(row["head"], row["side"]) for row in found] == [("saw", "left"), ("<root>", "right")]
    # cat is left of saw in the one sentence with both. VBD has cat on its left once, saw has NN there once; they
    # are together twice and twice. VBD has NN on its left twice; they are together twice in each sentence.
    cat = found[0]
    assert [(cat[f"{level}_events"], cat[f"{level}_pairs"]) for level in ("word", "mixed", "tag")] == [
        (1, 1),
        (2, 4),
        (2, 4),
    ]
    # 1/2 of 1/1, and 1/2 of 4/5 of 2/4 and 1/5 of 2/4
    assert cat["prob"] == pytest.approx(0.75)
    # cle and prim look at no arguments; the others find that a verb takes one unit on its left, always. Of joint it
    # is what all factors make of an edge, by their weights.
    assert cat["factor"] == pytest.approx(1) or algorithm == "joint"
    # Both verbs have one unit on their left.
    assert (cat["argument_counts"], cat["argument_tag_counts"]) == ([0, 1, *[0] * 6], [0, 2, *[0] * 6])


def test_reasons_for_words(regenerate: Sentgen) -> None:
    """Without trees, how the language model backs off, word by word, to the end of the sentence."""
    told = regenerate("-a", "lmo", "--explain", "--json", "zebra The")
    found = rows(told)
    (sentence,) = rows(regenerate("-a", "lmo", "--json", "zebra The"))
    totals = {row["word"]: row["total"] for row in found}

    assert set(totals) == {"zebra", "The", "</s>"}
    assert found[0]["ngram"].startswith("<s> ")
    assert "<unk>" in [row["ngram"] for row in found]
    assert sum(totals.values()) == pytest.approx(sentence["logp"])
    # zebra is no word, and The one with <unk>, <s> and </s>: looked up once for the sentence, once for its reasons.
    assert "look-ups of n-grams: 4 in the cache, 4 fetched\n" in told.err


@pytest.mark.parametrize("form", ["--csv", "--tsv", "--jsonl"])
def test_reasons_in_every_format(regenerate: Sentgen, form: str) -> None:
    """One table for all sentences, with the number of the bag."""
    told = regenerate("-a", "cle", "--explain", form, "dog/NN", "saw/VBD")

    assert told.code == 0
    assert len(told.out.splitlines()) == 2 + (form != "--jsonl")


def test_reasons_and_tree_for_reading(regenerate: Sentgen) -> None:
    """Both are shown, sentence by sentence."""
    out = regenerate("-a", "cle", "--explain", "--tree", "--nbest", "2", DOG).out

    assert out.startswith("bag 1, rank 1: ")
    assert "╶─" in out
    assert "modifier  side" in out


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ("-a", "lmo", "--tree"),
            ("lmo makes no trees, so --tree means nothing; these do: joint, prim", "cle"),
        ),
        (("-a", "beam", "--conllu", "o"), ("beam makes no trees, so --conllu",)),
        (("-a", "beam", "--svg", "o"), ("beam makes no trees, so --svg",)),
        (("-a", "viterbi", "--dependencies", "pets"), ("viterbi makes no trees, so --dependencies",)),
        (("-a", "lmo", "--beam", "5"), ("lmo does not look at beam; it is for: viterbi, beam",)),
        (("-a", "cle", "--padding", "free"), ("cle does not look at padding; it is for: ab",)),
        (("-a", "beam", "--lmo-context", "phrase"), ("beam does not look at lmo-context",)),
        (("-a", "ab", "--q", "guess"), ("q 'guess' is neither paper nor learned",)),
        (("-a", "ab", "--padding-cost", "-1"), ("padding cost -1.0 is not 0 or more",)),
        (("-a", "ab", "--as-published", "2007"), ("ab is not in the paper of 2007; papers with it: 2009",)),
        (("-a", "ab", "--as-published", "1999"), ("no paper '1999'; there are: 2007, 2009",)),
        (("-a", "beam", "--as-published", "2007"), ("papers with it: none",)),
        (("-a", "nope"), ("no algorithm 'nope'; there are: ab, beam",)),
        (("-a", "cle", "--dependencies", "nope"), ("no corpus 'nope'", "pets")),
        (("-a", "cle", "--tree", "--explain", "--json"), ("--tree and --explain are two tables",)),
        (("--format", "bags"), ("--format is for what comes with --input FILE",)),
        (("--input", "pets.conllu"), ("nothing to order, or too much",)),
    ],
)
def test_refusals(regenerate: Sentgen, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    """What would have no effect is refused in one line, before anything is written."""
    refused(regenerate(*arguments, DOG), *parts)

    assert not Path("o").exists()


def test_more_refusals(regenerate: Sentgen, sentgen: Sentgen) -> None:
    """Bags that cannot be read, or are too large, and corpora without trees."""
    Path("many.txt").write_text("a\n" + "b " * 1001)
    Path("plain.txt").write_text("a dog barks .\n")
    Path("empty.txt").write_text("")
    sentgen("ingest", "plain.txt", "--corpus", "plain", "--format", "lines")

    refused(regenerate("-i", "many.txt", "-a", "lmo"), "bag 2 has 1,001 units, and lmo takes at most 1000")
    refused(regenerate("-i", "empty.txt"), "empty.txt: is empty")
    refused(regenerate("-i", "none.txt"), "none.txt: no such file")
    refused(regenerate("-", stdin='{"words": ["a"'), "-:1: not JSON")
    refused(regenerate("-i", "pets.conllu", "-f", "wpd"), "no format 'wpd'; there are: bags, json")
    refused(regenerate("-a", "cle", "--dependencies", "plain", "a"), "there are no dependency trees in plain")
    refused(regenerate("a\x01b"), "character U+0001")
    refused(regenerate("a [b <s>]"), "<s> is a symbol of the language models")
    refused(regenerate(), "nothing to order")


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("beam", ("--beam", "512", "--order", "2")),
        ("viterbi", ("--as-published", "2007", "--beam", "8")),
        ("lmo", ("--as-published", "2009", "--lmo-context", "string")),
        ("greedy", ("--as-published", "2007", "--lmo-context", "string")),
        ("prim", ("--as-published", "2007", "--any-root", "--noun-under-noun", "--many-roots")),
        ("prim-arg", ("--theft", "printed")),
        ("cle", ("--as-published", "2009", "--one-root", "--verb-root", "--no-noun-under-noun")),
        ("ab", ("--as-published", "2009", "--q", "learned", "--padding", "free", "--padding-cost", "0.5")),
        ("ab", ("--dependencies", "pets", "--dependencies", "pets", "--lowercase")),
    ],
)
def test_options(regenerate: Sentgen, algorithm: str, options: tuple[str, ...]) -> None:
    """Every setting has its option, and a preset can be changed."""
    (row,) = rows(regenerate("-a", algorithm, *options, "--json", DOG))

    assert sorted(row["sentence"].split()) == sorted(["the", "dog", "saw", "a", "cat", "."])


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_presets_set_only_what_the_algorithm_looks_at(algorithm: str) -> None:
    """A setting that means nothing cannot be part of a literal reading."""
    chosen = ALGORITHMS[algorithm]
    for settings in chosen.published.values():
        assert settings.keys() <= chosen.options


def test_pets_are_what_the_figures_above_say() -> None:
    """Two sentences, each with a verb, a noun to its left and a noun to its right."""
    assert PETS.count("\tVBD\t") == 2
    assert PETS.count("\tNN\t") == 4


@pytest.mark.data
@pytest.mark.nightly
def test_a_whole_treebank(sentgen: Sentgen, data_dir: Path) -> None:
    """Every algorithm answers every sentence with its own words, and every tree can be read again."""
    treebank = data_dir / "ud" / "en_partut-ud-dev.conllu"
    assert sentgen("ingest", treebank, "--corpus", "partut").code == 0
    assert sentgen("models", "build", "partut", "--corpus", "partut").code == 0
    gold = [
        sorted(token["form"] for token in one if isinstance(token["id"], int))
        for one in conllu.parse(treebank.read_text())
    ]

    for name, algorithm in ALGORITHMS.items():
        files = ("--conllu", f"{name}.conllu", "--svg", f"{name}.svg") if algorithm.trees else ()
        found = rows(sentgen("regenerate", "-m", "partut", "-a", name, "-i", treebank, "--json", *files))

        assert [sorted(row["sentence"].split()) for row in found] == gold
        if algorithm.trees:
            assert ElementTree.parse(f"{name}.svg") is not None
            told = sentgen("ingest", f"{name}.conllu", "--corpus", name)
            assert f"sentences       {len(gold)}\n" in told.out
