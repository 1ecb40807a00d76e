"""Old public names: they work for one release, and say what they are called now."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace

import pytest

import handwright as hw
import handwright.methods.sampling as sampling
from handwright.cli import main as cli
from handwright.deprecated import (
    WAS,
    current_names,
    renamed_fields,
    renamed_keywords,
    renamed_options,
)
from handwright.methods import METHODS
from handwright.methods.stepwise.settings import Settings

FIELDS = {
    "sampling": {
        "keep_off": ("no_contact", ()),
        "hold": ("grasp_region", "handle"),
        "held_by": ("grasp_regions", ()),
        "leave_free": ("idle_finger_probability", 0.3),
        "idle_force_price": ("idle_force_weight", 2.0),
        "skin_shear": ("skin_stretch", 0.002),
        "fills_hollows": ("treat_as_solid", True),
    },
    "stepwise": {
        "torque": ("torque_change_weight", 2.0),
        "keep": ("contact_weight", 3.0),
        "arm": ("arm_weight", 4.0),
        "finger": ("finger_weight", 5.0),
        "speed": ("speed_weight", 6.0),
        "force": ("force_weight", 7.0),
        "sliding": ("sliding_weight", 8.0),
    },
}
CASES = [
    (METHODS[method], old, new, value)
    for method, renamed in FIELDS.items()
    for old, (new, value) in renamed.items()
]
CASES += [
    (Settings, "torque", "torque_change_weight", 2.0),
    (hw.Tolerances, "skin_shear", "skin_stretch", 0.002),
]


@pytest.mark.parametrize(("cls", "old", "new", "value"), CASES)
def test_an_old_field_is_taken_and_given_with_a_warning(cls, old, new, value):
    with pytest.warns(DeprecationWarning, match=f"'{old}' is deprecated .* use '{new}'"):
        made = cls(**{old: value})
    assert made == cls(**{new: value})
    with pytest.warns(DeprecationWarning, match=f"use '{new}'"):
        assert getattr(made, old) == value


def test_current_names_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = hw.ContactSampling(no_contact=(), grasp_region="handle")
        assert replace(made, grasp_region="inside").grasp_region == "inside"


def test_replace_takes_old_names_too():
    with pytest.warns(DeprecationWarning, match="use 'grasp_region'"):
        made = replace(hw.ContactSampling(grasp_region="inside"), hold="handle")
    assert made.grasp_region == "handle"


def test_the_warning_points_at_the_caller():
    with pytest.warns(DeprecationWarning, match="use 'grasp_region'") as caught:
        hw.ContactSampling(hold="handle")
    assert caught[0].filename == __file__


def test_unknown_fields_are_still_refused():
    with pytest.raises(TypeError, match="holds"):
        hw.ContactSampling(holds="handle")


@renamed_fields
@dataclass(frozen=True, slots=True)
class Child:
    count: int = field(default=1, metadata={WAS: ("number", "amount")})


def test_a_field_may_have_several_old_names():
    for old in ("number", "amount"):
        with pytest.warns(DeprecationWarning, match="use 'count'"):
            assert Child(**{old: 3}) == Child(3)
    assert current_names(Child, {"amount": 3}) == {"count": 3}


def test_an_old_keyword_of_a_function_is_passed_on():
    @renamed_keywords(watcher="on_progress")
    def run(*, on_progress=None):
        return on_progress

    with pytest.warns(DeprecationWarning, match="'watcher' is deprecated .* use 'on_progress'"):
        assert run(watcher=3) == 3
    with pytest.raises(TypeError, match="both 'watcher' and 'on_progress'"):
        run(watcher=3, on_progress=4)


def test_synthesize_takes_its_old_keyword(tmp_path):
    from tiny_problems import TINY

    told = []
    with pytest.warns(DeprecationWarning, match="use 'on_progress'"):
        result = hw.synthesize(
            TINY["hold_a_ball"](), hw.Scripted(), watcher=told.append, certify=False
        )
    assert [clip for progress in told for clip in progress.clips] == list(result.clips)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (sampling, "KeepOff", "NoContact"),
        (sampling, "HeldBy", "GraspRegion"),
        (hw, "body_item", "handwright.render.body_item"),
        (hw, "hand_items", "handwright.render.hand_items"),
        (hw, "turntable", "handwright.render.turntable"),
        (hw, "write_png", "handwright.render.write_png"),
        (hw.methods.base, "usual_method", "default_method"),
    ],
)
def test_an_old_name_of_a_module_is_found_with_a_warning(module, old, new):
    import importlib

    with pytest.warns(DeprecationWarning, match=f"{old}' is deprecated .*{new}'"):
        found = getattr(module, old)
    home, _, name = new.rpartition(".")
    assert found is getattr(importlib.import_module(home) if home else module, name, found)
    assert old not in getattr(module, "__all__", ())


def test_names_that_never_were_are_not_found():
    for module in (hw, sampling):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018  reading it is the test


def test_an_old_option_is_replaced_and_told():
    told = []
    given = ["a.npz", "--hold=handle", "--keep-off", "little", "hold"]
    renamed = {"--hold": "--grasp-region", "--keep-off": "--no-contact"}
    assert renamed_options(given, renamed, told.append) == [
        "a.npz", "--grasp-region=handle", "--no-contact", "little", "hold"
    ]  # fmt: skip
    assert told == [
        "The option --hold is deprecated; use --grasp-region.",
        "The option --keep-off is deprecated; use --no-contact.",
    ]


def test_old_options_of_commands_are_taken(tmp_path, capsys):
    missing = str(tmp_path / "none.npz")
    assert cli.main(["verify", missing, "--skin-shear-mm", "1"]) == 1
    said = capsys.readouterr().err
    assert "The option --skin-shear-mm is deprecated; use --skin-stretch-mm." in said
    assert "none.npz" in said
    # Here it has its own meaning: how long the end is held.
    assert cli.main(["replay", missing, "--hold", "1"]) == 1
    assert "deprecated" not in capsys.readouterr().err
