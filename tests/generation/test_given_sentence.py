"""Given sentences are scored as by the search, or refused in one line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster_examples import LETTERS, RELIEF, fill

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError
from sentgen.generation.clusters.clusters import trace_sentence
from sentgen.generation.clusters.generate import GeneratedSentence, GenerationSettings, generate
from sentgen.schema import Store

SENTENCE = "The UN relief workers distributed food to the hungry"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The paper's two sentences, and the companion's letters."""
    folder = tmp_path_factory.mktemp("given")
    with Store(folder / "store.duckdb", create=True) as opened:
        fill(opened, folder, {"relief": RELIEF}, "paper")
        fill(opened, folder, {"letters": LETTERS}, "letters")
        yield opened


def traced(store: Store, text: str, corpus: str = "paper", **settings: object) -> GeneratedSentence:
    chosen = GenerationSettings(**settings)  # type: ignore[arg-type]
    (found,) = trace_sentence(store, corpus, text, settings=chosen)
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weight": 0.2, "reuse": "free"},
        {"algorithm": "bigram"},
        {"transitions": "seen"},
        {"salience": "unigram", "smoothing": "collins"},
    ],
)
@pytest.mark.parametrize("corpus", ["paper", "letters"])
def test_the_score_is_that_of_the_search(store: Store, corpus: str, settings: dict[str, object]) -> None:
    """A sentence of the search has the same probability, words, stacks and tree if it is given."""
    chosen = GenerationSettings(**settings)  # type: ignore[arg-type]
    found = list(generate(store, corpus, lengths=[5, 7], settings=chosen, nbest=5))

    assert found
    for one in found:
        given = traced(store, " ".join(one.words), corpus, **settings)
        assert given.logp == pytest.approx(one.logp)
        assert (given.words, given.trace, given.tree) == (one.words, one.trace, one.tree)
        assert (given.rank, given.exact) == (None, None)


def test_the_stacks_of_the_paper(store: Store) -> None:
    """The stacks of the sentence of figure 4."""
    assert [" ".join(step.stack) for step in traced(store, SENTENCE).trace[:-1]] == [
        "The",
        "The UN",
        "The UN relief",
        "workers",
        "distributed",
        "distributed food",
        "distributed to",
        "distributed to the",
        "distributed to hungry",
    ]


def test_a_capital_may_be_that_of_the_sentence(store: Store) -> None:
    """`Workers` is read as `workers`; of `The` and `the`, both in the cluster, the more probable is taken."""
    workers, lower = traced(store, "Workers distributed food"), traced(store, "the workers distributed food")

    assert (workers.words[0], workers.text) == ("workers", "Workers distributed food")
    assert lower.words[0] == "the"
    assert traced(store, "The workers distributed food").logp > lower.logp
    assert traced(store, SENTENCE.upper(), lowercase=True).words[1] == "un"


@pytest.mark.parametrize(
    ("text", "settings", "why"),
    [
        ("The workers distributed boats", {}, "'boats' is not a word of cluster 'relief'"),
        ("The un workers", {}, "it has 'UN'"),
        ("Boats", {}, "'Boats' is not a word"),
        (" ", {}, "no words"),
        ("food The", {"transitions": "seen"}, "'food' never follows '<s>' .* leave `transitions` out"),
        ("The workers", {"transitions": "seen"}, "'workers' never follows 'The'"),
        ("The UN", {"salience": {"UN": 0.0}}, "'UN' has salience 0"),
        ("The", {"arguments": "supported"}, "no head stack"),
    ],
)
def test_what_cannot_be_read_is_refused(
    store: Store, text: str, settings: dict[str, object], why: str
) -> None:
    """The error is one line with the word and what to do."""
    with pytest.raises(InputError, match=why) as refusal:
        traced(store, text, **settings)

    assert "\n" not in str(refusal.value)


def test_a_cluster_without_trees_is_refused(store: Store, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A cluster without trees is refused as by the search, but not for bigrams."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "plain.lines").write_text("we ate\n")

    with Store(folder / "store.duckdb", create=True) as plain:
        ingest(plain, [str(folder / "plain.lines")], Settings("plain", kind="cluster"))
        with pytest.raises(ModelError, match="no dependency trees"):
            traced(plain, "we ate", "plain")
        assert traced(plain, "we ate", "plain", algorithm="bigram").tree is None
