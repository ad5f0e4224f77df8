"""The reference has every message of the code, and the page on errors explains only such messages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import messages  # noqa: E402

from sentgen import errors  # noqa: E402

PAGE = (ROOT / "docs" / "errors.md").read_text("utf-8")
_CLASSES = (one for one in vars(errors).values() if isinstance(one, type))
_NAMED = re.compile("|".join(one.__name__ for one in _CLASSES if issubclass(one, errors.SentgenError)))
#: Strings with fewer letters are no part of a message.
LETTERS = 10
#: Files of the server with messages on wrong requests.
_OF_SERVER = ("problems.py", "parameters.py")


def rows(tables: str) -> Iterator[list[str]]:
    """Yield the cells of all tables that begin with a message."""
    for line in tables.splitlines():
        if line.startswith("| `"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            yield [cell.strip().replace("\\|", "|") for cell in cells]


def uncoded(cell: str) -> str:
    """Return the code in a cell."""
    return re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", cell)


def literals(path: Path) -> Iterator[str]:
    """Yield the words in the errors that a file raises."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            error = getattr(errors, ast.unparse(node.func).rpartition(".")[2], None)
            if isinstance(error, type) and issubclass(error, errors.SentgenError):
                constants = (part for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant))
                yield from (
                    part.value for part in constants if isinstance(part.value, str) and " " in part.value
                )


@pytest.fixture(scope="module")
def listed() -> list[str]:
    """All messages, which are found once a process."""
    return [message.text for message in messages.messages()]


def test_every_message_that_is_explained_is_in_the_code(listed: list[str]) -> None:
    """Every message on the page is in the code, so that both are changed together."""
    known = list(listed)
    # Messages of the server on requests are no errors of the library.
    known += [" ".join((ROOT / "sentgen/server" / name).read_text("utf-8").split()) for name in _OF_SERVER]
    explained = [uncoded(message) for message, cause, remedy in rows(PAGE)]
    gone = [text for text in explained if not any(text in one for one in known)]

    assert not gone
    assert len(explained) > 40
    assert len(set(explained)) == len(explained)


def test_every_error_of_the_code_is_listed(listed: list[str]) -> None:
    """All strings in the brackets of an error, which are found independently, are in the list."""
    page = "\n".join(listed)
    files = [path for folder in ("sentgen", "schema") for path in (ROOT / folder).rglob("*.py")]
    # Most modules name no error, and parsing them takes longest.
    files = [path for path in files if _NAMED.search(path.read_text("utf-8"))]
    found = {" ".join(text.split()) for path in files for text in literals(path)}
    # Punctuation at the ends of pieces between names does not matter.
    missing = [
        text for text in found if sum(map(str.isalpha, text)) >= LETTERS and text.strip(" ;:,(") not in page
    ]

    assert not missing
    assert len(found) > 300


def _texts(source: str) -> list[str]:
    return sorted(messages._texts_of(ast.parse(source), {"InputError": 0, "Rejection": 4}))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("raise InputError('no pairs; add some', path=path)", ["no pairs; add some"]),
        ("raise errors.InputError(f'no {name!r} here')", ["no … here"]),
        ("raise InputError('a ' + ('b' if x else f'c {x}'))", ["a b", "a c …"]),
        ("raise InputError(f\"no {'pairs' if x else 'words'}\")", ["no pairs", "no words"]),
        ("def f():\n    told = 'one' if x else 'two'\n    raise InputError(told)", ["one", "two"]),
        ("def f(told):\n    raise InputError(told)\n\ndef g():\n    f('three')", ["three", "…"]),
        (
            "class A:\n    def _fail(self, at, told):\n        raise InputError(told)\n    def g(self):\n        self._fail(1, 'four')",
            ["four", "…"],
        ),
        ("def f(x):\n    return f'six {x}'\n\nraise InputError(f(x))", ["six …"]),
        ("raise InputError(f\"{told or 'seven'}\")", ["seven", "…"]),
        ("yield Rejection(path, 1, '', 'empty', 'five')", ["five"]),
        ("raise ValueError('not ours')", []),
        ("raise InputError(*parts)", []),
    ],
)
def test_a_message_is_found(source: str, found: list[str]) -> None:
    """Messages are found in strings, concatenations, names of a function, and functions that pass them on."""
    assert _texts(source) == found


def test_a_message_belongs_to_what_somebody_was_doing() -> None:
    """A message is listed by the longest place that fits its file; new files have one, too."""
    assert messages.Message("schema/engine.py", "").doing == "Opening and keeping a store"
    assert messages.Message("schema/guard.py", "").doing == "Asking with SQL"
    assert messages.Message("sentgen/new_room/new.py", "").doing == "Anywhere"
