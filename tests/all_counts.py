"""A small treebank on disk, and a plain way to look at all counts of a store."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

CONLLU = """\
# newdoc id = d1
# sent_id = 1
# text = The dog chased a cat.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_
3\tchased\tchase\tVERB\tVBD\t_\t0\troot\t_\t_
4\ta\ta\tDET\tDT\t_\t5\tdet\t_\t_
5\tcat\tcat\tNOUN\tNN\tNumber=Sing\t3\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newdoc id = d2
# sent_id = 2
# note = kept
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tchase\tchase\tVERB\tVB\t_\t0\troot\t_\t_
4\tthe\tthe\tDET\tDT\t_\t5\tdet\t_\t_
5\tdog\tdog\tNOUN\tNN\t_\t3\tobj\t_\t_

"""


COUNT_VIEWS = (
    "v_ngrams_1",
    "v_ngrams_2",
    "v_ngrams_3",
    "v_ngrams_4",
    "v_ngrams_5",
    "v_dependencies",
    "v_arguments",
    "v_cooccurrences",
    "v_frequencies",
)


def all_counts(store: Store) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return every count of the store in strings, so that stores with other ids compare equal."""
    found: dict[str, Counter[tuple[Any, ...]]] = {}
    with store.connect() as connection:
        for view in COUNT_VIEWS:
            rows = fetch_arrow(connection, f"select * from {view}").to_pylist()
            found[view] = Counter(
                {tuple(v for k, v in row.items() if k != "count"): row["count"] for row in rows}
            )
            assert len(found[view]) == len(rows), f"{view} repeats a row"
    return found
