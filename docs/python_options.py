"""Write `sentgen/api/options.py`: what the Python methods take, from the declarations of the commands."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sentgen.alignment.choice import Choice
from sentgen.alignment.phrase_hmm.tuning import TuningPlan
from sentgen.alignment.stored.training import TrainingPlan
from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.corpora import Sync
from sentgen.counts.document_tables import DocumentTable
from sentgen.counts.pair_ingestion import ORDER
from sentgen.counts.settings import Settings
from sentgen.desk.line_sets import NewLineSet, SetLines
from sentgen.evaluation.alignment.gold_readers import GoldPairs
from sentgen.evaluation.check.check import CheckRequest
from sentgen.evaluation.fusion.texts import FusionTexts
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.generation.answers import OrderingRequest
from sentgen.generation.clusters.request import ClusterRequest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.models.build_request import BuildRequest
from sentgen.models.mix import MixRequest
from sentgen.models.parser_training import TrainParser
from sentgen.models.prune import PruneRequest
from sentgen.models.request import ScoreRequest
from sentgen.models.vector_building import VectorRequest
from sentgen.models.vectors import Near
from sentgen.options import PARSERS, Parameter, parameters_of

PATH = Path(__file__).parents[1] / "sentgen" / "api" / "options.py"
_WIDER = {
    "min_count": dict.fromkeys((BuildRequest, PruneRequest), "str | Sequence[int] | None"),
    "weights": {MixRequest: "str | Sequence[float] | None"},
    "lengths": {ClusterRequest: "str | int | Iterable[int]"},
    "salience": {ClusterRequest: "Literal['uniform', 'unigram', 'tfidf'] | Mapping[str, float]"},
}
_PARSED = f"Parse what has no trees: {PARSERS}."
_PARSER = ("parser", "str | None", None, _PARSED)
_TABLE_NAME = (
    "table_name",
    "str | None",
    None,
    "Of a table in memory: the name by which the corpus knows it; that of the corpus if none is given.",
)
_HEAD_PARSER = (
    "parser",
    "str | None",
    None,
    f"Find the heads of phrases that have none: {PARSERS}.",
)
#: What only a server does.
_OF_SERVER = {
    "as many as the server gives": "all",
    "any text if the server has a parser": "any text with a parser",
}
_FORMAT = ("format", "str | None", None, "Format of both texts; detected if not given.")
_TUNING = tuple(
    (one.name, one.kind.__name__, one.default, one.option.help) for one in parameters_of(TuningPlan)
)
_PRESET = (
    "preset",
    "Literal['paper', 'best']",
    "best",
    "Settings of the model: the paper's, or better ones.",
)
_LONGEST = "Most words of {} phrase; paper: 4, best: 1."
#: Class of options to the declaration, what the method takes beside it, and what is added.
DECLARATIONS: dict[str, tuple[type, tuple[str, ...], tuple[Any, ...]]] = {
    "IngestOptions": (Settings, ("corpus",), (_PARSER, _TABLE_NAME)),
    "SyncOptions": (Sync, ("name", "folder"), (_PARSER,)),
    "DocumentTableOptions": (DocumentTable, ("name", "table"), (_TABLE_NAME,)),
    "TrainParserOptions": (TrainParser, ("name", "corpus"), ()),
    "NgramsOptions": (Ngrams, ("pattern",), ()),
    "DependenciesOptions": (Dependencies, ("head", "modifier"), ()),
    "ArgumentsOptions": (Arguments, ("word",), ()),
    "KwicOptions": (Kwic, ("pattern",), ()),
    "NewLinesOptions": (NewLineSet, ("name", "pattern"), ()),
    "SetLinesOptions": (SetLines, ("name",), ()),
    "MatchOptions": (Match, ("request",), ()),
    "FrequenciesOptions": (Frequencies, ("by",), ()),
    "CollocationsOptions": (Collocations, ("word",), ()),
    "SketchOptions": (Sketch, ("word",), ()),
    "ThesaurusOptions": (Thesaurus, ("word",), ()),
    "KeynessOptions": (Keywords, ("corpus", "against"), ()),
    "PairOptions": (
        PairSettings,
        (),
        (
            ("licence", "str | None", None, "Licence to record."),
            ("order", "int", ORDER, "Highest order of n-grams to count."),
            ("on_error", "str", "raise", "A bad pair stops everything (raise), or is left out (skip)."),
        ),
    ),
    "BuildOptions": (BuildRequest, ("name", "corpus"), ()),
    "MixOptions": (MixRequest, ("name", "of"), ()),
    "PruneOptions": (PruneRequest, ("name", "of"), ()),
    "CompareOptions": (CompareRequest, ("models",), ()),
    "VectorOptions": (VectorRequest, ("name", "corpus"), ()),
    "NearOptions": (Near, ("word",), ()),
    "ScoreOptions": (ScoreRequest, ("text", "model"), ()),
    "RegenerateOptions": (OrderingRequest, ("bag", "model"), (_HEAD_PARSER,)),
    "AlignOptions": (Choice, (), (_FORMAT,)),
    "GenerateOptions": (ClusterRequest, ("file",), (_PARSER,)),
    "FuseOptions": (FusionTexts, ("key", "related"), (_PARSER,)),
    "CheckOptions": (CheckRequest, ("summary", "against"), (_PARSER,)),
    "TrainOptions": (
        TrainingPlan,
        (),
        (
            _PRESET,
            ("max_doc_phrase", "int | None", None, _LONGEST.format("a document")),
            (
                "max_abstract_phrase",
                "int | None",
                None,
                _LONGEST.format("an abstract"),
            ),
            ("setting", "str | Sequence[str]", (), "Any other settings, such as p0=0.2."),
            ("vectors", "str | None", None, "Vectors: words that they bring near are related."),
        ),
    ),
    "TuneOptions": (GoldPairs, ("gold",), _TUNING),
    "ApplyOptions": (Choice, ("model", "system", "explain"), ()),
}
_HEAD = '''\
"""Options of the methods: type, default and what each is; written by docs/generate_reference.py.

The declarations of the commands are the source: change those, and not this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypedDict
'''


def page() -> str:
    """Return the text of the module."""
    return "\n\n".join([_HEAD, *("\n".join(_class(name)) + "\n" for name in DECLARATIONS)])


def _class(name: str) -> Iterator[str]:
    declaration, places, added = DECLARATIONS[name]
    yield f"class {name}(TypedDict, total=False):"
    yield f'    """{_one_line(declaration)}"""\n'
    for one in parameters_of(declaration):
        if one.name not in places:
            default = one.default.value if isinstance(one.default, Enum) else one.default
            yield _line(one.name, _kind(declaration, one), default, one.option.help)
    for each in added:
        name, kind, *told = each
        yield _line(name, kind.replace("'", '"'), *told)


def _one_line(declaration: type) -> str:
    return _here(" ".join((declaration.__doc__ or "").split("\n\n")[0].split()))


def _here(text: str) -> str:
    for there, here in _OF_SERVER.items():
        text = text.replace(there, here)
    return text


def _line(name: str, kind: str, default: object, about: str) -> str:
    return f"    {name}: Annotated[{kind}, {_quoted(default)}, {_quoted(_here(about))}]"


def _quoted(value: object) -> str:
    """Return a literal as ruff formats it."""
    text = repr(value)
    if isinstance(value, str) and text[0] == "'" and '"' not in value:
        return f'"{text[1:-1]}"'
    return "()" if value == [] else text


def _kind(declaration: type, one: Parameter) -> str:
    wider = _WIDER.get(one.name, {}).get(declaration)
    return (wider or _written(one.kind)).replace("'", '"')


def _written(kind: Any) -> str:
    """Return a type as it is written, words in the place of enumerations."""
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(dict.fromkeys(_written(each) for each in get_args(kind)))
    if get_origin(kind) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(kind)))}]"
    if get_origin(kind) is list:
        return "str | Sequence[str]"
    if kind is NoneType:
        return "None"
    if issubclass(kind, Enum):
        return f"Literal[{', '.join(repr(str(member.value)) for member in kind)}]"
    return str(kind.__name__)
