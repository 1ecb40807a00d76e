"""The table of scenes with tracks, and what makes each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handwright.core.surface import Surface
from handwright.core.track import Track
from handwright.io.bvh.motion import BvhMotion
from handwright.io.goals.schema import BodyEntry
from tools.scenes.motions import (
    cooking,
    milk_boxes,
    mugs,
    pots,
    spatulas,
    swaps,
    turning,
    two_hands,
)
from tools.scenes.stage import work_table
from tools.scenes.task import Hold, Span


def _table() -> tuple[Surface, ...]:
    return (work_table(),)


@dataclass(frozen=True, slots=True)
class Scene:
    """An entry of the table of scenes."""

    name: str
    summary: str
    """One line."""
    hands: tuple[str, ...]
    """Names, which are their sides."""
    bodies: Callable[[], dict[str, BodyEntry]]
    """What there is to hold, by name, as the problem file describes it."""
    make_tracks: Callable[[Mapping[str, Hold]], dict[str, Track]]
    """Makes the tracks from holds, by name."""
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
            ("right",),
            lambda: {"milk_box": milk_boxes.MILK_BOX},
            milk_boxes.make_turn,
            (Span("right", "milk_box", "milk_box_turn", 13, 62),),
            {"milk_box_turn": milk_boxes.find_turn_hold},
        ),
        Scene(
            "milk_box_pickup",
            "the box is picked up, carried in an arc, looked at and set down",
            ("right",),
            lambda: {"milk_box": milk_boxes.MILK_BOX},
            milk_boxes.make_pickup,
            (Span("right", "milk_box", "milk_box_turn", 15, 89),),
            {},
        ),
        Scene(
            "spatula",
            "a spatula is taken from its rest, pushed under something, turned over and put back",
            ("right",),
            lambda: {"spatula": spatulas.spatula_part()},
            spatulas.make_spatula,
            (Span("right", "spatula", "spatula", 16, 214),),
            {"spatula": spatulas.find_spatula_hold},
            spatulas.surroundings,
        ),
        Scene(
            "wine_pot",
            "a pot is lifted by its handle, tilted as when pouring, and set down",
            ("right",),
            lambda: {"wine_pot": pots.WINE_POT},
            pots.make_pot,
            (Span("right", "wine_pot", "wine_pot", 15, 112),),
            {"wine_pot": pots.find_pot_hold},
        ),
        Scene(
            "small_box_two_hands",
            "a small box is picked up, passed to the left hand, turned, passed back and set down",
            ("right", "left"),
            lambda: {"small_box": two_hands.SMALL_BOX},
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
            ("right",),
            lambda: {"bottle": turning.BOTTLE},
            turning.make_bottle,
            (Span("right", "bottle", "bottle_turn_on_table", 15, 71),),
            {"bottle_turn_on_table": turning.find_bottle_hold},
        ),
        Scene(
            "paper_cup_twirl",
            "a cup is turned by 186 degrees within the hand, which needs a gait of the fingers",
            ("right",),
            lambda: {"paper_cup": turning.PAPER_CUP},
            turning.make_cup,
            (Span("right", "paper_cup", "paper_cup_twirl", 13, 218, twirls=True),),
            {"paper_cup_twirl": turning.find_cup_hold},
        ),
        Scene(
            "big_box_two_hands",
            "a big box is turned on the table by both hands, lifted, carried and set down",
            ("right", "left"),
            lambda: {"big_box": two_hands.BIG_BOX},
            two_hands.make_big_box,
            (
                Span("right", "big_box", "big_box_side", 16, 133, opposes=False),
                Span("left", "big_box", "big_box_side", 16, 133, mirrors=True, opposes=False),
            ),
            {"big_box_side": two_hands.find_big_hold},
        ),
        Scene(
            "bunny_like",
            "a toy rabbit in place of the milk box, put into the hand where it can be held",
            ("right",),
            lambda: {"bunny": swaps.BUNNY},
            swaps.make_bunny,
            (Span("right", "bunny", "bunny_like", 13, 62),),
            {"bunny_like": swaps.find_bunny_hold},
        ),
        Scene(
            "mug",
            "a mug in place of the milk box, its handle away from the hand",
            ("right",),
            lambda: {"mug": swaps.MUG},
            swaps.make_mug,
            (Span("right", "mug", "mug", 13, 62),),
            {"mug": swaps.find_mug_hold},
        ),
        Scene(
            "mug_by_handle",
            "a mug is lifted by its handle to drink, and put back",
            ("right",),
            lambda: {"mug": mugs.MUG},
            mugs.make_mug,
            (Span("right", "mug", "mug_by_handle", 15, 121),),
            {"mug_by_handle": mugs.find_handle_hold},
        ),
        Scene(
            "beaker_by_rim",
            "an open beaker is taken by its rim, thumb inside, and carried across the table",
            ("right",),
            lambda: {"beaker": mugs.BEAKER},
            mugs.make_beaker,
            (Span("right", "beaker", "beaker_by_rim", 15, 101),),
            {"beaker_by_rim": mugs.find_rim_hold},
        ),
        Scene(
            "cooking",
            "a cook, given as BVH, pours milk, pours wine and shakes spice, one after the other",
            ("right",),
            lambda: {
                "milk_box": milk_boxes.MILK_BOX,
                "wine_pot": pots.WINE_POT,
                "spice": cooking.SPICE,
            },
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
"""Every scene with tracks by its name."""
