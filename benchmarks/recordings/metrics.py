"""The published metrics on four recordings, beside an independent implementation's figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from jaxtyping import Float

from benchmarks.recordings.bands import REFERENCES, bands
from handwright.core.clip import Clip
from handwright.evidence import PublishedConventions, physical_realism, smoothness
from handwright.evidence.metrics.realism import CapsuleContacts, Cone, capsule_contacts
from handwright.evidence.metrics.smoothness import smoothness_of
from handwright.geometry.distance.exact import ExactDistance
from handwright.io.manipnet.dataset import Recording, read_recording
from handwright.math import rotation

if TYPE_CHECKING:
    from rich.console import Group

DISTANCES = (0.0, 0.002, 0.003, 0.005)
"""Contact distances of the sweep, m."""
FPS = 60.0
_CONES = get_args(Cone)
_MEANINGS = {
    "acceleration": "joints as recorded, cm/s²",
    "acceleration_matched": "joints of the matched hand, cm/s²",
    "penetration": "mean over pairs of frame and capsule that penetrate, cm",
    "skin_mean": "recorded skin, deepest vertex, mean over frames with one inside, cm",
    "skin_max": "recorded skin, deepest of all, cm",
    "realism": "edges of the pyramid on the friction cone, contact at 3 mm, %",
    "realism_circumscribed": "edges at the corners of the square around it, 3 mm, %",
}


def recorded_joints(recording: Recording) -> Float[np.ndarray, "T N 3"]:
    """The 22 joints of each recorded hand in its wrist's frame at 60 Hz, m."""
    cut = recording.frames(None, None, FPS)
    parts = []
    for hand in recording.fingers.values():
        some = hand.cut(cut)
        wrist = np.zeros_like(some.thumb_base)[:, None]
        parts += [some.position, some.thumb_base[:, None], wrist]
    return np.concatenate(parts, axis=1)


def skin_depth(recording: Recording) -> Float[np.ndarray, " T"]:
    """How deep the deepest vertex of the recorded skins is in the body at 60 Hz, m; 0 if none."""
    cut = recording.frames(None, None, FPS)
    body = recording.tracks[recording.body.name].pose[cut]
    exact = ExactDistance.from_body(recording.body)
    low, high = recording.body.bounds
    turn = rotation.to_matrix(body.wxyz)
    depth = np.zeros(len(body))
    for side in recording.sides:
        world = recording.skin_vertices(side, cut)
        local = np.einsum("tvi,tij->tvj", world - body.position[:, None], turn)
        # Only what is in the box can be in the body.
        frame, vertex = np.nonzero(((local > low) & (local < high)).all(axis=-1))
        points = local[frame, vertex]
        is_inside = exact.is_inside(points)
        distance = exact.signed_distance(points[is_inside])[0]
        np.maximum.at(depth, frame[is_inside], -distance)
    return depth


def _realism(
    clip: Clip, name: str, found: CapsuleContacts, step: Callable[[str], None]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Realism by cone and distance in mm, and the figures that do not depend on them."""
    table: dict[str, dict[str, float]] = {cone: {} for cone in _CONES}
    other: dict[str, float] = {}
    for cone in _CONES:
        step(f"forces, {cone}")
        for distance in DISTANCES:
            conventions = PublishedConventions(contact_distance=distance, cone=cone, fps=FPS)
            result = physical_realism(clip, name, conventions, found=found)
            table[cone][f"{1e3 * distance:g}"] = result.percent
            other = {
                "penetration": result.penetration,
                "deepest": result.deepest,
                "counted": result.counted,
            }
    return table, other


def measure(
    recording: Recording, step: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """All figures of one recording.

    Args:
        recording: With fingers.
        step: Told what is done next.
    """
    name = recording.body.name
    step("fingers")
    clip = recording.clip(fps=FPS)
    step("contacts")
    found = capsule_contacts(clip, name, reach=max(DISTANCES))
    realism, other = _realism(clip, name, found, step)
    step("skin")
    depth = skin_depth(recording)
    inside = depth[depth > 0.0]
    joints = recorded_joints(recording)
    return {
        "frames": clip.num_frames,
        "acceleration": smoothness_of(joints, clip.times).acceleration,
        "acceleration_matched": smoothness(clip, fps=FPS).acceleration,
        **other,
        "skin_mean": 1e2 * float(inside.mean()) if inside.size else 0.0,
        "skin_max": 1e2 * float(depth.max()),
        "realism_sweep": realism,
        "realism": realism["inscribed"]["3"],
        "realism_circumscribed": realism["circumscribed"]["3"],
    }


_STEPS = 6
"""Calls of ``step`` for each recording, reading included."""


def run(data: Path) -> dict[str, Any]:
    """Measures the four recordings; one to two minutes.

    Args:
        data: Folder with the recordings, as described in ``handwright.io.manipnet.dataset``.
    """
    from rich.console import Console
    from rich.progress import Progress

    result: dict[str, Any] = {
        "conventions": str(PublishedConventions(fps=FPS)),
        "recordings": {},
    }
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=_STEPS * len(REFERENCES))
        for name in REFERENCES:

            def step(text: str, name: str = name) -> None:
                progress.update(task, advance=1, description=f"{name}: {text}")

            progress.update(task, description=f"{name}: reading")
            figures = measure(read_recording(data / "sequences" / f"{name}.npz"), step)
            progress.update(task, advance=1)
            limits = bands(name)
            figures["bands"] = {key: list(limit) for key, limit in limits.items()}
            figures["in_band"] = {
                key: low <= figures[key] <= high for key, (low, high) in limits.items()
            }
            result["recordings"][name] = figures
    result["bars_met"] = all(
        is_in
        for figures in result["recordings"].values()
        for key, is_in in figures["in_band"].items()
        if key != "realism_circumscribed"
    )
    return result


def describe(result: dict[str, Any]) -> Group:
    """The figures with their bands, the sweep of the contact distance, and the conventions."""
    from rich.console import Group
    from rich.table import Table

    judged = Table(title="Published metrics on recordings")
    judged.add_column("figure")
    judged.add_column("recording")
    for heading in ("value", "band", "within"):
        judged.add_column(heading, justify="right")
    for key, meaning in _MEANINGS.items():
        for number, (name, figures) in enumerate(result["recordings"].items()):
            low, high = figures["bands"][key]
            judged.add_row(
                (key, meaning)[number] if number < 2 else "",
                name,
                f"{figures[key]:.4g}",
                f"{low:.4g} to {high:.4g}",
                "yes" if figures["in_band"][key] else "[bold red]NO[/]",
            )
        judged.add_section()
    sweep = Table(title="Physical realism, %, by contact distance")
    sweep.add_column("recording")
    sweep.add_column("cone")
    for distance in DISTANCES:
        sweep.add_column(f"{1e3 * distance:g} mm", justify="right")
    for heading in ("frames counted", "deepest capsule cm"):
        sweep.add_column(heading, justify="right")
    for name, figures in result["recordings"].items():
        wanted = REFERENCES[name]
        for cone, row in figures["realism_sweep"].items():
            ends = (str(figures["counted"]), f"{figures['deepest']:.2f}")
            sweep.add_row(name, cone, *(f"{value:.1f}" for value in row.values()), *ends)
        cells = [f"{value:g}" for value in wanted.realism]
        sweep.add_row(name, "reference", *cells, "", f"{wanted.deepest:.2f}", style="dim")
    return Group(
        judged, sweep, f"Conventions, unless the table says otherwise: {result['conventions']}."
    )
