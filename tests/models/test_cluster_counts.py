"""Counts of clusters: the papers' matrices, counting pair by pair, and refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cluster_examples import LETTERS, RELIEF, Parsed, fill

from sentgen.corpus.readers import conllu
from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, NotFoundError
from sentgen.models.dependency import cluster_counts
from sentgen.models.dependency.cluster_counts import (
    ClusterCounts,
    TokenReading,
    cluster_names,
    document_frequencies,
)
from sentgen.schema import Store


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the demo treebank, whose documents are 34 clusters."""
    with Store(tmp_path_factory.mktemp("demo") / "demo.duckdb", create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief", kind="cluster"))
        yield store


Count = Callable[..., ClusterCounts]


@pytest.fixture
def count(demo: Store, tmp_path: Path, request: pytest.FixtureRequest) -> Count:
    """Ingest one cluster as a corpus of its own, and count it."""

    def counted_once(*sentences: Parsed, **reading: bool) -> ClusterCounts:
        corpus = f"{request.node.name}-{reading}"
        fill(demo, tmp_path, {"cluster": list(sentences)}, corpus)
        return counted(demo, corpus, **reading)[0]

    return counted_once


def counted(store: Store, corpus: str, **reading: bool) -> list[ClusterCounts]:
    return ClusterCounts.of_corpus(store, corpus, cluster_names(store, corpus), TokenReading(**reading))


def test_the_matrices_of_the_companion(count: Count) -> None:
    """Wan et al. 2005, section 4.1: `d b e a c` and `b e d c a`; a governs b and c, b governs d and e.

    Head to the right: b-d and a-b in the first string, a-b and a-c in the second. Head to the left: b-e and
    a-c in the first, b-e and b-d in the second. Rows of the papers' matrices are heads.
    """
    counts = count(*LETTERS)
    a, b, c, d, e = range(5)
    adj_right, adj_left = counts.pairs.to_right.T, counts.pairs.to_left

    assert counts.words == ("a", "b", "c", "d", "e")
    assert {place: n for place, n in np.ndenumerate(adj_right) if n} == {(b, d): 1, (a, b): 2, (a, c): 1}
    assert {place: n for place, n in np.ndenumerate(adj_left) if n} == {(b, e): 2, (b, d): 1, (a, c): 1}


def test_who_stands_before_whom(count: Count) -> None:
    """Every pair of places counts once, in its order: d is before b once, b before d once."""
    counts = count(*LETTERS)
    _, b, c, d, e = range(5)

    assert counts.pairs.together.sum() == 2 * 10  # pairs of five places, twice
    assert (counts.pairs.together[b, d], counts.pairs.together[d, b]) == (1, 1)
    assert (counts.pairs.together[b, e], counts.pairs.together[e, b], counts.pairs.together[e, c]) == (
        2,
        0,
        2,
    )


def test_bigrams_have_start_and_end(count: Count) -> None:
    """Row n is the start, column n the end; the sentences begin with d and b, and end with c and a."""
    counts = count(*LETTERS)

    assert counts.bigrams[5].tolist() == [0, 1, 0, 1, 0, 0]
    assert counts.bigrams[:, 5].tolist() == [1, 0, 1, 0, 0, 0]
    assert counts.bigrams.sum() == 2 * 6


def sentences(number: int) -> list[Sentence]:
    """Read one cluster of the demo treebank anew."""
    clusters: list[list[Sentence]] = []
    for found in conllu.read(TREEBANK.read_text("utf-8").splitlines(), path="demo"):
        assert isinstance(found, Sentence)
        if found.document is not None:
            clusters.append([])
        clusters[-1].append(found)
    return clusters[number]


@pytest.mark.parametrize("number", [0, 7, 33])
def test_counting_pair_by_pair_agrees(demo: Store, number: int) -> None:
    """The counts of a batch by SQL are those of each cluster by loops."""
    counts = counted(demo, "relief", tags=True)[number]
    words, tags = counts.words, sorted({tag for s in sentences(number) for tag in s.xpos or []})
    together, right, left, bigrams, tag_word = (Counter[tuple[int, int]]() for _ in range(5))
    n = len(words)
    for sentence in sentences(number):
        ids = [words.index(form) for form in sentence.forms]
        bigrams.update(pairwise([n, *ids, n]))
        for i, a in enumerate(ids):
            for j, b in enumerate(ids[i + 1 :], i + 1):
                assert sentence.heads is not None
                together[a, b] += 1
                right[a, b] += sentence.heads[i] == j + 1
                left[a, b] += sentence.heads[j] == i + 1
                tag_word[tags.index((sentence.xpos or [])[i]), b] += 1

    assert words == tuple(sorted({form for s in sentences(number) for form in s.forms}))
    for table, expected in (
        (counts.pairs.together, together),
        (counts.pairs.to_right, right),
        (counts.pairs.to_left, left),
        (counts.bigrams, bigrams),
        (counts.backed_off[0].together, tag_word),
    ):
        assert {place: v for place, v in np.ndenumerate(table) if v} == {
            k: v for k, v in expected.items() if v
        }


def test_words_with_their_counts(count: Count) -> None:
    """The: twice, once a sentence at most, in both of the two sentences."""
    counts = count(*RELIEF)
    the = counts.words.index("The")

    assert (counts.count[the], counts.most[the], counts.found_in[the]) == (2, 1, 2)
    assert counts.sentences == 2
    assert counts.parsed


def test_the_most_frequent_tag(demo: Store, tmp_path: Path) -> None:
    """A word has the tag it has most often, and of equally frequent ones the first by name."""
    rows = [("run", "VERB"), ("run", "NOUN"), ("run", "NOUN"), ("walk", "VERB"), ("walk", "NOUN")]
    text = "\n".join(f"{i}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for i, (form, tag) in enumerate(rows, 1))
    path = tmp_path / "tags.conllu"
    path.write_text(f"# newdoc id = tags\n{text}\n\n")
    ingest(demo, [str(path)], Settings("tags"))
    (counts,) = counted(demo, "tags")

    assert dict(zip(counts.words, counts.tags, strict=True)) == {"run": "NOUN", "walk": "NOUN"}
    assert not counts.parsed


def test_lower_case_joins_words(count: Count) -> None:
    """The and the are one word if words are lower-cased: three times, twice in one sentence."""
    counts = count(*RELIEF, lowercase=True)
    the = counts.words.index("the")

    assert "The" not in counts.words
    assert (counts.count[the], counts.most[the]) == (3, 2)


def test_modifiers_of_punctuation_climb(count: Count) -> None:
    """Without punctuation, what hangs on a comma that hangs on a dash hangs on the head of the dash."""
    counts = count([("a", 0), ("-", 1), (",", 2), ("b", 3)], punctuation=False)

    assert counts.words == ("a", "b")
    assert counts.pairs.to_left.tolist() == [[0, 1], [0, 0]]
    assert counts.bigrams.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_only_punctuation_is_refused(count: Count) -> None:
    """A cluster of punctuation only is refused."""
    with pytest.raises(InputError, match="cluster 'cluster' has no words"):
        count([(".", 0)], punctuation=False)


def test_too_many_words_are_refused(count: Count, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many words are refused, as tables of a cluster are square."""
    monkeypatch.setattr(cluster_counts, "MAX_WORDS", 4)

    with pytest.raises(InputError, match="'cluster' has 5 different words, and 4 are the limit"):
        count(*LETTERS)


def test_clusters_by_name(demo: Store) -> None:
    """Documents are found by name, in the order of the corpus, and a missing one is named."""
    found = cluster_names(demo, "relief", names=["relief-003", "relief-001"])

    assert [name for _, name in found] == ["relief-001", "relief-003"]
    with pytest.raises(NotFoundError, match="no document 'flood' in corpus 'relief'"):
        cluster_names(demo, "relief", names=["flood"])
    with pytest.raises(NotFoundError, match="no corpus 'news'"):
        cluster_names(demo, "news")


def test_no_clusters_no_counts(demo: Store) -> None:
    """Without clusters there are no queries."""
    assert ClusterCounts.of_corpus(demo, "relief", []) == []


def test_queries_do_not_grow_with_clusters(demo: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cluster and 34 take the same number of statements."""
    run = cluster_counts._by_document
    asked: list[str] = []

    def noted(connection: object, statement: str, **values: object) -> object:
        asked.append(statement)
        return run(connection, statement, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(cluster_counts, "_by_document", noted)
    clusters = cluster_names(demo, "relief")
    ClusterCounts.of_corpus(demo, "relief", clusters[:1])
    alone = len(asked)
    ClusterCounts.of_corpus(demo, "relief", clusters)

    assert len(asked) == 2 * alone


def test_document_frequencies(demo: Store) -> None:
    """Document frequencies equal those from reading the treebank."""
    texts = [{form for sentence in sentences(number) for form in sentence.forms} for number in range(34)]
    found, total = document_frequencies(demo, "relief", {"floods", "the", "zeppelin"})

    assert total == 34
    assert found == {word: sum(word in text for text in texts) for word in ("floods", "the")}
