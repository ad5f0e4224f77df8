"""The messages of all errors that sentgen raises, from its code, for `docs/reference/messages.md`.

A message is what is given to a `SentgenError`, or to a function that hands it on to one. What varies in it is
``…``; a message that is that of another program or library alone has no words of ours, and is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from sentgen.options import dashed

ROOT = Path(__file__).resolve().parent.parent
#: What somebody was doing when code in these places complains; of several places that fit, the longest.
DOING = {
    "Opening and keeping a store": ("schema/", "migrations/", "sentgen/cli/db.py"),
    "Asking with SQL": (
        "schema/guard.py",
        "schema/readonly.py",
        "schema/dictionary.py",
        "sentgen/cli/sql.py",
    ),
    "Reading files": ("sentgen/corpus/",),
    "Parsing": ("sentgen/corpus/parser", "sentgen/cli/parser.py"),
    "Reading pairs": (
        "sentgen/corpus/pair_",
        "sentgen/counts/pair_ingestion.py",
        "sentgen/cli/pairs.py",
    ),
    "Ingesting and looking inside": (
        "sentgen/counts/",
        "sentgen/cli/ingest.py",
        "sentgen/cli/inspect.py",
        "sentgen/cli/kwic.py",
        "sentgen/cli/console/output.py",
    ),
    "Building and asking models": (
        "sentgen/models/",
        "sentgen/cli/models.py",
        "sentgen/cli/score.py",
    ),
    "Ordering bags": ("sentgen/generation/", "sentgen/cli/regenerate.py"),
    "Generating and fusing": (
        *("sentgen/generation/clusters/", "sentgen/models/dependency/cluster_"),
        "sentgen/cli/generate.py",
    ),
    "Aligning": ("sentgen/alignment/", "sentgen/cli/align"),
    "Evaluating and checking": (
        "sentgen/evaluation/",
        "sentgen/cli/evaluate",
        "sentgen/cli/check.py",
    ),
    "Using plug-ins": (
        *("sentgen/entry_points.py", "sentgen/corpus/plugin_"),
        *("sentgen/alignment/plugin_", "sentgen/models/plugin_"),
    ),
    "Publishing and serving": ("sentgen/server/", "schema/snapshots.py", "sentgen/cli/serve.py"),
    "Anywhere": ("",),
}
#: Other classes whose message reaches the user, and its place among their arguments.
_OTHERS = {"Rejection": 4, "FormatError": 1, "BadParameter": 0}
#: Fewer letters of ours say nothing that can be searched for.
_LETTERS = 6

Function = ast.FunctionDef | ast.AsyncFunctionDef | None


@dataclass(frozen=True, order=True)
class Message:
    """A message, and the file that has it."""

    path: str
    text: str

    @property
    def doing(self) -> str:
        """Return what somebody was doing who reads it."""
        fits = (
            (len(place), what)
            for what, places in DOING.items()
            for place in places
            if self.path.startswith(place)
        )
        return max(fits)[1]


@cache
def messages() -> list[Message]:
    """Return all messages, each once a file; two pages ask for them."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for folder in ("sentgen", "schema", "migrations")
        for path in (ROOT / folder).rglob("*.py")
    }
    raised = _OTHERS | dict.fromkeys(_errors(texts.values()), 0)
    # Most modules name no error: to parse them takes longer than all else.
    names = re.compile(rf"\b({'|'.join(raised)})\b")
    trees = {path: ast.parse(text) for path, text in texts.items() if names.search(text)}
    found = set()
    for path, tree in trees.items():
        for text in _texts_of(tree, raised):
            plain = re.sub(r"…+", "…", " ".join(text.split())).removeprefix("…: ")
            if sum(map(str.isalpha, plain)) >= _LETTERS:
                found.add(Message(path, plain))
    return sorted(found)


def _errors(texts: Iterable[str]) -> set[str]:
    """Return the names of `SentgenError` and all classes below it."""
    bases = {
        name: {base.rpartition(".")[2].strip() for base in above.split(",")}
        for text in texts
        for name, above in re.findall(r"^ *class (\w+)\(([^)]*)\):", text, re.MULTILINE)
    }
    found = {"SentgenError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def _texts_of(tree: ast.Module, raised: dict[str, int]) -> Iterator[str]:
    """Yield the messages of a module; functions that hand one of their arguments on count as errors do."""
    calls = list(_calls(tree, None))
    handing = dict(raised)
    while True:
        known = len(handing)
        for call, function in calls:
            message = _argument(call, handing)
            if function is None or not isinstance(message, ast.Name):
                continue
            names = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
            if message.id in names:
                handing.setdefault(function.name, names.index(message.id))
        if len(handing) == known:
            break
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for call, function in calls:
        message = _argument(call, handing)
        if isinstance(message, ast.Call) and (maker := functions.get(ast.unparse(message.func))):
            for node in ast.walk(maker):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from _texts(node.value, maker)
        elif message is not None:
            yield from _texts(message, function)


def _calls(node: ast.AST, function: Function) -> Iterator[tuple[ast.Call, Function]]:
    """Yield all calls with the function that they stand in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, function
        inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from _calls(child, inner)


def _argument(call: ast.Call, handing: dict[str, int]) -> ast.expr | None:
    """Return the message among the arguments of a call, if it is one that takes a message."""
    place = handing.get(_name(call.func))
    if place is None or len(call.args) <= place or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    return call.args[place]


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _texts(node: ast.expr, function: Function) -> list[str]:
    """Return what an expression may say; ``…`` for what is not known here."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(texts) for texts in product(*(_texts(part, function) for part in parts))]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return [one + other for one in _texts(left, function) for other in _texts(right, function)]
        case ast.IfExp(body=body, orelse=other):
            return [*_texts(body, function), *_texts(other, function)]
        case ast.BoolOp(values=values):
            return [text for value in values for text in _texts(value, function)]
        case ast.Name(id=name) if function is not None:
            return [text for value in _assigned(name, function) for text in _texts(value, None)] or ["…"]
        case ast.FormattedValue(value=ast.IfExp() | ast.BoolOp() | ast.Call() as value):
            return _texts(value, None)
        case ast.Call(func=ast.Name(id="spell"), args=[option], keywords=off):
            # As the command line has it.
            return _texts(off[0].value, None) if off else [dashed(*_texts(option, None))]
    return ["…"]


def _assigned(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            yield node.value
