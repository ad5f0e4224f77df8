"""An empty list has a note, with the command that makes the first item."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Sentgen
from test_reading_commands import commands

#: Every command that lists what a store has.
LISTS = sorted({*(name for name in commands() if name.endswith(" list")), "align models"})


@pytest.fixture
def empty(sentgen: Sentgen, store: Path, empty_store: Path) -> Sentgen:
    """The command line over a store with nothing in it."""
    shutil.copyfile(empty_store, store)
    return sentgen


@pytest.mark.parametrize("name", LISTS)
def test_it_is_said_on_standard_error(empty: Sentgen, name: str) -> None:
    """In one line, with the command that makes one; an empty list is an answer, and no error."""
    told = empty(*name.split())

    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("no ")
    assert " yet; " in told.err
    assert ": sentgen " in told.err
    assert told.err.count("\n") == 1
    words = told.err.rpartition("sentgen ")[2].split()
    assert {words[0], " ".join(words[:2])} & commands()


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("name", LISTS)
def test_programs_get_an_empty_list(empty: Sentgen, name: str) -> None:
    assert json.loads(empty(*name.split(), "--json").out) == []
    assert empty(*name.split(), "--jsonl").out == ""
    assert empty(*name.split(), "--csv").out.count("\n") == 1


def test_so_does_a_query_without_rows(empty: Sentgen) -> None:
    told = empty("sql", "select * from v_corpora")

    assert (told.code, told.out, told.err) == (0, "", "no rows\n")


def test_a_corpus_without_rejected_sentences_says_so(filled: Sentgen) -> None:
    told = filled("corpora", "show", "pets", "--rejected")

    assert (told.code, told.out, told.err) == (0, "", "no sentence of pets was rejected\n")
