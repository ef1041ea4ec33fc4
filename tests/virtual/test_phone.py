"""The virtual phone as a whole: states, drops, reboots, several at once, and that nothing of it stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from heapprof_cli.virtual import PrivateAdbServer, VirtualPhone, VirtualPhoneError
from tests.virtual.conftest import SYSTEM_ADB, Adb, as_ordinary_user, ended, eventually, needs_namespaces, python, said


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def home_of(server: int) -> Path:
    """The home folder of an adb server."""
    variables = Path(f"/proc/{server}/environ").read_bytes().decode().split("\0")
    home = Path(next(line for line in variables if line.startswith("HOME="))[5:])
    assert home.is_dir() and home.name.startswith("heapprof-adb-")
    return home


def test_unauthorized_until_the_user_agrees() -> None:
    with VirtualPhone(auth="unauthorized") as phone:
        adb = Adb(phone)
        assert phone.adb_server is not None
        eventually(lambda: phone.adb_server and phone.adb_server.states() == {phone.serial: "unauthorized"})
        done = adb("shell", "true")
        assert done.returncode == 1 and "unauthorized" in said(done)
        phone.set_auth("authorized")
        eventually(lambda: adb("shell", "true").returncode == 0)


@pytest.mark.skipif(not SYSTEM_ADB.exists(), reason="no adb is installed on this computer")
def test_unauthorized_with_another_adb() -> None:
    with VirtualPhone(auth="unauthorized", adb=SYSTEM_ADB) as phone:
        assert "unauthorized" in said(Adb(phone)("shell", "true"))


def test_a_drop_ends_shells_and_the_server_comes_back(any_adb: Adb) -> None:
    phone = any_adb.phone
    running = any_adb.start("echo ok; sleep 303")
    assert running.stdout is not None and running.stdout.readline() == b"ok\n"
    phone.drop()
    running.wait(20)
    running.stdout.close()
    phone.connect()
    eventually(lambda: any_adb("shell", "true").returncode == 0)
    any_adb("shell", "kill $(grep -l 303 /proc/[0-9]*/cmdline | cut -d/ -f3)")  # the shell got SIGHUP, the sleep lives


def test_a_reboot_ends_processes_and_keeps_files(phone: VirtualPhone, adb: Adb) -> None:
    place = phone.workspace.rpartition("/")[0]
    before = phone.boot_id()
    adb.shell(f"echo kept > {place}/kept; setsid sleep 304 </dev/null >/dev/null 2>&1 &")
    eventually(lambda: any("304" in line for _, line in phone.processes()))
    phone.reboot()
    assert phone.processes() == [] and phone.boot_id() != before
    phone.connect()
    assert adb.shell(f"cat {place}/kept; rm {place}/kept") == "kept\n"
    if phone.isolated:
        assert adb.shell("cat /proc/sys/kernel/random/boot_id").strip() == phone.boot_id()
        assert float(adb.shell("cat /proc/uptime").split()[0]) < 60


def test_adb_reboot(phone: VirtualPhone, adb: Adb) -> None:
    before = phone.boot_id()
    adb("reboot")
    eventually(lambda: phone.boot_id() != before)
    phone.connect()
    assert adb("shell", "true").returncode == 0


def test_offline_for_a_while(phone: VirtualPhone, adb: Adb) -> None:
    phone.go_offline(0.3)
    assert phone.adb_server is not None
    assert phone.adb_server.states().get(phone.serial) != "device" or adb("shell", "true").returncode != 0
    assert phone.connect().startswith("connected") and adb("shell", "true").returncode == 0


def test_two_phones_at_once_are_apart() -> None:
    with VirtualPhone(properties={"ro.soc.model": "SM8650"}) as one, VirtualPhone() as two:
        assert Adb(one).shell("getprop ro.soc.model") == "SM8650\n"
        assert Adb(two).shell("getprop ro.soc.model") == "SM8850\n"
        needs_namespaces(one)
        Adb(one).shell("touch /data/local/tmp/of-one")
        assert Adb(two).shell("ls /data/local/tmp") == ""
        assert two.adb_server is not None
        two.adb_server.connect(one.serial)
        eventually(lambda: two.adb_server and set(two.adb_server.states().values()) == {"device"})
        assert len(two.adb_server.states()) == 2


def test_two_servers_on_one_phone(phone: VirtualPhone, adb: Adb) -> None:
    with PrivateAdbServer(SYSTEM_ADB if SYSTEM_ADB.exists() else None) as second:
        assert "connected to" in second.connect(phone.serial)
        done = ended([str(second.adb), "-P", str(second.port), "-s", phone.serial, "shell", "echo second"])
        assert done.stdout == b"second\n" and adb.shell("echo first") == "first\n"


def test_a_killed_server_starts_again(phone: VirtualPhone, adb: Adb) -> None:
    server = phone.adb_server
    assert server is not None and server.pid is not None
    port, pid = server.port, server.pid
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: server.pid is None)
    server.kill()
    server.start()
    phone.connect()
    assert server.port == port and adb.shell("echo again") == "again\n"


def test_everything_ends_with_the_phone() -> None:
    with VirtualPhone() as phone:
        Adb(phone).shell("setsid sleep 305 </dev/null >/dev/null 2>&1 &")
        Adb(phone).shell("mkdir -p data/local/tmp/a/b; chmod 500 data/local/tmp/a/b data/local/tmp/a")
        eventually(lambda: any("305" in line for _, line in phone.processes()))
        server = phone.adb_server
        assert server is not None and server.pid is not None
        pids = [server.pid, phone._pid]
        root = phone.root
        folder = home_of(server.pid)
    assert [pid for pid in pids if exists(pid)] == []
    assert not root.exists() and not folder.exists()
    assert "sleep 305" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_a_root_of_ones_own_stays(tmp_path: Path) -> None:
    for _ in range(2):
        with VirtualPhone(root=tmp_path / "phone") as phone:
            place = phone.workspace.rpartition("/")[0]
            Adb(phone).shell(f"echo x >> {place}/kept")
    assert (tmp_path / "phone/data/local/tmp/kept").read_text() == "x\nx\n"
    assert not [name for name in os.listdir(tmp_path / "phone") if phone.isolated and name != "data"]


def test_a_failed_start_leaves_nothing(tmp_path: Path) -> None:
    phone = VirtualPhone(adb=Path("/bin/false"))
    with pytest.raises(Exception, match="did not start"), phone:
        pass
    assert not phone.root.exists()


def test_properties_that_cant_be_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="not a system property"):
        VirtualPhone(properties={"ro.x": "a\nb"})


HOLD = """
import sys
from heapprof_cli.virtual import VirtualPhone
phone = VirtualPhone(private_root=PRIVATE)
phone.start()
print(phone.adb_server.pid, phone._pid, phone.root, phone.adb_server.adb, phone.adb_port, phone.serial, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("private", [None, False])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_survives_a_killed_owner(number: signal.Signals, private: bool | None) -> None:
    sleep = f"sleep 306.{os.getpid()}"  # tests run side by side: each knows its own
    owner = python("-c", HOLD.replace("PRIVATE", str(private)))
    assert owner.stdout is not None
    server, pid, root, adb, port, serial = owner.stdout.readline().decode().split()
    home = home_of(int(server))
    subprocess.run(
        [adb, "-P", port, "-s", serial, "shell", f"setsid {sleep} </dev/null >/dev/null 2>&1 &"],
        check=True,
        timeout=20,
    )
    owner.send_signal(number)
    owner.communicate(timeout=20)
    eventually(lambda: not exists(int(server)) and not exists(int(pid)))
    eventually(lambda: not Path(root).exists() and not home.exists())
    assert sleep not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_the_command_line() -> None:
    process = python("-m", "heapprof_cli.virtual", "--property", "ro.soc.model=SM8750")
    assert process.stdout is not None and process.stdin is not None
    where = json.loads(process.stdout.readline())
    assert set(where) == {"serial", "adb_host", "adb_port", "endpoint_port", "workspace", "isolation"}
    with PrivateAdbServer() as server:
        server.connect(where["serial"])
        done = ended([str(server.adb), "-P", str(server.port), "-s", where["serial"], "shell", "getprop ro.soc.model"])
    assert done.stdout == b"SM8750\n"
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, b"")


def test_the_command_line_ends_on_sigterm() -> None:
    process = python("-m", "heapprof_cli.virtual")
    assert process.stdout is not None
    json.loads(process.stdout.readline())
    process.terminate()
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, b"")


LOOK = """
from heapprof_cli.virtual import VirtualPhone
import subprocess, sys
with VirtualPhone(private_root={private}) as phone:
    adb = [str(phone.adb_server.adb), "-P", str(phone.adb_port), "-s", phone.serial]
    run = lambda *a: subprocess.run([*adb, *a], capture_output=True, timeout=20)
    place = phone.workspace.rpartition("/")[0]
    assert run("shell", "exit 3").returncode == 3
    assert run("push", "/etc/passwd", place + "/x/f").returncode == 0
    run("shell", f"mkdir {{place}}/closed; chmod 555 {{place}}/closed")
    assert b"Permission denied" in (lambda d: d.stdout + d.stderr)(run("push", "/etc/passwd", place + "/closed/f"))
    run("shell", "setsid sleep 307 </dev/null >/dev/null 2>&1 &")
    assert [l for _, l in phone.processes() if "sleep 307" in l]
    print(phone.isolation, "|", run("shell", "id -u").stdout.decode().strip(), phone.root)
"""


@pytest.mark.parametrize("private", [None, False])
def test_an_ordinary_user(private: bool | None) -> None:
    prefix, program = as_ordinary_user()
    code = LOOK.format(private=private)
    process = python("-c", code, prefix=prefix, program=program, cwd="/", env={"HOME": "/nonexistent"})
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors.decode()
    isolation, _, rest = out.decode().partition("|")
    uid, root = rest.split()
    assert not Path(root).exists()
    if private is None:
        assert isolation.startswith(("namespaces", "none: "))
        assert uid == "2000" if isolation.startswith("namespaces") else uid
    else:
        assert isolation.strip() == "none: not asked for"


def test_without_a_private_root_as_we_are() -> None:
    with VirtualPhone(private_root=False) as phone:
        adb = Adb(phone)
        assert phone.isolation == "none: not asked for"
        assert phone.workspace.startswith(str(phone.root))
        assert adb.shell("getprop ro.heapprof.virtual") == "1\n"
        assert adb("push", __file__, f"{phone.workspace}/a/b").returncode == 0
        assert phone.host_path(f"{phone.workspace}/a/b").read_bytes() == Path(__file__).read_bytes()
        assert "Permission denied" in said(adb("push", __file__, "/usr/evil"))
        adb.shell("setsid sleep 308 </dev/null >/dev/null 2>&1 &")
        eventually(lambda: any("308" in line for _, line in phone.processes()))
        phone.reboot()
        assert phone.processes() == []


def test_a_private_root_that_must_be_but_cant() -> None:
    with (
        pytest.raises(VirtualPhoneError, match="without a private root"),
        VirtualPhone(private_root=False, data_size=1 << 20),
    ):
        pass


def test_further_files_variables_and_a_data_that_executes_nothing() -> None:
    files: dict[str, str | tuple[str, int]] = {
        "/vendor/lib64/libQnnHtp.so": "the maker's",
        "/dev/fastrpc-cdsp": ("", 0),
        "/system/bin/dumpsys": ("#!/system/bin/sh\necho dumped\n", 0o755),
    }
    with VirtualPhone(files=files, variables={"ADSP_LIBRARY_PATH": "/a:/b"}, data_no_exec=True) as phone:
        needs_namespaces(phone)
        adb = Adb(phone)
        assert adb.shell("cat /vendor/lib64/libQnnHtp.so; dumpsys; echo $ADSP_LIBRARY_PATH") == (
            "the maker'sdumped\n/a:/b\n"
        )
        assert adb.shell("[ -r /dev/fastrpc-cdsp ] || ls /dev/fastrpc-cdsp") == "/dev/fastrpc-cdsp\n"
        script = "cd /data/local/tmp && echo exit 0 > x && chmod 755 x && ./x; echo $?"
        assert adb.shell(script).endswith("126\n")


def test_a_further_file_replaces_a_program_and_leaves_the_computer_s() -> None:
    script = ("#!/system/bin/sh\necho aarch64\n", 0o755)
    with VirtualPhone(files={"/system/bin/uname": script}) as phone:
        needs_namespaces(phone)
        assert Adb(phone).shell("uname -m") == "aarch64\n"
        tools = [Path(os.path.realpath(path)) for path in ("/bin/uname", "/usr/bin/toybox") if Path(path).exists()]
        assert tools and all(b"echo aarch64" not in tool.read_bytes() for tool in tools)


def test_a_further_file_within_the_computer_s_own_folders_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(VirtualPhoneError, match=r"Read-only file system|private root"),
        VirtualPhone(private_root=True, files={"/usr/bin/heapprof-test": ""}),
    ):
        pass
    assert not Path("/usr/bin/heapprof-test").exists()


def test_no_further_files_without_a_private_root() -> None:
    with (
        pytest.raises(VirtualPhoneError, match="without a private root"),
        VirtualPhone(private_root=False, files={"/vendor/x": ""}),
    ):
        pass
