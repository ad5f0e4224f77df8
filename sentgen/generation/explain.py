"""Why a sentence came out as it did: what the store holds behind each attachment, or behind each word.

For people, and slow; the searches take the same figures from the prefetched sub-model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.case_folding import fold
from sentgen.generation.bags.bag import Unit, places_of
from sentgen.generation.bags.problem import ROOT, SearchStep, Tree
from sentgen.generation.joint.factors import FactorSettings
from sentgen.generation.joint.reasons import Decision, decisions
from sentgen.generation.plan import SearchPlan
from sentgen.generation.prepare import prepare, spelling
from sentgen.generation.regenerate import RegeneratedSentence
from sentgen.generation.trees.trees import FORBIDDEN, ZERO, is_forced
from sentgen.models.dependency.attachments import (
    ROOT_UNIT,
    Attachment,
    AttachmentEvidence,
    explain_attachments,
)
from sentgen.models.lookup import BackoffStep
from sentgen.models.lookup import explain as explain_word
from sentgen.models.submodel import prefetch
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS


@dataclass(frozen=True, slots=True)
class ExplainedAttachment:
    """One edge of a tree: the place of the modifier, its log weight when attached, and the evidence.

    An edge is ``forced`` if it breaks a hard constraint; the penalty for that is not in its weight. A
    ``decision`` is there where several factors are weighed against each other.
    """

    place: int
    weight: float
    evidence: AttachmentEvidence
    forced: bool = False
    decision: Decision | None = None

    @property
    def factor(self) -> float | None:
        """Return what the weight holds beside the probability: that of the arguments, 1 if they play no part.

        None if the weight is a floor under a probability of zero, or a sum of several factors.
        """
        if self.decision is not None:
            return None
        return math.exp(self.weight) / self.evidence.prob if self.evidence.prob >= ZERO else None


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """One word of a sentence as it is looked up, its end included: how the model got its probability.

    The brackets of phrases are words for a model that counts them.
    """

    place: int
    word: str
    steps: tuple[BackoffStep, ...]


def explain_trees(
    store: Store, plan: SearchPlan, sentences: Sequence[RegeneratedSentence]
) -> list[list[ExplainedAttachment]]:
    """Return the evidence for the attachments of some sentences, each in the order of its words.

    Args:
        store: where the counts are.
        plan: that the sentences were made by, which makes trees.
        sentences: with trees.
    """
    treebank = plan.treebank
    edges = [list(_attachments(one.units, one.tree, plan.lowercase)) if one.tree else [] for one in sentences]
    wanted = [edge for mine in edges for edge in mine]
    found = iter(
        explain_attachments(store, treebank.corpora, treebank.layer, wanted) if treebank and wanted else []
    )
    decided = _decisions(store, plan, sentences)
    return [
        [
            _explained(place, weight, next(found), decided[k][place] if decided else None)
            for place, weight in enumerate(one.tree.weights)
        ]
        if one.tree
        else []
        for k, one in enumerate(sentences)
    ]


def _explained(
    place: int, weight: float, evidence: AttachmentEvidence, decision: Decision | None
) -> ExplainedAttachment:
    forced = is_forced(weight)
    # People see the weight without the constraint, and are told that it was broken.
    return ExplainedAttachment(place, weight - FORBIDDEN if forced else weight, evidence, forced, decision)


def _decisions(
    store: Store, plan: SearchPlan, sentences: Sequence[RegeneratedSentence]
) -> list[list[Decision]]:
    """Return what decided the attachments of each sentence, if the algorithm weighs factors."""
    if FactorSettings not in plan.algorithm.groups:
        return []
    found = []
    for batch in prepare(store, plan, [one.units for one in sentences]):
        for prepared in batch:
            order = places_of(sentences[prepared.item - 1].units, prepared.bag)
            found.append(decisions(prepared.under(plan.settings), order))
    return found


def explain_steps(
    store: Store, plan: SearchPlan, sentences: Sequence[RegeneratedSentence]
) -> list[list[SearchStep]]:
    """Return how the trees of sentences were found, over their places, if the algorithm can tell.

    Of several sentences of a bag, the first is the algorithm's own; of the others nothing is told.
    """
    steps = plan.algorithm.steps
    own = {number: one for number, one in enumerate(sentences) if one.rank == 1 and steps}
    found: list[list[SearchStep]] = [[] for _ in sentences]
    batches = prepare(store, plan, [one.given for one in own.values()], shuffle=False)
    bags = (prepared for batch in batches for prepared in batch)
    for (number, one), prepared in zip(own.items(), bags, strict=True):
        place = {unit: place for place, unit in enumerate(one.order)}
        made = steps(prepared.under(plan.settings)) if steps else []
        found[number] = [step.renumbered(place) for step in made]
    return found


def _attachments(units: Sequence[Unit], tree: Tree, lower: bool) -> Iterator[Attachment]:
    heads = [(fold(unit.head) if lower else unit.head, unit.head_tag) for unit in units]
    for modifier, head, side, earlier in zip(heads, tree.heads, tree.sides, tree.earlier, strict=True):
        yield Attachment(ROOT_UNIT if head == ROOT else heads[head], modifier, side, earlier)


def explain_sentence(store: Store, plan: SearchPlan, sentence: RegeneratedSentence) -> list[ExplainedWord]:
    """Return how the language model backs off at each word of a sentence and at its end.

    The totals of the words add up to the log-probability of the sentence.

    Args:
        store: where the model is.
        plan: that the sentence was made by.
        sentence: a sentence.
    """
    model, order = plan.model, min(plan.order, plan.model.order)
    words = [word for unit in sentence.units for word in spelling(unit, plan.lowercase, model.brackets)]
    forms, tags = [form for form, _ in words], [tag for _, tag in words]
    submodel = prefetch(store, model, [forms], tags={tag for tag in tags if tag})
    # As the model knows them: <unk>, or <unk:TAG>, for what it does not.
    known = [submodel.words[number] for number in submodel.encode(forms, tags)]
    string = [RESERVED_WORDS[BOS], *known, RESERVED_WORDS[EOS]]
    return [
        ExplainedWord(
            place, form, tuple(explain_word(store, model, string[max(0, place + 2 - order) : place + 2]))
        )
        for place, form in enumerate([*forms, RESERVED_WORDS[EOS]])
    ]
