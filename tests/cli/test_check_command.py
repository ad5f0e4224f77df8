"""`sentgen check` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import PETS, Sentgen, refused

from sentgen.alignment.words.states import WordState

#: The dog saw the cat: `saw` has the cat before it in the source, and the dog after it.
SUMMARY = "\n".join(
    [
        "# text = A dog chased the dog.",
        "1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_",
        "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_",
        "3\tchased\tchase\tVERB\tVBD\t_\t0\troot\t_\t_",
        "4\tthe\tthe\tDET\tDT\t_\t5\tdet\t_\t_",
        "5\tdog\tdog\tNOUN\tNN\t_\t3\tobj\t_\tSpaceAfter=No",
        "6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n",
    ]
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A summary with one relation of two that the source has, and the source."""
    (tmp_path / "summary.conllu").write_text(SUMMARY)
    (tmp_path / "source.conllu").write_text(PETS)
    return tmp_path / "summary.conllu", tmp_path / "source.conllu"


def test_for_reading(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """The figure, what has no support with the reason, and the sentences; --all shows the rest."""
    summary, source = files
    told = sentgen("check", summary, "--against", source)

    assert told.code == 0
    assert told.out.startswith("precision 0.500: 1 of 2 verb arguments have support in the source\n")
    assert "chased … dog  in the source the other way around" in told.out
    assert "dog … chased" not in told.out
    assert "A dog chased the dog." in told.out
    assert "dog … chased  source 1" in sentgen("check", summary, "--against", source, "--all").out


def test_as_json(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """All relations with all that is known of them; the figure goes to standard error."""
    _, source = files
    told = sentgen("check", "-", "--against", source, "--json", stdin=SUMMARY)
    first, second = json.loads(told.out)

    assert (first["supported"], first["source"], first["relation"]) == (True, "1", "nsubj")
    assert (second["verb"], second["argument"], second["order"]) == ("chased", "dog", "verb first")
    assert second["instead"] == "cat dog"
    assert told.err.splitlines()[0].startswith("precision 0.500: 1 of 2 verb arguments")
    assert " of 6 words are changed, " in told.err.splitlines()[1]


def test_other_words_are_told_apart(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """From what is there and what is not: on the screen, as JSON, and by the exit code; asked for only."""
    _, source = files
    summary = SUMMARY.replace("chased\tchase\tVERB", "chases\tchase\tVERB").replace("SpaceAfter=No", "_")
    plain = sentgen("check", "-", "--against", source, stdin=summary)
    told = sentgen("check", "-", "--against", source, "--other-words", stdin=summary)
    found, missing = json.loads(
        sentgen("check", "-", "--against", source, "--other-words", "--json", stdin=summary).out
    )

    assert "precision 0.000: 0 of 2 verb arguments have support in the source\n" in plain.out
    assert "--other-words" in plain.err
    assert "1 of 2 verb arguments have support in the source, 1 of them in other words\n" in told.out
    assert "dog … chases  source 1 in other words: dog … chased (form)" in told.out
    assert "chases … dog  not related in the source" in told.out
    assert "--other-words" not in told.err
    assert [(row["words"], row["found"], row["differs"]) for row in (found, missing)] == [
        ("other", "dog chased", "form"),
        ("", "", ""),
    ]
    reached = ("check", "-", "--against", source, "--fail-under", "0.5")
    assert sentgen(*reached, stdin=summary).code == 1
    assert sentgen(*reached, "--other-words", stdin=summary).code == 0


def test_the_exit_code_is_about_the_figure_only_if_asked(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """--fail-under 0.5 is content with 0.5; nothing claimed is nothing wrong."""
    summary, source = files

    assert sentgen("check", summary, "--against", source, "--fail-under", "0.5").code == 0
    assert sentgen("check", summary, "--against", source, "--fail-under", "0.51").code == 1

    told = sentgen(
        "check", "-", "--against", source, "--fail-under", "1", stdin=SUMMARY.replace("VERB", "NOUN")
    )

    assert (told.code, told.out) == (
        0,
        "no verb arguments in the summary\n0 of 6 words are changed, 0 new\n",
    )


def test_a_page(sentgen: Sentgen, files: tuple[Path, Path], tmp_path: Path) -> None:
    """--html writes the whole page, and replaces an old one."""
    summary, source = files
    told = sentgen("check", summary, "--against", source, "--html", tmp_path / "check.html")

    assert "check.html" in told.err
    assert "<mark>dog<sup>1</sup></mark>." in (tmp_path / "check.html").read_text()


def test_of_text_without_trees_words_are_checked(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """What is new, and all words with --all and for programs; a note says why no relations are."""
    _, source = files
    asked = ("check", "-", "--against", source)
    told = sentgen(*asked, stdin="The dog slept.\n")
    rows = json.loads(sentgen(*asked, "--json", stdin="The dog slept.\n").out)
    lines = sentgen(*asked, "--all", stdin="The dog slept.\n").out.splitlines()

    assert told.code == 0
    assert told.out.startswith("0 of 4 words are changed, 1 new\n")
    assert "       1  slept  new\n" in told.out
    assert "The dog slept." in told.out
    assert told.err.startswith("relations of verbs were not checked: -:1: no tree here; ")
    assert "--parser" in told.err
    assert [(row["word"], row["state"]) for row in rows[:3]] == [
        ("The", "same"),
        ("dog", "same"),
        ("slept", "new"),
    ]
    assert rows[1]["there"].startswith("dog")
    assert (rows[1]["source"][0], rows[2]["there"], rows[2]["source"]) == ("1", "", "")
    assert sum(" same " in line for line in lines) == 3


def test_words_are_checked_alone(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """--words checks words also if there are trees, with a row per word."""
    summary, source = files
    told = sentgen("check", summary, "--against", source, "--words", "--json")

    assert [row["word"] for row in json.loads(told.out)] == ["A", "dog", "chased", "the", "dog", "."]
    assert told.err == "0 of 6 words are changed, 0 new\n"


def test_a_changed_word_denies_its_relations(
    sentgen: Sentgen, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the screen, in the exit code and on the page; the word is listed with what stands there."""
    summary, source = files
    states = [WordState(word, "same", (0,)) for word in ("A", "dog", "chased", "the", "dog", ".")]
    states[1] = WordState("dog", "changed", (4,), why="another animal")
    monkeypatch.setattr("sentgen.evaluation.check.check.word_states", lambda *_: states)

    told = sentgen("check", summary, "--against", source, "--fail-under", "0.5", "--html", "page.html")

    assert told.code == 1
    assert told.out.startswith("precision 0.000: 0 of 2 verb arguments have support in the source\n")
    assert "\n1 of 6 words are changed, 0 new\n" in told.out
    assert "dog … chased  changed: dog (another animal)" in told.out
    assert "       1  dog   changed  cat    1       another animal\n" in told.out
    html = Path("page.html").read_text()
    assert '<mark class="changed">dog<sup>1</sup></mark>' in html
    assert "1 of 6 words are changed, 0 new." in html


def test_what_needs_trees_is_refused_without(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """The message tells of --parser; two texts do not fit through standard input."""
    _, source = files

    for option in (["--fail-under", "0.5"], ["--lemmas"], ["--other-words"], ["--match-case"]):
        told = sentgen("check", "-", "--against", source, *option, stdin="The dog slept.\n")
        refused(told, "no tree here", "--parser")
        both = sentgen("check", source, "--against", source, "--words", *option)
        assert (both.code, both.out) == (2, "")
        assert "--words" in both.err
    refused(sentgen("check", "-", "--against", "-", stdin=SUMMARY), "name a file")
    refused(sentgen("check", source, "--against", source, "--parser", "gold", "-f", "nope"), "no format")


def test_a_broken_tree_is_refused(sentgen: Sentgen, files: tuple[Path, Path]) -> None:
    """It is an error, as a source read in part would make true sentences look unsupported."""
    summary, source = files
    source.write_text(PETS.replace("5\tcat\tcat\tNOUN\tNN\t_\t3", "5\tcat\tcat\tNOUN\tNN\t_\t9"))

    refused(sentgen("check", summary, "--against", source), "source.conllu")
