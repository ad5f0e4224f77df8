"""CoNLL-U, the format of Universal Dependencies, read strictly.

Nothing of the file is lost. `# sent_id`, `# text` and `# newdoc` set the fields of the sentence of these
names, other comments are metadata. A column that is `_` throughout a sentence is ``None``.
A `# newdoc` without an id begins the document `PATH#LINE`.

In CoNLL-U Plus, the first line names the columns: `# global.columns = ID FORM ...`. Columns of CoNLL-U that
the file lacks are `_`, and without ID tokens are numbered; other columns go into MISC, as `PARSEME:MWE=1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from operator import add

from sentgen.corpus.comments import letters_of
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import (
    IDS,
    FormatError,
    blocks,
    fill_columns,
    finish_sentence,
    misc_of,
    optional,
    split_columns,
)
from sentgen.corpus.sentence import ABSENT, EmptyNode, Sentence
from sentgen.corpus.validation import LIMITS
from sentgen.errors import Rejection

_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)\Z", re.ASCII)
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)\Z", re.ASCII)
#: A block is cut after so many lines a token (range, token, empty nodes) and so many comments.
_ROWS_PER_TOKEN = 3
_COMMENTS = 10_000
COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
NO_SPACE = "SpaceAfter=No"
#: Values of the line of a range in the columns from LEMMA to DEPS, as a rule.
_NOTHING = ["_"] * 7
#: Values of MISC of nearly all words, which say only whether a space follows.
_SPACES = frozenset(("_", NO_SPACE))


def _columns(rows: list[str]) -> list[list[str]]:
    return split_columns(rows, len(COLUMNS))


def read(
    lines: Iterable[str],
    *,
    path: str,
    first_line: int = 1,
    document: str | None = None,
    split: Callable[[list[str]], list[list[str]]] = _columns,
) -> Generator[Sentence | Rejection, None, str | None]:
    """Yield the sentences of a CoNLL-U file; a broken sentence becomes a rejection, and reading goes on.

    ``first_line`` is the number of the first of the lines in the file; ``document`` is the name of a document
    that has no sentence yet, and the generator returns the next one. ``split`` turns the rows of a sentence
    into its ten columns.
    """
    most = most_lines()
    for start, rows in blocks(lines, most, first_line):
        first = 0
        for row in rows:
            if row[0] != "#":
                break
            first += 1
        sentence = Sentence([], line=start)
        document = read_comments(rows[:first], sentence, path) or document
        if len(rows) > most:
            message = f"more than {most} lines"
            yield Rejection(path, start, sentence.sent_id, "sentence-length", message, document)
            continue
        del rows[:first]
        fill = partial(_fill, rows=rows, split=split)
        result = finish_sentence(sentence, path, fill, partial(add, start + first))
        if isinstance(result, Rejection):
            yield replace(result, document=document)
            continue
        # A rejected sentence leaves the name of its document to the next one.
        result.document, document = document, None
        yield result
    return document


def most_lines() -> int:
    """Return the largest number of lines of a sentence, comments included."""
    return _ROWS_PER_TOKEN * LIMITS.sentence_tokens + _COMMENTS


def read_comments(comments: list[str], sentence: Sentence, path: str) -> str | None:
    """Store the comments in the sentence; return the name of the document that they begin, else ``None``."""
    document = None
    for comment in comments:
        text = comment[1:].removeprefix(" ")
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if key == "sent_id" and equals:
            sentence.sent_id = value
        elif key == "text" and equals:
            sentence.text = value
        elif key == "newdoc" or key == "newdoc id":
            document = value or f"{path}#{sentence.line}"
        else:
            sentence.metadata.append(text)
    sentence.comments, sentence.verbatim = letters_of(comments, sentence, document)
    return document


def _fill(sentence: Sentence, rows: list[str], split: Callable[[list[str]], list[list[str]]]) -> None:
    if not rows:
        return
    columns = split(rows)
    ids, spaces = columns[0], columns[9]
    # Most sentences have words only: one comparison of lists instead of a look at each row.
    if ids != IDS[: len(ids)]:
        words, spaces = select_words(columns, sentence)
        columns = [[column[row] for row in words] for column in columns]
        if not words:
            return
    fill_columns(sentence, columns)
    sentence.deps = _tuple_or_none(columns[8])
    sentence.space_after = spaces_after(spaces)
    sentence.misc = _misc(columns[9], sentence)


def spaces_after(misc: list[str]) -> list[bool]:
    """Return for each value of MISC whether a space follows the word."""
    if _SPACES.issuperset(misc):
        return [value == "_" for value in misc]
    return [value == "_" or f"|{NO_SPACE}|" not in f"|{value}|" for value in misc]


def _tuple_or_none(column: list[str]) -> tuple[str, ...] | None:
    return None if optional(column) is None else tuple(column)


def _misc(column: list[str], sentence: Sentence) -> tuple[str, ...] | None:
    """Return the column MISC without its notes on spaces, or ``None`` if nothing remains."""
    if not sentence.multiwords:
        if _SPACES.issuperset(column):
            return None
        return tuple(["_" if value == NO_SPACE else value for value in column])
    # The line of a range notes the space after it; a note at one of its words is kept as it is.
    within = {word for first, last, _ in sentence.multiwords for word in range(first, last + 1)}
    return _tuple_or_none(
        ["_" if value == NO_SPACE and word not in within else value for word, value in enumerate(column, 1)]
    )


def select_words(columns: list[list[str]], sentence: Sentence) -> tuple[list[int], list[str]]:
    """Check the numbers of words, ranges and empty nodes; return the indices of the rows of words, and MISC.

    The space after a range is noted at the range: its last word gets the note, and no space follows the
    words before the last.
    """
    ids, misc = columns[0], list(columns[9])
    words: list[int] = []
    range_end, range_row, minor, ahead = 0, 0, 0, False
    for row, name in enumerate(ids):
        if name == str(len(words) + 1):
            words.append(row)
            minor, ahead = 0, False
            if len(words) <= range_end:
                misc[row] = columns[9][range_row] if len(words) == range_end else "SpaceAfter=No"
        elif match := _EMPTY_NODE.match(name):
            minor += 1
            # Compared as strings, so that no number is too long.
            if match.groups() != (str(len(words)), str(minor)):
                raise FormatError(
                    "id-sequence", f"empty node {name[:20]} where {len(words)}.{minor} belongs", row
                )
            node = EmptyNode(len(words), minor, [column[row] for column in columns[1:]], ahead)
            sentence.empty_nodes += (node,)
        elif match := _RANGE.match(name):
            begin, end = len(words) + 1, match[2]
            if match[1] != str(begin) or begin <= range_end or len(end) > 6 or int(end) < begin:
                raise FormatError("id-range", f"range {name[:20]} does not cover the following tokens", row)
            range_end, range_row, ahead = int(end), row, True
            sentence.multiwords.append((begin, range_end, columns[1][row]))
            rest = [column[row] for column in columns[2:]]
            if rest[-1] not in _SPACES or rest[:-1] != _NOTHING:
                sentence.ranges += ((begin, rest),)
        elif name.startswith("#"):
            raise FormatError("comment", "a comment after the first token of its sentence", row)
        else:
            raise FormatError(
                "id-sequence", f"token number {name[:20]!r} where {len(words) + 1} belongs", row
            )
    if range_end > len(words):
        raise FormatError("id-range", f"range {ids[range_row]} ends after the sentence", range_row)
    return words, [misc[row] for row in words]


def _fits(sample: list[str]) -> bool:
    rows = [line for line in sample if not line.startswith("#")]
    if not rows or rows[0].count("\t") != 9 or not re.match(r"[01]([-.]\d+)?\t", rows[0]):
        return False
    # CoNLL-X has ten columns, too, as a rule with the same tag in UPOS and XPOS.
    tagged_twice = any(row.split("\t")[3] != row.split("\t")[4] for row in rows if row.count("\t") == 9)
    return sample[0].startswith("#") or not rows[0].startswith("1\t") or tagged_twice


READER = Reader(
    "conllu", "2", read, "CoNLL-U (Universal Dependencies)", (".conllu",), _fits, trees=True, distinct=True
)


_DECLARATION = "# global.columns ="


def _read_plus(lines: Iterable[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a CoNLL-U Plus file; a broken one becomes a rejection, and reading goes on."""
    lines = iter(lines)
    names = _declared_columns(next(lines, ""))
    if not names or len(set(names)) < len(names):
        message = f"the first line is not {_DECLARATION} ID FORM ..., each name once"
        yield Rejection(path, 1, "", "columns", message)
        return
    yield from read(lines, path=path, first_line=2, split=partial(_split_plus, names))


def _declared_columns(line: str) -> list[str]:
    """Return the names of the columns that the line declares, none if it is no declaration."""
    names = line.removeprefix(_DECLARATION).split() if line.startswith(_DECLARATION) else []
    return [name.upper() if name.upper() in COLUMNS else name for name in names]


def _split_plus(names: list[str], rows: list[str]) -> list[list[str]]:
    """Return the ten columns of CoNLL-U, from rows whose columns have these names."""
    by_name = dict(zip(names, split_columns(rows, len(names)), strict=True))
    nothing = [ABSENT] * len(rows)
    columns = [by_name.get(name, nothing) for name in COLUMNS]
    if COLUMNS[0] not in by_name:
        columns[0] = [str(number) for number in range(1, len(rows) + 1)]
    others = [(name, column) for name, column in by_name.items() if name not in COLUMNS]
    columns[-1] = list(misc_of([("", columns[-1]), *others]) or nothing)
    return columns


def _fits_plus(sample: list[str]) -> bool:
    """Return whether the first line names columns, not just CoNLL-U's, and the first row has as many."""
    names = _declared_columns(sample[0])
    rows = [line for line in sample if not line.startswith("#")]
    # A file of CoNLL-U may name its ten columns, too.
    return (
        bool(names) and tuple(names) != COLUMNS and all(row.count("\t") == len(names) - 1 for row in rows[:1])
    )


PLUS = Reader(
    "conllup",
    "1",
    _read_plus,
    "CoNLL-U Plus: columns that the file names",
    (".conllup", ".cupt"),
    _fits_plus,
    trees=True,
    distinct=True,
)


_LINE_ENDS = str.maketrans("\t\n\r", "   ")


def conllu_text(sentence: Sentence) -> str:
    """Return a sentence in CoNLL-U, with a blank line at its end.

    Columns that the sentence does not have are `_`. Base noun phrases are left out: CoNLL-U has no column
    for them.
    """
    named = (("newdoc id", sentence.document), ("sent_id", sentence.sent_id), ("text", sentence.text))
    comments = [*(f"{key} = {value}" for key, value in named if value), *sentence.metadata]
    lines = [f"# {comment.translate(_LINE_ENDS)}" for comment in comments]
    return "\n".join([*lines, *_token_lines(sentence), "\n"])


def _token_lines(sentence: Sentence) -> list[str]:
    size = len(sentence.forms)
    optional_columns = (sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)
    heads = None if sentence.heads is None else [str(head) for head in sentence.heads]
    columns = [
        ["_"] * size if values is None else [value or "_" for value in values]
        for values in (*optional_columns, heads, sentence.deprels)
    ]
    spaces = sentence.space_after or [True] * size
    ranges = {first: (last, form) for first, last, form in sentence.multiwords}
    rows = []
    end = 0
    for i, (form, *values) in enumerate(zip(sentence.forms, *columns, strict=True), 1):
        if i in ranges:
            end, surface = ranges[i]
            rows.append(f"{i}-{end}\t{surface}" + "\t_" * 7 + f"\t{_space_note(spaces[end - 1])}")
        # The space after a range is noted at the range.
        rows.append("\t".join((str(i), form, *values, "_", "_" if i <= end else _space_note(spaces[i - 1]))))
    return rows


def _space_note(space_after: bool) -> str:
    return "_" if space_after else "SpaceAfter=No"
