"""What digits do next: strategies for a window of frames, drawn among those that forces allow.

Ye & Liu 2012, sections 4.2 and 5. Past the paper, the plan looks ahead: a contact that is about to
leave the digit's reach is given up while others can carry the load, and places that stay within
reach are preferred.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from handwright.math.packed import Packed
from handwright.methods.sampling.candidates import Candidates
from handwright.methods.sampling.carrying import (
    FINGER_WIDTH,
    UNKNOWN,
    YES,
    carried_without,
    grasp_worths,
    keeps_place,
    plan_lasts,
)
from handwright.methods.sampling.grasps import draw_grasps, first_digits
from handwright.methods.sampling.orders import Orders
from handwright.methods.sampling.path import Path
from handwright.methods.sampling.room import FLY, FREE, HOLD, SLIDE
from handwright.methods.sampling.stage import Stage
from handwright.methods.sampling.step import IDLE_LOAD, pad_place

# Share of the friction from which a contact counts as on its cone.
_ON_CONE = 0.9
# Digits that may be in the air at the same time, for each hand.
_MOST_FLYING = 2
# Plans that are drawn, at most, until one can carry the body at all horizons.
_DRAWS = 6
# That of them in which a hand that is off the body comes with a whole grasp, the best of so many.
_GATHERING, _GRASPS = 1, 30
# Horizons, in look-aheads.
_HORIZONS = (0.5, 1.0, 2.0, 3.5)
_ONE_AHEAD = 1
# Frames until the next plan where this one does not carry the body for long.
_SHORT_WINDOW = 4
# Places that are drawn until one is free.
_PLACE_DRAWS = 6
# Share of the friction with which plans are looked at ahead.
_SPARE = 0.8
# Loaded digits that stay still while one slides.
_LEAST_STILL = 2
# How far a digit relocates, m, as a standard deviation.
_NEIGHBOURHOOD = 0.04
# A hand moves its finger by so much a frame without haste, m.
_UNHURRIED = 0.008
# Digits that have an order may set out so many flights ahead, and do with this chance.
_AHEAD, _EARLY = 4, 0.2


Forced: TypeAlias = dict[int, "np.ndarray | None"]


class Policy(NamedTuple):
    """How plans are drawn; probabilities are for each chance that there is."""

    window: int
    """Expected length of a window, frames."""
    slide: np.ndarray
    """(T, D) probability that a digit on its friction cone slides."""
    relocate: np.ndarray
    """(T, D) probability that a digit without load moves to another place."""
    land: np.ndarray
    """(T, D) probability that a free digit comes to the body."""
    leave_free: float
    """Probability that a digit stays off the body at the start."""
    slide_step: float
    """Largest sliding, m a frame."""
    flight: int
    """Least frames from lift-off to landing."""
    look_ahead: int
    """Frames within which a contact must stay in reach."""
    comfort: float
    """How much comfortable places are preferred."""
    lasting: float
    """How much places are preferred that stay within reach for long."""
    grasp_tries: int
    """Draws of a first grasp."""
    is_informed: bool
    """Whether dead ends are answered by their cause; else everything is drawn anew."""
    orders: Orders
    """What single digits are told to do."""


class Planner:
    """Draws plans into the rows of a path."""

    def __init__(
        self,
        stage: Stage,
        candidates: Candidates,
        path: Path,
        policy: Policy,
        bench: Packed,
        rng: np.random.Generator,
    ) -> None:
        self._stage, self._places, self._path = stage, candidates, path
        self._policy, self._bench, self._rng = policy, bench, rng
        self.appeal = place_appeal(candidates, policy.comfort, policy.lasting)
        """(D, M, K) how much digits like places."""
        self._frames, self._digits = path.mode.shape
        self._keeps = np.full((self._digits, len(_HORIZONS)), UNKNOWN)
        self._known: dict[tuple[int, int, bool], tuple[np.ndarray, ...]] = {}
        self._is_thumb = first_digits(stage.hand_of_digit)
        self._no_calls = np.full(self._digits, self._frames)
        self._has_orders = policy.orders.has_any()
        self._horizons = np.array([round(share * policy.look_ahead) for share in _HORIZONS])

    def draw(self, t: int, forced: Forced) -> bool:
        """Draws a strategy for every digit, for the window that starts at frame ``t``.

        Several plans are drawn if need be, each with more digits that come to help, and the one is
        kept that can carry the body for longest.

        Returns whether all digits that must leave their places can.

        Args:
            t: Row of the path that holds the plan.
            forced: Digits that must leave their places, each with a point to keep away from.
        """
        self._keeps[:] = UNKNOWN
        best: tuple[int, list[np.ndarray]] | None = None
        for eagerness in range(_DRAWS if self._policy.look_ahead > 0 else 1):
            self._draw_once(t, forced, eagerness)
            lasts = self._lasts(t)
            if best is None or lasts > best[0]:
                best = (lasts, self.copy_row(t))
            if lasts == len(_HORIZONS):
                break
        assert best is not None
        self.write_row(t, best[1])
        if best[0] < len(_HORIZONS) and self._policy.look_ahead > 0:
            # Trouble ahead: look again soon.
            self._path.window_end[t] = min(self._path.window_end[t], t + _SHORT_WINDOW)
        return not any(self._path.mode[t, d] in (HOLD, SLIDE) for d in forced)

    def _draw_once(self, t: int, forced: Forced, eagerness: int) -> None:
        path, policy, rng = self._path, self._policy, self._rng
        path.mode[t] = path.reached[t]
        length = 1 + int(rng.integers(0, max(2 * policy.window - 1, 1)))
        path.window_end[t] = min(t + length, self._frames - 1)
        is_away = (path.mode[t] == FREE) | (path.mode[t] == FLY)
        calls = self._calls(t) if self._has_orders else self._no_calls
        path.window_end[t] = min(path.window_end[t], *calls[calls > t], self._frames - 1)
        if eagerness == _GATHERING:
            self._gather(t)
        for d in rng.permutation(self._digits):
            mode = path.mode[t, d]
            if self._is_bound(t, d):
                path.mode[t, d] = HOLD if mode == SLIDE else mode
            elif calls[d] <= t:
                self._obey(t, d, is_away)
            elif mode == FREE:
                self._invite(t, d, forced, eagerness)
            elif mode != FLY:
                self._plan_touching(t, d, forced, is_away)

    def _lasts(self, t: int) -> int:
        """For how many of the horizons the plan of row t can carry the body."""
        frames = np.minimum(t + self._horizons, self._frames - 1)
        keys = np.minimum(np.searchsorted(self._places.frame, frames), len(self._places.frame) - 1)
        return int(plan_lasts(self._bench, t, frames, keys, self._keeps, _SPARE))

    def _keeps_place(self, t: int, d: int) -> bool:
        """Whether a digit can keep its place for one look-ahead; asked once for each plan."""
        if self._keeps[d, _ONE_AHEAD] == UNKNOWN:
            later = min(t + self._policy.look_ahead, self._frames - 1)
            self._keeps[d, _ONE_AHEAD] = keeps_place(self._bench, t, d, later)
        return bool(self._keeps[d, _ONE_AHEAD] == YES)

    def _is_bound(self, t: int, d: int) -> bool:
        orders, mode = self._policy.orders, self._path.mode[t, d]
        if mode == FREE or not self._has_orders:
            return False
        next_frame = min(t + 1, self._frames - 1)
        return orders.binds(next_frame, d) or orders.holds_pin(self._path, t, d)

    def _calls(self, t: int) -> np.ndarray:
        """(D,) latest frames at which digits must set out for their next orders."""
        orders, policy = self._policy.orders, self._policy
        latest = np.full(self._digits, self._frames)
        for d in np.flatnonzero(orders.start[t] < self._frames).tolist():
            start = int(orders.start[t, d])
            if start - t > _AHEAD * policy.flight:
                latest[d] = start - _AHEAD * policy.flight
                continue
            goal = orders.aim(start, d)
            if goal is None:
                latest[d] = start - policy.flight
                continue
            here = np.array(pad_place(self._bench, t, d))
            latest[d] = start - max(policy.flight, self._flight_to(goal, here))
            # Whoever is there already need not move.
            if self._path.mode[t, d] == HOLD and np.array_equal(self._path.target[t, d], goal):
                latest[d] = self._frames
        return latest

    def _flight_to(self, goal: np.ndarray, here: np.ndarray) -> int:
        """Frames that a flight takes without haste."""
        distance = float(np.linalg.norm(goal - here))
        return int(np.ceil(distance / _UNHURRIED))

    def _key_from(self, frame: int) -> int:
        """The first key frame that is not before a frame, or the last of all."""
        keys = self._places.frame
        return min(int(np.searchsorted(keys, frame)), len(keys) - 1)

    def _carried_along(self, t: int, d: int, here: np.ndarray, later: int) -> np.ndarray:
        """Where its wrist takes a point of a digit until a later frame, m."""
        stage, h = self._stage, int(self._stage.hand_of_digit[d])
        local = stage.root_rotation[t, h].T @ (here - stage.root_position[t, h])
        return stage.root_rotation[later, h] @ local + stage.root_position[later, h]

    def _obey(self, t: int, d: int, is_away: np.ndarray) -> None:
        """A digit sets out for its next order, if the others can carry the body meanwhile."""
        path = self._path
        if path.mode[t, d] in (FREE, FLY):
            if path.mode[t, d] == FREE:
                self._send(t, d, None)
            return
        is_away[d] = True
        if self._can_spare(t, is_away):
            self._send(t, d, None)
            return
        is_away[d] = False
        path.mode[t, d] = HOLD

    def _can_spare(self, t: int, is_away: np.ndarray) -> bool:
        """Whether digits that hold, not those that slide, can do without some for a flight."""
        is_away = is_away | (self._path.mode[t] == SLIDE)
        return bool(carried_without(self._bench, t, t + self._policy.flight, is_away))

    def _room_to_fly(self, t: int, d: int, most: int) -> bool:
        own = self._stage.hand_of_digit == self._stage.hand_of_digit[d]
        return int((self._path.mode[t][own] == FLY).sum()) < most

    def _invite(self, t: int, d: int, forced: Forced, eagerness: int) -> None:
        """A free digit may come to the body if others of its hand, or its thumb, do so too."""
        path, hand = self._path, self._stage.hand_of_digit
        own = hand == hand[d]
        is_there = (path.mode[t] == HOLD) | (path.mode[t] == SLIDE)
        is_led = is_there | (self._is_thumb & (path.mode[t] == FLY))
        # Nobody leads where the thumb may not touch, nor in the plain search.
        is_led |= self._is_thumb & ~self._stage.may_touch[t]
        if self._policy.look_ahead > 0 and not np.any(own & is_led):
            return
        land = self._policy.land[t, d]
        chance = land + eagerness * (1.0 - land) / _DRAWS
        is_wanted = self._stage.may_touch[t, d] and self._rng.random() < chance
        if is_wanted and d not in forced and self._room_to_fly(t, d, _MOST_FLYING + eagerness):
            self._send(t, d, None)

    def _plan_touching(self, t: int, d: int, forced: Forced, is_away: np.ndarray) -> None:
        path, policy = self._path, self._policy
        later = min(t + policy.look_ahead, self._frames - 1)
        must_go = d in forced or not self._stage.may_touch[later, d]
        if not must_go and policy.look_ahead > 0:
            must_go = not self._keeps_place(t, d)
        chance = self._rng.random()
        is_idle = path.load[t, d] < IDLE_LOAD
        wants_away = is_idle and chance < policy.relocate[t, d]
        if policy.orders.start[t, d] - t <= _AHEAD * policy.flight:
            wants_away |= self._rng.random() < _EARLY
        if (must_go or wants_away) and self._room_to_fly(t, d, _MOST_FLYING):
            is_away[d] = True
            if self._can_spare(t, is_away) and self._send(t, d, forced.get(d)):
                return
            is_away[d] = False
        path.mode[t, d] = HOLD
        is_on_cone = path.ratio[t, d] > _ON_CONE and not is_idle
        # Kinetic friction leaves no choice of forces; others that do not slide must have one.
        others = (path.mode[t] == HOLD) & (path.load[t] >= IDLE_LOAD)
        others[d] = False
        is_on_cone = is_on_cone and int(others.sum()) >= _LEAST_STILL
        if is_on_cone and chance < policy.slide[t, d]:
            held = carried_without(self._bench, t, t, is_away)
            path.mode[t, d] = SLIDE
            speed = policy.slide_step * (0.3 + 0.7 * self._rng.random())
            path.slide[t, d] = speed * path.pull[t, d]
            # What guiding points cannot carry in any case, the rest of the hand does.
            if held and not carried_without(self._bench, t, t, is_away):
                path.mode[t, d] = HOLD

    def _send(self, t: int, d: int, shunned: np.ndarray | None) -> bool:
        """Plans a flight of a digit to a new place, or away from the body if there is none.

        Args:
            t: Row of the path.
            d: Digit.
            shunned: The farther from this point, m, the better.
        """
        path, policy, places = self._path, self._policy, self._places
        if t + 2 >= self._frames:
            return False
        here = np.array(pad_place(self._bench, t, d))
        start = int(policy.orders.start[t, d])
        is_called = start - t <= _AHEAD * policy.flight
        m, landing, k = -1, t, 0
        # A place may come within reach only while the digit is on its way.
        for patience in (1, 2):
            landing = min(t + patience * policy.flight, self._frames - 1)
            landing = start if is_called else landing
            k = self._key_from(landing)
            if self._stage.may_touch[landing, d] and not policy.orders.is_kept[landing, d]:
                m = self._draw_place(t, d, k, here, shunned, lasting=not is_called)
            if m >= 0:
                break
        if m < 0:
            path.mode[t, d] = FREE
            return True
        lasts = self._flight_to(places.point[m], here)
        if is_called:
            lasts = max(lasts, policy.flight)
            soon = min(int(np.searchsorted(places.frame, t + lasts)), k)
            # It may land before it must, but not where it cannot yet be.
            landing = t + lasts if np.isfinite(places.cost[d, m, soon]) else start
        self._set_out(t, d, m, here, max(landing, t + lasts))
        return True

    def _set_out(self, t: int, d: int, m: int, here: np.ndarray, landing: int) -> None:
        """Writes a flight of a digit to place ``m``."""
        path, places = self._path, self._places
        path.mode[t, d] = FLY
        path.fly_place[t, d] = m
        path.fly_pad[t, d] = places.pad[m]
        path.fly_begin[t, d] = t
        path.fly_end[t, d] = landing
        path.fly_from[t, d] = here
        path.fly_goal[t, d] = places.point[m]
        path.fly_normal[t, d] = places.normal[m]

    def _gather(self, t: int) -> None:
        """Hands that are off the body come with a whole grasp, if there is one that can carry.

        Digits that come one by one hardly ever make a grasp in the short time in which both hands
        are at the body.
        """
        path, policy, hand = self._path, self._policy, self._stage.hand_of_digit
        touches = (path.mode[t] == HOLD) | (path.mode[t] == SLIDE)
        # With its thumb in the air a hand is about to grasp already.
        comes_already = self._is_thumb & (path.mode[t] == FLY)
        for h in np.setdiff1d(hand, hand[touches | comes_already]).tolist():
            for patience in (1, 2):
                landing = min(t + patience * policy.flight, self._frames - 1)
                k = self._key_from(landing)
                landing = int(self._places.frame[k])
                if not t + 2 < landing <= t + 2 * policy.flight:
                    continue
                comes = (hand == h) & self._stage.may_touch[landing]
                comes &= policy.orders.start[t] - t > _AHEAD * policy.flight
                grasp = self._best_grasp(comes, k, path.target[t][touches])
                for d in np.flatnonzero(grasp >= 0).tolist():
                    here, m = np.array(pad_place(self._bench, t, d)), int(grasp[d])
                    arrives = self._carried_along(t, d, here, landing)
                    lasts = self._flight_to(self._places.point[m], arrives)
                    self._set_out(t, d, m, here, max(landing, t + lasts))
                if np.any(grasp >= 0):
                    break

    def _best_grasp(self, comes: np.ndarray, k: int, taken: np.ndarray) -> np.ndarray:
        """(D,) places of some digits that carry the body for longest from a key frame, or -1."""
        none, rng, policy = np.full(self._digits, -1), self._rng, self._policy
        appeal = np.cumsum(self.appeal[:, :, k], axis=1)
        if not np.any(comes & self._is_thumb & (appeal[:, -1] > 0.0)):
            return none
        drawn = draw_grasps(appeal, comes, self._is_thumb, _GRASPS, policy.leave_free, rng)
        worth = np.zeros(len(drawn))
        grasp_worths(self._bench, drawn, k, np.ascontiguousarray(taken), worth)
        best = int(np.argmax(worth))
        return drawn[best] if worth[best] > 0.0 else none

    def _draw_place(
        self,
        t: int,
        d: int,
        k: int,
        here: np.ndarray,
        shunned: np.ndarray | None,
        *,
        lasting: bool,
    ) -> int:
        """A place near by for a digit at a key frame, taken by no other digit; -1 if none seems.

        Args:
            t: Row of the path.
            d: Digit.
            k: Key frame.
            here: Where the digit is, m.
            shunned: The farther from this point, m, the better.
            lasting: Whether places that are soon out of reach are left out: a hand that is about
                to leave the body lets go of it, and does not look for another hold.
        """
        path = self._path
        known, point, appeal = self._known_places(d, k, lasting)
        if len(known) == 0:
            return -1
        weight = appeal * np.exp(-0.5 * np.sum((point - here) ** 2, axis=1) / _NEIGHBOURHOOD**2)
        if shunned is not None:
            weight *= np.sum((point - shunned) ** 2, axis=1)
        busy = path.mode[t] != FREE
        busy[d] = False
        taken = np.where((path.mode[t] == FLY)[:, None], path.fly_goal[t], path.target[t])[busy]
        for _ in range(_PLACE_DRAWS):
            n = drawn(weight, self._rng)
            if n < 0:
                return -1
            if not np.any(np.sum((taken - point[n]) ** 2, axis=1) < FINGER_WIDTH**2):
                return int(known[n])
        return -1

    def _known_places(self, d: int, k: int, lasting: bool) -> tuple[np.ndarray, ...]:
        """Places that a digit can reach at a key frame: numbers, points (m) and appeal."""
        key = (int(d), k, lasting)
        if key not in self._known:
            frame = self._places.frame
            rows = np.flatnonzero(self.appeal[d, :, k])
            if lasting:
                until = min(frame[k] + self._policy.look_ahead, frame[-1])
                keys = int(np.searchsorted(frame, until, side="right")) - k
                rows = rows[self._places.life[d, rows, k] >= keys]
            self._known[key] = (rows, self._places.point[rows], self.appeal[d, rows, k])
        return self._known[key]

    def copy_row(self, t: int) -> list[np.ndarray]:
        """The plan of row t."""
        return [column[t].copy() for column in self._columns()]

    def write_row(self, t: int, plan: list[np.ndarray]) -> None:
        """Puts a copied plan back."""
        for column, values in zip(self._columns(), plan, strict=True):
            column[t] = values

    def _columns(self) -> tuple[np.ndarray, ...]:
        path = self._path
        flight = (path.fly_begin, path.fly_end, path.fly_place, path.fly_pad, path.fly_from)
        return (path.mode, path.window_end, path.slide, *flight, path.fly_goal, path.fly_normal)

    def aims(self, t: int) -> np.ndarray:
        """(D, 3) where the digits will be by the plan of row t, m: what makes plans differ."""
        path = self._path
        aim = path.target[t].copy()
        length = path.window_end[t] - t
        sliding, flying = path.mode[t] == SLIDE, path.mode[t] == FLY
        aim[sliding] += length * path.slide[t][sliding]
        aim[flying] = path.fly_goal[t][flying]
        return aim


def place_appeal(places: Candidates, comfort: float, lasting: float) -> np.ndarray:
    """(D, M, K) how much a digit likes a place: comfortable ones, and those that last."""
    most = np.maximum(places.life.max(axis=1, keepdims=True), 1)
    return np.where(
        np.isfinite(places.cost),
        np.exp(-comfort * np.where(np.isfinite(places.cost), places.cost, 0.0))
        * (places.life / most) ** lasting,
        0.0,
    )


def drawn(weights: np.ndarray, rng: np.random.Generator) -> int:
    """A number drawn by its weight, or -1 if all are zero."""
    total = np.cumsum(weights)
    if not (len(total) and total[-1] > 0.0):
        return -1
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))
