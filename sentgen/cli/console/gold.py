"""Options of all commands that read links which people drew."""

from __future__ import annotations

from typing import Annotated

from sentgen.options import Option

GoldOption = Annotated[str, Option("Alignments that people made.", metavar="PATH")]
GoldFormatOption = Annotated[
    str,
    Option(
        "Their format: edinburgh, rte, mtref, multimwa, handalign or pharaoh.",
        short="-f",
        metavar="FORMAT",
    ),
]
CombineOption = Annotated[
    str,
    Option(
        "Links of several annotators: drawn by half of them, by any, by all, or by one.",
        metavar="half|union|intersection|NAME",
    ),
]
LimitOption = Annotated[int | None, Option("Only the first N pairs.", short="-n", metavar="N", least=1)]
