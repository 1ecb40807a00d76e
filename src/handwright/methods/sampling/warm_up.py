"""Compiling of all that an attempt uses, by several processes if there are some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast

import numpy as np

from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.kernels.packed import Packed
from handwright.kinematics.obstacles import seen_over
from handwright.kinematics.spacetime.motion import no_anchors, smooth_digits
from handwright.math.pose import Pose
from handwright.mechanics.frame_forces import forces_of_frames
from handwright.mechanics.wrench import no_contacts
from handwright.methods.sampling.finish.check import judge_motion, make_judged, take_step
from handwright.methods.sampling.finish.exact_depth import skin_depths
from handwright.methods.sampling.finish.smooth import reconstruct
from handwright.methods.sampling.search.carrying import grasp_worths, posed_frames
from handwright.methods.sampling.search.path import make_path
from handwright.methods.sampling.search.plan import Planner
from handwright.methods.sampling.search.step import Bench, walk
from handwright.methods.sampling.setup.hold_data import part_of_stage
from handwright.methods.sampling.setup.prepare import Prepared, joints_of, root_of
from handwright.methods.sampling.setup.wrapped_grasps import close_hands, closing_bench
from handwright.methods.workers import Crew, own_problem, own_search

if TYPE_CHECKING:
    from handwright.methods.sampling.contact_search import ContactSearch

_WARM_FRAMES = 4


def compile_early(crew: Crew) -> list[Future[None]]:
    """Lets a worker compile what needs no prepared problem; what it compiles is kept on disk."""
    return [] if crew.is_alone else [crew.submit(_compile_smoothing)]


def warm_up(one: Prepared, crew: Crew | None = None, early: Sequence[Future[None]] = ()) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it.

    Args:
        one: A holding.
        crew: Workers that take their share.
        early: What ``compile_early`` began.
    """
    bench = _short_bench(one)
    if crew is None or crew.is_alone:
        _compile_judging(one, bench)
        _compile_grasping(one, bench)
        reconstruct(one._replace(stage=bench.stage, start=one.first), bench.path)
        return
    # What calls the same kernels is compiled by the same process, or they would be compiled twice.
    jobs = [*early, crew.submit(_compile_own, _compile_grasping)]
    _compile_judging(one, bench)
    for job in jobs:
        job.result()


def _short_bench(one: Prepared) -> Bench:
    few = part_of_stage(one.stage, 0, _WARM_FRAMES)
    path = make_path(one.stage, _WARM_FRAMES)
    path.q[:] = one.stage.rest
    return Bench(few, one.candidates, one.steps, path, one.room)


def _compile_own(compile_some: Callable[[Prepared, Bench], None]) -> None:
    """Compiles for the problem as this worker has prepared it.

    Arrays that are handed from process to process may be written to, even if they could not be
    before, and numba would compile for others than are used later.
    """
    one = cast("ContactSearch", own_search()).prepared[0]
    compile_some(one, _short_bench(one))


def _compile_judging(one: Prepared, bench: Bench) -> None:
    """Steps, walks, and what finished motions are judged by."""
    packed, q = Packed(bench), bench.path.q
    take_step(packed, 0, Packed(bench.room.before), True)
    walk(packed, 0, 1, q)
    judge_motion(
        bench.stage, q, bench.room, make_judged(_WARM_FRAMES, len(bench.room.found.capsule))
    )
    forces_of_frames(
        no_contacts(0), np.zeros(2), bench.stage.wrench[:1], force_scale=1.0, length_scale=1.0
    )
    root = root_of(one, 0)[:_WARM_FRAMES]
    skin_depths(
        one.models[0], q[:, joints_of(one, 0)], root, bench.stage.field, one.distance,
        bench.stage.environment,
    )  # fmt: skip


def _compile_grasping(one: Prepared, bench: Bench) -> None:
    packed, digits = Packed(bench), len(bench.stage.hand_of_digit)
    nobody = np.full((1, digits), -1)
    grasp_worths(packed, nobody, len(bench.candidates.frame), np.zeros((0, 3)), np.zeros(1))
    posed_frames(packed, 1.0)
    rng = np.random.default_rng(0)
    planner = Planner(bench.stage, bench.candidates, bench.path, one.policy, packed, rng)
    planner.draw(0, {})
    if one.policy.wraps:
        close_hands(closing_bench(bench.stage, bench), bench.stage.rest)


def _compile_smoothing() -> None:
    """As in ``reconstruct``, for any hand and body."""
    problem = own_problem()
    model = next(iter(problem.hands.values()))
    body, poses = next(iter(problem.bodies.values())), Pose.identity(_WARM_FRAMES)
    smooth_digits(
        model,
        poses,
        np.tile(model.pose("rest"), (_WARM_FRAMES, 1)),
        no_anchors(),
        field=signed_distance_field(body),
        environment=seen_over(pack_environment(problem.environment), poses),
    )
