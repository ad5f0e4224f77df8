"""The head stack of the dependency-propagating Viterbi search, step by step.

Wan et al. 2005, section 3.2: the stack is the rightmost root-to-leaf branch of the tree of the words so far,
the part of it that words to come can modify or govern. When word w is appended,

    1.  no relation with any item           w is pushed
    2.  else the most probable relation, p(Dep_sym(h, w)) over the items h; of equals the oldest item
      a.  w governs h                       all down to and including h are popped, w is pushed
      b.  w modifies h                      all above h are popped, w is pushed

The oldest of equals, since counts of few sentences tend to zero or one: so `workers` pops all of `the UN
relief`, and the modifiers of `dog` go when `dog` hangs itself on `over`.

The companion paper (section 4.2) would favor small reductions of the stack, after the distances of Collins
1996, and gives no formula. Here p(Dep_sym(h, w)) is multiplied by ``nearness`` for each item above h, in 2
and in p_dep, so that of equals the newest item is taken; 1 leaves it as it is.

Relations give the tree: h gets the head w in 2a, w the head h in 2b. What is popped without a head also gets
the head w, if w more probably governs than modifies it. A word that no relation reaches stays a root of its
own: a fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sentgen.generation.bags.problem import ROOT

Rule = Literal["push", "governs", "modifies"]
#: p(isHeadRight) or p(isHeadLeft) by word: a row is the earlier word, a column the later one.
Table = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Step:
    """One word appended; all numbers are places in the sentence, from 0.

    ``partner`` is the item with the most probable relation, None if there is none, and ``dep`` its
    probability p(Dep_sym). ``popped`` and the ``stack`` after the word have the oldest item first.
    """

    place: int
    rule: Rule
    partner: int | None
    dep: float
    popped: tuple[int, ...]
    stack: tuple[int, ...]


def follow(
    words: Iterable[int], head_right: Table, head_left: Table, nearness: float = 1.0
) -> tuple[list[Step], list[int]]:
    """Return the steps of the head stack along a sentence, and the head of each word, `ROOT` for none.

    Args:
        words: rows of the tables.
        head_right: p(isHeadRight(a, b)) for a before b: b governs a.
        head_left: p(isHeadLeft(a, b)): a governs b.
        nearness: what each item above one leaves of its relations, 1 for all.
    """
    sentence: list[int] = []
    heads: list[int] = []
    steps: list[Step] = []
    stack: tuple[int, ...] = ()
    rule: Rule
    popped: tuple[int, ...]
    for place, word in enumerate(words):
        sentence.append(word)
        heads.append(ROOT)
        partner, dep = _most_probable(stack, sentence, head_right, head_left, nearness)
        kept, popped, rule = stack, (), "push"
        if partner is not None:
            item = sentence[partner]
            below = stack.index(partner)
            governs = head_right[item][word] > head_left[item][word]
            rule = "governs" if governs else "modifies"
            kept, popped = (
                (stack[:below], stack[below:]) if governs else (stack[: below + 1], stack[below + 1 :])
            )
            heads[partner if governs else place] = place if governs else partner
            for other in popped:
                old = sentence[other]
                if heads[other] == ROOT and head_right[old][word] > head_left[old][word]:
                    heads[other] = place
        stack = (*kept, place)
        steps.append(Step(place, rule, partner, dep, popped, stack))
    return steps, heads


def _most_probable(
    stack: Sequence[int], sentence: Sequence[int], head_right: Table, head_left: Table, nearness: float
) -> tuple[int | None, float]:
    """Return the item with the most probable relation to the last word, and its probability."""
    best, partner, left = 0.0, None, 1.0
    for item in reversed(stack):
        row, word = sentence[item], sentence[-1]
        dep = (head_right[row][word] + head_left[row][word]) * left
        # From the top: of equals the oldest one.
        if dep > 0 and dep >= best:
            best, partner = dep, item
        left *= nearness
    return partner, best
