"""Run the notebooks of this folder, and write them with what their cells show.

What stays says nothing of the machine or the day: no counts of executions, no times, no paths. Needs what
the extra `test` brings, and for the novels SENTGEN_DATA::

    python examples/execute.py [NOTEBOOK]...
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

NOTEBOOKS = sorted(Path(__file__).parent.glob("*.ipynb"))
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: What depends on the version of matplotlib and on fonts.
_PICTURES = ("image/png", "image/svg+xml")
_SECONDS = 300
#: The folder beside a notebook that texts are in, and where they come from.
_TEXTS = "eltec"
_DATA = Path(os.environ.get("SENTGEN_DATA", NOTEBOOKS[0].parents[2] / "shared" / "data"), "formats", _TEXTS)


def needs_texts(path: Path) -> bool:
    """Return whether a notebook needs texts that sentgen does not bring, and they are not here."""
    return f'"{_TEXTS}/' in path.read_text("utf-8").replace("\\", "") and not _DATA.exists()


def stored(path: Path) -> Any:
    """Return a notebook as it is written."""
    return nbformat.read(path, as_version=4)


def executed(path: Path, folder: Path) -> Any:
    """Run a notebook with a kernel of its own in a folder, and return it with its outputs, normalized.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook = stored(path)
    if _DATA.exists():
        shutil.copytree(_DATA, folder / _TEXTS)
    settings = {
        "COLUMNS": "100",
        "IPYTHONDIR": str(folder / ".ipython"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    # Sockets in the place of ports, for which kernels that start at once may compete; their names are short.
    with tempfile.TemporaryDirectory(prefix="nb-") as sockets:
        client = NotebookClient(
            notebook,
            timeout=_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager={"transport": "ipc", "ip": str(Path(sockets, "k"))}),
        )
        client.execute(env={**os.environ, **settings})
    return normalized(notebook)


def normalized(notebook: Any) -> Any:
    """Return a notebook without what differs from run to run."""
    notebook.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [output for output in cell.outputs if not _is_empty(output)]
            for output in cell.outputs:
                output.pop("transient", None)
                if "execution_count" in output:
                    output.execution_count = None
    return notebook


def _is_empty(output: Any) -> bool:
    """Return whether bars were here while the cell ran."""
    return output.output_type == "display_data" and set(output.data.values()) <= {""}


def shown(notebook: Any) -> list[Sequence[Any]]:
    """Return what is the same on every machine: each cell, and its outputs without the bytes of pictures."""
    return [(cell.source, [_shown(output) for output in cell.get("outputs", ())]) for cell in notebook.cells]


def _shown(output: Any) -> object:
    if "data" not in output:
        return dict(output)
    return {kind: None if kind in _PICTURES else text for kind, text in output.data.items()}


def main() -> None:
    """Run and write all of them."""
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        nbformat.write(notebook, path)
        print(path.name)


if __name__ == "__main__":
    main()
