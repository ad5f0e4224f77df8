"""One unit on the screen: decimal logarithms, said in the header; programs get natural ones, too, by name."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from conftest import Sentgen

from sentgen.demo import TREEBANK
from sentgen.output.display import NATURAL

PARTNERS = {name: "log10" if name == "logp" else f"log10_{name.removeprefix('log_')}" for name in NATURAL}
COMMANDS = (
    ("score", "-m", "pets", "The zebra saw the dog ."),
    ("score", "-m", "pets", "--totals", "The zebra saw the dog ."),
    ("regenerate", "-m", "pets", "saw [the dog] [a cat] ."),
    ("regenerate", "-m", "pets", "-a", "cle", "saw [the dog] [a cat] ."),
    ("regenerate", "-m", "pets", "-a", "lmo", "--explain", "saw [the dog]"),
    ("regenerate", "-m", "pets", "-a", "ab", "--explain", "saw [the dog]"),
    ("generate", "pets.conllu", "--lengths", "4-5"),
)


def paired(row: dict[str, object]) -> bool:
    """Check that each natural logarithm of a row has its decimal one, and say whether there is any."""
    found = sorted(NATURAL & row.keys())
    for name in found:
        log10, natural = row[PARTNERS[name]], row[name]
        assert natural == (None if log10 is None else pytest.approx(float(str(log10)) * math.log(10)))
    return bool(found)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:5]))
def test_screen_and_programs(filled: Sentgen, words: tuple[str, ...]) -> None:
    """A table for reading has decimal ones only, JSON both."""
    shown = set(re.findall(r"\w+", " ".join(filled(*words).out.splitlines()[:4])))
    found = json.loads(filled(*words, "--json").out)

    assert found
    assert all(paired(row) for row in found)
    assert any(name.startswith("log10") for name in shown)
    assert not NATURAL & shown


def test_a_fused_sentence(sentgen: Sentgen) -> None:
    """Its score is that of the search, in both units."""
    (row,) = json.loads(sentgen("fuse", "10", "--with", TREEBANK, "--json").out)

    assert paired(row)


def test_score_and_regenerate_agree(filled: Sentgen) -> None:
    """The log-probability of a sentence is the same number in both."""
    (row,) = json.loads(filled("regenerate", "-m", "pets", "saw [the dog] [a cat] .", "--json").out)
    (scored,) = json.loads(filled("score", "-m", "pets", row["sentence"], "--json").out)

    assert (row["log10"], row["logp"]) == pytest.approx((scored["log10"], scored["logp"]))


def test_readings_and_trees(filled: Sentgen) -> None:
    """The line above a tree, the steps of a trace, and the drawing of a tree."""
    tree = filled("regenerate", "-m", "pets", "-a", "cle", "--tree", "saw [the dog]", "--svg", "tree.svg").out
    asked = ("generate", "pets.conllu", "--lengths", "4", "--trace")
    (row,) = json.loads(filled(*asked, "--json").out)
    trace = filled(*asked).out

    assert re.search(r"^log10 -\d+\.\d\d, log10_score -\d+\.\d\d$", tree, re.MULTILINE)
    assert "(log10 weight " in Path("tree.svg").read_text()
    assert all(paired(step) for step in row["trace"])
    assert f"log10 {row['log10']:.4f}, " in trace
    assert f"{row['trace'][-1]['log10']:.3f}" in trace.splitlines()[-2]


def test_score_tells_of_raw_text_and_takes_it(filled: Sentgen) -> None:
    """With totals, too; what is tokenized has the numbers that it had, and nothing is said of it."""
    tokens = filled("score", "-m", "pets", "The zebra saw the dog .")
    raw = filled("score", "-m", "pets", "The zebra saw the dog.")
    told = "1 of 2 unknown words are known when split, such as 'dog.'"

    assert "split" not in tokens.err
    assert told in raw.err
    assert told in filled("score", "-m", "pets", "--totals", "The zebra saw the dog.").err
    assert filled("score", "-m", "pets", "--tokenize", "The zebra saw the dog.") == tokens
