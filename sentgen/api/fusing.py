"""A new sentence of a key sentence and related ones, for `Database.fuse`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from markupsafe import escape

from sentgen.api import html
from sentgen.api.arguments import declared
from sentgen.api.door import StoreSession
from sentgen.api.options import FuseOptions
from sentgen.api.tables import Table
from sentgen.api.texts import as_file, parser_of
from sentgen.errors import InputError
from sentgen.evaluation.fusion.texts import FusionTexts
from sentgen.generation.fusion.answer import FusionAnswer
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.generation.fusion.table import change_table, fusion_notes, fusion_table, origin_table, runs
from sentgen.output.display import shortened


class FusedSentences(Table):
    """A row a new sentence, the best one first; none where nothing can be added, which ``notes`` tells."""

    def __init__(self, answer: FusionAnswer) -> None:
        super().__init__(fusion_table(answer), notes=list(fusion_notes(answer)))
        self._answer = answer

    @property
    def text(self) -> str:
        """The first sentence.

        Raises:
            InputError: there is none.
        """
        if not self._answer.sentences:
            raise InputError(f"there is no sentence: {self.notes[-1]}")
        return self._answer.sentences[0].text

    @property
    def texts(self) -> list[str]:
        """All sentences."""
        return [one.text for one in self._answer.sentences]

    @property
    def words(self) -> Table:
        """A row a word of each sentence: the sentence that it is from, and its place and form there.

        ``sentence`` is 0 for the key, else the number of a related sentence; a word that was put in has none.
        Places count from 1.
        """
        return Table(origin_table(self._answer), notes=self.notes)

    @property
    def changes(self) -> Table:
        """A row for each thing that was done to the key: what came in, from where, and beside what."""
        return Table(change_table(self._answer), notes=self.notes)

    def _repr_html_(self) -> str:
        words = self.words
        shown = (
            [(row.word, row.sentence) for row in words if row.rank == rank]
            for rank in range(1, len(self._answer.sentences) + 1)
        )
        body = "".join(f"<p><bdi>{_marked(runs(one))}</bdi></p>" for one in shown)
        return html.framed(body, self._size(), self.notes)


def _marked(stretches: Iterable[tuple[str, str]]) -> str:
    """Return a sentence with what is not of the key marked, each stretch with where it is from."""
    return " ".join(
        f"<mark>{escape(shortened(text))}<sub>{escape(source)}</sub></mark>"
        if source
        else escape(shortened(text))
        for text, source in stretches
    )


def fused(
    door: StoreSession, key: int | str | Path, related: str | Path, options: FuseOptions
) -> FusedSentences:
    """Fuse sentences, with a model of the store if one is named."""
    given: dict[str, object] = {**options}
    parser = parser_of(options.get("parser"))
    given.pop("parser", None)
    file = str(key) if isinstance(key, Path) else None
    with as_file(related, "related") as path:
        asked = declared(FusionTexts, {**given, "key": file or key, "related": path})
        asked.check()
        sentence, others = asked.sentences(parser, file=file)
    with door.reading() as store:
        return FusedSentences(fused_sentences(sentence, others, asked, store))
