"""Machine code from the package: it is used where it fits, and compiled again elsewhere."""

from __future__ import annotations

import importlib.util
import os
import pickle
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from types import ModuleType

import numba
import pytest
from conftest import ROOT

from sentgen import machine_code
from sentgen.arrays import compiled
from sentgen.errors import SentgenError
from sentgen.server import pool

#: What a compiled function needs of the package, beside `sentgen.system`.
_MODULES = ("arrays.py", "errors.py", "extras.py", "machine_code.py", "temporary.py")
_MODULE = """\
from sentgen.arrays import compiled

@compiled
def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result
"""
_USE = "import numpy; from sentgen.small import total; print(total(numpy.arange(5)))"


def backend() -> ModuleType:
    """The build backend, which no package holds."""
    spec = importlib.util.spec_from_file_location("build_backend", ROOT / "build_backend.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with one function, as the backend leaves it."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    package = unpacked / "sentgen"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in _MODULES:
        shutil.copy(ROOT / "sentgen" / name, package)
    (package / "small.py").write_text(_MODULE, "utf-8")
    (package / "first_use.py").write_text(_USE, "utf-8")
    assert backend()._compile(unpacked)
    return unpacked


def use(package: Path, cache: Path, code: str = _USE) -> tuple[str, str, list[Path]]:
    """Call the function; return what was printed on both channels, and what numba kept for this user."""
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cache.parent,
        env={**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout, told.stderr, [path for path in cache.rglob("*") if path.is_file()]


def test_is_used(built: Path, tmp_path: Path) -> None:
    """Nothing is compiled, although the code was made for any processor, and numba keeps its own elsewhere."""
    assert not list(built.rglob("__pycache__/*.nbi"))

    assert use(built, tmp_path / "cache") == ("10\n", "", [])


def test_of_another_numba(built: Path, tmp_path: Path) -> None:
    """It is compiled again; one line says so, once."""
    package = tmp_path / "package"
    shutil.copytree(built, package)
    (index,) = package.rglob("*.nbi")
    content = index.read_bytes()
    version = pickle.dumps(numba.__version__, protocol=-1)
    assert content.startswith(version)
    index.write_bytes(pickle.dumps("0.1", protocol=-1) + content[len(version) :])

    out, err, kept = use(package, tmp_path / "cache")

    assert out == "10\n"
    assert err.startswith("the machine code that came with this sentgen does not fit")
    assert err.count("\n") == 1
    assert len(kept) == 2
    assert use(package, tmp_path / "cache") == (out, "", kept)


def test_for_other_types(built: Path, tmp_path: Path) -> None:
    """They are compiled, and nobody is told that what came does not fit this computer: it does."""
    out, err, kept = use(built, tmp_path / "cache", _USE.replace("arange(5)", "arange(5.0)"))

    assert (out, err, len(kept)) == ("10.0\n", "", 2)


def test_for_constants() -> None:
    """What a kernel calls with constants and with variables is compiled once, for their types."""

    @compiled
    def add(pair: tuple[int, int], by: int) -> int:
        return pair[0] + by

    @compiled
    def total(length: int) -> int:
        result = add((1, 2), 3)
        for number in range(length):
            result += add((number, number), number)
        return result

    assert total(3) == 10
    assert len(add.dispatcher.signatures) == 1


def test_of_another_source(built: Path, tmp_path: Path) -> None:
    """After a change of the module, its functions are compiled again."""
    package = tmp_path / "package"
    shutil.copytree(built, package)
    module = package / "sentgen" / "small.py"
    module.write_text(_MODULE.replace("result = 0", "result = 1"), "utf-8")

    assert use(package, tmp_path / "cache")[0] == "11\n"


def test_of_modules_that_are_gone(built: Path, tmp_path: Path) -> None:
    """What an earlier version left beside its modules may name types of modules that this one does not have."""
    (source := tmp_path / "sentgen").mkdir()
    for name in ("__init__.py", *_MODULES, "small.py"):
        shutil.copy(built / "sentgen" / name, source)
    made = use(tmp_path, tmp_path / "cache")
    (index,) = (path for path in made[2] if path.suffix == ".nbi")
    version = pickle.dumps(numba.__version__, protocol=-1)
    gone = b"csentgen.gone\nType\n."  # what pickle reads by importing it
    index.write_bytes(version + gone)

    again = use(tmp_path, tmp_path / "cache")

    assert again[0] == made[0] == "10\n"
    assert gone not in index.read_bytes()


def test_of_a_user_who_may_keep_nothing(built: Path, tmp_path: Path) -> None:
    """A service has no home and writes into no package: it compiles for itself, and leaves nothing."""
    (source := tmp_path / "sentgen").mkdir()
    for name in ("__init__.py", *_MODULES, "small.py"):
        shutil.copy(built / "sentgen" / name, source)
    nowhere = "from numba.core.caching import CacheImpl as C; C._locator_classes = C._locator_classes[:1]; "
    (temporary := tmp_path / "temporary").mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    told = subprocess.run(
        [sys.executable, "-c", nowhere + _USE],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(tmp_path), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout == "10\n"
    assert not list(temporary.iterdir())


def test_who_passes_by_does_without_numba() -> None:
    """The front of the server names all operations, and has the work done elsewhere."""
    code = """
import sys
import sentgen.server.running, sentgen.server.app
from sentgen.server.operations import operations
assert "regenerate" in operations()
assert "sentgen.generation.ngrams.beam_kernels" in sys.modules
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_packages_for_building_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONPATH is how pip says where they are; what is built goes before them."""
    there, package = tmp_path / "there", tmp_path / "unpacked" / "sentgen"
    for folder in (there / "sentgen", package):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (there / "only_for_building.py").touch()
    (package / "first_use.py").write_text("import only_for_building", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(there))

    assert backend()._compile(package.parent)


def test_all_that_is_compiled_ahead_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building needs what `first_use` runs, an evaluation with sacreBLEU among it, and no server."""
    monkeypatch.chdir(ROOT)
    needed = " ".join(backend().get_requires_for_build_wheel())

    assert "numba" in needed
    assert "sacrebleu" in needed
    assert "fastapi" not in needed
    assert backend().get_requires_for_build_wheel({"machine-code": "no"}) == []


def test_folder_has_one_name() -> None:
    """The backend cannot import sentgen, the server does not want to import numba: they say the name again."""
    assert backend()._FOLDER == pool._MACHINE_CODE.name == machine_code.SHIPPED
    modules = pool._MACHINE_CODE.parent.glob("*.py")
    assert any("@compiled" in module.read_text("utf-8") for module in modules)  # so that it is there at all


def test_of_a_numba_without_what_is_used_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused in a line, when the first function is to be compiled."""
    monkeypatch.delattr("numba.core.caching.Cache._index_key")
    monkeypatch.delitem(sys.modules, "sentgen.machine_code")

    with pytest.raises(SentgenError, match=r"numba \S+ is not as .* '_index_key'\); install .*'numba<"):
        importlib.import_module("sentgen.machine_code")


def test_settings_of_whoever_builds_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel is built in a folder of its own, and else as somebody has set it up."""
    (given := tmp_path / "given.cfg").write_text("[build]\nparallel = 2\n[bdist_wheel]\nuniversal = 0%\n")
    monkeypatch.setenv("DIST_EXTRA_CONFIG", str(given))
    with backend()._in_new_folder():
        (path := tmp_path / "read.cfg").write_text(Path(os.environ["DIST_EXTRA_CONFIG"]).read_text())

    read = RawConfigParser()
    read.read(path)
    assert (read["build"]["parallel"], read["bdist_wheel"]["universal"]) == ("2", "0%")
    assert not Path(read["build"]["build_base"]).parent.exists()
    assert os.environ["DIST_EXTRA_CONFIG"] == str(given)
