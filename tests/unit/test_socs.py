"""The table of SoCs: families, spellings, a file of the user's, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapprof_cli import socs
from heapprof_cli.errors import UsageError
from tests.conftest import Ended


@pytest.fixture(autouse=True)
def only_the_built_in_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(socs.VARIABLE, raising=False)
    socs.use(None)
    yield
    socs.use(None)


@pytest.mark.parametrize(
    ("name", "soc", "arch"),
    [
        ("SM8850", "SM8850", 81), ("sm8750p", "SM8750", 79), ("SM8750-3-AB", "SM8750", 79), ("SA8295P", "SA8295", 68),
        ("QCS6490", "QCM6490", 68), ("QCS9075", "QCS9100", 73), ("SXR2230P", "SXR2230P", 69),
        ("SC8380XP", "SC8380XP", 73),
        (" SM8650 ", "SM8650", 75), ("SAR2230P-A", "SAR2230P", 81),
    ],
)  # fmt: skip
def test_names_families_and_spellings(name: str, soc: str, arch: int) -> None:
    found = socs.find(name)
    assert found is not None
    assert (found.name, found.htp_arch) == (soc, arch)


@pytest.mark.parametrize("name", ["SM9999", "SM88501", "", "SM", "exynos"])
def test_unknown_names_are_not_guessed(name: str) -> None:
    assert socs.find(name) is None
    assert socs.variant_note(name) is None


def test_only_variants_are_told() -> None:
    assert socs.variant_note("SM8850") is None
    assert socs.variant_note(None) is None
    assert socs.variant_note("SM8750P") == "the phone says SM8750P: taken as SM8750 (HTP V79)"


def test_every_entry_is_whole_and_unlike_the_others() -> None:
    known = socs.all_socs()
    names = [name for soc in known for name in (soc.name, *soc.spellings)]
    assert len(names) == len(set(names))
    assert len({soc.id for soc in known}) == len(known)
    assert all(soc.vtcm_mb for soc in known)


def test_a_user_s_file_adds_and_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "socs:\n- {name: sm9999, id: 200, htp_arch: 85, spellings: [sm9998]}\n- {name: SM8850, id: 87, htp_arch: 82}\n"
    )
    monkeypatch.setenv(socs.VARIABLE, str(own))
    socs.all_socs.cache_clear()
    added, replaced = socs.find("SM9998"), socs.find("SM8850")
    assert added is not None and (added.name, added.id, added.htp_arch, added.source) == ("SM9999", 200, 85, "user")
    assert replaced is not None and replaced.htp_arch == 82
    assert socs.by_id(200) == added


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("socs: [{name: SM1, id: 1, htp_arch: 81, vtmc_mb: 8}]", "unknown key 'vtmc_mb'"),
        ("socs: [{name: SM8850, id: 87, htp_arch: 81}, {name: SM1, id: x, htp_arch: 81}]", "entry 2 (SM1): 'id'"),
        ("socs: [{name: SM1, id: 1}]", "'htp_arch' must be a number"),
        ("socs: [{name: SM1, id: true, htp_arch: 81}]", "'id' must be a number"),
        ("socs: [{id: 1, htp_arch: 81}]", "'name' must be"),
        ("socs: [{name: SM1, id: 1, htp_arch: 81, spellings: a}]", "'spellings' must be a list"),
        ("socs: [7]", "not a mapping"),
        ("socs: {}", "no list `socs`"),
        ("[1, 2]", "no list `socs`"),
        ("socs: [", "can't read"),
        ("&a [*a]", "no list `socs`"),
    ],
)
def test_what_is_wrong_with_a_user_s_file(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "own.yaml").write_text(text)
    socs.use(tmp_path / "own.yaml")
    with pytest.raises(UsageError) as caught:
        socs.all_socs()
    assert words in caught.value.message
    assert caught.value.hints


def test_the_command_lists_them(heapprof: Callable[..., Ended], tmp_path: Path) -> None:
    table = heapprof("socs")
    assert table.code == 0
    assert "SM8850" in table.stdout and "Snapdragon 8 Elite Gen 5" in table.stdout
    (tmp_path / "own.yaml").write_text("socs: [{name: SM9999, id: 200, htp_arch: 85}]")
    entries = {
        e["name"]: e for e in heapprof("socs", "--format", "json", "--socs-file", tmp_path / "own.yaml").json["socs"]
    }
    assert entries["SM9999"]["source"] == "user"
    assert entries["SM8750"]["vtcm_mb"] == 8
    assert "SM9999" in heapprof("socs", HEAPPROF_SOCS=str(tmp_path / "own.yaml")).stdout
    assert heapprof("socs", HEAPPROF_SOCS=str(tmp_path / "none.yaml")).code == 2
