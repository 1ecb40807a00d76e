"""Figures that look like ordinary ones to a glance: hands altered where few look, odd bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scripted_clips import grasp, with_judged_forces

from attacks.clips import (
    G,
    alone,
    bystander,
    clip_of,
    fist,
    frames,
    path,
    pinch,
    pinched,
    rising,
    still,
    turning,
)
from attacks.rows import BENT, FIGURES, HIT, MESH, STORED, SUNK, UNEXPLAINED, WEAK, Attack
from attacks.wrong.meshes import joined, moved
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.fk import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose

HAND = ("hand", "shape", "model")


def lifted(model, radius, *, mass=None, shift=(0.0, 0.0, 0.0), count=25):
    """A ball that a fist of this hand lifts; the fist is shifted against it, m."""
    times = frames(count)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    ball = make_shape("sphere", radius=radius, mass=mass)
    aside = Pose(pose.position + np.asarray(shift), pose.wxyz)
    return clip_of(times, hands={"hand": fist(aside, model=model)}, bodies={"ball": (ball, pose)})


def flesh_thicker_than_the_skin():
    """A ball hovers 5 mm inside the grip of a fist; its flesh is said to be that much thicker."""
    model = human()
    capsules = replace(model.capsules, radius=model.capsules.radius + 0.005)
    return lifted(replace(model, capsules=capsules), 0.030)


def flesh_beside_the_skin():
    """A ball hovers 12 cm beside the drawn fist that lifts it; its flesh is said to be there."""
    model, aside = human(), np.array([0.0, 0.12, 0.0])
    # Fingers are bent: the flesh of each link is moved in the axes that the link has in the fist.

    turns, _ = link_poses(model, grasp().q[None], still((0.0, 0.0, 0.0), 1))
    local = np.einsum("lji,j->li", turns[0], aside)[model.capsules.link]
    capsules = replace(
        model.capsules, start=model.capsules.start + local, end=model.capsules.end + local
    )
    return lifted(replace(model, capsules=capsules), 0.035, shift=-aside)


def fingers_bend_the_wrong_way(count=20):
    """Four fingers are bent back by 80 degrees; in the file their joints turn the other way."""
    model = human()
    axis, q = model.joints.axis.copy(), model.pose("open").copy()
    for k, name in enumerate(model.joints.names):
        if name.endswith("mcp_flexion") and not name.startswith("thumb"):
            axis[k], q[k] = -axis[k], np.radians(80.0)
    odd = replace(model, joints=replace(model.joints, axis=axis))
    return clip_of(
        frames(count),
        hands={"hand": (odd, still((0.0, 1.0, 1.2), count), q)},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def spins_up_in_flight(count=31):
    """A box begins to spin in flight and stops again; its mass is said to be in its very middle."""
    times, box = frames(count, 60.0), make_shape("box")
    point = replace(box, inertia=1e-9 * box.inertia)
    angle = 3.0 * np.pi * rising(times, 1.0)
    pose = path(0.0, 0.0, 2.0 - 0.5 * G * times**2, turning(np.outer(angle, [0.6, 0.8, 0.0])))
    return alone(point, pose, times)


def cube_hovers_in_a_beaker(count=12):
    """A cube hovers in the middle of a beaker that stands on the floor; both are one mesh."""
    beaker = make_shape("beaker")
    cube = make_shape("box", width=0.02, depth=0.02, height=0.02)
    low = -float(beaker.vertices[:, 2].min())
    return alone(
        joined(beaker, moved(cube, (0.0, 0.0, 0.02))),
        still((0, 0, low), count),
        frames(count),
        environment=(floor(),),
    )


def slanted(body, angle=0.785):
    """The body in a frame that hides how thin it is, and the turn that sets it upright."""
    turn = turning([0.3, angle, 0.2])
    matrix = rotation.to_matrix(turn)
    bent = replace(
        body, vertices=body.vertices @ matrix.T, inertia=matrix @ body.inertia @ matrix.T
    )
    return bent, rotation.conjugate(turn)


def stands_on_slanted_threads(count=10):
    """A box hovers 30 cm above the floor on threads whose frames are turned."""
    box = make_shape("box")
    thread, back = slanted(make_shape("box", width=1e-5, depth=1e-5, height=0.3))
    feet = ((-0.02, -0.02), (0.02, -0.02), (0.0, 0.02))
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={
            "box": (box, still((0, 0, 0.33), count)),
            **{
                f"thread{k}": (thread, still((x, y, 0.15), count, back))
                for k, (x, y) in enumerate(feet)
            },
        },
        environment=(floor(),),
    )


def hangs_on_a_slanted_thread(count=25):
    """A box hangs level, 20 cm beside and below a fist, on a thread of a hundredth of a mm."""
    times, ball = frames(count), make_shape("sphere")
    line, _ = slanted(make_shape("box", width=1e-5, depth=1e-5, height=0.4))
    far = moved(make_shape("box"), (0.15, 0.0, -0.2))
    whole = joined(ball, line, far)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"whole": (whole, pose)})


def stored_forces_crush(count=20):
    """A block rests in a pinch; the forces stored with it press with a hundred tons."""
    pose = still((0.0, 0.0, 1.0), count)
    clip = clip_of(
        frames(count), hands={"hand": pinch(pose)}, bodies={"block": (pinched()[0], pose)}
    )
    contacts = with_judged_forces(clip)[0].contacts
    force, point = contacts.force.copy(), contacts.point
    for t in range(count):
        # The two that are farthest apart press towards each other along the line between them.
        rows = np.flatnonzero(contacts.frame == t)
        one, two = rows[point[rows, 0].argmin()], rows[point[rows, 0].argmax()]
        along = (point[two] - point[one]) / np.linalg.norm(point[two] - point[one])
        force[one] += 1e6 * along
        force[two] -= 1e6 * along
    return replace(clip, contacts=replace(contacts, force=force))


def gains_height_at_ten_frames(count=30):
    """A ball at ten frames a second is thrown up by the floor, higher and higher each time."""
    times, z = frames(count, 10.0), []
    landing = np.sqrt(2.0 * 0.1 / G)
    for time in times:
        since, speed = time + landing, G * landing
        while since > 2.0 * speed / G:
            since, speed = since - 2.0 * speed / G, speed + 0.8
        z.append(0.035 + speed * since - 0.5 * G * since**2)
    ball = make_shape("sphere")
    return alone(ball, path(0.0, 0.0, np.array(z)), times, environment=(floor(),))


ATTACKS = (
    Attack(flesh_thicker_than_the_skin, UNEXPLAINED | FIGURES | SUNK, under=HAND),
    Attack(flesh_beside_the_skin, UNEXPLAINED | FIGURES, under=HAND),
    Attack(fingers_bend_the_wrong_way, BENT | FIGURES, under=HAND),
    Attack(spins_up_in_flight, UNEXPLAINED | FIGURES, under=("inertia", "mass")),
    Attack(cube_hovers_in_a_beaker, MESH, under=("part", "piece")),
    Attack(stands_on_slanted_threads, UNEXPLAINED | MESH | FIGURES, under=("thin", "density")),
    Attack(hangs_on_a_slanted_thread, UNEXPLAINED | MESH | FIGURES, under=("thin", "part")),
    Attack(stored_forces_crush, STORED | WEAK),
    Attack(gains_height_at_ten_frames, HIT | UNEXPLAINED),
)
