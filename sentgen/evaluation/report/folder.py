"""The folder that a report is written into."""

from __future__ import annotations

from pathlib import Path

from sentgen.errors import InputError
from sentgen.evaluation.report.plots import require_plots


def prepare_folder(folder: Path) -> None:
    """Make the folder of a report, before anything long is run for it.

    Raises:
        InputError: it cannot be made, is a file, or there is nothing to draw with.
    """
    require_plots()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"no report can go there ({reason}); name a folder", path=str(folder)) from error
