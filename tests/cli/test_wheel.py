"""What `pip install` puts on a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    """The top level holds one package, with SQL, migrations and demo data; the manual page is where `man` looks."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("sentgen", "schema", "migrations"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "docs" / "man").mkdir(parents=True)
    page = "docs/man/sentgen.1"
    for name in ("pyproject.toml", "build_backend.py", "README.md", "LICENSE", "cli.py", page):
        shutil.copy(ROOT / name, source / name)
    plainly = ("--config-setting", "machine-code=no")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", *plainly, "--outdir", str(tmp_path)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())

    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith((".dist-info", ".data"))} == {"sentgen"}
    assert any(name.endswith(".data/data/share/man/man1/sentgen.1") for name in names)
    for folder in ("sentgen", "schema", "migrations"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".sql", ".conllu", ".typed", ".j2", ".json"):
                inside = path.relative_to(ROOT).as_posix()
                assert (inside if folder == "sentgen" else f"sentgen/{inside}") in names


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
