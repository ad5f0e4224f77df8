"""The files of a release agree with it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from sentgen import __version__

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(path: Path) -> Any:
    """Return the content of a YAML file."""
    return yaml.safe_load(path.read_text("utf-8"))


def licences() -> ModuleType:
    """The script that lists packages."""
    spec = importlib.util.spec_from_file_location("generate_licences", ROOT / "docs/generate_licences.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_citation_is_of_this_version() -> None:
    """The citation has this version and this licence."""
    citation = read(ROOT / "CITATION.cff")

    assert (citation["version"], citation["license"]) == (__version__, PROJECT["license"])
    assert {reference["year"] for reference in citation["references"]} == {2004, 2005, 2007, 2009}
    assert all(reference["authors"] for reference in citation["references"])


def test_the_version_is_everywhere_the_same() -> None:
    """The version is the same in all places that the page on releases names."""
    assert PROJECT["version"] == __version__


def test_what_is_to_be_filled_in_is_listed() -> None:
    """The page on releases has a row for each file with FILL-IN, and its command finds them all."""
    page = (ROOT / "docs" / "release.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w./]+)` \|", page, re.MULTILINE)
    (command,) = re.findall(r"^grep -rn \"FILL-IN\" --include='\*' (.+)$", page, re.MULTILINE)
    folders = ("deploy", ".github", "docs", "sentgen", "schema", "migrations", "examples")
    files = [*(path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")]
    files += [path for name in folders for path in (ROOT / name).rglob("*") if path.is_file()]
    readable = {".toml", ".cff", ".md", ".yml", ".yaml", ".py", ".service", ""}
    found = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.suffix in readable and "FILL-IN" in path.read_text("utf-8", "replace")
    }

    assert found - {"docs/release.md"} == set(rows)
    assert all(any(path == name or path.startswith(f"{name}/") for name in command.split()) for path in rows)


def test_every_package_has_its_licence() -> None:
    """Every package of the extra `all` has its licence; versions, which change often, are not compared."""
    generator = licences()
    page = generator.PAGE.read_text("utf-8")
    rows = set(re.findall(r"^\| ([a-z0-9][\w.-]*) \|", page, re.MULTILINE)) - {"package"}
    missing = set(page.partition("not installed here: ")[2].partition(".\n")[0].split(", "))
    direct = {re.split(r"[^\w.-]", line)[0].replace("_", "-") for line in PROJECT["dependencies"]}
    # Packages that SQLAlchemy before 2.1 and distributed of 2024 require, but not those of today.
    earlier = {"greenlet", "urllib3"}

    assert direct <= rows
    assert {name for name, package in generator.needed().items() if package} <= rows | missing | earlier
    assert not re.search(r"\| not said \|", page)


def test_the_source_archive_builds(tmp_path: Path) -> None:
    """It has the build backend, which is no package, the tests, and what they read."""
    code = "import sys; from setuptools.build_meta import build_sdist; print(build_sdist(sys.argv[1]))"
    # Files that an earlier build has listed would be in this one, too.
    listed, caches = ("*.egg-info", "build"), ("__pycache__", ".*_cache", ".hypothesis", "*.nb[ic]")
    patterns = (*listed, *caches, ".git", ".venv", "shared", "*.duckdb*")

    def few(folder: str, names: list[str]) -> set[str]:
        """Leave out all tests and pages but one of each, which is enough."""
        # By the whole path, as the checkout itself may have this name.
        left = {ROOT / "tests": {"__main__.py"}, ROOT / "docs": {"index.md"}}.get(Path(folder), set(names))
        return shutil.ignore_patterns(*patterns)(folder, names) | (set(names) - left)

    shutil.copytree(ROOT, tmp_path / "sentgen", ignore=few, symlinks=True)
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=tmp_path / "sentgen", check=True, capture_output=True
    )
    with tarfile.open(tmp_path / f"sentgen-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"build_backend.py", "cli.py", "CITATION.cff", "tests/__main__.py", "docs/index.md"} <= names
    assert {".ci/run", ".dockerignore", ".github/workflows/tests.yml", "benchmarks", "mkdocs.yml"} <= names
    assert {"deploy/Dockerfile", "schema/views", "sentgen/py.typed", "sentgen/demo/relief.conllu"} <= names


def test_the_image_is_built_as_it_should_be() -> None:
    """A linter of Dockerfiles has nothing to say; every file that it copies is there."""
    hadolint = shutil.which("hadolint") or shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("hadolint is not installed")

    subprocess.run([hadolint, DEPLOY / "Dockerfile"], check=True)
    wanted = re.findall(r"^!(.+)", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert all((ROOT / name).exists() for name in wanted)


def test_the_container_is_closed() -> None:
    """Its port is of this machine, it may write nothing, and what it mounts is where it looks."""
    (service,) = read(DEPLOY / "compose.yaml")["services"].values()
    image = (DEPLOY / "Dockerfile").read_text("utf-8")

    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert [volume.split(":")[1] for volume in service["volumes"]] == ["/snapshots"]
    assert '"/run/secrets/sentgen_tokens"' in image
    assert service["secrets"] == ["sentgen_tokens"]
    assert "USER 10001" in image
    assert "[server,mcp]" in image


def test_the_unit_is_read_by_systemd(tmp_path: Path) -> None:
    """systemd accepts the unit, as far as it can be tested without sentgen in /opt."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd here")
    text = (DEPLOY / "sentgen.service").read_text("utf-8")
    assert "/opt/sentgen/bin/sentgen serve --snapshots" in text
    text = text.replace("/opt/sentgen/bin/sentgen", "/bin/true").replace("Documentation=man:sentgen(1)\n", "")
    (unit := tmp_path / "sentgen.service").write_text(text, "utf-8")

    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
#: Packages with another name on conda than on PyPI.
_OF_CONDA = {"duckdb": "python-duckdb"}


def pythons() -> list[str]:
    """Return the versions of Python in the classifiers, with which all tests were run."""
    found = (
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one) for one in PROJECT["classifiers"]
    )
    return [match[1] for match in found if match]


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    """The recipe has the requirements and the version of the package."""
    recipe = read(DEPLOY / "conda" / "recipe.yaml")
    needed = [re.sub(r"\s*;.*", "", line) for line in PROJECT["dependencies"]]
    found = [line.split(maxsplit=1) for line in recipe["requirements"]["run"]]

    assert recipe["context"]["version"] == __version__
    assert dict(found) == {
        **{_OF_CONDA.get(name, name): bound for name, bound in map(bounds, needed)},
        "python": PROJECT["requires-python"],
    }


def bounds(needed: str) -> tuple[str, str]:
    """Return a package and its allowed versions."""
    match = re.fullmatch(r"([\w.-]+)(.*)", needed)
    assert match
    return match[1], match[2]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_the_pages_say(path: Path) -> None:
    """Every Python of the classifiers; commands of README, CONTRIBUTING and release; no right that is not needed."""
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert set(job.get("strategy", {}).get("matrix", {}).get("python", pythons())) >= set(pythons())
        assert "timeout-minutes" in job
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step.get("uses", "a/b@v1"))
    said = path.read_text("utf-8")
    told = "".join(
        (ROOT / name).read_text("utf-8") for name in ("README.md", "CONTRIBUTING.md", "docs/release.md")
    )
    for command in ("python -m tests -n 2", "mkdocs build --strict", "twine check --strict dist/*"):
        assert command in told
    assert {"tests": "python -m tests -n 2", "docs": "mkdocs build --strict", "release": "twine check"}[
        path.stem
    ] in said


@pytest.mark.skipif(
    not shutil.which("actionlint"), reason="actionlint is not installed (https://github.com/rhysd/actionlint)"
)
def test_workflows_are_workflows() -> None:
    """Names, expressions, systems and rights, as actionlint knows them."""
    done = subprocess.run(["actionlint", *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)

    assert done.stdout == ""
