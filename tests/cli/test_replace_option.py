"""What a user is told about a file that has changed, and about paths."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from conftest import PETS, Sentgen


def test_tags_that_are_counted_are_told(sentgen: Sentgen, tmp_path: Path) -> None:
    """Of XML that is read as text because the user says so, in one line."""
    (tmp_path / "tei.xml").write_text("<TEI>\n<p>It is so.</p>\n</TEI>\n")

    told = sentgen("ingest", "tei.xml", "--corpus", "a", "--format", "text")

    assert told.err == (
        "warning: tei.xml: this is XML or HTML, and its tags are words now; take its text out of it\n"
    )
    assert told.code == 0
    again = sentgen("ingest", "tei.xml", "--corpus", "a", "--format", "text")
    assert (again.code, again.err) == (0, "")


def test_the_warning_is_a_command_that_cures(
    sentgen: Sentgen, pets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copied from the message, it leaves the new content only; a name with a blank is quoted."""
    path = pets.rename(tmp_path / "my pets.conllu")
    sentgen("ingest", path.name, "--corpus", "pets", "--db", "other.duckdb")
    path.write_text(PETS.replace("cat", "dog"))

    told = sentgen("ingest", path.name, "--corpus", "pets", "--db", "other.duckdb")
    assert told.err.count("\n") == 1
    assert "warning: my pets.conllu: the corpus has an earlier content of this file, too" in told.err
    words = shlex.split(told.err.strip().partition("new one: ")[2])
    done = sentgen(*words[1:])

    assert "sources         0 (1 unchanged, 1 replaced)\n" in done.out
    assert done.err == ""
    assert sentgen(
        "sql", "select count(*) from v_tokens where form = 'cat'", "--db", "other.duckdb"
    ).out.endswith(" 0\n")


def test_sources_are_found_from_any_folder(
    filled: Sentgen, pets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is stored as an absolute one; a published store has names alone, and says so."""
    filled("ingest", pets.name, "--corpus", "more")
    filled("publish", "--to", "published")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    found = filled("corpora", "verify", "more", "--csv")
    assert (found.code, found.err) == (0, "")
    assert f"{pets},same," in found.out
    missing = filled("corpora", "verify", "more", "--csv", "--db", str(tmp_path / "published"))

    assert missing.code == 1
    assert "pets.conllu,missing," in missing.out
    assert f"looked for from {tmp_path / 'elsewhere'};" in missing.err
