"""The search for one grasp: start poses, postures by few skin points, then by all of them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import Field, sample_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.regions.hollows import filled_field
from handwright.grasping.balance import Load
from handwright.grasping.carry import carrying_strain
from handwright.grasping.descent import GraspState, descend
from handwright.grasping.forces import (
    FRICTION_SHARE,
    HoldCheck,
    check_hold,
    disturbances,
    strength_share,
)
from handwright.grasping.grasp import DEPTH, GAP, Grasp, GraspContact, NoGrasp
from handwright.grasping.handles import SkinHandle, skin_handles
from handwright.grasping.posture_cost import joint_stiffness, posture_matrix, separation_pairs
from handwright.grasping.residuals import Distances, GraspProblem, GraspWeights, pose_links
from handwright.grasping.skin import (
    environment_distances,
    place_points,
    select_points,
    skin_points,
)
from handwright.grasping.start_poses import (
    ArmReach,
    StartPose,
    StartProblem,
    find_starts,
    style_posture,
)
from handwright.grasping.task import GraspTask
from handwright.hands.human.strength import joint_strength
from handwright.kinematics import PointGoals, RotationGoals, solve_frames
from handwright.kinematics.obstacles import seen_from
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import edge_distance, force_contacts, torque_maps

# Distances between skin points while places are chosen and while they are solved, m.
_SPARSE, _COARSE = 0.012, 0.005
# Optional handles that end farther away than this are left alone, m.
_NEAR = 0.003
_ROUNDS = 6
# A handle this far off may be what pushes others in, m.
_FIT = 5e-5
# Grasps among which the best is looked for.
_ENOUGH = 3
# Places that are looked at for each one that is tried, where a body is to be carried.
_CHOICE = 3
# What a joint at its limit costs, wherever the body is carried.
_STRAIN = 1.0
# What a joint at the end of its strength costs.
_MUSCLE = 5.0
# Skin farther than this from everything is left out of the last solve, m.
_AROUND = 0.015
# Points farther than this from the surface need no exact distance, m.
_EXACT = 0.0015
# Points of hollow bodies deeper than this get no exact distance, m: a grasp may not be so deep, and
# behind a thin wall it would be that of the other side. A depth that is less than that of the grid
# by more than its error, m, is of the other side, too.
_WALL, _GRID_ERROR = 6e-4, 1e-4
# Contacts nearer than this to a sharp edge are only counted on if nothing else holds, m.
_EDGE = 0.0015


@dataclass(slots=True)
class GraspSearch:
    """The search of one task; everything is in the frame of the body."""

    task: GraspTask
    root: Pose | None
    """Root of the arm in the frame of the body; None for a bare hand."""
    gravity: Float[np.ndarray, "3"]
    """Gravity in the frame of the body, m/s^2."""
    field: Field
    """Distance grid of the body with its hollows filled."""
    exact: ExactDistance
    """Exact distances of the body."""
    coarse: GraspProblem
    """The problem by few skin points and gridded distances."""
    fine: GraspProblem
    """The problem by every skin point and exact distances."""
    destinations: tuple[Pose, ...]
    """Where the body is and will be carried to, in the frame that it is in now; none without an
    arm, or if it will not be carried."""
    on_edges: list[Grasp] = dataclasses.field(default_factory=list)
    """Grasps that hold only if contacts on sharp edges are counted on."""

    @classmethod
    def prepare(cls, task: GraspTask) -> GraspSearch | NoGrasp:
        """Makes tables of skin and distances; gives a reason if the hand lacks parts."""
        hand, style = task.hand, task.style
        _, missing = skin_handles(hand, skin_points(hand, _COARSE), style)
        if missing:
            return NoGrasp(
                f"Hand '{hand.name}' has no {', '.join(missing)}, which the grip style "
                f"'{style.name}' holds with."
            )
        to_body = task.pose.inverse()
        true_field = signed_distance_field(task.body)
        field = filled_field(task.body, true_field)
        exact = ExactDistance.from_body(task.body)
        distances = _exact_distances(field, exact, has_hollows=field is not true_field)
        gravity = to_body.rotate(task.options.gravity)
        destinations = task.options.destinations
        return cls(
            task,
            to_body @ task.root if task.has_arm and task.root is not None else None,
            gravity,
            field,
            exact,
            _problem(task, gravity, field, _COARSE, gridded_distances(field)),
            _problem(task, gravity, field, 0.0, distances),
            tuple(to_body @ one for one in (task.pose, *destinations))
            if task.has_arm and destinations
            else (),
        )

    def grasps(self, starts: list[StartPose], failures: Counter[str]) -> list[Grasp]:
        """A few grasps from some places; why the others failed is counted."""
        # The worse half is given up twice, as soon as it shows.
        tries = [self.approach(start) for start in starts]
        for iterations in (10, 30):
            tries.sort(key=lambda state: state.cost)
            tries = tries[: max(_ENOUGH, (len(tries) + 1) // 2)]
            tries = [self.settle(state, iterations) for state in tries]
        found: list[Grasp] = []
        for state in sorted(tries, key=lambda state: state.cost):
            refined = self.refine(state)
            grasp = refined if isinstance(refined, str) else self.check(*refined)
            if isinstance(grasp, str):
                failures[grasp] += 1
                spare = (
                    refined if isinstance(refined, str) else self.check(*refined, counts_edges=True)
                )
                self.on_edges += [] if isinstance(spare, str) else [spare]
            else:
                found.append(grasp)
            if len(found) == _ENOUGH:
                break
        return found

    def starts(self, rng: np.random.Generator) -> list[StartPose]:
        """Draws start poses."""
        hand, style, options = self.task.hand, self.task.style, self.task.options
        points = skin_points(hand, _SPARSE)
        # An arm is not yet where it will be.
        points, _ = select_points(points, points.main >= hand.wrist_link)
        size = float(np.linalg.norm(self.gravity))
        down = (
            self.gravity / size if size > 0.0 else self.task.pose.inverse().rotate([0.0, 0.0, -1.0])
        )
        reach = None
        if self.root is not None:
            offset = np.linalg.norm(hand.joints.offset[: hand.wrist_link], axis=1)
            arms = offset[offset > 0.0]
            reach = ArmReach(self.root.position, float(arms[0]), float(arms[1:].sum()))
        count = options.num_starts
        found = find_starts(
            StartProblem(
                hand,
                self.task.body,
                style,
                points,
                skin_handles(hand, points, style)[0],
                self.field,
                self.coarse.environment,
                self.task.body.center if options.near is None else options.near,
                down,
                reach,
            ),
            _CHOICE * count if self.destinations else count,
            rng,
        )
        # Of places from which the body can be carried equally well the more promising come first.
        return sorted(found, key=lambda start: self._strain(start.wrist))[:count]

    def _strain(self, wrist: Pose, q: np.ndarray | None = None) -> float:
        """How hard it is for the arm to carry the body by a wrist that is there; 0 if it is not."""
        if self.root is None or not self.destinations:
            return 0.0
        rest = style_posture(self.task.hand, self.task.style, 0.0)
        return carrying_strain(
            self.task.hand, rest if q is None else q, self.root, wrist, self.destinations
        )

    def approach(self, start: StartPose) -> GraspState:
        """Brings the hand to a place, by few skin points."""
        problem = self.coarse
        q = style_posture(self.task.hand, self.task.style, start.opening)
        root = start.wrist if self.root is None else self.root
        if self.root is not None:
            q = self._reached(q, start.wrist)
        problem.wrist = start.wrist
        weights = GraspWeights(wrist=0.1, posture=4.0, near=15.0)
        state = descend(problem, q, root, weights, iterations=6)
        problem.wrist = None
        return state

    def settle(self, state: GraspState, iterations: int) -> GraspState:
        """Lays the hand onto the body, by few skin points."""
        near = 15.0 if iterations < 20 else 6.0
        weights = GraspWeights(posture=4.0, balance=30.0, near=near)
        return descend(self.coarse, state.q, state.root, weights, iterations=iterations)

    def _reached(self, q: np.ndarray, wrist: Pose) -> np.ndarray:
        """The posture with an arm that brings the wrist to a place, as far as it goes."""
        link = np.array([self.task.hand.wrist_link])
        return solve_frames(
            self.task.hand,
            q,
            points=PointGoals(link, np.zeros((1, 3)), wrist.position[None], np.ones(1)),
            rotations=RotationGoals(link, wrist.wxyz[None], np.ones(1)),
            root=self.root,
        ).q

    def refine(self, state: GraspState) -> tuple[GraspState, list[SkinHandle]] | str:
        """Exact contacts by every skin point, and those that lie on; else what is wrong."""
        handles = [
            fine
            for fine, row in zip(self.fine.handles, state.measured.contact, strict=True)
            if fine.handle.is_needed or abs(state.measured.gap[row]) < _NEAR
        ]
        problem = self._close_by(state, handles)
        # Optional parts give way to the needed ones, and all to what must stay outside.
        weights = GraspWeights(
            contact=15.0, depth=30.0, digits=30.0, facing=1.0, near=1.0, balance=30.0
        )
        done = state
        for _ in range(_ROUNDS):
            if len(problem.handles) < self.task.style.least_handles:
                return "too few parts of the hand come to lie on it"
            done = descend(problem, done.q, done.root, weights, iterations=12)
            m = done.measured
            # Of the parts that do not fit the worse half is left out, so that others can.
            off = np.abs(m.gap[m.contact])
            optional = np.array([not handle.handle.is_needed for handle in problem.handles])
            is_free = max(m.depth, m.ground_depth, m.pair_depth) <= DEPTH
            misfits = np.flatnonzero(optional & (off >= (GAP if is_free else _FIT)))
            if not len(misfits):
                break
            worst = misfits[np.argsort(-off[misfits])][: (len(misfits) + 1) // 2]
            problem.handles = [h for k, h in enumerate(problem.handles) if k not in worst]
        return done, problem.handles

    def check(
        self, done: GraspState, handles: list[SkinHandle], *, counts_edges: bool = False
    ) -> Grasp | str:
        """The grasp of a hand that was refined on, or what is wrong with it, in a few words."""
        m = done.measured
        if len(m.contact) != len(handles):
            return "too few parts of the hand come to lie on it"
        on = np.abs(m.gap[m.contact]) < GAP
        if not counts_edges:
            # What lies on a sharp edge may slip over it.
            on &= edge_distance(self._on_surface(m.place[m.contact])[0], self.task.body) > _EDGE
        touching = {h.handle.part for h, is_on in zip(handles, on, strict=True) if is_on}
        for parts in self.task.style.needs:
            if touching.isdisjoint(parts):
                return f"{' or '.join(parts[:2])} does not come to lie on it"
        if np.count_nonzero(on) < self.task.style.least_handles:
            return "too few parts of the hand come to lie on it"
        if m.depth > DEPTH:
            return "the hand would be inside it"
        if m.ground_depth > DEPTH:
            return "the hand would be inside the environment"
        if m.pair_depth > DEPTH:
            return "digits would be inside each other"
        rows = m.contact[on]
        closest, outward = self._on_surface(m.place[rows])
        hold = check_hold(
            self.task.body,
            closest,
            -outward,
            gravity=self.gravity,
            friction=self.task.friction,
            push=self.task.style.push,
        )
        if not hold.is_balanced:
            return "the contacts cannot bear its weight"
        if not hold.resists_disturbances:
            return "the contacts cannot bear pushes and twists beside its weight"
        used = [handle for handle, is_on in zip(handles, on, strict=True) if is_on]
        return self._found(done, used, rows, closest, outward, hold)

    def _close_by(self, state: GraspState, handles: list[SkinHandle]) -> GraspProblem:
        """The problem with all skin points that could touch anything."""
        fine = self.fine
        pose_links(fine, state.q, state.root)
        place = np.zeros((len(fine.points.link), 3))
        place_points(fine.points, fine.links, place)
        gap = sample_field(self.field, place)[0]
        if len(fine.environment.frictions):
            reach = _AROUND + fine.points.radius.max()
            gap = np.minimum(gap, environment_distances(fine.environment, place, reach)[0])
        keep = gap - fine.points.radius < _AROUND
        for handle in handles:
            keep[handle.rows] = True
        points, row = select_points(fine.points, keep)
        moved = [
            replace(handle, rows=row[handle.rows], center=int(row[handle.center]))
            for handle in handles
        ]
        return replace(fine, points=points, handles=moved)

    def _on_surface(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, closest, _, normal = self.exact.signed_distance(points)
        return closest, normal

    def _found(
        self,
        done: GraspState,
        used: list[SkinHandle],
        rows: np.ndarray,
        closest: np.ndarray,
        outward: np.ndarray,
        hold: HoldCheck,
    ) -> Grasp:
        links = self.fine.links
        contacts = []
        pose_links(self.fine, done.q, done.root)
        for k, handle in enumerate(used):
            link = int(self.task.hand.capsules.link[handle.capsule])
            place = done.measured.place[rows[k]]
            contacts.append(
                GraspContact(
                    handle.handle.part,
                    handle.capsule,
                    link,
                    links.rotation[link].T @ (place - links.position[link]),
                    closest[k],
                    -outward[k],
                    hold.forces[k],
                )
            )
        posture = self.fine.posture_matrix @ (done.q - self.fine.target)
        cost = float(posture @ posture) + 0.2 * hold.effort - 0.1 * len(used)
        link = self.task.hand.wrist_link
        wrist = Pose(links.position[link].copy(), rotation.from_matrix(links.rotation[link]))
        cost += _STRAIN * self._strain(wrist, done.q)
        cost += _MUSCLE * self._strength_share(
            done, [contact.link for contact in contacts], closest, outward
        )
        return Grasp(
            self.task.style,
            done.q,
            self.task.pose @ done.root,
            tuple(contacts),
            hold.effort,
            cost,
        )

    def _strength_share(
        self, done: GraspState, links: list[int], closest: np.ndarray, outward: np.ndarray
    ) -> float:
        """Largest share of a joint's strength that the weight with the worst push needs."""
        count = len(links)
        maps = torque_maps(
            self.task.hand, np.tile(done.q, (count, 1)), np.array(links), closest, done.root
        )
        strength = joint_strength(self.task.hand)
        contacts = force_contacts(
            closest,
            -outward,
            center=self.task.body.center,
            friction=FRICTION_SHARE * self.task.friction,
        )
        loads = disturbances(self.task.body, self.gravity, self.task.style.push)
        return strength_share(contacts, loads, maps, strength.lower, strength.upper)


def _problem(
    task: GraspTask,
    gravity: Float[np.ndarray, "3"],
    field: Field,
    spacing: float,
    distances: Distances,
) -> GraspProblem:
    """The residuals of a task by skin points that are so far apart, m."""
    hand, body, style = task.hand, task.body, task.style
    points = skin_points(hand, spacing)
    load = Load(
        disturbances(body, gravity, style.push),
        body.center,
        FRICTION_SHARE * task.friction,
        max(body.mass * float(np.linalg.norm(gravity)), 1e-6),
        body.radius_of_gyration,
        field,
    )
    pairs, slack = separation_pairs(hand)
    return GraspProblem(
        hand,
        points,
        skin_handles(hand, points, style)[0],
        distances,
        seen_from(pack_environment(task.environment), task.pose),
        pairs,
        slack,
        style_posture(hand, style, 0.0),
        posture_matrix(hand, joint_stiffness(hand)),
        not task.has_arm,
        load=load,
    )


def gridded_distances(field: Field) -> Distances:
    """Distances by a grid alone."""

    def distances(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gap, outward = sample_field(field, points)
        return gap, unit_rows(outward)

    return distances


def _exact_distances(field: Field, exact: ExactDistance, *, has_hollows: bool) -> Distances:
    """Distances that are exact near the surface, and by a grid elsewhere.

    Inside a body with hollows the grid, in which they are filled, decides from the middle of the
    wall on. There the exact distance turns round: a finger that has come so deep would be drawn
    through the wall to its other side, and stay in it.
    """

    def distances(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gap, outward = sample_field(field, points)
        outward = unit_rows(outward)
        is_close = gap < _EXACT
        if has_hollows:
            is_close &= gap > -_WALL
        close = np.flatnonzero(is_close)
        if len(close):
            distance, _, _, normal = exact.signed_distance(points[close])
            if has_hollows:
                known = (distance >= 0.0) | (distance < gap[close] + _GRID_ERROR)
                close, distance, normal = close[known], distance[known], normal[known]
            gap[close], outward[close] = distance, normal
        return gap, outward

    return distances


def unit_rows(vectors: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    """Vectors of length one; a grid has none at the middle of a body, where any will do."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(length > 1e-9, vectors / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])
