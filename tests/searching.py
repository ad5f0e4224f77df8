"""Searches in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sentgen import generation
from sentgen.generation import Regenerated, Search, Unit, plan_search
from sentgen.models.submodel import ModelLike
from sentgen.schema import Store


def regenerate(
    store: Store, model: ModelLike, bags: Sequence[Sequence[Unit]], **asked: Any
) -> Iterator[Regenerated]:
    """Order bags by a plan of what is asked (see `Search`)."""
    return generation.regenerate(store, plan_search(store, model, Search(**asked)), bags)
