"""Write sentences as CoNLL-U: what `readers.conllu` reads and other tools train on."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.corpus.sentence import Sentence

_LINE_ENDS = str.maketrans("\t\n\r", "   ")


def conllu(sentence: Sentence) -> str:
    """Return a sentence in CoNLL-U, with the blank line that ends it.

    Columns that the sentence does not have are `_`; base noun phrases, which CoNLL-U has no place for, are
    left out.
    """
    return "\n".join([*_comments(sentence), *_rows(sentence), "\n"])


def _comments(sentence: Sentence) -> list[str]:
    named = (("newdoc id", sentence.document), ("sent_id", sentence.sent_id), ("text", sentence.text))
    lines = [f"{key} = {value}" for key, value in named if value]
    return [f"# {line.translate(_LINE_ENDS)}" for line in (*lines, *sentence.metadata)]


def _rows(sentence: Sentence) -> list[str]:
    size = len(sentence.forms)
    optional = (sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)
    heads = None if sentence.heads is None else [str(head) for head in sentence.heads]
    columns = [_column(values, size) for values in (*optional, heads, sentence.deprels)]
    spaces = sentence.space_after or [True] * size
    ranges = {first: (last, form) for first, last, form in sentence.multiwords}
    rows = []
    end = 0
    for i, (form, *values) in enumerate(zip(sentence.forms, *columns, strict=True), 1):
        if i in ranges:
            end, surface = ranges[i]
            rows.append(f"{i}-{end}\t{surface}" + "\t_" * 7 + f"\t{_misc(spaces[end - 1])}")
        # The space after a range stands at the range.
        rows.append("\t".join((str(i), form, *values, "_", "_" if i <= end else _misc(spaces[i - 1]))))
    return rows


def _column(values: Sequence[str] | None, size: int) -> Sequence[str]:
    return ["_"] * size if values is None else [value or "_" for value in values]


def _misc(space_after: bool) -> str:
    return "_" if space_after else "SpaceAfter=No"
