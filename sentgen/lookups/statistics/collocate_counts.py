"""Count collocates in arrays: in windows, and along the arcs of trees, direct or through a preposition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.case_folding import fold_sql
from sentgen.lookups.base.cache import SPELLINGS, ArrayCache
from sentgen.lookups.base.patterns import has_pos
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.base.tokens import NONE, Block, Part, Tokens, places
from sentgen.lookups.concordances.hits import Window
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.number_sets import RowSums, among, begins_of, unique
from sentgen.lookups.statistics import relations as definitions
from sentgen.lookups.statistics.listed_tokens import item_counts, values_by_id
from sentgen.schema.engine import arrow_table, connection_cache, raw

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.lookups.statistics.collocation_statements import RelationStatements, WindowStatements

_TAGS = "select t.upos_id from (select id as upos_id, id as xpos_id from tag) as t{conditions}"


class _CollocateIds:
    """Maps tokens to the ids of their words or lemmas, by which collocates are counted.

    Args:
        column: column of `token` with the ids, such as ``word_id``.
        pos: patterns of parts of speech, one of which a collocate has; none for all.

    Attributes:
        same: the id of the lower-cased spelling of each id where capital letters are ignored, else ``None``.
    """

    def __init__(
        self, connection: Connection, column: str, selection: Selection, pos: Sequence[str] = ()
    ) -> None:
        self.column, self.same = column, None
        if selection.ignore_case:
            # `NONE` is -1, so that as an index it finds this last element, itself.
            self.same = np.append(values_by_id(connection, Statement(SPELLINGS), keep=True), NONE)
        bindings = Bindings()
        conditions = has_pos("t", pos, bindings)
        query = Statement(_TAGS.format(conditions=where(conditions)), bindings)
        self._tags = _ids_of(connection, query) if conditions else None

    def find(self, block: Block, at: Longs) -> Longs:
        """Return the ids of tokens by their positions in a block, `NONE` for those that are no collocate."""
        ids: Longs = block.column(self.column)[at].astype(np.int64)
        if self._tags is not None:
            tagged = [among(block.column(name)[at], self._tags) for name in ("upos_id", "xpos_id")]
            ids = np.where(tagged[0] | tagged[1], ids, NONE)
        return ids if self.same is None else self.same[ids]

    def rows_of(self, block: Block, chosen: Longs) -> tuple[Longs, Longs]:
        """Return the ascending positions of chosen collocates in a block, and their indices in ``chosen``."""
        ids = chosen if self.same is None else np.flatnonzero(np.isin(self.same[:-1], chosen))
        at = np.flatnonzero(among(block.column(self.column), np.sort(ids)))
        order = np.argsort(chosen)
        words = self.find(block, at)
        rows = np.searchsorted(chosen[order], words)
        known = words != NONE
        return at[known], order[rows[known]]


def _ids_of(connection: Connection, query: Statement) -> Ints:
    """Return the ids that a query finds, ascending; cached for a store that is read-only."""

    def read() -> Ints:
        rows = arrow_table(raw(connection), query.text, query.used_parameters).column(0)
        return np.sort(rows.to_numpy().astype(np.int32))

    return ArrayCache.of_store(connection).get((_ids_of, query.with_values()), read)


#: If windows cover more than one token in so many, a pass over the whole block finds their tokens faster.
_FEW_WINDOWS = 16

_OF_POS = """\
select t.{column} as id, count(*) as count
from token as t{conditions}
group by t.{column}"""
_TOKENS = "select count(*) from token{corpora}"


def window_counts(connection: Connection, statements: WindowStatements, min_count: int) -> pa.Table:
    """Count the collocates in the windows of the node, as rows of ``pair``.

    Collocates that occur there less than ``min_count`` times are left out.
    """
    import pyarrow as pa

    node, selection = statements.node, statements.selection
    collocates = _CollocateIds(connection, statements.column, selection, statements.pos)
    counts, nodes = RowSums(1), 0
    for hits in node.find(connection):
        nodes += len(hits)
        at = _beside(hits, statements.window)
        if node.across and (chosen := hits.block.selected_tokens(selection)) is not None:
            at = at[chosen[at]]
        counts.add([collocates.find(hits.block, at)])
    (ids,), together, _ = counts.all()
    some = (ids != NONE) & (together >= min_count)
    frequencies = _frequencies(connection, collocates, selection, statements.pos)
    counts_of = {
        "o11": together[some],
        "r1": together.sum(),
        "c1": frequencies[ids[some]],
        "n": _token_count(connection, selection),
        "f": nodes,
    }
    columns = {name: np.broadcast_to(count, some.sum()).astype(float) for name, count in counts_of.items()}
    return pa.table({"id": ids[some], **columns})


def graph_counts(
    connection: Connection, statements: WindowStatements, chosen: Longs, min_count: int
) -> pa.Table:
    """Count how often collocates occur in the windows of each other, as rows of ``pair`` of a graph.

    Args:
        chosen: ids of the collocates, the strongest first; of two, the stronger is the node.
        min_count: omit pairs that occur together less often.
    """
    import pyarrow as pa

    selection, window, number = statements.selection, statements.window, len(chosen)
    collocates = _CollocateIds(connection, statements.column, selection, statements.pos)
    counts, sizes = np.zeros(number, np.int64), np.zeros(number, np.int64)
    together = np.zeros((number, number), np.int64)
    for block in Tokens(connection).blocks():
        at, rows = collocates.rows_of(block, chosen)
        if (selected := block.selected_tokens(selection)) is not None:
            at, rows = at[selected[at]], rows[selected[at]]
        counts += np.bincount(rows, minlength=number)
        begin, end = block.unit_ends(at)
        low, high = np.maximum(at - window.left, begin), np.minimum(at + window.right, end)
        # The window of a token covers those of ``at`` from index ``first`` to before index ``behind``.
        first, behind = np.searchsorted(at, low), np.searchsorted(at, high, "right")
        for node in range(number):
            own = np.flatnonzero(rows == node)
            sizes[node] += _covered(at[own], low[own], high[own])
            edges = np.bincount(first[own], minlength=len(at) + 1)
            edges -= np.bincount(behind[own], minlength=len(at) + 1)
            together[node] += np.bincount(rows[np.cumsum(edges[:-1]) > 0], minlength=number)
    nodes, others = np.nonzero(np.triu(together, 1) >= min_count)
    columns = {
        "o11": together[nodes, others],
        "r1": sizes[nodes],
        "c1": counts[others],
        "n": np.full(len(nodes), _token_count(connection, selection)),
        "f": counts[nodes],
    }
    places_of = {"node": nodes + 1, "other": others + 1}
    return pa.table(places_of | {name: column.astype(float) for name, column in columns.items()})


def _covered(at: Longs, low: Longs, high: Longs) -> int:
    """Return how many different tokens the windows of a word cover.

    An occurrence of the word itself counts only in the window of another one. ``at`` are the positions of the
    word, ascending; ``low`` and ``high`` are the ends of the window of each, which lie in its sentence.
    """
    before, after = np.append(NONE, high)[:-1], np.append(low, np.iinfo(np.int64).max)[1:]
    alone = (before < at) & (after > at)
    return int((high - np.maximum(low, before + 1) + 1).sum() - alone.sum())


def _beside(hits: BlockHits, window: Window) -> Longs:
    """Return the positions in the windows of hits, each once; a hit's tokens count in other hits' windows."""
    begin, end = hits.block.unit_ends(hits.first)
    low = np.concatenate([np.maximum(hits.first - window.left, begin), hits.last + 1])
    behind = np.concatenate([hits.first, np.minimum(hits.last + window.right, end) + 1])
    size = hits.block.size
    if int((behind - low).sum()) * _FEW_WINDOWS < size:
        return unique(places(low, behind - low))
    edges = np.bincount(low, minlength=size + 1) - np.bincount(behind, minlength=size + 1)
    positions: Longs = np.flatnonzero(np.cumsum(edges))
    return positions


def _frequencies(
    connection: Connection, collocates: _CollocateIds, selection: Selection, pos: Sequence[str]
) -> Longs:
    if conditions := has_pos("t", pos, bindings := Bindings()):
        conditions = [f"t.{collocates.column} is not null", *conditions, *selection.of_tokens(bindings, "t")]
        text = _OF_POS.format(column=collocates.column, conditions=where(conditions))
        counts = values_by_id(connection, Statement(text, bindings), keep=selection.condition is None)
    else:
        counts = item_counts(connection, collocates.column, selection)
    if collocates.same is None:
        return counts
    return np.bincount(collocates.same[: len(counts)], counts, len(collocates.same)).astype(np.int64)


def _token_count(connection: Connection, selection: Selection) -> int:
    bindings = Bindings()
    query = Statement(_TOKENS.format(corpora=where(selection.of_tokens(bindings))), bindings)
    known = connection_cache(connection) if selection.condition is None else {}
    key = (_token_count, query.with_values())
    if key not in known:
        known[key] = query.value(connection)
    return int(known[key])


#: If a block has less than one hit in so many tokens, only the sentences with hits are searched for arcs.
_FEW_HITS = 64
#: Ids of words and tags, and numbers of prepositions, fit into so many bits.
_BITS = 31
_LOW = (1 << _BITS) - 1
#: The ends of an arc.
_ROLES = ("head", "modifier")
_FORMS = f"""\
select id, {fold_sql("form")}
from (select unnest($words) as id)
join word using (id)"""


@dataclass(slots=True)
class _Prepositions:
    """Numbers prepositions; those that differ in capital letters only have the same number."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)

    def numbers(self, connection: Connection, phrases: Sequence[tuple[int, ...]]) -> Longs:
        unknown = sorted({phrase for phrase in phrases if phrase not in self._numbers})
        if unknown:
            words = sorted({word for phrase in unknown for word in phrase})
            forms: dict[int, str] = dict(raw(connection).execute(_FORMS, {"words": words}).fetchall())
            known = {text: number for number, text in enumerate(self.texts)}
            for phrase in unknown:
                text = " ".join(forms[word] for word in phrase)
                self._numbers[phrase] = known.setdefault(text, len(known))
            self.texts = [*known]
        return np.array([self._numbers[phrase] for phrase in phrases], np.int64)


class _ArcSearch:
    """Finds arcs, as an array of four rows: modifiers, heads, relations, and numbers of prepositions.

    The last row has `NONE` where an arc has no preposition. With ``prepositions``, links through one are
    arcs, too.
    """

    def __init__(
        self,
        connection: Connection,
        selection: Selection,
        relations: Statement,
        prepositions: _Prepositions | None = None,
    ) -> None:
        self._connection, self._selection = connection, selection
        self._relations, self._prepositions = _ids_of(connection, relations), prepositions

    def find(self, block: Block) -> Longs:
        """Return the arcs of a block whose modifiers are in the corpora."""
        modifiers = self._with_head(block, self._relations)
        alone = np.full(len(modifiers), NONE)
        parts = [
            np.stack([modifiers, _heads_of(block, modifiers), block.column("deprel_id")[modifiers], alone])
        ]
        if self._prepositions is not None:
            links = np.concatenate([self._below_nouns(block), self._above_nouns(block)], axis=1)
            parts.append(links[:, among(links[2], self._relations)])
        arcs = np.concatenate(parts, axis=1)
        chosen = block.selected_tokens(self._selection)
        return arcs if chosen is None else arcs[:, chosen[arcs[0]]]

    def _below_nouns(self, block: Block) -> Longs:
        """Return the links through prepositions that are modifiers of their nouns, as in UD."""
        relations = block.column("deprel_id")
        prepositions = self._with_head(block, self._tags(definitions.CASE))
        nouns = _heads_of(block, prepositions)
        some = among(relations[nouns], self._tags(definitions.NOUN)) & (block.column("head")[nouns] > 0)
        prepositions, nouns = prepositions[some], nouns[some]
        numbers = self._numbers(block, prepositions, self._further(block, prepositions))
        return np.stack([nouns, _heads_of(block, nouns), relations[nouns], numbers])

    def _above_nouns(self, block: Block) -> Longs:
        """Return the links through prepositions that are the heads of their nouns."""
        relations, complements = block.column("deprel_id"), self._tags(definitions.COMPLEMENT)
        nouns = self._with_head(block, np.sort(np.append(complements, self._tags(definitions.OBJECT))))
        above = _heads_of(block, nouns)
        some = (relations[above] != NONE) & (block.column("head")[above] > 0)
        if len(complements):
            is_preposition = among(block.column("upos_id")[above], self._tags(definitions.ADPOSITION))
            some &= is_preposition | ~among(relations[nouns], complements)
        some &= ~among(relations[above], self._tags(definitions.COORDINATED))
        nouns, above = nouns[some], above[some]
        numbers = self._numbers(block, above, {})
        return np.stack([nouns, _heads_of(block, above), relations[above], numbers])

    def _further(self, block: Block, prepositions: Longs) -> dict[int, list[int]]:
        """Return the ids of further words, as in *because of*, by the index of their preposition."""
        after = defaultdict[int, list[int]](list)
        further = self._with_head(block, self._tags(definitions.FIXED))
        words = block.column("word_id")[further].tolist()
        for word, first in zip(words, _heads_of(block, further).tolist(), strict=True):
            after[first].append(word)
        some = np.flatnonzero(np.isin(prepositions, np.array([*after], np.int64))).tolist()
        return {index: after[int(prepositions[index])] for index in some}

    def _numbers(self, block: Block, prepositions: Longs, further: Mapping[int, list[int]]) -> Longs:
        words = block.column("word_id")[prepositions]
        different = unique(words)
        phrases: list[tuple[int, ...]] = [(word,) for word in different.tolist()]
        phrases += [(int(words[index]), *more) for index, more in further.items()]
        assert self._prepositions is not None
        known = self._prepositions.numbers(self._connection, phrases)
        numbers = known[np.searchsorted(different, words)]
        numbers[[*further]] = known[len(different) :]
        return numbers

    def _with_head(self, block: Block, relations: Ints) -> Longs:
        """Return the tokens that are attached to a head by one of some relations."""
        related = among(block.column("deprel_id"), relations)
        positions: Longs = np.flatnonzero(related & (block.column("head") > 0))
        return positions

    def _tags(self, condition: str) -> Ints:
        return _ids_of(self._connection, Statement(definitions.tags(condition)))


def _heads_of(block: Block, at: Longs) -> Longs:
    """Return the positions of the heads of tokens, none of which is a root."""
    begins = block.sentences()[1]
    heads: Longs = begins[block.sentence_of(at)] + block.column("head")[at] - 1
    return heads


def arc_counts(
    connection: Connection, statements: RelationStatements, relations: Statement, min_count: int
) -> pa.Table:
    """Count the heads and the modifiers of a node, as rows of ``pair`` with at least ``min_count``."""
    import pyarrow as pa

    selection, column, known = statements.selection, statements.column, None
    if statements.prepositions:
        known = connection_cache(connection).setdefault(_Prepositions, _Prepositions())
    search = _ArcSearch(connection, selection, relations, known)
    collocates = _CollocateIds(connection, column, selection, statements.pos)
    key = None
    if selection.condition is None:
        of_words = (column, *statements.pos, selection.names, selection.ignore_case)
        key = (arc_counts, relations.with_values(), statements.prepositions, of_words)
    kinds, ids, counts = _all_arcs(connection, search, collocates, key)
    here, others, together = _count_arcs(search, collocates, map(_around, statements.node.find(connection)))
    begins = np.flatnonzero(begins_of([here]))
    ends = np.searchsorted(here, here[begins], "right")
    low, high = (np.searchsorted(kinds, here[begins], side) for side in ("left", "right"))
    with_node, every, alone = np.zeros((3, len(here)))
    for begin, end, first, behind in zip(*np.stack([begins, ends, low, high]).tolist(), strict=True):
        with_node[begin:end] = together[begin:end].sum()
        every[begin:end] = counts[first:behind].sum()
        rows = np.searchsorted(ids[first:behind], others[begin:end])
        alone[begin:end] = counts[first:behind][rows]
    some = np.flatnonzero((together >= min_count) & (others != NONE))
    texts = ["", *known.texts] if known else [""]
    return pa.table(
        {
            "deprel_id": here[some] >> _BITS & _LOW,
            "role": pa.array(_ROLES).take(pa.array(here[some] >> 2 * _BITS)),
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
    """Count how often words of a class are modifiers and heads of other words, by relation.

    Args:
        column: column of `token` with the ids of words.
        tags: column and ids of the tags of the class; none for all words.
    """
    import pyarrow as pa

    search, sums = _ArcSearch(connection, selection, relations), RowSums(4)
    for block in Tokens(connection).blocks():
        (modifiers, heads, deprels, _), items = search.find(block), block.column(column)
        of_class = items != NONE
        if tags is not None:
            of_class &= among(block.column(tags[0]), _ids_of(connection, tags[1]))
            if tags[0] == "xpos_id":
                of_class &= block.column("upos_id") == NONE
        for role, (others, these) in enumerate(((heads, modifiers), (modifiers, heads))):
            some = of_class[these] & (items[others] != NONE)
            pairs = [items[these[some]], deprels[some], items[others[some]]]
            sums.add([np.full(len(pairs[0]), role), *pairs])
    columns, counts, _ = sums.all()
    rows = dict(zip(("role", "item", "deprel_id", "other"), map(pa.array, columns), strict=True))
    return pa.table({**rows, "role": pa.array(_ROLES).take(rows["role"]), "count": counts})


def _all_arcs(
    connection: Connection, search: _ArcSearch, collocates: _CollocateIds, key: object | None
) -> Longs:
    """Return the counts of all arcs; with a key, they are cached for a store that is read-only."""
    known = ArrayCache.of_store(connection)
    counts = known.find(key) if key else None
    if counts is None:
        counts = _count_arcs(search, collocates, ((block, None) for block in Tokens(connection).blocks()))
        if key:
            known.add(key, counts)
    return counts


def _around(hits: BlockHits) -> tuple[Block, Bools]:
    """Return a block with the hits, and a mask of its tokens that are hits.

    If the hits are few, it is a part of the block, with their sentences alone.
    """
    block, at = hits.block, hits.first
    if len(at) * _FEW_HITS < block.size and not isinstance(block, Part):
        (part,) = block.some(block.units_of(at), block.size)
        block, at = part, part.find(block.numbers(at))
    are_hits = np.zeros(block.size, bool)
    are_hits[at] = True
    return block, are_hits


def _count_arcs(
    search: _ArcSearch, collocates: _CollocateIds, blocks: Iterable[tuple[Block, Bools | None]]
) -> Longs:
    """Count collocates by role, relation and preposition; of a block without a mask of the node, all.

    Returns:
        Three rows: role, relation and preposition packed into one number; the collocate; and the count. They
        are sorted by the first two, ascending.
    """
    sums = [RowSums(3) for _ in _ROLES]
    for block, node in blocks:
        modifiers, heads, deprels, numbered = search.find(block)
        for role, these, others in zip(sums, (heads, modifiers), (modifiers, heads), strict=True):
            some = slice(None) if node is None else node[others]
            ids = collocates.find(block, these[some])
            role.add([deprels[some], numbered[some], ids])
    rows = []
    for number, role in enumerate(sums):
        (relations, prepositions, ids), counts, _ = role.all()
        kinds = number << 2 * _BITS | relations.astype(np.int64) << _BITS | prepositions - NONE
        rows.append(np.stack([kinds, ids, counts]))
    return np.concatenate(rows, axis=1)
