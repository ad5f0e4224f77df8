"""Sentences that were made, with their trees: of bags, of clusters, or of a key sentence and related ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from markupsafe import escape

from sentgen.api.arguments import declare
from sentgen.api.hits import SentenceTree
from sentgen.api.options import FuseOptions, GenerateOptions
from sentgen.api.session import StoreSession
from sentgen.api.tables import SHOWN, Table, html_frame, html_table, svg_block
from sentgen.api.texts import as_file, parser_of
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import expand
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, spell
from sentgen.evaluation.fusion.texts import FusionTexts
from sentgen.generation.answers import Answers, require_trees
from sentgen.generation.clusters.clusters import Clusters, Generated, parse_lengths
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.generation.fusion.answer import FusionAnswer, runs
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.generation.notes import notes
from sentgen.models.dependency.cluster_counts import cluster_names
from sentgen.output.display import shorten
from sentgen.output.progress import counting_bar

#: Share of the memory for the DuckDB of a temporary store of clusters.
_MEMORY_SHARE = 0.15


class Sentences(Table):
    """A row a sentence; the first one is ``text`` with its ``tree``."""

    def __init__(self, made: Answers | Generated) -> None:
        super().__init__(made.table(), notes=list(notes(made) if isinstance(made, Answers) else made.notes()))
        self._made = made

    @property
    def text(self) -> str:
        """The first sentence.

        Raises:
            InputError: there is no sentence.
        """
        if not self._made.sentences:
            raise InputError("there is no sentence: the words do not suffice for the lengths asked for")
        return self._made.sentences[0].text

    @property
    def texts(self) -> list[str]:
        """All sentences."""
        return [sentence.text for sentence in self._made.sentences]

    @property
    def tree(self) -> SentenceTree:
        """The tree of the first sentence that has one.

        Raises:
            InputError: the algorithm makes none.
        """
        trees = self.trees
        if trees:
            return trees[0]
        if isinstance(self._made, Answers):
            require_trees(self._made.plan.algorithm, {spell("tree"): True})
        raise InputError("no sentence has a tree")

    @property
    def trees(self) -> list[SentenceTree]:
        """The trees of the sentences that have one."""
        return [SentenceTree(drawing) for drawing in self._made.trees]

    @property
    def svg(self) -> str:
        """A drawing of all trees, as an SVG document."""
        return self._made.svg()

    def conllu(self) -> str:
        """Return the trees as CoNLL-U."""
        return self._made.conllu()

    def _repr_html_(self) -> str:
        columns, rows = self._shown()
        drawn = "".join(svg_block(tree.svg) for tree in self.trees[:SHOWN])
        return html_frame(html_table(columns, rows) + drawn, self._size(), self.notes)


def generate(session: StoreSession, file: str | Path | None, options: GenerateOptions) -> Sentences:
    """Make the most probable sentences of each length from the words of clusters.

    Args:
        session: the store; with ``corpus`` and ``file``, the clusters become a corpus of it.
        file: the clusters, a document each, as a text or a file.
        options: everything else; ``salience`` may have weights of words.
    """
    parser = parser_of(options.get("parser"))
    given: dict[str, object] = {**options, "lengths": _length_ranges(options.get("lengths", "1-40"))}
    given.pop("parser", None)
    salience = options.get("salience", "uniform")
    if isinstance(salience, Mapping):
        del given["salience"]
    request = declare(ClusterRequest, given)
    lengths = parse_lengths(request.lengths)
    settings = request.settings(
        salience if isinstance(salience, Mapping) else request.salience, request.algorithm
    )
    with (
        session.read() as store,
        _clusters(session, file, request, parser) as clusters,
        counting_bar("clusters") as progress,
    ):
        return Sentences(clusters.generate_all(lengths, request, settings, request.models(store), progress))


def _length_ranges(lengths: str | int | Iterable[int]) -> str:
    """Return lengths as written on the command line: a tuple of two is a range, others are lists.

    >>> _length_ranges((5, 20)), _length_ranges([5, 10, 12]), _length_ranges(7), _length_ranges("5-20")
    ('5-20', '5,10,12', '7', '5-20')
    """
    if isinstance(lengths, (str, int)):
        return str(lengths)
    between = "-" if isinstance(lengths, tuple) and len(lengths) == 2 else ","
    return between.join(map(str, lengths))


@contextmanager
def _clusters(
    session: StoreSession, file: str | Path | None, request: ClusterRequest, parser: Parser | None
) -> Iterator[Clusters]:
    """Open the clusters: of the user's store with ``corpus``, else of a temporary one."""
    names = request.cluster or None
    if file is None:
        if request.corpus is None:
            raise InputError("there is nothing to generate from; give a cluster, or the name of a `corpus`")
        if request.format is not None or parser is not None:
            raise InputError("`format` and `parser` are for a text; clusters of a `corpus` are read already")
        with session.read() as store:
            yield Clusters(
                store, request.corpus, cluster_names(store, request.corpus, names=names), kept=True
            )
        return
    with as_file(file, "cluster") as path:
        if request.corpus is None:
            limit = int(session.memory * _MEMORY_SHARE)
            with Clusters.temporary(
                path, names=names, form=request.format, parser=parser, memory_limit=limit
            ) as temporary:
                yield temporary
            return
        if not isinstance(file, Path):
            raise InputError("a text cannot be kept as a corpus; give a pathlib.Path, or leave `corpus` out")
        # By hash, as the corpus may have clusters of other files, and may have this file already.
        sources = [source.sha256() for source in expand([path])]
        with session.write() as store:
            ingest(store, [path], Settings(request.corpus, request.format, kind="cluster"), parser=parser)
        chosen = cluster_names(store, request.corpus, names=names, sources=sources)
        yield Clusters(store, request.corpus, chosen, kept=True)


class FusedSentences(Table):
    """A row a new sentence, the best one first; none where nothing can be added, which ``notes`` tells."""

    def __init__(self, answer: FusionAnswer) -> None:
        super().__init__(answer.table(), notes=list(answer.notes()))
        self._answer = answer

    @property
    def text(self) -> str:
        """The first sentence.

        Raises:
            InputError: there is no sentence.
        """
        if not self._answer.sentences:
            raise InputError(f"there is no sentence: {self.notes[-1]}")
        return self._answer.sentences[0].text

    @property
    def texts(self) -> list[str]:
        """All sentences."""
        return [sentence.text for sentence in self._answer.sentences]

    @property
    def words(self) -> Table:
        """A row a word of each sentence: the sentence that it is from, and its place and form there.

        ``sentence`` is 0 for the key, else the number of a related sentence; a word that was put in has none.
        Places count from 1.
        """
        return Table(self._answer.origin_table(), notes=self.notes)

    @property
    def changes(self) -> Table:
        """A row for each thing that was done to the key: what came in, from where, and beside what."""
        return Table(self._answer.change_table(), notes=self.notes)

    def _repr_html_(self) -> str:
        words = self.words
        shown = (
            [(row.word, row.sentence) for row in words if row.rank == rank]
            for rank in range(1, len(self._answer.sentences) + 1)
        )
        body = "".join(f"<p><bdi>{_mark_origins(runs(sentence))}</bdi></p>" for sentence in shown)
        return html_frame(body, self._size(), self.notes)


def _mark_origins(stretches: Iterable[tuple[str, str]]) -> str:
    """Return a sentence in which spans from other sentences than the key are marked, with their source."""
    return " ".join(
        f"<mark>{escape(shorten(text))}<sub>{escape(source)}</sub></mark>"
        if source
        else escape(shorten(text))
        for text, source in stretches
    )


def fuse(
    session: StoreSession, key: int | str | Path, related: str | Path, options: FuseOptions
) -> FusedSentences:
    """Fuse sentences, with a model of the store if one is named."""
    given: dict[str, object] = {**options}
    parser = parser_of(options.get("parser"))
    given.pop("parser", None)
    file = str(key) if isinstance(key, Path) else None
    with as_file(related, "related") as path:
        request = declare(FusionTexts, {**given, "key": file or key, "related": path})
        request.check()
        sentence, others = request.sentences(parser, file=file)
    with session.read() as store:
        return FusedSentences(fused_sentences(sentence, others, request, store))
