"""Run everything that a change must pass: ``python -m tests``; arguments go to pytest.

The type checker and the import linter look at a copy laid out as it is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from sentgen.first_use import PARTS

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = ROOT / "build" / "installed"
#: Systems that types are checked for, this one last, whose cache the checks after it use.
SYSTEMS = sorted(("darwin", "linux", "win32"), key=sys.platform.__eq__)
#: What the machine code was compiled from that lies beside the sources; goes with the folder that Python keeps.
COMPILED = ROOT / "sentgen" / "__pycache__" / "compiled-from"


def lay_out() -> None:
    """Copy the packages to where an installation has them, by the table that setuptools finds them with."""
    shutil.rmtree(INSTALLED, ignore_errors=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for package, folder in project["tool"]["setuptools"]["package-dir"].items():
        target = INSTALLED.joinpath(*package.split("."))
        shutil.copytree(ROOT / folder, target, ignore=shutil.ignore_patterns("__pycache__"))


def run(*command: str, cwd: Path = ROOT) -> None:
    """Run one tool of this environment; stop here if it complains."""
    print("$", *command, flush=True)
    environment = {**os.environ, "PYTHONPATH": str(INSTALLED)} if cwd == INSTALLED else None
    tool = Path(sys.executable).parent / command[0]
    result = subprocess.run([str(tool), *command[1:]], cwd=cwd, env=environment, check=False)
    if result.returncode:
        sys.exit(result.returncode)


def main() -> None:
    """Run all checks, the slow ones last."""
    # Hundreds of processes import the same modules: each would compile what nobody keeps.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Two threads of BLAS wait for each other where another test has the other core: that takes twice the time.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # Beside the other checks, so that the processes of the tests do not all compile the same functions.
    command, sources = [sys.executable, "-m", "sentgen.first_use"], compiled_sources()
    current = COMPILED.exists() and COMPILED.read_text("utf-8") == sources
    compiling = [subprocess.Popen([*command, part], cwd=ROOT) for part in PARTS if not current]
    try:
        check_texts()
    finally:
        failed = [one.wait() for one in compiling]
    if any(failed):  # it has said which commands did
        sys.exit(1)
    COMPILED.write_text(sources, "utf-8")
    # Files as they come: the scheduler of `conftest.py` would begin with those that have most tests.
    several = any(word.startswith(("-n", "--numprocesses")) for word in sys.argv[1:])
    in_order = ["--no-loadscope-reorder"] if several else []
    run("pytest", *in_order, "--busiest=20", *sys.argv[1:])


def compiled_sources() -> str:
    """Return what machine code depends on: Python, numba, and when the modules were written that are compiled."""
    modules = [path for path in (ROOT / "sentgen").rglob("*.py") if "compiled" in path.read_text("utf-8")]
    written = sorted(f"{path.relative_to(ROOT)} {path.stat().st_mtime_ns}" for path in modules)
    return "\n".join([sys.version, version("numba"), *written])


def check_texts() -> None:
    """Run the checks that run nothing."""
    run("ruff", "format", "--check", ".")
    run("ruff", "check", ".")
    lay_out()
    settings = str(ROOT / "pyproject.toml")
    # Beside the sources: what is laid out goes with every run, and what was found of it should not.
    mypy = ["mypy", "--config-file", settings, "--cache-dir"]
    for system in SYSTEMS:
        # A cache each: mypy would begin anew for the next one.
        found = str(ROOT / ".mypy_cache" / system)
        run(*mypy, found, "--platform", system, "-p", "sentgen", cwd=INSTALLED)
    # As an author of a plug-in does it, and who uses the package; mypy takes no files beside a package.
    run(*mypy, found, str(ROOT / "examples/plugin/src"), str(ROOT / "tests/api/outside.py"), cwd=INSTALLED)
    # No test runs these, so that a name that they use may be gone.
    run(*mypy, found, str(ROOT / "benchmarks"), cwd=INSTALLED)
    found = str(ROOT / ".import_linter_cache")
    run("lint-imports", "--config", settings, "--cache-dir", found, cwd=INSTALLED)


if __name__ == "__main__":
    main()
