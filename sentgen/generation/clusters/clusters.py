"""Clusters to generate from, and sentences made of them as tables, trees and drawings.

The command line and the server share this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import groupby, pairwise
from typing import cast

from sentgen import temporary
from sentgen.case_folding import fold
from sentgen.corpus.parsers import Parser
from sentgen.corpus.readers.conllu import conllu_text
from sentgen.corpus.sentence import Sentence
from sentgen.counts import corpora
from sentgen.errors import InputError, spell
from sentgen.generation.bags.bag_reader import TagKind
from sentgen.generation.clusters.generate import GeneratedSentence, generate
from sentgen.generation.clusters.prepared import CorpusDependencies, MixedModel, PreparedCluster
from sentgen.generation.clusters.request import ClusterRequest, Models
from sentgen.generation.clusters.settings import GenerationSettings
from sentgen.generation.drawing import SentenceDrawing, conllu_block, tree_svg
from sentgen.models.dependency.cluster_counts import cluster_names
from sentgen.output.display import decimal
from sentgen.output.tabular import Rows
from sentgen.output.wording import are, quantity
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS

COLUMNS = ["cluster", "length", "rank", "sentence", "log10", "logp", "exact"]
#: Name of the corpus in a temporary store.
CORPUS = "clusters"


@dataclass(frozen=True, slots=True)
class Clusters:
    """Documents of a corpus in a store, by id and name; ``kept``: whether the store is not temporary."""

    store: Store
    corpus: str
    chosen: Sequence[tuple[int, str]]
    kept: bool

    @property
    def tags(self) -> TagKind:
        """Return the kind of tags that the corpus has."""
        with self.store.connect() as connection:
            return cast(TagKind, corpora.find(connection, self.corpus).tags)

    def generate_all(
        self,
        lengths: Sequence[int],
        request: ClusterRequest,
        settings: GenerationSettings,
        models: Models,
        progress: Callable[[int, int], None] | None = None,
    ) -> Generated:
        """Generate from all clusters, or read a sentence that is given by each.

        ``progress`` is called with the number of clusters that are done, and of all clusters.
        """
        if request.sentence is not None:
            given = trace_sentence(
                self.store,
                self.corpus,
                request.sentence,
                settings=settings,
                clusters=self.chosen,
                lm=models.lm,
                dependencies=models.dependencies,
            )
            return Generated(request, len(self.chosen), list(given), self.tags)
        sentences, done = list[GeneratedSentence](), set[str]()
        for sentence in generate(
            self.store,
            self.corpus,
            lengths=lengths,
            settings=settings,
            clusters=self.chosen,
            nbest=request.nbest,
            best=request.best,
            lm=models.lm,
            dependencies=models.dependencies,
            reranker=models.reranker,
        ):
            sentences.append(sentence)
            # A cluster may have several sentences, but counts once.
            if progress is not None and sentence.cluster not in done:
                done.add(sentence.cluster)
                progress(len(done), len(self.chosen))
        return Generated(request, len(self.chosen), sentences, self.tags)

    @classmethod
    @contextmanager
    def temporary(
        cls,
        path: str,
        *,
        names: Sequence[str] | None = None,
        form: str | None = None,
        parser: Parser | None = None,
        memory_limit: int | None = None,
    ) -> Iterator[Clusters]:
        """Read clusters into a store that is removed afterward.

        Args:
            path: anything that `sentgen ingest` takes.
            names: only these documents.
            form: format; detected if ``None``.
            parser: parser for sentences without trees.
            memory_limit: bytes that DuckDB may use.

        Raises:
            InputError: the clusters cannot be read.
            NotFoundError: there is no document of a name.
        """
        # Imported here: the front of a server and idle workers do not need it in memory.
        from sentgen.counts.ingestion import Settings, ingest

        with (
            temporary.folder() as folder,
            Store(folder / "clusters.duckdb", create=True, memory_limit=memory_limit) as store,
        ):
            # Without n-grams: cluster models count their bigrams from the sentences.
            ingest(store, [path], Settings(CORPUS, form, order=1, kind="cluster"), parser=parser)
            yield cls(store, CORPUS, cluster_names(store, CORPUS, names=names), kept=False)


@contextmanager
def stored_clusters(clusters: Iterable[Sequence[Sentence]]) -> Iterator[Store]:
    """Store clusters in a temporary store, which is removed at the end.

    The documents of its corpus `CORPUS` are the clusters; their names are "0", "1" and so on.
    """
    with temporary.folder() as folder:
        path = folder / "clusters.conllu"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for number, cluster in enumerate(clusters):
                for index, sentence in enumerate(cluster):
                    file.write(conllu_text(replace(sentence, document=None if index else str(number))))
        with Clusters.temporary(str(path), form="conllu") as made:
            yield made.store


def parse_lengths(text: str) -> list[int]:
    """Read lengths such as ``1-40`` or ``5,10-12``; return them sorted, without repetition.

    Raises:
        InputError: a part is no length.

    >>> parse_lengths("5,1-3,2")
    [1, 2, 3, 5]
    """
    lengths: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise InputError(f"{part!r} is no length; write such as 1-40 or 5,10")
        lengths.update(range(first, last + 1))
    return sorted(lengths)


def written_lengths(lengths: Sequence[int]) -> str:
    """Return ascending lengths in the notation of `parse_lengths`.

    >>> written_lengths([1, 2, 3, 5])
    '1-3,5'
    """
    # Consecutive numbers have the same difference from their index.
    runs = [[one for _, one in of] for _, of in groupby(enumerate(lengths), lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


@dataclass(frozen=True, slots=True)
class Generated:
    """Generated sentences of ``clusters`` clusters and their request; ``tags`` is the kind of the corpus."""

    request: ClusterRequest
    clusters: int
    sentences: Sequence[GeneratedSentence]
    tags: TagKind

    @property
    def trees(self) -> list[SentenceDrawing]:
        """Return the sentences with their trees."""
        found = self.sentences
        return [SentenceDrawing(_name(one), one.units, one.tree) for one in found if one.tree]

    def svg(self) -> str:
        """Return a drawing of the trees."""
        return tree_svg(self.trees)

    def conllu(self) -> str:
        """Return the trees as CoNLL-U, clusters as documents."""
        blocks, cluster = [], None
        for sentence in self.sentences:
            if sentence.tree is None:
                continue
            if sentence.cluster != cluster:
                cluster = sentence.cluster
                blocks.append(f"# newdoc id = {cluster}\n")
            heads = sentence.tree.heads
            blocks.append(conllu_block(sentence.units, heads, tags=self.tags, sent_id=_name(sentence)))
        return "".join(blocks)

    def table(self) -> Rows:
        """Return a row a sentence; heads are positions from 1, 0 for a root."""
        tree, trace = self.request.tree, self.request.traced
        reranked = self.request.rerank is not None
        scores, heads, steps = ["log10_score", "score"], ["heads"], ["trace"]
        columns = [*COLUMNS, *scores * reranked, *heads * tree, *steps * trace]
        rows = []
        for sentence in self.sentences:
            row: list[object] = [sentence.cluster, sentence.length, sentence.rank, sentence.text]
            row += [decimal(sentence.logp), sentence.logp, sentence.exact]
            if reranked:
                row += [decimal(sentence.score), sentence.score]
            if tree:
                row.append([head + 1 for head in sentence.tree.heads] if sentence.tree else None)
            if trace:
                row.append([{**asdict(step), "log10": decimal(step.logp)} for step in sentence.trace])
            rows.append(row)
        return Rows(columns, rows)

    def notes(self) -> Iterator[str]:
        """Yield notes on sentences that are not proven best, and on missing lengths."""
        if self.request.sentence is not None:
            return
        proven = sum(bool(sentence.exact) for sentence in self.sentences)
        if self.request.rerank is not None:
            yield f"of each length, {self.request.rerank} chose among the best of the cluster"
        elif proven < len(self.sentences):
            yield (
                f"{proven:,} of {quantity(len(self.sentences), 'sentence')} {are(len(self.sentences))} exact;"
                " for the others, the beam may have lost a better one"
            )
        reached = sum(sentence.rank == 1 for sentence in self.sentences)
        missing = self.clusters * len(parse_lengths(self.request.lengths)) - reached
        if missing > 0 and not self.request.best:
            times = quantity(missing, "time")
            yield f"{times} a cluster has no sentence of a length: its words do not suffice"


def _name(sentence: GeneratedSentence) -> str:
    return f"{sentence.cluster}-{sentence.length}" + ("" if sentence.rank is None else f"-{sentence.rank}")


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
    """Score a given sentence by each cluster, with the probability that the search would give it.

    Limits on the uses of a word are ignored. If a cluster has the first word with and without a capital, the
    more probable form is taken, as generated sentences get a capital.

    Args:
        corpus: name of the corpus; each document of it is a cluster.
        text: the words, separated by blanks.
        clusters: the documents to take, from `cluster_names`; all of the corpus if ``None``.
        lm: a language model to mix in.
        dependencies: dependencies of treebanks, which those of the clusters back off to.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: there are no words, a cluster does not have one of them, the settings exclude the
            sentence, or ask for supported arguments, which have no head stack.
        ModelError: the algorithm needs trees, and a cluster has none.
    """
    settings = settings or GenerationSettings()
    if settings.arguments == "supported":
        raise InputError(
            f"supported arguments have no head stack to trace; leave {spell('arguments')} or"
            f" {spell('sentence')} out"
        )
    forms = [fold(form) if settings.lowercase else form for form in text.split()]
    if not forms:
        raise InputError("the sentence has no words; give some, separated by blanks")
    prepared = PreparedCluster.of_corpus(store, corpus, clusters, settings, lm, dependencies)
    return (_traced(cluster, forms) for cluster in prepared)


def _traced(prepared: PreparedCluster, forms: Sequence[str]) -> GeneratedSentence:
    """Return the more probable reading of a sentence: its first word as given, or without its capital."""
    number = {form: index for index, form in enumerate(prepared.model.words)}
    first = [form for form in dict.fromkeys((forms[0], fold(forms[0][:1]) + forms[0][1:])) if form in number]
    rest = [_known(prepared, number, form) for form in forms[1:]]
    begun = [[number[form], *rest] for form in first] or [[_known(prepared, number, forms[0]), *rest]]
    obstacles = [_obstacle(prepared, words) for words in begun]
    if obstacles[0] is not None and all(obstacles):
        raise InputError(obstacles[0])
    sentences = []
    for words in (words for words, obstacle in zip(begun, obstacles, strict=True) if obstacle is None):
        reading = prepared.reader().read(words)
        sentences.append(GeneratedSentence.given(prepared, words, reading, reading[0][-1].logp))
    return max(sentences, key=lambda sentence: sentence.logp)


def _known(prepared: PreparedCluster, number: dict[str, int], form: str) -> int:
    """Return the number of a word.

    Raises:
        InputError: the cluster does not have it.
    """
    if form in number:
        return number[form]
    alike = next((other for other in number if fold(other) == fold(form)), None)
    hint = (
        f"; it has {alike!r}" if alike else f"; take its words, or choose another one with {spell('cluster')}"
    )
    raise InputError(f"{form!r} is not a word of cluster {prepared.counts.name!r}{hint}")


def _obstacle(prepared: PreparedCluster, words: Sequence[int]) -> str | None:
    """Return why the settings exclude a sentence: a word has no salience, or may not follow another."""
    names = [*prepared.model.words, RESERVED_WORDS[BOS]]
    for word in words:
        if prepared.emission[word] == -float("inf"):
            return f"{names[word]!r} has salience 0; leave it out, or choose another {spell('salience')}"
    allowed, edge = prepared.allowed, len(prepared.model.words)
    for before, after in pairwise((edge, *words, edge)):
        if allowed is not None and not allowed[before, after]:
            name = RESERVED_WORDS[EOS] if after == edge else names[after]
            return (
                f"{name!r} never follows {names[before]!r} in cluster {prepared.counts.name!r};"
                f" leave {spell('transitions')} out"
            )
    return None
