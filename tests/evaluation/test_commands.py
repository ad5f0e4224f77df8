"""The commands score, regenerate and evaluate: what they print, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import toy_store
import typer
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.errors import InputError, NotFoundError
from sentgen.schema import Store

MODEL = ("--model", "toy")


@pytest.fixture
def app() -> typer.Typer:
    """The three commands as they are registered."""
    return build()


@pytest.fixture
def run(app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Run a command on a store with the toy model; returns what it printed to standard output."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        toy_store.fill(store, toy_store.backoff_model(toy_store.SENTENCES, 4))
    monkeypatch.setenv("SENTGEN_DB", str(tmp_path / "toy.duckdb"))

    def run(*arguments: str, text: str | bytes | None = None) -> str:
        result = CliRunner().invoke(app, arguments, input=text)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


def rows(text: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(text)
    return found


def test_regenerate(run) -> None:  # type: ignore[no-untyped-def]
    """A bag on the command line, alternatives, JSON."""
    found = rows(run("regenerate", *MODEL, "barks [a dog]", "--nbest", "2", "--json"))

    assert [row["sentence"] for row in found] == ["a dog barks", "barks a dog"]
    assert [row["rank"] for row in found] == [1, 2]


@pytest.mark.parametrize("source", ["-", "file"])
def test_regenerate_lines(run, tmp_path: Path, source: str) -> None:  # type: ignore[no-untyped-def]
    """One bag a line, from standard input or a file; --units word breaks phrases up."""
    text = "dog a\n[dog a] barks\n"
    (tmp_path / "bags.txt").write_text(text)
    place = ["-"] if source == "-" else ["--input", str(tmp_path / "bags.txt")]
    found = rows(run("regenerate", *MODEL, *place, "--units", "word", "--json", text=text))

    assert [row["sentence"] for row in found] == ["a dog", "a dog barks"]


def test_regenerate_a_treebank(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A CoNLL-U file gives its sentences with their base noun phrases as bags."""
    lines = [
        "1\tbarks\t_\tVERB\t_\t_\t0\troot\t_\t_",
        "2\ta\t_\tDET\t_\t_\t3\tdet\t_\t_",
        "3\tdog\t_\tNOUN\t_\t_\t1\tnsubj\t_\t_",
    ]
    (tmp_path / "x.conllu").write_text("\n".join(lines) + "\n\n")

    assert "a dog barks" in run(
        "regenerate", *MODEL, "--input", str(tmp_path / "x.conllu"), "--algorithm", "greedy"
    )


def test_without_trees_there_are_none_to_show(run) -> None:  # type: ignore[no-untyped-def]
    """The default algorithm builds no trees."""
    with pytest.raises(
        InputError, match="beam makes no trees, so --tree means nothing; these do: joint, prim"
    ):
        run("regenerate", *MODEL, "barks [a dog]", "--tree")


def test_score(run) -> None:  # type: ignore[no-untyped-def]
    """A row a sentence, or the totals; events are the words and </s>."""
    one, other = rows(run("score", *MODEL, "a dog barks", "zebra", "--json"))
    (totals,) = rows(run("score", *MODEL, "-", "--totals", "--json", text="a dog barks\nzebra\n"))

    assert (one["tokens"], one["oov"], other["oov"]) == (4, 0, 1)
    assert totals["log10"] == pytest.approx(one["log10"] + other["log10"])  # type: ignore[operator]
    assert (totals["sentences"], totals["tokens"], totals["oov"]) == (2, 6, 1)


def test_score_what_is_no_utf8(run) -> None:  # type: ignore[no-untyped-def]
    """Text that is not UTF-8 is refused with its line, for any encoding of standard input."""
    with pytest.raises(InputError, match="-:2: byte 0xff is not UTF-8"):
        run("score", *MODEL, "-", text=b"a dog\na \xff\n")


def test_score_a_file(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """--file reads one sentence a line."""
    (tmp_path / "t.txt").write_text("a dog\nthe cat\n")

    assert len(rows(run("score", *MODEL, "--file", str(tmp_path / "t.txt"), "--json"))) == 2


def test_evaluate(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Figures of each algorithm with intervals and signatures, and of each pair."""
    (tmp_path / "t.lines").write_text("a dog barks .\nthe cat sleeps .\n")
    found = rows(run("evaluate", "regeneration", *MODEL, "--test", str(tmp_path / "t.lines"), "--json"))

    assert {row["system"] for row in found} == {"lmo", "beam", "beam vs lmo"}
    assert {row["metric"] for row in found} >= {"bleu-lc-13a", "bleu-none:low", "exact-match", "search-ms"}
    assert {row["sentences"] for row in found} == {2}


def test_evaluate_for_reading(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A row a system, a row a pair, and lengths if asked for; settings make another system."""
    (tmp_path / "t.lines").write_text("a dog barks .\nthe cat sleeps .\n")
    arguments = ["--test", str(tmp_path / "t.lines"), "-a", "lmo,lmo:order=2", "--by-length", "--jobs", "2"]
    overlap, order, times, pairs, lengths = run("evaluate", "regeneration", *MODEL, *arguments).split("\n\n")

    for table in (overlap, order, times):
        assert [line.split()[0] for line in table.splitlines()] == ["system", "lmo", "lmo:order=2"]
        assert max(map(len, table.splitlines())) < 80
    assert "95% of bleu-lc-none" in overlap
    assert pairs.splitlines()[1].split()[:2] == ["lmo", "lmo:order=2"]
    assert lengths.splitlines()[0].split() == ["words", "1-4", "(2)"]


def test_evaluate_with_a_report(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The page is in the folder, lengths included."""
    (tmp_path / "t.lines").write_text("a dog barks .\n")
    run(
        "evaluate",
        "regeneration",
        *MODEL,
        "--test",
        str(tmp_path / "t.lines"),
        "--report",
        str(tmp_path / "r"),
    )

    assert "a dog barks ." in (tmp_path / "r" / "index.html").read_text("utf-8")
    assert "words,sentences" in (tmp_path / "r" / "by-length.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["score", *MODEL], InputError, "nothing to score"),
        (["score", *MODEL, "a", "--file", "x"], InputError, "too much"),
        (["regenerate", *MODEL], InputError, "nothing to order"),
        (["regenerate", "--model", "none", "a"], NotFoundError, "no model 'none'"),
        (["regenerate", *MODEL, "a", "-a", "magic"], InputError, "no algorithm"),
    ],
)
def test_refusals(run, arguments: list[str], error: type[Exception], message: str) -> None:  # type: ignore[no-untyped-def]
    """Errors are one line."""
    with pytest.raises(error, match=message):
        run(*arguments)


def test_bad_line_says_where(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The file is named, lines count from 1."""
    (tmp_path / "bags.txt").write_text("a b\n[a b\n")
    with pytest.raises(InputError, match=r"bags\.txt:2: "):
        run("regenerate", *MODEL, "--input", str(tmp_path / "bags.txt"))


@pytest.mark.parametrize("command", ["regenerate", "evaluate"])
def test_units_are_np_or_word(app: typer.Typer, command: str) -> None:
    """Anything else is a usage error, exit code 2."""
    arguments = {"regenerate": ["regenerate", "a"], "evaluate": ["evaluate", "regeneration", "--test", "x"]}[
        command
    ]

    assert CliRunner().invoke(app, [*arguments, *MODEL, "--units", "x"]).exit_code == 2


def test_other_systems_and_runs_compared(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Answers of a file are in the tables, without times; runs are compared by number and name."""
    (tmp_path / "t.lines").write_text("a dog barks .\nthe cat sleeps .\n")
    (tmp_path / "o.txt").write_text("barks a dog .\n\n")
    arguments = ["--test", str(tmp_path / "t.lines"), "-a", "lmo", "--outputs", f"x={tmp_path / 'o.txt'}"]
    overlap, order, times, _ = run("evaluate", "regeneration", *MODEL, *arguments).split("\n\n")

    assert [line.split()[0] for line in overlap.splitlines()] == ["system", "lmo", "x"]
    assert "other-words" in order
    assert [line.split()[0] for line in times.splitlines()] == ["system", "lmo"]
    found = rows(run("evaluate", "compare", "1:lmo", "1:x", "--json"))
    assert {row["system"] for row in found} == {"1:lmo", "1:x", "1:x vs 1:lmo"}
    assert run("evaluate", "compare", "1").split("\n\n")[-1].splitlines()[1].split()[:2] == ["1:x", "1:lmo"]
