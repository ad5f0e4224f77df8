"""The assignment-based algorithm: words compete for argument positions, and positions for words.

Wan et al. 2009, algorithm 3. The tree starts as the root with one position. In each round the words that are
still outside are assigned to the positions that are open, at the least total cost, by the method of Kuhn and
Munkres; position j on side d of head u costs the word v

    -log( prob(u, v, d) * P(u has more than j modifiers on side d) )                       (equation 5)

An assigned word joins the tree; its position closes and the next one on that side opens, and so do the
word's own first positions. Which positions a word has at all, q, is a setting, and so is the padding with
dummies, by which a position may stay empty for a round:

* `free`: as many dummies as positions, for the same cost each. A position takes a word only if that costs
less. If no position does, the cheapest pair of all is attached, so that each round makes progress. *
`literal`: dummies only for positions in excess of words, at the highest cost, so that as many positions as
  possible are filled in every round.

A dummy for each position at one price is equivalent to leaving out all pairs above that price, and dummies
for the excess are equivalent to a rectangular problem: so no dummies are needed.

The assignment problem, to give rows different columns at the least total cost (Kuhn 1955, Munkres 1957), is
solved by shortest augmenting paths, as in Jonker and Volgenant 1987 and Crouse 2016, "On implementing 2D
rectangular assignment algorithms", algorithm 1: rows enter one by one; each takes the cheapest way to a free
column, where the way may move rows that came before; prices of rows and columns keep all costs non-negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, compiled
from sentgen.errors import InputError
from sentgen.generation.bags.problem import (
    LEFT,
    RIGHT,
    ROOT,
    Algorithm,
    Ordering,
    Problem,
    SearchStep,
    Setting,
    StepEvent,
    TreeModel,
)
from sentgen.generation.ngrams.lmo import LmoSettings
from sentgen.generation.trees.trees import (
    FORBIDDEN,
    Attachments,
    ConstraintSettings,
    best_orderings,
    edge_weights,
    log_of,
    siblings_by_ngrams,
    tree_value,
)


@compiled
def assign(costs: Floats) -> Ints:
    """Return the column of every row, -1 for the rows that get none, at the least total cost.

    Args:
        costs: (rows, columns) finite; there may be more of either, and min(rows, columns) pairs are made.

    Ties are broken by the scan from the first column on. Time: O(k^2 m) for k the lesser
    and m the greater of the two numbers.
    """
    rows, columns = costs.shape
    if rows <= columns:
        return _assign_all_rows(costs)
    # The kernel needs a free column for every row; compiled code for one memory layout is enough.
    taken = _assign_all_rows(np.ascontiguousarray(costs.T))
    column_of = np.full(rows, -1, np.int32)
    for column in range(columns):
        column_of[taken[column]] = column
    return column_of


@compiled
def _assign_all_rows(costs: Floats) -> Ints:
    """Solve the problem for no more rows than columns."""
    rows, columns = costs.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    column_of, row_of = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    for start in range(rows):
        distance = np.full(columns, np.inf)
        came_from = np.full(columns, -1, np.int32)
        reached = np.zeros(columns, np.bool_)
        row, length, end = start, 0.0, -1
        while end < 0:
            nearest, shortest = -1, np.inf
            for column in range(columns):
                if reached[column]:
                    continue
                through = length + costs[row, column] - row_price[row] - column_price[column]
                if through < distance[column]:
                    distance[column], came_from[column] = through, row
                # `nearest < 0` takes a column even if all are infinitely far, so that the loop ends.
                if distance[column] < shortest or nearest < 0:
                    nearest, shortest = column, distance[column]
            reached[nearest] = True
            length = shortest
            if row_of[nearest] < 0:
                end = nearest
            else:
                row = row_of[nearest]
        # Prices move so that all reduced costs stay >= 0, and those of the pairs made stay 0.
        row_price[start] += length
        for column in range(columns):
            if reached[column] and column != end:
                row_price[row_of[column]] += length - distance[column]
                column_price[column] -= length - distance[column]
        column = end
        while column >= 0:
            row = came_from[column]
            row_of[column] = row
            # Walks the way back: each row on it gives up its column and takes the next one.
            column, column_of[row] = column_of[row], column
    return column_of


Positions = Literal["paper", "learned"]
Padding = Literal["free", "literal"]


@dataclass(frozen=True, slots=True)
class AssignmentSettings:
    """The argument positions, and whether they may stay empty.

    ``q``: `paper` for the rule of Wan et al. 2009, `learned` for any side on which the tag was seen with
    modifiers; ``padding``: `free` for as many dummies as positions, `literal` as in 2009; ``padding_cost``:
    of leaving a position empty with `free` padding, in nats.
    """

    q: Annotated[Positions, Setting("Argument positions: by the paper's rule, or as seen.")] = "learned"
    padding: Annotated[Padding, Setting("Let any position stay empty, or as in the paper.")] = "free"
    padding_cost: Annotated[
        float,
        Setting(
            "Cost of a position that stays empty, in nats.",
            shell="Cost of a position that stays empty.",
            metavar="NATS",
            api={"ge": -1e6, "le": 1e6},
        ),
    ] = 1.0

    def __post_init__(self) -> None:
        if not self.padding_cost >= 0:  # nan is refused, too
            raise InputError(f"padding cost {self.padding_cost} is not 0 or more")


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by the tree of `_grow`; siblings by n-grams."""
    return best_orderings(problem, nbest, search, siblings_by_ngrams)


def search(problem: Problem, edges: Floats) -> Attachments:
    """Return the tree of `_grow` under the settings."""
    return Attachments(*_grow(edges, *_growing(problem)))


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float | None:
    """Return the negative sum of the costs of the edges of a tree."""
    return tree_value(problem, units, heads, argument_charges(problem.require_trees()))


def steps(problem: Problem) -> list[SearchStep]:
    """Return the steps by which `search` finds the tree of a problem."""
    return _grow_in_steps(edge_weights(problem), *_growing(problem))


def _growing(problem: Problem) -> tuple[Floats, Ints, float]:
    """Return the arguments of `_grow` behind the edges."""
    model, settings = problem.require_trees(), problem.settings.of(AssignmentSettings)
    price = np.inf if settings.padding == "literal" else settings.padding_cost
    return argument_charges(model), positions(model, settings.q), price


def argument_charges(model: TreeModel) -> Floats:
    """Return (n + 1, 2, 8) log P(more than j modifiers), j = 0 ... 7; none beyond seven (equation 6)."""
    beyond = np.zeros_like(model.arguments)
    # Sums from the right end: P(more than j) = p(j + 1) + ... + p(7).
    beyond[..., :-1] = model.arguments[..., :0:-1].cumsum(axis=-1)[..., ::-1]
    return log_of(beyond)


def positions(model: TreeModel, q: Positions) -> Ints:
    """Return (n + 1, 2) the most modifiers of a word on each side: q.

    `paper`: the root one; a preposition one, after it; a verb any number on both sides; any other word any
    number, after it. `learned`: any number on a side where the word or its tag was seen with one.
    """
    # There are no more modifiers than units.
    any_number = model.arguments.shape[0]
    if q == "learned":
        seen = model.arguments[..., 1:].any(axis=-1)
        limits = np.where(seen, any_number, 0).astype(np.int32)
    else:
        limits = np.zeros(model.arguments.shape[:2], np.int32)
        limits[1:, RIGHT] = np.where(model.preposition, 1, any_number)
        limits[1:, LEFT] = np.where(model.verb, any_number, 0)
    # The root is at the left end of the sentence: its only modifier is to its right.
    limits[0] = (0, 1)
    return limits


@compiled
def _grow(edges: Floats, charges: Floats, limits: Ints, price: float) -> tuple[Ints, Ints, Ints, Floats]:
    """Return heads, sides, earlier and weights of the tree, by algorithm 3.

    Args:
        edges: (n + 1, n, 2) log-probabilities, with the constraints; row 0 is the root.
        charges: (n + 1, 2, 8) log-probabilities of one more modifier after j of them.
        limits: (n + 1, 2) numbers of positions.
        price: price of leaving a position empty; infinite for `literal`.

    If no open position is left, a word takes the cheapest position, whatever the limits. Ties go to the first
    position, and the first word. Time: n rounds of at most O(n^2) and, where many positions are cheap, O(n^3)
    for the assignment.
    """
    size = edges.shape[1]
    heads, sides = np.full(size, ROOT, np.int32), np.full(size, RIGHT, np.int32)
    earlier, weights = np.zeros(size, np.int32), np.zeros(size)
    taken = np.zeros((size + 1, 2), np.int32)
    inside = np.zeros(size + 1, np.bool_)
    inside[0] = True
    left = size
    while left:
        words = _outside(inside, left)
        position_heads, position_sides = _positions(inside, taken, limits, False)
        costs = _costs(edges, charges, taken, position_heads, position_sides, words)
        # Half of FORBIDDEN separates allowed and forbidden costs: no log-probability is near it.
        if not (costs < -FORBIDDEN / 2).any():
            position_heads, position_sides = _positions(inside, taken, limits, True)
            costs = _costs(edges, charges, taken, position_heads, position_sides, words)
        # In the first round the root alone has a position, and it must not stay empty.
        columns = _round(costs, price if left < size else np.inf)
        for row in range(len(columns)):
            if columns[row] >= 0:
                unit, head, side = words[columns[row]], position_heads[row], position_sides[row]
                heads[unit], sides[unit] = head - 1, side
                earlier[unit], weights[unit] = taken[head, side], -costs[row, columns[row]]
                taken[head, side] += 1
                inside[unit + 1] = True
                left -= 1
    return heads, sides, earlier, weights


def _grow_in_steps(edges: Floats, charges: Floats, limits: Ints, price: float) -> list[SearchStep]:
    """Return the steps of `_grow`, in plain Python; see there.

    A step is a round: the events of all open positions, with the assigned word or, if a position stays empty,
    the word that would be the cheapest.
    """
    size = left = edges.shape[1]
    taken, inside = np.zeros((size + 1, 2), np.int32), np.zeros(size + 1, np.bool_)
    inside[0] = True
    all_steps: list[SearchStep] = []
    step = 0
    while left:
        step += 1
        words = _outside(inside, left)
        heads, sides = _positions(inside, taken, limits, False)
        costs = _costs(edges, charges, taken, heads, sides, words)
        if not (costs < -FORBIDDEN / 2).any():
            heads, sides = _positions(inside, taken, limits, True)
            costs = _costs(edges, charges, taken, heads, sides, words)
        limit = price if left < size else np.inf
        for row, column in enumerate(_round(costs, limit).tolist()):
            head, side = int(heads[row]), int(sides[row])
            unit = int(words[column if column >= 0 else costs[row].argmin()])
            cost = float(costs[row, column] if column >= 0 else costs[row].min())
            event: StepEvent = "empty"
            if column >= 0:
                # As in `_round`.
                event = "forced" if cost >= -FORBIDDEN / 2 else "cheapest" if cost >= limit else "attached"
            earlier, logp = int(taken[head, side]), float(edges[head, unit, side])
            all_steps.append(SearchStep(step, event, unit, head - 1, side, earlier, logp, -cost))
            if column >= 0:
                taken[head, side] += 1
                inside[unit + 1] = True
                left -= 1
    return all_steps


@compiled
def _outside(inside: Bools, left: int) -> Ints:
    """Return the units that are not in the tree yet."""
    units = np.empty(left, np.int32)
    count = 0
    for unit in range(len(inside) - 1):
        if not inside[unit + 1]:
            units[count] = unit
            count += 1
    return units


@compiled
def _positions(inside: Bools, taken: Ints, limits: Ints, beyond: bool) -> tuple[Ints, Ints]:
    """Return heads and sides of the next positions of the words in the tree; also ``beyond`` the limits.

    The root always has its one position, as long as it is free.
    """
    heads, sides = np.empty(2 * len(inside), np.int32), np.empty(2 * len(inside), np.int32)
    count = 0
    for head in range(len(inside)):
        for side in (LEFT, RIGHT):
            if inside[head] and (taken[head, side] < limits[head, side] or (beyond and head > 0)):
                heads[count], sides[count] = head, side
                count += 1
    return heads[:count], sides[:count]


@compiled
def _costs(
    edges: Floats, charges: Floats, taken: Ints, position_heads: Ints, position_sides: Ints, words: Ints
) -> Floats:
    """Return (positions, words) equation 5."""
    costs = np.empty((len(position_heads), len(words)))
    for row in range(len(position_heads)):
        head, side = position_heads[row], position_sides[row]
        charge = charges[head, side, min(taken[head, side], charges.shape[2] - 1)]
        for column in range(len(words)):
            costs[row, column] = -edges[head, words[column], side] - charge
    return costs


@compiled
def _round(costs: Floats, price: float) -> Ints:
    """Return the word of each position in one round, -1 for none; at least one position gets a word.

    Pairs that a constraint forbids are excluded, unless no others are left.
    """
    rows, columns = costs.shape
    limit = min(price, -FORBIDDEN / 2)
    cheapest_row, cheapest_column = 0, 0
    row_place, column_place = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    some_rows, some_columns = 0, 0
    for row in range(rows):
        for column in range(columns):
            if costs[row, column] < costs[cheapest_row, cheapest_column]:
                cheapest_row, cheapest_column = row, column
            # With a price above all costs (`literal`) forbidden pairs take part, too.
            if costs[row, column] < limit or limit < price:
                if row_place[row] < 0:
                    row_place[row] = some_rows
                    some_rows += 1
                if column_place[column] < 0:
                    column_place[column] = some_columns
                    some_columns += 1
    words = np.full(rows, -1, np.int32)
    made = 0
    if some_rows:
        # Only rows and columns with a pair below the price take part; above it, all pairs are the same.
        part = np.empty((some_rows, some_columns))
        column_at = np.empty(some_columns, np.int32)
        for column in range(columns):
            if column_place[column] >= 0:
                column_at[column_place[column]] = column
        for row in range(rows):
            for column in range(columns):
                if row_place[row] >= 0 and column_place[column] >= 0:
                    part[row_place[row], column_place[column]] = min(costs[row, column], price)
        assigned = assign(part)
        for row in range(rows):
            if row_place[row] >= 0 and assigned[row_place[row]] >= 0:
                column = column_at[assigned[row_place[row]]]
                if costs[row, column] < limit:
                    words[row] = column
                    made += 1
    # Each round attaches a word, so that there are n rounds at most.
    if not made:
        words[cheapest_row] = cheapest_column
    return words


#: Without `RootSettings`: the root always has one position.
ALGORITHMS = (
    Algorithm(
        "ab",
        "assignment of words to argument positions, siblings ordered by n-grams (2009)",
        order_units,
        value,
        steps=steps,
        settings=(LmoSettings, ConstraintSettings, AssignmentSettings),
        defaults={"noun_under_noun": True},
        published={"2009": {"q": "paper", "padding": "literal", "verb_root": False}},
        trees=True,
    ),
)
