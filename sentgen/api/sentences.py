"""Sentences that were made: of bags, or of clusters; with their trees."""

from __future__ import annotations

from sentgen.api import html
from sentgen.api.hits import SentenceTree
from sentgen.api.tables import SHOWN, Table
from sentgen.errors import InputError, spell
from sentgen.generation.answers import Answers, require_trees, table_of
from sentgen.generation.clusters.clusters import Generated
from sentgen.generation.notes import notes


class Sentences(Table):
    """A row a sentence; the first one is ``text`` with its ``tree``."""

    def __init__(self, made: Answers | Generated) -> None:
        note_lines = notes(made) if isinstance(made, Answers) else made.notes()
        super().__init__(
            table_of(made) if isinstance(made, Answers) else made.table(),
            notes=list(note_lines),
        )
        self._made = made

    @property
    def text(self) -> str:
        """The first sentence.

        Raises:
            InputError: there is none.
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
        drawn = "".join(html.svg_block(tree.svg) for tree in self.trees[:SHOWN])
        return html.frame(html.table(columns, rows) + drawn, self._size(), self.notes)
