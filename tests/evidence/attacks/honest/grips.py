"""Honest hands of other kinds: two hands, robots, tosses, catches, empty hands, odd storage."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scripted_clips import GRASP_ROOT, UPRIGHT, minimum_jerk, moved, with_judged_forces

from attacks.clips import (
    PALM_UP,
    G,
    clip_of,
    fist,
    flat_palm,
    frames,
    on_palm,
    path,
    pinch,
    pinched,
    rising,
    skin_points,
    still,
    turning,
)
from attacks.rows import Neighbour
from handwright.geometry import floor, table
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.kinematics.fk import link_poses
from handwright.kinematics.ik.closing import close_around
from handwright.math import rotation
from handwright.math.pose import Pose

FPS = 60.0
LYING = turning([0.5 * np.pi, 0.0, 0.0])
"""A rod's turn from standing to lying across the palm."""
TRIDENT = (-0.05, 0.0)
"""How far back from a ball the robot hand is, against a person's, and how high, m."""


def plate(mass=0.3):
    """A plate that lies on a palm."""
    return make_shape("box", width=0.1, depth=0.1, height=0.03).with_mass(mass)


def with_load(clip_parts, up_hand, up_load, fps=FPS):
    """The plate on a palm, with hand and plate raised by their own heights, m."""
    body, pose = clip_parts["bodies"]["load"]
    model, root, q = clip_parts["hands"]["hand"]
    above = np.array([0.0, 0.0, 1.0])
    return clip_of(
        frames(len(up_hand), fps),
        hands={"hand": (model, Pose(root.position + np.outer(up_hand, above), root.wxyz), q)},
        bodies={"load": (body, Pose(pose.position + np.outer(up_load, above), pose.wxyz))},
    )


def tossed_and_caught_on_a_palm(count=46):
    """A hand throws a plate up by 5 cm, dips below it, and meets it again at its own speed."""
    step, speed, takeoff = 1.0 / FPS, 1.0, 12
    rate = speed * minimum_jerk(np.arange(takeoff) / (takeoff - 1.0))
    flight = round(2.0 * speed / G * FPS)
    falling = speed - G * step * (np.arange(flight) + 1.0)
    rest = falling[-1] * (1.0 - minimum_jerk((np.arange(count) + 1.0) / 14.0))
    rates = np.concatenate([rate, falling, rest])[: count - 1]
    load = np.concatenate([[0.0], np.cumsum(rates) * step])
    dip = np.zeros(count)
    inside = np.arange(1, flight)
    share = inside / flight
    dip[takeoff + 1 : takeoff + flight] = -0.03 * (16.0 * share**2 * (1.0 - share) ** 2)
    return with_load(on_palm(plate(), count), load + dip, load)


def caught_on_a_palm(height=0.02, count=24, fps=FPS):
    """A plate falls by 2 cm onto an open hand, which stops it at once."""
    fall = np.maximum(height - 0.5 * G * frames(count, fps) ** 2, 0.0)
    return with_load(on_palm(plate(), count), np.zeros(count), fall, fps)


def two_palms(body, lift, side):
    """Two open hands press on two sides of a box, y = +-side in its frame, and raise it."""
    root, model = flat_palm(), human()
    count = len(lift)
    pose = path(0.0, 0.0, 1.0 + lift)
    hands = {}
    for name, turn, place in (
        ("one", turning([-0.5 * np.pi, 0.0, 0.0]), -side + 0.0004),
        ("two", turning([0.5 * np.pi, 0.0, 0.0]), side - 0.0004),
    ):
        press = Pose(np.array([0.0, place, 0.0]), turn) @ root
        hands[name] = (model, pose @ press, model.pose("open"))
    return clip_of(frames(count), hands=hands, bodies={"box": (body, pose)})


def box_between_two_palms(mass=1.0, count=25):
    """Two open hands lift a box of 20 cm between them."""
    box = make_shape("box", width=0.2, depth=0.2, height=0.2).with_mass(mass)
    return two_palms(box, rising(frames(count), 0.1), 0.1)


@cache
def closed(kind):
    """A hand closed around a body: model, body, turn of the body, wrist over it, joint values."""
    model, body, turn, place = {
        "rod": (human(), make_shape("cylinder", radius=0.018, height=0.16), LYING, (0, 0.038)),
        "female": (human(sex="female"), make_shape("sphere", radius=0.032), UPRIGHT, (0, 0.056)),
        "trident": (trident(), make_shape("sphere"), UPRIGHT, TRIDENT),
    }[kind]
    root = Pose(np.array([-0.095 + place[0], 0.0, place[1]]), UPRIGHT)
    field = signed_distance_field(body)
    q = close_around(model, field, root=root, body=Pose(np.zeros(3), turn)).q
    return model, body, turn, root, q


def lift_with(kind, count=25):
    """A body is lifted by a hand that is closed around it."""
    model, body, turn, root, q = closed(kind)
    pose = path(0.0, 0.0, 1.0 + rising(frames(count), 0.1))
    return clip_of(
        frames(count),
        hands={"hand": (model, pose @ root, q)},
        bodies={"body": (body, Pose(pose.position, turn))},
    )


def free_hand(root, q, fps=FPS, model=None):
    """A hand that holds nothing; a box stands far below."""
    model, count = human() if model is None else model, len(root.position)
    return clip_of(
        frames(count, fps),
        hands={"hand": (model, root, q)},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def posed(name, count=12):
    """An empty hand in a named pose."""
    return free_hand(still((0.0, 0.0, 1.2), count), human().pose(name))


def opens_and_closes(count=37):
    """An empty hand closes within 0.3 s and opens again."""
    model, times = human(), frames(count, FPS)
    share = 0.9 * np.sin(np.pi * times / times[-1])[:, None] ** 2
    q = model.pose("open") + share * (model.pose("rest") - model.pose("open"))
    return free_hand(still((0.0, 0.0, 1.2), count), q)


def fast_reach(count=37):
    """A wrist moves by 1.2 m within 0.6 s, at up to 4 m/s."""
    times = frames(count, FPS)
    x = 1.2 * minimum_jerk(times / times[-1])
    return free_hand(path(x, 0.0, 1.2), human().pose("rest"))


def shakes_at_human_speed(count=49):
    """A hand shakes to and fro by 6 cm, five times a second."""
    x = 0.03 * np.sin(10.0 * np.pi * frames(count, FPS))
    return free_hand(path(x, 0.0, 1.2), human().pose("rest"))


def turns_over(count=31):
    """A hand turns over within half a second."""
    times = frames(count, FPS)
    turn = np.outer(np.pi * minimum_jerk(times / times[-1]), [1.0, 0.0, 0.0])
    return free_hand(path(0.0, 0.0, np.full(count, 1.2), turning(turn)), human().pose("rest"))


def drums_with_fingers(count=49):
    """Four fingers drum in the air, one after the other, four times a second."""
    model, times = human(), frames(count, FPS)
    q = np.tile(model.pose("rest"), (count, 1))
    for k, name in enumerate(("index", "middle", "ring", "little")):
        joint = model.joints.index(f"{name}_mcp_flexion")
        q[:, joint] += 0.2 * np.sin(8.0 * np.pi * times - 0.5 * k)
    return free_hand(still((0.0, 0.0, 1.2), count), q)


def palms_face_each_other(count=12):
    """Two flat hands, palm to palm, stay a centimetre apart."""
    model = human()
    q = model.pose("open")
    over, under = still((0.0, 0.0, 1.31), count), still((0.0, 0.0, 1.19), count, PALM_UP)
    return clip_of(
        frames(count),
        hands={"one": (model, over, q), "two": (human("left"), under, human("left").pose("open"))},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def fingers_interleaved(count=12):
    """The spread fingers of two hands lie between each other, 2.7 mm apart, and touch nowhere."""
    model = human()
    q = model.pose("open").copy()
    for name, turn in (("index", 0.3), ("middle", 0.08), ("ring", -0.12), ("little", -0.35)):
        joint = model.joints.index(f"{name}_mcp_abduction")
        q[joint] = np.clip(turn, model.joints.lower[joint], model.joints.upper[joint])
    tip = float(skin_points(model, q)[:, 0].max())
    other = still((2.0 * tip - 0.04, -0.003, 1.2), count, turning([0.0, 0.0, np.pi]))
    return clip_of(
        frames(count),
        hands={"one": (model, still((0.0, 0.0, 1.2), count), q), "two": (model, other, q)},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def pushed_by_a_palm(count=25, friction=0.2):
    """An open hand pushes a box of 20 cm over the floor at 10 cm/s."""
    model, times = human(), frames(count)
    box = make_shape("box", width=0.2, depth=0.2, height=0.2).with_mass(1.0)
    pose = path(0.0, 0.1 * times, 0.1)
    press = Pose(np.array([0.0, -0.0996, 0.0]), turning([-0.5 * np.pi, 0.0, 0.0])) @ flat_palm()
    return clip_of(
        times,
        hands={"hand": (model, pose @ press, model.pose("open"))},
        bodies={"box": (box, pose)},
        environment=(floor(friction=friction),),
    )


def hand_rests_on_a_table(count=12):
    """An open hand lies on a table beside a box."""
    model = human()
    low = float(skin_points(model, model.pose("open"))[:, 2].min())
    return clip_of(
        frames(count),
        hands={"hand": (model, still((0.0, 0.0, 0.75 - low - 0.0003), count), model.pose("open"))},
        bodies={"box": (make_shape("box"), still((0.0, 0.25, 0.78), count))},
        environment=(table(),),
    )


def signs_of_quaternions(count=25):
    """The lift in a fist; every other quaternion has the other sign, which means the same."""
    times = frames(count)
    pose = path(0.0, 0.0, 1.0 + rising(times), turning(np.outer(rising(times, 0.4), [0, 0, 1.0])))
    flip = np.where(np.arange(count) % 2, -1.0, 1.0)[:, None]
    model, root, q = fist(pose)
    return clip_of(
        times,
        hands={"hand": (model, Pose(root.position, -flip * root.wxyz), q)},
        bodies={"ball": (make_shape("sphere"), Pose(pose.position, flip * pose.wxyz))},
    )


def far_from_the_origin(count=25):
    """The lift in a fist, 40 m from the origin and turned."""
    pose = path(0.0, 0.0, 1.0 + rising(frames(count)))
    clip = clip_of(
        frames(count), hands={"hand": fist(pose)}, bodies={"ball": (make_shape("sphere"), pose)}
    )
    return moved(clip, Pose(np.array([40.0, -20.0, 3.0]), turning([0.0, 0.0, 2.0])))


def with_right_forces(count=25):
    """The lift in a pinch with the forces that the judge finds, stored with the clip."""
    pose = path(0.0, 0.0, 1.0 + rising(frames(count)))
    clip = clip_of(
        frames(count), hands={"hand": pinch(pose)}, bodies={"block": (pinched()[0], pose)}
    )
    return with_judged_forces(clip)[0]


def carried_by_an_arm(count=25):
    """A hand on an arm swings a ball in its fist by turning at the shoulder."""
    pose = path(0.0, 0.0, 1.0 + rising(frames(count)))
    model = human("right", arm=True)
    ball = fist(pose)
    joints = [model.joints.names.index(name) for name in human().joints.names]
    q = np.zeros((count, model.num_joints))
    q[:, joints] = ball[2]
    free = np.setdiff1d(np.arange(model.num_joints), joints)
    q[:, free] = model.joints.clamp(np.zeros(model.num_joints))[free]
    turns, places = link_poses(model, q[:1], still((0, 0, 0), 1))
    wrist = Pose(places[0, model.wrist_link], rotation.from_matrix(turns[0, model.wrist_link]))
    return clip_of(
        frames(count),
        hands={"hand": (model, pose @ GRASP_ROOT @ wrist.inverse(), q)},
        bodies={"ball": (make_shape("sphere"), pose)},
    )


NEIGHBOURS = (
    Neighbour(tossed_and_caught_on_a_palm),
    Neighbour(caught_on_a_palm),
    Neighbour(partial(caught_on_a_palm, 0.2, 20, 30.0), variant="30_fps"),
    Neighbour(box_between_two_palms),
    Neighbour(partial(box_between_two_palms, 6.0), variant="6_kg"),
    *(Neighbour(partial(lift_with, kind), variant=kind) for kind in ("rod", "female", "trident")),
    *(Neighbour(partial(posed, name), variant=name) for name in ("rest", "pinch", "open")),
    Neighbour(opens_and_closes),
    Neighbour(fast_reach),
    Neighbour(shakes_at_human_speed),
    Neighbour(turns_over),
    Neighbour(drums_with_fingers),
    Neighbour(palms_face_each_other),
    Neighbour(fingers_interleaved),
    Neighbour(pushed_by_a_palm),
    Neighbour(hand_rests_on_a_table),
    Neighbour(signs_of_quaternions),
    Neighbour(far_from_the_origin),
    Neighbour(with_right_forces),
    Neighbour(carried_by_an_arm),
)
