"""The question for keywords, as the command line and the server ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlalchemy import Connection

from sentgen.lookups.question import IgnoreCaseOption, LimitOption, MinCountOption
from sentgen.lookups.statement import Answer
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.keyness import Keyness, find_keywords
from sentgen.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """What is more frequent in some corpora than in others."""

    corpus: Annotated[
        list[str],
        Option(
            "The corpora or subcorpora whose keywords are asked for.",
            argument=True,
            given=True,
            metavar="CORPUS",
            api={"min_length": 1, "max_length": 100},
        ),
    ]
    against: Annotated[
        list[str],
        Option(
            "The corpora or subcorpora to compare them with.",
            shell="Corpus or subcorpus to compare them with; may be repeated.",
            given=True,
            metavar="NAME",
            api={"min_length": 1, "max_length": 100},
        ),
    ]
    where: Annotated[
        str | None,
        Option(
            "Only sentences of these corpora whose metadata meet this: `genre = academic`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    against_where: Annotated[
        str | None,
        Option(
            "Only sentences of the others whose metadata meet this: `genre = fiction`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    by: Annotated[By, Option("What to compare.")] = By.WORD
    measure: Annotated[Keyness, Option("What to rank by.")] = Keyness.LOG_LIKELIHOOD
    negative: Annotated[bool, Option("Begin with what is rarer in these corpora than in the others.")] = False
    min_count: MinCountOption = 1
    ignore_case: IgnoreCaseOption = False
    limit: LimitOption = 20

    def ask(self, connection: Connection) -> Answer:
        return find_keywords(
            connection,
            self.corpus,
            self.against,
            condition=self.where,
            against_condition=self.against_where,
            by=self.by,
            measure=self.measure,
            negative=self.negative,
            min_count=self.min_count,
            ignore_case=self.ignore_case,
            limit=self.limit,
        )
