"""A sentence that somebody gives, read as the search reads its own: word by word, with its head stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sentgen.case_folding import fold
from sentgen.errors import InputError
from sentgen.generation.clusters.corpus_dependencies import CorpusDependencies
from sentgen.generation.clusters.generate import GeneratedSentence, reader_of, sentence_of
from sentgen.generation.clusters.generation_settings import GenerationSettings
from sentgen.generation.clusters.prepared import MixedModel, PreparedCluster, prepared_clusters
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS


def trace_sentence(
    store: Store,
    corpus: str,
    text: str,
    *,
    settings: GenerationSettings | None = None,
    clusters: Sequence[tuple[int, str]] | None = None,
    lm: MixedModel | None = None,
    dependencies: CorpusDependencies | None = None,
) -> Iterator[GeneratedSentence]:
    """Read a sentence by each cluster; it has the probability that it has where the search finds it.

    How often a word may be used does not matter. Where a cluster has the first word with a capital and
    without, the more probable one is taken, as what is generated gets a capital.

    Args:
        store: where the corpus is.
        corpus: its name; each document of it is a cluster.
        text: the words, separated by blanks.
        settings: of the model.
        clusters: the documents to take, from `cluster_names`; all of the corpus if ``None``.
        lm: a language model to mix in.
        dependencies: of treebanks, which those of the clusters back off to.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: there are no words, a cluster does not have one of them, the settings exclude the
            sentence, or ask for supported arguments, which have no head stack.
        ModelError: the algorithm needs trees, and a cluster has none.
    """
    settings = settings or GenerationSettings()
    if settings.arguments == "supported":
        raise InputError(
            "supported arguments have no head stack to trace; leave --arguments or --sentence out"
        )
    forms = [fold(form) if settings.lowercase else form for form in text.split()]
    if not forms:
        raise InputError("the sentence has no words; give some, separated by blanks")
    prepared = prepared_clusters(store, corpus, clusters, settings, lm, dependencies)
    return (_traced(one, forms) for one in prepared)


def _traced(prepared: PreparedCluster, forms: Sequence[str]) -> GeneratedSentence:
    """Return the most probable reading of a sentence: its first word as it is, or without its capital."""
    number = {form: place for place, form in enumerate(prepared.model.words)}
    first = [form for form in dict.fromkeys((forms[0], fold(forms[0][:1]) + forms[0][1:])) if form in number]
    rest = [_known(prepared, number, form) for form in forms[1:]]
    begun = [[number[form], *rest] for form in first] or [[_known(prepared, number, forms[0]), *rest]]
    obstacles = [_obstacle(prepared, words) for words in begun]
    if obstacles[0] is not None and all(obstacles):
        raise InputError(obstacles[0])
    found = []
    for words in (words for words, obstacle in zip(begun, obstacles, strict=True) if obstacle is None):
        reading = reader_of(prepared).read(words)
        found.append(sentence_of(prepared, words, reading, reading[0][-1].logp))
    return max(found, key=lambda one: one.logp)


def _known(prepared: PreparedCluster, number: dict[str, int], form: str) -> int:
    """Return the number of a word.

    Raises:
        InputError: the cluster does not have it.
    """
    if form in number:
        return number[form]
    alike = next((other for other in number if fold(other) == fold(form)), None)
    hint = f"; it has {alike!r}" if alike else "; take its words, or choose another one with --cluster"
    raise InputError(f"{form!r} is not a word of cluster {prepared.counts.name!r}{hint}")


def _obstacle(prepared: PreparedCluster, words: Sequence[int]) -> str | None:
    """Return why the settings exclude a sentence: a word has no salience, or may not follow another one."""
    names = [*prepared.model.words, RESERVED_WORDS[BOS]]
    for word in words:
        if prepared.emission[word] == -float("inf"):
            return f"{names[word]!r} has salience 0; leave it out, or choose another --salience"
    allowed, edge = prepared.allowed, len(prepared.model.words)
    for before, after in pairwise((edge, *words, edge)):
        if allowed is not None and not allowed[before, after]:
            name = RESERVED_WORDS[EOS] if after == edge else names[after]
            return (
                f"{name!r} never follows {names[before]!r} in cluster {prepared.counts.name!r};"
                " leave --transitions out"
            )
    return None
