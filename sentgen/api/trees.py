"""Dependency trees: drawn in a notebook, as text in a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from sentgen.api import html
from sentgen.generation.drawing import SentenceDrawing, tree_svg, tree_text


@dataclass(frozen=True, slots=True, repr=False)
class SentenceTree:
    """A sentence with its dependency tree."""

    drawing: SentenceDrawing

    @property
    def text(self) -> str:
        """The words of the sentence."""
        return " ".join(self.words)

    @property
    def words(self) -> list[str]:
        """Its units: words, or the words of base noun phrases together."""
        return [" ".join(unit.words) for unit in self.drawing.units]

    @property
    def heads(self) -> list[int]:
        """The place of the head of each unit, from 1; 0 for a root."""
        return [head + 1 for head in self.drawing.tree.heads]

    @property
    def svg(self) -> str:
        """A drawing of it, as an SVG document."""
        return tree_svg([self.drawing])

    def __repr__(self) -> str:
        return "\n".join(tree_text(self.drawing.units, self.drawing.tree.heads))

    def _repr_html_(self) -> str:
        return html.svg_block(self.svg)
