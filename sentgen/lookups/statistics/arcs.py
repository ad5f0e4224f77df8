"""Arcs of trees in arrays: which token governs which one, by a relation, alone or through a preposition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.case_folding import folded
from sentgen.lookups import prepositions as names
from sentgen.lookups.search.conditions import among
from sentgen.lookups.search.tokens import NONE, Block
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Statement
from sentgen.lookups.statistics.collocate_numbers import numbers_of
from sentgen.lookups.statistics.row_sums import each_once
from sentgen.schema.engine import raw

#: The ends of an arc.
ROLES = ("head", "modifier")
_FORMS = f"""\
select id, {folded("form")}
from (select unnest($words) as id)
join word using (id)"""


@dataclass(frozen=True, slots=True)
class Arcs:
    """Arcs in a block.

    Args:
        modifiers, heads: the tokens.
        relations: numbers of tags.
        prepositions: numbers by `Prepositions`, `NONE` without one.
    """

    modifiers: Longs
    heads: Longs
    relations: Ints
    prepositions: Longs

    @property
    def ends(self) -> tuple[Longs, Longs]:
        """Return the heads and the modifiers, in the order of `ROLES`."""
        return self.heads, self.modifiers

    def take(self, some: Bools) -> Arcs:
        """Return some of them."""
        return Arcs(self.modifiers[some], self.heads[some], self.relations[some], self.prepositions[some])

    def and_others(self, others: Arcs) -> Arcs:
        """Return these, and others of the same block."""
        return Arcs(
            np.concatenate([self.modifiers, others.modifiers]),
            np.concatenate([self.heads, others.heads]),
            np.concatenate([self.relations, others.relations]),
            np.concatenate([self.prepositions, others.prepositions]),
        )


@dataclass(slots=True)
class Prepositions:
    """Gives numbers to prepositions, the same to those that are one in small letters."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)

    def numbers(self, connection: Connection, phrases: Sequence[tuple[int, ...]]) -> Longs:
        """Return the numbers of prepositions, each given by its words."""
        unknown = sorted({one for one in phrases if one not in self._numbers})
        if unknown:
            words = sorted({word for one in unknown for word in one})
            forms: dict[int, str] = dict(raw(connection).execute(_FORMS, {"words": words}).fetchall())
            known = {text: number for number, text in enumerate(self.texts)}
            for one in unknown:
                text = " ".join(forms[word] for word in one)
                self._numbers[one] = known.setdefault(text, len(known))
            self.texts = [*known]
        return np.array([self._numbers[one] for one in phrases], np.int64)


class ArcSearch:
    """Finds arcs.

    Args:
        connection: the store.
        selection: the corpora.
        relations: the query for the numbers of the relations.
        prepositions: what numbers prepositions, if links by one are arcs, too.
    """

    def __init__(
        self,
        connection: Connection,
        selection: Selection,
        relations: Statement,
        prepositions: Prepositions | None = None,
    ) -> None:
        self._connection, self._selection = connection, selection
        self._relations, self._prepositions = numbers_of(connection, relations), prepositions

    def find(self, block: Block) -> Arcs:
        """Return the arcs of a block whose modifiers are in the corpora."""
        modifiers = self._governed(block, self._relations)
        alone = np.full(len(modifiers), NONE)
        found = Arcs(modifiers, governors(block, modifiers), block.column("deprel_id")[modifiers], alone)
        if self._prepositions is not None:
            links = self._below_nouns(block).and_others(self._above_nouns(block))
            found = found.and_others(links.take(among(links.relations, self._relations)))
        chosen = block.chosen(self._selection)
        return found if chosen is None else found.take(chosen[found.modifiers])

    def _below_nouns(self, block: Block) -> Arcs:
        """Return the links by prepositions that hang below their nouns."""
        relations = block.column("deprel_id")
        prepositions = self._governed(block, self._tags(names.CASE))
        nouns = governors(block, prepositions)
        some = among(relations[nouns], self._tags(names.NOUN)) & (block.column("head")[nouns] > 0)
        prepositions, nouns = prepositions[some], nouns[some]
        numbers = self._numbers(block, prepositions, self._further(block, prepositions))
        return Arcs(nouns, governors(block, nouns), relations[nouns], numbers)

    def _above_nouns(self, block: Block) -> Arcs:
        """Return the links by prepositions that their nouns hang below."""
        relations, complements = block.column("deprel_id"), self._tags(names.COMPLEMENT)
        nouns = self._governed(block, np.sort(np.append(complements, self._tags(names.OBJECT))))
        above = governors(block, nouns)
        some = (relations[above] != NONE) & (block.column("head")[above] > 0)
        if len(complements):
            is_preposition = among(block.column("upos_id")[above], self._tags(names.ADPOSITION))
            some &= is_preposition | ~among(relations[nouns], complements)
        some &= ~among(relations[above], self._tags(names.COORDINATED))
        nouns, above = nouns[some], above[some]
        return Arcs(nouns, governors(block, above), relations[above], self._numbers(block, above, {}))

    def _further(self, block: Block, prepositions: Longs) -> dict[int, list[int]]:
        """Return the further words of prepositions, by their places among all, of those that have some."""
        after = defaultdict[int, list[int]](list)
        further = self._governed(block, self._tags(names.FIXED))
        words = block.column("word_id")[further].tolist()
        for word, first in zip(words, governors(block, further).tolist(), strict=True):
            after[first].append(word)
        some = np.flatnonzero(np.isin(prepositions, np.array([*after], np.int64))).tolist()
        return {place: after[int(prepositions[place])] for place in some}

    def _numbers(self, block: Block, prepositions: Longs, further: Mapping[int, list[int]]) -> Longs:
        """Return the numbers of prepositions, of which some have further words."""
        words = block.column("word_id")[prepositions]
        each = each_once(words)
        phrases = [(int(words[place]), *more) for place, more in further.items()]
        assert self._prepositions is not None
        numbers = self._prepositions.numbers(self._connection, [*((one,) for one in each.tolist()), *phrases])
        found = numbers[np.searchsorted(each, words)]
        found[[*further]] = numbers[len(each) :]
        return found

    def _governed(self, block: Block, relations: Ints) -> Longs:
        """Return the tokens that have a head, by one of some relations."""
        found: Longs = np.flatnonzero(
            among(block.column("deprel_id"), relations) & (block.column("head") > 0)
        )
        return found

    def _tags(self, condition: str) -> Ints:
        return numbers_of(self._connection, Statement(names.tags(condition)))


def governors(block: Block, at: Longs) -> Longs:
    """Return the heads of tokens that have one."""
    begins = block.sentences()[1]
    found: Longs = begins[block.sentence_of(at)] + block.column("head")[at] - 1
    return found
