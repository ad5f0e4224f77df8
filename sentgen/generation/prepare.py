"""Prepare bags of units for a search: missing tags and heads, then the arrays.

Everything of a batch is looked up at once.

Trees depend on the tags of words, so that with unknown tags all attachments are equally improbable. Bags
whose tags are of another tag set than those of the dependency counts get known tags: the tags of the other
kind (universal instead of language-specific tags, or the reverse), else the most frequent tags of the words.
Phrases without a given head get the one that a parser finds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from sentgen.case_folding import fold
from sentgen.corpus.base_np import function_heads, mark_base_nps
from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.generation.bags.bag import Unit, broken_up, shuffled
from sentgen.generation.bags.bag_reader import Bag
from sentgen.generation.bags.problem import Features, Problem, SearchSettings, TreeModel
from sentgen.generation.plan import SearchPlan, Treebank
from sentgen.models.building.recipe import CLOSING, OPENING
from sentgen.models.dependency.dependencies import UnitDependencies, prefetch_dependencies
from sentgen.models.dependency.tagging import known_tags, most_frequent_tags, tags_beside
from sentgen.models.ngrams.ngram_table import NgramTables
from sentgen.models.submodel import SubModel, prefetch
from sentgen.schema import Store

_VERBS = frozenset({"VERB", "AUX", "MD"})
#: Of nouns and personal pronouns, which stand for noun phrases; besides these, all tags with NN.
_NOUNS = frozenset({"NOUN", "PROPN", "PRON", "PRP"})
#: The Penn Treebank's IN and TO hold other words, too.
PREPOSITIONS = frozenset({"ADP", "IN", "TO"})
_PUNCTUATION = frozenset({"PUNCT", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "#"})


def is_verb(tag: str) -> bool:
    """Return whether a tag is that of a verb, auxiliaries and modals included.

    >>> [is_verb(tag) for tag in ("VBD", "MD", "AUX", "NN")]
    [True, True, True, False]
    """
    return tag in _VERBS or tag.startswith("VB")


def is_punctuation(tag: str) -> bool:
    """Return whether a tag is that of punctuation, hyphens and brackets included."""
    return tag in _PUNCTUATION


_BATCH = 100

#: The words of a unit as a language model knows them, and their tags.
Spelling = list[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class PreparedBag:
    """One bag, shuffled, with its arrays.

    ``unknown`` words are not in the language model; ``guessed`` words had no tag and got their most frequent
    one. ``lookup`` is the bag's share of the seconds of looking up its batch.
    """

    item: int
    problem: Problem
    unknown: int
    guessed: int
    lookup: float

    @property
    def bag(self) -> tuple[Unit, ...]:
        """Return the units in the order of the problem."""
        return self.problem.bag

    def under(self, settings: SearchSettings) -> Problem:
        """Return the problem with other settings."""
        return replace(self.problem, settings=settings)


def prepare(
    store: Store, plan: SearchPlan, bags: Sequence[Sequence[Unit]], *, shuffle: bool = True
) -> Iterator[list[PreparedBag]]:
    """Shuffle bags and look up all data of a search, a batch at a time.

    Searches with the same words, treebank, features and order can share the result. Bags that are shuffled
    already need no ``shuffle``, which would change how ties are broken.
    """
    model, settings, treebank, lowercase = plan.model, plan.settings, plan.treebank, plan.lowercase
    for begin in range(0, len(bags), _BATCH):
        started = time.perf_counter()
        # Split before shuffling: words must not stay in the order of their phrase.
        given = [broken_up(bag) if plan.words else bag for bag in bags[begin : begin + _BATCH]]
        batch = [shuffled(bag, plan.seed) if shuffle else list(bag) for bag in given]
        # Without a treebank, missing tags are not needed.
        tags = _guessed_tags(store, treebank, batch, lowercase) if treebank else {}
        guessed = [sum(len(unit.words) for unit in bag if not unit.tags) if treebank else 0 for bag in batch]
        batch = [
            [
                replace(unit, tags=tuple(map(tags.__getitem__, unit.words)))
                if tags and not unit.tags
                else unit
                for unit in bag
            ]
            for bag in batch
        ]
        spelled = [[spelling(unit, lowercase, model.brackets) for unit in bag] for bag in batch]
        bag_forms = [[form for unit in bag for form, _ in unit] for bag in spelled]
        all_tags = {tag for bag in batch for unit in bag for tag in unit.tags}
        submodel = prefetch(store, model, bag_forms, tags=all_tags, order=plan.order)
        # After missing tags are filled: the treebank counts pairs of words with their tags.
        trees = _trees(store, plan, treebank, batch) if treebank else [None] * len(batch)
        features = _features(store, plan, submodel, batch) if plan.features else [None] * len(batch)
        problems = [
            replace(_problem(submodel, bag, mine, tree, settings), features=others)
            for bag, mine, tree, others in zip(batch, spelled, trees, features, strict=True)
        ]
        share = (time.perf_counter() - started) / len(batch)
        yield [
            PreparedBag(item, problem, submodel.unknown(forms), count, share)
            for item, (problem, forms, count) in enumerate(
                zip(problems, bag_forms, guessed, strict=True), begin + 1
            )
        ]


#: Share of known tags below which tags are of another set: of the same set only rare tags are unknown, and
#: two sets share some names (`SYM`, `PRP`) with perhaps different meanings.
_LEAST = 0.5
#: Most tags that a note names.
_TOLD = 4

#: The units of several bags.
Bags = Sequence[Sequence[Unit]]


def with_known_tags(
    store: Store, corpora: Sequence[int], kind: str, bags: Bags, others: Bags
) -> tuple[Bags, str]:
    """Return bags with tags of the dependency counts and a note; unchanged bags have an empty note.

    Args:
        corpora: ids of the corpora of the counts.
        kind: kind of the tags of the counts, `xpos` or `upos`.
        bags: units with tags that should be of that kind.
        others: the same units with tags of the other kind, or without.
    """
    given = [tag for bag in bags for unit in bag for tag in unit.tags]
    known = known_tags(store, corpora, "word") if given else set()
    if not given or sum(tag in known for tag in given) >= _LEAST * len(given):
        return bags, ""
    unknown = sorted({*given} - known)
    named = ", ".join(unknown[:_TOLD]) + (", ..." if len(unknown) > _TOLD else "")
    reason = f"the tags here ({named}) are of another set than the {kind} of the dependency counts;"
    pairs = [pair for bag in others for unit in bag for pair in zip(unit.words, unit.tags, strict=False)]
    tags = tags_beside(store, corpora, kind, pairs) if pairs else {}
    if not tags:
        return [
            [replace(unit, tags=()) for unit in bag] for bag in bags
        ], f"{reason} each word's most frequent tag was used"
    used = "upos" if kind == "xpos" else "xpos"
    return (
        [[_retagged(unit, tags) for unit in bag] for bag in others],
        f"{reason} each word got the one that it has beside its {used}",
    )


def parsed_heads(bags: Sequence[Bag], parser: Parser, *, promoted: bool) -> list[Bag]:
    """Return bags in which phrases without a given head have the head by a parser, each parsed by itself.

    Phrases that are parsed as base noun phrases keep their last word as head, by which they are counted.

    Args:
        bags: bags, of whatever input.
        promoted: whether function words are heads, as in the dependency counts.

    Raises:
        InputError: the parser is `gold`, and there is such a phrase.
    """
    phrases = sorted({unit.words for bag in bags for unit in bag.units if unit.headless})
    trees = parser.parse_tokenized(phrases)
    roots = {words: _root(tree, promoted) for words, tree in zip(phrases, trees, strict=True)}
    return [replace(bag, units=_headed(bag.units, roots), others=_headed(bag.others, roots)) for bag in bags]


def spelling(unit: Unit, lower: bool, brackets: bool) -> Spelling:
    """Return the words of a unit as looked up, with tags; phrases in brackets for models that count them."""
    tags = unit.tags or (None,) * len(unit.words)
    words = [(_cased(word, lower), tag) for word, tag in zip(unit.words, tags, strict=True)]
    return [(OPENING, None), *words, (CLOSING, None)] if brackets and len(words) > 1 else words


def _problem(
    submodel: SubModel,
    bag: Sequence[Unit],
    spelled: Sequence[Spelling],
    trees: TreeModel | None,
    settings: SearchSettings,
) -> Problem:
    words = list(chain.from_iterable(spelled))
    kinds: dict[Unit, int] = {}
    return Problem(
        table=submodel.table,
        words=submodel.encode([form for form, _ in words], [tag for _, tag in words]),
        offsets=np.cumsum([0, *map(len, spelled)], dtype=np.int32),
        kinds=np.array([kinds.setdefault(unit, len(kinds)) for unit in bag], np.int32),
        settings=settings,
        order=submodel.order,
        trees=trees,
        bag=tuple(bag),
    )


def _features(
    store: Store, plan: SearchPlan, submodel: SubModel, batch: Sequence[Sequence[Unit]]
) -> list[Features | None]:
    """Fetch the other models of a batch; all of its bags share their tables."""
    fetched = [feature.fetch(store, batch, plan.order) for feature in plan.features]
    tables = NgramTables.side_by_side([submodel.table, *(other.table for other, _ in fetched)])
    return [
        Features(tables, *zip(*arrays, strict=True))
        for arrays in zip(*(mine for _, mine in fetched), strict=True)
    ]


def _guessed_tags(
    store: Store, treebank: Treebank, batch: Sequence[Sequence[Unit]], lower: bool
) -> Mapping[str, str]:
    """Return the most frequent tag of each word without a tag."""
    untagged = {word for bag in batch for unit in bag if not unit.tags for word in unit.words}
    if not untagged:
        return {}
    tags = most_frequent_tags(
        store, treebank.corpora, treebank.layer, sorted({_cased(word, lower) for word in untagged})
    )
    return {word: tags[_cased(word, lower)] for word in untagged}


def _trees(
    store: Store, plan: SearchPlan, treebank: Treebank, batch: Sequence[Sequence[Unit]]
) -> list[TreeModel | None]:
    """Fetch the dependency models of a batch; a unit is represented by its head (Wan et al. 2007)."""
    heads = [[(_cased(unit.head, plan.lowercase), unit.head_tag) for unit in bag] for bag in batch]
    fetched = prefetch_dependencies(
        store, treebank.corpora, treebank.layer, heads, distances=plan.algorithm.distances
    )
    return [
        _tree_model(dependencies, [tag or "" for _, tag in bag])
        for dependencies, bag in zip(fetched, heads, strict=True)
    ]


def _tree_model(dependencies: UnitDependencies, tags: Sequence[str]) -> TreeModel:
    return TreeModel(
        dependencies.prob,
        dependencies.arguments,
        np.array([is_verb(tag) for tag in tags], np.bool_),
        np.array([tag in _NOUNS or tag.startswith("NN") for tag in tags], np.bool_),
        np.array([tag in PREPOSITIONS for tag in tags], np.bool_),
        dependencies.distance,
        dependencies.automata,
    )


def _cased(word: str, lower: bool) -> str:
    return fold(word) if lower else word


def _root(tree: Sentence, promoted: bool) -> int:
    """Return the position of the root, counted from the end; 0 for a base noun phrase."""
    mark_base_nps(tree)
    if tree.nps and set(tree.nps) == {1}:
        return 0
    heads = function_heads(tree) if promoted and tree.deprels else tree.heads or [0]
    return heads.index(0) - len(heads)


def _headed(units: Sequence[Unit], heads: Mapping[tuple[str, ...], int]) -> tuple[Unit, ...]:
    return tuple(replace(unit, head_place=heads[unit.words]) if unit.headless else unit for unit in units)


def _retagged(unit: Unit, tags: dict[tuple[str, str], str]) -> Unit:
    """Return a unit with new tags, or without tags if a word has none."""
    new_tags = tuple(tags.get(pair, "") for pair in zip(unit.words, unit.tags, strict=False))
    return replace(unit, tags=new_tags if all(new_tags) and len(new_tags) == len(unit.words) else ())
