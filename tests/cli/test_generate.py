"""`sentgen generate`, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_examples import RELIEF, conllu
from conftest import Sentgen, Told, refused

from sentgen.corpus.readers import conllu as conllu_reader
from sentgen.corpus.sentence import Sentence
from sentgen.demo import TREEBANK

EXAMPLES = {"relief": RELIEF, "again": RELIEF[1:]}


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    """Two clusters: the paper's, and its second sentence alone."""
    path = tmp_path / "clusters.conllu"
    path.write_text(conllu(EXAMPLES))
    return path


Rows = Callable[..., list[dict[str, object]]]


@pytest.fixture
def rows(sentgen: Sentgen) -> Rows:
    """Run the command and return its answers."""

    def run(*arguments: object) -> list[dict[str, object]]:
        told = sentgen("generate", *arguments, "--json")
        assert told.code == 0, told.err
        found = json.loads(told.out)
        assert isinstance(found, list)
        return found

    return run


def test_a_table_of_sentences(sentgen: Sentgen, clusters: Path) -> None:
    """A line a length and cluster; the store is not touched."""
    told = sentgen("generate", clusters, "--lengths", "6-7")
    lines = [line.split() for line in told.out.splitlines()]

    assert lines[0] == ["cluster", "length", "rank", "sentence", "log10", "exact"]
    assert [line[:3] for line in lines[1:]] == [
        ["relief", "6", "1"],
        ["relief", "7", "1"],
        ["again", "6", "1"],
        ["again", "7", "1"],
    ]
    assert " ".join(lines[2][3:-2]) == "The workers distributed food to the hungry"
    assert not list(clusters.parent.glob("*.duckdb"))


def test_standard_input(sentgen: Sentgen, clusters: Path) -> None:
    """Clusters from a pipe give the same answers as from the file."""
    piped = sentgen("generate", "-", "--lengths", "7", stdin=clusters.read_text())

    assert piped.out == sentgen("generate", clusters, "--lengths", "7").out


def test_clusters_that_are_kept(sentgen: Sentgen, rows: Rows, clusters: Path) -> None:
    """With --corpus the clusters stay, are read once, and need no file the next time."""
    first = rows(clusters, "--corpus", "news", "--lengths", "7")
    again = rows(clusters, "--corpus", "news", "--lengths", "7")
    later = rows("--corpus", "news", "--lengths", "7")

    assert first == again == later
    kind = sentgen("sql", "select name, kind from corpus", "--csv").out
    assert kind == "name,kind\nnews,cluster\n"


def test_only_the_clusters_of_the_file(rows: Rows, clusters: Path, tmp_path: Path) -> None:
    """A file that is added to a corpus is generated from alone; --cluster chooses documents."""
    rows(clusters, "--corpus", "news", "--lengths", "3")
    other = tmp_path / "other.conllu"
    other.write_text(conllu({"third": RELIEF[:1]}))

    assert {row["cluster"] for row in rows(other, "--corpus", "news", "--lengths", "3")} == {"third"}
    assert len(rows("--corpus", "news", "--lengths", "3")) == 3
    assert {row["cluster"] for row in rows("--corpus", "news", "--cluster", "again", "--lengths", "3")} == {
        "again"
    }


def test_trees_and_traces(sentgen: Sentgen, clusters: Path) -> None:
    """Below each sentence: its words with probabilities and stack, and its tree.

    15 tokens and 2 ends of 14 types; every count gives up 1/2. p(The | <s>) = 1.5 / 2. After The, which is there
    twice, relief and UN have .5 / 2 each, so .5 is left for the others; workers has 1.5 / 10 of the unigrams, relief
    and UN .5 / 10 each: p(workers | The) = .5 / .9 * .15 = .0833. Words that are there once leave half to others.
    """
    told = sentgen("generate", clusters, "--cluster", "relief", "--lengths", "7", "--trace", "--tree")

    assert told.out.splitlines() == [
        "relief, length 7: The workers distributed food to the hungry",
        "log10 -2.4753, exact",
        "",
        "word          ngram    dep  transition   log10  relation              stack",
        "The          0.7500  0.000      0.3750  -0.426                        The",
        "workers      0.0833  1.000      0.5417  -0.692  governs The           workers",
        "distributed  0.2500  1.000      0.6250  -0.896  governs workers       distributed",
        "food         0.5000  1.000      0.7500  -1.021  modifies distributed  distributed | food",
        "to           0.5000  1.000      0.7500  -1.146  modifies distributed  distributed | to",
        "the          0.5000  0.000      0.2500  -1.748                        distributed | to | the",
        "hungry       0.5000  1.000      0.7500  -1.873  modifies to           distributed | to | hungry",
        "</s>         0.5000  0.000      0.2500  -2.475                        distributed | to | hungry",
        "",
        "    ╭── The  X",
        "  ╭─╯ workers  X",
        "╶─┤ distributed  X",
        "  ├── food  X",
        "  ╰─╮ to  X",
        "    │ ╭── the  X",
        "    ╰─╯ hungry  X",
        "",
    ]


def test_trees_and_traces_as_json(rows: Rows, clusters: Path) -> None:
    """Heads are places from 1, steps have all that is shown and what was popped."""
    (row,) = rows(clusters, "--cluster", "relief", "--lengths", "7", "--trace", "--tree")

    assert row["heads"] == [2, 3, 0, 3, 3, 7, 5]
    steps = row["trace"]
    assert isinstance(steps, list)
    assert steps[4] == {
        "word": "to",
        "ngram": 0.5,
        "dep": 1.0,
        "transition": 0.75,
        "logp": pytest.approx(steps[3]["logp"] - 0.287682),  # ln 0.75
        "log10": pytest.approx(steps[3]["log10"] - 0.124939),  # log10 0.75
        "rule": "modifies",
        "partner": "distributed",
        "popped": ["food"],
        "stack": ["distributed", "to"],
    }


def test_trees_as_conllu(sentgen: Sentgen, clusters: Path, tmp_path: Path) -> None:
    """What is written can be read again: clusters are documents, sentences have names and heads."""
    told = sentgen("generate", clusters, "--lengths", "6,7", "--conllu", "out.conllu")
    found = list(conllu_reader.read((tmp_path / "out.conllu").read_text().splitlines(), path="out"))

    assert "out.conllu: 4 trees" in told.err
    assert all(isinstance(sentence, Sentence) for sentence in found)
    named = [(s.document, s.sent_id, s.heads) for s in found if isinstance(s, Sentence)]
    assert named[1] == (None, "relief-7-1", [2, 3, 0, 3, 3, 7, 5])
    assert [document for document, _, _ in named] == ["relief", None, "again", None]


def test_trees_as_a_drawing(sentgen: Sentgen, clusters: Path, tmp_path: Path) -> None:
    """One SVG with all trees."""
    sentgen("generate", clusters, "--lengths", "7", "--svg", "out.svg")

    assert (tmp_path / "out.svg").read_text().count("<g transform=") == 2


def test_what_is_not_proven_is_said(sentgen: Sentgen) -> None:
    """A note on standard error counts what the beam may have missed; free reuse has nothing to say."""
    bounded = sentgen("generate", TREEBANK, "--cluster", "relief-001", "--lengths", "25", "--beam", "2")
    free = sentgen("generate", TREEBANK, "--cluster", "relief-001", "--lengths", "25", "--reuse", "free")

    assert "0 of 1 sentence is exact; for the others, the beam may have lost a better one" in bounded.err
    assert bounded.out.endswith("false\n")
    assert free.err == ""


def test_the_best_of_a_cluster(sentgen: Sentgen, rows: Rows, clusters: Path) -> None:
    """One sentence a cluster, of whichever length; a length that is missing is no news."""
    asked = (clusters, "--lengths", "2-30", "--arguments", "supported", "--beam", "4", "--best")
    found = rows(*asked)

    assert len({row["cluster"] for row in found}) == len(found) >= 2
    assert {row["rank"] for row in found} == {1}
    assert "has no sentence of a length" not in sentgen("generate", *asked).err


def test_lengths_that_cannot_be_reached(sentgen: Sentgen, clusters: Path) -> None:
    """Seven tokens make no sentence of eight words; the rest is still there."""
    told = sentgen("generate", clusters, "--cluster", "again", "--lengths", "7-9")

    assert told.code == 0
    assert "2 times a cluster has no sentence of a length: its words do not suffice" in told.err


def test_plain_text_with_bigrams(sentgen: Sentgen, tmp_path: Path) -> None:
    """Clusters without trees: JSON lines of sentences, a cluster an object."""
    lines = [{"id": i, "sentences": [["a", "b", "c"], ["c", "b"]]} for i in range(2)]
    (tmp_path / "plain.jsonl").write_text("\n".join(map(json.dumps, lines)))
    told = sentgen("generate", "plain.jsonl", "--algorithm", "bigram", "--lengths", "2", "--tree", "--csv")

    assert [line.split(",")[0] for line in told.out.splitlines()] == ["cluster", "0", "1"]
    refused(sentgen("generate", "plain.jsonl"), "cluster '0' has no dependency trees", "--parser", "bigram")
    refused(sentgen("generate", "plain.jsonl", "--parser", "gold"), "no tree here", "plain.jsonl")


def test_a_model_is_mixed_in(filled: Sentgen, rows: Rows, tmp_path: Path) -> None:
    """--lm MODEL changes the bigrams, for clusters that are kept and for those that are not."""
    pets = tmp_path / "pets.conllu"
    own, mixed, kept = (
        rows(pets, "--lengths", "4", *more)
        for more in (
            (),
            ("--lm", "pets", "--lm-weight", "0.1"),
            ("--lm", "pets", "--lm-weight", "0.1", "--corpus", "c"),
        )
    )

    assert own[0]["logp"] != mixed[0]["logp"]
    assert mixed == kept
    refused(filled("generate", pets, "--lm", "cats"), "no model 'cats'")
    refused(filled("generate", pets, "--lm", "pets", "--lm-weight", "2"), "lm-weight 2.0 is not from 0 to 1")


def test_a_model_chooses(filled: Sentgen, rows: Rows, tmp_path: Path) -> None:
    """--rerank MODEL adds what it maximizes, on the screen as well, and says what it did."""
    pets = tmp_path / "pets.conllu"
    (own,) = rows(pets, "--lengths", "4")
    (same,) = rows(pets, "--lengths", "4", "--rerank", "pets", "--rerank-weight", "0")
    shown = filled("generate", pets, "--lengths", "4", "--rerank", "pets", "--tree")

    assert same == own | {"exact": False, "score": own["logp"], "log10_score": own["log10"]}
    assert ", log10_score -" in shown.out
    assert shown.err == "of each length, pets chose among the best of the cluster\n"
    refused(filled("generate", pets, "--rerank", "cats"), "no model 'cats'")
    refused(
        filled("generate", pets, "--rerank", "pets", "--rerank-weight", "2"),
        "rerank-weight 2.0 is not from 0 to 1",
    )


def test_salience_from_a_file(sentgen: Sentgen, rows: Rows, clusters: Path, tmp_path: Path) -> None:
    """Words with weight 0 never come; a file that is none is refused."""
    (tmp_path / "weights.txt").write_text("The 0\nthe\t0\n")
    found = rows(clusters, "--lengths", "1-5", "--salience", "weights.txt", "--nbest", "3")

    assert not any("the" in str(row["sentence"]).lower().split() for row in found)
    (tmp_path / "broken.txt").write_text("The\n")
    refused(sentgen("generate", clusters, "--salience", "broken.txt"), "broken.txt:1: 'The' is not a word")
    refused(sentgen("generate", clusters, "--salience", "idf"), "'idf' is neither a file with weights")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), ("there is nothing to generate from",)),
        (("--corpus", "news"), ("no store here",)),
        (("missing.conllu",), ("missing.conllu",)),
        (("-", "--corpus", "news"), ("standard input cannot be kept",)),
        (("clusters.conllu", "--cluster", "fifth"), ("no document 'fifth'",)),
        (("clusters.conllu", "--reuse", "some"), ("reuse 'some' is none of",)),
        (("clusters.conllu", "--weight", "1"), ("weight 1.0 is not from 0 to less than 1",)),
        (("clusters.conllu", "--parser", "nltk"), ("'nltk' is no parser",)),
        (("clusters.conllu", "--arguments", "some"), ("arguments 'some' is none of",)),
        (
            ("clusters.conllu", "--arguments", "supported", "-a", "bigram"),
            ("bigrams", "leave one of them out"),
        ),
    ],
)
def test_refusals(
    sentgen: Sentgen, clusters: Path, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    """What cannot be done is refused in one line."""
    refused(sentgen("generate", *arguments), *parts)


def test_options_that_need_a_file(sentgen: Sentgen, clusters: Path) -> None:
    """Clusters that are kept are read already: a format or a parser comes too late."""
    sentgen("generate", clusters, "--corpus", "news", "--lengths", "2")

    refused(sentgen("generate", "--corpus", "news", "--parser", "gold"), "--format and --parser are for FILE")


@pytest.mark.parametrize("lengths", ["0", "5-3", "a", "", "1-40,x", "-1"])
def test_lengths_are_checked(sentgen: Sentgen, clusters: Path, lengths: str) -> None:
    """A usage error, with the part that is wrong."""
    told: Told = sentgen("generate", clusters, f"--lengths={lengths}")

    assert told.code == 2
    assert "is no length" in told.err


def test_the_paper_is_a_beam_of_one(rows: Rows) -> None:
    """--beam 1 --reuse free is the recursion of 2005, which is never better than the proven answer."""
    options = (TREEBANK, "--cluster", "relief-003", "--lengths", "1-20", "--reuse", "free")
    published, exact = rows(*options, "--beam", "1"), rows(*options)

    assert all(row["exact"] for row in exact)
    pairs = [(one["logp"], best["logp"]) for one, best in zip(published, exact, strict=True)]
    assert all(float(str(one)) <= float(str(best)) + 1e-9 for one, best in pairs)


@pytest.mark.data
def test_clusters_of_translations(rows: Rows, data_dir: Path) -> None:
    """Clusters of real data from JSON lines, by their ids; plain Viterbi is proven at all lengths."""
    clusters = data_dir / "clusters" / "mtref_clusters.jsonl"
    options = ("--cluster", "3", "--cluster", "845", "--algorithm", "bigram", "--reuse", "free")
    found = rows(clusters, *options)

    assert [row["cluster"] for row in found] == ["3"] * 40 + ["845"] * 40
    assert [row["length"] for row in found] == [*range(1, 41)] * 2
    assert all(row["exact"] for row in found)


@pytest.mark.data
def test_documents_of_a_treebank(rows: Rows, data_dir: Path) -> None:
    """A document with gold trees is a cluster, too, of hundreds of different words."""
    treebank = data_dir / "ud" / "en_gum-ud-dev.conllu"
    found = rows(treebank, "--cluster", "GUM_bio_byron", "--lengths", "5-15", "--no-punct", "--tree")

    assert {len(str(row["sentence"]).split()) for row in found} == set(range(5, 16))
    assert all(len(row["heads"]) == row["length"] for row in found)  # type: ignore[arg-type]


def test_capitals(rows: Rows, clusters: Path) -> None:
    """A sentence begins with a capital, unless lower case is asked for; its words stay those of the cluster."""
    clusters.write_text(clusters.read_text().lower())
    (cased,) = rows(clusters, "--cluster", "relief", "--lengths", "6", "--tree")
    (lower,) = rows(clusters, "--cluster", "relief", "--lengths", "6", "--lowercase")

    assert cased["sentence"] == str(lower["sentence"]).capitalize() != lower["sentence"]


def test_a_treebank_of_the_store(sentgen: Sentgen, clusters: Path) -> None:
    """Dependencies of a corpus that is kept, for clusters that are not; the trace shows other ones."""
    sentgen("ingest", clusters, "--corpus", "trees")
    asked = ("generate", clusters, "--cluster", "again", "--lengths", "7", "--trace")
    with_corpus = sentgen(*asked, "--dependencies", "trees")

    assert with_corpus.code == 0, with_corpus.err
    assert with_corpus.out != sentgen(*asked).out
    refused(sentgen(*asked, "--dependencies", "none"), "no corpus 'none'")


def test_a_sentence_that_is_given(sentgen: Sentgen, rows: Rows, clusters: Path) -> None:
    """It is shown as the search shows it with --trace, without a rank; what is about searching is refused."""
    sentence = "The workers distributed food to the hungry"
    asked = ("generate", clusters, "--cluster", "relief")
    searched = sentgen(*asked, "--lengths", "7", "--trace").out
    told = sentgen(*asked, "--sentence", sentence)
    (row,) = rows(clusters, "--cluster", "relief", "--sentence", sentence)

    assert told.out == searched.replace(", exact", "")
    assert (row["rank"], row["exact"], row["length"]) == (None, None, 7)
    assert isinstance(row["trace"], list)
    refused(sentgen(*asked, "--sentence", "The boats"), "'boats' is not a word of cluster 'relief'")
    assert sentgen(*asked, "--sentence", sentence, "--lengths", "7").code == 2
