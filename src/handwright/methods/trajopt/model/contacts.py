"""Contacts that can carry force: digits, palms, surfaces that the body may lie on, strokes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.geometry.distance.environment import EnvironmentArrays, pack_environment
from handwright.methods.trajopt.model.hands import TranscribedHand
from handwright.methods.trajopt.model.model import (
    ENVIRONMENT_CONTACT,
    HAND_CONTACT,
    Contacts,
    columns,
)

# Least squeeze of fingers and palms relative to a thumb's: together they press as hard as it does.
_FINGER_SHARE = 0.25


class ContactEntry(NamedTuple):
    """One contact, as the columns of ``Contacts`` list it."""

    name: str
    """Hand and digit, such as "right.index"."""
    friction: float
    hand: int = -1
    """Number of the hand; -1 for the environment."""
    capsules: tuple[int, ...] = ()
    surface: int = -1
    squeeze: float = 0.0
    min_force: float = 0.0
    slides: bool = False
    pad_joint: int = -1
    pad: Float[np.ndarray, "3"] = np.zeros(3)


def environment_arrays(problem: Problem) -> tuple[EnvironmentArrays, Int[np.ndarray, " S"]]:
    """Surfaces as arrays, and the number in the problem of each (planes come first)."""
    order = [n for n, s in enumerate(problem.environment) if isinstance(s, HalfSpace)]
    order += [n for n, s in enumerate(problem.environment) if isinstance(s, EnvironmentBox)]
    return pack_environment(problem.environment), np.array(order, dtype=np.int64)


def list_contacts(
    problem: Problem,
    hands: tuple[TranscribedHand, ...],
    body: RigidBody,
    supports: Float[np.ndarray, "supports 3"],
) -> list[ContactEntry]:
    """All contacts in the order of the model: hands, surfaces, strokes.

    A hand has a contact for the last segment of every digit, and one for its palm. Each of the
    points ``supports`` of the body, in its frame, m, has a contact with every surface.
    """
    env, surfaces = environment_arrays(problem)
    entries = list(_hand_contacts(hands, body.friction))
    for number in range(len(env.frictions)):
        friction = float(env.frictions[number])
        entries += [
            ContactEntry("environment", friction, surface=number, pad=point) for point in supports
        ]
    weight = body.mass * float(np.linalg.norm(problem.gravity))
    for stroke in problem.strokes:
        number = int(np.flatnonzero(surfaces == stroke.surface)[0])
        entries.append(
            ContactEntry(
                "stroke",
                float(env.frictions[number]),
                surface=number,
                min_force=stroke.force / weight,
                slides=True,
                pad=np.array(stroke.point - body.center),
            )
        )
    return entries


def _hand_contacts(hands: tuple[TranscribedHand, ...], friction: float) -> Iterator[ContactEntry]:
    """Digits of each hand, then its palm."""
    first_capsule = 0
    for h, hand in enumerate(hands):
        c, movable = hand.model.capsules, hand.movable_capsules
        for d, digit in enumerate(hand.model.digits):
            own = [k for k, n in enumerate(movable) if c.digit[n] == d]
            last_link = max(int(c.link[movable[k]]) for k in own)
            yield ContactEntry(
                f"{hand.name}.{digit.name}",
                friction,
                hand=h,
                capsules=tuple(first_capsule + k for k in own if c.link[movable[k]] == last_link),
                squeeze=1.0 if digit.name == "thumb" else _FINGER_SHARE,
                pad_joint=hand.joint_of_link(digit.pad.link),
                pad=np.array(digit.pad.position),
            )
        palm = tuple(
            first_capsule + k
            for k, n in enumerate(movable)
            if c.digit[n] < 0 and c.link[n] >= hand.model.wrist_link and c.names[n] != "wrist"
        )
        if palm:
            name = f"{hand.name}.palm"
            yield ContactEntry(name, friction, hand=h, capsules=palm, squeeze=_FINGER_SHARE)
        first_capsule += len(movable) + len(hand.stub_capsules)


def make_contacts(entries: list[ContactEntry]) -> Contacts:
    """Contacts as columns."""
    ends = np.cumsum([0, *(len(entry.capsules) for entry in entries)])
    kind = [ENVIRONMENT_CONTACT if entry.hand < 0 else HAND_CONTACT for entry in entries]
    members = [capsule for entry in entries for capsule in entry.capsules]
    own = ("surface", "friction", "squeeze", "min_force", "slides", "pad_joint", "pad")
    return Contacts(
        kind=np.array(kind),
        first=np.array(ends[:-1]),
        last=np.array(ends[1:]),
        capsules=np.array(members, dtype=np.int64),
        **columns(entries, own),
    )
