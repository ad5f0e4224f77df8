"""Bags whose tags are of another tag set than the dependency counts: they get tags that these know.

Trees are made by the tags of their words, so that without known ones all attachments are equally improbable.
What both sides have is used: the tags of the other kind (universal tags beside language-specific ones, or the
reverse), else the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentgen.generation.bags.bag import Unit
from sentgen.models.dependency.tagging import known_tags, tags_beside
from sentgen.schema import Store

#: Share of known tags below which tags are of another set: of one set, only rare tags are not known, and two
#: sets have some names in common (`SYM`, `PRP`) that may mean different things.
_LEAST = 0.5
#: Tags that are named.
_TOLD = 4

#: The units of several bags.
Bags = Sequence[Sequence[Unit]]


def with_known_tags(
    store: Store, corpora: Sequence[int], kind: str, bags: Bags, others: Bags
) -> tuple[Bags, str]:
    """Return bags with tags that dependency counts know, and what was done, or the same and nothing.

    Args:
        store: where the counts are.
        corpora: ids of the corpora of the counts.
        kind: of their tags, `xpos` or `upos`.
        bags: units with tags that should be of that kind.
        others: the same units with tags of the other kind, or without.
    """
    given = [tag for bag in bags for unit in bag for tag in unit.tags]
    known = known_tags(store, corpora, "word") if given else set()
    if not given or sum(tag in known for tag in given) >= _LEAST * len(given):
        return bags, ""
    unknown = sorted({*given} - known)
    named = ", ".join(unknown[:_TOLD]) + (", ..." if len(unknown) > _TOLD else "")
    told = f"the tags here ({named}) are of another set than the {kind} of the dependency counts;"
    pairs = [pair for bag in others for unit in bag for pair in zip(unit.words, unit.tags, strict=False)]
    tags = tags_beside(store, corpora, kind, pairs) if pairs else {}
    if not tags:
        return [
            [replace(unit, tags=()) for unit in bag] for bag in bags
        ], f"{told} each word's most frequent tag was used"
    used = "upos" if kind == "xpos" else "xpos"
    return (
        [[_tagged(unit, tags) for unit in bag] for bag in others],
        f"{told} each word got the one that it has beside its {used}",
    )


def _tagged(unit: Unit, tags: dict[tuple[str, str], str]) -> Unit:
    """Return a unit with the tags that were found, or without if one has none."""
    found = tuple(tags.get(pair, "") for pair in zip(unit.words, unit.tags, strict=False))
    return replace(unit, tags=found if all(found) and len(found) == len(unit.words) else ())
