"""Settings are checked once, with messages that name value and fix."""

import pytest

from heapprof_cli import performance, socs
from heapprof_cli.adb_address import ServerAddress, choose_address
from heapprof_cli.errors import UsageError
from heapprof_cli.settings import check_perf_mode, check_soc, check_workspace


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("/data/local/tmp/heapprof", "/data/local/tmp/heapprof"),
        ("/data//local/tmp/x/", "/data/local/tmp/x"),
        ("/data/with space/$(x)'\"", "/data/with space/$(x)'\""),
    ],
)
def test_workspaces(text: str, folder: str) -> None:
    assert check_workspace(text) == folder


@pytest.mark.parametrize(
    "text",
    ["", "/", "/data", "relative/path", "/data/../etc", "/data/./x", "/a/b:c", "/a/b;c", "/a/b\nc", "/a/" + "x" * 250],
)
def test_workspaces_that_are_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_workspace(text)
    assert caught.value.hints


@pytest.mark.parametrize(
    ("text", "name"),
    [("auto", "auto"), ("AUTO", "auto"), ("SM8850", "SM8850"), ("sm8750p", "SM8750"), ("SM8750-AC", "SM8750")],
)
def test_socs(text: str, name: str) -> None:
    assert check_soc(text) == name


def test_an_unknown_soc_comes_with_a_suggestion() -> None:
    with pytest.raises(UsageError) as caught:
        check_soc("SM8851")
    assert "did you mean SM88" in caught.value.hints[0]


def test_soc_table() -> None:
    assert {soc.name: soc.htp_arch for soc in socs.all_socs()}["SM8850"] == 81
    assert len({soc.id for soc in socs.all_socs()}) == len(socs.all_socs())
    assert socs.by_id(87) == socs.find("SM8850")
    assert socs.by_id(None) is None


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("8", 8), ("burst", 2), ("HIGH-performance", 3), ("low_power_saver", 5)]
)
def test_performance_modes(text: str, number: int) -> None:
    assert check_perf_mode(text) == number
    assert performance.mode_number(performance.MODES[number]) == number


@pytest.mark.parametrize("text", ["9", "-1", "fast", "", "٣"])
def test_unknown_performance_modes(text: str) -> None:
    with pytest.raises(UsageError):
        check_perf_mode(text)


@pytest.mark.parametrize(
    ("host", "port", "variables", "address"),
    [
        (None, None, {}, ServerAddress("127.0.0.1", 5037)),
        (None, 6000, {"ADB_SERVER_SOCKET": "tcp:1.2.3.4:7000"}, ServerAddress("127.0.0.1", 6000)),
        (None, None, {"ADB_SERVER_SOCKET": "tcp:1.2.3.4:7000"}, ServerAddress("1.2.3.4", 7000)),
        (None, None, {"ADB_SERVER_SOCKET": "tcp:7000"}, ServerAddress("127.0.0.1", 7000)),
        (None, None, {"ADB_SERVER_SOCKET": "localfilesystem:/run/adb"}, ServerAddress(socket_path="/run/adb")),
        (None, None, {"ANDROID_ADB_SERVER_PORT": "7001"}, ServerAddress("127.0.0.1", 7001)),
        ("h", None, {"ANDROID_ADB_SERVER_ADDRESS": "i", "ANDROID_ADB_SERVER_PORT": "1"}, ServerAddress("h", 1)),
        (None, None, {"ANDROID_ADB_SERVER_ADDRESS": "i"}, ServerAddress("i", 5037)),
    ],
)
def test_server_addresses(
    host: str | None, port: int | None, variables: dict[str, str], address: ServerAddress
) -> None:
    assert choose_address(host, port, variables) == address


@pytest.mark.parametrize(
    "variables",
    [
        {"ADB_SERVER_SOCKET": "tcp:"},
        {"ADB_SERVER_SOCKET": "vsock:1:2"},
        {"ADB_SERVER_SOCKET": "tcp:host:none"},
        {"ANDROID_ADB_SERVER_PORT": "70000"},
        {"ANDROID_ADB_SERVER_PORT": "x"},
    ],
)
def test_server_addresses_that_make_no_sense(variables: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        choose_address(None, None, variables)
