"""Contact sheets of scenes: ``python -m tools.pictures.scene_sheets docs/images [SCENE ...]``."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from rich.progress import track

from handwright.core.clip import Clip
from handwright.evidence import certify
from handwright.methods import METHODS, default_method
from handwright.render.camera import Camera
from handwright.render.motion_sheet import CAMERA, motion_sheet, pictures
from handwright.render.scene import write_png
from handwright.render.sheet import contact_sheet
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

SHOWN = (
    "milk_box_pickup", "spatula", "wine_pot", "bottle_turn_on_table", "paper_cup_twirl",
    "bunny_like", "mug", "mug_by_handle", "beaker_by_rim",
    "big_box_two_hands", "small_box_two_hands", "cooking",
    "pick_ball", "pick_box", "pick_pen_horizontal", "pick_pen_vertical", "pick_pen_free",
    "trident_pick", "pick_behind_obstacle", "slide_box", "draw_square", "dial_phone",
    "twirl_x", "twirl_y", "twirl_z", "two_hands_lift", "two_hands_juggle",
    "lift_book", "lift_cup", "cup_pushed_fast", "cup_pushed_slow", "gift_box_pushed",
    "lift_light", "lift_expected", "lift_heavy", "soap_slips", "soap_held",
    "hammer_nail", "pour_wine", "toss_heights", "toss_at_box",
)  # fmt: skip
"""Scenes that are solved and certified."""
_ROWS, _COLUMNS, _SIZE = 2, 7, (260, 240)
_SIDE = Camera(azimuth=math.radians(150.0), elevation=math.radians(20.0), margin=0.03)
"""For motions from goals: the hand comes from the front, and seen from there hides small bodies."""
_FRONT = Camera(azimuth=math.radians(100.0), elevation=math.radians(15.0), margin=0.03)
"""For those of two hands, which hide each other from the side, and for what is turned in a hand."""
_ASLANT = Camera(azimuth=math.radians(60.0), elevation=math.radians(20.0), margin=0.06)
"""For a hammer, whose head would be hidden from the front by the hand that holds the nail."""
_LEFT = Camera(azimuth=math.radians(190.0), elevation=math.radians(15.0), margin=0.03)
"""For hands above or behind a body, which hide it, or are hidden, from the front."""
_VIEWS = dict.fromkeys(
    ("bottle_turn_on_table", "paper_cup_twirl", "beaker_by_rim", "big_box_two_hands"), _LEFT
)
_ASIDE = Camera(azimuth=math.radians(25.0), elevation=math.radians(10.0), margin=0.04)
"""For what is thrown, which would fly towards a camera in front."""
_BOX_MARGIN = 0.16
_TOSS = 0.55
"""Half the time that is shown of a toss, s."""
_CHOICE = 6
"""Motions of which the two are shown that look least alike."""
_WISHES: dict[str, dict[str, Any]] = {
    "mug_by_handle": {"grasp_region": "handle"},
    "beaker_by_rim": {"grasp_region": "inside"},
}
"""Settings without which a scene is solved otherwise than its name says."""
_PATIENCE = 240.0
"""Time for a scene, s."""


def main(folder: Path, names: Sequence[str] = SHOWN) -> None:
    """Solves scenes and writes a sheet of two certified, most different motions for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in track(names, "Scenes"):
        problem = load_scene(name)
        method = METHODS[default_method(problem)]
        # One motion will do where others look the same, and stepping makes only one.
        settings: dict[str, Any] = (
            {}
            if problem.grips or problem.tosses
            else {"num_solutions": _CHOICE, "time_budget": _PATIENCE}
        )
        settings |= _WISHES.get(name, {})
        result = synthesize(problem, method(**settings), seed=0)
        # Catches are soft: the verb has judged them under what their method states.
        is_judged = bool(problem.tosses)
        clips = [clip for clip in result.clips if is_judged or certify(clip).passed]
        if not clips:
            sys.stdout.write(f"{name}: {result.status.name}. {result.message}\n")
            continue
        if problem.grips:
            sheet = _events_sheet(clips[0])
        elif problem.tosses:
            sheet = _toss_sheet(clips[0])
        elif problem.goals:
            is_aside = len(problem.hands) == 1 and bool(problem.environment)
            camera = _SIDE if is_aside else _FRONT
            # What a goal has moved is seen by a camera that does not move with it.
            sheet = motion_sheet(
                clips, rows=_ROWS, columns=_COLUMNS, camera=camera, size=_SIZE, is_still=True
            )
        else:
            camera = _VIEWS.get(name, CAMERA)
            sheet = motion_sheet(clips, rows=_ROWS, columns=_COLUMNS, camera=camera, size=_SIZE)
        write_png(sheet, folder / f"scene_{name}.png")


def _toss_sheet(clip: Clip) -> UInt8[np.ndarray, "H W 3"]:
    """The highest toss of a motion, from before the hand lets go until it holds the thing again."""
    height = clip.bodies[clip.problem.tosses[0].body].position[:, 2]
    top = float(clip.times[int(height.argmax())])
    times = np.linspace(top - _TOSS, top + _TOSS, _COLUMNS)
    frames = [int(np.abs(clip.times - time).argmin()) for time in times]
    # Surroundings are not framed, and the box is one.
    is_at_box = clip.problem.tosses[0].surface is not None
    camera = replace(_ASIDE, margin=_BOX_MARGIN) if is_at_box else _ASIDE
    images = pictures(clip, frames, camera, _SIZE, is_still=True)
    return contact_sheet(images, len(frames), [f"{clip.times[frame]:.2f} s" for frame in frames])


def _events_sheet(clip: Clip) -> UInt8[np.ndarray, "H W 3"]:
    """One motion at the times at which goals are met, or pushes begin and end, and in between."""
    problem = clip.problem
    is_aslant = {"hammer", "nail"} <= set(problem.bodies)
    camera = _ASLANT if is_aslant else _SIDE if len(problem.hands) == 1 else _FRONT
    times = [float(clip.times[0]), float(clip.times[-1]), *(goal.start for goal in problem.goals)]
    for push in problem.pushes:
        times += [push.start, 0.5 * (push.start + push.end), push.end]
    frames = sorted({int(np.abs(clip.times - time).argmin()) for time in times})
    # From the last event on bodies are held: one picture of that will do.
    held = frames[-2]
    while len(frames) < _COLUMNS:
        gaps = np.where(np.array(frames[:-1]) < held, np.diff(frames), 0)
        widest = int(gaps.argmax())
        frames.insert(widest + 1, frames[widest] + int(gaps[widest]) // 2)
    images = pictures(clip, frames, camera, _SIZE, is_still=True)
    return contact_sheet(images, len(frames), [f"{clip.times[frame]:.2f} s" for frame in frames])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"), sys.argv[2:] or SHOWN)
