"""What is written to: descriptors that are named, and what a file takes over from the one it replaces."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sentgen.system.files import descriptor_named, may_be_written, take_over


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all these names")
def test_descriptors_have_several_names(tmp_path: Path) -> None:
    """Links to them are followed; a number elsewhere is a name as others."""
    (tmp_path / "one").symlink_to("/dev/stdout")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "1").touch()
    (tmp_path / "circle").symlink_to("circle")
    own = [
        "/dev/stdout",
        "/dev/fd/1",
        "/proc/self/fd/1",
        "/proc/thread-self/fd/1",
        f"/proc/{os.getpid()}/fd/1",
    ]

    assert {descriptor_named(Path(one)) for one in (*own, tmp_path / "one", tmp_path / "two")} == {1}
    assert {
        descriptor_named(Path(one)) for one in (tmp_path / "1", tmp_path / "circle", tmp_path / "none", "1")
    } == {None}


def test_what_nobody_may_write_to_is_not_written(tmp_path: Path) -> None:
    (file := tmp_path / "file").touch(0o644)

    assert may_be_written(file, file.stat())
    file.chmod(0o444)
    assert not may_be_written(file, file.stat())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no modes")
def test_the_mode_is_taken_over(tmp_path: Path) -> None:
    (old := tmp_path / "old").touch()
    old.chmod(0o640)
    with (tmp_path / "new").open("w") as new:
        take_over(new.fileno(), old.stat())

    assert (tmp_path / "new").stat().st_mode == old.stat().st_mode
