"""Thumb and index finger take a small block from a table, lift it, and the judge is asked.

Run:  python examples/pinch_lift.py [FOLDER]

Two points cannot resist a turn about the line between them, however hard they press. So the hand
takes the block where that line goes through its centre of mass, as people do by feel.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import handwright as hw
from handwright.core.clip import HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.core.surface import Surface
from handwright.core.track import Track
from handwright.evidence import JudgedContact
from handwright.geometry import table
from handwright.geometry.distance.exact import ExactDistance
from handwright.kinematics import DigitTargets, IkWeights, posed_pads, posed_skin, solve_ik
from handwright.math import rotation
from handwright.mechanics import force_contacts, least_forces, required_wrench
from handwright.render import Camera

WIDTH, DEPTH, HEIGHT = 0.022, 0.028, 0.04
TABLE = 0.75
PRESSED = 0.0003
"""How far the soft pads give way, m."""
WRIST_TURN = (15.1, 21.8, -11.6)
"""Yaw, pitch and roll of the wrist over the block, degrees: the fingers point down to it."""
WRIST_SHIFT = (-0.0007, 0.0066, 0.0124)
"""From where the pads of the pose ``pinch`` would meet in the block's middle, m."""
FPS = 60.0
REACHING, CLOSING = (0.0, 0.9), (0.6, 1.15)
LIFTING, CARRYING, DURATION = (1.35, 2.3), (1.7, 2.7), 2.9
"""Seconds. Between closing and lifting the fingers take over the weight."""
ORIGIN = hw.Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def minimum_jerk(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """From 0 at ``start`` to 1 at ``end`` (s), at rest at both, as smoothly as people move."""
    share = np.clip((times - start) / (end - start), 0.0, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


def natural_pinch(hand: hw.HandModel) -> np.ndarray:
    """The named pose with last joints more bent, as over a block rather than a sheet."""
    q = hand.pose("pinch").copy()
    q[hand.joints.index("index_pip_flexion")] = np.radians(48.0)
    q[hand.joints.index("index_dip_flexion")] = np.radians(28.0)
    q[hand.joints.index("thumb_ip_flexion")] = np.radians(12.0)
    return q


def wrist_over_block(hand: hw.HandModel) -> hw.Pose:
    """Pose of the wrist in the frame of the block."""
    yaw, pitch, roll = np.radians(WRIST_TURN)
    wxyz = rotation.exp(np.array([0.0, 0.0, yaw]))
    wxyz = rotation.multiply(wxyz, rotation.exp(np.array([0.0, pitch, 0.0])))
    wxyz = rotation.multiply(wxyz, rotation.exp(np.array([roll, 0.0, 0.0])))
    meeting = posed_pads(hand, natural_pinch(hand)).position[:2].mean(axis=0)
    return hw.Pose(np.array(WRIST_SHIFT) - rotation.rotate(wxyz, meeting), wxyz)


def pinch(hand: hw.HandModel, wrist: hw.Pose, opening: np.ndarray) -> np.ndarray:
    """Joint values with the pads of thumb and index on the two sides of the block.

    Args:
        hand: A human hand.
        wrist: In the frame of the block.
        opening: How far thumb and index pads stay off the sides, m.
    """
    points, normals = np.zeros((5, 3)), np.zeros((5, 3))
    points[0, 0], points[1, 0] = -WIDTH / 2 - opening[0], WIDTH / 2 + opening[1]
    normals[0, 0], normals[1, 0] = -1.0, 1.0
    active = np.array([True, True, False, False, False])
    natural = natural_pinch(hand)
    targets = DigitTargets(points, normals, active)
    apart = IkWeights(digit_margin=5e-4)
    return solve_ik(hand, natural, targets, root=wrist, reference=natural, weights=apart).q


def closed_on(hand: hw.HandModel, wrist: hw.Pose, block: hw.RigidBody) -> np.ndarray:
    """Joint values with the skin of both pads pressed onto the block."""
    exact, skin = ExactDistance.from_body(block), hw.skin_of(hand)
    opening = np.zeros(2)
    for _ in range(8):
        q = pinch(hand, wrist, opening)
        vertices = posed_skin(hand, skin, q, wrist)
        distance = exact.signed_distance(vertices)[0]
        thumb_side = vertices[:, 0] < 0.0
        gaps = np.array([distance[thumb_side].min(), distance[~thumb_side].min()])
        opening -= gaps + PRESSED
    return q


def grip(
    hand: hw.HandModel, block: hw.RigidBody
) -> tuple[hw.Pose, np.ndarray, tuple[JudgedContact, ...]]:
    """Wrist in the frame of the block, joint values, and where thumb and index then touch.

    The hand then slides along the flat sides until the block's centre is on the line between them.
    """
    wrist = wrist_over_block(hand)
    q = closed_on(hand, wrist, block)
    for _ in range(3):
        still = clip_of(hand, block, np.zeros(1), wrist[None], q[None], ORIGIN[None])
        found = hw.certify(still).frames[0].bodies["block"].contacts
        contacts = tuple(contact for contact in found if contact.gap < 1e-3)
        first, second = (contact.point for contact in contacts)
        passing = first + (first[0] / (first[0] - second[0])) * (second - first)
        if np.linalg.norm(passing) < 1e-6:
            break
        wrist = hw.Pose(wrist.position - passing, wrist.wxyz)
    return wrist, q, contacts


def clip_of(
    hand: hw.HandModel,
    block: hw.RigidBody,
    times: np.ndarray,
    root: hw.Pose,
    q: np.ndarray,
    pose: hw.Pose,
    environment: tuple[Surface, ...] = (),
) -> hw.Clip:
    """A clip of one hand and the block, without contacts."""
    problem = hw.Problem(
        "pinch lift", times, {"hand": hand}, {"block": block}, environment=environment
    )
    return hw.Clip(
        problem,
        times,
        {"hand": HandMotion(root, q)},
        {"block": pose},
        ContactTrack.empty(),
        Provenance("pinch lift", "scripted", version=hw.__version__),
    )


def pinch_lift(*, fps: float = FPS) -> hw.Clip:
    """Reach, close, lift, carry with a right hand: a clip with contacts and forces.

    Args:
        fps: Frames a second.
    """
    hand = hw.human()
    block = hw.make_shape("box", width=WIDTH, depth=DEPTH, height=HEIGHT)
    wrist, closed, pads = grip(hand, block)
    times = np.arange(round(DURATION * fps) + 1) / fps
    path = np.array([0.0, 0.0, TABLE + HEIGHT / 2]) + (
        minimum_jerk(times, *LIFTING)[:, None] * np.array([0.0, 0.0, 0.15])
        + minimum_jerk(times, *CARRYING)[:, None] * np.array([-0.05, -0.08, 0.03])
    )
    turn = minimum_jerk(times, *CARRYING)[:, None] * np.array([0.0, 0.0, -0.35])
    pose = hw.Pose(path, rotation.exp(turn))
    coming = (1.0 - minimum_jerk(times, *REACHING))[:, None] * np.array([-0.06, -0.02, 0.09])
    held = pose @ wrist
    opened = pinch(hand, wrist, np.array([0.016, 0.022]))
    closing = minimum_jerk(times, *CLOSING)[:, None]
    q = opened + closing * (closed - opened)
    root = hw.Pose(held.position + coming, held.wxyz)
    clip = clip_of(hand, block, times, root, q, pose, (table(TABLE),))
    return replace(clip, contacts=contacts_with_forces(clip, pads))


def contacts_with_forces(clip: hw.Clip, pads: tuple[JudgedContact, ...]) -> ContactTrack:
    """Contacts of pads and table; the load passes from one to the other before the block rises.

    Args:
        clip: The motion.
        pads: Where thumb and index touch, in the frame of the block.
    """
    block, pose = clip.problem.bodies["block"], clip.bodies["block"]
    wanted = required_wrench(Track(clip.times, pose), block)
    taken = np.clip((clip.times - CLOSING[1]) / (LIFTING[0] - CLOSING[1]), 0.0, 1.0)
    names = clip.problem.hands["hand"].capsules.names
    below = block.vertices[block.vertices[:, 2] < 0.0]
    rows = []
    for t, share in enumerate(taken):
        by_pads = [
            ("hand", names.index(p.part), pose[t].apply(p.point), pose[t].rotate(p.normal), p.gap)
            for p in pads
        ]
        by_table = [
            (ENVIRONMENT, 0, point, np.array([0.0, 0.0, 1.0]), 0.0)
            for point in pose[t].apply(below)
        ]
        for contacts, part in ((by_pads, share), (by_table, 1.0 - share)):
            if part == 0.0:
                continue
            found = least_forces(
                force_contacts(
                    np.array([contact[2] for contact in contacts]),
                    np.array([contact[3] for contact in contacts]),
                    center=wanted.center[t],
                    friction=block.friction,
                ),
                part * wanted.wrench[t],
                force_scale=9.81 * block.mass,
                length_scale=block.radius_of_gyration,
            )
            rows += [
                Contact(t, toucher, number, "block", point, normal, gap, force, ContactMode.STATIC)
                for (toucher, number, point, normal, gap), force in zip(
                    contacts, found.forces, strict=True
                )
            ]
    return ContactTrack.of(rows)


def main(folder: Path) -> None:
    """Makes the clip, prints the verdict, and writes a clip file, a strip and a .glb."""
    folder.mkdir(parents=True, exist_ok=True)
    clip = pinch_lift()
    print(hw.certify(clip))
    hw.export(clip, folder / "pinch_lift.npz")
    hw.export(clip, folder / "pinch_lift.glb")
    thumb_side = Camera(azimuth=np.radians(115.0), elevation=np.radians(17.0))
    hw.export(clip, folder / "pinch_lift.png", camera=thumb_side)
    print(f"Written to {folder}: clip, strip of pictures, and a .glb for Blender.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pinch_lift"))
