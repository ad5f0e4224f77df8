"""The evaluation of generation: counts, curves, tests of significance, clusters, record and report."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.errors import InputError
from sentgen.evaluation.clusters.clusters import Cluster, ClusterSet, reparsed, similar_clusters
from sentgen.evaluation.clusters.experiment import (
    GenerationResult,
    StringMaker,
    Strings,
    copies,
    evaluate_generation,
    fluency,
    wilcoxon,
)
from sentgen.evaluation.clusters.report import GenerationReport
from sentgen.generation.clusters.generate import GenerationSettings
from sentgen.models import build
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

VERBS = {"ate", "saw", "slept"}


class ToyParser:
    """A parser for tests: every word hangs on the first verb, or on the first word."""

    name, version = "toy", "1"

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        """Split at blanks."""
        return ([next(self.parse_tokenized([text.split()]))] for text in texts)

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        """Keep the tokens."""
        for forms in sentences:
            root = next((i for i, form in enumerate(forms, 1) if form in VERBS), 1)
            yield Sentence(
                list(forms),
                upos=["VERB" if form in VERBS else "NOUN" for form in forms],
                heads=[0 if i == root else root for i in range(1, len(forms) + 1)],
                deprels=["root" if i == root else "dep" for i in range(1, len(forms) + 1)],
            )


def parsed(*texts: str) -> tuple[Sentence, ...]:
    return tuple(ToyParser().parse_tokenized([text.split() for text in texts]))


CLUSTERS = [
    Cluster("pets", parsed("dogs ate food", "cats saw dogs", "cats slept")),
    Cluster("<b>", parsed("we ate", "they slept well")),
]


def result(counts: list[list[list[int]]], **changes: object) -> GenerationResult:
    """Return a result of one length from matched and generated relations, [system][cluster]."""
    table = np.zeros((2, len(counts[0]), 1, 3, 4), np.int64)
    for s, of in enumerate(counts):
        for c, (matched, generated) in enumerate(of):
            table[s, c, 0, 0] = (generated, matched, generated, matched)
    made = [[["x"] for _ in of] for of in counts]
    names = [str(c) for c in range(len(counts[0]))]
    found = GenerationResult(
        ("new", "old"),
        names,
        [3],
        table,
        made,
        np.zeros((2, len(names), 1), bool),
        None,
        "skip",
        "sig",
        run_id=7,
        parameters={"lengths": "3"},
        seconds=1.0,
    )
    return replace(found, **changes)


def test_a_point_is_the_mean_over_clusters_that_both_systems_have() -> None:
    """Precision 1/2 and 1 against 0 and 1/4; the third cluster has no relations of the old system.

    Means 3/4 and 1/8; pooled (1 + 3) / (2 + 3) = 4/5 and (0 + 1) / (2 + 4) = 1/6.
    """
    (point,) = result([[[1, 2], [3, 3], [1, 1]], [[0, 2], [1, 4], [0, 0]]]).curve("precision", "all").points

    assert (point.clusters, point.wins, point.losses) == (2, 2, 0)
    assert point.means == (3 / 4, 1 / 8)
    assert point.pooled == (4 / 5, 1 / 6)
    assert point.difference == 5 / 8


def test_what_is_undefined_may_be_zero() -> None:
    """With `zero` the third cluster counts: means (1/2 + 1 + 1) / 3 and (0 + 1/4 + 0) / 3; missing strings never do."""
    counts = [[[1, 2], [3, 3], [1, 1]], [[0, 2], [1, 4], [0, 0]]]
    zero = result(counts, undefined="zero")

    assert zero.curve("precision", "all").points[0].means == (pytest.approx(5 / 6), pytest.approx(1 / 12))

    unmade = replace(zero, strings=[[["x"]] * 3, [["x"], ["x"], [None]]])

    assert unmade.curve("precision", "all").points[0].clusters == 2


def test_the_test_is_wilcoxons() -> None:
    """Six differences, all positive and distinct: 2 of the 2^6 signs are as extreme, p = 1/32."""
    differences = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])

    assert wilcoxon(differences) == pytest.approx(1 / 32)
    assert wilcoxon(-differences) == pytest.approx(1 / 32)
    assert wilcoxon(np.append(differences, 0.0)) == pytest.approx(1 / 32)  # a zero is left out


def test_nothing_that_differs_is_not_significant() -> None:
    """Without differences p is 1, without warnings and NaN."""
    assert wilcoxon(np.zeros(5)) == 1
    assert wilcoxon(np.array([])) == 1


def test_curves_know_where_they_differ() -> None:
    """Six clusters, in each of which the new system is better by another amount."""
    new, old = [[k, 10] for k in range(4, 10)], [[k, 10] for k in (3, 3, 3, 3, 3, 3)]

    assert result([new, old]).curve("precision", "all").significant(1) == [3]
    assert result([old, new]).curve("precision", "all").significant(-1) == [3]
    assert result([old, new]).curve("precision", "all").significant(1) == []


def test_figures_have_names_in_the_store() -> None:
    """Means and pooled figures of systems, p of the pair, and each string with the number of its cluster."""
    found = result([[[1, 2], [3, 3]], [[0, 2], [1, 4]]])
    rows = [*found.rows(), *found.item_rows()]
    values = {(row.system, row.metric, row.item): row.value for row in rows}

    assert values["new", "precision:all:3", None] == 3 / 4
    assert values["old", "precision:all:3:pooled", None] == 1 / 6
    assert values["new", "precision:all", None] == 3 / 4  # over all lengths, of which there is one
    assert values["new vs old", "precision:all:3:wilcoxon-p", None] == 0.5  # two positive differences
    assert values["new", "recall:all:3", 2] == 1
    assert np.isnan(values["new", "precision:long:3", None])


def test_strings_are_outputs() -> None:
    """Each string has a row with its system, cluster and length; missing strings have none."""
    rows = list(result([[[1, 2]], [[0, 2]]], strings=[[["a b c"]], [[None]]]).outputs())

    assert [(row.system, row.item, row.input, row.output) for row in rows] == [
        ("new", 1, "cluster 0, 3 words", "a b c")
    ]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[GenerationResult, Path]:
    """A run over two toy clusters, and its store."""
    path = tmp_path_factory.mktemp("run") / "run.duckdb"
    with Store(path, create=True) as store:
        found = evaluate_generation(store, ClusterSet(CLUSTERS, "toys"), ToyParser(), lengths=range(1, 5))
    return found, path


def test_a_run_end_to_end(evaluated: tuple[GenerationResult, Path]) -> None:
    """Strings have their lengths and are made of the words of their cluster; counts are those of the measure.

    `we ate` and `they slept well` have at most the three relations (ate, we), (slept, they) and (slept, well).
    """
    found, _ = evaluated
    words = [{form for sentence in cluster.sentences for form in sentence.forms} for cluster in CLUSTERS]

    assert (found.systems, found.clusters) == (("depviterbi", "bigram"), ["pets", "<b>"])
    for of in found.strings:
        for cluster, row in zip(words, of, strict=True):
            for length, text in zip(found.lengths, row, strict=True):
                assert text is not None
                assert len(text.split()) == length
                assert set(text.split()) <= cluster
    two_words = found.strings[0][1][1]
    assert two_words == "we ate"
    assert found.counts[0, 1, 1].tolist() == [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]]


def test_supported_arguments(tmp_path: Path) -> None:
    """The baseline does not change; without words for a supported tree there is no string."""
    settings = GenerationSettings(arguments="supported")
    with Store(tmp_path / "x.duckdb", create=True) as store:
        found = evaluate_generation(
            store, ClusterSet(CLUSTERS), ToyParser(), lengths=range(2, 5), system=StringMaker(settings)
        )

    assert found.systems == ("supported", "bigram")
    assert found.made[1].all()
    assert found.strings[0][0] == ["cats slept", "cats saw dogs", None]
    assert found.figures("precision", "all")[0, 0, :2].tolist() == [1, 1]
    table = GenerationReport(found).strings()
    assert dict(zip(table.columns, table.rows[0], strict=True))["made"] == "66.7%"


def test_copies_are_whole_words_of_one_sentence() -> None:
    """Case does not matter; a part of a word, or words of two sentences, are no copy."""
    texts = ("Dogs ate", "ogs ate", "food cats", "cats saw dogs")
    strings: Strings = [[[tuple(text.split()) for text in texts] + [None]]]

    assert copies(strings, [CLUSTERS[0].sentences]).tolist() == [[[True, False, False, True, False]]]


def test_fluency_is_log10_a_word(tmp_path: Path) -> None:
    """Fluency is log10 probability a token, the sentence end included: three for two words."""
    with Store(tmp_path / "x.duckdb", create=True) as store:
        (tmp_path / "text.lines").write_text("dogs ate food\ncats saw dogs\n" * 3)
        ingest(store, [str(tmp_path / "text.lines")], Settings("text", order=2))
        model = build(store, "two", ["text"], order=2)
        found = fluency(store, "two", [[[("dogs", "ate"), None]]])
        (scored,) = score_sentences(store, model, [["dogs", "ate"]])

    assert found[0, 0, 0] == pytest.approx(scored.log10 / 3)
    assert np.isnan(found[0, 0, 1])


def test_a_run_is_in_the_store(evaluated: tuple[GenerationResult, Path]) -> None:
    """The store has parameters, figures and strings of a run, but not the clusters."""
    found, path = evaluated
    with Store(path, read_only=True) as store, store.connect() as connection:
        query = connection.exec_driver_sql
        (command, parameters), *_ = query("select command, parameters from run").fetchall()
        outputs = query("select count(*) from output").scalar()
        metrics = {name for (name,) in query("select distinct metric from score").fetchall()}
        corpora = query("select count(*) from corpus").scalar()

    assert found.run_id == 1
    assert command == "evaluate generation"
    assert '"parser": "toy@1"' in parameters
    assert outputs == 2 * 2 * 4
    assert {"precision:all:2", "recall:adjacent:3", "precision:long:4:wilcoxon-p"} <= metrics
    assert corpora == 0


@pytest.mark.parametrize(
    ("clusters", "changes", "message"),
    [
        ([], {}, "no clusters"),
        (CLUSTERS, {"lengths": []}, "no lengths"),
        (CLUSTERS, {"system": StringMaker(GenerationSettings(algorithm="bigram"))}, "baseline"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, clusters: list[Cluster], changes: dict[str, object], message: str
) -> None:
    """Runs without clusters or lengths, or of the baseline alone, are refused."""
    with Store(tmp_path / "x.duckdb", create=True) as store, pytest.raises(InputError, match=message):
        evaluate_generation(store, ClusterSet(clusters), ToyParser(), **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def first(
    evaluated: tuple[GenerationResult, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """The files of the report."""
    folder = tmp_path_factory.mktemp("report")
    return {path.name: path.read_bytes() for path in GenerationReport(evaluated[0]).report().write(folder)}


def test_the_report(
    evaluated: tuple[GenerationResult, Path], first: dict[str, bytes], tmp_path: Path
) -> None:
    """Four plots in two formats, two tables in CSV, Markdown, and a page; the same run gives the same bytes."""
    found, _ = evaluated
    again = {path.name: path.read_bytes() for path in GenerationReport(found).report().write(tmp_path)}

    assert first == again
    assert next(iter(first)) == "index.html"
    assert {name for name in first if name.endswith(".png")} == {
        "all-precision.png",
        "all-recall.png",
        "adjacent-precision.png",
        "long-distance-precision.png",
    }
    assert first["all-precision.svg"].startswith(b"<?xml")


def test_the_page_escapes_the_names_of_clusters(evaluated: tuple[GenerationResult, Path]) -> None:
    """Names of clusters, which come from a file, are escaped; the page loads nothing."""
    html = GenerationReport(evaluated[0]).report().page()

    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert not re.search(r"(?:src|href|srcset)=\"(?!data:)", html)


def test_the_tables_agree(evaluated: tuple[GenerationResult, Path]) -> None:
    """CSV has a line a length and one over all lengths for each of the six curves; Markdown has the plots."""
    found, _ = evaluated
    rows = list(csv.DictReader(io.StringIO(GenerationReport(found).report().csv["figures.csv"])))
    curve = found.curve("precision", "all")
    mine = [row for row in rows if (row["figure"], row["relations"]) == ("precision", "all")]

    assert len(rows) == 6 * 5
    assert [float(row["depviterbi"]) for row in mine[1:4]] == [point.means[0] for point in curve.points[1:]]
    assert mine[-1]["length"] == ""
    assert "](long-distance-precision.svg)" in GenerationReport(found).report().markdown()


def test_clusters_are_documents(tmp_path: Path) -> None:
    """JSON Lines with `sentences`, tokenized, through a parser; a file without documents is one cluster."""
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"id": 5, "sentences": [["we", "ate"], ["they", "slept"]]}\n{"id": 6, "sentences": [["we"]]}\n'
    )
    found = list(Cluster.all_in(str(path), parser=ToyParser()))

    assert [[sentence.forms for sentence in cluster.sentences] for cluster in found] == [
        [["we", "ate"], ["they", "slept"]],
        [["we"]],
    ]
    assert len({cluster.name for cluster in found}) == 2
    with pytest.raises(InputError, match="`parser`"):
        list(Cluster.all_in(str(path)))


def test_reparsed_clusters_keep_their_tokens() -> None:
    """Only the annotation of the parser is new."""
    flat = [
        replace(cluster, sentences=tuple(Sentence(s.forms) for s in cluster.sentences))
        for cluster in CLUSTERS
    ]

    assert reparsed(flat, ToyParser()) == CLUSTERS


def sentence(text: str) -> Sentence:
    """Return nouns on the verb `ran`, padded to eight tokens with an adposition."""
    forms = [*text.split(), "ran", *["of"] * 8][: max(8, len(text.split()) + 1)]
    root = forms.index("ran") + 1
    tags = {"ran": "VERB", "of": "ADP"}
    heads = [0 if i == root else root for i in range(1, len(forms) + 1)]
    return Sentence(forms, upos=[tags.get(form, "NOUN") for form in forms], heads=heads, sent_id=text)


def test_derived_clusters_are_sentences_with_their_nearest_ones() -> None:
    """Rare words in common make sentences similar; clusters share no sentence, and copies stay apart.

    `a b` and its copy are too alike; nearest to `a b` is `a b c`, to `d e` is `d e f`; `g` is like nothing.
    """
    texts = ["a b", "a b", "a b c", "d e", "d e f", "g"]
    found = similar_clusters([sentence(text) for text in texts], 10, size=2, alike=0.99, content=2)

    members = [{one.sent_id for one in cluster.sentences} for cluster in found]
    assert sorted(map(sorted, members)) == [["a b", "a b c"], ["d e", "d e f"]]
    assert similar_clusters([sentence("a")], 10) == []


def test_derived_clusters_are_similar_by_the_cosine_of_idf() -> None:
    """With x in 3 of 4 sentences and y in 2: `x y` is nearer to `y` than to `x`, whatever comes first.

    idf(x) = ln(4/3) = 0.288, idf(y) = ln 2 = 0.693; cosines with (0.288, 0.693): 0.384 of x and 0.923 of y.
    """
    found = similar_clusters(
        [sentence(text) for text in ("x y", "x", "y", "x z")], 1, size=2, alike=0.95, content=2
    )

    assert [one.sent_id for one in found[0].sentences] == ["x y", "y"]


def test_short_sentences_and_those_without_verbs_take_no_part() -> None:
    """Short sentences and those without verbs are in no derived cluster."""
    short = Sentence(["a", "ran"], upos=["NOUN", "VERB"], heads=[2, 0])
    verbless = sentence("a b")
    verbless.upos = ["NOUN"] * 8

    assert similar_clusters([short, verbless, short, verbless], 1, size=2, content=1) == []


def test_derived_clusters_of_the_demo_are_about_one_event() -> None:
    """Its documents are such clusters by hand: of the ten best derived pairs, most stay within a document."""
    documents, sentences = {}, []
    for number, cluster in enumerate(Cluster.all_in(str(TREEBANK))):
        sentences += cluster.sentences
        documents |= {one.sent_id: number for one in cluster.sentences}
    found = similar_clusters(sentences, 10, size=2)
    together = [len({documents[one.sent_id] for one in cluster.sentences}) == 1 for cluster in found]

    assert len(found) == 10
    assert sum(together) >= 8
