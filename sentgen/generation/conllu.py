"""Generated sentences as CoNLL-U: what other tools, and `sentgen ingest`, read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.bag_reader import TagKind
from sentgen.generation.bags.problem import ROOT


def conllu_block(
    units: Sequence[Unit], heads: Sequence[int], *, tags: TagKind | None = None, sent_id: str = ""
) -> str:
    """Return one sentence in CoNLL-U, with the blank line that ends it; nothing for a sentence without words.

    The other words of a phrase hang on its head, and `NP=k` in the last column says that a word is in the
    k-th phrase. The trees have no relations: a word is the `root` or a `dep`. CoNLL-U allows one root; where
    several units hang on it, the first one has it and the others hang on that one as `parataxis`.

    Args:
        units: in the order of the sentence.
        heads: the place of the head of each unit, `ROOT` for the root.
        tags: the column that the tags belong to, UPOS or XPOS.
        sent_id: the name of the sentence.
    """
    if not units:
        return ""
    words = [(unit, i) for unit in units for i in range(len(unit.words))]
    phrases = accumulate(int(len(unit.words) > 1 and i == 0) for unit, i in words)
    rows = []
    for number, ((unit, i), (head, relation), phrase) in enumerate(
        zip(words, _edges(units, heads), phrases, strict=True), 1
    ):
        tag = unit.tags[i] if unit.tags else "_"
        upos, xpos = (tag if tags == kind else "_" for kind in ("upos", "xpos"))
        misc = f"NP={phrase}" if len(unit.words) > 1 else "_"
        rows.append(f"{number}\t{unit.words[i]}\t_\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t{misc}\n")
    named = f"# sent_id = {sent_id}\n" if sent_id else ""
    return f"{named}# text = {' '.join(unit.words[i] for unit, i in words)}\n{''.join(rows)}\n"


def _edges(units: Sequence[Unit], heads: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the number of the head of each word, 0 for the root, and the relation."""
    ends = accumulate(len(unit.words) for unit in units)
    tops = [end + 1 + unit.from_end for end, unit in zip(ends, units, strict=True)]
    root = heads.index(ROOT)
    for place, unit in enumerate(units):
        for other in range(-len(unit.words), 0):
            if other != unit.from_end:
                yield tops[place], "dep"
            elif heads[place] != ROOT:
                yield tops[heads[place]], "dep"
            else:
                yield (0, "root") if place == root else (tops[root], "parataxis")
