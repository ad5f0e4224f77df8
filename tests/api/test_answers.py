"""Methods give the answers of the commands, and check their arguments."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import sentgen
from sentgen.api.tables import Table
from sentgen.cli import build
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, NotFoundError, QueryError, SentgenError
from sentgen.lookups.grew.matches import Match

DOCUMENT = "Heavy rain flooded the camp on Monday. Trucks brought water to the people there."
ABSTRACT = "Trucks brought clean water to the flooded camp."
SUBJECTS = "pattern { V -[nsubj]-> S }"
CLUSTER = """\
1\tTrucks\ttruck\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\treached\treach\tVERB\tVBD\t_\t0\troot\t_\t_
3\tcamps\tcamp\tNOUN\tNNS\t_\t2\tobj\t_\t_

"""
IN_SARKESH = """\
1\tAid\taid\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_
3\tcamps\tcamp\tNOUN\tNNS\t_\t2\tobj\t_\t_
4\tin\tin\tADP\tIN\t_\t5\tcase\t_\t_
5\tSarkesh\tSarkesh\tPROPN\tNNP\t_\t3\tnmod\t_\t_

"""
Ask = Callable[[sentgen.Database], Table]


@pytest.mark.nightly(by_day=7)
@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("corpora list", lambda db: db.corpora()),
        ("models list", lambda db: db.models()),
        ("ngrams 'in the *' --min-count 2 -n 3", lambda db: db.ngrams("in the *", min_count=2, limit=3)),
        ("deps camp the --explain", lambda db: db.dependencies("camp", "the", explain=True)),
        ("args camp --explain", lambda db: db.arguments("camp", explain=True)),
        ("deps camp --reverse --layer unit", lambda db: db.dependencies("camp", reverse=True, layer="unit")),
        ("args '*' --tag VBD", lambda db: db.arguments("*", tag="VBD")),
        ("kwic camp --sort left --context 3", lambda db: db.kwic("camp", sort="left", context=3)),
        ("kwic '. It' --across --context 1s", lambda db: db.kwic(". It", across=True, context="1s")),
        ('kwic --cql \'"the" [lemma="camp"]\'', lambda db: db.kwic(cql='"the" [lemma="camp"]')),
        (f"match '{SUBJECTS}' -n 4", lambda db: db.match(SUBJECTS, limit=4)),
        (f"match '{SUBJECTS}' --key V.lemma --limit 20", lambda db: db.match(SUBJECTS).by("V.lemma")),
        (
            f"match '{SUBJECTS}' --key S#V --whether 'V -[obj]-> O'",
            lambda db: db.match(SUBJECTS).by("S#V").whether("V -[obj]-> O"),
        ),
        ("freq --by lemma --pattern 're*'", lambda db: db.frequencies("lemma", pattern="re*")),
        ("collocations water --measure pmi", lambda db: db.collocations("water", measure="pmi")),
        ("sketch lemma:arrive --min-count 1", lambda db: db.sketch("lemma:arrive", min_count=1)),
        ("algorithms", lambda db: db.algorithms()),
        ("aligners", lambda db: db.aligners()),
        ("score -m relief 'the camp is full .'", lambda db: db.model("relief").score("the camp is full .")),
        (
            "regenerate -m relief -a ab --tree '[the trucks] reached [the city] .'",
            lambda db: db.model("relief").regenerate(
                "[the trucks] reached [the city] .", algorithm="ab", tree=True
            ),
        ),
        (
            f"generate {TREEBANK} --cluster relief-001 --lengths 5-6",
            lambda db: db.generate(TREEBANK, cluster="relief-001", lengths=(5, 6)),
        ),
        (f"fuse 1 --with {TREEBANK} --nbest 2", lambda db: db.fuse(1, TREEBANK, nbest=2)),
        (
            f"fuse relief-001-1 --with {TREEBANK} -m relief -a cle",
            lambda db: db.fuse("relief-001-1", TREEBANK, model="relief", algorithm="cle"),
        ),
    ],
)
def test_methods_answer_as_their_commands(
    relief: Path, db: sentgen.Database, tmp_path: Path, line: str, ask: Ask
) -> None:
    """Methods and commands have the same rows and columns, in the same order."""
    # A process opens a file with one set of settings only, so the command gets a copy.
    copy = shutil.copy(relief, tmp_path / "copy.duckdb")
    of_store = [] if line.startswith(("check", "algorithms", "aligners")) else ["--db", str(copy)]
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        build()([*shlex.split(line), "--json", *of_store])

    answer = ask(db)
    found = [dict(zip(answer.columns, row, strict=True)) for row in answer]
    assert json.loads(json.dumps(found, default=str)) == _dated(json.loads(told.getvalue()))


def test_a_check_answers_as_its_command(relief: Path, db: sentgen.Database, tmp_path: Path) -> None:
    """A check has a row a verb argument, or a row a word."""
    summary = tmp_path / "summary.conllu"
    summary.write_text(CLUSTER)
    for option, words in (("", False), (" --words", True)):
        line = f"check {shlex.quote(str(summary))} --against {shlex.quote(str(TREEBANK))}{option}"
        test_methods_answer_as_their_commands(
            relief, db, tmp_path, line, lambda db, words=words: db.check(summary, TREEBANK, words=words)
        )


def _dated(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return rows with times as Python writes them."""
    return [
        {key: str(value).replace("T", " ") if key == "created_at" else value for key, value in row.items()}
        for row in rows
    ]


def test_keywords_of_two_corpora(relief: Path, tmp_path: Path) -> None:
    """Keywords compare two corpora; a corpus on both sides is refused."""
    (tmp_path / "news.conllu").write_text(CLUSTER, "utf-8")
    with sentgen.open(shutil.copy(relief, tmp_path / "relief.duckdb")) as db:
        db.ingest([tmp_path / "news.conllu"], "news")

        assert db.keyness("news", ["relief"])[0].word in {"Trucks", "reached", "camps"}
        with pytest.raises(InputError, match="compared with itself: news"):
            db.keyness("news", "news")


def test_hits_have_trees(db: sentgen.Database) -> None:
    """Each hit has its tree with the nodes marked, its CoNLL-U, and a line that unfolds in a notebook."""
    hits = db.match(SUBJECTS, limit=2)
    first = hits.trees[0]

    assert hits.total == 212
    assert first.words[:3] == ["Heavy", "rains", "flooded"]
    assert first.heads[:3] == [2, 3, 0]
    # V=flooded@3 S=rains@2
    assert ElementTree.fromstring(first.svg).findall(".//*[@class='marked']")
    assert "flooded  VERB" in repr(first)
    assert hits.conllu().count("# sent_id") == 2
    assert hits._repr_html_().count("<details>") == 2
    assert (hits.by("V.lemma").trees, hits.by("V.lemma").conllu()) == ([], "")
    assert "rect" in hits.by("V.lemma")._repr_html_()


def test_hits_are_shown_after_the_database_was_closed(relief: Path) -> None:
    """Hits that a notebook has shown can be shown again after the database was closed."""
    with sentgen.open(relief, read_only=True) as closed:
        hits = closed.match(SUBJECTS, limit=2)

    assert "flooded" in hits._repr_html_()
    assert "<details>" not in hits._repr_html_()


def test_a_model_scores_and_orders(db: sentgen.Database) -> None:
    """Sums over all sentences, the sentence as text, and its tree."""
    lm = db.model("relief@1")
    scores = lm.score(["the camp is full .", "zyx"])
    made = lm.regenerate("[the trucks] reached [the city] .", algorithm="ab")

    assert (len(scores), scores.sums["oov"]) == (2, 1)
    assert scores.log10 == pytest.approx(sum(scores["log10"]))
    assert scores.perplexity == pytest.approx(10 ** (-scores.log10 / scores.sums["tokens"]))
    assert made.text == "the trucks reached the city ."
    assert made.tree.heads == [2, 0, 2, 2]
    assert made.texts == [made.text]
    assert "<svg" in made._repr_html_()
    assert made.conllu().startswith("# sent_id = 1\n")
    assert repr(lm) == "<LanguageModel relief@1: kneser-ney, order 3, 695 words>"


def test_a_model_is_built_with_counts_as_numbers(relief: Path, tmp_path: Path) -> None:
    """`min_count` may be a number, numbers, or as on the command line; versions count up."""
    with sentgen.open(shutil.copy(relief, tmp_path / "relief.duckdb")) as db:
        found = [
            db.build_model("small", ["relief"], order=2, min_count=counts) for counts in (2, [1, 2], "1,2")
        ]
        assert [lm.name for lm in found] == ["small@1", "small@2", "small@3"]
        assert [lm.info.min_count for lm in found] == [(2, 2), (1, 2), (1, 2)]
        assert db.remove_model("small@2") == ["small@2"]
        assert [row.version for row in db.models()] == [1, 1, 3]


def test_a_model_is_applied(relief: Path, tmp_path: Path) -> None:
    """A model is applied to corpora once; the answer has the numbers of sentences and tokens."""
    with sentgen.open(shutil.copy(relief, tmp_path / "relief.duckdb")) as db:
        done, again = (db.apply_model("relief", "relief") for _ in range(2))
        assert (done.sentences, done.tokens, again.sentences) == (149, 2506, 0)
        assert db.sql("select sum(surprisal) from v_surprisal")[0][0] == pytest.approx(done.bits)


def test_companions_are_built_beside_a_model(relief: Path, tmp_path: Path) -> None:
    """With companions, the model over words is returned."""
    with sentgen.open(shutil.copy(relief, tmp_path / "relief.duckdb")) as db:
        assert db.build_model("small", "relief", order=2, companions=True).info.symbols.are_words
        assert [row.name for row in db.models() if row.name.startswith("small-")] == [
            "small-classes", "small-items", "small-tags",
        ]  # fmt: skip


def test_aligned_texts_have_links(db: sentgen.Database) -> None:
    """Aligned texts have links, new words, and both texts as the pages show them."""
    found = db.align(DOCUMENT, ABSTRACT)

    assert (2, 6, "flooded", "flooded") in found.links
    assert (8, 0, "Trucks", "Trucks") in found.links
    assert found.new == ["clean"]
    assert found.figures.words == 9
    assert "8-0" in found.pharaoh().split()
    assert [row.phrase for row in found if row.document is None] == [None]
    assert found.notes == [
        "priors only: nothing was learnt from pairs; `sentgen align train` makes a model for `model`"
    ]
    shown = found._repr_html_()
    assert 'class="alignment"' in shown
    assert "<style>" in shown
    assert found.html().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("options", [{}, {"explain": True}, {"system": "lcs"}])
def test_aligned_texts_have_words_and_json(
    db: sentgen.Database, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any]
) -> None:
    """Each word with its links and its P(null), and the object that the command prints."""
    found = db.align(DOCUMENT, ABSTRACT, **options)
    for name, text in (("document", DOCUMENT), ("abstract", ABSTRACT)):
        (tmp_path / name).write_text(text, "utf-8")
    words = [f"--{name}={value}" for name, value in options.items() if name != "explain"]
    words += ["--explain"] * ("explain" in options)
    texts = ["--document", str(tmp_path / "document"), "--abstract", str(tmp_path / "abstract")]
    build()(["align", "text", *texts, *words, "--json"], standalone_mode=False)

    assert json.loads(json.dumps(found.json())) == json.loads(capsys.readouterr().out)
    told = found.json()["words"]
    names = ("word", "state", "posterior", "p_null", "why", "elsewhere")
    assert [{name: getattr(row, name) for name in names} for row in found.words] == [
        {name: one[name] for name in names} for one in told
    ]
    assert [[place - 1 for place in row.places] for row in found.words] == [one["from"] for one in told]
    assert [row.document for row in found.words] == [
        " ".join(found.document[place] for place in one["from"]) or None for one in told
    ]
    assert [row.place for row in found.words] == [*range(1, len(found.abstract) + 1)]
    frame = found.words.df()
    assert list(frame[frame["state"] == "new"]["word"]) == found.new


def test_aligned_texts_have_reasons(db: sentgen.Database) -> None:
    """A link has a row of reasons, but none without `explain`, or by an aligner without posteriors."""
    found = db.align(DOCUMENT, ABSTRACT, explain=True)
    trucks = next(row for row in found.reasons if row.summary == "Trucks")

    assert (trucks.place, trucks.document) == (9, "Trucks")
    assert sum(trucks.shares.values()) == pytest.approx(1, abs=1e-6)
    assert "same word" in trucks.shares
    assert "Reasons of the links" in found.html()
    with pytest.raises(InputError, match="no reasons; align with explain=True"):
        db.align(DOCUMENT, ABSTRACT).reasons  # noqa: B018
    assert "no reasons: this aligner" in db.align(DOCUMENT, ABSTRACT, system="lcs", explain=True).notes[0]


def test_texts_come_as_they_are_or_from_files(db: sentgen.Database, tmp_path: Path) -> None:
    """A `Path` is a file; a text that is the name of one is more likely a mistake than a text."""
    (tmp_path / "document.txt").write_text(DOCUMENT, "utf-8")

    assert db.align(tmp_path / "document.txt", ABSTRACT).links == db.align(DOCUMENT, ABSTRACT).links
    with pytest.raises(InputError, match="is a file, and `document` a text; give pathlib"):
        db.align(str(tmp_path / "document.txt"), ABSTRACT)
    with pytest.raises(
        InputError, match=r"^summary:1: no tree here; .* or `parser` PARSER \(sentgen parser train"
    ):
        db.check("Trucks arrived.", CLUSTER, lemmas=True)


def test_clusters_become_sentences(db: sentgen.Database) -> None:
    """A pair of lengths is a range; weights of words are a dictionary; trees are there if wanted."""
    made = db.generate(
        CLUSTER, lengths=(2, 3), nbest=2, salience={"Trucks": 1.0, "reached": 1.0, "camps": 1.0}
    )

    assert {row.length for row in made} == {2, 3}
    assert made.text in made.texts
    assert made.tree.words
    assert {row.length for row in db.generate(CLUSTER, lengths=3)} == {3}
    with pytest.raises(InputError, match="nothing to generate from"):
        db.generate()


def test_a_fused_sentence_tells_where_its_words_are_from(db: sentgen.Database, tmp_path: Path) -> None:
    """A fused sentence has the origins of its words and its changes, for all kinds of input."""
    key, _, related = f"{CLUSTER}{IN_SARKESH}".partition("\n\n")
    found = db.fuse(1, f"{CLUSTER}{IN_SARKESH}")

    assert found.text == found.texts[0] == "Trucks reached camps in Sarkesh"
    assert [tuple(row)[2:] for row in found.words][2:4] == [("camps", 0, 3, "camps"), ("in", 1, 4, "in")]
    assert [(row.kind, row.text, row.sentence) for row in found.changes] == [("added", "in Sarkesh", 1)]
    assert "<mark>in Sarkesh<sub>1</sub></mark>" in found._repr_html_()
    assert found.df()["added"].tolist() == ["in Sarkesh"]
    (tmp_path / "key.conllu").write_text(f"{key}\n\n", "utf-8")
    for one in (key, tmp_path / "key.conllu"):
        assert db.fuse(one, related).texts == found.texts


def test_where_nothing_is_added_there_is_no_sentence(db: sentgen.Database) -> None:
    """Without an addition there is no sentence; the notes and the error of its text say why."""
    found = db.fuse(2, f"{CLUSTER}{IN_SARKESH}")

    assert (len(found), found.texts) == (0, [])
    with pytest.raises(InputError, match="there is no sentence: nothing to add"):
        _ = found.text


def test_clusters_are_kept_as_a_corpus(relief: Path, tmp_path: Path) -> None:
    """A file with the name of a corpus is ingested, and can be used by that name from then on."""
    (tmp_path / "cluster.conllu").write_text(CLUSTER, "utf-8")
    with sentgen.open(shutil.copy(relief, tmp_path / "relief.duckdb")) as db:
        kept = db.generate(tmp_path / "cluster.conllu", corpus="news", lengths=3)
        assert kept.texts == db.generate(corpus="news", lengths=3).texts
        with pytest.raises(InputError, match="a text cannot be kept as a corpus"):
            db.generate(CLUSTER, corpus="news")


def test_hits_are_looked_for_when_they_are_looked_at(
    db: sentgen.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hits are fetched when needed; counts by a key take one query and no lines; errors are immediate."""
    asked = list[Match]()
    ask = Match.ask
    monkeypatch.setattr(Match, "ask", lambda self, connection: asked.append(self) or ask(self, connection))
    hits = db.match(SUBJECTS)
    counts = hits.by("V.lemma")
    assert asked == []
    assert len(counts) == len(list(counts))
    assert [one.key for one in asked] == [["V.lemma"]]
    assert hits.total == sum(row.count for row in db.match(SUBJECTS, key="V.lemma", limit=0))
    assert (hits.truncated, hits.notes, hits.sql[:4]) == (True, [], "with")
    assert [one.key for one in asked] == [["V.lemma"], [], ["V.lemma"]]
    for wrong in ({"key": "Z.lemma"}, {"whether": "V ["}, {"where": "gnre = a"}, {"corpus": "x"}):
        with pytest.raises(SentgenError):
            db.match(SUBJECTS, **wrong)
    with pytest.raises(InputError, match="the same key"):
        hits.by("V.lemma", "V.lemma")
    assert len(asked) == 3


def test_hits_are_of_the_store_as_it_was_asked(relief: Path, tmp_path: Path) -> None:
    """Later changes of the store, and its closing, do not change hits."""
    with sentgen.open(shutil.copy(relief, tmp_path / "relief.duckdb")) as db:
        before = db.match(SUBJECTS, count=True)
        (tmp_path / "more.conllu").write_text(CLUSTER, "utf-8")
        db.ingest(tmp_path / "more.conllu", "more")
        after = db.match(SUBJECTS, count=True)

    assert before["count"][0] < after["count"][0]


def test_hits_are_counted_by_corpus_and_document(db: sentgen.Database) -> None:
    """Counts of hits by corpus and by document equal those of a list of frequencies."""
    hits = db.match("pattern { V [upos=VERB] }", limit=0)
    total = len(hits)
    documents = {row.document: row.count for row in hits.by("document")[:]}
    verbs = db.frequencies("document", query='[upos="VERB"]', limit=0)

    assert [tuple(row)[:2] for row in hits.by("corpus")] == [("relief", total)]
    assert sum(documents.values()) == total
    assert {row.document: row.count for row in verbs} == documents
    assert sum(db.frequencies("corpus", limit=0)["count"]) == sum(db.corpora()["tokens"])


def test_a_summary_is_checked(db: sentgen.Database) -> None:
    """Precision, and each claim with its reason."""
    found = db.check(CLUSTER, CLUSTER.replace("camps", "huts"))

    assert (found.precision, found.supported, len(found.claims)) == (0.5, 1, 2)
    states = found.words["state"]
    assert found.notes == [
        "precision 0.500: 1 of 2 verb arguments have support in the source",
        f"{states.count('changed')} of 3 words are changed, {states.count('new')} new",
    ]


def test_the_words_of_a_summary_are_checked_without_trees(db: sentgen.Database) -> None:
    """Without trees a check has a row a word and no precision, and a note on what is missing."""
    found = db.check("Trucks arrived.", "Trucks left.")

    assert (found.precision, found.claims) == (None, [])
    assert (found[0].place, found[0].word, found[0].state) == (1, "Trucks", "same")
    assert [tuple(row) for row in found] == [tuple(row) for row in found.words]
    assert found.notes[1].startswith("relations of verbs were not checked: summary:1: no tree here; ")
    assert "`parser`" in found.notes[1]
    assert len(db.check(CLUSTER, CLUSTER, words=True)) == len(db.check(CLUSTER, CLUSTER).words)


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (
            lambda db: db.ngrams("the *", limt=3),
            InputError,
            "there is no option 'limt'; did you mean 'limit'?",
        ),
        (lambda db: db.ngrams("the *", limit=-1), InputError, "`limit` -1 is less than 0"),
        (lambda db: db.ngrams("the *", limit="3"), InputError, "`limit` is a whole number; '3' is none"),
        (lambda db: db.ngrams("the *", ignore_case=1), InputError, "`ignore_case` is True or False"),
        (lambda db: db.ngrams("the *", corpus=3), InputError, "`corpus` is a text, or several; 3 is none"),
        (lambda db: db.ngrams(3), InputError, "`pattern` is a text; 3 is none"),
        (lambda db: db.ngrams("the *", corpus="x"), NotFoundError, "no corpus 'x'; the store has: relief"),
        (lambda db: db.kwic("a", sort="zzz"), InputError, "no sort key 'zzz'; there are 1L, 1R, node, left"),
        (lambda db: db.collocations("a", by="up"), InputError, "`by` 'up' is none of: word, lemma"),
        (lambda db: db.kwic(), InputError, "nothing is asked for"),
        (lambda db: db.match("pattern { V -[ }"), QueryError, "column 16: expected"),
        (lambda db: db.match(SUBJECTS, key="V.x", count=True), InputError, "a count alone has no keys"),
        (
            lambda db: db.match(SUBJECTS, key="V.lema"),
            InputError,
            "V.lema: no attribute 'lema'; did you mean",
        ),
        (
            lambda db: db.match(SUBJECTS).by("meta.gnre"),
            InputError,
            "no metadata 'meta.gnre'; there are corpus",
        ),
        (lambda db: db.frequencies("lema"), QueryError, "no attribute 'lema'; did you mean lemma?"),
        (lambda db: db.model("nope"), NotFoundError, "no model 'nope'; there are: relief@1"),
        (lambda db: db.model("relief").score([1]), InputError, "`text` is a text, or several"),
        (
            lambda db: db.model("relief").regenerate("a b", algorithm="beam").tree,
            InputError,
            "beam makes no trees, so `tree` means",
        ),
        (lambda db: db.align("a", "b", threshold="x"), InputError, "`threshold` is a number; 'x' is none"),
        (lambda db: db.align("a", "b", threshold=2), InputError, "`threshold` 2.0 is more than 1"),
        (
            lambda db: db.align("a", "b", model="x", system="y"),
            InputError,
            "`model` and `system` exclude each other",
        ),
        (
            lambda db: db.align(3, "b"),
            InputError,
            "`document` is a text, or a pathlib.Path of a file; 3 is neither",
        ),
        (lambda db: db.generate(CLUSTER, lengths="x"), InputError, "'x' is no length"),
        (lambda db: db.fuse(9, CLUSTER), InputError, "related: no sentence 9; there are 1"),
        (lambda db: db.fuse(1, CLUSTER, algorithm="beam"), InputError, "beam needs a model"),
        (
            lambda db: db.fuse("camps", CLUSTER),
            InputError,
            "'camps' is no file, number or sent_id; give `parser`",
        ),
        (lambda db: db.fuse("1\tcamps", CLUSTER), InputError, "key:1: "),
        (lambda db: db.fuse(1, 3), InputError, "`related` is a text, or a pathlib.Path"),
        (lambda db: db.keyness("relief", against=[]), SentgenError, ""),
    ],
)
def test_errors_are_one_line_in_words_of_python(
    db: sentgen.Database, ask: Callable[[sentgen.Database], object], kind: type[SentgenError], message: str
) -> None:
    """All errors are of sentgen, in one line, without options of the command line."""
    with pytest.raises(kind) as found:
        ask(db)

    assert str(found.value).startswith(message)
    assert "\n" not in str(found.value)
    assert "--" not in str(found.value)


def test_what_was_given_stays_as_it_is(db: sentgen.Database, tmp_path: Path) -> None:
    """Options in a message are spelled as in Python, but quoted input is unchanged."""
    name = "--model {model}"

    with pytest.raises(NotFoundError, match=f"no model '{name}'"):
        db.model(name)
    with pytest.raises(InputError, match=f"{name}: no such file"):
        db.generate(tmp_path / name)
    assert name in db.ngrams(name).notes[0]
