"""From a problem to the arrays that the residuals read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.geometry.distance.environment import (
    EnvironmentArrays,
    pack_environment,
    surface_value_gradient,
)
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.model.couplings import Couplings, coordinate_limits, couple_joints
from handwright.methods.trajopt.model.goal_rows import goal_samples
from handwright.methods.trajopt.model.layout import BODY, key_layout
from handwright.methods.trajopt.model.model import (
    GROUND_CONTACT,
    HAND_CONTACT,
    Body,
    Contacts,
    Forest,
    Model,
    Room,
    Skeleton,
)
from handwright.methods.trajopt.model.scenarios import tip_pushes
from handwright.methods.trajopt.model.shape import make_body, resting_points
from handwright.methods.trajopt.model.skin_bulge import skin_bulge, skin_stubs
from handwright.methods.trajopt.model.timing import pinned_keys
from handwright.methods.trajopt.schedule.carrying import carried_wrists
from handwright.methods.trajopt.schedule.goal_digits import has_goal, must_touch
from handwright.methods.trajopt.terms.contact_rows import NUM_RESIDUALS, NUM_ROWS

# Order of the wrist's hinges in its own frame: bending, deviation, turning of the forearm. The
# second must stay well within a quarter turn, and deviation is what a wrist has least of.
WRIST_HINGES = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
_WRIST_RANGE = np.array([1.2, 1.1, 1.6])
"""rad either way of the start."""
_WRIST_REACH = 0.7
"""m either way of the start: about the length of an arm."""
# Contacts of a body with each surface; of one that lies still while it is pressed on.
_NUM_FEET, _NUM_STILL_FEET = 2, 4
# A body that starts this near to a surface lies on it, m.
_TOUCHES = 1e-3
_LIFTING_TIME = 1.0
"""s."""
KEY_SLACK = 0.01
"""By how much of a phase a span in which a hand may touch may miss a key."""
# By how many times phases may be shorter than asked for, so that such spans fit.
_MOST_DENSE = 3
# Least squeeze of fingers and palms against a thumb's: together they press as hard as it does.
_FINGER_SHARE = 0.25
# Both are multiplied by this where digits turn a body in the hand: they hold it in turn, and what
# one of them presses with is soon for others to take over.
_GAIT_SHARE = 0.4


class HandPart(NamedTuple):
    """Where a hand is in the forest."""

    name: str
    model: HandModel
    couplings: Couplings
    root: Pose
    """Start of its root link."""
    q: Float[np.ndarray, " J"]
    """Start of its joints, rad."""
    is_free: bool
    """Whether six joints of its own come first."""
    first_joint: int
    """Joint j of the hand is joint ``first_joint + j`` of the forest."""
    first_coordinate: int
    """Of its wrist, or of its joints if the base is fixed."""

    @property
    def first_finger_coordinate(self) -> int:
        """Of its joints."""
        return self.first_coordinate + (6 if self.is_free else 0)

    @property
    def root_joint(self) -> int:
        """Joint of the forest that carries the root link; -1 for a fixed base."""
        return self.first_joint - 1 if self.is_free else -1

    def joint_of_link(self, link: int) -> int:
        """Joint of the forest that carries a link."""
        return self.root_joint if link == 0 else self.first_joint + link - 1


class Built(NamedTuple):
    """A problem ready to be solved."""

    model: Model
    hands: tuple[HandPart, ...]
    body_name: str
    body: RigidBody
    start: Float[np.ndarray, " n"]
    """Key state in which everything stands still."""
    contact_hand: Int[np.ndarray, " N"]
    """Hand of each contact; -1 for the surroundings."""
    contact_names: tuple[str, ...]
    surfaces: Int[np.ndarray, " S"]
    """Number in the problem of every surface of ``model.env``."""
    rests_on: Bool[np.ndarray, " N"]
    """Contacts with what the body lies on as it starts."""
    may_grip: Bool[np.ndarray, " N"]
    """Contacts of hands but for digits with goals of their own, which have other things to do."""
    is_turned_in_hand: bool
    """Whether the body is to turn on and on, so that digits have to let go in turn."""
    in_spans: Bool[np.ndarray, " N"]
    """Contacts of hands that may touch at times only, where nothing but hands holds the body and
    they do not turn it: the body is theirs throughout these times."""
    first_hold: int
    """Phase from which hands are drawn to the body; past the last if it need not be held."""
    carried: Float[np.ndarray, "H K 6"]
    """Wrists of the hands at the keys if they turned with the body as its goals do, from the phase
    ``first_hold`` on."""
    capsule_number: Int[np.ndarray, " C"]
    """Number in its hand of every capsule of ``model.skeleton``."""
    required: Bool[np.ndarray, "P N"]
    """Contacts that must be on: strokes in the phases that they fill, and digits that goals put on
    the body for whole phases."""


def build(
    problem: Problem,
    *,
    num_phases: int,
    fractions: Sequence[float],
    is_coupled: bool,
    num_pushes: int = 0,
    push_size: float = 0.0,
    has_free_times: bool = False,
) -> Built:
    """Everything that a problem says, as arrays.

    Args:
        problem: With one body, and starts for it and the hands.
        num_phases: Of equal length, three or more.
        fractions: Moments of every phase at which costs are taken, above 0 and below 1.
        is_coupled: See ``couple_joints``.
        num_pushes: See ``push_corners``.
        push_size: See there, N.
        has_free_times: See ``pinned_keys``.
    """
    (body_name, body), *_ = problem.bodies.items()
    hands = _hand_parts(problem, is_coupled)
    count = max((h.first_finger_coordinate + len(h.couplings.leading) for h in hands), default=0)
    num_coordinates = count + BODY
    duration = float(problem.times[-1] - problem.times[0])
    env, surfaces = _surroundings(problem)
    shape = make_body(problem, body_name)
    is_moved = any(goal.feature.owner == body_name for goal in problem.goals)
    feet = resting_points(shape, _NUM_FEET if is_moved else _NUM_STILL_FEET)
    is_turned = problem.is_cyclic and bool(shape.spin.any())
    contacts, contact_hand, names = _contacts(problem, hands, body, env, surfaces, feet)
    may_grip = (contact_hand >= 0) & ~has_goal(problem, hands, names)
    contacts.squeeze[~may_grip] = 0.0
    if is_turned:
        contacts.squeeze[:] *= _GAIT_SHARE
    lower, upper = _limits(hands, num_coordinates)
    samples, goals = goal_samples(
        problem, hands, body, num_phases, duration / num_phases, fractions
    )
    skeleton = _skeleton(hands)
    layout = key_layout(num_coordinates, len(contacts.kind), num_pushes)
    model = Model(
        forest=_forest(hands),
        skeleton=skeleton,
        contacts=contacts,
        body=shape,
        env=EnvironmentArrays(*(np.array(part) for part in env)),
        samples=samples,
        goals=goals,
        pushes=tip_pushes(body, num_pushes, push_size),
        is_pushed=np.zeros(num_phases, dtype=np.bool_),
        clearance=np.zeros((num_phases, len(skeleton.joint))),
        landing=np.zeros((num_phases, len(contacts.kind)), dtype=np.int64),
        easing=np.zeros((num_phases, len(contacts.kind)), dtype=np.int64),
        gravity=np.array(problem.gravity),
        lower=lower,
        upper=upper,
        layout=layout,
        is_pinned=pinned_keys(problem, num_phases, is_free=has_free_times),
        num_keys=num_phases + (0 if problem.is_cyclic else 1),
        phase_time=duration / num_phases,
        is_cyclic=problem.is_cyclic,
    )
    start = np.zeros(layout.size)
    for hand in hands:
        first = hand.first_finger_coordinate
        start[first : first + len(hand.couplings.leading)] = hand.q[hand.couplings.leading]
    start[layout.body_position] = problem.start[body_name].apply(body.center)
    numbers = [n for hand in hands for n in (*_shown_capsules(hand), *_stub_numbers(hand))]
    first_hold = _first_hold(problem, body_name, model)
    times = problem.times[0] + model.phase_time * np.arange(model.num_keys)
    return Built(
        model=model,
        hands=hands,
        body_name=body_name,
        body=body,
        start=start,
        contact_hand=contact_hand,
        contact_names=names,
        surfaces=surfaces,
        rests_on=_rests_on(problem, body_name, shape, contacts),
        may_grip=may_grip,
        is_turned_in_hand=is_turned,
        in_spans=_in_spans(problem, hands, contact_hand) & may_grip & (not is_turned),
        first_hold=first_hold,
        carried=carried_wrists(problem, hands, body_name, times, float(times[first_hold])),
        capsule_number=np.array(numbers, dtype=np.int64),
        required=_required(problem, model) | must_touch(problem, hands, body, names, model),
    )


def _required(problem: Problem, model: Model) -> Bool[np.ndarray, "P N"]:
    """Strokes fill the phases whose middle they cover, and one at least."""
    phases, h = len(model.clearance), model.phase_time
    required = np.zeros((phases, model.layout.num_contacts), dtype=bool)
    middle = problem.times[0] + h * (np.arange(phases) + 0.5)
    first = model.layout.num_contacts - len(problem.strokes)
    for n, stroke in enumerate(problem.strokes):
        inside = (middle >= stroke.start) & (middle <= stroke.end)
        inside[np.argmin(np.abs(middle - 0.5 * (stroke.start + stroke.end)))] = True
        required[:, first + n] = inside
    return required


def _in_spans(
    problem: Problem, hands: tuple[HandPart, ...], contact_hand: Int[np.ndarray, " N"]
) -> Bool[np.ndarray, " N"]:
    """Contacts of hands with spans, where there are no surroundings."""
    named = {span.hand for span in problem.touches}
    has_spans = np.array([hand.name in named for hand in hands] + [False])
    return np.asarray(has_spans[contact_hand] & (not problem.environment))


def _rests_on(
    problem: Problem, body: str, shape: Body, contacts: Contacts
) -> Bool[np.ndarray, " N"]:
    """Which contacts are with surfaces that a point of the body touches as it starts."""
    env, _ = _surroundings(problem)
    places = shape.knobs @ shape.turn.T + problem.start[body].apply(problem.bodies[body].center)
    lies = [
        min(surface_value_gradient(env, n, *place)[0] for place in places)
        < _TOUCHES + shape.knob_radius
        for n in range(len(env.frictions))
    ]
    rests = np.array([number >= 0 and lies[number] for number in contacts.surface])
    rests[len(rests) - len(problem.strokes) :] = False
    return rests


def _first_hold(problem: Problem, body: str, model: Model) -> int:
    """Hands take a body one second before the first goal for it, or have it from the start."""
    if model.is_cyclic or not problem.environment:
        return 0
    goals = [goal.start for goal in problem.goals if goal.feature.owner == body]
    if not goals:
        return len(model.clearance)
    time = min(goals) - problem.times[0] - _LIFTING_TIME
    return max(round(time / model.phase_time), 2)


def phases_of(problem: Problem, phase_time: float) -> int:
    """Number of phases of about this length, s, that fill the motion.

    They are shorter where spans in which hands may touch begin or end between keys, since contacts
    change at keys only: what is thrown flies for one phase or more.
    """
    duration = float(problem.times[-1] - problem.times[0])
    fewest = max(round(duration / phase_time), 3)
    ends = {end for span in problem.touches for end in (span.start, span.end)}
    share = (np.array(sorted(ends)) - problem.times[0]) / duration
    for count in range(fewest, _MOST_DENSE * fewest + 1):
        at = share * count
        if (np.abs(at - np.round(at)) < KEY_SLACK).all():
            return count
    return fewest


def make_room(model: Model) -> Room:
    """Room for one sample of a model."""
    size = model.layout.state_size
    joints = len(model.forest.parent)
    return Room(
        z=np.zeros(size),
        turn=np.zeros((joints, 3, 3)),
        place=np.zeros((joints, 3)),
        axis=np.zeros((joints, 3)),
        omega=np.zeros((joints, 3)),
        speed=np.zeros((joints, 3)),
        ends=np.zeros((len(model.skeleton.joint), 2, 3)),
        body_turn=np.zeros((3, 3)),
        hinge=np.zeros((3, 3)),
        swing=np.zeros((4, 3)),
        rod=np.zeros((2, 3)),
        rows=np.zeros((NUM_ROWS, size)),
        residual=np.zeros(NUM_RESIDUALS),
        columns=np.zeros(size, dtype=np.int64),
        dense=np.zeros((3, model.layout.num_coordinates)),
        square=np.zeros((size, size)),
        slope=np.zeros(size),
        stretch=np.zeros((2, size)),
    )


def _hand_parts(problem: Problem, is_coupled: bool) -> tuple[HandPart, ...]:
    parts: list[HandPart] = []
    joint = coordinate = 0
    for name, model in problem.hands.items():
        q = np.array(problem.posture(name))
        couplings = couple_joints(model, q, is_coupled=is_coupled)
        # A model with an arm stands on its shoulder.
        is_free = model.wrist_link == 0
        joint += 6 if is_free else 0
        root = problem.start[name]
        parts.append(HandPart(name, model, couplings, root, q, is_free, joint, coordinate))
        joint += model.num_joints
        coordinate += (6 if is_free else 0) + len(couplings.leading)
    return tuple(parts)


def _forest(hands: tuple[HandPart, ...]) -> Forest:
    parent: list[int] = []
    owner, offset, axis, slides = [], [], [], []
    driver, ratio, bias = [], [], []
    for h, hand in enumerate(hands):
        tree, c = hand.model.joints, hand.couplings
        if hand.is_free:
            for i in range(6):
                parent.append(len(parent) - 1 if i else -1)
                offset.append(np.zeros(3))
                axis.append(np.eye(3)[i] if i < 3 else WRIST_HINGES[i - 3])
                slides.append(i < 3)
                driver.append(hand.first_coordinate + i)
                ratio.append(1.0)
                bias.append(0.0)
                owner.append(h)
        for j in range(len(tree)):
            link = int(tree.parent[j])
            parent.append(hand.joint_of_link(link))
            offset.append(tree.offset[j])
            axis.append(tree.axis[j])
            slides.append(bool(tree.is_slide[j]))
            d = int(c.driver[j])
            driver.append(hand.first_finger_coordinate + d if d >= 0 else -1)
            ratio.append(float(c.ratio[j]))
            bias.append(float(c.bias[j]))
            owner.append(h)
    chains = []
    for j in range(len(parent)):
        chain = [j]
        while parent[chain[0]] >= 0:
            chain.insert(0, parent[chain[0]])
        chains.append(chain)
    depth = max((len(chain) for chain in chains), default=1)
    table = np.full((len(parent), depth), -1, dtype=np.int64)
    slot, movers = table.copy(), table.copy()
    num_movers = np.zeros(len(parent), dtype=np.int64)
    for j, chain in enumerate(chains):
        table[j, : len(chain)] = chain
        used = sorted({driver[k] for k in chain if driver[k] >= 0})
        movers[j, : len(used)] = used
        num_movers[j] = len(used)
        slot[j, : len(chain)] = [used.index(driver[k]) if driver[k] >= 0 else -1 for k in chain]
    return Forest(
        parent=np.array(parent, dtype=np.int64),
        hand=np.array(owner, dtype=np.int64),
        offset=np.array(offset, dtype=np.float64).reshape(-1, 3),
        axis=np.array(axis, dtype=np.float64).reshape(-1, 3),
        is_slide=np.array(slides, dtype=np.bool_),
        driver=np.array(driver, dtype=np.int64),
        ratio=np.array(ratio, dtype=np.float64),
        bias=np.array(bias, dtype=np.float64),
        base_turn=np.array([rotation.to_matrix(h.root.wxyz) for h in hands]).reshape(-1, 3, 3),
        base_place=np.array([h.root.position for h in hands]).reshape(-1, 3),
        chain=table,
        slot=slot,
        movers=movers,
        num_movers=num_movers,
    )


def _shown_capsules(hand: HandPart) -> list[int]:
    """Capsules that can move: all but those of a shoulder."""
    return [n for n, link in enumerate(hand.model.capsules.link) if link != 0 or hand.is_free]


def _stub_numbers(hand: HandPart) -> list[int]:
    """Capsules of the hand that those for skin behind the wrist go with."""
    return [stub.number for stub in skin_stubs(hand.model)] if hand.is_free else []


def _skeleton(hands: tuple[HandPart, ...]) -> Skeleton:
    joint, start, end, radius, bare, owner, digit = [], [], [], [], [], [], []
    for h, hand in enumerate(hands):
        c, bulge = hand.model.capsules, skin_bulge(hand.model)
        for n in _shown_capsules(hand):
            joint.append(hand.joint_of_link(int(c.link[n])))
            start.append(c.start[n])
            end.append(c.end[n])
            radius.append(float(c.radius[n] + bulge[n]))
            bare.append(float(c.radius[n]))
            owner.append(h)
            digit.append(int(c.digit[n]))
        for stub in skin_stubs(hand.model) if hand.is_free else ():
            joint.append(hand.joint_of_link(int(c.link[stub.number])))
            start.append(stub.start)
            end.append(stub.end)
            radius.append(stub.radius)
            bare.append(stub.radius)
            owner.append(h)
            digit.append(-1)
    pairs = [
        (a, b)
        for a in range(len(joint))
        for b in range(a)
        if owner[a] != owner[b] or (digit[a] >= 0 and digit[b] >= 0 and digit[a] != digit[b])
    ]
    return Skeleton(
        joint=np.array(joint, dtype=np.int64),
        start=np.array(start, dtype=np.float64).reshape(-1, 3),
        end=np.array(end, dtype=np.float64).reshape(-1, 3),
        radius=np.array(radius, dtype=np.float64),
        bare_radius=np.array(bare, dtype=np.float64),
        pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
    )


def _contacts(
    problem: Problem,
    hands: tuple[HandPart, ...],
    body: RigidBody,
    env: EnvironmentArrays,
    surfaces: Int[np.ndarray, " S"],
    feet: np.ndarray,
) -> tuple[Contacts, Int[np.ndarray, " N"], tuple[str, ...]]:
    """One for the last segment of every digit, every palm and every stroke, two for a surface."""
    members: list[int] = []
    kind, first, last = [], [], []
    surface, friction, squeeze, pad_joint, pad, owner, names = [], [], [], [], [], [], []
    least, slides = [], []

    def add(what: int, hand: int, capsules: list[int], name: str, mu: float) -> None:
        kind.append(what)
        first.append(len(members))
        members.extend(capsules)
        last.append(len(members))
        surface.append(-1)
        friction.append(mu)
        squeeze.append(0.0 if what == GROUND_CONTACT else _FINGER_SHARE)
        pad_joint.append(-1)
        pad.append(np.zeros(3))
        owner.append(hand)
        names.append(name)
        least.append(0.0)
        slides.append(False)

    passed = 0
    for h, hand in enumerate(hands):
        c = hand.model.capsules
        shown = _shown_capsules(hand)
        for d, digit in enumerate(hand.model.digits):
            own = [k for k, n in enumerate(shown) if c.digit[n] == d]
            tip = max(int(c.link[shown[k]]) for k in own)
            ends = [passed + k for k in own if c.link[shown[k]] == tip]
            add(HAND_CONTACT, h, ends, f"{hand.name}.{digit.name}", body.friction)
            pad_joint[-1] = hand.joint_of_link(digit.pad.link)
            pad[-1] = np.array(digit.pad.position)
            if digit.name == "thumb":
                squeeze[-1] = 1.0
        palm = [
            passed + k
            for k, n in enumerate(shown)
            if c.digit[n] < 0 and c.link[n] >= hand.model.wrist_link and c.names[n] != "wrist"
        ]
        if palm:
            add(HAND_CONTACT, h, palm, f"{hand.name}.palm", body.friction)
        passed += len(shown) + len(_stub_numbers(hand))
    for number in range(len(env.frictions)):
        for foot in feet:
            add(GROUND_CONTACT, -1, [], "surroundings", float(env.frictions[number]))
            surface[-1], pad[-1] = number, foot
    weight = body.mass * float(np.linalg.norm(problem.gravity))
    for stroke in problem.strokes:
        number = int(np.flatnonzero(surfaces == stroke.surface)[0])
        add(GROUND_CONTACT, -1, [], "stroke", float(env.frictions[number]))
        surface[-1], pad[-1] = number, np.array(stroke.point - body.center)
        least[-1], slides[-1] = stroke.force / weight, True
    contacts = Contacts(
        kind=np.array(kind, dtype=np.int64),
        first=np.array(first, dtype=np.int64),
        last=np.array(last, dtype=np.int64),
        capsules=np.array(members, dtype=np.int64),
        surface=np.array(surface, dtype=np.int64),
        friction=np.array(friction, dtype=np.float64),
        squeeze=np.array(squeeze, dtype=np.float64),
        least=np.array(least, dtype=np.float64),
        slides=np.array(slides, dtype=np.bool_),
        pad_joint=np.array(pad_joint, dtype=np.int64),
        pad=np.array(pad, dtype=np.float64).reshape(-1, 3),
    )
    return contacts, np.array(owner, dtype=np.int64), tuple(names)


def _limits(
    hands: tuple[HandPart, ...], num_coordinates: int
) -> tuple[Float[np.ndarray, " Q"], Float[np.ndarray, " Q"]]:
    lower, upper = np.full(num_coordinates, -np.inf), np.full(num_coordinates, np.inf)
    for hand in hands:
        if hand.is_free:
            slides = slice(hand.first_coordinate, hand.first_coordinate + 3)
            lower[slides], upper[slides] = -_WRIST_REACH, _WRIST_REACH
            hinges = slice(hand.first_coordinate + 3, hand.first_coordinate + 6)
            lower[hinges], upper[hinges] = -_WRIST_RANGE, _WRIST_RANGE
        first = hand.first_finger_coordinate
        span = slice(first, first + len(hand.couplings.leading))
        lower[span], upper[span] = coordinate_limits(hand.model, hand.couplings)
    return lower, upper


def _surroundings(problem: Problem) -> tuple[EnvironmentArrays, Int[np.ndarray, " S"]]:
    """Surfaces as arrays, and the number in the problem of each (planes come first)."""
    order = [n for n, s in enumerate(problem.environment) if isinstance(s, HalfSpace)]
    order += [n for n, s in enumerate(problem.environment) if isinstance(s, EnvironmentBox)]
    return pack_environment(problem.environment), np.array(order, dtype=np.int64)
