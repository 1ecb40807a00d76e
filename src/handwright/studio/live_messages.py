"""What the studio's server and page say to each other over the websocket ``/api/live``.

Units and axes are those of ``messages.py``; what is shown is Y up, as .glb files are.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from handwright.studio.messages import Message, Number, Quaternion, Vector


class LiveCommand(Message):
    """From the page. ``start`` names a scene, ``push`` a body, its point and a force.

    ``fingers`` starts learned fingers for hands and a prop, and ``swap`` brings another prop.
    ``move`` wishes the prop elsewhere; ``take`` and ``let_go`` name a hand, or mean the first.
    ``throwing`` starts an arm that throws a prop and catches it, and ``aim`` says what its next
    throws shall be: what is left out stays as it is.
    A page that says ``seen`` after each frame gets no more than a few that it has not seen.
    """

    kind: Literal[
        "start", "push", "release", "pause", "resume", "reset", "save",
        "fingers", "move", "take", "let_go", "swap", "record", "seen", "throwing", "aim",
    ]  # fmt: skip
    scene: str | None = None
    body: str | None = None
    point: Vector | None = None
    """In the body's frame, m."""
    force: Vector | None = None
    """In the world, N; stays on until ``release`` or another push."""
    hands: list[Literal["right", "left"]] | None = None
    """For ``fingers``; the first one takes the prop where none is named."""
    hand: Literal["right", "left"] | None = None
    prop: str | None = None
    place: Vector | None = None
    """Where the prop, or the box that is thrown at, should be in the world, m."""
    shift: Vector | None = None
    """In the world, from where it should be so far, m; boxes stop at the edge of their room."""
    turn: Vector | None = None
    """Rotation vector in the world, rad."""
    target: Literal["height", "box"] | None = None
    """What balls are thrown to."""
    height: Number | None = None
    """To which balls are thrown, above the hollow of the palm at rest, m."""
    half_turns: int | None = None
    """By which long things turn in the air."""


class LiveHand(Message):
    """A hand in one frame, for the nodes of its .glb. Y up; quaternions xyzw."""

    name: str
    position: Vector
    """Of the node ``<name>:root``, m."""
    xyzw: Quaternion
    joints: list[Quaternion]
    """Turns of the nodes ``<name>:<joint>``, in the order of ``asset.extras.handwright.hands``."""
    between: list[Quaternion]
    """Turns of the nodes that only the skin has, in the order of ``between`` there."""


class LiveBody(Message):
    """A body in one frame, for its node. Y up; quaternion xyzw."""

    name: str
    position: Vector
    xyzw: Quaternion


class LiveContact(Message):
    """A contact. Y up."""

    body: str
    digit: str
    mode: int
    point: Vector
    force: Vector
    """On the body, N."""


class HandState(Message):
    """What a hand with learned fingers does."""

    name: str
    phase: Literal["away", "reaching", "holding", "leaving"]
    """Of its wrist, now; what is shown comes later."""
    touching: list[str]
    """Digits, and ``palm``, at the prop as it is shown."""


class FingersState(Message):
    """Of learned fingers, beside what is shown."""

    wish: LiveBody
    """The prop that was chosen, where it should be."""
    hands: list[HandState]
    delay: Number
    """How much later than wrists and prop were moved they are shown, s."""
    milliseconds: Number
    """Of computing for a frame."""
    counts: dict[str, int]
    """What has happened, by the names of ``COUNTS`` of live fingers; those above zero."""
    recorded: Number | None
    """Length of the recording, s; None while nothing is recorded."""
    note: str
    """Why something was not done; empty if all was."""


class ThrownThing(Message):
    """Something that can be thrown."""

    name: str
    size: Vector
    """Edges of its bounding box, m."""
    mass: Number
    """kg."""
    half_turns: list[int]
    """By which it can be turned end over end; of balls none, which are thrown to a target."""


class ThrowingChoices(Message):
    """What an arm that throws can be asked for."""

    things: list[ThrownThing]
    heights: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]
    """The least and the greatest, above the hollow of the palm at rest, m."""
    palm: Vector
    """The hollow of the palm at rest, in the world, m."""
    box_low: Vector
    """Corner of the room of the box's centre, in the world, m."""
    box_high: Vector
    """The opposite corner."""


class ThrowingState(Message):
    """Of an arm that throws, beside what is shown."""

    thing: str
    """That was asked for; what is shown is swapped while the hand is at rest."""
    target: Literal["height", "box", "half_turns"]
    """What the next throws are for."""
    height: Number
    """Above the hollow of the palm at rest, m."""
    half_turns: int
    box: Vector
    """Where the box should be, in the world, m; it goes there while the hand holds the thing."""
    phase: Literal["holding", "throwing", "going_back", "catching", "lost"]
    counted: Literal["height", "box", "half_turns"]
    """What the throws that follow were for: counts begin anew with another thing or target."""
    throws: int
    in_a_row: int
    """Throws in a row that did what they should and were caught."""
    most_in_a_row: int
    dropped: int
    asked: Number | None
    """Height of the last throw to a height, as asked for, m."""
    reached: Number | None
    """The same, as reached, m."""
    milliseconds: Number
    """Of computing for a frame."""
    recorded: Number | None
    """Length of the recording, s; None while nothing is recorded."""
    note: str
    """Why something was not done; empty if all was."""


class LiveFrame(Message):
    """To the page. ``ready`` brings the address of a .glb of the first frame; then come frames."""

    kind: Literal["preparing", "ready", "frame", "saved", "trouble"]
    message: str = ""
    """For ``preparing`` and ``trouble``."""
    model: str = ""
    """Address of the .glb, for ``ready``."""
    clip: str = ""
    """Identifier, for ``saved``."""
    time: Number = 0.0
    """s."""
    hands: list[LiveHand] = Field(default_factory=list)
    bodies: list[LiveBody] = Field(default_factory=list)
    contacts: list[LiveContact] = Field(default_factory=list)
    fps: Number = 0.0
    """Frames that the server made in a second; of scenes that are pushed, those that it could."""
    fingers: FingersState | None = None
    throwing: ThrowingState | None = None
    choices: ThrowingChoices | None = None
    """For ``ready``, of an arm that throws."""
