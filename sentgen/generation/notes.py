"""Notes on ordered sentences for what users might not expect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentgen.errors import spell
from sentgen.generation.answers import PART, Answers
from sentgen.generation.bags.bag import Unit
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.generation.plan import SearchPlan
from sentgen.generation.prepare import PREPOSITIONS, is_verb
from sentgen.generation.regenerate import RegeneratedSentence
from sentgen.generation.trees.trees import is_forced
from sentgen.models.dependency.tagging import known_tags
from sentgen.output.wording import quantity

#: Words that look like word/TAG, whether the tag is known or not.
_TAGGED = re.compile(r"[^/]+/[A-Z]{2,5}\$?$")


def notes(answers: Answers) -> Iterator[str]:
    """Yield notes on unexpected properties of the answers."""
    empty = sum(not bag.units for bag in answers.bags)
    if empty:
        bags = quantity(len(answers.bags), "bag has", "bags have")
        yield f"{empty} of {bags} no words, and their sentences none either"
    if answers.retagged:
        yield answers.retagged
    first = [sentence for sentence in answers.sentences if sentence.rank == 1]
    guessed = sum(sentence.guessed for sentence in first)
    if guessed:
        words = quantity(sum(len(sentence.words) for sentence in first), "word")
        yield (
            f"{guessed} of {words} had no tag; each word's most frequent tag was used; give tags as word/TAG"
        )
    forced = sum(is_forced(weight) for sentence in first if sentence.tree for weight in sentence.tree.weights)
    if forced:
        yield (
            f"hard constraints broken, as nothing else was left: {forced};"
            f" {spell('verb_root', off='--any-root')}, {spell('noun_under_noun')} and"
            f" {spell('one_root', off='--many-roots')} lift them"
        )
    yield from _tag_notes(answers)
    yield from _head_notes(first)
    yield from answers.plan.hints
    if answers.request.parts:
        yield _formula(answers.plan)
    if answers.plan.features and answers.request.explain and not answers.plan.treebank:
        yield f"reasons are those of {answers.plan.model.name} alone; features are not explained"
    if answers.plan.rerankers and answers.request.explain:
        yield "reasons are those of the search; what reranks is not explained"


def _head_notes(sentences: Sequence[RegeneratedSentence]) -> Iterator[str]:
    """Yield a note on phrases other than base noun phrases that are represented by their last word."""
    units = dict.fromkeys(unit for sentence in sentences if sentence.tree for unit in sentence.units)
    phrases = [
        unit
        for unit in units
        if unit.headless and any(is_verb(tag) or tag in PREPOSITIONS for tag in unit.tags)
    ]
    if phrases:
        yield (
            f"{quantity(len(phrases), 'phrase')} without a given head: the last word is taken, such as"
            f" {phrases[0].head} of {phrases[0]}; a star marks another one, as in [people* left behind]"
        )


def _formula(plan: SearchPlan) -> str:
    weights = plan.part_weights()
    own = [] if FeatureSettings in plan.algorithm.groups else [f"what {plan.algorithm.name} maximizes"]
    terms = [*own, *(f"{weight:.4g} {PART}{name}" for name, weight in weights.items() if weight)]
    return f"score = {' + '.join(terms)}"


def _all_units(answers: Answers) -> list[Unit]:
    return [unit for bag in answers.bags for unit in bag.units]


def _tag_notes(answers: Answers) -> Iterator[str]:
    """Yield notes on strings read as tags, on strings that only look like tags, and on unknown tags."""
    units = [unit for bag in answers.bags if bag.tagged for unit in bag.units]
    if units:
        tagged, words = (sum(len(unit.words) for unit in some) for some in (units, _all_units(answers)))
        yield (
            f"{tagged} of {words} words were read as word/TAG, such as"
            f" {units[0].words[0]}/{units[0].tags[0]}; {spell('tagged', off='--no-tagged')} keeps them whole"
        )
    whole = (word for bag in answers.bags if bag.tagged is False for unit in bag.units for word in unit.words)
    mixed = next(filter(_TAGGED.match, whole), None)
    if mixed is not None and answers.request.tagged is None:
        yield (
            f"{mixed} is one word, as not every word has a known tag;"
            f" {spell('tagged')} and {spell('tagged', off='--no-tagged')} say what is meant"
        )
    if (treebank := answers.plan.treebank) and not answers.retagged:
        known = known_tags(answers.store, treebank.corpora, treebank.layer)
        given = {unit.head_tag for unit in _all_units(answers) if unit.head_tag}
        if given - known:
            some = sorted(tag for tag in known if tag.isalpha())[:5]
            yield (
                f"tags that the dependency counts have never seen: {', '.join(sorted(given - known))};"
                f" they use {answers.tags} tags, such as {', '.join(some)}"
            )
