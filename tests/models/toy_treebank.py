"""Toy treebanks, and the dependency model counted in them as it is defined, pair by pair."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

from hypothesis import strategies as st

from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store

#: (form, tag, head) of each token.
Tree = list[tuple[str, str, int]]
Pair = tuple[str, str]
ROOT: Pair = ("<root>", "<root>")
LEFT, RIGHT = 0, 1
LEVELS = ("word-word", "tag-word", "word-tag", "tag-tag")
TREES: list[Tree] = [
    [("a", "X", 2), ("b", "Y", 0)],
    [("a", "X", 0), ("b", "Y", 1), ("b", "Y", 1), ("c", "X", 3)],
    [("c", "X", 2), ("c", "X", 3), ("a", "X", 0), ("b", "Z", 3)],
]


def write(trees: list[Tree], path: Path, *, upos: bool = True, xpos: bool = True) -> Path:
    """Write trees as CoNLL-U, with one kind of tags or both."""
    rows = []
    for tree in trees:
        for i, (form, tag, head) in enumerate(tree, 1):
            tags = f"{tag if upos else '_'}\t{tag if xpos else '_'}"
            rows.append(f"{i}\t{form}\t{form}\t{tags}\t_\t{head}\t{'dep' if head else 'root'}\t_\t_")
        rows.append("")
    path.write_text("\n".join(rows) + "\n")
    return path


def add(store: Store, corpus: str, trees: list[Tree], *, tags: str = "xpos", **columns: bool) -> None:
    """Ingest trees into a corpus."""
    path = write(trees, store.path.with_suffix(".conllu"), **columns)
    ingest(store, [str(path)], Settings(corpus, order=2, tags=tags, function_heads=False))


#: Stores by their trees: to copy one takes a tenth of the time.
_STORES: dict[str, Path] = {}


def store_of(trees: list[Tree], folder: Path) -> Store:
    """Make a store of one corpus, number 1."""
    path = folder / "toy.duckdb"
    if (made := repr(trees)) not in _STORES:
        with Store(path, create=True, threads=1) as store:
            add(store, "toy", trees)
        _STORES[made] = Path(shutil.copyfile(path, folder / "toy-made.duckdb"))
    shutil.copyfile(_STORES[made], path)
    return Store(path, threads=1)


class Oracle:
    """The definitions of Wan et al. 2007, section 3, over trees."""

    def __init__(self, trees: list[Tree]) -> None:
        self.trees = trees

    def rel(self, head: Pair, modifier: Pair, side: int, distance: int, level: str) -> int:
        return sum(
            matches((tree[h - 1][:2] if h else ROOT), head, level.split("-")[0])
            and matches((form, tag), modifier, level.split("-")[1])
            and (i > h) == (side == RIGHT)
            and min(abs(i - h), 3) == distance
            for tree in self.trees
            for i, (form, tag, h) in enumerate(tree, 1)
        )

    def co(self, head: Pair, modifier: Pair, level: str) -> int:
        return sum(
            i != j
            and matches(tokens[i], head, level.split("-")[0])
            and matches(tokens[j], modifier, level.split("-")[1])
            for tree in self.trees
            for tokens in [[ROOT, *(token[:2] for token in tree)]]
            for i, j in product(range(len(tokens)), range(1, len(tokens)))
        )

    def prob(self, head: Pair, modifier: Pair, side: int, distance: int) -> float:
        rel = {level: self.rel(head, modifier, side, distance, level) for level in LEVELS}
        co = {level: self.co(head, modifier, level) for level in LEVELS}
        c0, c1, c2 = co["word-word"], co["tag-word"] + co["word-tag"], co["tag-tag"]
        p = rel["word-word"] / c0 if c0 else 0
        p1 = (rel["tag-word"] + rel["word-tag"]) / c1 if c1 else 0
        p2 = rel["tag-tag"] / c2 if c2 else 0
        l1, l2 = c0 / (c0 + 1), c1 / (c1 + 1)
        return l1 * p + (1 - l1) * (l2 * p1 + (1 - l2) * p2)

    def argument(self, head: Pair, number: int, side: int) -> float:
        mine, of_tag = self.arguments(head, side, "word"), self.arguments(head, side, "tag")
        weight = sum(mine) / (sum(mine) + 1)
        p, backoff = (c[number] / sum(c) if sum(c) else 0 for c in (mine, of_tag))
        return weight * p + (1 - weight) * backoff

    def arguments(self, head: Pair, side: int, level: str) -> list[int]:
        found = [0] * 8
        for tree in self.trees:
            for i, token in enumerate([ROOT, *(token[:2] for token in tree)]):
                if matches(token, head, level):
                    taken = [j for j, t in enumerate(tree, 1) if t[2] == i and (j > i) == (side == RIGHT)]
                    found[min(len(taken), 7)] += 1
        return found


def matches(token: Pair | tuple[str, ...], wanted: Pair, level: str) -> bool:
    """Whether a token is the wanted word, or has its tag."""
    return tuple(token) == wanted if level == "word" else token[1] == wanted[1]


@st.composite
def any_tree(draw: st.DrawFn) -> Tree:
    """Any tree of up to five tokens: a random order, each token below an earlier one."""
    size = draw(st.integers(1, 5))
    order = draw(st.permutations(range(1, size + 1)))
    head = {order[0]: 0} | {order[i]: order[draw(st.integers(0, i - 1))] for i in range(1, size)}
    pairs = st.tuples(st.sampled_from("abc"), st.sampled_from(["X", "Y", "Z"]))
    return [(*draw(pairs), head[i]) for i in range(1, size + 1)]
