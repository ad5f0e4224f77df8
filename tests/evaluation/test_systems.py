"""Systems are written as an algorithm with settings."""

from __future__ import annotations

import pytest

from sentgen.errors import InputError
from sentgen.evaluation.regeneration.systems import parse_systems


def test_settings_of_one_and_of_all() -> None:
    """What a system says itself wins; dashes and underscores are the same."""
    plain, own, other = parse_systems(
        ["lmo", "lmo:order=3:lmo-context=string", "prim:verb_root=no"],
        changes={"order": 5, "one_root": False, "beam": None},
    )

    assert (plain.settings.order, plain.settings.lmo_context) == (5, "phrase")
    assert (own.name, own.algorithm.name) == ("lmo:order=3:lmo-context=string", "lmo")
    assert (own.settings.order, own.settings.lmo_context) == (3, "string")
    assert (other.settings.verb_root, other.settings.one_root) == (False, False)
    assert plain.settings.one_root  # it has no tree, so that the change is not for it


def test_papers() -> None:
    """For all systems, or for one."""
    (one,) = parse_systems(["lmo:as-published=2009"])

    assert one.settings == parse_systems(["lmo"], as_published="2009")[0].settings
    with pytest.raises(InputError, match="lmo is not in the paper of 2007"):
        parse_systems(["lmo"], as_published="2007")


def test_changes_that_nobody_looks_at() -> None:
    """A setting for all systems that is for none of them is a mistake."""
    with pytest.raises(InputError, match="none of lmo, greedy looks at one-root"):
        parse_systems(["lmo", "greedy"], changes={"one_root": False})
    with pytest.raises(InputError, match="lmo does not look at q"):
        parse_systems(["lmo:q=paper"])


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([], "nothing to compare"),
        (["magic"], "no algorithm 'magic'"),
        (["lmo", "lmo"], "lmo is there twice"),
        (["lmo:fast"], "write SETTING=VALUE"),
        (["lmo:speed=9"], "no setting 'speed'"),
        (["lmo:order=x"], "order 'x' is not a number"),
        (["cle:verb-root=maybe"], "verb-root 'maybe' is not yes or no"),
        (["lmo:lmo-context=all"], "neither phrase nor string"),
    ],
)
def test_refusals(systems: list[str], message: str) -> None:
    """One line that says what is wrong."""
    with pytest.raises(InputError, match=message):
        parse_systems(systems)
