"""The table of scenes, and what makes a problem of an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.surface import Surface
from handwright.core.track import Track
from handwright.errors import UnknownNameError
from handwright.hands import human
from handwright.io.bvh.motion import BvhMotion
from handwright.scenes import cooking, milk_boxes, mugs, pots, spatulas, swaps, turning, two_hands
from handwright.scenes.files import load_person, load_tracks, person_wrists
from handwright.scenes.goal_scenes import goal_scenes
from handwright.scenes.motion import frame_times
from handwright.scenes.robot_hands import read_problem
from handwright.scenes.stage import work_table
from handwright.scenes.task import Hold, Span


def _table() -> tuple[Surface, ...]:
    return (work_table(),)


@dataclass(frozen=True, slots=True)
class Scene:
    """An entry of the table of scenes."""

    name: str
    summary: str
    """One line."""
    num_frames: int
    """At 30 frames a second."""
    hands: tuple[str, ...]
    """Names, which are their sides."""
    bodies: tuple[str, ...]
    """Names."""
    make_bodies: Callable[[], dict[str, RigidBody]]
    make_tracks: Callable[[Mapping[str, Hold]], dict[str, Track]]
    """Makes the tracks anew; scenes come with theirs as data."""
    spans: tuple[Span, ...]
    """Which hand holds what, when, and how."""
    finders: Mapping[str, Callable[[], Hold]]
    """Searches for the holds that the tracks are made from, by name."""
    environment: Callable[[], tuple[Surface, ...]] = _table
    make_person: Callable[[Mapping[str, Track]], BvhMotion] | None = None
    """Makes the body that the wrists belong to, if there is one."""


SCENES: dict[str, Scene] = {
    scene.name: scene
    for scene in (
        Scene(
            "milk_box_turn",
            "a box is lifted, turned by 60 degrees and set down; the wrist lags behind",
            milk_boxes.TURN_FRAMES,
            ("right",),
            ("milk_box",),
            lambda: {"milk_box": milk_boxes.milk_box()},
            milk_boxes.make_turn,
            (Span("right", "milk_box", "milk_box_turn", 13, 62),),
            {"milk_box_turn": milk_boxes.find_turn_hold},
        ),
        Scene(
            "milk_box_pickup",
            "the box is picked up, carried in an arc, looked at and set down",
            milk_boxes.PICKUP_FRAMES,
            ("right",),
            ("milk_box",),
            lambda: {"milk_box": milk_boxes.milk_box()},
            milk_boxes.make_pickup,
            (Span("right", "milk_box", "milk_box_turn", 15, 89),),
            {},
        ),
        Scene(
            "spatula",
            "a spatula is taken from its rest, pushed under something, turned over and put back",
            spatulas.FRAMES,
            ("right",),
            ("spatula",),
            lambda: {"spatula": spatulas.spatula()},
            spatulas.make_spatula,
            (Span("right", "spatula", "spatula", 16, 214),),
            {"spatula": spatulas.find_spatula_hold},
            spatulas.surroundings,
        ),
        Scene(
            "wine_pot",
            "a pot is lifted by its handle, tilted as when pouring, and set down",
            pots.FRAMES,
            ("right",),
            ("wine_pot",),
            lambda: {"wine_pot": pots.wine_pot()},
            pots.make_pot,
            (Span("right", "wine_pot", "wine_pot", 15, 112),),
            {"wine_pot": pots.find_pot_hold},
        ),
        Scene(
            "small_box_two_hands",
            "a small box is picked up, passed to the left hand, turned, passed back and set down",
            two_hands.SMALL_FRAMES,
            ("right", "left"),
            ("small_box",),
            lambda: {"small_box": two_hands.small_box()},
            two_hands.make_small_box,
            (
                Span("right", "small_box", "small_box_side", 13, 54),
                Span("left", "small_box", "small_box_foot", 45, 99),
                Span("right", "small_box", "small_box_side", 89, 131),
            ),
            {
                "small_box_side": two_hands.find_side_hold,
                "small_box_foot": two_hands.find_left_hold,
            },
        ),
        Scene(
            "bottle_turn_on_table",
            "a small bottle is turned by 62 degrees without leaving the table",
            turning.BOTTLE_FRAMES,
            ("right",),
            ("bottle",),
            lambda: {"bottle": turning.bottle()},
            turning.make_bottle,
            (Span("right", "bottle", "bottle_turn_on_table", 15, 71),),
            {"bottle_turn_on_table": turning.find_bottle_hold},
        ),
        Scene(
            "paper_cup_twirl",
            "a cup is turned by 186 degrees within the hand, which needs a gait of the fingers",
            turning.CUP_FRAMES,
            ("right",),
            ("paper_cup",),
            lambda: {"paper_cup": turning.paper_cup()},
            turning.make_cup,
            (Span("right", "paper_cup", "paper_cup_twirl", 13, 218, twirls=True),),
            {"paper_cup_twirl": turning.find_cup_hold},
        ),
        Scene(
            "big_box_two_hands",
            "a big box is turned on the table by both hands, lifted, carried and set down",
            two_hands.BIG_FRAMES,
            ("right", "left"),
            ("big_box",),
            lambda: {"big_box": two_hands.big_box()},
            two_hands.make_big_box,
            (
                Span("right", "big_box", "big_box_side", 16, 133, opposes=False),
                Span("left", "big_box", "big_box_side", 16, 133, mirrors=True, opposes=False),
            ),
            {"big_box_side": two_hands.find_big_hold},
        ),
        Scene(
            "bunny_like",
            "a toy rabbit on the tracks of milk_box_turn",
            milk_boxes.TURN_FRAMES,
            ("right",),
            ("bunny",),
            lambda: {"bunny": swaps.bunny()},
            swaps.make_bunny,
            (Span("right", "bunny", "bunny_like", 13, 62),),
            {"bunny_like": swaps.find_bunny_hold},
        ),
        Scene(
            "mug",
            "a mug on the tracks of milk_box_turn, its handle away from the hand",
            milk_boxes.TURN_FRAMES,
            ("right",),
            ("mug",),
            lambda: {"mug": swaps.mug()},
            swaps.make_mug,
            (Span("right", "mug", "mug", 13, 62),),
            {"mug": swaps.find_mug_hold},
        ),
        Scene(
            "mug_by_handle",
            "a mug is lifted by its handle to drink, and put back",
            mugs.MUG_FRAMES,
            ("right",),
            ("mug",),
            lambda: {"mug": mugs.mug()},
            mugs.make_mug,
            (Span("right", "mug", "mug_by_handle", 15, 121),),
            {"mug_by_handle": mugs.find_handle_hold},
        ),
        Scene(
            "beaker_by_rim",
            "an open beaker is taken by its rim, thumb inside, and carried across the table",
            mugs.BEAKER_FRAMES,
            ("right",),
            ("beaker",),
            lambda: {"beaker": mugs.beaker()},
            mugs.make_beaker,
            (Span("right", "beaker", "beaker_by_rim", 15, 101),),
            {"beaker_by_rim": mugs.find_rim_hold},
        ),
        Scene(
            "cooking",
            "a cook, given as BVH, pours milk, pours wine and shakes spice, one after the other",
            cooking.FRAMES,
            ("right",),
            ("milk_box", "wine_pot", "spice"),
            cooking.bodies,
            cooking.make_cooking,
            (
                Span("right", "milk_box", "milk_box_turn", 15, 100),
                Span("right", "wine_pot", "wine_pot", 130, 210),
                Span("right", "spice", "bottle_turn_on_table", 239, 294),
            ),
            {},
            cooking.surroundings,
            cooking.make_person,
        ),
    )
}
"""Every scene with tracks by its name; ``goal_scenes`` has those with goals."""


def load_scene(name: str) -> Problem:
    """A named problem: wrists and bodies move as given, or goals are; the rest is wanted.

    Thirty frames a second with tracks, sixty with goals; Z is up; the table top is at 0.75 m. The
    person is at the near edge, towards -y, and looks along +y.

    Raises:
        UnknownNameError: There is no such scene.
    """
    if name in goal_scenes():
        return read_problem(goal_scenes()[name].path)
    if name not in SCENES:
        raise UnknownNameError("scene", name, (*SCENES, *goal_scenes()))
    scene = SCENES[name]
    tracks = load_tracks(name)
    if scene.make_person is not None:
        tracks |= person_wrists(load_person(name), scene.hands)
    return Problem(
        name=name,
        times=frame_times(scene.num_frames),
        hands={side: human(side) for side in scene.hands},  # type: ignore[arg-type]
        bodies=scene.make_bodies(),
        tracks=tracks,
        environment=scene.environment(),
    )
