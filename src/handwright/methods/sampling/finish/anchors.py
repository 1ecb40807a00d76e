"""What smoothing holds on to: guiding points of the search, or contacts that roll on from them."""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.kinematics.spacetime.terms import Anchors
from handwright.methods.sampling.finish.check import CheckedMotion
from handwright.methods.sampling.search.path import Path
from handwright.methods.sampling.search.workspace import FREE, HOLD, SLIDE
from handwright.methods.sampling.setup.hold_data import HoldData

# Weight of a point in the air, which may be missed, against that of a contact.
_HINT = 1e-3
# Weight of a point of a link that is held where the search had it, and where these points are on
# the link, m: three say where it is and how it is turned.
_NEAR = 0.1
# Weight of a contact's point in the frame before it lands and after it lifts off: what it moves by
# sideways there counts, by central differences, as sliding of the contact.
_BESIDE = 0.1
# How far from the body a phalanx goes that would creep over it, m: it then touches no more.
_LIFTED = 1.8e-3
_CORNERS = np.array([[0.0, 0.0, 0.0], [0.02, 0.0, 0.0], [0.0, 0.02, 0.0]])
# A guiding point that was missed by more than this, m, is taken where it was.
_MISSED = 1e-4
# A contact farther than this from where it was in the last frame, m, is another one.
_LONGEST_ROLL = 4e-3
# Nearer ones are left alone: distances of a grid are no more exact.
_SHORTEST_ROLL = 5e-4


def search_anchors(
    path: Path,
    start: int,
    digits: np.ndarray,
    offset: int,
    rotations: np.ndarray,
    positions: np.ndarray,
) -> Anchors:
    """Guiding points of one hand; those that the search missed are where it had them.

    Where a contact rolls on to another guiding point, the old one counts in that frame too: only
    both together say how the link is turned, and a link that is turned otherwise would slip.

    Args:
        path: Of the search.
        start: Frame of the stage at which it starts.
        digits: Rows of the hand's digits.
        offset: Of the hand's links.
        rotations: (T, L, 3, 3) of the links by the path.
        positions: (T, L, 3) of the links by the path, m.
    """
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
    link, local = path.link[source, row] - offset, path.local[source, row]
    target = path.target[source, row]
    actual = positions[frame, link] + np.einsum("nij,nj->ni", rotations[frame, link], local)
    # A point that could not be kept moves, as the search has seen and allowed for: to ask for its
    # old place would make it jump where it is given up.
    missed = np.linalg.norm(actual - target, axis=1) > _MISSED
    return Anchors(
        digit=digit.astype(np.int64),
        frame=(frame + start).astype(np.int64),
        link=link,
        local=local,
        target=np.where(missed[:, None], actual, target),
        weight=weight,
    )


def posture_anchors(
    path: Path,
    start: int,
    digits: np.ndarray,
    offset: int,
    rotations: np.ndarray,
    positions: np.ndarray,
    frames: np.ndarray,
) -> Anchors:
    """Links that touch, held where the search had them: three points of each in some frames.

    Args:
        path: Of the search.
        start: Frame of the stage at which it starts.
        digits: Rows of the hand's digits.
        offset: Of the hand's links.
        rotations: (T, L, 3, 3) of the links by the path.
        positions: (T, L, 3) of the links by the path, m.
        frames: (N,) of the path.
    """
    touches = np.isin(path.reached[frames][:, digits], (HOLD, SLIDE))
    at, digit = np.nonzero(touches)
    frame = np.repeat(frames[at], len(_CORNERS))
    digit = np.repeat(digit, len(_CORNERS))
    link = path.link[frame, digits[digit]] - offset
    local = np.tile(_CORNERS, (len(at), 1))
    return Anchors(
        digit=digit.astype(np.int64),
        frame=(frame + start).astype(np.int64),
        link=link,
        local=local,
        target=positions[frame, link] + np.einsum("nij,nj->ni", rotations[frame, link], local),
        weight=np.full(len(frame), _NEAR),
    )


def touch_anchors(
    checked: CheckedMotion,
    path: Path,
    start: int,
    digits: np.ndarray,
    offset: int,
    data: HoldData,
    rotations: np.ndarray,
    positions: np.ndarray,
) -> Anchors:
    """What touches besides guiding points, each held where it is: phalanges that wrap the body.

    Args:
        checked: The search's own motion.
        path: Of the search.
        start: Frame of the stage at which it starts.
        digits: Rows of the hand's digits.
        offset: Of the hand's links.
        data: Of the motion.
        rotations: (T, L, 3, 3) of the links by the motion, over all frames of the stage.
        positions: (T, L, 3) the same, m.
    """
    count = int(checked.num[0])
    frame, capsule, point = checked.frame[:count], checked.capsule[:count], checked.point[:count]
    # Faces beside an edge are touched by the material of the contact before them.
    is_own = np.ones(count, dtype=bool)
    is_own[1:] = (frame[1:] != frame[:-1]) | (capsule[1:] != capsule[:-1])
    owner = np.where(capsule >= 0, data.digit_of_capsule[np.maximum(capsule, 0)], -1)
    is_own &= np.isin(owner, digits) & (frame >= start) & (frame < start + len(path.q))
    frame, capsule, point, owner = frame[is_own], capsule[is_own], point[is_own], owner[is_own]
    link = data.table.capsule_link[capsule]
    holds = np.isin(path.reached[frame - start, owner], (HOLD, SLIDE))
    other = holds & (link != path.link[frame - start, owner])
    frame, point, link = frame[other], point[other], link[other] - offset
    local = np.einsum("nji,nj->ni", rotations[frame, link], point - positions[frame, link])
    return Anchors(
        digit=np.searchsorted(digits, owner[other]).astype(np.int64),
        frame=frame.astype(np.int64),
        link=link,
        local=local,
        target=point.copy(),
        weight=np.full(len(frame), _NEAR),
    )


def lifted_anchors(
    anchors: Anchors,
    checked: CheckedMotion,
    capsule: int,
    frames: np.ndarray,
    digit: int,
    link: int,
    rotations: np.ndarray,
    positions: np.ndarray,
) -> Anchors:
    """The anchors with one capsule off the body in some frames.

    Args:
        anchors: Of one hand.
        checked: The motion.
        capsule: Of all hands.
        frames: Of the stage.
        digit: Of the hand, the capsule's.
        link: Likewise.
        rotations: (T, L, 3, 3) of the hand's links by the motion.
        positions: (T, L, 3) the same, m.
    """
    count = int(checked.num[0])
    mine = (checked.capsule[:count] == capsule) & np.isin(checked.frame[:count], frames)
    # One point a frame: the nearest contact comes first.
    frame, first = np.unique(checked.frame[:count][mine], return_index=True)
    rows = np.flatnonzero(mine)[first]
    point = checked.point[rows]
    stays = ~((anchors.link == link) & (anchors.weight == _NEAR) & np.isin(anchors.frame, frames))
    lifted = Anchors(
        digit=np.full(len(rows), digit, dtype=np.int64),
        frame=frame.astype(np.int64),
        link=np.full(len(rows), link, dtype=anchors.link.dtype),
        local=np.einsum("nji,nj->ni", rotations[frame, link], point - positions[frame, link]),
        target=point - _LIFTED * checked.normal[rows],
        weight=np.full(len(rows), _NEAR),
    )
    return join_anchors(Anchors(*(column[stays] for column in anchors)), lifted)


def join_anchors(first: Anchors, second: Anchors) -> Anchors:
    """All anchors of both."""
    return Anchors(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def rolled_anchors(
    anchors: Anchors,
    path: Path,
    start: int,
    digits: np.ndarray,
    offset: int,
    rotations: np.ndarray,
    positions: np.ndarray,
    checked: CheckedMotion,
    link_of_capsule: np.ndarray,
    field: Field,
    allowed_slip: float,
) -> Anchors:
    """The same contacts, each at the point with which the smooth motion touches.

    A smooth motion turns links otherwise than the search did, so that they touch beside their
    guiding points and slip while they turn. Here each contact rolls on from the last frame: with
    material point c_t touching in frame t and R_t the turn of the link,
    X_t = X_(t-1) + R_t (c_t - c_(t-1)), brought to the surface, is where c_t must be.

    Args:
        anchors: Of the search.
        path: Of the search.
        start: Frame of the stage at which it starts.
        digits: Rows of the hand's digits.
        offset: Of the hand's links.
        rotations: (T, L, 3, 3) of the links by the smooth motion, over all frames of the stage.
        positions: (T, L, 3) the same, m.
        checked: The smooth motion.
        link_of_capsule: (C,) of all hands.
        field: Of the body.
        allowed_slip: Digits that never slip by more, m a frame, are left alone.
    """
    touching = _contact_rows(checked, link_of_capsule)
    worst_slip = _worst_slips(checked, link_of_capsule)
    first = {
        (int(d), int(t)): n
        for n, (d, t, w) in reversed(
            list(enumerate(zip(anchors.digit, anchors.frame, anchors.weight, strict=True)))
        )
        if w >= 0.5
    }
    keep = [n for n in range(len(anchors.digit)) if anchors.weight[n] < 0.5]
    local, target = anchors.local.copy(), anchors.target.copy()
    for digit, row in enumerate(digits):
        slips = any(
            worst_slip.get((t + start, int(path.link[t, row])), 0.0) > allowed_slip
            for t in np.flatnonzero(path.reached[:, row] == HOLD).tolist()
        )
        if not slips:
            keep += [
                n
                for n in range(len(anchors.digit))
                if anchors.digit[n] == digit and anchors.weight[n] >= 0.5
            ]
            continue
        before: tuple[np.ndarray, np.ndarray] | None = None
        for t in range(len(path.q)):
            n = first.get((digit, t + start))
            if n is None:
                before = None
                continue
            keep.append(n)
            link = anchors.link[n]
            follows = (
                before is not None
                and path.kept[t, row]
                and path.reached[t, row] == HOLD
                and path.link[t, row] == path.link[t - 1, row]
            )
            c, x = before if follows and before is not None else (local[n], target[n])
            found = touching.get((t + start, int(link) + offset))
            if found is not None and path.reached[t, row] == HOLD:
                rotation, position = rotations[t + start, link], positions[t + start, link]
                new = rotation.T @ (found - position)
                if _SHORTEST_ROLL < float(np.linalg.norm(new - c)) < _LONGEST_ROLL:
                    x = _on_surface(field, x + rotation @ (new - c))
                    c = new
            local[n], target[n] = c, x
            before = (c, x)
    rows = np.array(sorted(keep), dtype=np.int64)
    return Anchors(
        anchors.digit[rows],
        anchors.frame[rows],
        anchors.link[rows],
        local[rows],
        target[rows],
        anchors.weight[rows],
    )


def _contact_rows(
    checked: CheckedMotion, link_of_capsule: np.ndarray
) -> dict[tuple[int, int], np.ndarray]:
    """Where each link touches the body in each frame; the nearest contact if there are several."""
    count = int(checked.num[0])
    best: dict[tuple[int, int], tuple[float, np.ndarray]] = {}
    for n in range(count):
        capsule = checked.capsule[n]
        if capsule < 0:
            continue
        key = (int(checked.frame[n]), int(link_of_capsule[capsule]))
        if key not in best or checked.gap[n] < best[key][0]:
            best[key] = (float(checked.gap[n]), checked.point[n])
    return {key: point for key, (_, point) in best.items()}


def _worst_slips(
    checked: CheckedMotion, link_of_capsule: np.ndarray
) -> dict[tuple[int, int], float]:
    """Largest slip of each link in each frame, m."""
    worst: dict[tuple[int, int], float] = {}
    for n in range(int(checked.num[0])):
        if checked.capsule[n] >= 0:
            key = (int(checked.frame[n]), int(link_of_capsule[checked.capsule[n]]))
            worst[key] = max(worst.get(key, 0.0), float(np.linalg.norm(checked.slip[n])))
    return worst


def _on_surface(field: Field, point: np.ndarray) -> np.ndarray:
    value, *gradient_xyz = field_value_gradient(field, *point)
    gradient = np.array(gradient_xyz)
    return point - value * gradient / max(float(gradient @ gradient), 1e-12)
