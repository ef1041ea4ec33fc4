"""Files to and from the virtual phone, through the real adb server."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

import adbutils
import pytest

from heapprof_cli.virtual import VirtualPhone
from tests.virtual.conftest import Adb, said

FOLDER = "/data/local/tmp"


@pytest.fixture
def place(any_phone: VirtualPhone) -> str:
    """A folder on the phone to push to."""
    return FOLDER if any_phone.isolated else f"{any_phone.root}{FOLDER}"


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 5_000_001])
def test_a_file_there_and_back(any_adb: Adb, place: str, tmp_path: Path, size: int) -> None:
    source, back = tmp_path / "a file", tmp_path / "back"
    source.write_bytes(os.urandom(size))
    os.utime(source, (1_700_000_000, 1_700_000_000))
    source.chmod(0o750)
    pushed = any_adb("push", source, f"{place}/new/deep/file")
    assert pushed.returncode == 0, pushed
    on_phone = any_adb.phone.host_path(f"{place}/new/deep/file")
    found = on_phone.stat()
    assert (found.st_size, int(found.st_mtime)) == (size, 1_700_000_000)
    assert stat.S_IMODE(found.st_mode) == 0o777  # adbd's rule for 0750
    assert any_adb("pull", f"{place}/new/deep/file", back).returncode == 0
    assert back.read_bytes() == source.read_bytes()
    any_adb.shell(f"rm -r {place}/new")


def test_folders_and_links(any_adb: Adb, place: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "ünï").write_text("text")
    (tree / "b").write_text("b")
    assert any_adb("push", tree, place).returncode == 0
    assert any_adb.shell(f"ln -s b {place}/tree/link; cat {place}/tree/link") == "b"
    assert any_adb("pull", f"{place}/tree", tmp_path / "back").returncode == 0
    assert (tmp_path / "back" / "sub" / "ünï").read_text() == "text"
    listing = said(any_adb("ls", f"{place}/tree"))
    assert {line.rsplit(" ", 1)[1] for line in listing.splitlines()} == {".", "..", "b", "sub", "link"}
    any_adb.shell(f"rm -r {place}/tree")


def test_a_push_through_a_link_to_a_folder(any_adb: Adb, place: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    any_adb.shell(f"mkdir {place}/real; ln -s real {place}/through")
    assert any_adb("push", tmp_path / "f", f"{place}/through/f").returncode == 0
    assert any_adb.shell(f"cat {place}/real/f; rm -r {place}/real {place}/through") == "x"


def test_a_push_replaces_a_link_not_its_target(any_adb: Adb, place: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("new")
    any_adb.shell(f"echo -n old > {place}/target; ln -s target {place}/link")
    assert any_adb("push", tmp_path / "f", f"{place}/link").returncode == 0
    assert any_adb.shell(f"cat {place}/target {place}/link; rm {place}/target {place}/link") == "oldnew"


def test_what_may_not_be_written(any_adb: Adb, place: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    forbidden = "/data/f" if any_adb.phone.isolated else "/nonesuch-folder/f"
    done = any_adb("push", tmp_path / "f", forbidden)
    assert done.returncode == 1 and "couldn't create file: Permission denied" in said(done)
    any_adb.shell(f"mkdir {place}/closed; chmod 555 {place}/closed")
    done = any_adb("push", tmp_path / "f", f"{place}/closed/f")
    assert done.returncode == 1 and "couldn't create file: Permission denied" in said(done)
    done = any_adb("push", tmp_path / "f", f"{place}/closed/sub/f")
    assert done.returncode == 1 and "secure_mkdirs failed: Permission denied" in said(done)
    any_adb.shell(f"rmdir {place}/closed")


def test_what_may_not_be_read(any_adb: Adb, place: str, tmp_path: Path) -> None:
    any_adb.shell(f"echo x > {place}/secret; chmod 000 {place}/secret")
    done = any_adb("pull", f"{place}/secret", tmp_path / "f")
    assert done.returncode == 1 and "open failed: Permission denied" in said(done)
    assert any_adb("pull", f"{place}/none", tmp_path / "f").returncode == 1
    any_adb.shell(f"rm -f {place}/secret")


def test_links_stay_inside_the_phone(any_adb: Adb, place: str, tmp_path: Path) -> None:
    if not any_adb.phone.isolated:
        pytest.skip("no private root here")
    secret = tmp_path / "secret"
    secret.write_text("of this computer")
    tmp_path.chmod(0o755)
    any_adb.shell(f"ln -s {secret} {place}/out; ln -s ../../../../../../..{secret} {place}/up")
    for link in ("out", "up"):
        assert any_adb("pull", f"{place}/{link}", tmp_path / "back").returncode == 1
    assert any_adb("push", secret, f"{place}/../../../../../..{tmp_path}/evil").returncode == 1
    assert not (tmp_path / "evil").exists() and not (tmp_path / "back").exists()
    any_adb.shell(f"rm {place}/out {place}/up")


def sync(phone: VirtualPhone) -> adbutils.AdbConnection:
    device = adbutils.AdbClient(phone.adb_host, phone.adb_port).device(phone.serial)
    connection = device.open_transport(timeout=20)
    connection.send_command("sync:")
    connection.check_okay()
    return connection


def ask(connection: adbutils.AdbConnection, name: bytes, path: str, length: int) -> bytes:
    encoded = path.encode()
    connection.conn.sendall(struct.pack("<4sI", name, len(encoded)) + encoded)
    return bytes(connection.read_exact(length))


def test_stat_of_both_versions(phone: VirtualPhone) -> None:
    base = phone.host_path(FOLDER if phone.isolated else f"{phone.root}{FOLDER}")
    (base / "s").write_bytes(b"12345")
    (base / "l").symlink_to("s")
    path = str(base / "s") if not phone.isolated else f"{FOLDER}/s"
    link = path[:-1] + "l"
    with sync(phone) as connection:
        name, mode, size, _ = struct.unpack("<4s3I", ask(connection, b"STAT", path, 16))
        assert (name, stat.S_ISREG(mode), size) == (b"STAT", True, 5)
        assert ask(connection, b"STAT", path + "none", 16) == b"STAT" + bytes(12)
        for request, kind in ((b"STA2", stat.S_ISREG), (b"LST2", stat.S_ISLNK)):
            answer = struct.unpack("<4sI2Q4IQ3q", ask(connection, request, link, 72))
            assert (answer[0], answer[1], kind(answer[4])) == (request, 0, True)
        assert struct.unpack_from("<4sI", ask(connection, b"STA2", path + "none", 72)) == (b"STA2", 2)
        assert struct.unpack_from("<4sI", ask(connection, b"STA2", path + "/x", 72)) == (b"STA2", 20)
        assert ask(connection, b"XXXX", "/", 8)[:4] == b"FAIL"
    (base / "s").unlink()
    (base / "l").unlink()


def test_a_path_too_long_or_with_nul(phone: VirtualPhone) -> None:
    with sync(phone) as connection:
        assert ask(connection, b"STA2", "/a\0b", 72)[4:8] == struct.pack("<I", 22)
        assert ask(connection, b"RECV", "/a\0b", 8)[:4] == b"FAIL"
    with sync(phone) as connection:
        length = struct.unpack("<4sI", ask(connection, b"STAT", "/" * 1025, 8))[1]
        assert bytes(connection.read_exact(length)) == b"path too long"


def test_adbutils_push_and_pull(phone: VirtualPhone, tmp_path: Path) -> None:
    place = FOLDER if phone.isolated else f"{phone.root}{FOLDER}"
    device = adbutils.AdbClient(phone.adb_host, phone.adb_port).device(phone.serial)
    (tmp_path / "f").write_bytes(os.urandom(700_000))
    device.sync.push(tmp_path / "f", f"{place}/f")
    device.sync.pull(f"{place}/f", tmp_path / "g")
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()
    assert [entry.path for entry in device.sync.list(place) if entry.path == "f"] == ["f"]
    phone.host_path(f"{place}/f").unlink()


def test_a_full_file_system(tmp_path: Path) -> None:
    with VirtualPhone(private_root=None, start_server=False) as probe:
        if not probe.isolated:
            pytest.skip("no private root here")
    with VirtualPhone(data_size=2 << 20) as phone:
        adb = Adb(phone)
        (tmp_path / "big").write_bytes(bytes(3 << 20))
        (tmp_path / "small").write_bytes(b"x" * 100)
        done = adb("push", tmp_path / "big", f"{FOLDER}/big")
        assert done.returncode == 1 and "write failed: No space left on device" in said(done)
        assert adb.shell(f"ls {FOLDER}") == ""
        assert "No space left" in said(adb("shell", f"head -c 3000000 /dev/zero > {FOLDER}/z"))
        adb.shell(f"rm {FOLDER}/z")
        assert adb("push", tmp_path / "small", f"{FOLDER}/small").returncode == 0
        assert phone.host_path(f"{FOLDER}/small").read_bytes() == b"x" * 100
        phone.reboot()
        phone.connect()
        assert adb.shell(f"ls {FOLDER}") == "small\n"


def test_a_read_only_file_system(tmp_path: Path) -> None:
    with VirtualPhone(private_root=None, start_server=False) as probe:
        if not probe.isolated:
            pytest.skip("no private root here")
    with VirtualPhone(data_read_only=True) as phone:
        (tmp_path / "f").write_text("x")
        done = Adb(phone)("push", tmp_path / "f", f"{FOLDER}/f")
        assert done.returncode == 1 and "couldn't create file: Read-only file system" in said(done)
