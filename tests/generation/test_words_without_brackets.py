"""A model that counts the brackets of phrases is told where words alone are put in order, which have none."""

from __future__ import annotations

from pathlib import Path

import pytest

import sentgen
from sentgen.generation import Search
from sentgen.schema import Store

BAG = "dog the chased a cat"


@pytest.mark.parametrize(
    ("model", "algorithm", "units", "told"),
    [
        ("tags", "lmo", "word", "units np"),
        ("tags", "beam", "word", "units np"),
        ("tags", "viterbi", "np", "another algorithm"),
        ("tags", "lmo", "np", ""),
        ("kn", "lmo", "word", ""),
        ("kn", "viterbi", "np", ""),
    ],
)
def test_the_plan_tells_it(full: Path, model: str, algorithm: str, units: str, told: str) -> None:
    with Store(full, read_only=True) as store:
        plan = Search(algorithm=algorithm, units=units).plan(store, model)

    hints = [one for one in plan.hints if "brackets" in one]
    assert len(hints) == bool(told)
    assert all(told in one and one.startswith("tags counts the brackets") for one in hints)


def test_it_is_a_note_of_the_sentences(full: Path) -> None:
    """In Python, as on the command line and in answers of the server, which take the notes from one place."""
    with sentgen.open(full, read_only=True) as db:
        words = db.model("tags").regenerate(BAG, algorithm="lmo", units="word")
        phrases = db.model("tags").regenerate(BAG, algorithm="lmo")

    assert [one for one in words.notes if "brackets" in one]
    assert not [one for one in phrases.notes if "brackets" in one]
