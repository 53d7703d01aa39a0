"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lean_dojo_v2.files import atomic_write_text, atomic_writer


def test_a_file_is_replaced_and_its_folder_made(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.txt"
    atomic_write_text(file, "α")
    atomic_write_text(file, "β")
    assert file.read_bytes() == "β".encode()
    assert list(file.parent.iterdir()) == [file]


def test_what_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    atomic_write_text(file, "old")

    def write_half() -> None:
        with atomic_writer(file) as stream:
            stream.write(b"ne")
            assert file.read_text() == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_modes_are_kept_and_links_written_through(tmp_path: Path) -> None:
    file, link = tmp_path / "real.txt", tmp_path / "link.txt"
    mask = os.umask(0o027)
    try:
        atomic_write_text(file, "old")
    finally:
        os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o640
    file.chmod(0o600)
    link.symlink_to(file)
    atomic_write_text(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o600
