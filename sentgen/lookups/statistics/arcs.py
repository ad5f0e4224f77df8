"""Arcs of trees in arrays: which token governs which one, by a relation, alone or through a preposition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.case_folding import folded
from sentgen.lookups.base import prepositions as names
from sentgen.lookups.base.array_cache import array_cache
from sentgen.lookups.base.statement import Statement
from sentgen.lookups.base.tokens import NONE, Block, Part, Tokens
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.number_sets import among, begins_of, unique
from sentgen.lookups.statistics.collocate_numbers import CollocateNumbers, kept_numbers
from sentgen.lookups.statistics.row_sums import RowSums
from sentgen.schema.engine import kept, raw

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.lookups.statistics.relation_statements import RelationStatements

#: Of one hit in more than so many tokens, only the sentences with hits are looked at.
_FEW = 64
#: Numbers of words, tags and prepositions have less bits.
_BITS = 31
_LOW = (1 << _BITS) - 1
#: The ends of an arc.
ROLES = ("head", "modifier")
_FORMS = f"""\
select id, {folded("form")}
from (select unnest($words) as id)
join word using (id)"""


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
    """Finds arcs, in four rows: modifiers, heads, relations, and numbers of prepositions, `NONE` without one.

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
        self._relations, self._prepositions = kept_numbers(connection, relations), prepositions

    def find(self, block: Block) -> Longs:
        """Return the arcs of a block whose modifiers are in the corpora."""
        modifiers = self._governed(block, self._relations)
        alone = np.full(len(modifiers), NONE)
        parts = [
            np.stack([modifiers, governors(block, modifiers), block.column("deprel_id")[modifiers], alone])
        ]
        if self._prepositions is not None:
            links = np.concatenate([self._below_nouns(block), self._above_nouns(block)], axis=1)
            parts.append(links[:, among(links[2], self._relations)])
        found = np.concatenate(parts, axis=1)
        chosen = block.chosen(self._selection)
        return found if chosen is None else found[:, chosen[found[0]]]

    def _below_nouns(self, block: Block) -> Longs:
        """Return the links by prepositions that hang below their nouns."""
        relations = block.column("deprel_id")
        prepositions = self._governed(block, self._tags(names.CASE))
        nouns = governors(block, prepositions)
        some = among(relations[nouns], self._tags(names.NOUN)) & (block.column("head")[nouns] > 0)
        prepositions, nouns = prepositions[some], nouns[some]
        numbers = self._numbers(block, prepositions, self._further(block, prepositions))
        return np.stack([nouns, governors(block, nouns), relations[nouns], numbers])

    def _above_nouns(self, block: Block) -> Longs:
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
        numbers = self._numbers(block, above, {})
        return np.stack([nouns, governors(block, above), relations[above], numbers])

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
        each = unique(words)
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
        return kept_numbers(self._connection, Statement(names.tags(condition)))


def governors(block: Block, at: Longs) -> Longs:
    """Return the heads of tokens that have one."""
    begins = block.sentences()[1]
    found: Longs = begins[block.sentence_of(at)] + block.column("head")[at] - 1
    return found


def arc_counts(
    connection: Connection, asked: RelationStatements, relations: Statement, min_count: int
) -> pa.Table:
    """Return what governs a node and what it governs as rows of ``pair``.

    Args:
        connection: the store.
        asked: what is asked for.
        relations: the query for the numbers of the relations.
        min_count: omit what stands with the node less often.
    """
    import pyarrow as pa

    known = kept(connection).setdefault(Prepositions, Prepositions()) if asked.prepositions else None
    search = ArcSearch(connection, asked.selection, relations, known)
    numbers = CollocateNumbers(connection, asked.column, asked.selection, asked.pos)
    key = None
    if asked.selection.condition is None:
        of_words = (asked.column, *asked.pos, asked.selection.names, asked.selection.ignore_case)
        key = (arc_counts, relations.with_values(), asked.prepositions, of_words)
    kinds, ids, counts = _every(connection, search, numbers, key)
    here, others, together = _counted(search, numbers, map(_around, asked.node.find(connection)))
    begins = np.flatnonzero(begins_of([here]))
    ends = np.searchsorted(here, here[begins], "right")
    low, high = (np.searchsorted(kinds, here[begins], side) for side in ("left", "right"))
    with_node, every, alone = np.zeros((3, len(here)))
    for begin, end, first, behind in zip(*(one.tolist() for one in (begins, ends, low, high)), strict=True):
        with_node[begin:end] = together[begin:end].sum()
        every[begin:end] = counts[first:behind].sum()
        found = np.searchsorted(ids[first:behind], others[begin:end])
        alone[begin:end] = counts[first:behind][found]
    some = np.flatnonzero((together >= min_count) & (others != NONE))
    texts = ["", *known.texts] if known else [""]
    return pa.table(
        {
            "deprel_id": here[some] >> _BITS & _LOW,
            "role": pa.array(ROLES).take(pa.array(here[some] >> 2 * _BITS)),
            "preposition": pa.array(texts).take(pa.array(here[some] & _LOW)),
            "id": others[some],
            "o11": together[some].astype(float),
            "r1": with_node[some],
            "c1": alone[some],
            "n": every[some],
            "f": with_node[some],
        }
    )


def class_pairs(
    connection: Connection,
    selection: Selection,
    relations: Statement,
    column: str,
    tags: tuple[str, Statement] | None,
) -> pa.Table:
    """Return how often words of a class are governed by others, and govern them, by relation.

    Args:
        connection: the store.
        selection: the corpora.
        relations: the query for the numbers of the relations.
        column: column of `token` with the numbers of words.
        tags: column and numbers of the tags of the class; none for all words.
    """
    import pyarrow as pa

    search, sums = ArcSearch(connection, selection, relations), RowSums(4)
    for block in Tokens(connection).blocks():
        (modifiers, heads, deprels, _), items = search.find(block), block.column(column)
        of_class = items != NONE
        if tags is not None:
            of_class &= among(block.column(tags[0]), kept_numbers(connection, tags[1]))
            if tags[0] == "xpos_id":
                of_class &= block.column("upos_id") == NONE
        for role, (others, these) in enumerate(((heads, modifiers), (modifiers, heads))):
            some = of_class[these] & (items[others] != NONE)
            pairs = [items[these[some]], deprels[some], items[others[some]]]
            sums.add([np.full(len(pairs[0]), role), *pairs])
    columns, counts, _ = sums.all()
    rows = dict(zip(("role", "item", "deprel_id", "other"), map(pa.array, columns), strict=True))
    return pa.table({**rows, "role": pa.array(ROLES).take(rows["role"]), "count": counts})


def _every(connection: Connection, search: ArcSearch, numbers: CollocateNumbers, key: object | None) -> Longs:
    """Return the counts of all arcs; by a key they are kept of a store that nobody can change."""
    known = array_cache(connection)
    found = known.find(key) if key else None
    if found is None:
        found = _counted(search, numbers, ((block, None) for block in Tokens(connection).blocks()))
        if key:
            known.add(key, found)
    return found


def _around(hits: BlockHits) -> tuple[Block, Bools]:
    """Return a block with the hits, of few hits one of their sentences alone, and which tokens are hits."""
    block, at = hits.block, hits.first
    if len(at) * _FEW < block.size and not isinstance(block, Part):
        (part,) = block.some(block.units_of(at), block.size)
        block, at = part, part.find(block.numbers(at))
    are_hits = np.zeros(block.size, bool)
    are_hits[at] = True
    return block, are_hits


def _counted(
    search: ArcSearch, numbers: CollocateNumbers, blocks: Iterable[tuple[Block, Bools | None]]
) -> Longs:
    """Return how often collocates are in each role with a relation and a preposition.

    Args:
        search: for the arcs.
        numbers: what tokens are as collocates.
        blocks: each with its tokens that are the node, or none if all arcs count.

    Returns:
        Three rows: these three packed into a number, the collocate and the count; by both of them ascending.
    """
    sums = [RowSums(3) for _ in ROLES]
    for block, node in blocks:
        modifiers, heads, deprels, numbered = search.find(block)
        for role, these, others in zip(sums, (heads, modifiers), (modifiers, heads), strict=True):
            some = slice(None) if node is None else node[others]
            ids = numbers.find(block, these[some])
            role.add([deprels[some], numbered[some], ids])
    rows = []
    for number, role in enumerate(sums):
        (relations, prepositions, ids), counts, _ = role.all()
        kinds = number << 2 * _BITS | relations.astype(np.int64) << _BITS | prepositions - NONE
        rows.append(np.stack([kinds, ids, counts]))
    return np.concatenate(rows, axis=1)
