"""The folder that a report is written into, over an earlier report and nothing else."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from sentgen.errors import InputError
from sentgen.evaluation.report.plots import require_plots
from sentgen.output.files import whole_file

#: What every report has.
PAGE, TABLES = "index.html", "results.md"
#: Hashes and names of the files that were written, as `sha256sum --check` reads them.
_WRITTEN = ".sentgen-report"


def prepare_folder(folder: Path) -> None:
    """Make the folder of a report, not those above it, before anything long is run for it.

    Raises:
        InputError: it cannot be made, is a file, holds another's page, or there is nothing to draw with.
    """
    require_plots()
    if not folder.parent.exists():  # mistyped, more likely than not
        raise InputError(f"there is no folder {folder.parent}; make it, or choose another", path=str(folder))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"no report can go there ({reason}); name a folder", path=str(folder)) from error
    _refuse_others(folder, (PAGE, TABLES))


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files over those of an earlier report.

    Raises:
        InputError: one cannot be written, or there is another's of its name; then none was.
    """
    _refuse_others(folder, contents)
    new = {f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in contents.items()}
    # Both before and after: killed in between, some are the old ones and some the new ones.
    _write(folder / _WRITTEN, _lines(new | _written(folder)))
    for name, content in contents.items():
        _write(folder / name, content)
    _write(folder / _WRITTEN, _lines(new))


def _refuse_others(folder: Path, names: Iterable[str]) -> None:
    written = _written(folder)
    for name in names:
        path = folder / name
        if os.path.lexists(path) and f"{_digest(path)}  {name}" not in written:
            reason = "in the way, and no report has written it so; move it, or name another folder"
            raise InputError(reason, path=str(path))


def _written(folder: Path) -> set[str]:
    try:
        return set((folder / _WRITTEN).read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()


def _digest(path: Path) -> str:
    with suppress(OSError):
        if path.is_file():  # to read a pipe may take for ever
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _lines(lines: set[str]) -> bytes:
    return "".join(f"{line}\n" for line in sorted(lines)).encode()


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)
