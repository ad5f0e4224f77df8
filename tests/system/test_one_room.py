"""Nothing but sentgen/system depends on the operating system: by the syntax trees of all other modules.

What Windows or macOS lacks is not listed here: typeshed, which comes with mypy, has it by system.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import mypy
import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "sentgen" / "system"
ROOMS = sorted(
    {f"sentgen/{path.relative_to(ROOM.parent).parts[0]}" for path in ROOM.parent.rglob("*.py")}
    - {"sentgen/system"}
)
TYPESHED = Path(mypy.__file__).parent / "typeshed" / "stdlib"
SYSTEMS = ("linux", "darwin", "win32")
#: Modules of which some systems have none, or that are there for what differs.
_OF_SYSTEMS = frozenset(
    [
        "fcntl",
        "resource",
        "pwd",
        "grp",
        "termios",
        "tty",
        "pty",
        "syslog",
        "posix",
        "nt",
        "msvcrt",
        "winreg",
        "_winapi",
        "ctypes",
        "psutil",
    ]
)
#: Modules that all systems have, but not with the same names.
DIFFERING = ("os", "signal", "mmap", "time", "socket", "select", "errno", "subprocess")
#: What is asked about the system itself.
_ASKED = {("sys", "platform"), ("os", "name"), ("os", "uname"), ("platform", "system")}
_PLACE = re.compile(r"/proc/|/dev/fd")
_PROGRAM = re.compile(rf"\bimport (?:[\w, ]+, *)?(?:{'|'.join(sorted(_OF_SYSTEMS))})\b")


def names(body: list[ast.stmt], system: str) -> Iterator[str]:
    """Yield the names that a stub gives a module in one system."""
    for statement in body:
        match statement:
            case ast.If(test, then, otherwise):
                known = {"sys": SimpleNamespace(platform=system, version_info=(3, 11))}
                yield from names(then if eval(ast.unparse(test), known) else otherwise, system)
            case ast.FunctionDef(name) | ast.ClassDef(name) | ast.AnnAssign(ast.Name(name)):
                yield name
                if isinstance(statement, ast.ClassDef) and name in ("Signals", "Handlers"):
                    yield from names(statement.body, system)
            case ast.Assign(targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.ImportFrom(_, aliases) | ast.Import(aliases):
                yield from (alias.asname or alias.name for alias in aliases)


@cache
def parsed(path: Path) -> ast.Module:
    """Read a module once for all tests."""
    return ast.parse(path.read_text("utf-8"))


@cache
def somewhere_missing(module: str) -> frozenset[str]:
    """The names of a module that not all systems have."""
    found = TYPESHED / f"{module}.pyi"
    stub = ast.parse((found if found.exists() else TYPESHED / module / "__init__.pyi").read_text("utf-8"))
    by_system = [set(names(stub.body, system)) for system in SYSTEMS]
    return frozenset(set.union(*by_system) - set.intersection(*by_system))


def breaks(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines that depend on the system, each with what does."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(aliases):
                yield from (
                    (node.lineno, one.name) for one in aliases if one.name.partition(".")[0] in _OF_SYSTEMS
                )
            case ast.ImportFrom(str(module), aliases, 0):
                asked = [one.name for one in aliases if is_of_a_system(module, one.name)]
                yield from ((node.lineno, f"{module}.{name}") for name in asked)
                if module.partition(".")[0] in _OF_SYSTEMS:
                    yield node.lineno, module
            case ast.Attribute(ast.Name(module), name) if is_of_a_system(module, name):
                yield node.lineno, f"{module}.{name}"
            case ast.Call(ast.Name("hasattr" | "getattr"), [ast.Name(module), ast.Constant(str(name)), *_]):
                if is_of_a_system(module, name):
                    yield node.lineno, f"{module}.{name}"
            case ast.Constant(str(text)) if found := _PLACE.search(text) or _PROGRAM.search(text):
                yield node.lineno, found[0]


def is_of_a_system(module: str, name: str) -> bool:
    """Say whether not all systems have a name, or it tells which system this is."""
    return (module, name) in _ASKED or (module in DIFFERING and name in somewhere_missing(module))


@pytest.mark.parametrize("room", ["schema", "migrations", "cli.py", *ROOMS])
def test_no_other_module_depends_on_the_system(room: str) -> None:
    found = []
    for path in (ROOT / room).rglob("*.py") if (ROOT / room).is_dir() else [ROOT / room]:
        found += [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in breaks(parsed(path))]
    assert not found, "this belongs into sentgen/system:\n" + "\n".join(found)


def test_the_room_itself_depends_on_the_system() -> None:
    """What is looked for is found where it is."""
    found = {what for path in ROOM.glob("*.py") for _, what in breaks(ast.parse(path.read_text("utf-8")))}
    assert found >= {
        *("fcntl", "msvcrt", "resource", "ctypes", "psutil", "sys.platform", "/proc/", "/dev/fd"),
        *("os.O_TMPFILE", "os.O_BINARY", "os.posix_fallocate", "os.pread", "os.sysconf", "os.nice"),
        *(
            "os.set_blocking",
            "os.register_at_fork",
            "signal.SIGKILL",
            "signal.SIGBREAK",
            "mmap.MADV_DONTNEED",
        ),
        "subprocess.CREATE_NEW_PROCESS_GROUP",
    }


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import a, fcntl", "fcntl"),
        ("from ctypes import util", "ctypes"),
        ("import psutil", "psutil"),
        ("os.kill(1, signal.SIGHUP)", "signal.SIGHUP"),
        ("from signal import SIGKILL", "signal.SIGKILL"),
        ("from os import fork", "os.fork"),
        ("os.open('a', os.O_DIRECTORY)", "os.O_DIRECTORY"),
        ("hasattr(os, 'fork')", "os.fork"),
        ("os.fchmod(1, 0)", "os.fchmod"),
        ("os.killpg(1, 2)", "os.killpg"),
        ("a = '/proc/self/fd'", "/proc/"),
        ("a = f'/proc/{b}'", "/proc/"),
        ("a = 'import fcntl, os, sys'", "import fcntl"),
        ("a = 'import os, fcntl'", "import os, fcntl"),
        ("sys.platform == 'win32'", "sys.platform"),
    ],
)
def test_what_breaks_the_rule(line: str, what: str) -> None:
    """Told with its line."""
    assert list(breaks(ast.parse(f"\n{line}"))) == [(2, what)]


@pytest.mark.parametrize(
    "line", ["import os, signal", "os.kill(1, signal.SIGINT)", "signal.SIGTERM", "os.O_EXCL", "a.platform"]
)
def test_what_all_systems_have(line: str) -> None:
    assert list(breaks(ast.parse(line))) == []


def unspoken(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines where text is read or written in the encoding that the system happens to have."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(one.arg in ("encoding", None) for one in node.keywords):
            continue
        keywords = {one.arg: ast.unparse(one.value) for one in node.keywords}
        match node.func, node.args:
            case ((ast.Name("open" as name) | ast.Attribute(ast.Name("os"), "fdopen" as name)), [_, *rest]):
                mode = ast.unparse(rest[0]) if rest else keywords.get("mode", "'r'")
                said = "b" in mode
            # Without a mode it may be another method of that name.
            case ast.Attribute(_, "open" as name), [ast.Constant(str(mode)), *_] if set(mode) <= set(
                "rwax+tb"
            ):
                said = "b" in mode
            case ast.Attribute(_, "read_text" as name), [*rest]:
                said = bool(rest)
            case ast.Attribute(_, "write_text" as name), [*rest]:
                said = len(rest) > 1
            case ast.Attribute(ast.Name("io"), "TextIOWrapper" as name), [*rest]:
                said = len(rest) > 1
            case ast.Attribute(ast.Name("subprocess"), name), _:
                said = not {"text", "universal_newlines"} & keywords.keys()
            case _:
                continue
        if not said:
            yield node.lineno, name


def moves(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines that give a file a name or remove it past `sentgen.system.files`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("os"), "replace" | "rename" as name), _):
                yield node.lineno, name
            # Strings have two arguments, all else keywords.
            case ast.Call(ast.Attribute(_, "replace" | "rename" as name), [_], []):
                yield node.lineno, name


@pytest.mark.parametrize("room", ["schema", "migrations", "cli.py", "sentgen/system", *ROOMS])
def test_text_has_an_encoding_and_files_get_names_in_one_room(room: str) -> None:
    """Windows has other encodings, and refuses to replace what somebody looks at."""
    found = []
    for path in (ROOT / room).rglob("*.py") if (ROOT / room).is_dir() else [ROOT / room]:
        tree = parsed(path)
        wrong = [*unspoken(tree), *([] if room == "sentgen/system" else moves(tree))]
        found += [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in wrong]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "open(a)",
        "open(a, 'w')",
        "open(a, mode='w')",
        "a.open('w', newline='')",
        "os.fdopen(1, 'w')",
        "a.write_text(b)",
        "io.TextIOWrapper(a)",
        "subprocess.run(a, text=True)",
    ],
)
def test_text_without_an_encoding(line: str) -> None:
    """Told with its line; with one it is none."""
    assert [number for number, _ in unspoken(ast.parse(f"\n{line}"))] == [2]
    assert list(unspoken(ast.parse(f"{line[:-1]}, encoding='utf-8')"))) == []


def test_the_text_of_a_path_without_an_encoding() -> None:
    assert [*unspoken(ast.parse("a.read_text()"))] == [(1, "read_text")]


@pytest.mark.parametrize(
    "line",
    ["open(a, 'rb')", "a.open('wb')", "os.open(a, 0)", "a.read_text('utf-8')", "subprocess.run(a)"],
)
def test_bytes_have_no_encoding(line: str) -> None:
    assert list(unspoken(ast.parse(line))) == []


def test_what_gives_files_names() -> None:
    """Not strings nor dates."""
    lines = "os.replace(a, b)", "os.rename(a, b)", "a.replace(b)", "a.with_suffix('').rename(b)"
    assert [len(list(moves(ast.parse(line)))) for line in lines] == [1, 1, 1, 1]
    assert not [*moves(ast.parse("a.replace('b', 'c'); a.replace(tzinfo=None)"))]
