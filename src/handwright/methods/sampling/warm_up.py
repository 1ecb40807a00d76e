"""Compiling of all that an attempt uses, by several processes if there are some."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast

import numpy as np

from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.kernels.packed import Packed
from handwright.kinematics.obstacles import Obstacles, seen_over
from handwright.kinematics.spacetime.motion import no_anchors, smooth_digits
from handwright.math.pose import Pose
from handwright.mechanics.frame_forces import forces_of_frames
from handwright.mechanics.wrench import no_contacts
from handwright.methods.sampling.finish.check import check_motion
from handwright.methods.sampling.finish.exact_depth import skin_depths
from handwright.methods.sampling.finish.smooth import smooth_path
from handwright.methods.sampling.search.carrying import count_posed_key_frames, score_grasps
from handwright.methods.sampling.search.plan import Planner
from handwright.methods.sampling.search.step import SearchState, pose_free_digits, take_step
from handwright.methods.sampling.search.workspace import make_path
from handwright.methods.sampling.setup.grasps import close_hands, closing_state
from handwright.methods.sampling.setup.hold_data import slice_hold_data
from handwright.methods.sampling.setup.prepare import HoldSearch
from handwright.methods.workers import Crew, own_problem, own_search

if TYPE_CHECKING:
    from handwright.methods.sampling.contact_search import ContactSearch

_WARM_FRAMES = 4


def compile_early(crew: Crew) -> list[Future[None]]:
    """Lets a worker compile what needs no prepared problem; what it compiles is kept on disk."""
    return [] if crew.is_alone else [crew.submit(_compile_smoothing)]


def warm_up(hold: HoldSearch, crew: Crew | None = None, early: Sequence[Future[None]] = ()) -> None:
    """Lets everything be compiled that an attempt uses, so that no time budget goes into it.

    A crew takes its share; ``early`` is what ``compile_early`` began.
    """
    state = _short_state(hold)
    if crew is None or crew.is_alone:
        _compile_checks(hold, state)
        _compile_grasping(hold, state)
        smooth_path(hold._replace(data=state.data, start=hold.first), state.path)
        return
    # What calls the same kernels is compiled by the same process, or they would be compiled twice.
    jobs = [*early, crew.submit(_compile_own_grasping)]
    _compile_checks(hold, state)
    for job in jobs:
        job.result()


def _short_state(hold: HoldSearch) -> SearchState:
    """The state of a search over a few frames."""
    few = slice_hold_data(hold.data, 0, _WARM_FRAMES)
    path = make_path(hold.data, _WARM_FRAMES)
    path.q[:] = hold.data.hands.rest
    return SearchState(few, hold.candidates, path, hold.work)


def _compile_own_grasping() -> None:
    """Compiles first grasps and plans for the problem as this worker has prepared it.

    Arrays that are handed from process to process may be written to, even if they could not be
    before, and numba would compile for others than are used later.
    """
    hold = cast("ContactSearch", own_search()).holds[0]
    _compile_grasping(hold, _short_state(hold))


def _compile_checks(hold: HoldSearch, state: SearchState) -> None:
    """Compiles steps, poses of free digits, and the checks of finished motions."""
    packed, q = Packed(state), state.path.q
    take_step(packed, 0, True)
    pose_free_digits(packed, 0, 1, q)
    check_motion(state.data, q, state.work)
    forces_of_frames(
        no_contacts(0), np.zeros(2), state.data.wrench[:1], force_scale=1.0, length_scale=1.0
    )
    model, own, root = hold.posed(q, 0)
    exact, few = hold.distance, state.data
    skin_depths(model, own, root[:_WARM_FRAMES], few.field, exact, few.environment)


def _compile_grasping(hold: HoldSearch, state: SearchState) -> None:
    """Compiles first grasps and plans."""
    packed, digits = Packed(state), len(state.data.hands.hand_of_digit)
    nobody = np.full((1, digits), -1)
    score_grasps(packed, nobody, len(state.candidates.frame), np.zeros((0, 3)), np.zeros(1))
    count_posed_key_frames(packed, 1.0)
    rng = np.random.default_rng(0)
    Planner(state, hold.policy, rng).draw(0, {})
    if hold.policy.wraps:
        close_hands(closing_state(state.data, state), state.data.hands.rest, 1)


def _compile_smoothing() -> None:
    """Compiles what ``smooth_path`` uses, for any hand and body."""
    problem = own_problem()
    model = next(iter(problem.hands.values()))
    body, poses = next(iter(problem.bodies.values())), Pose.identity(_WARM_FRAMES)
    smooth_digits(
        model,
        poses,
        np.tile(model.pose("rest"), (_WARM_FRAMES, 1)),
        no_anchors(),
        obstacles=Obstacles(
            signed_distance_field(body), seen_over(pack_environment(problem.environment), poses)
        ),
    )
