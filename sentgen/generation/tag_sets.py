"""Which labels are tags: those of the standard sets, and those that the treebanks behind a search have.

A slash in a word parts a tag from it only before one of these, so that `and/or` and `1/2` stay what they are.
Of the 334 forms with a slash in the English treebanks EWT, GUM, LinES, ParTUT and ATIS, none ends in a slash
and a tag of the standard sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from sentgen.corpus.sentence import UNIVERSAL_TAGS
from sentgen.models.building.tagging import known_tags
from sentgen.models.dependency.treebanks import corpora_of
from sentgen.models.submodel import ModelLike
from sentgen.schema import Store

#: Tags of the Penn Treebank, with both spellings of brackets, and what later English treebanks added.
_PENN = """\
    CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN
    VBP VBZ WDT WP WP$ WRB # $ `` '' , . : ( ) -LRB- -RRB- ADD AFX GW HYPH NFP XX"""
STANDARD_TAGS = UNIVERSAL_TAGS.union(_PENN.split())


class KnownTags:
    """The standard tags, and those in the dependency counts of some treebanks, which are looked up if needed.

    Args:
        store: where the counts are.
        model: the language model of the search.
        treebanks: ids of the corpora; those of the model if ``None``.
    """

    def __init__(self, store: Store, model: ModelLike, treebanks: Sequence[int] | None = None) -> None:
        self._store, self._model, self._treebanks = store, model, treebanks

    def __contains__(self, tag: object) -> bool:
        return tag in STANDARD_TAGS or tag in self._counted

    @cached_property
    def _counted(self) -> set[str]:
        chosen = self._treebanks
        corpora = [number for number, _ in corpora_of(self._store, self._model)] if chosen is None else chosen
        return known_tags(self._store, corpora, "word")
