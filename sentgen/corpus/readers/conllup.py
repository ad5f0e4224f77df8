"""CoNLL-U Plus: the columns that `# global.columns = ID FORM ...` names, checked as those of CoNLL-U are.

Columns of CoNLL-U that are not there are `_`, and tokens are numbered; others go into MISC under their names,
such as `PARSEME:MWE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import conllu
from sentgen.corpus.readers._columns import split_columns
from sentgen.corpus.readers._named_columns import misc_of
from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import Rejection

_DECLARATION = "# global.columns ="


def read(lines: Iterable[str], *, path: str, limits: InputLimits = LIMITS) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a file; a broken one is a rejection and the next one is read."""
    lines = iter(lines)
    names = _declared(next(lines, ""))
    if not names or len(set(names)) < len(names):
        message = f"the first line is not {_DECLARATION} ID FORM ..., each name once"
        yield Rejection(path, 1, "", "columns", message)
        return
    yield from conllu.read_on(lines, path=path, limits=limits, first_line=2, split=partial(_split, names))


def _declared(line: str) -> list[str]:
    """Return the names of the columns, if the line has them."""
    names = line.removeprefix(_DECLARATION).split() if line.startswith(_DECLARATION) else []
    return [name.upper() if name.upper() in conllu.COLUMNS else name for name in names]


def _split(names: list[str], rows: list[str]) -> list[list[str]]:
    """Return the columns of CoNLL-U of rows with columns of these names."""
    found = dict(zip(names, split_columns(rows, len(names)), strict=True))
    nothing = [ABSENT] * len(rows)
    columns = [found.get(name, nothing) for name in conllu.COLUMNS]
    if conllu.COLUMNS[0] not in found:
        columns[0] = [str(number) for number in range(1, len(rows) + 1)]
    others = [(name, column) for name, column in found.items() if name not in conllu.COLUMNS]
    columns[-1] = list(misc_of([("", columns[-1]), *others]) or nothing)
    return columns


def fits(sample: list[str]) -> bool:
    """Say whether the first lines name columns, other than those of CoNLL-U, and have them."""
    names = _declared(sample[0])
    rows = [line for line in sample if not line.startswith("#")]
    # CoNLL-U may name its own ten.
    return (
        bool(names)
        and tuple(names) != conllu.COLUMNS
        and all(row.count("\t") == len(names) - 1 for row in rows[:1])
    )


READER = Reader(
    "conllup",
    "1",
    read,
    "CoNLL-U Plus: columns that the file names",
    (".conllup", ".cupt"),
    fits,
    trees=True,
    distinct=True,
)
