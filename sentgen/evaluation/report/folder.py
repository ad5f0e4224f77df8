"""The folder that a report is written into."""

from __future__ import annotations

from pathlib import Path

from sentgen.errors import InputError
from sentgen.evaluation.report.plots import require_plots


def prepare_folder(folder: Path) -> None:
    """Make the folder of a report, not those above it, before anything long is run for it.

    Raises:
        InputError: it cannot be made, is a file, or there is nothing to draw with.
    """
    require_plots()
    if not folder.parent.exists():  # mistyped, more likely than not
        raise InputError(f"there is no folder {folder.parent}; make it, or choose another", path=str(folder))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"no report can go there ({reason}); name a folder", path=str(folder)) from error
