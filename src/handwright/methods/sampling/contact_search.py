"""The search of contact sampling: preparation, attempts, clips and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.methods.base import AttemptContext, Search
from handwright.methods.sampling.attempt import HoldMotion, TreeAttempt, run_attempt
from handwright.methods.sampling.constraints.apply import limiting_settings
from handwright.methods.sampling.setup.feasibility import (
    find_infeasibility,
    find_search_infeasibility,
)
from handwright.methods.sampling.setup.prepare import HoldSearch, prepare
from handwright.methods.sampling.warm_up import compile_early, warm_up
from handwright.methods.workers import Crew

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling


class ContactSearch(Search):
    """Attempts that each grow a tree of contacts for every hold of a problem."""

    def __init__(self, problem: Problem, method: ContactSampling) -> None:
        self._problem, self._method = problem, method

    @cached_property
    def holds(self) -> list[HoldSearch]:
        """The holds of the problem, ready to be searched."""
        return prepare(self._problem, self._method)

    def start(self, crew: Crew) -> str:
        """Says why the problem cannot be solved, or compiles with the help of the workers."""
        early, method = compile_early(crew), self._method
        infeasibility = find_infeasibility(
            self._problem, cutoff_hz=method.smoothing_hz, max_force=method.max_force
        )
        if infeasibility is None:
            infeasibility = find_search_infeasibility(
                self.holds, settings=limiting_settings(method)
            )
        if infeasibility is not None:
            return infeasibility
        warm_up(self.holds[0], crew, early)
        return ""

    def warm_up(self) -> None:
        """Loads what the first process has compiled."""
        warm_up(self.holds[0])

    def attempt(self, context: AttemptContext) -> TreeAttempt:
        """Motions from one tree for each hold."""
        return run_attempt(self.holds, self._method, context)

    def clip(self, found: tuple[HoldMotion, ...]) -> Clip:
        """The motions of all holds, put together."""
        return _assemble_clip(self._problem, self.holds, found, self._method.name)

    def cost(self, found: tuple[HoldMotion, ...]) -> float:
        """The strain of all motions: the least strained solution is the best."""
        return sum(part.strain for part in found)

    def statistics(self, attempts: Sequence[TreeAttempt]) -> dict[str, float]:
        """The columns of the paper's Table 1."""
        solutions = sum(len(attempt.found) for attempt in attempts)
        efforts = [attempt.effort for attempt in attempts]
        total = sum(effort.frames for effort in efforts)
        dead_ends = sum(effort.dead_ends for effort in efforts)
        success = sum(attempt.success_frames for attempt in attempts)
        return {
            "dead_ends": float(dead_ends),
            "total_frames": float(total),
            "success_frames": float(success),
            "success_ratio": success / total if total else 0.0,
            "solution_ratio": solutions / (solutions + dead_ends) if solutions + dead_ends else 0.0,
            "dropped": float(sum(effort.dropped for effort in efforts)),
        }


def _assemble_clip(
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
            joints[name][frames] = part.q[:, hold.joints(h)]
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
    found, hands = part.contacts.found, hold.data.hands
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
        "force": pose.rotate(part.contacts.force),
        "mode": np.where(part.contacts.slides, int(ContactMode.SLIDING), int(ContactMode.STATIC)),
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
