"""Systems are written as an algorithm with settings."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from sentgen.errors import InputError
from sentgen.evaluation.regeneration.experiment import parse_systems
from sentgen.generation import Search
from sentgen.generation.algorithms import read_system, settings_record
from sentgen.options import parse_system


def settings_of(texts: Sequence[str], **shared: Any) -> dict[str, SimpleNamespace]:
    """Return the settings of each system, as its plan has them."""
    return {
        name: SimpleNamespace(
            **settings_record(*read_system(one.algorithm, one.as_published, one.changes)[:2])
        )
        for name, one in parse_systems(texts, Search(**shared)).items()
    }


def test_settings_of_one_and_of_all() -> None:
    """Settings of a system go before those of all; dashes and underscores are the same."""
    texts = ["lmo", "lmo:order=3:lmo-context=string", "prim:verb_root=no"]
    changes = {"order": 5, "one_root": False, "beam": None}
    plain, own, other = settings_of(texts, changes=changes).values()

    assert (plain.order, plain.lmo_context) == (5, "phrase")
    assert list(parse_systems(texts, Search())) == texts
    assert (own.order, own.lmo_context) == (3, "string")
    assert (other.verb_root, other.one_root) == (False, False)
    assert plain.one_root  # it has no tree, so that the change is not for it


def test_papers() -> None:
    """A paper can be set for all systems, or for one."""
    (one,) = settings_of(["lmo:as-published=2009"]).values()

    assert one == settings_of(["lmo"], as_published="2009")["lmo"]
    with pytest.raises(InputError, match="lmo is not in the paper of 2007"):
        settings_of(["lmo"], as_published="2007")


def test_changes_that_nobody_looks_at() -> None:
    """A setting for all systems that is for none of them is a mistake."""
    with pytest.raises(InputError, match="none of lmo, greedy looks at one-root"):
        settings_of(["lmo", "greedy"], changes={"one_root": False})
    with pytest.raises(InputError, match="lmo does not look at q"):
        settings_of(["lmo:q=paper"])


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([], "nothing to compare"),
        (["magic"], "no algorithm 'magic'"),
        (["lmo", "lmo"], "lmo is there twice"),
        (["lmo:fast"], "write SETTING=VALUE"),
        (["lmo:speed=9"], "no setting 'speed'"),
        (["lmo:order=x"], "order is a number; 'x' is none"),
        (["cle:verb-root=maybe"], "verb-root is yes or no; 'maybe' is neither"),
        (["lmo:lmo-context=all"], "neither phrase nor string"),
    ],
)
def test_refusals(systems: list[str], message: str) -> None:
    """One line that says what is wrong."""
    with pytest.raises(InputError, match=message):
        settings_of(systems)


@pytest.mark.parametrize("path", [r"C:\ann\a.txt", "d:/ann/a.txt", "/ann/a.txt"])
def test_a_drive_belongs_to_its_path(path: str) -> None:
    """Its colon begins no other setting."""
    name, settings = parse_system(f"lcs:links={path}:n=2")

    assert (name, [one.value for one in settings]) == ("lcs", [path, "2"])
