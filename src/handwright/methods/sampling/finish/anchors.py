"""What smoothing holds on to: guiding points of the search, or contacts that roll on from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.kinematics.spacetime.terms import Anchors
from handwright.methods.sampling.finish.check import CheckedMotion
from handwright.methods.sampling.finish.exact_contacts import CreepingContact
from handwright.methods.sampling.search.workspace import FREE, HOLD, SLIDE, Path
from handwright.methods.sampling.setup.hold_data import HoldData

# Weight of a point in the air, which may be missed, against that of a contact.
_HINT = 1e-3
# Weight of a point of a link that is held where the search had it, and where these points are on
# the link, m: three say where it is and how it is turned.
_NEAR = 0.1
_CORNERS = np.array([[0.0, 0.0, 0.0], [0.02, 0.0, 0.0], [0.0, 0.02, 0.0]])
# Weight of a contact's point in the frame before it lands and after it lifts off: what it moves by
# sideways there counts, by central differences, as sliding of the contact.
_BESIDE = 0.1
# Weight from which an anchor is a contact's own.
_CONTACT = 0.5
# How far from the body a phalanx goes that would creep over it, m: it then touches no more.
_LIFTED = 1.8e-3
# A guiding point that was missed by more than this, m, is taken where it was.
_MISSED = 1e-4
# A contact farther than this from where it was in the last frame, m, is another one.
_LONGEST_ROLL = 4e-3
# Nearer ones are left alone: distances of a grid are no more exact.
_SHORTEST_ROLL = 5e-4


class HandPath(NamedTuple):
    """One hand's part of a path of the search, and poses of its links by some motion."""

    path: Path
    start: int
    """Frame of the hold at which the path starts."""
    digits: Int[np.ndarray, " D"]
    """Rows of the hand's digits among those of all hands."""
    offset: int
    """Number of the hand's root link among the links of all hands."""
    rotations: Float[np.ndarray, "T L 3 3"]
    """Rotations of its links in the body's frame, over all frames of the hold."""
    positions: Float[np.ndarray, "T L 3"]
    """Positions of its links, m."""

    def place(
        self,
        frame: Int[np.ndarray, " N"],
        link: Int[np.ndarray, " N"],
        local: Float[np.ndarray, "N 3"],
    ) -> Float[np.ndarray, "N 3"]:
        """Where points of links are in some frames, m."""
        turned = np.einsum("nij,nj->ni", self.rotations[frame, link], local)
        return np.asarray(self.positions[frame, link] + turned)

    def localize(
        self,
        frame: Int[np.ndarray, " N"],
        link: Int[np.ndarray, " N"] | int,
        point: Float[np.ndarray, "N 3"],
    ) -> Float[np.ndarray, "N 3"]:
        """Points in the frames of the links, m."""
        away = point - self.positions[frame, link]
        return np.asarray(np.einsum("nji,nj->ni", self.rotations[frame, link], away))


def search_anchors(hand: HandPath) -> Anchors:
    """Guiding points of one hand; those that the search missed are where it had them.

    Where a contact rolls on to another guiding point, the old one counts in that frame too: only
    both together say how the link is turned, and a link that is turned otherwise would slip.
    """
    path, start, digits = hand.path, hand.start, hand.digits
    frame, digit = np.nonzero(path.reached[:, digits] != FREE)
    held = (path.reached == HOLD)[:, digits]
    has_rolled = (
        held[1:] & held[:-1] & np.any(path.local[1:, digits] != path.local[:-1, digits], axis=2)
    )
    roll, rolling = np.nonzero(has_rolled)
    touches = np.isin(path.reached[:, digits], (HOLD, SLIDE))
    lift, lifting = np.nonzero(touches[:-1] & ~touches[1:])
    land, landing = np.nonzero(~touches[:-1] & touches[1:])
    source = np.concatenate([frame, roll, lift, land + 1])
    frame = np.concatenate([frame, roll + 1, lift + 1, land])
    digit = np.concatenate([digit, rolling, lifting, landing])
    row = digits[digit]
    touching = np.isin(path.reached[source, row], (HOLD, SLIDE))
    weight = np.where(touching, 1.0, _HINT)
    weight[len(frame) - len(lift) - len(land) :] = _BESIDE
    link, local = path.link[source, row] - hand.offset, path.local[source, row]
    target = path.target[source, row]
    actual = hand.place(frame + start, link, local)
    # A point that could not be kept moves, as the search has seen and allowed for: to ask for its
    # old position would make it jump where it is given up.
    missed = np.linalg.norm(actual - target, axis=1) > _MISSED
    target = np.where(missed[:, None], actual, target)
    return Anchors(digit, frame + start, link, local, target, weight)


def posture_anchors(hand: HandPath, frames: Int[np.ndarray, " N"]) -> Anchors:
    """Links that touch in some frames of the path, held where it had them by three points each."""
    touches = np.isin(hand.path.reached[frames][:, hand.digits], (HOLD, SLIDE))
    at, digit = np.nonzero(touches)
    frame = np.repeat(frames[at], len(_CORNERS))
    digit = np.repeat(digit, len(_CORNERS))
    link = hand.path.link[frame, hand.digits[digit]] - hand.offset
    local = np.tile(_CORNERS, (len(at), 1))
    target, weight = hand.place(frame + hand.start, link, local), np.full(len(frame), _NEAR)
    return Anchors(digit, frame + hand.start, link, local, target, weight)


def touch_anchors(hand: HandPath, checked: CheckedMotion, data: HoldData) -> Anchors:
    """What touches besides guiding points, each held where it is: phalanges that wrap the body.

    Poses and contacts are those of the search's own motion.
    """
    path, start = hand.path, hand.start
    # Faces beside an edge are touched by the material of the contact before them.
    rows = checked.first_of_each_capsule()
    rows = rows[checked.capsule[rows] >= 0]
    frame, owner = checked.frame[rows], data.hands.digit_of_capsule[checked.capsule[rows]]
    is_own = np.isin(owner, hand.digits) & (frame >= start) & (frame < start + len(path.q))
    rows, frame, owner = rows[is_own], frame[is_own], owner[is_own]
    link = data.hands.table.capsule_link[checked.capsule[rows]]
    holds = np.isin(path.reached[frame - start, owner], (HOLD, SLIDE))
    other = holds & (link != path.link[frame - start, owner])
    frame, point, link = frame[other], checked.point[rows[other]], link[other] - hand.offset
    digit, weight = np.searchsorted(hand.digits, owner[other]), np.full(len(frame), _NEAR)
    return Anchors(digit, frame, link, hand.localize(frame, link, point), point.copy(), weight)


def lifted_anchors(
    anchors: Anchors,
    hand: HandPath,
    checked: CheckedMotion,
    creeping: CreepingContact,
    digit: int,
    link: int,
) -> Anchors:
    """The anchors of one hand with a capsule that creeps off the body while its contact lasts.

    Digit and link of the capsule have their numbers among those of the hand.
    """
    count = int(checked.num[0])
    mine = checked.capsule[:count] == creeping.capsule
    mine &= np.isin(checked.frame[:count], creeping.frames)
    # There is one point a frame: the nearest contact comes first.
    frame, first = np.unique(checked.frame[:count][mine], return_index=True)
    rows = np.flatnonzero(mine)[first]
    point = checked.point[rows]
    is_near = (anchors.link == link) & (anchors.weight == _NEAR)
    stays = ~(is_near & np.isin(anchors.frame, creeping.frames))
    lifted = Anchors(
        digit=np.full(len(rows), digit),
        frame=frame,
        link=np.full(len(rows), link, dtype=anchors.link.dtype),
        local=hand.localize(frame, link, point),
        target=point - _LIFTED * checked.normal[rows],
        weight=np.full(len(rows), _NEAR),
    )
    return join_anchors(Anchors(*(column[stays] for column in anchors)), lifted)


def join_anchors(first: Anchors, second: Anchors) -> Anchors:
    """All anchors of both."""
    return Anchors(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def rolled_anchors(
    anchors: Anchors,
    hand: HandPath,
    checked: CheckedMotion,
    data: HoldData,
    allowed_slip: float,
) -> Anchors:
    """The same contacts, each at the point with which the smooth motion touches.

    A smooth motion turns links otherwise than the search did, so that they touch beside their
    guiding points and slip while they turn. Here each contact rolls on from the last frame: with
    material point c_t touching in frame t and R_t the rotation of the link,
    X_t = X_(t-1) + R_t (c_t - c_(t-1)), brought to the surface, is where c_t must be. Digits that
    never slip by more than allowed, m a frame, are left alone.
    """
    path, start = hand.path, hand.start
    touching, worst_slip = _touching_links(checked, data.hands.table.capsule_link)
    is_contact = anchors.weight >= _CONTACT
    keep = np.flatnonzero(~is_contact).tolist()
    local, target = anchors.local.copy(), anchors.target.copy()
    for digit, row in enumerate(hand.digits):
        own = np.flatnonzero(is_contact & (anchors.digit == digit)).tolist()
        slips = any(
            worst_slip.get((t + start, int(path.link[t, row])), 0.0) > allowed_slip
            for t in np.flatnonzero(path.reached[:, row] == HOLD).tolist()
        )
        if not slips:
            keep += own
            continue
        # The guiding point of a frame comes before the one that the contact rolls on from.
        first: dict[int, int] = {}
        for number in own:
            first.setdefault(int(anchors.frame[number]), number)
        before: tuple[np.ndarray, np.ndarray] | None = None
        for t in range(len(path.q)):
            n = first.get(t + start)
            if n is None:
                before = None
                continue
            keep.append(n)
            c, x = local[n], target[n]
            if before is not None and _goes_on(path, t, int(row)):
                c, x = before
            link = int(anchors.link[n])
            found = touching.get((t + start, link + hand.offset))
            if found is not None and path.reached[t, row] == HOLD:
                rotation = hand.rotations[t + start, link]
                new = rotation.T @ (found - hand.positions[t + start, link])
                if _SHORTEST_ROLL < float(np.linalg.norm(new - c)) < _LONGEST_ROLL:
                    x = _on_surface(data.field, x + rotation @ (new - c))
                    c = new
            local[n], target[n] = c, x
            before = (c, x)
    moved = anchors._replace(local=local, target=target)
    rows = np.array(sorted(keep), dtype=np.int64)
    return Anchors(*(column[rows] for column in moved))


def _goes_on(path: Path, t: int, row: int) -> bool:
    """Whether a digit holds in frame t as in the frame before, with the same link."""
    return bool(
        path.kept[t, row]
        and path.reached[t, row] == HOLD
        and path.link[t, row] == path.link[t - 1, row]
    )


def _touching_links(
    checked: CheckedMotion, link_of_capsule: Int[np.ndarray, " C"]
) -> tuple[dict[tuple[int, int], np.ndarray], dict[tuple[int, int], float]]:
    """Where each link touches in each frame, by its nearest contact, and its largest slip, m."""
    least: dict[tuple[int, int], float] = {}
    touching: dict[tuple[int, int], np.ndarray] = {}
    worst_slip: dict[tuple[int, int], float] = {}
    for n in np.flatnonzero(checked.capsule[: int(checked.num[0])] >= 0).tolist():
        key = (int(checked.frame[n]), int(link_of_capsule[checked.capsule[n]]))
        if checked.gap[n] < least.get(key, np.inf):
            least[key], touching[key] = float(checked.gap[n]), checked.point[n]
        worst_slip[key] = max(worst_slip.get(key, 0.0), float(np.linalg.norm(checked.slip[n])))
    return touching, worst_slip


def _on_surface(field: Field, point: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " 3"]:
    """A point brought to the surface by one Newton step, m."""
    value, *xyz = field_value_gradient(field, *point)
    gradient = np.array(xyz)
    return np.asarray(point - value * gradient / max(float(gradient @ gradient), 1e-12))
