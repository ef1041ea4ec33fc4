"""Choosing a phone gives exactly one, or an explained failure."""
# ruff: noqa: E501  (recorded text is kept as it came)

import pytest

from heapprof_cli.device.selection import alias_of, choose, parse_devices
from heapprof_cli.errors import DeviceError

# What `adb devices -l` has been seen to print, one of each kind.
UGLY = """\
* daemon not running; starting now at tcp:5037
* daemon started successfully
List of devices attached
R5CW70ABCDE            device usb:1-4 product:e3qxxx model:SM_S928B device:e3q transport_id:3
192.168.1.20:5555      offline product:x model:y device:z transport_id:4
0123456789ABCDEF       unauthorized usb:3-1 transport_id:9
????????????           no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com/tools/device.html] usb:2-1 transport_id:1
emulator-5554          recovery transport_id:5

garbage
"""


def test_parses_ugly_lists() -> None:
    entries = parse_devices(UGLY)
    assert [(e.serial, e.state, e.model) for e in entries] == [
        ("R5CW70ABCDE", "device", "SM S928B"),
        ("192.168.1.20:5555", "offline", "y"),
        ("0123456789ABCDEF", "unauthorized", None),
        ("????????????", "no permissions", None),
        ("emulator-5554", "recovery", None),
    ]


def test_the_only_ready_phone_is_chosen() -> None:
    assert choose(parse_devices(UGLY), None).serial == "R5CW70ABCDE"


def test_a_phone_is_found_by_serial_and_by_alias() -> None:
    entries = parse_devices("A device\nB device\n")
    assert choose(entries, "B").serial == "B"
    assert choose(entries, alias_of("A")).serial == "A"


@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    [
        ("", None, "no phone is connected"),
        ("", "X", "no phone 'X'"),
        ("A device\nB device\n", None, "2 phones are ready: which one?"),
        ("A offline\nB unauthorized\n", None, "none is ready"),
        ("A offline\n", None, "'offline'"),
        ("A unauthorized\n", "A", "'unauthorized'"),
        ("A no permissions (udev); see [x]\n", None, "'no permissions'"),
        ("A recovery\n", "A", "recovery mode"),
        ("A sideload\n", "A", "sideload"),
        ("A bootloader\n", "A", "bootloader"),
        ("A something_new\n", "A", "'something_new'"),
        ("A device\n", "\x1b[31mB", "no phone 'B'"),
    ],
)
def test_failures_are_explained(text: str, wanted: str | None, words: str) -> None:
    with pytest.raises(DeviceError) as caught:
        choose(parse_devices(text), wanted)
    assert words in caught.value.message
    assert caught.value.hints


def test_messages_show_aliases_not_serials() -> None:
    with pytest.raises(DeviceError) as caught:
        choose(parse_devices("SECRET1 device\nSECRET2 device\n"), None)
    assert "SECRET" not in caught.value.message
    assert alias_of("SECRET1") in caught.value.message
