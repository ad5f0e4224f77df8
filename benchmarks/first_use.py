"""What a new user waits for: installation, its size, and the first use of each command, with the second beside it.

``python benchmarks/first_use.py [EXTRAS]`` installs this checkout into a fresh environment under benchmarks/out, as the
README says, and runs each command there twice. EXTRAS is such as ``[all]``. It needs what pip needs; packages that it
has in its cache are not loaded again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import OUT, ROOT, measure, megabytes, show

_NOT_OURS = ("pip", "setuptools", "wheel", "_distutils_hack", "pkg_resources")


def main(extras: str) -> None:
    """Install, measure, print."""
    OUT.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=OUT))
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        pip = str(folder / "venv" / "bin" / "pip")
        installing = measure([pip, "install", "--quiet", f"{ROOT}{extras}"])
        packages = next((folder / "venv" / "lib").glob("python*/site-packages"))
        size = sum(
            path.stat().st_size
            for package in packages.iterdir()
            if not package.name.startswith(_NOT_OURS)
            for path in ([package] if package.is_file() else package.rglob("*"))
            if path.is_file()
        )
        print(
            f"pip install .{extras}: {installing.wall:.0f} s ({installing.cpu:.0f} CPU s), {size / 1e6:.0f} MB"
        )
        rows = list(first_and_second(str(folder / "venv" / "bin" / "sentgen"), folder))
        show("first and second use", ("command", "first s", "CPU s", "second s", "CPU s", "peak MB"), rows)
    finally:
        shutil.rmtree(folder)


def first_and_second(sentgen: str, folder: Path):  # type: ignore[no-untyped-def]
    """Yield a row for each command."""
    store, text = str(folder / "demo.duckdb"), folder / "text.txt"
    text.write_text("The first aid trucks arrived in Sarkesh on Tuesday.\n", encoding="utf-8")
    ask = [sentgen, "regenerate", "--model", "relief", "[the trucks] reached [the city] .", "--db", store]
    commands = {
        "demo": [sentgen, "demo", "--db", store],
        "regenerate": ask,
        "regenerate -a ab": [*ask, "-a", "ab"],
        "align text": [sentgen, "align", "text", "--document", str(text), "--abstract", str(text)],
        "ingest": [sentgen, "ingest", str(text), "--corpus", "x", "--db", str(folder / "new.duckdb")],
        "score": [sentgen, "score", "--model", "relief", "the trucks .", "--db", store],
    }
    for name, command in commands.items():
        first, second = measure(command), measure(command)
        yield (
            name,
            *(f"{value:.2f}" for value in (first.wall, first.cpu, second.wall, second.cpu)),
            megabytes(max(first.peak, second.peak)),
        )
    yield from starts_of_the_server(sentgen, store)


def starts_of_the_server(sentgen: str, store: str):  # type: ignore[no-untyped-def]
    """Yield a row with the seconds until the server answers."""
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        command = [sentgen, "serve", "--db", store, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if not server.stdout or not server.stdout.readline():
            return  # the extra with the server is not installed
        seconds.append(f"{time.monotonic() - began:.2f}")
        server.terminate()
        server.wait()
    yield "serve, until ready", seconds[0], "-", seconds[1], "-", "-"


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
