"""Which motion belongs to a number, and who makes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from handwright.errors import HandwrightError
from handwright.learning.data.run import MAX_STRANDS, DataRun, Outcome, run_all
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


@pytest.mark.parametrize("num_shards", [1, 2, 3, MAX_STRANDS])
def test_shards_share_out_all_strands(num_shards):
    runs = [DataRun("primitives", Path("x"), 4000, 0, i, num_shards) for i in range(num_shards)]
    strands = sorted(strand for run in runs for strand in run.strands)
    assert strands == list(range(MAX_STRANDS))
    assert MAX_STRANDS * runs[0].frames_a_strand >= 4000


@pytest.mark.parametrize("num_frames", [1, 300, 1700, 4000, 60000])
def test_runs_make_what_is_asked_for_and_little_more(num_frames, monkeypatch, tmp_path):
    """Whatever the shards: the same numbers, and at most a motion too much for each strand."""
    made = {}

    def make(run, number):
        made.setdefault(run.num_shards, set()).add(number)
        return Outcome(run.name(number), 0 if number % 7 == 3 else 250 + number % 300, "")

    monkeypatch.setattr(DataRun, "make", make)
    most = DataRun("primitives", tmp_path, num_frames).num_strands
    for num_shards in range(1, most + 1):
        shards = range(num_shards)
        runs = [DataRun("primitives", tmp_path, num_frames, 0, i, num_shards) for i in shards]
        count = sum(run_all(run) for run in runs)
        # Parts are rounded up, too.
        assert num_frames <= count < num_frames + most * 551
    assert len({frozenset(numbers) for numbers in made.values()}) == 1
    assert most <= max(1, num_frames // 500)


def test_a_run_of_one_split_makes_the_first_motions_of_it(tmp_path, monkeypatch):
    made: dict[str | None, list[int]] = {None: [], "test": []}

    def make(run, number):
        made[run.split].append(number)
        return Outcome(run.name(number), 400, "")

    monkeypatch.setattr(DataRun, "make", make)
    run_all(DataRun("primitives", tmp_path, 40_000))
    run_all(DataRun("primitives", tmp_path, 3_000, split="test"))
    assert {split_of(0, number) for number in made["test"]} == {"test"}
    assert len(made["test"]) < 0.2 * len(made[None])
    whole = {number for number in made[None] if split_of(0, number) == "test"}
    # Strands are as many as the frames ask for, so only the first are the same in both.
    assert set(made["test"][:3]) <= whole


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"num_frames": 0}, "frames is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"shard": 2, "num_shards": 2}, "shard is 2/2"),
        ({"num_shards": MAX_STRANDS + 1}, "expected i/n"),
        ({"set_name": "primitivs"}, "primitives"),
    ],
)
def test_bad_runs_are_refused(changes, word):
    given = {"set_name": "primitives", "folder": Path("x"), "num_frames": 100, **changes}
    with pytest.raises(HandwrightError, match=word):
        DataRun(**given)
