"""ManipNet's published metrics of physics (Zhang et al. 2021, section 8 and appendix A).

The paper leaves choices open that decide the numbers: above all the distance at which a capsule
counts as touching, the speed at which it counts as sliding, and the frames that are counted. They
are settings here, and are printed beside every figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence.certificate.dynamics import required_wrench
from handwright.evidence.certificate.forces import tangents
from handwright.evidence.contacts.probes import capsule_gaps
from handwright.evidence.contacts.slip import LinkMotion, across, material_slips
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.kinematics.fk import link_poses, posed_capsules

Cone = Literal["inscribed", "circumscribed"]


@dataclass(frozen=True, slots=True)
class PublishedConventions:
    """Choices that the published metrics depend on."""

    contact_distance: float = 0.003
    """Gap up to which a capsule touches, m."""
    sliding_speed: float = 0.1
    """Sliding speed above which a contact has one force direction instead of a cone, m/s;
    infinity if none ever has."""
    only_airborne: bool = True
    """Whether frames in which the body touches the surroundings are left out."""
    airborne_gap: float = 0.005
    """Distance from the surroundings at which a body is off them, m."""
    fps: float = 60.0
    """Rate that faster clips are thinned out to, 1/s."""
    friction: float = 0.35
    cone: Cone = "inscribed"
    """Where the four edges lie: on Coulomb's cone (friction falls short of it between them), or at
    the corners of the square around it (friction exceeds it there by up to 41 %)."""
    mass: float = 1.0
    """kg; the inertia is that of the solid mesh with this mass."""
    threshold: float = 0.01
    """Largest residual of a frame that counts as explained, in N and N m together."""
    max_penetration: float = 0.015
    """Frames with a deeper capsule are left out, m."""

    def __post_init__(self) -> None:
        if (
            not (0.0 < self.fps < np.inf and 0.0 < self.mass < np.inf)
            or not 0.0 <= self.contact_distance < np.inf
            or not self.sliding_speed >= 0.0
        ):
            raise InvalidValueError(
                f"PublishedConventions: fps {self.fps}, mass {self.mass}, contact_distance "
                f"{self.contact_distance}, sliding_speed {self.sliding_speed}; expected fps and "
                "mass above zero, distance and speed 0 or more; only the speed may be infinite."
            )
        if self.cone not in get_args(Cone):
            raise UnknownNameError("cone", self.cone, get_args(Cone))

    def __str__(self) -> str:
        frames = "off the surroundings" if self.only_airborne else "all"
        return (
            f"contact at {1e3 * self.contact_distance:g} mm, sliding above "
            f"{self.sliding_speed:g} m/s, frames {frames}, {self.fps:g} Hz, four-edge cones "
            f"{self.cone}, friction {self.friction:g}, mass {self.mass:g} kg, residual below "
            f"{self.threshold:g}, frames deeper than {1e2 * self.max_penetration:g} cm left out"
        )


class Realism(NamedTuple):
    """The published figures of one body."""

    percent: float
    """Share of the counted frames that forces of the hands explain; NaN if none is counted."""
    counted: int
    """Number of frames counted."""
    penetration: float
    """Mean depth over the pairs of frame and capsule that penetrate, cm."""
    deepest: float
    """cm."""
    residual: Float[np.ndarray, " T"]
    """Of each frame; NaN where it is not counted."""


def thinned(clip: Clip, fps: float) -> Clip:
    """The clip at a lower frame rate: for each new frame the nearest old one; without contacts."""
    if clip.num_frames < 2 or clip.fps <= 1.01 * fps:
        return clip
    span = float(clip.times[-1] - clip.times[0])
    wanted = clip.times[0] + np.arange(int(span * fps + 1e-6) + 1) / fps
    after = np.clip(np.searchsorted(clip.times, wanted - 1e-9), 1, clip.num_frames - 1)
    nearer = wanted - clip.times[after - 1] < clip.times[after] - wanted - 1e-9
    keep = np.unique(np.where(nearer, after - 1, after))
    return replace(
        clip,
        times=clip.times[keep],
        hands={name: HandMotion(m.root[keep], m.q[keep]) for name, m in clip.hands.items()},
        bodies={name: pose[keep] for name, pose in clip.bodies.items()},
        contacts=ContactTrack.empty(),
    )


class CapsuleContacts(NamedTuple):
    """Every capsule of every hand against one body, over the frames of a clip."""

    gap: Float[np.ndarray, "T C"]
    """m; infinity where far away."""
    point: Float[np.ndarray, "T C 3"]
    """On the body, in the world, m."""
    normal: Float[np.ndarray, "T C 3"]
    """Into the body."""
    velocity: Float[np.ndarray, "T C 3"]
    """Of the capsule over the body, across the normal, m/s."""


def capsule_contacts(clip: Clip, name: str, *, reach: float) -> CapsuleContacts:
    """Gaps, points and sliding velocities of all capsules within ``reach`` (m) of a body."""
    pose, times = clip.bodies[name], clip.times
    exact = ExactDistance.from_body(clip.problem.bodies[name])
    back, columns = pose.inverse()[:, None], []
    for hand, motion in clip.hands.items():
        model = clip.problem.hands[hand]
        world = posed_capsules(model, motion.q, motion.root)
        start, end = back.apply(world.start), back.apply(world.end)
        shape = start.shape[:2]
        found = capsule_gaps(
            exact, start.reshape(-1, 3), end.reshape(-1, 3), np.tile(world.radius, len(times)),
            reach=reach,
        )  # fmt: skip
        point = pose[:, None].apply(found.point.reshape(*shape, 3))
        normal = -pose[:, None].rotate(found.outward.reshape(*shape, 3))
        frame, capsule = np.indices(shape).reshape(2, -1)
        links = LinkMotion(*link_poses(model, motion.q, motion.root))
        velocity = material_slips(
            times, links, pose, frame, model.capsules.link[capsule], point.reshape(-1, 3)
        ).mean
        velocity = across(velocity, normal.reshape(-1, 3)).reshape(*shape, 3)
        columns.append(CapsuleContacts(found.gap.reshape(shape), point, normal, velocity))
    if not columns:
        none = np.zeros((len(times), 0, 3))
        return CapsuleContacts(none[..., 0], none, none, none)
    return CapsuleContacts(*(np.concatenate(parts, axis=1) for parts in zip(*columns, strict=True)))


def physical_realism(
    clip: Clip,
    name: str,
    conventions: PublishedConventions | None = None,
    *,
    found: CapsuleContacts | None = None,
) -> Realism:
    """The published metrics of physics for one body of a clip.

    Args:
        clip: The motion; thinned out here if it is faster than the conventions say.
        name: Of the body.
        conventions: Open choices of the paper.
        found: Contacts of the thinned clip from ``capsule_contacts``, to use them again.
    """
    conventions = PublishedConventions() if conventions is None else conventions
    clip = thinned(clip, conventions.fps)
    if found is None:
        found = capsule_contacts(clip, name, reach=max(conventions.contact_distance, 0.005))
    body = clip.problem.bodies[name].with_mass(conventions.mass)
    wrench = required_wrench(body, clip.bodies[name], clip.times, clip.problem.gravity)
    wanted = np.concatenate([wrench.force, wrench.moment], axis=1)
    deepest = np.maximum(-found.gap, 0.0).max(axis=1, initial=0.0)
    counted = deepest < conventions.max_penetration
    if conventions.only_airborne:
        counted &= _airborne(clip, name, conventions.airborne_gap)
    residual = np.full(clip.num_frames, np.nan)
    for t in np.flatnonzero(counted):
        touching = found.gap[t] <= conventions.contact_distance
        generators = _generators(
            found.normal[t, touching], found.velocity[t, touching],
            found.point[t, touching] - wrench.center[t], clip.problem.gravity, conventions,
        )  # fmt: skip
        if generators.shape[1] == 0:
            residual[t] = np.linalg.norm(wanted[t])
        else:
            residual[t] = nnls(generators, wanted[t])[1]
    depths = -found.gap[found.gap < 0.0]
    explained = residual[counted] < conventions.threshold
    return Realism(
        percent=100.0 * float(explained.mean()) if counted.any() else float("nan"),
        counted=int(counted.sum()),
        penetration=100.0 * float(depths.mean()) if depths.size else 0.0,
        deepest=100.0 * float(depths.max(initial=0.0)),
        residual=residual,
    )


def sweep_contact_distance(
    clip: Clip,
    name: str,
    distances: tuple[float, ...] = (0.0, 0.002, 0.003, 0.005),
    conventions: PublishedConventions | None = None,
) -> dict[float, float]:
    """Physical realism, %, at several contact distances, m."""
    conventions = PublishedConventions() if conventions is None else conventions
    thin = thinned(clip, conventions.fps)
    found = capsule_contacts(thin, name, reach=max(distances))
    return {
        distance: physical_realism(
            thin, name, replace(conventions, contact_distance=distance), found=found
        ).percent
        for distance in distances
    }


def _generators(
    normal: Float[np.ndarray, "N 3"],
    velocity: Float[np.ndarray, "N 3"],
    arm: Float[np.ndarray, "N 3"],
    gravity: Float[np.ndarray, "3"],
    conventions: PublishedConventions,
) -> Float[np.ndarray, "6 K"]:
    """Wrenches of the edges of the cones, one column each; one only for a sliding contact."""
    mu = conventions.friction
    speed = np.linalg.norm(velocity, axis=1)
    slides = speed > conventions.sliding_speed
    first, second = _level_tangents(normal, gravity)
    if conventions.cone == "circumscribed":
        first, second = first + second, first - second
    directions = [normal + mu * side for side in (first, -first, second, -second)]
    along = velocity / np.maximum(speed, 1e-12)[:, None]
    edges = np.concatenate([*(d[~slides] for d in directions), (normal + mu * along)[slides]])
    arms = np.concatenate([*[arm[~slides]] * 4, arm[slides]])
    return np.concatenate([edges, np.cross(arms, edges)], axis=1).T


def _level_tangents(
    normal: Float[np.ndarray, "N 3"], gravity: Float[np.ndarray, "3"]
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """One direction across each normal is level, so that turning the world changes no cone."""
    first, second = tangents(normal)
    level = np.cross(gravity, normal)
    length = np.linalg.norm(level, axis=1, keepdims=True)
    is_steep = length[:, 0] > 1e-6 * max(float(np.linalg.norm(gravity)), 1e-12)
    first = np.where(is_steep[:, None], level / np.where(length > 0.0, length, 1.0), first)
    second = np.where(is_steep[:, None], np.cross(normal, first), second)
    return first, second


def _airborne(clip: Clip, name: str, gap: float) -> Bool[np.ndarray, " T"]:
    surfaces = clip.problem.environment
    if not surfaces:
        return np.ones(clip.num_frames, dtype=bool)
    vertices = clip.problem.bodies[name].vertices
    return np.array(
        [
            min(float(surface_distance(s, pose.apply(vertices))[0].min()) for s in surfaces) > gap
            for pose in clip.bodies[name]
        ]
    )
