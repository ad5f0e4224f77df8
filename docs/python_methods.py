"""The methods of the Python API as Markdown, from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import sentgen

#: Classes whose methods are told, and what makes one.
CLASSES: dict[type, str] = {
    sentgen.Database: "",
    sentgen.LanguageModel: "`Database.build_model` and `Database.model` make one.",
    sentgen.Table: "What all answers are.",
    sentgen.Hits: "What `Database.match` gives; a `Table`.",
    sentgen.Sentences: "What `LanguageModel.regenerate` and `Database.generate` give; a `Table`.",
    sentgen.FusedSentences: "What `Database.fuse` gives; a `Table`.",
    sentgen.AlignedTexts: "What `Database.align` gives; a `Table`.",
    sentgen.CheckedSummary: "What `Database.check` gives; a `Table`.",
    sentgen.SentenceTree: "A tree of `Hits` or `Sentences`.",
}

#: Command to the method that does the same.
METHODS = {
    "ingest": "ingest",
    "corpora list": "corpora",
    "corpora show": "corpus",
    "corpora verify": "verify_corpus",
    "corpora export": "export_corpus",
    "corpora metadata": "add_metadata",
    "corpora remove": "remove_corpus",
    "corpora sync": "sync",
    "subcorpora define": "define_subcorpus",
    "subcorpora list": "subcorpora",
    "subcorpora show": "subcorpus",
    "subcorpora remove": "remove_subcorpus",
    "parser train": "train_parser",
    "parser list": "parses",
    "parser forget": "forget_parses",
    "pairs ingest": "ingest_pairs",
    "pairs list": "pairs",
    "pairs show": "pair",
    "ngrams": "ngrams",
    "deps": "dependencies",
    "args": "arguments",
    "kwic": "kwic",
    "match": "match",
    "freq": "frequencies",
    "collocations": "collocations",
    "sketch": "sketch",
    "thesaurus": "thesaurus",
    "keyness": "keyness",
    "lines new": "new_lines",
    "lines list": "LineSet.lines",
    "lines label": "LineSet.label",
    "lines undo": "LineSet.undo",
    "lines report": "LineSet.report",
    "lines import": "LineSet.import_labels",
    "lines remove": "LineSet.remove",
    "saved add": "save_query",
    "saved list": "saved_queries",
    "saved run": "run_query",
    "saved remove": "remove_query",
    "cite": "cite",
    "sql": "sql",
    "schema": "schema",
    "models build": "build_model",
    "models apply": "apply_model",
    "models mix": "mix_models",
    "models prune": "prune_model",
    "models compare": "compare_models",
    "models list": "models",
    "models show": "LanguageModel.properties",
    "models remove": "remove_model",
    "models export": "LanguageModel.export",
    "models import-arpa": "import_model",
    "vectors build": "build_vectors",
    "vectors list": "vectors",
    "vectors near": "near",
    "vectors remove": "remove_vectors",
    "score": "LanguageModel.score",
    "regenerate": "LanguageModel.regenerate",
    "generate": "generate",
    "fuse": "fuse",
    "check": "check",
    "align text": "align",
    "align train": "train_alignment",
    "align tune": "tune_alignment",
    "align model": "alignment_model",
    "align models": "alignment_models",
    "align remove": "remove_alignment_model",
    "align apply": "align_pairs",
    "align figures": "alignment_figures",
    "align export": "alignment_links",
    "align extract": "extract",
    "db info": "info",
    "db check": "check_store",
    "db repair": "repair",
    "db compact": "compact",
    "db backup": "backup",
    "formats": "formats",
    "algorithms": "algorithms",
    "aligners": "aligners",
    "scorers": "scorers",
    "publish": "publish",
}


def command_table() -> str:
    """Return which method does what a command does."""
    rows = (f"| `{command}` | `{method}` |" for command, method in METHODS.items())
    return "\n".join(["| command | method |", "| --- | --- |", *rows])


def page() -> str:
    """Return all methods and properties."""
    parts = [f"### sentgen.open\n\n{_method('sentgen.open', sentgen.open)}"]
    for kind, origin in CLASSES.items():
        parts.append(f"### {kind.__name__}\n\n{_sentences(kind)}\n{origin}".rstrip())
        parts += _members(kind)
    return "\n\n".join(parts)


def _members(kind: type) -> Iterator[str]:
    for name, member in _own(kind):
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        title = f"{kind.__name__}.{name}"
        if isinstance(member, property):
            yield f"#### {title}\n\n{_sentences(member.fget)}"
        else:
            yield f"#### {title}\n\n{_method(name, member)}"


def _own(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class has itself, and what its parts give it; other classes are told by themselves."""
    yield from vars(kind).items()
    for part in kind.__bases__:
        if part is not object and part not in CLASSES:
            yield from vars(part).items()


def _method(name: str, method: Any) -> str:
    """Return the signature, what it does, and its options as a table."""
    signature = inspect.signature(method)
    own = [one for one in signature.parameters.values() if one.name != "self"]
    described = _described(_options(method))
    # What stands in the table is not said twice.
    shown = [one for one in own if one.name not in described]
    written = ", ".join([*_parameters(shown), *(["..."] if described else [])])
    parts = [f"```python\n{name}({written}) -> {_type(signature.return_annotation)}\n```", _sentences(method)]
    described |= _described(_arguments(method))
    if rows := [_row(one, described[one.name]) for one in own if one.name in described]:
        parts.append("\n".join(["| option | type | default | |", "| --- | --- | --- | --- |", *rows]))
    return "\n\n".join(parts)


def _described(section: str) -> dict[str, str]:
    """Return the parameters that a section of a docstring describes, each with its whole text."""
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)$", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def _row(one: inspect.Parameter, about: str) -> str:
    default = "" if one.default is one.empty else f"`{one.default!r}`"
    return f"| `{one.name}` | `{_cell(_type(one.annotation))}` | {default} | {_cell(about)} |"


def _parameters(own: list[inspect.Parameter]) -> Iterator[str]:
    named = False
    for one in own:
        if one.kind is one.KEYWORD_ONLY and not named:
            yield "*"
            named = True
        default = "" if one.default is one.empty else f" = {one.default!r}"
        star = "*" if one.kind is one.VAR_POSITIONAL else ""
        yield f"{star}{one.name}: {_type(one.annotation)}{default}"


def _type(annotation: Any) -> str:
    if get_origin(annotation) in (Union, UnionType):  # which only Python 3.14 always writes with |
        return " | ".join(_type(None if one is NoneType else one) for one in get_args(annotation))
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = text.replace("collections.abc.", "").replace("typing.", "")
    # As Python 3.14 writes it.
    return re.sub(r"^Optional\[(.+)\]$", r"\1 | None", text)


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|").replace("<", "&lt;")


def _options(method: Any) -> str:
    return (inspect.getdoc(method) or "").partition("\nOptions:\n")[2]


def _arguments(method: Any) -> str:
    after = (inspect.getdoc(method) or "").partition("\nArgs:\n")[2]
    return after.partition("\nRaises:")[0]


def _sentences(method: Any) -> str:
    """Return what is said before the arguments, a sentence a line."""
    text = (inspect.getdoc(method) or "").partition("\nOptions:")[0]
    text = re.split(r"\n(?:Args|Raises|Attributes):", text)[0]
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    return "\n\n".join(re.sub(r"(?<=[.]) (?=[A-Z`])", "\n", part) for part in paragraphs).replace("``", "`")
