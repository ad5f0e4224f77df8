"""Citations of data and queries."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from raising import sentgen
from ten_sentences import fill

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.schema import Store
from sentgen.schema.citation import cite
from sentgen.schema.lake_transfer import export
from sentgen.schema.manifests import Snapshot
from sentgen.schema.places import Place
from sentgen.schema.snapshots import publish


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, which nothing changes."""
    return fill(tmp_path_factory.mktemp("cited") / "toy.duckdb")


@pytest.fixture(scope="module")
def snapshot(store: Path) -> Snapshot:
    return publish(store, store.with_name("snapshots")).snapshot


def test_a_snapshot_is_named_by_its_bytes(snapshot: Snapshot) -> None:
    """With the query as it is typed, and what is in it."""
    digest = hashlib.sha256(snapshot.path.read_bytes()).hexdigest()

    result = sentgen("cite", "--db", str(snapshot.path), "--json", "--", "kwic", "the *", "--limit", "3")

    said = {row["what"]: row["value"] for row in json.loads(result.stdout)}
    assert said["query"] == "sentgen kwic 'the *' --limit 3"
    assert (said["data"], said["sha256"]) == (f"snapshot {snapshot.name}", digest)
    assert said["date"] == snapshot.published_at[:10]
    assert "sentences" in said["corpus"]
    assert not result.stderr


def test_a_lake_is_named_by_its_manifest(store: Path, tmp_path: Path) -> None:
    """The manifest has the hashes of all files."""
    with Store(store, read_only=True) as opened:
        export(opened, Place(tmp_path / "lake"))

    found = cite(tmp_path / "lake")

    assert (found.kind, found.name) == ("lake", "lake")
    assert found.sha256 == hashlib.sha256((tmp_path / "lake/manifest.json").read_bytes()).hexdigest()


def test_a_store_changes(store: Path) -> None:
    """A citation of a store has no hash, and says so."""
    result = sentgen("cite", "--db", str(store))

    assert "sha256" not in result.stdout
    assert "store toy.duckdb" in result.stdout
    assert result.stderr == "this store may change; cite a snapshot of it: sentgen publish --to snapshots\n"


def test_bibtex(snapshot: Snapshot) -> None:
    """What TeX would read as its own is written so that it is printed."""
    entry = sentgen("cite", "--bibtex", "--db", str(snapshot.path), "--", "kwic", "a_b 5% {x}").stdout

    assert entry.startswith(f"@misc{{{snapshot.name},\n")
    assert r"sentgen kwic 'a\_b 5\% \{x\}'" in entry
    assert snapshot.sha256 in entry
    assert entry.count("{") - entry.count(r"\{") == entry.count("}") - entry.count(r"\}")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three corpora and a part of one."""
    path = fill(tmp_path_factory.mktemp("several") / "s.duckdb")
    (path.parent / "other.lines").write_text("a dog barks\n")
    with Store(path) as opened:
        for name in ("spoken", "web"):
            ingest(opened, [str(path.parent / "other.lines")], Settings(name))
    sentgen("subcorpora", "define", "short", "--where", "length < 4", "--corpus", "web", "--db", str(path))
    return path


@pytest.fixture(scope="module")
def published(several: Path) -> Path:
    """A snapshot of it."""
    return publish(several, several.with_name("snapshots")).snapshot.path


@pytest.mark.parametrize("place", ["several", "published"])
@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("kwic dog", {"toy", "other", "spoken", "web"}),
        ("kwic dog --corpus web", {"web"}),
        ("freq --corpus=web --corpus spoken -n 3", {"web", "spoken"}),
        ("kwic dog --corpus short", {"web"}),
        ("keyness web --against spoken", {"web", "spoken"}),
        ("sketch dog --against spoken --corpus web", {"web"}),
        ("corpora show spoken", {"spoken"}),
    ],
)
def test_only_corpora_that_are_asked_are_named(
    request: pytest.FixtureRequest, words: str, names: set[str], place: str
) -> None:
    """By options, by the arguments that are corpora, and behind the names of subcorpora."""
    path = request.getfixturevalue(place)
    rows = json.loads(sentgen("cite", "--db", str(path), "--json", "--", *words.split()).stdout)

    assert {row["value"].split(" (")[0] for row in rows if row["what"] == "corpus"} == names


def test_a_corpus_that_is_not_there_is_not_cited(several: Path) -> None:
    with pytest.raises(NotFoundError, match="no corpus 'wbe'"):
        sentgen("cite", "--db", str(several), "--", "kwic", "dog", "--corpus", "wbe")


def test_what_cannot_be_cited(store: Path, tmp_path: Path) -> None:
    """No store, and no command."""
    with pytest.raises(NotFoundError, match="no store here"):
        sentgen("cite", "--db", str(tmp_path / "none.duckdb"))
    with pytest.raises(InputError, match="'concord' is no command of sentgen"):
        sentgen("cite", "--db", str(store), "--", "concord", "dog")
