"""Which motion belongs to a number, and who makes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from handwright.errors import HandwrightError
from handwright.learning.data.run import NUM_STRANDS, DataRun
from handwright.learning.data.script import draw_script, split_of
from handwright.learning.data.shapes import kinds_of

SETS = ("primitives", "drinkware")


@pytest.mark.parametrize("name", SETS)
def test_a_shape_that_is_held_out_is_never_taught(name):
    held_out = {kind.shape for kind in kinds_of(name) if kind.is_held_out}
    assert len(held_out) == 1
    scripts = [draw_script(name, 3, number) for number in range(600)]
    taught = {kind.shape for one in scripts if one.split != "test" for kind in one.kinds}
    tried = {kind.shape for one in scripts if one.split == "test" for kind in one.kinds}
    assert not taught & held_out
    assert held_out < tried
    assert taught == {kind.shape for kind in kinds_of(name)} - held_out


def test_the_held_out_primitive_is_the_hemisphere():
    assert [k.shape for k in kinds_of("primitives") if k.is_held_out] == ["hemisphere"]


def test_a_number_always_gives_the_same_script():
    for number in range(20):
        assert draw_script("drinkware", 1, number) == draw_script("drinkware", 1, number)
    assert draw_script("drinkware", 1, 5) != draw_script("drinkware", 2, 5)


def test_most_motions_are_for_training():
    counts = Counter(split_of(0, number) for number in range(4000))
    assert counts["train"] == pytest.approx(3200, abs=120)
    assert counts["validation"] == pytest.approx(400, abs=80)


@pytest.mark.parametrize("num_shards", [1, 2, 3, NUM_STRANDS])
def test_shards_share_out_all_strands(num_shards):
    runs = [DataRun("primitives", Path("x"), 1000, 0, i, num_shards) for i in range(num_shards)]
    strands = sorted(strand for run in runs for strand in run.strands)
    assert strands == list(range(NUM_STRANDS))
    assert NUM_STRANDS * runs[0].frames_a_strand >= 1000


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"num_frames": 0}, "frames is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"shard": 2, "num_shards": 2}, "shard is 2/2"),
        ({"num_shards": NUM_STRANDS + 1}, "expected i/n"),
        ({"set_name": "primitivs"}, "primitives"),
    ],
)
def test_bad_runs_are_refused(changes, word):
    given = {"set_name": "primitives", "folder": Path("x"), "num_frames": 100, **changes}
    with pytest.raises(HandwrightError, match=word):
        DataRun(**given)
