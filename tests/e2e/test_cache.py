"""The cache on the phone, end to end: sent once, verified, bounded, and gone when told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli.virtual import VirtualPhone
from tests.conftest import MODELS, Ended, OnPhone


@pytest.fixture(scope="module")
def cache_phone() -> Iterator[VirtualPhone]:
    with VirtualPhone() as phone:
        yield phone


@pytest.fixture
def own(cache_phone: VirtualPhone, heapprof: Callable[..., Ended]) -> OnPhone:
    """A phone whose cache is empty."""
    on = OnPhone(cache_phone, heapprof)
    assert on.heapprof("clean", *on.flags()).code == 0
    return on


def cached(on: OnPhone) -> dict[str, int]:
    folder = on.phone.host_path(on.phone.workspace) / "cache"
    return {path.name: path.stat().st_size for path in folder.glob("[0-9a-f]*")} if folder.exists() else {}


def sent(done: Ended) -> set[str]:
    assert done.code == 0, done.stderr
    return {artifact["name"] for artifact in done.json["artifacts"] if artifact["sent"]}


def test_what_did_not_change_is_not_sent_again(own: OnPhone, model: Path) -> None:
    first = own.run("--format", "json", model)
    assert model.name in sent(first) and "heapprof_runner" in sent(first)
    assert sent(own.run("--format", "json", model)) == set()
    other = MODELS / "good" / "three_in_two_out_qnn2.51.bin"
    assert sent(own.run("--format", "json", other)) == {other.name}


def test_the_same_content_under_two_names_is_sent_once(own: OnPhone, tmp_path: Path, model: Path) -> None:
    (tmp_path / "copy.bin").write_bytes(model.read_bytes())
    done = own.run("--format", "json", model, tmp_path / "copy.bin")
    assert len(done.json["model"]) == 2
    assert len(cached(own)) == len({artifact["sha256"] for artifact in done.json["artifacts"]})


@pytest.mark.parametrize("damage", ["content", "longer", "absent"])
def test_a_damaged_entry_is_never_used(own: OnPhone, model: Path, damage: str) -> None:
    own.run(model)
    name = hashlib.sha256(model.read_bytes()).hexdigest()
    entry = own.phone.host_path(own.phone.workspace) / "cache" / name
    content = entry.read_bytes()
    if damage == "absent":
        entry.unlink()
    else:
        entry.write_bytes(content[:-1] + b"!" if damage == "content" else content + b"!")
    assert sent(own.run("--format", "json", model)) == {model.name}
    assert entry.read_bytes() == content


def test_the_limit_evicts_what_was_not_used_for_longest(own: OnPhone, model: Path) -> None:
    other = MODELS / "good" / "two_graphs_sm8850_v81_qnn2.51.bin"
    own.run(model)
    full = sum(cached(own).values())
    done = own.run("--cache-limit", str(full + 60_000), "--format", "json", other)
    assert sent(done) == {other.name}
    names = set(cached(own))
    assert hashlib.sha256(model.read_bytes()).hexdigest() not in names
    assert {artifact["sha256"] for artifact in done.json["artifacts"]} == names


def test_no_cache_keeps_nothing(own: OnPhone, model: Path) -> None:
    for _ in range(2):
        assert model.name in sent(own.run("--no-cache", "--format", "json", model))
    assert cached(own) == {}
    assert not own.phone.host_path(own.phone.workspace).exists()


def test_clean_tells_what_it_freed_and_keeps_what_is_not_ours(own: OnPhone, model: Path) -> None:
    own.run(model)
    mine = own.phone.host_path(own.phone.workspace) / "mine.txt"
    mine.write_text("x")
    done = own.heapprof("clean", *own.flags(), "--format", "json")
    assert done.code == 0
    assert done.json["freed_bytes"] > 100_000
    assert [path.name for path in mine.parent.iterdir()] == ["mine.txt"]
    mine.unlink()
