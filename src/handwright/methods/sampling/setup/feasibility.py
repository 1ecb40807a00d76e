"""Whether a problem can be solved at all, asked before any search.

``find_infeasibility`` asks tracks, shapes and strengths only, so that its answer comes at once.
``find_search_infeasibility`` asks what has been prepared for the search.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

from handwright.contact.leaps import jumping_steps, pose_speeds
from handwright.core.problem import Problem
from handwright.core.tolerances import DIGIT_FORCE, LEAP_SPEED
from handwright.core.track import Track
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.mechanics import required_wrench
from handwright.methods.sampling.setup.intervals import (
    CarryInterval,
    find_carry_intervals,
    ground_contacts,
    hands_needed,
    weight_of,
)
from handwright.methods.sampling.setup.limits import TOLERANCES
from handwright.methods.sampling.setup.palms import palm_depths, palm_touches, reach_of
from handwright.methods.sampling.setup.prepare import HoldSearch

# Radius of a hand about its wrist, m, as far as leaps go.
_HAND_RADIUS = 0.1
_EDGES = 12
# A body that moves less than _STILL, m/s, so little above the surroundings, m, may be meant to
# rest on them.
_STILL, _HOVERING = 2e-3, 0.1


def find_infeasibility(
    problem: Problem, *, cutoff_hz: float | None, max_force: float
) -> str | None:
    """A sentence on what is wrong, where, and what to change; None if nothing can be said yet.

    Accelerations of noisy tracks are filtered at ``cutoff_hz``. The sum of the normal forces of all
    hands is limited, in weights of the body.
    """
    return next(filter(None, _find_faults(problem, cutoff_hz, max_force)), None)


def _find_faults(
    problem: Problem, cutoff_hz: float | None, max_force: float
) -> Iterator[str | None]:
    """What each check says in turn."""
    yield _find_leap(problem)
    intervals = find_carry_intervals(problem, cutoff_hz=cutoff_hz)
    if not intervals:
        yield (
            f"No body needs a hand in any of the {len(problem.times)} frames: nothing to solve. "
            "Check that the body's track leaves its support."
        )
    exact = {name: ExactDistance.from_body(body) for name, body in problem.bodies.items()}
    for interval in intervals:
        if problem.bodies[interval.body].friction <= 0.0:
            yield (
                f"Body '{interval.body}' has friction 0: fingers cannot hold it against gravity "
                f"from frame {interval.start}. Give it friction."
            )
        yield _find_unreachable_frames(problem, interval, exact[interval.body], cutoff_hz)
    yield _find_buried_palm(problem, exact)
    for interval in intervals:
        yield _find_excessive_force(problem, interval, exact[interval.body], cutoff_hz, max_force)


def find_search_infeasibility(holds: list[HoldSearch], *, settings: str = "") -> str | None:
    """A sentence on why a problem that has been prepared cannot be searched; None if it can.

    It names the settings that keep digits from candidates.
    """
    if not holds:
        return (
            "No body needs a hand, or no hand comes near one that does: nothing to solve. Check "
            "that the body's track leaves its support and that the wrist's track is near it."
        )
    for hold in holds:
        if hold.infeasibility:
            return hold.infeasibility
        touched = np.isfinite(hold.candidates.cost).any(axis=1)
        if not touched.any():
            remedy = f"Loosen {settings}, bring" if settings else "Bring"
            return (
                f"No finger can reach body '{hold.interval.body}' anywhere from frame {hold.start} "
                f"to {hold.stop - 1}. {remedy} the wrist nearer, or check the frames and units of "
                "the tracks."
            )
    return None


def _find_leap(problem: Problem) -> str | None:
    """A sentence on a body or a wrist that leaps between two frames."""
    times = problem.times
    for name in (*problem.bodies, *problem.hands):
        pose = problem.track(name).at(times)
        radius = _HAND_RADIUS
        if name in problem.bodies:
            radius = float(np.linalg.norm(problem.bodies[name].vertices, axis=1).max())
        speed = pose_speeds(pose, times, radius)
        leaps = np.flatnonzero(jumping_steps(speed, times, LEAP_SPEED))
        if leaps.size:
            step = int(leaps[speed[leaps].argmax()])
            what = "Body" if name in problem.bodies else "The wrist of"
            return (
                f"{what} '{name}' leaps from frame {step} to {step + 1}, at {speed[step]:.3g} m/s "
                "while it is slow before and after. Mend its track there, or cut the motion in two."
            )
    return None


def _find_unreachable_frames(
    problem: Problem, interval: CarryInterval, exact: ExactDistance, cutoff_hz: float | None
) -> str | None:
    """A sentence on frames in which the body is farther away than any hand reaches."""
    needed = np.flatnonzero(hands_needed(problem, interval.body, cutoff_hz=cutoff_hz))
    needed = needed[(needed >= interval.start) & (needed < interval.stop)]
    back = problem.track(interval.body).at(problem.times)[needed].inverse()
    nearest, missing, whose = np.full(len(needed), np.inf), np.full(len(needed), np.inf), ""
    for name, model in problem.hands.items():
        wrist = (back @ problem.track(name).at(problem.times)[needed]).position
        distance = exact.signed_distance(wrist)[0]
        short = distance - reach_of(model) - TOLERANCES.gap
        if short.min() < missing.min():
            whose = name
        nearest, missing = np.minimum(nearest, distance), np.minimum(missing, short)
    out = np.flatnonzero(missing > 0.0)
    if out.size == 0:
        return None
    worst = int(out[missing[out].argmax()])
    return (
        f"Body '{interval.body}' is out of reach in {len(out)} of the {len(needed)} frames in "
        f"which it needs a hand, first in frame {needed[out[0]]}: in frame {needed[worst]} the "
        f"nearest wrist, '{whose}', is {nearest[worst]:.3g} m away from its surface. Bring the "
        f"wrist nearer by {missing[worst]:.3g} m or more, or check the frames and units of the "
        "tracks." + _describe_hovering(problem, interval.body, int(needed[out[0]]))
    )


def _describe_hovering(problem: Problem, name: str, frame: int) -> str:
    """A sentence on a body that stands still in the air just above the surroundings, or none."""
    pose = problem.track(name).at(problem.times)
    step = slice(max(frame - 1, 0), frame + 2)
    if pose_speeds(pose[step], problem.times[step], _HAND_RADIUS).max() > _STILL:
        return ""
    points = pose[frame].apply(problem.bodies[name].vertices)
    found = [surface_distance(surface, points)[0].min() for surface in problem.environment]
    height = min((float(distance) for distance in found), default=np.inf)
    if not TOLERANCES.gap < height < _HOVERING:
        return ""
    return (
        f" It hovers there, {1e3 * height:.1f} mm above the surroundings: if it should rest on "
        "them, lower its track by that much, or swap bodies by with_body(..., stand=True)."
    )


def _find_buried_palm(problem: Problem, exact: dict[str, ExactDistance]) -> str | None:
    """A sentence on a palm whose bones lie in a body, whatever the fingers do."""
    for name, model in problem.hands.items():
        root = problem.track(name).at(problem.times)
        for body, distance in exact.items():
            pose = problem.track(body).at(problem.times)
            depth = palm_depths(model, pose.inverse() @ root, problem.bodies[body], distance)
            inside = np.flatnonzero(depth > 0.0)
            if inside.size:
                worst = int(depth.argmax())
                return (
                    f"The palm of '{name}' is inside body '{body}' in {len(inside)} frames, first "
                    f"in frame {inside[0]}; deepest, by {1e3 * depth[worst]:.0f} mm, in frame "
                    f"{worst}. Move the wrist's track away from the body by more than that."
                )
    return None


def _find_excessive_force(
    problem: Problem,
    interval: CarryInterval,
    exact: ExactDistance,
    cutoff_hz: float | None,
    max_force: float,
) -> str | None:
    """A sentence on a force that surroundings, palms and digits cannot give, wherever they touch.

    Moments are left out, and digits may push from anywhere: what fails here fails in any search.
    """
    if not interval.hands:
        return None
    body = problem.bodies[interval.body]
    pose = problem.track(interval.body).at(problem.times)
    wanted = required_wrench(
        Track(problem.times, pose), body, gravity=problem.gravity, cutoff_hz=cutoff_hz
    )
    weight = weight_of(problem, body)
    most = max_force * weight * float(np.hypot(1.0, body.friction))
    digits = DIGIT_FORCE * sum(len(model.digits) for model in interval.hands.values())
    size = np.linalg.norm(wanted.force, axis=1)
    frames = np.flatnonzero(size > min(most, digits))
    frames = frames[(frames >= interval.start) & (frames < interval.stop)]
    if frames.size == 0:
        return None
    ground = ground_contacts(problem, body, pose, problem.times)
    worst: dict[str, tuple[float, int]] = {}
    for t in frames.tolist():
        rows = slice(ground.first[t], ground.first[t + 1])
        normals = pose[t].rotate(ground.normal[rows])
        left = _force_outside_cones(wanted.force[t], normals, ground.friction[rows])
        if left > most:
            worst["most"] = max(worst.get("most", (0.0, t)), (left / most, t))
        found = [
            palm_touches(model, pose[t].inverse() @ problem.track(name).at(problem.times)[t], exact)
            for name, model in interval.hands.items()
        ]
        palms = pose[t].rotate(np.concatenate(found))
        normals = np.concatenate([normals, palms])
        friction = np.append(ground.friction[rows], np.full(len(palms), body.friction))
        left = _force_outside_cones(wanted.force[t], normals, friction)
        if left > digits:
            worst["digits"] = max(worst.get("digits", (0.0, t)), (left / digits, t))
    if "digits" in worst:
        times, t = worst["digits"]
        return (
            f"Body '{interval.body}' needs {size[t]:.0f} N at frame {t} ({body.mass:.3g} kg), "
            f"{times:.2g} times what the fingers of {', '.join(interval.hands)} can give: "
            f"{digits:.3g} N, {DIGIT_FORCE:.3g} N each. Make it lighter, slow its track down, or "
            "let another hand or the palm carry it."
        )
    if "most" in worst:
        times, t = worst["most"]
        return (
            f"Body '{interval.body}' needs {size[t] / weight:.3g} times its weight at frame {t}, "
            f"{times:.2g} times what hands may give. Slow its track down there, smooth it "
            f"(smoothing_hz), or raise max_force above {max_force:g}."
        )
    return None


def _force_outside_cones(
    force: Float[np.ndarray, " 3"],
    normals: Float[np.ndarray, "N 3"],
    friction: Float[np.ndarray, " N"],
) -> float:
    """Least part of a force that pushes within friction cones cannot give, N."""
    if len(normals) == 0:
        return float(np.linalg.norm(force))
    first = np.cross(np.eye(3)[np.abs(normals).argmin(axis=1)], normals)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(normals, first)
    angle = np.linspace(0.0, 2.0 * np.pi, _EDGES, endpoint=False)
    # Pyramids around the cones: more than the cones can give, so that nothing is refused wrongly.
    width = friction / np.cos(np.pi / _EDGES)
    edges = normals[:, None] + width[:, None, None] * (
        np.cos(angle)[:, None] * first[:, None] + np.sin(angle)[:, None] * second[:, None]
    )
    return float(nnls(edges.reshape(-1, 3).T, force)[1])
