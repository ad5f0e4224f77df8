"""The links of a pair as the first stage of a tuned aligner left them, and features of each for a second one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.lexicon import Clues
from sentgen.alignment.phrase_hmm.tuning import TuningExample
from sentgen.alignment.phrase_hmm.weights import GROUP_OF, LINK_TEMPLATES, RELATIONS
from sentgen.alignment.words.word_classes import CLASSES, sentence_starts, word_class
from sentgen.arrays import Bools, Floats, Longs
from sentgen.corpus.parsers import Parser

#: Links of a smaller posterior are not looked at.
LEAST = 1e-3
#: Where the bins of posteriors end, finely and coarsely.
FINE = (0.02, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92, 0.98)
COARSE = (0.05, 0.2, 0.4, 0.7)
TAGS = (
    "NOUN",
    "PROPN",
    "VERB",
    "AUX",
    "ADJ",
    "ADV",
    "ADP",
    "DET",
    "PRON",
    "NUM",
    "CCONJ",
    "SCONJ",
    "PART",
    "PUNCT",
)
#: Words without anything in common, in `RELATIONS`.
NOTHING = RELATIONS.index("other content words")
OF_RELATION = np.array(GROUP_OF)


@dataclass(frozen=True, slots=True)
class Tree:
    """Universal tags, heads (-1 for none) and relations of a text."""

    tags: Longs
    heads: Longs
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the first stage says of a pair that it was not tuned on."""

    example: TuningExample
    forward: Floats
    reverse: Floats
    clues: Clues
    stops: tuple[Bools, Bools] | None

    @property
    def links(self) -> Floats:
        """The posteriors of both directions as one, (m, n)."""
        return np.sqrt(self.forward * self.reverse)


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of each link: the kind it belongs to, how many values it has, and the values, (m, n)."""

    kind: str
    size: int
    values: Longs


@dataclass(frozen=True, slots=True)
class Cells:
    """The links of a pair that are looked at: where they are, their log odds, and features (cells, features)."""

    at: tuple[Longs, Longs]
    odds: Floats
    features: Longs
    kinds: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


def parsed(parser: Parser, words: Sequence[str], starts: Sequence[int]) -> Tree:
    """Return the trees of the sentences of a text as one."""
    begins = sentence_starts(words, starts).tolist() if words else []
    sentences = [list(words[a:b]) for a, b in zip(begins, [*begins[1:], len(words)], strict=True)]
    tags, heads, relations = list[int](), list[int](), list[str]()
    for first, tree in zip(begins, parser.parse_tokenized(sentences), strict=True):
        assert tree.upos
        assert tree.heads
        assert tree.deprels
        tags += [TAGS.index(tag) if tag in TAGS else len(TAGS) for tag in tree.upos]
        heads += [first + head - 1 if head else -1 for head in tree.heads]
        relations += [relation.partition(":")[0] for relation in tree.deprels]
    return Tree(np.array(tags, np.int64), np.array(heads, np.int64), tuple(relations))


def trees_of(parser: Parser, pair: Pair) -> tuple[Tree, Tree]:
    """Parse the abstract and the document of a pair."""
    abstract = parsed(parser, pair.abstract, pair.abstract_starts)
    return abstract, parsed(parser, pair.document, pair.document_starts)


def moved(links: Floats, rows: int, columns: int) -> Floats:
    """Return at each cell the value of the one so many rows and columns on, 0 outside."""
    m, n = links.shape
    padded = np.pad(links, 2)
    return padded[2 + rows : 2 + rows + m, 2 + columns : 2 + columns + n]


def coarse(links: Floats) -> Longs:
    """Return the numbers of coarse bins."""
    found: Longs = np.digitize(links, COARSE)
    return found


def best_of(links: Floats, *steps: tuple[int, int]) -> Floats:
    """Return the best of the cells so many rows and columns on."""
    found: Floats = np.maximum.reduce([moved(links, *step) for step in steps])
    return found


def rivals(links: Floats) -> Floats:
    """Return the largest of the other values of each row, (m, n)."""
    ordered = np.sort(np.pad(links, ((0, 0), (1, 0))), axis=1)
    return np.where(links >= ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])


def agreement(seen: Seen) -> Iterator[Feature]:
    """Yield how the directions, the cells around and the rivals agree, by what the words have in common."""
    links, group = seen.links, OF_RELATION[seen.clues.links[0]]
    m, n = links.shape
    pair = 4 * np.digitize(links.max(axis=1).mean(), (0.5, 0.65, 0.8, 0.9)) + np.digitize(
        m / n, (0.4, 0.7, 1.1)
    )
    for kind, size, values in (
        ("directions", 10, np.digitize(seen.forward, FINE)),
        ("directions", 10, np.digitize(seen.reverse, FINE)),
        ("directions", 25, 5 * coarse(seen.forward) + coarse(seen.reverse)),
        ("neighbors", 25, 5 * coarse(moved(links, -1, -1)) + coarse(moved(links, 1, 1))),
        ("neighbors", 5, coarse(best_of(links, (0, 1), (0, -1)))),
        ("neighbors", 5, coarse(best_of(links, (1, 0), (-1, 0)))),
        ("neighbors", 5, coarse(best_of(links, (1, 2), (2, 1), (-1, -2), (-2, -1)))),
        ("rivals", 5, coarse(rivals(links))),
        ("rivals", 5, coarse(rivals(links.T).T)),
        ("rivals", 5, coarse(links.sum(axis=1, keepdims=True) - links)),
        ("rivals", 5, coarse(links.sum(axis=0, keepdims=True) - links)),
        ("pair", 20, np.full((m, n), pair)),
    ):
        yield Feature(kind, len(set(GROUP_OF)) * size, group * size + values)


def clues(seen: Seen) -> Iterator[Feature]:
    """Yield the features of the first stage, and the classes of both words."""
    for template, values in zip(LINK_TEMPLATES, seen.clues.links, strict=True):
        yield Feature("clues", template.size, values.astype(np.int64))
    abstract, document = (
        np.array([word_class(word) for word in words])
        for words in (seen.example.pair.abstract, seen.example.pair.document)
    )
    yield Feature("clues", len(CLASSES) ** 2, len(CLASSES) * abstract[:, None] + document)


def of_trees(seen: Seen, abstract: Tree, document: Tree) -> Iterator[Feature]:
    """Yield the tags of both words, and whether heads and children are linked, by what the words are."""
    links, relation = seen.links, seen.clues.links[0].astype(np.int64)
    group, tags = OF_RELATION[relation], len(TAGS) + 1
    pairs = tags * abstract.tags[:, None] + document.tags
    yield Feature("tags", 3 * tags**2, tags**2 * (group > 0) * (1 + (group > 3)) + pairs)
    same_tag = abstract.tags[:, None] == document.tags
    yield Feature("tags", 2 * len(RELATIONS), 2 * relation + same_tag)

    def add(size: int, values: Longs) -> Feature:
        return Feature("dependencies", len(set(GROUP_OF)) * size, group * size + values)

    same = np.array(abstract.relations)[:, None] == np.array(document.relations)
    # Words without a head have one in the last row and column: there, none is linked with none.
    padded = np.pad(links, ((0, 1), (0, 1)))
    padded[-1, -1] = 1.0
    roots = (abstract.heads < 0)[:, None] + 2 * (document.heads < 0)
    heads = coarse(padded[np.ix_(abstract.heads, document.heads)])
    yield add(16, 8 * same + np.where(roots == 0, heads, 4 + roots))
    yield add(5, coarse(padded[abstract.heads][:, :-1]))
    yield add(5, coarse(padded[:, document.heads][:-1]))
    children = of_children(links * same, abstract.heads, document.heads)
    alike = of_children(1.0 * same, abstract.heads, document.heads) > 0
    leaves = tuple(
        np.bincount(tree.heads[tree.heads >= 0], minlength=len(tree.heads)) == 0
        for tree in (abstract, document)
    )
    kind = leaves[0][:, None] + 2 * leaves[1]
    yield add(9, np.where(kind > 0, 5 + kind, np.where(alike, coarse(children), 5)))


def of_children(values: Floats, rows: Longs, columns: Longs) -> Floats:
    """Return for each two words the largest value of a child of one with a child of the other."""
    found = np.zeros((len(rows) + 1, len(columns) + 1))
    np.maximum.at(found, (rows[:, None], columns), values)
    return found[:-1, :-1]


def cells(seen: Seen, trees: tuple[Tree, Tree] | None) -> Cells:
    """Return the links of a pair that are looked at."""
    links = seen.links
    rows, columns = np.nonzero(links > LEAST)
    found = (
        [] if not links.size else [*agreement(seen), *clues(seen), *(of_trees(seen, *trees) if trees else ())]
    )
    chosen = np.clip(links[rows, columns], 1e-4, 1 - 1e-4)
    table = np.array([one.values[rows, columns] for one in found], np.int64).reshape(len(found), len(rows)).T
    kinds, sizes = tuple(one.kind for one in found), tuple(one.size for one in found)
    return Cells((rows, columns), np.log(chosen / (1 - chosen)), table, kinds, sizes)
