"""Motions of all holds put together into one clip."""

from __future__ import annotations

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.methods.sampling.attempt import HoldMotion
from handwright.methods.sampling.setup.prepare import HoldSearch


def assemble_clip(
    problem: Problem, holds: list[HoldSearch], parts: tuple[HoldMotion, ...], method_name: str
) -> Clip:
    """A clip of a solution, which has one motion for each hold."""
    times = problem.times
    joints = {
        name: np.tile(model.pose("rest"), (len(times), 1)) for name, model in problem.hands.items()
    }
    contacts = []
    for hold, part in zip(holds, parts, strict=True):
        frames = slice(hold.first, hold.first + len(part.q))
        for h, name in enumerate(hold.interval.hands):
            shift = int(hold.data.offset[h])
            joints[name][frames] = part.q[:, shift : shift + hold.models[h].num_joints]
        contacts.append(_contacts(problem, hold, part))
    return Clip(
        problem=problem,
        times=times,
        hands={name: HandMotion(problem.track(name).at(times), q) for name, q in joints.items()},
        bodies={name: problem.track(name).at(times) for name in problem.bodies},
        contacts=_joined(problem, contacts),
        provenance=Provenance(problem.name, method_name),
    )


def _contacts(problem: Problem, hold: HoldSearch, part: HoldMotion) -> dict[str, np.ndarray]:
    """Contacts of one hold in the world, as columns."""
    found, hands = part.contacts, hold.hands
    frame, capsule = found.frame + hold.first, found.capsule
    pose = problem.track(hold.interval.body).at(problem.times)[frame]
    is_ground = capsule < 0
    safe = np.where(is_ground, 0, capsule)
    hand = hands.hand_of_capsule[safe]
    touchers = list(problem.hands)
    rows = np.array([touchers.index(name) for name in hold.interval.hands])
    return {
        "frame": frame,
        "toucher": np.where(is_ground, len(touchers), rows[hand]),
        "part": np.where(is_ground, -1 - capsule, safe - hands.first_capsule[hand]),
        "body": np.full(len(frame), list(problem.bodies).index(hold.interval.body)),
        "point": pose.apply(found.point),
        "normal": pose.rotate(found.normal),
        "gap": found.gap,
        "force": pose.rotate(found.force),
        "mode": np.where(found.slides, int(ContactMode.SLIDING), int(ContactMode.STATIC)),
    }


def _joined(problem: Problem, contacts: list[dict[str, np.ndarray]]) -> ContactTrack:
    if not contacts:
        return ContactTrack.empty()
    columns = {name: np.concatenate([part[name] for part in contacts]) for name in contacts[0]}
    order = np.argsort(columns["frame"], kind="stable")
    columns["normal"] = columns["normal"] / np.linalg.norm(columns["normal"], axis=1, keepdims=True)
    return ContactTrack(
        (*problem.hands, ENVIRONMENT),
        tuple(problem.bodies),
        **{name: column[order] for name, column in columns.items()},
    )
