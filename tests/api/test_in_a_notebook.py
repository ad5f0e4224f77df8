"""A running kernel: bars while work goes on, errors of one line, and colors of the notebook."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from sentgen.alignment.view.html import notebook_style, style
from sentgen.errors import InputError

WORK = """\
import time
from sentgen.output import progress
with progress.counting_bar("bags") as report:
    for done in range(6):
        report(min(done, 3), 3)
        time.sleep(0.3)
with progress.steps("model") as report:
    report("nobody waits for this")
"""
MISTAKE = """\
import sentgen
place = "nowhere.duckdb"
sentgen.open(place)
"""


@pytest.fixture(scope="module")
def jupyter() -> tuple[Any, Any]:
    """The packages that run notebooks, and read and write them."""
    nbclient = pytest.importorskip("nbclient", reason="no nbclient; install the extra `test`")
    return nbclient, pytest.importorskip("nbformat")


@pytest.mark.slow
def test_a_kernel_shows_bars_while_it_works_and_errors_without_our_insides(
    jupyter: tuple[Any, Any], tmp_path: Path
) -> None:
    """Bars are text, which every notebook can show, and are gone at the end; short work shows none."""
    nbclient, nbformat = jupyter
    shown: list[str] = []

    class Watched(nbclient.NotebookClient):  # type: ignore[name-defined, misc]
        """A client that records what the kernel displays."""

        def process_message(self, message: Any, cell: Any, index: int) -> Any:
            """Take a message of the kernel."""
            if message["msg_type"] in ("display_data", "update_display_data"):
                shown.append(message["content"]["data"]["text/plain"])
            return super().process_message(message, cell, index)

    cells = [nbformat.v4.new_code_cell(source) for source in (WORK, MISTAKE)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": str(tmp_path)}}
    Watched(notebook, kernel_name="python3", allow_errors=True, resources=where).execute(
        env={**os.environ, "IPYTHONDIR": str(tmp_path)}
    )

    *bars, last = shown
    assert any(one.startswith("bags ━") and "3/3" in one for one in bars)
    assert not any("model" in one for one in bars)
    assert last == ""
    (error,) = cells[1].outputs
    assert error.traceback == [
        "line 3: sentgen.open(place)",
        "NotFoundError: nowhere.duckdb: no store here; make one with: sentgen.open('nowhere.duckdb', create=True)",
    ]


def test_an_error_that_was_never_raised_has_no_lines() -> None:
    """An error that was never raised can be shown, without lines of code."""
    assert InputError("no such word")._render_traceback_() == ["InputError: no such word"]


def test_colors_of_aligned_texts_are_those_of_the_notebook() -> None:
    """Aligned texts have light and dark colors by the theme of the notebook, not of the system."""
    added = notebook_style().removeprefix(style())
    themes = dict(
        re.findall(
            r'\[data-jp-theme-light="(\w+)"\] \.alignment, \S+ \.alignment \{(.*?)\}', added, re.DOTALL
        )
    )
    colors = {theme: set(re.findall(r"--\w+(?=:)", rules)) for theme, rules in themes.items()}

    assert "--ground: #fff" in themes["true"]
    assert "--ground: #0d1117" in themes["false"]
    assert colors["true"] == colors["false"] == set(re.findall(r"--\w+(?=:)", style()))
