"""A fixed sample of scripts/damage_models.py's copies; the full 1,000 are a script of their own."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.native.runner_tools import GOOD, ROOT

# The first ten are as random as the rest; the others each ended in a way of their own in the full
# run: refused at each stage, and crashed inside the real library.
SAMPLE = [*range(10), 11, 15, 23, 74, 105, 135]


@pytest.fixture(scope="module")
def damage():
    spec = importlib.util.spec_from_file_location("damage_models", ROOT / "scripts" / "damage_models.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", SAMPLE)
def test_damaged_copy_ends_with_a_result_or_a_placed_error(damage, built, real, number):
    model = GOOD / "conv_sm8850_v81_qnn2.51.bin"
    ends, complaints = damage.check(range(number, number + 1), model, built.runner, real.htp.parent)
    assert complaints == [] and sum(ends.values()) == 1


def test_metadata_damage_never_crashes_the_standin(damage, run, tmp_path):
    data = (GOOD / "two_graphs_sm8850_v81_qnn2.51.bin").read_bytes()
    metadata = 0x28 + int.from_bytes(data[0x10:0x18], "little")
    copy = tmp_path / "damaged.bin"
    codes = set()
    for number in range(150):
        copy.write_bytes(damage.damaged(data[:metadata], number) + data[metadata:])
        result = run(copy, flags=["--iteration=0"])
        assert result.code in (0, 22), (number, result.stderr)
        codes.add(result.code)
    assert codes == {0, 22}


def test_the_same_number_is_the_same_damage(damage):
    data = bytes(10000)
    assert damage.damaged(data, 3) == damage.damaged(data, 3) != damage.damaged(data, 4)
    assert len(damage.damaged(b"x", 5)) == 1
