"""The papers that `sentgen reproduce` runs; a new paper takes a module of its own and a line here."""

from __future__ import annotations

from collections.abc import Callable

from sentgen.errors import InputError, spell
from sentgen.evaluation.papers import daume2004, schmaltz2016, wan2005, wan2007_2009
from sentgen.evaluation.papers.paper import Findings, Paper, PaperRequest
from sentgen.schema import Store

#: Papers by name, in the order of their years.
PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (
        daume2004.DAUME_2004,
        wan2005.WAN_2005,
        wan2007_2009.WAN_2007,
        wan2007_2009.WAN_2009,
        schmaltz2016.SCHMALTZ_2016,
    )
}


def prepared(name: str, request: PaperRequest) -> Callable[[Store], Findings]:
    """Check the options of an experiment, and return a function that runs it in a store.

    That function records the published figures and all results.

    Raises:
        InputError: the paper is unknown, an option that it needs is missing, or one has no meaning for it.
    """
    if name not in PAPERS:
        raise InputError(f"no paper {name!r}; there are: {', '.join(PAPERS)}")
    paper = PAPERS[name]
    for field in sorted({field for paper in PAPERS.values() for field in (*paper.needs, *paper.takes)}):
        option, given = spell(field), bool(getattr(request, field))
        if given and field not in (*paper.needs, *paper.takes):
            raise InputError(f"{name} does not look at {option}; leave it out")
        if not given and field in paper.needs:
            raise InputError(f"{name} needs {option}")
    run = paper.prepare(request)

    def reproduce(store: Store) -> Findings:
        request.report(f"{paper.citation}: {paper.what}")
        for table in paper.tables:
            table.record(store)
        return run(store)

    return reproduce
