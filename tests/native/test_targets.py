"""The builds: reproducible, structurally right for Android, run natively and under qemu."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.native.runner_tools import GOOD_BINARIES, REFERENCE, ROOT, Libraries, Runner, build_module

TARGETS = ["android-arm64", "linux-arm64", "linux-x86_64"]
SIZE_LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def verify():
    spec = importlib.util.spec_from_file_location("heapprof_device_verify", ROOT / "device_bin" / "verify.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def files_of(built) -> list[Path]:
    return [built.runner, *sorted(built.standin.glob("*.so"))]


def test_every_target_is_known():
    assert sorted(build_module().TARGETS) == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_runner_is_small_and_stripped(target):
    runner = build_module().build(target).runner
    data = runner.read_bytes()
    assert len(data) < SIZE_LIMIT
    assert b".debug_info" not in data and b".symtab" not in data
    assert runner.stat().st_mode & 0o111


@pytest.mark.parametrize("target", TARGETS)
def test_a_build_in_another_place_is_identical_and_names_no_path(target, tmp_path):
    copy = tmp_path / "elsewhere" / "device_bin"
    shutil.copytree(ROOT / "device_bin", copy, ignore=shutil.ignore_patterns("build", "__pycache__"))
    command = [sys.executable, copy / "build.py", target, "--output", tmp_path / "out"]
    subprocess.run(command, check=True, capture_output=True)
    here = build_module().build(target)
    for file in files_of(here):
        other = tmp_path / "out" / target / file.relative_to(here.folder)
        assert file.read_bytes() == other.read_bytes(), file.name
        assert str(ROOT).encode() not in file.read_bytes()


def test_an_unchanged_target_is_not_built_again():
    module = build_module()
    first = module.build("linux-x86_64").runner.stat().st_mtime_ns
    assert module.build("linux-x86_64").runner.stat().st_mtime_ns == first


def test_android_files_are_structurally_right(verify):
    for file in files_of(build_module().build("android-arm64")):
        assert verify.problems(file) == []


def test_the_verifier_sees_what_is_wrong(verify, tmp_path):
    linux = "\n".join(verify.problems(build_module().build("linux-arm64").runner))
    for words in ("interpreter", "16 KB", "Android note", "libc.so.6", "not on the list", "__errno_location"):
        assert words in linux
    assert "AArch64" in verify.problems(build_module().build("linux-x86_64").runner)[0]
    android = build_module().build("android-arm64").runner
    assert "not on the list: ['fork']" in verify.problems(android, verify._listed() - {"fork"})[0]
    damaged = tmp_path / "damaged"
    for cut in (0, 10, 63, 200, 5000):
        damaged.write_bytes(android.read_bytes()[:cut])
        assert verify.problems(damaged)


def android_linker(tmp_path):
    module = build_module()
    return module, module.BionicLinker(module.TARGETS["android-arm64"], tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        "void *reallocarray(void *, unsigned long, unsigned long); return reallocarray(0, 1, 1) != 0;",
        "int memfd_create(const char *, unsigned); return memfd_create(\"x\", 0);",
        "int printf(const char *, ...); return printf(\"x\");",
        "int *__errno_location(void); return *__errno_location();",
    ],
)  # fmt: skip
def test_functions_that_android_9_or_our_list_lacks_do_not_link(tmp_path, call):
    module, linker = android_linker(tmp_path)
    source = tmp_path / "bad.c"
    source.write_text(f"int main(void);\nint main(void) {{ {call} }}\n")
    with pytest.raises(module.BuildError, match="undefined symbol"):
        linker.program([source], "bad")


def test_thread_local_storage_is_seen(tmp_path, verify):
    _, linker = android_linker(tmp_path)
    source = tmp_path / "tls.c"
    source.write_text("int main(void);\n_Thread_local int x;\nint main(void) { return x++; }\n")
    assert any("thread-local" in problem for problem in verify.problems(linker.program([source], "tls")))


def test_a_headers_missing_function_does_not_compile(tmp_path):
    module, linker = android_linker(tmp_path)
    source = tmp_path / "musl.c"
    source.write_text("#include <sys/socket.h>\nint main(void);\nint main(void) { return 0; }\n")
    with pytest.raises(module.BuildError, match="file not found"):
        linker.program([source], "musl")


def test_the_users_compiler_is_used(tmp_path):
    module = build_module()
    with pytest.raises(module.BuildError, match="my words"):
        module.build("linux-x86_64", tmp_path, cc="sh -c 'echo my words >&2; exit 1'")
    with pytest.raises(module.BuildError, match="can't be started"):
        module.build("linux-x86_64", tmp_path, cc="/no/such/compiler")


@pytest.fixture
def arm_runner(tmp_path):
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if qemu is None or not Path("/usr/aarch64-linux-gnu/lib/libc.so.6").exists():
        pytest.skip("needs the packages qemu-user-static and libc6-arm64-cross")
    built = build_module().build("linux-arm64")
    prefix = [qemu, "-L", "/usr/aarch64-linux-gnu"]
    return Runner(built.runner, tmp_path, Libraries.of_folder(built.standin), prefix=prefix)


@pytest.mark.parametrize("model", GOOD_BINARIES, ids=lambda path: path.name)
def test_linux_arm64_runs_under_qemu(arm_runner, model):
    flags = ["--cycles=2", "--threads=2", "--memory_ledger_path=ledger.jsonl", "--htp_performance_mode=burst"]
    result = arm_runner(model, model, flags=flags)
    assert (result.code, result.heap) == (0, REFERENCE), result.stderr
    assert result.status["target"] == "linux-arm64" and result.status["state"] == "done"


def test_linux_arm64_places_a_crash(arm_runner, conv, tmp_path):
    folder = tmp_path / "libraries"
    shutil.copytree(arm_runner.libraries.htp.parent, folder)
    (folder / "standin.conf").write_text("crash_stage = execute\n")
    result = arm_runner(conv, libraries=Libraries.of_folder(folder))
    assert (result.code, result.status["signal_name"], result.status["stage"]) == (30, "SIGSEGV", "execute")
