"""What there is to choose from: formats, algorithms, aligners and scorers, those of plug-ins included."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sentgen.alignment import systems
from sentgen.corpus import formats
from sentgen.generation import algorithms
from sentgen.models import plugin_scorers
from sentgen.output.tabular import Rows
from sentgen.server.operations.operation import Context, Nothing, Operation, Result


def _plugin_listing(
    overview: Callable[[], tuple[Rows, Sequence[str]]],
) -> Callable[[Context, Nothing], Result]:
    """Return the function of an operation that lists things, and what is wrong with plug-ins."""

    def run(context: Context, request: Nothing) -> Result:
        table, wrong = overview()
        return Result(table, notes=wrong)

    return run


def _operation(name: str, summary: str, overview: Callable[[], tuple[Rows, Sequence[str]]]) -> Operation:
    return Operation(name, summary, name, Nothing, _plugin_listing(overview))


OPERATIONS = (
    _operation("formats", "Formats of texts that can be read.", formats.overview),
    _operation("algorithms", "Algorithms that order words and phrases.", algorithms.overview),
    _operation("aligners", "Systems that align texts.", systems.overview),
    _operation("scorers", "Scorers of sentences, which plug-ins add.", plugin_scorers.overview),
)
