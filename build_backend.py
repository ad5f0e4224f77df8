"""Build sentgen as setuptools does, with the pages that are made of its code, and machine code in the wheel.

Without machine code the first command of each kind compiles for seconds. An editable installation compiles on
first use, and so does what ``pip install . --config-settings machine-code=no`` installs.
The code runs on any processor of this kind with this Python and this numba; elsewhere it is compiled again.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Iterator
from configparser import RawConfigParser
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  the other hooks of the interface

_FOLDER = "machine_code"


def get_requires_for_build_sdist(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what building needs: to describe the commands, everything that they need."""
    return _needed()


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what building needs: to run the commands, everything that they need."""
    return ["wheel>=0.45", *_needed()] if _is_wanted(config_settings) else []


def _needed() -> list[str]:
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *extras["evaluate"]]


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Build the source archive; return its name."""
    _write_pages()
    return build_meta.build_sdist(sdist_directory, config_settings)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel; return its name."""
    _write_pages()
    with _in_new_folder():
        name = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    if not _is_wanted(config_settings):
        return name
    with tempfile.TemporaryDirectory() as folder:
        _wheel("unpack", "--dest", folder, str(Path(wheel_directory, name)))
        (unpacked,) = Path(folder).iterdir()
        if not _compile(unpacked):
            print("compiling ahead failed; the first use of each command will compile", file=sys.stderr)
            return name
        _wheel("pack", "--dest-dir", wheel_directory, str(unpacked))
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    # The Python of python.org for macOS has the code of two processors; what was compiled here is for one.
    kind = sysconfig.get_platform().replace("universal2", platform.machine())
    kind = kind.replace("-", "_").replace(".", "_")
    tags = ("--python-tag", python, "--abi-tag", python, "--platform-tag", kind)
    told = _wheel("tags", "--remove", *tags, str(Path(wheel_directory, name)))
    return Path(told.split()[-1]).name


@contextmanager
def _in_new_folder() -> Iterator[None]:
    """Let setuptools build in a folder of its own: what an earlier build has left would go into the wheel."""
    settings = RawConfigParser()
    settings.read(os.environ.get("DIST_EXTRA_CONFIG", ""), "utf-8")  # what whoever builds has there stays
    with tempfile.TemporaryDirectory() as folder:
        settings.read_dict({"build": {"build_base": str(Path(folder, "build"))}})
        path = Path(folder, "setup.cfg")
        with path.open("w", encoding="utf-8") as file:
            settings.write(file)
        with patch.dict(os.environ, DIST_EXTRA_CONFIG=str(path)):
            yield


def _write_pages() -> None:
    """Write the reference and the manual page, unless this is a source archive, which has them."""
    script = Path("docs", "generate_reference.py")
    if Path("PKG-INFO").exists() or not script.exists():
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    if subprocess.run([sys.executable, str(script)], env=environment).returncode:
        print("the manual page and the reference could not be made", file=sys.stderr)


def _is_wanted(config_settings: dict[str, Any] | None) -> bool:
    return (config_settings or {}).get("machine-code") != "no"


def _wheel(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "wheel", *words], check=True, capture_output=True, text=True)
    return done.stdout


def _compile(unpacked: Path) -> bool:
    """Run the first commands of a user on what will be installed, and move what numba keeps to its folder."""
    # What is there leads to the packages that building needs: pip has them in a place of their own.
    path = os.pathsep.join([str(unpacked), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CPU_NAME": "generic"}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-m", "sentgen.first_use"], cwd=unpacked, env=environment)
    for cached in [*unpacked.rglob("__pycache__/*.nbi"), *unpacked.rglob("__pycache__/*.nbc")]:
        folder = cached.parent.parent / _FOLDER
        folder.mkdir(exist_ok=True)
        cached.rename(folder / cached.name)
    for folder in list(unpacked.rglob("__pycache__")):
        shutil.rmtree(folder)
    return done.returncode == 0
