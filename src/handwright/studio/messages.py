"""What the studio's server and page say to each other.

``python -m handwright.studio.typescript`` writes the same types for the page. Units are SI and in
the text of each field; axes are the package's own, Z up, quaternions wxyz. Only .glb files are Y
up, and what the text calls so.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Vector = Annotated[list[FiniteFloat], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[FiniteFloat], Field(min_length=4, max_length=4)]
Number = FiniteFloat


class Message(BaseModel):
    """Something that is said; it does not change, and unknown fields are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


# ---- what there is ----------------------------------------------------------------------------


class About(Message):
    """The server."""

    version: str
    folder: str
    """Name of the folder whose clips are shown; its last part only."""
    has_films: bool
    """Whether .mp4 can be written."""
    has_usd: bool
    """Whether .usd can be written."""


class BodyInfo(Message):
    """A body of a scene."""

    name: str
    mass: Number
    """kg."""
    friction: Number
    """Coulomb coefficient against skin."""
    size: Vector
    """Edges of its bounding box, m."""


class SceneInfo(Message):
    """A named problem."""

    name: str
    summary: str
    """One line."""
    method: str
    """The one that suits it."""
    num_frames: int
    duration: Number
    """s."""
    hands: list[str]
    bodies: list[BodyInfo]
    digits: list[str]
    """As pins and preferences name them, such as ``index`` or ``left.index``."""
    goals: list[GoalRequest]
    """The last goal of each body that has one of its own place, as the scene gives it."""
    is_live: bool
    """Whether it can be stepped and pushed live."""
    is_uploaded: bool
    """Whether a user brought it."""


class Setting(Message):
    """A setting of a method, for a form."""

    name: str
    label: str
    """The name in words."""
    kind: Literal["integer", "number", "boolean", "choice"]
    default: int | Number | bool | str | None
    """None where the setting may be left out."""
    choices: list[str | int]
    """For the kind ``choice``, else empty."""
    is_optional: bool
    """Whether null is a value."""
    unit: str
    """Such as ``s``; empty if there is none."""
    help: str
    is_basic: bool
    """Whether it is among the few that most people change."""


class MethodInfo(Message):
    """A method and its settings."""

    name: str
    title: str
    paper: str
    """Authors and year; empty if there is none."""
    settings: list[Setting]


class ShapeInfo(Message):
    """A parametric body that can take another's place."""

    name: str
    summary: str


# ---- clips ------------------------------------------------------------------------------------


class Figure(Message):
    """A metric of a clip."""

    name: str
    label: str
    """In words."""
    value: Number | None
    """None if it does not exist."""
    unit: str


class Strategies(Message):
    """How often digits hold their place, slide and go to other places."""

    hold: int
    slide: int
    relocate: int


class ClipSummary(Message):
    """A clip on the wall. What a judge says is None until it has been judged."""

    id: str
    file: str
    """Path in the folder."""
    scene: str
    method: str
    seed: int
    num_frames: int
    fps: Number
    duration: Number
    """s."""
    created: Number
    """s since 1970."""
    job: str | None
    """That made it, if it is of this server's."""
    is_favourite: bool
    is_certified: bool | None
    verdict: str | None
    """One sentence."""
    figures: list[Figure] | None
    strategies: Strategies | None
    cluster: int | None
    """Clips of one scene and length that move alike have the same number, from 0."""
    trouble: str | None
    """Why it cannot be read or judged, if so."""


class Strip(Message):
    """One digit, or a palm, on one body over time."""

    hand: str
    digit: str
    """Such as ``index``, or ``palm``."""
    body: str
    mode: list[int]
    """For each frame -1 for no contact, else 0 static, 1 sliding, 2 rolling, 3 colliding."""
    force: list[Number]
    """Sum of its forces on the body, N; 0 where none is known."""


class Curve(Message):
    """A figure over time."""

    name: str
    label: str
    unit: str
    values: list[Number | None]
    """For each frame."""
    allowed: Number | None
    """Largest value that passes; None if there is no limit."""


class CheckInfo(Message):
    """One part of a verdict."""

    name: str
    label: str
    """In words."""
    is_passed: bool
    worst: Number
    allowed: Number
    unit: str
    num_failing: int
    """Frames."""
    detail: str


class ContactTable(Message):
    """Contacts of a clip by columns, ordered by frame."""

    frame: list[int]
    toucher: list[str]
    """A hand, a body, or ``environment``."""
    digit: list[str]
    """Of the hand, or ``palm``; empty for others."""
    body: list[str]
    mode: list[int]
    """As in a strip."""
    point: list[Vector]
    """m, in the world."""
    normal: list[Vector]
    """Unit length, into the body."""
    force: list[Vector | None]
    """On the body, N."""
    margin: list[Number | None]
    """1 for a straight push, 0 on the edge of the friction cone; None without force."""
    friction: list[Number]
    """Coefficient."""


class Timeline(Message):
    """All that is shown under a stage."""

    id: str
    """Of the clip."""
    times: list[Number]
    """s, from 0."""
    strips: list[Strip]
    failed: list[list[str]]
    """For each frame, labels of the checks that fail, with their values; empty if all pass."""
    curves: list[Curve]
    checks: list[CheckInfo]
    contacts: ContactTable
    verdict: str
    notes: list[str]


class Comparison(Message):
    """Two clips of one length."""

    first: str
    second: str
    times: list[Number]
    curves: list[Curve]
    """Distances of fingertips in the wrist's frame and of bodies, and differences of forces."""


class FavouriteRequest(Message):
    """A clip is, or is no longer, a favourite."""

    is_favourite: bool


# ---- jobs -------------------------------------------------------------------------------------


class PinRequest(Message):
    """A digit that must touch a body at a point."""

    digit: str
    point: Vector
    """In the body's frame, m."""
    start: Number
    """s."""
    end: Number | None
    """s; None for as long as it can."""
    body: str | None = None
    """On which it was placed; hands touch the one that they hold at the time."""


class GoalRequest(Message):
    """Where a body should be at a time; takes the place of the scene's last goal for it."""

    body: str
    position: Vector
    """m."""
    wxyz: Quaternion | None
    """None if the orientation does not matter."""
    time: Number
    """s."""


class BodyEdit(Message):
    """What is changed about a body of the scene. None leaves it as it is."""

    body: str
    shape: str | None = None
    """Name of a shape that takes its place."""
    upload: str | None = None
    """Identifier of an uploaded mesh that takes its place."""
    mass: Annotated[Number, Field(gt=0.0, le=100.0)] | None = None
    """kg."""
    friction: Annotated[Number, Field(ge=0.0, le=5.0)] | None = None


class HandEdit(Message):
    """A hand that is moved relative to the bodies."""

    hand: str
    offset: Vector
    """m, in the frame of the hand's root."""


class JobRequest(Message):
    """A motion that is wanted."""

    scene: str
    """Name of a scene, or of an uploaded one."""
    method: str | None = None
    """None for the one that suits it."""
    settings: dict[str, int | Number | bool | str | None] = {}
    """Those that are not the default."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    bodies: list[BodyEdit] = []
    hands: list[HandEdit] = []
    pins: list[PinRequest] = []
    goals: list[GoalRequest] = []
    certify: bool = True
    """Whether only certified motions are kept; False is for research on methods."""


class JobInfo(Message):
    """A job in the queue."""

    id: str
    scene: str
    method: str
    seed: int
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    stage: str
    """What it does now, or how it ended, in words."""
    wanted: int | None
    """Motions asked for."""
    found: int
    clips: list[str]
    """Identifiers of its clips, as they were found."""
    statistics: dict[str, Number]
    """Such as ``dead_ends`` and ``total_frames``."""
    seconds: Number
    """Of the present stage."""
    budget: Number | None
    """s that the stage may take."""
    created: Number
    """s since 1970."""
    message: str
    """What went wrong and what to do; empty if nothing did."""
    request: JobRequest


class Upload(Message):
    """A file that a user brought."""

    id: str
    name: str
    kind: Literal["mesh", "scene", "clip"]
    """A mesh takes a body's place; a scene has tracks or goals; a clip joins the wall."""
    summary: str
    """What is in it, in words."""
    tracks: list[str] = []
    """Names of its tracks, to make a scene of."""
    scene: str | None = None
    """Name of the scene that a file of goals has become."""


class SceneFromTracks(Message):
    """Makes a scene of uploaded tracks and a body."""

    name: str
    tracks: str
    """Identifier of an upload that holds tracks of a wrist and a body."""
    hand: str
    """Track of the hand's root; ``left`` or ``right`` in its name chooses the side."""
    body: str
    """Track of the body."""
    mesh: str | None
    """Identifier of an uploaded mesh; None for a shape."""
    shape: str | None
    mass: Annotated[Number, Field(gt=0.0, le=100.0)]
    """kg."""
    friction: Annotated[Number, Field(ge=0.0, le=5.0)]


class Trouble(Message):
    """Why a request was refused: what was given, what was expected, what to do."""

    message: str


# ---- events over /api/events (server-sent; the event's name is the kind) -------------------------


class ClipGone(Message):
    """A clip that is no longer in the folder."""

    id: str


class StudioEvent(Message):
    """One event; one of the fields is set."""

    kind: Literal["job", "clip", "clip_gone"]
    job: JobInfo | None = None
    clip: ClipSummary | None = None
    clip_gone: ClipGone | None = None


# ---- the stand-alone report ---------------------------------------------------------------------


class ReportClip(Message):
    """A clip of a report."""

    summary: ClipSummary
    timeline: Timeline
    model: str
    """The .glb in base64."""


class ReportData(Message):
    """All that a report holds."""

    title: str
    version: str
    created: Number
    """s since 1970."""
    clips: list[ReportClip]
