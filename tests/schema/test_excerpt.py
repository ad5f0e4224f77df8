"""An excerpt has the data of its corpora, and nothing that reveals other corpora."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

import sentgen
from sentgen.errors import NotFoundError
from sentgen.schema import Store
from sentgen.schema.base import metadata
from sentgen.schema.excerpt import refers_to, rows_of, write_excerpt
from sentgen.schema.snapshots import publish, verify

#: Tables of strings, of which an excerpt has only those that its rows use.
STRINGS = {"word": "form", "tag": "name"}

Row = tuple[object, ...]


@pytest.fixture(
    scope="module", params=[("pets",), ("notes",), ("odd", "pairs"), ("pets", "notes")], ids="+".join
)
def excerpt(full: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Excerpt:
    """An excerpt of the store in which every table has rows."""
    path = tmp_path_factory.mktemp("excerpt") / "excerpt.duckdb"
    write_excerpt(full, path, request.param)
    return Excerpt(full, path, request.param)


class Excerpt:
    """An excerpt, the store that it was made from, and its corpora."""

    def __init__(self, whole: Path, path: Path, corpora: tuple[str, ...]) -> None:
        self.whole, self.path, self.corpora = whole, path, corpora
        self.rows, self.all = _rows(path), _rows(whole)


def _rows(path: Path) -> dict[str, list[dict[str, object]]]:
    with Store(path, read_only=True) as store, store.connect() as connection:
        return {
            name: [dict(row) for row in connection.execute(text(f"select * from {name}")).mappings()]
            for name in metadata.tables
        }


def test_every_table_has_its_rule() -> None:
    """A new table needs a rule to which corpora its rows belong; without one, the excerpt raises an error."""
    assert all(rows_of(table) for name, table in metadata.tables.items() if name not in STRINGS)


def test_ids_of_strings_are_known_by_their_columns() -> None:
    """No column with ids of words or tags is missed, as comments on columns and their types show."""
    others = {"corpus_id", "sentence_id", "document_id", "source_id", "segment_id", "model_id", "pair_id"}
    others |= {"run_id", "space_id", "last_sentence_id", "abstract_id", "sent_id"}
    for table in metadata.tables.values():
        for column in table.columns:
            strings = {name for name in STRINGS if f"(in {name})" in (column.comment or "")}
            assert not strings or strings == {refers_to(column.name)}, column
            assert column.name in others or not column.name.endswith("_id") or refers_to(column.name), column


def test_its_rows_are_rows_of_the_store_and_of_its_corpora(excerpt: Excerpt) -> None:
    """No row belongs to another corpus, by the id of its corpus or of its segment."""
    ids = {row["id"] for row in excerpt.all["corpus"] if row["name"] in excerpt.corpora}
    segments = {row["id"] for row in excerpt.all["segment"] if row["corpus_id"] in ids}

    for name, rows in excerpt.rows.items():
        every = excerpt.all[name]
        assert all(row in every for row in rows), name
        if name.startswith("alignment") or name in ("surprisal", "model_corpus"):
            assert {row.get("corpus_id", 0) for row in rows} <= {*ids, 0}
        elif "corpus_id" in metadata.tables[name].columns:
            assert rows == [row for row in every if row["corpus_id"] in ids], name
        elif "segment_id" in metadata.tables[name].columns:
            assert rows == [row for row in every if row["segment_id"] in segments], name
    assert {row["name"] for row in excerpt.rows["corpus"]} == set(excerpt.corpora)


def test_its_strings_are_those_of_its_rows(excerpt: Excerpt) -> None:
    """Words that only other corpora have are left out, and no other word is missing."""
    for name, key in STRINGS.items():
        used = {
            row[column.name]
            for table, rows in excerpt.rows.items()
            for column in metadata.tables[table].columns
            if refers_to(column.name) == name
            for row in rows
        }
        reserved = 4 if name == "word" else 2
        assert {row["id"] for row in excerpt.rows[name]} == (used - {None}) | set(range(reserved))
        assert len({row[key] for row in excerpt.rows[name]}) == len(excerpt.rows[name])


def test_what_is_made_of_several_corpora_is_of_who_has_all(excerpt: Excerpt) -> None:
    """Models, aligners, vectors and subcorpora need all their corpora; evaluations and parses are left out."""
    rows, corpora = excerpt.rows, set(excerpt.corpora)
    made_of = {"kn": {"pets"}, "tags": {"pets"}, "katz": {"pets", "notes"}}

    assert {row["name"] for row in rows["model"]} == {name for name, of in made_of.items() if of <= corpora}
    assert {row["name"] for row in rows["alignment_model"]} == ({"aligner"} if "pairs" in corpora else set())
    assert {row["name"] for row in rows["vector_space"]} == ({"company"} if "pets" in corpora else set())
    assert {row["name"] for row in rows["subcorpus"]} == ({"short"} if "pets" in corpora else set())
    assert not any(rows[name] for name in ("run", "score", "output", "parse", "removed_model"))


def test_it_answers_as_a_store_with_these_corpora(tmp_path: Path) -> None:
    """All answers agree, where the other corpus has some of the same words and was read first."""
    files = {"first": "The dog saw the cat.\nA secret.\n", "second": "The cat saw a dog.\nThe cat slept.\n"}
    for name, written in files.items():
        (tmp_path / f"{name}.txt").write_text(written)
    with sentgen.open(tmp_path / "both.duckdb", create=True) as both:
        for name in files:
            both.ingest(tmp_path / f"{name}.txt", corpus=name)
            both.build_model(name, [name], order=2)
    with sentgen.open(tmp_path / "alone.duckdb", create=True) as alone:
        alone.ingest(tmp_path / "second.txt", corpus="second")
        alone.build_model("second", ["second"], order=2)

    path = publish(tmp_path / "both.duckdb", tmp_path / "to", corpora=["second"]).snapshot.path

    assert _answers(path) == _answers(tmp_path / "alone.duckdb")


def _answers(path: Path) -> list[object]:
    with sentgen.open(path) as db:
        questions = (
            "select form from word order by form",
            "select * from v_ngrams_2 order by all",
            "select model, tokens from v_models order by all",
        )
        tables = [db.sql(question) for question in questions]
        scores = db.model("second").score(["The cat saw a secret ."])
        # Sentences without a name show their ids, which have gaps in the excerpt.
        unnumbered = [line.partition(" ")[2] for line in str(db.kwic("cat")).splitlines()]
        return [*unnumbered, *(str(table) for table in (*tables, db.ngrams("the *"), scores))]


def test_the_number_of_a_removed_corpus_is_another_corpus_now(tmp_path: Path) -> None:
    """Ids are used again: models and vectors of a removed corpus do not belong to the new one with its id."""
    (tmp_path / "old.txt").write_text("Nobody may read this. Nobody may read this.\n")
    (tmp_path / "new.txt").write_text("Anybody may.\n")
    with sentgen.open(tmp_path / "store.duckdb", create=True) as db:
        db.ingest(tmp_path / "old.txt", corpus="news")
        db.build_model("old", ["news"], order=2)
        db.remove_corpus("news")
        db.ingest(tmp_path / "new.txt", corpus="press")
        db.build_model("new", ["press"], order=2)
        db.build_model("mixed", ["press"], order=2)

    write_excerpt(tmp_path / "store.duckdb", tmp_path / "some.duckdb", ["press"])

    rows = _rows(tmp_path / "some.duckdb")
    assert {row["name"] for row in rows["model"]} == {"new", "mixed"}
    assert not {"Nobody", "read"} & {row["form"] for row in rows["word"]}


def test_a_mixture_needs_all_its_parts(tmp_path: Path) -> None:
    """A mixture needs the corpora of all its models, and is left out if one of them is."""
    arpa = "\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n-1\tsecret\n\n\\end\\\n"
    (tmp_path / "secret.arpa").write_text(arpa)
    (tmp_path / "new.txt").write_text("Anybody may.\n")
    with sentgen.open(tmp_path / "store.duckdb", create=True) as db:
        db.ingest(tmp_path / "new.txt", corpus="press")
        db.build_model("new", ["press"], order=1)
        db.import_model("given", tmp_path / "secret.arpa")
        db.mix_models("mixed", "new,given")

    write_excerpt(tmp_path / "store.duckdb", tmp_path / "some.duckdb", ["press"])

    rows = _rows(tmp_path / "some.duckdb")
    assert {row["name"] for row in rows["model"]} == {"new"}
    assert "secret" not in {row["form"] for row in rows["word"]}


def test_published_again_it_has_the_same_name(full: Path, tmp_path: Path) -> None:
    """Equal rows give snapshots the same name, whatever bytes DuckDB writes; other corpora give another name."""
    first = publish(full, tmp_path / "to", corpora=["pets", "notes"])
    again = publish(full, tmp_path / "to", corpora=["notes", "pets"])
    other = publish(full, tmp_path / "other", corpora=["notes"])

    assert (first.new, again.new) == (True, False)
    assert first.snapshot.path == again.snapshot.path
    assert (first.snapshot.sha256, first.snapshot.bytes) == (again.snapshot.sha256, again.snapshot.bytes)
    assert other.snapshot.name != first.snapshot.name
    verify(again.snapshot)


def test_a_corpus_that_is_not_there_is_refused(full: Path, tmp_path: Path) -> None:
    """An unknown corpus is an error, and nothing is published."""
    with pytest.raises(
        NotFoundError, match="no corpus 'cats'; there are: clusters, held, notes, odd, pairs, pets"
    ):
        publish(full, tmp_path / "to", corpora=["pets", "cats"])

    assert not list((tmp_path / "to").glob("sentgen-*"))
