"""Shells on the virtual phone, through the real adb server."""

from __future__ import annotations

import os
import time

import adbutils
import pytest

from heapprof_cli.virtual import VirtualPhone
from tests.virtual.conftest import Adb, eventually, needs_namespaces


def test_output_errors_and_exit_code_are_apart(any_adb: Adb) -> None:
    done = any_adb("shell", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\n", b"err\n")


@pytest.mark.parametrize(
    ("line", "code"), [("true", 0), ("false", 1), ("exit 255", 255), ("nonesuch", 127), ("/", 126)]
)
def test_exit_codes(adb: Adb, line: str, code: int) -> None:
    assert adb("shell", line).returncode == code


@pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("TERM", 15), ("SEGV", 11)])
def test_a_shell_ended_by_a_signal(adb: Adb, name: str, number: int) -> None:
    assert adb("shell", f"kill -{name} $$").returncode == 128 + number


def test_much_output_arrives_whole(any_adb: Adb) -> None:
    done = any_adb("shell", "head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 3")
    assert (done.returncode, len(done.stdout), len(done.stderr)) == (3, 5_000_000, 3_000_000)


def test_binary_data_goes_both_ways(any_adb: Adb) -> None:
    data = os.urandom(300_000) + bytes(range(256))
    assert any_adb("shell", "cat", stdin=data).stdout == data
    assert any_adb("exec-in", "cat > $TMPDIR/part; mv $TMPDIR/part $TMPDIR/in", stdin=data).returncode == 0
    eventually(lambda: any_adb("shell", "[ -e $TMPDIR/in ]").returncode == 0)
    assert any_adb("exec-out", "cat $TMPDIR/in; rm $TMPDIR/in").stdout == data


def test_the_end_of_input_is_seen(adb: Adb) -> None:
    assert adb("shell", "cat >/dev/null; echo done", stdin=b"x" * 10).stdout == b"done\n"


def test_a_shell_that_reads_nothing_ends(adb: Adb) -> None:
    done = adb("shell", "exec <&-; echo ok; exit 4", stdin=b"y" * 3_000_000)
    assert (done.returncode, done.stdout) == (4, b"ok\n")


def test_exec_out_and_old_shells_join_errors(adb: Adb) -> None:
    assert adb("exec-out", "echo a; echo b >&2").stdout == b"a\nb\n"
    done = adb("shell", "-x", "echo a; echo b >&2; exit 5")
    assert (done.returncode, done.stdout) == (0, b"a\nb\n")


def test_a_terminal(adb: Adb) -> None:
    done = adb("shell", "-tt", "tty; echo err >&2; exit 6")
    assert done.returncode == 6
    assert done.stdout.startswith(b"/dev/pts/") and b"err" in done.stdout and done.stderr == b""


def test_adbutils_shell2(phone: VirtualPhone) -> None:
    device = adbutils.AdbClient(phone.adb_host, phone.adb_port).device(phone.serial)
    result = device.shell2("echo out; echo err >&2; exit 9", v2=True)
    assert (result.returncode, result.stdout, result.stderr) == (9, "out\n", "err\n")


def test_many_shells_at_once(adb: Adb) -> None:
    started = [adb.start(f"head -c 200000 /dev/zero; exit {n}") for n in range(12)]
    for n, process in enumerate(started):
        out, _ = process.communicate(timeout=40)
        assert (process.returncode, len(out)) == (n, 200_000)


def test_it_is_androids_environment(phone: VirtualPhone, adb: Adb) -> None:
    needs_namespaces(phone)
    assert adb.shell("id -u; id -un; pwd; echo $TMPDIR; uname -n").split() == [
        "2000",
        "shell",
        "/",
        "/data/local/tmp",
        "localhost",
    ]
    assert "/system/bin" in adb.shell("echo $PATH").split(":")
    rights = adb.shell("grep -E 'Cap|NoNewPrivs' /proc/self/status").split()
    assert rights[1::2] == ["0" * 16, "0" * 16, "0" * 16, "0" * 16, "0" * 16, "1"]


def test_the_computers_files_are_out_of_reach(phone: VirtualPhone, adb: Adb) -> None:
    needs_namespaces(phone)
    for place in (str(phone.root), "/root", "/home", "/var", "/tmp", "/.old"):
        assert adb("shell", f"ls {place}").returncode == 1, place
    for place in ("/usr/x", "/system/bin/x", "/x", "/etc/x", "/data/x"):
        assert adb("shell", f"touch {place}").returncode == 1, place


def test_shells_see_each_others_processes(phone: VirtualPhone, adb: Adb) -> None:
    other = adb.start("echo $$; exec sleep 301")
    assert other.stdout is not None
    pid = int(other.stdout.readline())
    assert (pid, "sleep 301") in [(p, line[-9:]) for p, line in phone.processes()]
    assert "sleep 301" in adb.shell(f"cat /proc/{pid}/cmdline | tr '\\0' ' '")
    adb.shell(f"kill -9 {pid}")
    assert other.wait(20) == 137
    other.stdout.close()


def test_the_end_of_the_computers_side_hangs_up_the_shell_alone(phone: VirtualPhone, adb: Adb) -> None:
    line = (
        "sleep 302 </dev/null >/dev/null 2>&1 & trap 'echo hup > $TMPDIR/hup; exit' HUP; "
        "echo ok; while :; do sleep 0.05; done"
    )
    computer = adb.start(line)
    assert computer.stdout is not None
    assert computer.stdout.readline() == b"ok\n"
    computer.kill()
    computer.wait()
    computer.stdout.close()
    told = phone.root / "data/local/tmp/hup"
    eventually(told.exists)
    eventually(lambda: [line for _, line in phone.processes() if "302" not in line] == [])
    left = phone.processes()
    assert [line[-9:] for _, line in left] == ["sleep 302"]
    adb.shell(f"kill {left[0][0]}; rm $TMPDIR/hup")


def test_a_process_that_keeps_the_output_keeps_the_stream(adb: Adb) -> None:
    begun = time.monotonic()
    assert adb("shell", "sleep 0.7 & echo first").stdout == b"first\n"
    assert time.monotonic() - begun >= 0.65


def test_orphans_become_no_zombies(phone: VirtualPhone, adb: Adb) -> None:
    needs_namespaces(phone)
    adb.shell("(sleep 0.05 </dev/null >/dev/null 2>&1 &) ; true")
    eventually(lambda: "Z" not in adb.shell("cat /proc/[0-9]*/stat | sed 's/.*) //' | cut -c1"))


def test_getprop(adb: Adb) -> None:
    assert adb.shell("getprop ro.soc.model") == "SM8850\n"
    assert adb.shell("getprop ro.none") == "\n"
    assert adb.shell("getprop ro.none fallback") == "fallback\n"
    lines = adb.shell("getprop").splitlines()
    assert "[ro.soc.manufacturer]: [QTI]" in lines and lines == sorted(lines)


def test_properties_change(phone: VirtualPhone, adb: Adb) -> None:
    phone.set_properties({"ro.heapprof.test": r"a b\n$(x) 'q' [=]"})
    assert adb.shell("getprop ro.heapprof.test") == r"a b\n$(x) 'q' [=]" + "\n"
    with pytest.raises(ValueError, match="not a system property"):
        phone.set_properties({"a=b": "c"})


def test_an_unknown_service_is_refused(phone: VirtualPhone) -> None:
    device = adbutils.AdbClient(phone.adb_host, phone.adb_port).device(phone.serial)
    with device.open_transport() as connection:
        connection.send_command("nonesuch:x")
        with pytest.raises(adbutils.AdbError, match="closed"):
            connection.check_okay()
