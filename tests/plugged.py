"""Packages with entry points for sentgen, as an installation leaves them, and the example of the documentation."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from sentgen import entry_points
from sentgen.alignment import systems
from sentgen.corpus import formats
from sentgen.generation import algorithms
from sentgen.models import scorer

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"


def install_example(folder: Path) -> None:
    """Install the example as a user does, into `site` in a folder."""
    # A copy, as building leaves files beside the source.
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    quick = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet")
    pip = [sys.executable, "-m", "pip", "install", *quick, "--target", str(folder / "site"), str(source)]
    subprocess.run(pip, check=True)


def write_package(folder: Path, name: str, entries: Mapping[str, str], code: str, module: str = "") -> None:
    """Write a package of one module, installed into a folder.

    Args:
        folder: where it is installed.
        name: of the package, version 1.0.
        entries: kind and name of each entry point, such as `readers.tagged`, to what it names in the module.
        code: the module.
        module: its name, if it is not that of the package.
    """
    module = module or name.replace("-", "_")
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for place, named in entries.items():
        kind, _, of = place.partition(".")
        lines.append(f"[sentgen.{kind}]\n{of} = {module}:{named}\n")
    (about / "entry_points.txt").write_text("\n".join(lines))
    (folder / f"{module}.py").write_text(code)


@contextmanager
def plugged(folder: Path) -> Iterator[None]:
    """Let this process find what is installed in a folder, and forget it afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        _forget(folder)
        yield
    _forget(folder)


def _forget(folder: Path) -> None:
    """Forget which plug-ins there are, and the modules of a folder."""
    entry_points.plugins_of_kind.cache_clear()
    for module in (formats, algorithms, systems, scorer):
        module._REGISTRY._loaded.clear()
    for name, loaded in list(sys.modules.items()):
        if str(getattr(loaded, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
