"""A process that steps a scene live: ``python -m handwright.studio.live.worker``.

It takes ``LiveCommand`` messages and sends ``LiveFrame`` messages, at the rate of what is shown or
as fast as it can. What it cannot do it answers with ``trouble``.
"""

from __future__ import annotations

import logging
import queue
import secrets
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.errors import HandwrightError
from handwright.io.clip.file import save_clip
from handwright.io.gltf.write import save_glb
from handwright.studio.jobs.json_pipe import Parent
from handwright.studio.live.scene import LiveScene
from handwright.studio.live_messages import LiveCommand, LiveFrame, ThrowingChoices
from handwright.studio.server.request_errors import trouble_of
from handwright.studio.uploads.catalogue import preview
from handwright.studio.uploads.scenes import find_scene

_logger = logging.getLogger(__name__)
_PREPARING = "finding grasps; the first time on a machine this also compiles for some minutes"
_LOADING = "loading the network; the first time on a machine this also compiles for some minutes"
_BUILDING = "building the arm; the first time on a machine this also compiles for some minutes"
# How long to wait between orders while nothing is stepped, s.
_IDLE = 1.0 / 30.0


class Stepped(Protocol):
    """What is stepped live."""

    @property
    def step_seconds(self) -> float:
        """Length of a frame, s."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether no more frames are kept."""
        ...

    @property
    def problem(self) -> Problem:
        """Hands and bodies, for the page's first picture."""
        ...

    @property
    def choices(self) -> ThrowingChoices | None:
        """What an arm that throws can be asked for."""
        ...

    def order(self, command: LiveCommand) -> None:
        """Does what a page asks for."""
        ...

    def step(self) -> LiveFrame:
        """Moves everything on by a frame."""
        ...

    def frame(self) -> LiveFrame:
        """The present frame."""
        ...

    def clips(self) -> list[Clip]:
        """What is to be saved."""
        ...


class LiveWorker:
    """Does what a page asks for."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._root, self._hidden, self._model = Path(), Path(), Path()
        self._address = self._fingers = ""
        self._make: Callable[[], Stepped] | None = None
        self._preparing = ""
        self._scene: Stepped | None = None
        self._is_paused = False

    @property
    def is_stepping(self) -> bool:
        """Whether frames are wanted."""
        return self._scene is not None and not self._is_paused

    @property
    def step_seconds(self) -> float:
        """Length of a frame, s."""
        return _IDLE if self._scene is None else self._scene.step_seconds

    def order(self, order: dict[str, Any]) -> None:
        """Does what a message asks for."""
        if "root" in order:
            # The first message of the server says where everything is.
            self._root, self._hidden = Path(order["root"]), Path(order["hidden"])
            self._model, self._address = Path(order["model"]), str(order["address"])
            self._fingers = str(order["fingers"])
            return
        command = LiveCommand.model_validate(order)
        if command.kind == "start":
            self._begin(partial(self._simulated, command.scene or ""), _PREPARING)
        elif command.kind == "fingers":
            self._begin(partial(self._with_fingers, command), _LOADING)
        elif command.kind == "throwing":
            self._begin(partial(self._throwing, command), _BUILDING)
        elif command.kind == "reset" and self._make is not None:
            self._begin(self._make, self._preparing)
        elif self._scene is None:
            self._trouble("Nothing has been started. Choose a scene first.")
        elif command.kind in ("pause", "resume"):
            self._is_paused = command.kind == "pause"
        elif command.kind == "save":
            self._save(self._scene)
        else:
            self._scene.order(command)

    def _simulated(self, name: str) -> Stepped:
        return LiveScene(find_scene(self._hidden, name))

    def _with_fingers(self, command: LiveCommand) -> Stepped:
        # What it needs takes a while to import, and scenes that are simulated do without.
        from handwright.studio.live.fingers.props import FIRST
        from handwright.studio.live.fingers.scene import FingersScene

        return FingersScene(command.hands or ["right"], command.prop or FIRST, self._fingers)

    def _throwing(self, command: LiveCommand) -> Stepped:
        # MuJoCo is loaded only where something is thrown.
        from handwright.studio.live.throwing.scene import ThrowingScene
        from handwright.studio.live.throwing.things import FIRST

        return ThrowingScene(command.prop or FIRST)

    def step(self) -> None:
        """Makes a frame and sends it."""
        assert self._scene is not None
        if self._scene.is_full:
            self._is_paused = True
            self._trouble("Ten minutes are kept, not more. Save them or start again.")
            return
        self._send(self._scene.step())

    def stop(self, message: str) -> None:
        """Says what went wrong and waits."""
        self._is_paused = True
        self._trouble(message)

    def _begin(self, make: Callable[[], Stepped], preparing: str) -> None:
        self._scene, self._make, self._preparing, self._is_paused = None, make, preparing, False
        self._send(LiveFrame(kind="preparing", message=preparing))
        scene = make()
        save_glb(preview(scene.problem), self._model, contacts=False, forces=False)
        self._scene = scene
        self._send(LiveFrame(kind="ready", model=self._address, choices=scene.choices))
        self._send(scene.frame())

    def _save(self, scene: Stepped) -> None:
        for clip in scene.clips():
            file = f"{clip.problem.name}_live_{secrets.token_hex(4)}.npz"
            save_clip(clip, self._root / file)
            # The server puts the clip's identifier in place of its file.
            self._send(LiveFrame(kind="saved", clip=file))

    def _trouble(self, message: str) -> None:
        self._send(LiveFrame(kind="trouble", message=message))

    def _send(self, frame: LiveFrame) -> None:
        self._parent.send(frame.model_dump())


def main() -> None:
    """Steps until the server is gone."""
    parent = Parent()
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    parent.listen(orders.put)
    worker = LiveWorker(parent)
    due = time.monotonic()
    while True:
        try:
            while not worker.is_stepping or not orders.empty():
                worker.order(orders.get())
                due = max(due, time.monotonic() - worker.step_seconds)
            worker.step()
        except (HandwrightError, OSError) as error:
            parent.send(LiveFrame(kind="trouble", message=trouble_of(error).message).model_dump())
        except Exception as error:
            _logger.exception("A live scene failed.")
            worker.stop(f"The simulation failed ({type(error).__name__}). Start again.")
        # Time that was lost is not made up for: a scene that raced would frighten its user.
        due = max(due + worker.step_seconds, time.monotonic() - worker.step_seconds)
        time.sleep(max(due - time.monotonic(), 0.0))


if __name__ == "__main__":
    main()
