"""Lines in the colors of what they are sorted by; where a Grew request matches, with trees and by keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.api.session import StoreSession, session_of
from sentgen.api.tables import SHOWN, SortedLine, Table, svg_block
from sentgen.counts.conllu_export import sentences_conllu
from sentgen.errors import StoreError
from sentgen.generation.drawing import SentenceDrawing, tree_svg, tree_text
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.browsing import find_sentence
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.hit_places import Marks
from sentgen.lookups.concordances.line_text import PLACE, SortedSides, SortedWords
from sentgen.lookups.grew.matches import Match
from sentgen.output.tabular import Rows


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
        return svg_block(self.svg)


#: Attributes of a table that hits get when they are first searched.
_OF_ANSWER = ("_found", "_sql", "_draw", "notes", "truncated", "total")


class Hits(Table):
    """The hits of a request, or what they were counted by; found when they are first looked at."""

    def __init__(self, session: StoreSession, question: Match) -> None:
        self._session, self._question = session_of(session, "Database.match"), question
        # So that an error is raised at the call, not when the hits are shown.
        with session.read() as store, store.connect() as connection:
            question.check(connection)
        session.unread.add(self)

    def read(self) -> None:
        """Look for the hits."""
        self._session.unread.discard(self)
        with self._session.read() as store, store.connect() as connection:
            answer = self._question.ask(connection)
        vars(self).update(vars(Table._of(answer, self._session.drawer(self._question, answer))))

    if not TYPE_CHECKING:  # for a type checker, every table has these attributes

        def __getattr__(self, name: str) -> object:
            if name not in _OF_ANSWER:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self.read()
            return getattr(self, name)

    def by(self, *keys: str) -> Hits:
        """Count all hits by keys: ``V.lemma``, ``e.label``, ``S#V#O``, ``delta(V,S)``, ``genre``."""
        return Hits(self._session, replace(self._question, key=[*self._question.key, *keys]))

    def whether(self, *clauses: str) -> Hits:
        """Count all hits by whether they meet clauses, such as ``S [upos=PRON]``."""
        return Hits(self._session, replace(self._question, whether=[*self._question.whether, *clauses]))

    def conllu(self) -> str:
        """Return the sentences of the hits as CoNLL-U; empty of counts."""
        with self._session.read() as store, store.connect() as connection:
            return "".join(sentences_conllu(connection, self._question.sentences(connection)))

    @property
    def trees(self) -> list[SentenceTree]:
        """The tree of each hit, its nodes marked; none of counts."""
        return self._trees(len(self))

    def _trees(self, number: int) -> list[SentenceTree]:
        if self._question.is_count:
            return []
        hits = self._found.slice(0, number).to_pylist()
        if not hits:
            return []
        with self._session.read() as store, store.connect() as connection:
            marks = [set(hit_marks.positions.values()) for hit_marks in Marks.of_hits(connection, hits)]
            trees = []
            for hit, marked in zip(hits, marks, strict=True):
                answer, _ = find_sentence(connection, hit["corpus"], hit["document"], hit["sent_id"])
                trees.append(_tree(hit["sent_id"], answer, marked))
        return trees

    def _drawings(self) -> list[str]:
        try:
            return [tree.svg for tree in self._trees(SHOWN)]
        except StoreError:  # closed since: the lines stay
            return []

    def _sorted(self) -> list[SortedLine]:
        hits = self._found.slice(0, SHOWN).to_pylist()
        if self._question.is_count or not hits:
            return []
        return _sorted_lines(
            self._session,
            self._question.sort,
            lambda connection: self._question.sorted_sides(
                connection, hits, list(Marks.of_hits(connection, hits))
            ),
        )


def _tree(title: str, answer: Answer, marked: set[int]) -> SentenceTree:
    tokens: Sequence[dict[str, object]] = answer.rows.to_pylist()
    drawing = SentenceDrawing.of_corpus(
        title,
        [str(token["form"]) for token in tokens],
        [str(token["upos"] or token["xpos"] or "") for token in tokens],
        [int(str(token["head"])) for token in tokens],
        [str(token["deprel"] or "") for token in tokens],
    )
    return SentenceTree(replace(drawing, marked=frozenset(position - 1 for position in marked)))


class SortedLines(Table):
    """Lines of a concordance, in a notebook with the colors of what they are sorted by; see `Table`."""

    _session: StoreSession
    _question: Kwic
    _placed: Rows

    @classmethod
    def ask(cls, session: StoreSession, question: Kwic) -> SortedLines:
        """Return the lines that a question asks for."""
        with session.read() as store, store.connect() as connection:
            answer = question.lines(connection, placed=True)
        shown = replace(answer, rows=answer.rows.without(PLACE))
        lines = cls._of(shown, session.drawer(question, shown))
        lines._session, lines._question, lines._placed = session, question, answer.rows.slice(0, SHOWN)
        return lines

    def _sorted(self) -> list[SortedLine]:
        if not len(self):
            return []
        return _sorted_lines(
            self._session,
            self._question.sort,
            lambda connection: self._question.sorted_sides(connection, self._placed),
        )


def _sorted_lines(
    session: StoreSession, sort: str, sides: Callable[[Connection], Iterable[SortedSides]]
) -> list[SortedLine]:
    """Return lines in parts, by what they are sorted by; none where that is nothing."""
    words = SortedWords.of_order(sort)
    if not words.levels:
        return []
    try:
        with session.read() as store, store.connect() as connection:
            return [SortedLine(*line, words.levels.get(0, 0)) for line in sides(connection)]
    except StoreError:  # closed since: the lines stay
        return []
