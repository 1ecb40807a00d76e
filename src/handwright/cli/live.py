"""The command 'live': fingers for wrists that are tracked now, over a websocket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from handwright.cli.console import unset
from handwright.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from handwright.core.body import RigidBody


def live(
    *,
    object: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SHAPE|FILE ...")],
    model: Annotated[str, tyro.conf.arg(metavar="MODEL")] = "shipped",
    port: Annotated[int | None, unset("INT")] = None,
) -> None:
    """Give tracked hands their fingers, while they move, over a websocket.

    Serves programs of this machine, one at a time: they send poses of wrists and of an object, and
    get the hands with all joints as much later as the network looks ahead. What is said is in
    docs/how-to/live-fingers.md; examples/live_client.py is a client. Ctrl-C and SIGTERM end it.

    Args:
        object: One or more objects, which clients may put in the place of each other: shapes that
            'handwright shapes' lists, or mesh files. The first is there at first.
        model: Folder of a network made by 'handwright train', or the one of the package.
        port: Where to listen; the first free one from 8765 on by default.
    """
    from handwright.live.server import listen, serve
    from handwright.live.stage import LiveStage
    from handwright.methods.neural.live.network_fingers import finger_model
    from handwright.methods.neural.network.runtime import load_network

    with listen(port) as listener:
        fingers = finger_model(load_network(model))
        stage = LiveStage(fingers, _bodies(object))
        print("Making ready ...", flush=True)
        stage.rehearse()
        address, number = listener.getsockname()
        names = ", ".join(stage.objects)
        print(f"Live fingers for {names} at ws://{address}:{number} (Ctrl-C ends it).", flush=True)
        serve(stage, listener)


def _bodies(given: tuple[str, ...]) -> dict[str, RigidBody]:
    """Bodies by name: that of the shape, or the file's without its suffix."""
    bodies: dict[str, RigidBody] = {}
    for word in given:
        body = _body(word)
        if body.name in bodies:
            raise InvalidValueError(
                f"--object has two objects '{body.name}'; expected a name for each. Rename a file."
            )
        bodies[body.name] = body
    if not bodies:
        raise InvalidValueError("--object is empty; expected one or more shapes or mesh files.")
    return bodies


def _body(word: str) -> RigidBody:
    from handwright.geometry.mesh.bodies import load_body
    from handwright.geometry.shapes import SHAPES, make_shape

    if word in SHAPES:
        return make_shape(word)
    if Path(word).suffix:
        return load_body(word)
    raise UnknownNameError("shape", word, SHAPES)
