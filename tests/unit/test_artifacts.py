"""Finding runner and libraries: the right rule, everything missing named at once."""

from pathlib import Path

import pytest

from heapprof_cli.artifacts import Sources, resolve
from heapprof_cli.artifacts.inputs import read_input_list
from heapprof_cli.artifacts.targets import TARGETS, choose_target
from heapprof_cli.errors import PreflightError, UsageError
from heapprof_cli.records import DeviceFacts

ANDROID, BOARD, PC = TARGETS["android-arm64"], TARGETS["linux-arm64"], TARGETS["linux-x86_64"]


@pytest.fixture(autouse=True)
def runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up set of built device programs."""
    root = tmp_path / "device"
    for target in TARGETS:
        (root / target / "standin").mkdir(parents=True)
        (root / target / "heapprof_runner").write_bytes(b"runner")
        (root / target / "standin" / "libQnnHtp.so").write_bytes(b"v0-heapprof-standin")
        (root / target / "standin" / "libQnnSystem.so").write_bytes(b"s")
    monkeypatch.setattr("heapprof_cli.resources.device_build", lambda target: root / target)
    return root


def fill(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(name.encode())
    return folder


def sdk(root: Path, system: str = "aarch64-android", arch: int = 81) -> Path:
    fill(root / "lib" / system, "libQnnHtp.so", "libQnnSystem.so", f"libQnnHtpV{arch}Stub.so", "libQnnHtpPrepare.so")
    fill(root / "lib" / f"hexagon-v{arch}" / "unsigned", f"libQnnHtpV{arch}Skel.so")
    return root


PHONE_FILES = ["libQnnHtp.so", "libQnnHtpPrepare.so", "libQnnHtpV81Skel.so", "libQnnHtpV81Stub.so", "libQnnSystem.so"]


def test_an_sdk_gives_all_that_a_phone_needs(tmp_path: Path) -> None:
    bundle = resolve(ANDROID, 81, Sources(qnn_sdk=sdk(tmp_path / "sdk")))
    assert [a.name for a in bundle.libraries] == PHONE_FILES
    assert not bundle.standin
    assert bundle.runner.executable and bundle.runner.name == "heapprof_runner"


def test_linux_boards_have_their_own_folders_newest_first(tmp_path: Path) -> None:
    root = sdk(sdk(tmp_path / "sdk", "aarch64-oe-linux-gcc9.3"), "aarch64-oe-linux-gcc11.2")
    bundle = resolve(BOARD, 81, Sources(qnn_sdk=root))
    assert {Path(a.path).parent.name for a in bundle.libraries} == {"aarch64-oe-linux-gcc11.2", "unsigned"}


def test_a_flat_folder_works_and_wins_over_the_sdk(tmp_path: Path) -> None:
    flat = fill(tmp_path / "flat", *PHONE_FILES)
    bundle = resolve(ANDROID, 81, Sources(qnn_libs=flat, qnn_sdk=sdk(tmp_path / "sdk")))
    assert {Path(a.path).parent for a in bundle.libraries} == {flat}


def test_everything_missing_is_named_at_once(tmp_path: Path, runners: Path) -> None:
    (runners / "android-arm64" / "heapprof_runner").unlink()
    root = sdk(tmp_path / "sdk")
    (root / "lib/hexagon-v81/unsigned/libQnnHtpV81Skel.so").unlink()
    (root / "lib/aarch64-android/libQnnSystem.so").unlink()
    with pytest.raises(PreflightError) as caught:
        resolve(ANDROID, 81, Sources(qnn_sdk=root))
    for name in ("heapprof_runner for android-arm64", "libQnnSystem.so", "libQnnHtpV81Skel.so"):
        assert name in caught.value.message
    assert any("hexagon-v81" in hint for hint in caught.value.hints)


def test_no_source_is_explained() -> None:
    with pytest.raises(PreflightError, match="no QNN libraries were named"):
        resolve(ANDROID, 81, Sources())


def test_an_unknown_arch_is_explained(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="HTP arch is unknown"):
        resolve(ANDROID, None, Sources(qnn_sdk=sdk(tmp_path / "sdk")))


def test_the_emulator_needs_no_stub(tmp_path: Path) -> None:
    flat = fill(tmp_path / "x86", "libQnnHtp.so", "libQnnSystem.so", "standin.conf")
    assert [a.name for a in resolve(PC, None, Sources(qnn_libs=flat)).libraries] == ["libQnnHtp.so", "libQnnSystem.so"]


def test_the_stand_in_is_recognized_and_its_settings_go_along(runners: Path) -> None:
    fill(runners / "android-arm64" / "standin", "standin.conf")
    for sources in (Sources(standin=True), Sources(qnn_libs=runners / "android-arm64" / "standin")):
        bundle = resolve(ANDROID, None, sources)
        assert bundle.standin
        assert [a.name for a in bundle.libraries] == ["libQnnHtp.so", "libQnnSystem.so", "standin.conf"]


def test_libraries_that_come_with_a_wheel_go_along() -> None:
    onnxruntime_qnn = pytest.importorskip("onnxruntime_qnn")
    bundle = resolve(PC, None, Sources(qnn_libs=Path(onnxruntime_qnn.__file__).parent))
    names = [a.name for a in bundle.libraries]
    assert [n.split("-")[0] for n in names if n.startswith("libc++")] == ["libc++", "libc++abi"]
    assert not [n for n in names if n.startswith(("libc.so", "libm.so", "ld-linux"))]


@pytest.mark.parametrize(
    ("machine", "android", "target"),
    [("aarch64", True, "android-arm64"), ("aarch64", False, "linux-arm64"), ("x86_64", False, "linux-x86_64")],
)
def test_targets_follow_the_device(machine: str, android: bool, target: str) -> None:
    facts = DeviceFacts("a", "s", machine=machine, is_android=android)
    assert choose_target(facts, None).name == target
    assert choose_target(facts, target).name == target
    other = "linux-x86_64" if machine == "aarch64" else "linux-arm64"
    with pytest.raises(PreflightError, match="can't run it"):
        choose_target(facts, other)


@pytest.mark.parametrize(("machine", "android"), [("x86_64", True), ("riscv64", False), (None, False)])
def test_devices_without_a_runner(machine: str | None, android: bool) -> None:
    with pytest.raises(PreflightError, match="no runner"):
        choose_target(DeviceFacts("a", "s", machine=machine, is_android=android), None)


def test_input_lists_become_safe_names(tmp_path: Path) -> None:
    fill(tmp_path, "a.raw", "b$(x).raw")
    listing = tmp_path / "list.txt"
    listing.write_text("# comment\nx:=a.raw y:=b$(x).raw\n\na.raw\n")
    inputs = read_input_list(listing)
    assert inputs.list_text == "x:=input_0.raw y:=input_1.raw\ninput_0.raw\n"
    assert [(a.remote_name, Path(a.path).name) for a in inputs.files] == [
        ("input_0.raw", "a.raw"),
        ("input_1.raw", "b$(x).raw"),
    ]


@pytest.mark.parametrize(
    ("text", "words"), [("", "names no input"), ("\n# x\n", "names no input"), ("gone.raw", "line 1")]
)
def test_input_lists_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "list.txt").write_text(text)
    with pytest.raises(UsageError, match=words):
        read_input_list(tmp_path / "list.txt")


def test_an_absent_input_list_is_explained(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't read the input list"):
        read_input_list(tmp_path / "none.txt")
