"""Plug-ins on the command line: the example of the documentation is installed and used, and broken ones are named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from broken_plugins import BROKEN, PREAMBLE, USE
from conftest import ROOT, Sentgen, command, refused
from plugged import plugged, write_package
from typer._completion_classes import BashComplete
from typer.main import get_group

from sentgen import entry_points, plugins
from sentgen.cli import build
from sentgen.corpus.formats import READERS

TAGGED = """\
<text id="news-1" genre="news">
Trucks_NNS_truck arrived_VBD_arrive ._._.

<text id="blog-1" genre="blog">
A&B_NNP_A&B won_VBD_win
"""


@pytest.fixture
def example(installed_example: Path) -> Iterator[None]:
    """The example is there in this process."""
    with plugged(installed_example):
        yield


@pytest.mark.usefixtures("example")
def test_they_are_listed(sentgen: Sentgen) -> None:
    """With the package that adds them, behind our own."""
    for listing, name, settings in (
        ("formats", "tagged", None),
        ("algorithms", "insertion", "order rerank passes"),
        ("aligners", "spelling", "least"),
        ("scorers", "elman", None),
    ):
        told = sentgen(listing, "--json")
        listed = json.loads(told.out)
        first, last = listed[0], listed[-1]

        assert told.code == 0
        assert first["package"] == ("sentgen-example 0.1.0" if listing == "scorers" else "sentgen")
        assert list(last.values())[:2] == [name, "sentgen-example 0.1.0"]
        assert last.get("settings") == settings


@pytest.mark.usefixtures("example")
def test_the_reader(sentgen: Sentgen, tmp_path: Path) -> None:
    """Told by its extension or first lines; documents, metadata, lemmas and spaces arrive in the store."""
    (tmp_path / "a.tagged").write_text(TAGGED)
    (tmp_path / "b.tags").write_text(TAGGED)

    assert sentgen("ingest", "a.tagged", "--corpus", "a").code == 0
    assert sentgen("ingest", "b.tags", "--corpus", "b").code == 0
    query = (
        "select document, form, lemma, xpos from v_tokens where corpus = 'a' and lemma <> form order by all"
    )
    assert sentgen("sql", query, "--csv").out.splitlines()[1:] == [
        "blog-1,won,win,VBD",
        "news-1,Trucks,truck,NNS",
        "news-1,arrived,arrive,VBD",
    ]
    where = ("--corpus", "b", "--where", "genre = news", "--csv")
    assert sentgen("kwic", "arrived", *where).out.splitlines()[1].endswith("Trucks,arrived,.")
    assert "unchanged" in sentgen("ingest", "a.tagged", "--corpus", "a", "--format", "tagged").out


@pytest.mark.usefixtures("example")
def test_what_the_reader_refuses(sentgen: Sentgen, tmp_path: Path) -> None:
    """A broken line is told with its place; a sentence is checked as those of our readers are."""
    (tmp_path / "broken.tagged").write_text(TAGGED.replace("arrived_VBD_arrive", "arrived"))
    (tmp_path / "reserved.tagged").write_text(TAGGED.replace("Trucks", "<s>"))

    refused(
        sentgen("ingest", "broken.tagged", "--corpus", "a"),
        "broken.tagged:2: 'arrived' is not word_TAG or word_TAG_lemma",
    )
    refused(sentgen("ingest", "reserved.tagged", "--corpus", "a"), "reserved.tagged:2: token 1 is <s>")


@pytest.mark.usefixtures("example")
def test_the_algorithm(filled: Sentgen) -> None:
    """It runs and is evaluated, with a setting of its own and one that all have."""
    found = filled(
        "regenerate", "-m", "pets", "-a", "insertion", "--order", "2", "dog the saw cat the .", "--csv"
    )
    assert "the dog" in found.out.lower()
    refused(
        filled("regenerate", "-m", "pets", "-a", "insertion:passes=101", "a"),
        "passes 101 is not between 0 and 100",
    )
    refused(
        filled("regenerate", "-m", "pets", "-a", "insertion:turns=1", "a"), "no setting 'turns'", "passes"
    )
    refused(filled("regenerate", "-m", "pets", "-a", "lmo:passes=1", "a"), "no setting 'passes'")

    asked = ("-m", "pets", "--test", "pets.conllu", "-a", "lmo,insertion,insertion:passes=0", "--json")
    told = filled("evaluate", "regeneration", *asked)
    assert {row["system"] for row in json.loads(told.out)} >= {"insertion", "insertion:passes=0"}
    recorded = json.loads(filled("sql", "select parameters from run", "--json").out)[0]["parameters"]
    systems = json.loads(recorded)["systems"]
    assert [systems[name].get("passes") for name in ("lmo", "insertion", "insertion:passes=0")] == [
        None,
        3,
        0,
    ]
    assert [systems[name].get("plugin") for name in ("lmo", "insertion")] == [None, "sentgen-example 0.1.0"]


@pytest.mark.usefixtures("example")
def test_the_aligner(sentgen: Sentgen, tmp_path: Path) -> None:
    """It aligns two texts and is compared with gold links."""
    (tmp_path / "document").write_text("Trucks brought water to the camps .\n")
    (tmp_path / "abstract").write_text("truck brings waters .\n")
    texts = ("--document", "document", "--abstract", "abstract", "--format", "lines")
    align = ("align", "text", *texts, "--pharaoh")

    assert sentgen(*align, "--system", "spelling").out == "0-0 2-2 6-3\n"
    assert sentgen(*align, "--system", "spelling:least=0.2").out == "0-0 1-1 2-2 6-3\n"
    refused(
        sentgen(*align, "--system", "spelling:least=2"), "has the value '2' for least, which it cannot take"
    )

    (tmp_path / "gold").mkdir()
    for name, text in (("document", "a b c"), ("abstract", "b a"), ("links", "1-0 0-1")):
        (tmp_path / "gold" / f"{name}.txt").write_text(f"{text}\n")
    gold = ("--gold", "gold", "--format", "pharaoh", "--systems", "lcs,spelling:least=1", "--json")
    told = sentgen("evaluate", "alignment", *gold)
    assert told.code == 0, told.err
    assert {row["system"] for row in json.loads(told.out)} >= {"lcs", "spelling:least=1"}
    recorded = json.loads(sentgen("sql", "select parameters from run", "--json").out)[0]["parameters"]
    assert json.loads(recorded)["plugins"] == {"spelling:least=1": "sentgen-example 0.1.0"}


@pytest.mark.usefixtures("example")
def test_help_and_completion_name_them(sentgen: Sentgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Help of what runs names them; the reference, which is made of the commands as they are, does not."""
    monkeypatch.setenv("COLUMNS", "200")
    for words, told in (
        (("regenerate",), ("Plug-ins: insertion.", "Plug-ins: tagged.")),
        (("evaluate", "alignment"), ("Plug-ins: spelling.",)),
        (("ingest",), ("Plug-ins: tagged.",)),
        (("generate",), ("Plug-ins: tagged.",)),
    ):
        # Lines end anywhere, and within frames, as the terminal is taken to be.
        out = " ".join(sentgen(*words, "--help").out.replace("│", " ").split())
        assert re.findall(r"Plug-ins: [^.]*\.", out.replace("Plug- ins", "Plug-ins")) == list(told)
    # What the reference is made of stays as it is.
    made = get_group(build()).load("regenerate")  # type: ignore[attr-defined]
    assert not [one for one in made.params if "Plug-ins" in getattr(one, "help", "")]

    shell = BashComplete(get_group(build()), {}, "sentgen", "_SENTGEN_COMPLETE")
    for words, expected in (
        (["regenerate", "-a", "in"], ["insertion"]),
        (["ingest", "--format", "tag"], ["tagged"]),
        (["evaluate", "alignment", "--systems", "sp"], ["spelling"]),
        (["evaluate", "alignment", "--format", "v"], []),
        (["generate", "-a", "in"], []),
    ):
        assert [one.value for one in shell.get_completions(words[:-1], words[-1])] == expected


def test_as_a_user_has_it(installed_example: Path, store: Path, tmp_path: Path) -> None:
    """In a process of its own, which finds the installed package by itself."""
    (tmp_path / "a.tagged").write_text(TAGGED)
    environment = {**os.environ, "PYTHONPATH": str(installed_example), "SENTGEN_DB": str(store)}
    done = subprocess.run(
        command("ingest", "a.tagged", "--corpus", "a"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"tokens +5\n", done.stdout)


def test_nothing_is_looked_for_without_need(full: Path, sentgen: Sentgen, nightly: bool) -> None:
    """Our own names cost no look at what is installed, neither when commands are imported nor when they run."""
    help_, ngrams, regenerate = (
        ["--help"],
        ["ngrams", "the *", "--db", str(full)],
        ["regenerate", "-m", "kn", "-a", "lmo", "the dog", "--db", str(full)],
    )
    code = f"""
import sys
from sentgen.cli import main
for words in {[help_, ngrams, *([regenerate] if nightly else [])]}:
    sys.argv = ["sentgen", *words]
    try:
        main()
    except SystemExit:
        pass
from sentgen import entry_points
print(entry_points.plugins_of_kind.cache_info().misses, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)

    assert done.stderr.splitlines()[-1] == "0"
    entry_points.plugins_of_kind.cache_clear()
    assert sentgen(*regenerate).code == 0
    assert entry_points.plugins_of_kind.cache_info().misses == 0


@pytest.mark.nightly(by_day=8)
@pytest.mark.parametrize(
    ("kind", "code", "told"),
    [(kind, *case) for kind, cases in BROKEN.items() for case in cases],
    ids=[f"{kind}-{number}" for kind, cases in BROKEN.items() for number, _ in enumerate(cases, 1)],
)
def test_a_broken_one_is_named_in_one_line(
    filled: Sentgen, tmp_path: Path, kind: str, code: str, told: str
) -> None:
    """Whatever it does: no traceback, exit code 1, and the package is named."""
    (tmp_path / "a.bad").write_text("one\ntwo\n")
    (tmp_path / "text").write_text("the dog\n")
    write_package(tmp_path / "site", "broken", {f"{kind}.bad": "x"}, PREAMBLE[kind] + code)
    with plugged(tmp_path / "site"):
        found = filled(*USE[kind])

    assert found.out == ""
    refused(found, told)
    assert f"the {kind[:-1]} 'bad' of broken 1.0" in found.err or "[" in told


NOTHING = "from sentgen.plugins import Reader\nx = Reader({!r}, '1', lambda lines, path: [], '')\n"


def test_names_that_are_taken(sentgen: Sentgen, tmp_path: Path) -> None:
    """Ours stay what they are; of two packages with one name neither is used; listings name all, and fail."""
    site = tmp_path / "site"
    (tmp_path / "a.lines").write_text("one\n")
    write_package(site, "ours", {"readers.lines": "x"}, NOTHING.format("lines"))
    write_package(site, "one", {"readers.same": "x"}, NOTHING.format("same"))
    write_package(site, "two", {"readers.same": "x", "readers.a:b": "x"}, NOTHING.format("same"))
    with plugged(site):
        assert sentgen("ingest", "a.lines", "--corpus", "a", "-f", "lines").code == 0
        refused(
            sentgen("ingest", "a.lines", "--corpus", "a", "-f", "same"),
            "the reader 'same' of one 1.0 has the same name as that of two 1.0; uninstall one",
        )
        told = sentgen("formats", "--csv")

    assert told.code == 1
    assert len(told.out.splitlines()) == len(READERS) + 1
    assert [line.split(" has ")[0] for line in told.err.splitlines()] == [
        "sentgen: the reader 'a:b' of two 1.0",
        "sentgen: the reader 'lines' of ours 1.0",
        "sentgen: the reader 'same' of one 1.0",
        "sentgen: the reader 'same' of two 1.0",
    ]


def test_a_broken_reader_is_in_nobodys_way(sentgen: Sentgen, tmp_path: Path) -> None:
    """What ours can read is read; what none can tell may be of its format, so that it is named."""
    (tmp_path / "a.odd").write_text("1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n")
    (tmp_path / "b.odd").write_text("who knows\n")
    write_package(tmp_path / "site", "broken", {"readers.bad": "x"}, "1 / 0\n")
    with plugged(tmp_path / "site"):
        assert sentgen("ingest", "a.odd", "--corpus", "a").code == 0
        refused(
            sentgen("ingest", "b.odd", "--corpus", "a"),
            "b.odd: cannot tell the format; give --format; it may be one of a plug-in that cannot be used: "
            "the reader 'bad' of broken 1.0 cannot be imported: ZeroDivisionError",
        )


@pytest.mark.parametrize("kind", ["algorithms", "aligners"])
def test_an_evaluation_ends_with_a_broken_one(filled: Sentgen, tmp_path: Path, kind: str) -> None:
    """It is a mistake, not something that is missing; before anything is run where it can be told then."""
    (tmp_path / "gold").mkdir()
    for name, text in (("document", "a b c"), ("abstract", "b a"), ("links", "1-0 0-1")):
        (tmp_path / "gold" / f"{name}.txt").write_text(f"{text}\n")
    evaluate = {
        "algorithms": ("regeneration", "-m", "pets", "--test", "pets.conllu", "-a", "lmo,bad"),
        "aligners": ("alignment", "--gold", "gold", "--format", "pharaoh", "--systems", "lcs,bad"),
    }
    code = {
        "algorithms": "x = made(lambda problem, nbest: 1 / 0)",
        "aligners": "x = System(Gives(1 / 2), '')",
    }
    write_package(tmp_path / "site", "broken", {f"{kind}.bad": "x"}, PREAMBLE[kind] + code[kind])
    with plugged(tmp_path / "site"):
        refused(filled("evaluate", *evaluate[kind]), f"the {kind[:-1]} 'bad' of broken 1.0")
    assert json.loads(filled("sql", "select count(*) as n from run", "--json").out) == [{"n": 0}]


def test_what_authors_import() -> None:
    """Every name is there, and a reader does not wait for what algorithms need."""
    code = "import sys; from sentgen.plugins import Reader, Sentence; print('numpy' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert told.stdout == "False\n"
    assert sorted(plugins.__all__) == sorted(plugins._PLACES)
    assert all(getattr(plugins, name) is not None for name in plugins.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        plugins.Nothing  # noqa: B018


def test_an_algorithm_with_trees_and_settings(filled: Sentgen, tmp_path: Path) -> None:
    """Its trees are drawn as ours are; a value that its settings refuse is refused in their words."""
    code = "x = made(lambda problem, nbest: tree((1, -1)), trees=True, settings=(Picky,))"
    write_package(tmp_path / "site", "trees", {"algorithms.bad": "x"}, PREAMBLE["algorithms"] + code)
    with plugged(tmp_path / "site"):
        told = filled(
            "regenerate", "-m", "pets", "-a", "bad:odd=3", "dog cat", "--tree", "--conllu", "x.conllu"
        )
        refused(
            filled("regenerate", "-m", "pets", "-a", "bad:odd=2", "dog cat"),
            "bad cannot take {'odd': 2}: odd!",
        )

    assert told.code == 0, told.err
    assert [
        row.split("\t")[6] for row in (tmp_path / "x.conllu").read_text().splitlines() if "\t" in row
    ] == ["2", "0"]


def test_an_algorithm_sees_words_and_tags(filled: Sentgen, tmp_path: Path) -> None:
    """As they were given, unknown words and capitals too; tags are guessed only where trees need them."""
    code = """
def order(problem, nbest):
    units = sorted(range(problem.size), key=lambda unit: (problem.tags[unit], problem.forms[unit]))
    return [Ordering(tuple(units), 0.0)]
x = made(order)
"""
    write_package(tmp_path / "site", "seeing", {"algorithms.bad": "x"}, PREAMBLE["algorithms"] + code)
    asked = ("regenerate", "-m", "pets", "-a", "bad", "--csv")
    with plugged(tmp_path / "site"):
        told = [
            filled(*asked, bag).out.splitlines()[1].split(",")[2]
            for bag in ("ate/VBD [The/DT Zebra/NN] cat/CC", "ate [The Zebra] cat")
        ]

    # By their first tags, CC, DT and VBD; by their first words where there are none.
    assert told == ["cat The Zebra ate", "The Zebra ate cat"]


@pytest.mark.usefixtures("example")
def test_the_scorer(filled: Sentgen) -> None:
    """It chooses among the best sentences of any algorithm, and its score is added to that of the algorithm."""
    bag = "dog the saw cat the ."
    asked = ("regenerate", "-m", "pets", "-a", "lmo", bag, "--nbest", "9", "--parts", "--json")
    plain, chosen = (json.loads(filled(*asked, *more).out) for more in ((), ("--rerank", "elman=3")))

    assert {row["sentence"] for row in chosen} >= {row["sentence"] for row in plain}
    before = {row["sentence"]: row["score"] for row in plain}
    for row in chosen:
        if row["sentence"] in before:
            assert row["score"] == pytest.approx(before[row["sentence"]] + 3 * row["part_elman"])
    assert [row["score"] for row in chosen] == sorted((row["score"] for row in chosen), reverse=True)
    assert [row["rank"] for row in chosen] == list(range(1, len(chosen) + 1))
    told = filled("regenerate", "-m", "pets", "-a", "lmo", bag, "--rerank", "elman", "--explain").err
    assert "reasons are those of the search; what reranks is not explained" in told


@pytest.mark.usefixtures("example")
def test_the_scorer_in_an_evaluation(filled: Sentgen) -> None:
    """The record has what it weighs, and its package; one among features reranks."""
    evaluated = filled(
        *("evaluate", "regeneration", "-m", "pets", "--test", "pets.conllu"),
        *("-a", "lmo,lmo:rerank=elman=.5,beam:features=elman", "--json"),
    )
    assert evaluated.code == 0, evaluated.err
    recorded = json.loads(filled("sql", "select parameters from run", "--json").out)[0]["parameters"]
    systems = json.loads(recorded)["systems"]
    assert {name: one.get("rerank") for name, one in systems.items()} == {
        "lmo": None,
        "lmo:rerank=elman=.5": "elman=.5",
        "beam:features=elman": "elman=1",
    }
    assert systems["beam:features=elman"]["scorers"] == {"elman": "sentgen-example 0.1.0"}


def test_scorers_that_there_are_not(filled: Sentgen) -> None:
    """The list is empty and says so; a name is that of a model, and what is there twice is refused."""
    told = filled("scorers")
    assert (told.code, told.out) == (0, "")
    assert "no package adds a scorer" in told.err
    asked = ("regenerate", "-m", "pets", "dog cat")
    refused(filled(*asked, "--rerank", "elman"), "no model 'elman'; there are: pets@1")
    refused(filled(*asked, "--rerank", "pets+pets"), "reranker pets is there twice")
    refused(filled(*asked, "--parts", "--explain"), "--parts and --explain are two tables")


def test_settings_behind_a_name_of_ours(filled: Sentgen) -> None:
    """They are those of the options; a wrong one is refused in the same words."""
    asked = ("regenerate", "-m", "pets", "dog the saw cat the .", "--csv")

    assert filled(*asked, "-a", "lmo:order=2") == filled(*asked, "-a", "lmo", "--order", "2")
    refused(filled(*asked, "-a", "lmo:beam=2"), "lmo does not look at beam")
    refused(filled(*asked, "-a", "lmo:order"), "'lmo:order' has 'order' where a setting belongs")
    refused(filled(*asked, "-a", "lmo:order=2", "--tree"), "lmo makes no trees")
