"""A scene that is stepped live: pushes come and go, and all can be kept as a clip."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from handwright.core.clip import Clip, Provenance
from handwright.core.contact import Contact
from handwright.core.events import Push
from handwright.core.goal import Goal, lasting_goals
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.io.axes import to_y_up
from handwright.methods.stepwise.recording import Moment
from handwright.methods.stepwise.session import Session
from handwright.studio.live.orders import SCENES, misdirected
from handwright.studio.live.posing import posed_body, posed_hand, rounded
from handwright.studio.live_messages import LiveCommand, LiveContact, LiveFrame

STEP = 1.0 / 30.0
"""s."""
MAX_FRAMES = 30 * 60 * 10
"""Ten minutes; all frames are kept, to be saved."""
MAX_FORCE = 200.0
"""N; pushes are limited to this."""
_FOR_EVER = 1e9
_FRESH = 0.1


class LiveScene:
    """A session with the pushes of a page."""

    step_seconds = STEP

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        """Finds grasps, which takes some seconds.

        Args:
            problem: With grips.
            seed: Of the search for grasps.
        """
        if not problem.grips:
            raise InvalidValueError(
                f"The scene '{problem.name}' says nothing of grips, so it cannot be stepped live. "
                "Choose one that can."
            )
        self._problem, self._seed = problem, seed
        self._session = Session(problem, seed=seed)
        self._goals = _held_goals(problem.goals)
        # The first frame of a process compiles, which a page should not take for a frozen scene.
        self._session.step(STEP, goals=self._goals)
        self._session.reset()
        self._push: LiveCommand | None = None
        self._pushes: list[Push] = []
        self._seconds = STEP

    @property
    def problem(self) -> Problem:
        """What is stepped."""
        return self._problem

    @property
    def moment(self) -> Moment:
        """Where everything is."""
        return self._session.moments[-1]

    @property
    def is_full(self) -> bool:
        """Whether no more frames are kept."""
        return len(self._session.moments) >= MAX_FRAMES

    @property
    def choices(self) -> None:
        """Nothing of which the page would not know."""
        return None

    def order(self, command: LiveCommand) -> None:
        """Does what a page asks for."""
        if command.kind == "push":
            self.push(command)
        elif command.kind == "release":
            self.release()
        else:
            raise misdirected(command.kind, SCENES)

    def push(self, command: LiveCommand) -> None:
        """Begins a push, in place of the one before."""
        if command.body is None or command.point is None or command.force is None:
            raise InvalidValueError("A push needs a body, a point and a force; some are missing.")
        if command.body not in self._problem.bodies:
            raise UnknownNameError("body of this scene", command.body, self._problem.bodies)
        size = float(np.linalg.norm(command.force))
        if size > MAX_FORCE:
            raise InvalidValueError(
                f"The push has {size:.0f} N; expected at most {MAX_FORCE:.0f} N."
            )
        self._push = command

    def release(self) -> None:
        """Ends the push."""
        self._push = None

    def step(self) -> LiveFrame:
        """Moves everything on by a frame."""
        now = self._session.time
        pushes = () if self._push is None else (_as_push(self._push, now, now + STEP),)
        begin = time.perf_counter()
        self._session.step(STEP, pushes=pushes, goals=self._goals)
        spent = time.perf_counter() - begin
        self._seconds += _FRESH * (spent - self._seconds)
        for push in pushes:
            self._remember(push)
        return self.frame()

    def _remember(self, push: Push) -> None:
        """Keeps a push, joined to the one before if that goes on."""
        last = self._pushes[-1] if self._pushes else None
        if (
            last is not None
            and last.body == push.body
            and abs(last.end - push.start) < 1e-9
            and np.array_equal(last.point, push.point)
            and np.array_equal(last.force, push.force)
        ):
            self._pushes[-1] = dataclasses.replace(last, end=push.end)
        else:
            self._pushes.append(push)

    def frame(self) -> LiveFrame:
        """The present frame, in the axes of .glb files."""
        moment = self.moment
        return LiveFrame(
            kind="frame",
            time=round(moment.time, 6),
            hands=[
                posed_hand(name, self._problem.hands[name], root, q)
                for name, (root, q) in moment.hands.items()
            ],
            bodies=[posed_body(name, pose) for name, pose in moment.bodies.items()],
            contacts=[self._contact(contact) for contact in moment.contacts],
            fps=round(1.0 / max(self._seconds, 1e-4), 1),
        )

    def _contact(self, contact: Contact) -> LiveContact:
        digit = ""
        if contact.toucher in self._problem.hands:
            model = self._problem.hands[contact.toucher]
            number = int(model.capsules.digit[contact.part])
            digit = model.digits[number].name if number >= 0 else "palm"
        return LiveContact(
            body=contact.body,
            digit=digit,
            mode=int(contact.mode),
            point=rounded(to_y_up(contact.point)),
            force=rounded(to_y_up(np.nan_to_num(contact.force))),
        )

    def clips(self) -> list[Clip]:
        """One of all frames so far; pushes are part of its problem, so that it can be judged."""
        if len(self._session.moments) < 4:
            raise InvalidValueError("Nothing has moved yet. Let it run for a moment, then save.")
        clip = self._session.clip("stepwise")
        stamp = Provenance(
            self._problem.name,
            "stepwise",
            dataclasses.asdict(self._session.settings),
            self._seed,
            _version(),
        )
        problem = cut_problem(self._problem, clip.times, tuple(self._pushes))
        return [dataclasses.replace(clip, problem=problem, provenance=stamp)]


def cut_problem(problem: Problem, times: np.ndarray, pushes: tuple[Push, ...]) -> Problem:
    """The problem for other frames, which may end before all was asked for.

    Args:
        problem: What was stepped.
        times: Of the frames that there are, s.
        pushes: That came beside the problem's own.
    """
    last = float(times[-1])

    def until(end: float) -> float:
        return min(end, last)

    return dataclasses.replace(
        problem,
        times=times,
        goals=tuple(
            dataclasses.replace(g, end=until(g.end)) for g in problem.goals if g.start <= last
        ),
        grips=tuple(
            dataclasses.replace(g, held=until(g.held)) for g in problem.grips if g.start <= last
        ),
        touches=tuple(
            dataclasses.replace(t, end=until(t.end)) for t in problem.touches if t.start < last
        ),
        strokes=tuple(
            dataclasses.replace(s, end=until(s.end)) for s in problem.strokes if s.start < last
        ),
        pushes=tuple(
            dataclasses.replace(p, end=until(p.end))
            for p in (*problem.pushes, *pushes)
            if p.start <= last
        ),
    )


def _version() -> str:
    from importlib.metadata import version

    return version("handwright")


def _held_goals(goals: tuple[Goal, ...]) -> tuple[Goal, ...]:
    """Goals of which the last ones last for ever: nobody lets go at the end."""
    kept = {id(goal) for goal in lasting_goals(goals)}
    return tuple(
        dataclasses.replace(goal, end=_FOR_EVER) if id(goal) in kept else goal for goal in goals
    )


def _as_push(command: LiveCommand, start: float, end: float) -> Push:
    assert command.body is not None
    return Push(command.body, start, end, np.array(command.point), np.array(command.force))
