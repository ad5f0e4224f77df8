"""Short links: a permanent name for each address."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.desk import short_links
from sentgen.desk.desk import Desk
from sentgen.desk.short_links import LETTERS, LONGEST_TARGET, NamedLink, ShortLink
from sentgen.errors import InputError, NotFoundError


@pytest.fixture
def board(tmp_path: Path) -> Desk:
    """An empty desk."""
    return Desk(tmp_path / "1b.desk", create=True)


def test_an_address_has_one_name_which_stays(board: Desk) -> None:
    """An address has one name for all users at all times; capitals do not matter."""
    name = ShortLink(target="/word?word=a").make(board, "ann")

    assert (len(name), {*name} <= {*LETTERS}) == (3, True)
    assert ShortLink(target="/word?word=a").make(Desk(board.path), "ben") == name
    assert NamedLink(name=name.upper()).find(Desk(board.path)) == "/word?word=a"
    assert ShortLink(target="/word?word=b").make(board, "ann") != name


def test_names_grow_when_many_are_in_use(board: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names become longer when more than a tenth of a length is in use; of two letters there are four."""
    monkeypatch.setattr(short_links, "LETTERS", "ab")
    monkeypatch.setattr(short_links, "_SHORTEST", 1)
    names = [ShortLink(target=f"/word?word={number}").make(board, "ann") for number in range(6)]

    assert len({*names}) == 6
    # With n names in use: 10 n names of that length are needed, of which there are 2 to the length.
    assert [len(name) for name in names] == [1, 4, 5, 5, 6, 6]


def test_what_cannot_be_had_is_told(board: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown names, addresses that are too long, and too many of one client are refused."""
    with pytest.raises(NotFoundError, match="no short link 'zzz'; look at it again"):
        NamedLink(name="zzz").find(board)
    with pytest.raises(InputError, match="longer than 2,000 characters"):
        ShortLink(target="/" + "x" * LONGEST_TARGET).make(board, "ann")
    monkeypatch.setattr(short_links, "_MOST_LINKS", 1)
    ShortLink(target="/a").make(board, "ann")
    with pytest.raises(InputError, match="you have made 1 short link, which is the most"):
        ShortLink(target="/b").make(board, "ann")
    assert ShortLink(target="/b").make(board, "ben")
