"""Atomic writing: the old file or the new one, and nothing else."""

import os
import resource
import stat

import pytest

from fewvars._common.atomic import atomic_file, write_atomically


def contents(folder):
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}


@pytest.mark.parametrize(("given", "written"), [(b"\x00\r\n", b"\x00\r\n"), ("Grüße\n", "Grüße\n".encode())])
def test_bytes_and_text(tmp_path, given, written):
    write_atomically(tmp_path / "a", given)
    assert contents(tmp_path) == {"a": written}
    write_atomically(str(tmp_path / "a"), b"again")
    assert contents(tmp_path) == {"a": b"again"}


def test_long_and_relative_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("n" * 255, b"1")  # the longest name that most file systems allow
    write_atomically("plain", b"2")
    assert contents(tmp_path) == {"n" * 255: b"1", "plain": b"2"}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_failing_write_leaves_what_there_was(tmp_path, error, old):
    path = tmp_path / "a"
    if old is not None:
        path.write_bytes(old)
    before = contents(tmp_path)
    with pytest.raises(error):
        interrupted(path, before, error)
    assert contents(tmp_path) == before


def interrupted(path, before, error):
    with atomic_file(path) as file:
        file.write(b"half")
        file.flush()
        now = contents(path.parent)
        assert len(now) == len(before) + 1  # the half is in a neighbour ...
        assert now.get("a") == before.get("a")  # ... not in the file
        raise error


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no file that is always full")
def test_a_full_disk_is_an_error_that_names_the_file():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_atomically("/dev/full", b"new")


def test_a_file_that_grows_too_large_is_named(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=str(tmp_path / "a")):
            write_atomically(tmp_path / "a", bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert contents(tmp_path) == {}


def test_a_failing_rename_leaves_what_there_was(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")

    def full(*names):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "a", b"new")
    assert contents(tmp_path) == {"a": b"old"}


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_umask(tmp_path, umask, mode):
    previous = os.umask(umask)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_permissions_of_the_replaced_file(tmp_path):
    (tmp_path / "a").write_bytes(b"secret")
    (tmp_path / "a").chmod(0o640)
    write_atomically(tmp_path / "a", b"new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "a")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "far") == {"a": b"new"}


def test_pipes_are_written_to_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(tmp_path / "pipe", b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_pipes_without_a_name(tmp_path):
    reader, writer = os.pipe()
    try:
        write_atomically(f"/dev/fd/{writer}", b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
        os.close(writer)


def test_folders_are_named_in_errors(tmp_path):
    with pytest.raises(IsADirectoryError, match="name of a file"):
        write_atomically(tmp_path, b"")
    with pytest.raises(FileNotFoundError, match=r"create it first: .*missing"):
        write_atomically(tmp_path / "missing" / "a", b"")
    assert contents(tmp_path) == {}
