"""The endpoint's packets, as an adb server of any age sees them on the wire."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapprof_cli.virtual import VirtualPhone, wire
from heapprof_cli.virtual.shell_request import PACKET, PacketReader, ShellRequest, failed_at_once, parse_request

Packet = tuple[int, int, int, bytes]


@dataclass
class Host:
    """An adb server, by hand."""

    link: socket.socket
    checksums: bool = False

    def send(self, command: int, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self.link.sendall(wire.header(command, arg0, arg1, payload, with_checksum=self.checksums) + payload)

    def receive(self) -> Packet:
        head = self.exact(24)
        found = wire.parse_header(head)
        payload = self.exact(found.length)
        assert found.checksum == (sum(payload) if self.checksums else 0)
        return found.command, found.arg0, found.arg1, payload

    def exact(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.link.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def greet(self, version: int = wire.VERSION, size: int = wire.MAX_PAYLOAD, features: str = "shell_v2") -> Packet:
        self.checksums = version < wire.VERSION
        self.send(wire.CNXN, version, size, f"host::features={features}".encode())
        return self.receive()

    def open(self, service: str, window: int = 0) -> tuple[int, bytes]:
        self.send(wire.OPEN, 7, window, service.encode() + b"\0")
        command, phone, ours, payload = self.receive()
        assert (command, ours) == (wire.OKAY, 7)
        return phone, payload


@pytest.fixture(scope="module")
def endpoint() -> Iterator[VirtualPhone]:
    with VirtualPhone(start_server=False) as phone:
        yield phone


@pytest.fixture
def host(endpoint: VirtualPhone) -> Iterator[Host]:
    with socket.create_connection(("127.0.0.1", endpoint.endpoint_port), timeout=10) as link:
        yield Host(link)


def test_the_greeting_names_the_phone_and_what_it_can(host: Host) -> None:
    command, version, size, banner = host.greet()
    assert (command, version, size) == (wire.CNXN, wire.VERSION, wire.MAX_PAYLOAD)
    assert banner.startswith(b"device::ro.product.name=heapprof_virtual;ro.product.model=heapprof virtual phone;")
    features = banner.partition(b"features=")[2].split(b",")
    assert {b"shell_v2", b"stat_v2", b"ls_v2", b"sendrecv_v2"} <= set(features)
    assert b"sendrecv_v2_brotli" not in features and b"cmd" not in features


def test_an_old_server_gets_checksums_and_small_packets(host: Host) -> None:
    assert host.greet(wire.VERSION_WITH_CHECKSUMS, 4096)[1] == wire.VERSION_WITH_CHECKSUMS
    phone, _ = host.open("exec:head -c 10000 /dev/zero")
    received = b""
    while True:
        command, _, _, payload = host.receive()
        if command == wire.CLSE:
            break
        assert command == wire.WRTE and len(payload) <= 4096
        received += payload
        host.send(wire.OKAY, 7, phone)
    assert received == bytes(10000)


def test_nothing_more_comes_before_it_was_answered(host: Host) -> None:
    host.greet()
    host.open("exec:yes")
    assert host.receive()[0] == wire.WRTE
    host.link.settimeout(0.5)
    with pytest.raises(TimeoutError):
        host.receive()


def test_delayed_acks_allow_as_much_as_the_window(host: Host) -> None:
    host.greet(features="shell_v2,delayed_ack")
    phone, window = host.open("exec:yes", window=100_000)
    assert struct.unpack("<i", window)[0] == wire.INITIAL_ACK_BYTES
    host.link.settimeout(0.5)
    received = 0
    with contextlib.suppress(TimeoutError):
        while True:
            received += len(host.receive()[3])
    assert received >= 100_000
    before = received
    host.send(wire.OKAY, 7, phone, struct.pack("<i", received))
    with contextlib.suppress(TimeoutError):
        while True:
            received += len(host.receive()[3])
    assert received - before >= 100_000


def test_what_is_not_served_is_closed(host: Host) -> None:
    host.greet()
    for service in ("nonesuch:", "", "shell,v3:ls", "tcp:1"):
        host.send(wire.OPEN, 9, 0, service.encode())
        assert host.receive()[:3] == (wire.CLSE, 0, 9)
    host.send(wire.WRTE, 9, 1234, b"to nobody")
    assert host.receive()[:3] == (wire.CLSE, 0, 9)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\0" * 24,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        wire.HEADER.pack(wire.WRTE, 1, 1, 1 << 30, 0, wire.WRTE ^ 0xFFFFFFFF),
    ],
)
def test_garbage_ends_the_connection_alone(endpoint: VirtualPhone, host: Host, garbage: bytes) -> None:
    host.link.sendall(garbage)
    with contextlib.suppress(ConnectionError):
        assert host.link.recv(100) == b""
    with socket.create_connection(("127.0.0.1", endpoint.endpoint_port), timeout=10) as link:
        assert Host(link).greet()[0] == wire.CNXN


def test_streams_need_a_greeting(host: Host) -> None:
    host.send(wire.OPEN, 7, 0, b"shell:echo x\0")
    assert host.greet()[0] == wire.CNXN


@pytest.mark.parametrize(
    ("service", "request_"),
    [
        ("shell:", ShellRequest("", packets=False, terminal=True)),
        ("shell:ls -l", ShellRequest("ls -l", packets=False, terminal=False)),
        ("shell,v2,raw:a:b", ShellRequest("a:b", packets=True, terminal=False)),
        ("shell,v2,TERM=vt100,pty:", ShellRequest("", packets=True, terminal=True, term="vt100")),
        ("exec:cat", ShellRequest("cat", packets=False, terminal=False)),
        ("shell,unknown:ls", None),
        ("shell", None),
        ("sync:", None),
    ],
)
def test_requests_for_shells(service: str, request_: ShellRequest | None) -> None:
    assert parse_request(service) == request_


@given(st.lists(st.tuples(st.integers(0, 5), st.binary(max_size=40))), st.lists(st.integers(1, 30)))
def test_packets_are_found_however_they_are_cut(packets: list[tuple[int, bytes]], cuts: list[int]) -> None:
    data = b"".join(PACKET.pack(kind, len(content)) + content for kind, content in packets)
    reader = PacketReader()
    found: list[tuple[int, bytes]] = []
    position = 0
    for cut in [*cuts, len(data) + 1]:
        for kind, part in reader.feed(memoryview(data[position : position + cut])):
            found.append((kind, bytes(part)))
        position += cut
    joined = {kind: b"".join(p for k, p in found if k == kind) for kind in range(6)}
    assert joined == {kind: b"".join(c for k, c in packets if k == kind) for kind in range(6)}
    # An empty packet, as the end of input is one, is told as well.
    assert sum(part == b"" for _, part in found) == sum(content == b"" for _, content in packets)


def test_a_shell_that_fails_at_once_says_so_in_its_protocol() -> None:
    packed = failed_at_once(ShellRequest("x", packets=True, terminal=False), "no")
    assert list(PacketReader().feed(memoryview(packed))) == [(2, b"no\n"), (3, b"\x01")]
    assert failed_at_once(ShellRequest("x", packets=False, terminal=False), "no") == b"no\n"
