"""How a corpus is read and counted: the same for all of its sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import Connection, insert, select

from sentgen.corpus.encodings import UTF_8, check_encoding
from sentgen.corpus.formats import check_format
from sentgen.corpus.reader import ENGLISH
from sentgen.errors import InputError, spell
from sentgen.options import Option, parameters_of
from sentgen.schema.store import next_id, now
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables.counts import MAX_ORDER

ON_ERROR = ("raise", "collect", "skip")
#: Settings of the readers of formats.
OF_READERS = ("language", "encoding", "columns", "sentences", "text", "id", "meta", "notes")
#: The values of `corpus.kind`.
CORPUS, PAIRS = "corpus", "pairs"
#: Two or three letters of ISO 639.
_LANGUAGE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a corpus is read and counted; the same for all of its sources."""

    corpus: Annotated[str, Option("Corpus to make or to add to.", metavar="NAME")]
    format: Annotated[str | None, Option("Format; detected if not given.", short="-f", metavar="FORMAT")] = (
        None
    )
    language: Annotated[
        str,
        Option(
            "Language of raw text, for its sentences and tokens: a code of ISO 639, such as fr.",
            metavar="CODE",
        ),
    ] = ENGLISH
    encoding: Annotated[
        str, Option("Encoding of text, where it is not UTF-8, such as latin-1.", metavar="NAME")
    ] = UTF_8
    columns: Annotated[
        str | None,
        Option("Columns of a vertical file, such as word,pos,lemma; others are attributes.", metavar="NAMES"),
    ] = None
    sentences: Annotated[
        str | None,
        Option("Tag whose regions are the sentences of a vertical file without <s>.", metavar="KIND"),
    ] = None
    text: Annotated[
        str | None,
        Option("Column of a table, or key of JSON Lines, with the text or lists of words.", metavar="COLUMN"),
    ] = None
    id: Annotated[
        str | None,
        Option("Column of a table, or key of JSON Lines, with the names of documents.", metavar="COLUMN"),
    ] = None
    meta: Annotated[
        list[str],
        Option(
            "More metadata of TEI: what an expression finds in its header; can be repeated.",
            metavar="NAME=XPATH",
        ),
    ] = field(default_factory=list)
    notes: Annotated[bool, Option("Take notes of TEI for text, behind their paragraphs.")] = False
    licence: Annotated[str | None, Option("Licence to record.", metavar="TEXT")] = None
    lowercase: Annotated[bool, Option("Lower-case forms and lemmas.")] = False
    order: Annotated[int, Option("Highest order of n-grams to count, 1 to 5.")] = MAX_ORDER
    tags: Annotated[str, Option("Tags that dependency counts use first.", metavar="xpos|upos")] = "xpos"
    function_heads: Annotated[
        bool, Option("Let case, mark, aux and cop head their phrase in the unit layer (UD only).")
    ] = True
    on_error: Annotated[
        str,
        Option(
            "A bad sentence stops everything, or refuses its file after a full check, or is left out.",
            metavar="raise|collect|skip",
        ),
    ] = "raise"
    replace: Annotated[
        bool,
        Option(
            "What was read from the same path before goes when the new content is in.",
            shell="Replace what was read from the same path before; a refused file leaves it.",
        ),
    ] = False
    kind: str = CORPUS

    @property
    def reading(self) -> dict[str, object]:
        """What is given of the settings that readers take, by name."""
        usual = {parameter.name: parameter.default for parameter in parameters_of(Settings, OF_READERS)}
        return {name: value for name, default in usual.items() if (value := getattr(self, name)) != default}

    def __post_init__(self) -> None:
        if not self.corpus.strip():
            raise InputError(f"a corpus needs a name; give {spell('corpus')} NAME")
        if not 1 <= self.order <= MAX_ORDER:
            raise InputError(f"order {self.order} is not between 1 and {MAX_ORDER}")
        if self.tags not in ("xpos", "upos"):
            raise InputError(f"tags {self.tags!r} are neither xpos nor upos")
        if not _LANGUAGE.fullmatch(self.language):
            raise InputError(
                f"no language {self.language!r}; give a code of ISO 639, such as en, fr, zh or ar"
            )
        check_encoding(self.encoding)
        if self.on_error not in ON_ERROR:
            raise InputError(f"{spell('on_error')} {self.on_error!r} is none of: {', '.join(ON_ERROR)}")
        check_format(self.format)

    def row(self, number: int, created_at: datetime) -> dict[str, object]:
        """Return what the table of corpora has of a new one."""
        return {
            "id": number,
            "name": self.corpus,
            "kind": self.kind,
            "licence": self.licence,
            "lowercase": self.lowercase,
            "max_order": self.order,
            "tags": self.tags,
            "function_heads": self.function_heads,
            "created_at": created_at,
        }


@dataclass(frozen=True, slots=True)
class CountedCorpus:
    """How a corpus is counted, and its id, which is the next free one if it is not ``stored`` yet."""

    id: int
    kind: str
    lowercase: bool
    max_order: int
    tags: str
    function_heads: bool
    stored: bool = True

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> CountedCorpus:
        """Return the corpus of a row of a store or a lake."""
        counted = ("id", "kind", "lowercase", "max_order", "tags", "function_heads")
        return cls(*(row[name] for name in counted))

    def check(self, settings: Settings) -> None:
        """Refuse settings that differ from those with which the corpus was counted before."""
        if self.kind != settings.kind:
            raise InputError(
                f"the corpus {settings.corpus!r} is of kind {self.kind}, not {settings.kind}; "
                f"choose another {spell('corpus')} name"
            )
        if settings.kind == PAIRS:
            # Further pairs are counted like the first ones, whatever the settings are.
            return
        compared = {
            "lowercase": (self.lowercase, settings.lowercase),
            "order": (self.max_order, settings.order),
            "tags": (self.tags, settings.tags),
            "function_heads": (self.function_heads, settings.function_heads),
        }
        for name, (stored, wanted) in compared.items():
            if stored != wanted:
                raise InputError(
                    f"corpus {settings.corpus!r} was made {_option(name, stored)},"
                    f" not {_option(name, wanted)}; use the same settings, or another {spell('corpus')} name"
                )

    @classmethod
    def find(cls, connection: Connection, name: str) -> CountedCorpus | None:
        """Return a corpus, if there is one of that name."""
        row = connection.execute(select(tables.corpus).where(tables.corpus.c.name == name)).first()
        return None if row is None else CountedCorpus.of_row(row._asdict())

    @classmethod
    def of_settings(cls, connection: Connection, settings: Settings) -> CountedCorpus:
        """Return the corpus that settings name, or the new corpus that they describe.

        Raises:
            InputError: the corpus has other settings, or the name is that of a subcorpus.
        """
        stored = cls.find(connection, settings.corpus)
        if stored is not None:
            stored.check(settings)
            return stored
        same = select(tables.subcorpus).where(tables.subcorpus.c.name == settings.corpus)
        if connection.execute(same).first() is not None:
            # Options take the names of corpora and of subcorpora.
            raise InputError(
                f"{settings.corpus!r} is a subcorpus (sentgen subcorpora list); "
                f"choose another {spell('corpus')} name"
            )
        row = settings.row(next_id(connection, tables.corpus), now())
        return replace(cls.of_row(row), stored=False)

    @staticmethod
    def add(connection: Connection, settings: Settings, number: int) -> None:
        """Make a corpus."""
        connection.execute(insert(tables.corpus), settings.row(number, now()))


def _option(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{'with' if value else 'without'} {spell(name)}"
    return f"with {spell(name)} {value}"
