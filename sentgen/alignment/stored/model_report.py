"""Reports on an alignment model: iterations, jumps, top rewrites."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from sentgen.alignment.stored.model_store import DIRECTIONS, AlignmentModelInfo, StoredIteration
from sentgen.errors import InputError, NotFoundError
from sentgen.output.display import decimal
from sentgen.output.drawing import LIGHT, plain_axes
from sentgen.output.plots import set_title
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow, fetch_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ITERATION = (
    *("direction", "iteration", "log10_likelihood", "log_likelihood", "log10_posterior", "log_posterior"),
    *("p_null", "weight_table", "weight_stem", "weight_identity", "cells", "seconds"),
)

#: Smallest and largest distance of a cell, and its probability.
Jump = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class ModelReport:
    """A model: facts by name, all iterations, and the jumps of the last iteration by direction."""

    facts: dict[str, str]
    iterations: list[StoredIteration]
    jumps: dict[str, list[Jump]]

    def table(self) -> Rows:
        """Return the iterations of a model as a table, logarithms natural and decimal."""
        rows = [
            (direction, number, decimal(logp), logp, decimal(log_posterior), log_posterior, *others)
            for direction, number, logp, log_posterior, *others in map(astuple, self.iterations)
        ]
        return Rows(_ITERATION, rows)

    def jump_plot(self, direction: str) -> Figure:
        """Draw the probability of a jump by its distance.

        Raises:
            InputError: the model has no such direction.
        """
        if direction not in self.jumps:
            raise InputError(f"the model has no {direction} iteration yet; train it first")
        jumps = self.jumps[direction]
        figure, axes = plain_axes(7.6, 3.8, LIGHT, grid="y")
        middles = [(first + last) / 2 for first, last, _ in jumps]
        # Divided by the number of distances: else a cell of many distances would look like a peak.
        heights = [prob / (last - first + 1) for first, last, prob in jumps]
        axes.step(middles, heights, where="mid", color=LIGHT.lines[0])
        axes.set_xscale("symlog", linthresh=10)
        axes.set_yscale("log")
        axes.set_xlabel("jump: words from the end of a phrase to the next one; 1 goes straight on")
        axes.set_ylabel("probability")
        set_title(axes, f"Jumps of {self.facts['model']}, {direction}")
        return figure

    @staticmethod
    def read(store: Store, name: str) -> ModelReport:
        """Return the report on a model.

        Raises:
            NotFoundError: there is no such model.
        """
        query = """
            select first, last, prob
            from alignment_jump
            where model_id = ?
                and direction = ?
                and iteration = (
                    select max(iteration)
                    from alignment_iteration
                    where model_id = ?
                        and direction = ?
                )
            order by first
        """
        with store.connect() as connection:
            model = AlignmentModelInfo.get(connection, name)
            iterations = model.history(connection)
            jumps = {}
            for direction in DIRECTIONS:
                rows = fetch_arrow(connection, query, [model.id, direction] * 2)
                if rows.num_rows:
                    jumps[direction] = list(
                        zip(*(rows[c].to_pylist() for c in rows.column_names), strict=True)
                    )
        facts = {
            "model": model.name,
            "pairs": f"{model.pairs:,} of {model.corpus}"
            if model.iterations
            else "none; it has the priors only",
            "begun": f"{model.created_at:%Y-%m-%d %H:%M:%S} UTC",
            "settings": model.settings.as_json(),
        }
        return ModelReport(facts, iterations, jumps)


def top_rewrites(store: Store, name: str, word: str, *, direction: str, limit: int = 20) -> Rows:
    """Return the most probable rewrites of a word, or of a phrase whose words have blanks between them.

    Raises:
        NotFoundError: the model does not know the word in that direction.
    """
    query = """
        select target, prob
        from v_rewrites
        where model = ?
            and direction = ?
            and layer = 'words'
            and source = ?
        order by prob desc, target
    """
    with store.connect() as connection:
        model = AlignmentModelInfo.get(connection, name)
        form = word.lower() if model.settings.fold else word
        limited = f"{query} limit {limit}" if limit else query
        rows = fetch_rows(connection, limited, [name, direction, form])
    if not rows.num_rows:
        side = "document" if direction == DIRECTIONS[0] else "abstract"
        raise NotFoundError(f"the model {name!r} knows no rewrite of {word!r}; no {side} of its pairs has it")
    return rows
