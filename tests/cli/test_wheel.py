"""What `pip install` puts on a machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT


def ignored(path: str, rules: list[str]) -> bool:
    """Say whether `docker build` leaves a file out: by the last rule that is of it or of a folder around it."""
    found = False
    for rule in rules:
        pattern = re.escape(rule.removeprefix("!")).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
        pattern = pattern.replace(r"\*", "[^/]*").replace(r"\[", "[").replace(r"\]", "]")
        if re.fullmatch(f"{pattern}(?:/.*)?", path):
            found = not rule.startswith("!")
    return found


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    """The top level holds one package, with SQL, migrations and demo data, and nothing of an earlier build.

    It is built from what `docker build` has, whose Dockerfile copies all that the ignore file lets through.
    """
    source = tmp_path / "source"
    rules = (ROOT / ".dockerignore").read_text("utf-8").split()
    roots = {rule.removeprefix("!").split("/")[0] for rule in rules if rule.startswith("!")}
    for path in (path for root in sorted(roots) for path in (ROOT / root, *(ROOT / root).rglob("*"))):
        if path.is_file() and not ignored(path.relative_to(ROOT).as_posix(), rules):
            copy = source / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    (earlier := source / "build/lib/sentgen").mkdir(parents=True)
    (earlier / "moved_since.py").touch()
    plainly = ("--config-setting", "machine-code=no")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", *plainly, "--outdir", str(tmp_path)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())

    assert "sentgen/moved_since.py" not in names
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith((".dist-info", ".data"))} == {"sentgen"}
    for folder in ("sentgen", "schema", "migrations"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".sql", ".conllu", ".typed", ".j2", ".json"):
                inside = path.relative_to(ROOT).as_posix()
                assert (inside if folder == "sentgen" else f"sentgen/{inside}") in names


@pytest.mark.nightly
def test_the_manual_page_is_made(tmp_path: Path) -> None:
    """A wheel that is built of a checkout has it where `man` looks."""
    source = tmp_path / "source"
    ignored_names = shutil.ignore_patterns(".*", "__pycache__", "build", "tests", "man", "img")
    shutil.copytree(ROOT, source, ignore=ignored_names)
    plainly = ("--config-setting", "machine-code=no")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", *plainly, "--outdir", str(tmp_path)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()

    assert any(name.endswith(".data/data/share/man/man1/sentgen.1") for name in names)


def test_checkout_is_whole() -> None:
    """Python that is started in a checkout imports from it, although another sentgen may be installed."""
    packages = sysconfig.get_path("purelib")
    found = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            "import sentgen.schema, sentgen.migrations; print(sentgen.schema.__file__)",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": packages},  # without site, so that no editable installation is found
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.stdout.strip() == str(ROOT / "schema" / "__init__.py"), found.stderr
