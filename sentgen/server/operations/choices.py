"""What there is to choose from: formats, algorithms, aligners and scorers, those of plug-ins included."""

from __future__ import annotations

from sentgen.server.operations.operation import listing

OPERATIONS = tuple(map(listing, ("formats", "algorithms", "aligners", "scorers")))
