"""Where words occur: the tokens of some, which the store has sorted by word."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.lookups.base.array_cache import kept_arrays
from sentgen.schema.engine import arrow_table, raw

#: Occurrences that are held at once: some ten megabytes.
_MOST = 1 << 22

_TOKENS = """\
select token
from occurrence
where attribute = '{attribute}' and word_id in ({words})
limit {most}"""


def occurrences(connection: Connection, attribute: str, words: Ints | Longs) -> Longs | None:
    """Return the tokens that have some words, ascending; none if they are too many.

    Args:
        connection: the store.
        attribute: as the table has it: whether words are forms or lemmas.
        words: their numbers.
    """
    known, key = kept_arrays(connection), (occurrences, attribute, tuple(words.tolist()))
    found: Longs | None = known.find(key)
    if found is None:
        # As many values in a statement take longer than rows that are joined.
        asked = str(words[0]) if len(words) == 1 else "select unnest($words)"
        text = _TOKENS.format(attribute=attribute, words=asked, most=_MOST + 1)
        parameters = {} if len(words) == 1 else {"words": words.tolist()}
        rows: Longs = arrow_table(raw(connection), text, parameters).column(0).to_numpy()
        if len(rows) > _MOST:
            return None
        found = known.keep(key, np.sort(rows, kind="stable"))
    return found
