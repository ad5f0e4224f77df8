"""Beam search over a multiset of units in plain Python; tests compare `beam_kernels` with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sentgen.schema.tables.corpus import EOS

#: A state of the language model and a word to a log-probability and the next state.
Extend = Callable[[int, int], tuple[float, int]]


class Hypothesis(NamedTuple):
    """A beginning of the sentence: its units by number, and how often each one is used."""

    logp: float
    ahead: float
    state: int
    used: tuple[int, ...]
    path: tuple[int, ...] = ()


def best_path(
    extend: Extend,
    start: int,
    units: Sequence[Sequence[int]],
    copies: Sequence[int],
    ahead: Sequence[float],
    beam: int,
) -> Hypothesis:
    """Return the best whole sentence that `sentgen.generation.ngrams.beam_kernels.search` finds.

    Args:
        extend: the language model.
        start: its state at the beginning of a sentence.
        units: the words of the different units, short units first.
        copies: how often each unit is in the bag.
        ahead: the future cost of each unit.
        beam: hypotheses kept a stack.
    """
    length = sum(len(unit) * times for unit, times in zip(units, copies, strict=True))
    future = 0.0
    for cost, times in zip(ahead, copies, strict=True):
        future += cost * times
    stacks = [[Hypothesis(0.0, future, start, (0,) * len(units))]]
    for stack in range(1, length + 1):
        best: dict[tuple[tuple[int, ...], int], Hypothesis] = {}
        for found in _extensions(extend, units, copies, ahead, stacks):
            if stack == length:
                found = found._replace(logp=found.logp + extend(found.state, EOS)[0], state=0)
            same = best.setdefault((found.used, found.state), found)
            if found.logp > same.logp:
                best[found.used, found.state] = found
        in_order = list(best.values())
        ranked = sorted(range(len(in_order)), key=lambda i: -(in_order[i].logp + in_order[i].ahead))
        stacks.append([in_order[i] for i in sorted(ranked[:beam])])
    return stacks[-1][-1]


def _extensions(
    extend: Extend,
    units: Sequence[Sequence[int]],
    copies: Sequence[int],
    ahead: Sequence[float],
    stacks: Sequence[Sequence[Hypothesis]],
) -> Iterator[Hypothesis]:
    """Yield all ways to the next stack, by hypothesis and unit."""
    for earlier, stack in enumerate(stacks):
        for node in stack:
            for number, unit in enumerate(units):
                if earlier + len(unit) == len(stacks) and node.used[number] < copies[number]:
                    logp, state = _after(extend, node.state, unit)
                    used = (*node.used[:number], node.used[number] + 1, *node.used[number + 1 :])
                    yield Hypothesis(
                        node.logp + logp, node.ahead - ahead[number], state, used, (*node.path, number)
                    )


def _after(extend: Extend, state: int, words: Sequence[int]) -> tuple[float, int]:
    total = 0.0
    for word in words:
        logp, state = extend(state, word)
        total += logp
    return total, state
