"""Bodies that no hand touches: they fall, land, slide and rest, by impulses one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.contact import ENVIRONMENT, Contact, ContactMode
from handwright.core.tolerances import STATIC_SPEED
from handwright.math.vectors import cross, length
from handwright.methods.stepwise.contacts.proximity import (
    BodyProximity,
    NearCorners,
    joined_corners,
)
from handwright.methods.stepwise.contacts.resting_kernels import (
    InverseMass,
    SupportCorners,
    support_impulses,
)
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.dynamics import FrameDynamics
from handwright.methods.stepwise.world import World


class Support(NamedTuple):
    """Forces of surfaces on one body in a frame; K points."""

    body: int
    corner: Int[np.ndarray, " K"]
    surface: Int[np.ndarray, " K"]
    """Rows of the world's."""
    point: Float[np.ndarray, "K 3"]
    normal: Float[np.ndarray, "K 3"]
    gap: Float[np.ndarray, " K"]
    force: Float[np.ndarray, "K 3"]
    slip: Float[np.ndarray, "K 3"]
    """Slip of the surface over the body, m/s."""


class Resting(NamedTuple):
    """What surfaces do to bodies that no hand touches."""

    supports: tuple[Support, ...]
    wrench: Float[np.ndarray, "B 6"]
    """Force and moment about the centre of mass."""

    def contacts(self, world: World, frame: int) -> list[Contact]:
        """Contacts that carry force, as a clip lists them."""
        return [
            Contact(
                frame=frame,
                toucher=ENVIRONMENT,
                part=int(world.surface_number[support.surface[k]]),
                body=world.bodies[support.body].name,
                point=support.point[k],
                normal=support.normal[k],
                gap=float(support.gap[k]),
                force=support.force[k],
                mode=ContactMode.SLIDING
                if np.linalg.norm(support.slip[k]) > STATIC_SPEED
                else ContactMode.STATIC,
            )
            for support in self.supports
            for k in range(len(support.gap))
            if support.force[k].any()
        ]


def rest_bodies(
    frame: Frame,
    between: list[BodyProximity],
    active: set[int],
    dynamics: FrameDynamics,
    last: tuple[Support, ...],
) -> Resting:
    """Solves bodies that no hand touches; their motion is known to the hands from then on.

    Args:
        frame: States before it.
        between: Corners near surfaces.
        active: Bodies that are left to the step.
        dynamics: Equations of motion; velocities and inverse masses of these bodies are replaced.
        last: Supports of the last frame: what lay goes on as it did, if nothing else happens.
    """
    supports, wrench = [], np.zeros((len(frame.bodies), 6))
    for n, now in enumerate(frame.bodies):
        if n in active:
            continue
        own = slice(6 * n, 6 * n + 6)
        near = [meeting for meeting in between if meeting.body == n and meeting.other < 0]
        if near:
            corners = joined_corners(near)
            guess = _go_on(corners, [one for one in last if one.body == n], frame.step)
            support, velocity = _support(frame, n, corners, dynamics, guess)
            supports.append(support)
            wrench[n, :3] = support.force.sum(axis=0)
            wrench[n, 3:] = np.cross(support.point - now.center, support.force).sum(axis=0)
            dynamics.free[own] = velocity
        dynamics.inverse[own, own] = 0.0
    return Resting(tuple(supports), wrench)


def _go_on(near: NearCorners, last: list[Support], step: float) -> Float[np.ndarray, "V 3"]:
    """Impulses of corners that carried a body in the last frame, N s; none for the others."""
    guess = np.zeros((len(near.gap), 3))
    for support in last:
        for corner, surface, force in zip(
            support.corner, support.surface, support.force, strict=True
        ):
            guess[(near.corner == corner) & (near.surface == surface)] = step * force
    return guess


def _support(
    frame: Frame,
    n: int,
    near: NearCorners,
    dynamics: FrameDynamics,
    guess: Float[np.ndarray, "V 3"],
) -> tuple[Support, Float[np.ndarray, "6"]]:
    """Forces of surfaces on a body, and its velocity with them."""
    world, body, now, step = frame.world, frame.world.bodies[n], frame.bodies[n], frame.step
    own = slice(6 * n, 6 * n + 6)
    arms = body.corners[near.corner] @ now.rotation.T
    velocity, chosen, impulse = support_impulses(
        InverseMass(body.body.mass, np.ascontiguousarray(dynamics.inverse[own, own][3:, 3:])),
        dynamics.free[own],
        SupportCorners(arms, near.gap, near.normal, world.surfaces.frictions[near.surface]),
        guess,
        step * body.body.mass * length(world.gravity),
        step,
    )
    arm, normal = arms[chosen], near.normal[chosen]
    moved = velocity[:3] + cross(velocity[3:], arm)
    slip = -(moved - np.einsum("ki,ki->k", moved, normal)[:, None] * normal)
    support = Support(
        n,
        near.corner[chosen],
        near.surface[chosen],
        now.center + arm,
        normal,
        near.gap[chosen],
        impulse / step,
        slip,
    )
    return support, velocity
