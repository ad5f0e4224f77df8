"""Dependencies of a treebank behind those of a cluster: against counts by hand, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest
from cluster_examples import RELIEF, fill

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.generation.clusters.generate import GenerationSettings, generate
from sentgen.generation.clusters.prepared import CorpusDependencies, cluster_models
from sentgen.models.dependency.cluster_counts import ClusterCounts, cluster_names
from sentgen.schema import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The paper's second sentence as the cluster, both as the treebank, and a corpus of plain text."""
    folder = tmp_path_factory.mktemp("corpus-dependencies")
    with Store(folder / "store.duckdb", create=True) as opened:
        fill(opened, folder, {"un": RELIEF[1:]}, "cluster")
        fill(opened, folder, {"both": RELIEF}, "treebank")
        (folder / "plain.lines").write_text("The UN workers requested medicine\n")
        ingest(opened, [str(folder / "plain.lines")], Settings("plain", order=2))
        yield opened


def prob(head: str, modifier: str, side: int) -> float:
    """Return prob of the treebank by its definition (Wan et al. 2007), all of whose words have one tag.

    ``side`` is -1 for a modifier on the left of its head. Nothing is left to back off to beyond tags.
    """
    events, together = [0, 0, 0], [0, 0, 0]
    for sentence in RELIEF:
        for (i, (a, _)), (j, (b, above)) in permutations(enumerate(sentence, 1), 2):
            # a is the head, b the modifier: both words, one of them or the other, none.
            for level, times in enumerate((a == head and b == modifier, (a == head) + (b == modifier), 1)):
                together[level] += times
                events[level] += times * (above == i and (j - i) * side > 0)
    weights = [together[0] / (together[0] + 1), together[1] / (together[1] + 1), 1.0]
    found = 0.0
    for event, pair, weight in reversed(list(zip(events, together, weights, strict=True))):
        found = weight * event / max(pair, 1) + (1 - weight) * found
    return found


def test_a_cluster_backs_off_to_the_treebank(store: Store) -> None:
    """l e + (1 - l) prob, l = cnt / (cnt + 1), and still no pair has more than one relation."""
    (counts,) = ClusterCounts.of_corpus(store, "cluster", cluster_names(store, "cluster"))
    dependencies = CorpusDependencies(store, ("treebank",))
    (sides,) = dependencies.of([counts])
    (alone,) = cluster_models([counts])
    (model,) = cluster_models([counts], dependencies=dependencies)

    for (i, a), (j, b) in permutations(enumerate(counts.words), 2):
        weight = counts.pairs.together[i, j] / (counts.pairs.together[i, j] + 1)
        assert sides.right[i, j] == pytest.approx(prob(b, a, -1))
        assert sides.left[i, j] == pytest.approx(prob(a, b, 1))
        for mine, own, other in zip(
            (model.head_right, model.head_left), (alone.head_right, alone.head_left), sides, strict=True
        ):
            assert mine[i, j] == pytest.approx(weight * own[i, j] + (1 - weight) * other[i, j])
    assert (model.head_right + model.head_left).max() <= 1


def test_the_trace_shows_what_the_treebank_adds(store: Store) -> None:
    """The cluster never has `blankets` governed by `requested`: the treebank knows that words govern others."""
    lengths, settings = [7], GenerationSettings(reuse="none")
    dependencies = CorpusDependencies(store, ("treebank",))
    (alone,) = generate(store, "cluster", lengths=lengths, settings=settings)
    (found,) = generate(store, "cluster", lengths=lengths, settings=settings, dependencies=dependencies)

    assert {step.dep for step in alone.trace} == {0.0, 1.0}
    assert 0.0 < found.trace[1].dep < 1.0
    assert found.trace[-1].logp == pytest.approx(found.logp)


@pytest.mark.parametrize("chosen", [{"algorithm": "bigram"}, {"arguments": "supported"}])
def test_where_no_relations_are_used_they_are_refused(store: Store, chosen: dict[str, str]) -> None:
    """Bigrams and supported arguments, which use no relations, refuse them."""
    settings = GenerationSettings(**chosen)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave `dependencies` out"):
        generate(store, "cluster", settings=settings, dependencies=CorpusDependencies(store, ("treebank",)))


def test_corpora_must_be_there_and_have_trees(store: Store) -> None:
    """Missing corpora, and corpora without trees, are refused before the search."""
    with pytest.raises(NotFoundError, match="none"):
        CorpusDependencies.named(store, ["none"])
    with pytest.raises(ModelError, match="no dependency trees in plain"):
        CorpusDependencies.named(store, ["treebank", "plain"])
    assert CorpusDependencies.named(store, []) is None
