"""The vectors of a store: find, list and remove them, load them, and ask which words are near others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, delete, select

from sentgen.arrays import Longs
from sentgen.case_folding import fold
from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.base.question import LimitOption, MinCountOption, OffsetOption, RowSortOption, in_pages
from sentgen.lookups.base.statement import Answer, Bindings, Statement, limit_clause, limited_answer
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow
from sentgen.schema.tables.models import vector_space, word_vector

Singles = npt.NDArray[np.float32]
_COLUMNS = (
    *("name", "corpora", "contexts", "window", "dimensions", "min_count"),
    *("smoothing", "shift", "power", "seed", "tokens", "words", "cells", "created_at"),
)
VectorsOption = Annotated[
    str | None,
    Option(
        "Name of the vectors; those that were built last if not given.",
        metavar="NAME",
        api={"max_length": 200},
    ),
]
#: Of a phrase, the mean of the vectors of its words; a sum has the same direction.
_NEAR = """\
with phrase as (
  select v.components
  from (values {words}) w (form)
  join word_vector v on v.form = w.form and v.space_id = $space
),
size as (
  select sqrt(sum(list_inner_product(a.components, b.components)::double)) as length
  from phrase a
  cross join phrase b
)
select v.form as word, v.count,
  round(sum(list_inner_product(v.components, p.components)::double) / any_value(s.length), 4) as cosine
from word_vector v
cross join phrase p
cross join size s
where v.space_id = $space
  and v.count >= $min_count
  and v.form not in ({known})
group by v.form, v.count, v.rank
order by sum(list_inner_product(v.components, p.components)::double) desc, v.rank{limit}"""
_KNOWN = "select form from word_vector where space_id = $space and form in ({known})"


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """A named set of vectors as it was built; columns of `vector_space`, ``corpora`` by their names."""

    id: int
    name: str
    corpora: tuple[str, ...]
    contexts: str
    window: int
    dimensions: int
    min_count: int
    smoothing: float
    shift: float
    power: float
    seed: int
    tokens: int
    words: int
    cells: int
    created_at: datetime

    @classmethod
    def find(cls, connection: Connection, name: str | None) -> SpaceInfo:
        """Return the vectors of a name, or those that were built last.

        Raises:
            NotFoundError: there are no such vectors.
        """
        spaces = _list_spaces(connection)
        if name is None and spaces:
            return max(spaces, key=lambda space: space.id)
        for vectors in spaces:
            if vectors.name == name:
                return vectors
        there = ", ".join(space.name for space in spaces)
        advice = (
            f"there are: {there}" if there else "build some with: sentgen vectors build NAME --corpus CORPUS"
        )
        raise NotFoundError(f"no vectors{'' if name is None else f' {name!r}'}; {advice}")


def _list_spaces(connection: Connection) -> list[SpaceInfo]:
    """Return all vectors, by name."""
    rows = connection.execute(select(vector_space).order_by(vector_space.c.name)).mappings()
    spaces = []
    for row in map(dict, rows):
        # "window" means something to SQL, so that it is no name for a column.
        window, corpora = row.pop("reach"), tuple(row.pop("corpora").splitlines())
        spaces.append(SpaceInfo(**row, window=window, corpora=corpora))
    return spaces


def overview(store: Store, name: str | None = None) -> Rows:
    """Return all vectors, or those of a name, with their settings.

    Raises:
        NotFoundError: there are no vectors of that name.
    """
    with store.connect() as connection:
        spaces = _list_spaces(connection) if name is None else [SpaceInfo.find(connection, name)]
    rows = [
        tuple(", ".join(space.corpora) if name == "corpora" else getattr(space, name) for name in _COLUMNS)
        for space in spaces
    ]
    return Rows(_COLUMNS, rows)


def remove(store: Store, name: str) -> SpaceInfo:
    """Remove vectors, and return what they were.

    Raises:
        NotFoundError: there are no vectors of that name.
    """
    with store.begin() as connection:
        space = SpaceInfo.find(connection, name)
        connection.execute(delete(word_vector).where(word_vector.c.space_id == space.id))
        connection.execute(delete(vector_space).where(vector_space.c.id == space.id))
    return space


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Vectors of length 1, and the row of each word in lower case."""

    name: str
    rows: Mapping[str, int]
    vectors: Singles

    def numbers(self, words: Iterable[str]) -> Longs:
        """Return the row of each word, -1 for one without a vector."""
        return np.array([self.rows.get(fold(word), -1) for word in words], np.int64)

    @classmethod
    def load(cls, store: Store, name: str) -> WordVectors:
        """Return the vectors of a name.

        Raises:
            NotFoundError: there are no such vectors.
        """
        with store.connect() as connection:
            space = SpaceInfo.find(connection, name)
            query = "select form, components from word_vector where space_id = ? order by rank"
            table = fetch_arrow(connection, query, [space.id])
        numbers = table["components"].combine_chunks().flatten().to_numpy()
        rows = {form: row for row, form in enumerate(table["form"].to_pylist())}
        return cls(space.name, rows, numbers.reshape(len(rows), space.dimensions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Words near a word or a phrase."""

    word: Annotated[
        str, Option("A word, or the words of a phrase: `prime minister`.", argument=True, metavar="WORD")
    ]
    vectors: VectorsOption = None
    min_count: MinCountOption = 1
    sort: RowSortOption = ""
    offset: OffsetOption = 0
    limit: LimitOption = 20

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the words with their cosines, the nearest first; of equals, the more frequent first.

        Raises:
            InputError: no word is given.
            NotFoundError: there are no such vectors, or a word has none.
        """
        words = fold(self.word).split()
        if not words:
            raise InputError("no word is given; name one, or a phrase in quotes")
        space = SpaceInfo.find(connection, self.vectors)
        bindings = Bindings(space=space.id, min_count=self.min_count)
        # A word that comes twice counts twice.
        names = [bindings.bind("word", word) for word in words]
        listed = {"words": ", ".join(f"({name})" for name in names), "known": ", ".join(names)}
        known = set(Statement(_KNOWN.format(**listed), bindings).run(connection)["form"].to_pylist())
        if missing := [word for word in words if word not in known]:
            raise NotFoundError(
                f"no vector of {', '.join(map(repr, missing))} in {space.name!r}, whose words occur"
                f" {quantity(space.min_count, 'time')} or more; take another word, or more text"
            )
        text = _NEAR.format(limit=limit_clause(self.limit, bindings), **listed)
        return limited_answer(connection, Statement(text, bindings), self.limit, f"word near {self.word!r}")
