"""Commands that take a clip file: what is in it, what it is worth, other formats, once more."""

from __future__ import annotations

import json as json_module
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import FlagCreatePairsOff, Positional

from handwright.cli.console import ClipPath, make_console, make_table, unset, writable_folder
from handwright.errors import InvalidValueError


def info(
    file: Annotated[Positional[Path], tyro.conf.arg(metavar="FILE")],
    /,
    *,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Say what is in a clip file: how it was made, hands, bodies, frames. Judges nothing.

    Args:
        file: A clip file or a ManipNet recording (.npz).
        json: Print one JSON object instead of a table.
    """
    from handwright.io.clip.file import load_certificate, load_clip
    from handwright.io.clip.summary import clip_facts, clip_rows
    from handwright.io.manipnet.dataset import is_recording, read_recording

    if is_recording(file):
        recording = read_recording(file)
        print(json_module.dumps(recording.facts()) if json else recording)
        return
    clip = load_clip(file)
    if json:
        print(json_module.dumps(clip_facts(clip, load_certificate(file))))
        return
    table = make_table("what", "value")
    for row in clip_rows(clip, load_certificate(file)):
        table.add_row(*row)
    make_console().print(table, highlight=False, markup=False)


def verify(
    clip: ClipPath,
    /,
    *,
    smoothing_hz: Annotated[float | None, unset("HZ")] = None,
    soft_tissue_mm: float = 0.0,
    skin_stretch_mm: float = 0.0,
    against: Annotated[str | None, unset("SCENE")] = None,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Certify a clip: can contact forces move its bodies as shown? Passes or fails.

    Everything is judged anew from poses, shapes, mass and friction; nothing is taken from the
    method that made the clip. Ends with exit code 1 if the clip is not certified, or is not of the
    problem that --against names.

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        smoothing_hz: Cut-off of a low-pass over body tracks, for recorded motion, Hz.
        soft_tissue_mm: Depth by which soft pads may sink in, mm.
        skin_stretch_mm: Tangential stretch of the skin before a contact counts as sliding, mm.
        against: A scene by its name, or a problem file (.yaml): also say in what bodies, masses,
            surroundings, tracks and goals of the clip are not those of it.
        json: Print one JSON object with every frame instead of a table.
    """
    from handwright.evidence import Tolerances, certify
    from handwright.evidence.problem_match import problem_differences
    from handwright.io.clip.npz_file import load_npz
    from handwright.printable import printable

    tolerances = Tolerances(
        smoothing_hz=smoothing_hz,
        soft_tissue=1e-3 * soft_tissue_mm,
        skin_stretch=1e-3 * skin_stretch_mm,
    )
    loaded, differences = load_npz(clip), list[str]()
    if against is not None:
        from handwright.cli.synth import load_problem

        differences = problem_differences(loaded, load_problem(against)[1])
    certificate = certify(loaded, tolerances=tolerances)
    if json:
        document = json_module.loads(certificate.to_json())
        if against is not None:
            document["against"] = {"problem": against, "differences": differences}
        print(json_module.dumps(document, allow_nan=False))
    else:
        print(certificate)
        if against is not None:
            same = f"the problem of the clip is not that of '{printable(against)}':"
            is_it = f"the problem of the clip is that of '{printable(against)}'"
            print("\n  - ".join([same, *map(printable, differences)]) if differences else is_it)
    if differences or not certificate.passed:
        raise SystemExit(1)


def evaluate(
    clip: ClipPath,
    /,
    *,
    contact_distance_mm: float = 3.0,
    sliding_speed: float = 0.1,
    all_frames: FlagCreatePairsOff[bool] = False,
    cone: Literal["inscribed", "circumscribed"] = "inscribed",
    sweep: FlagCreatePairsOff[bool] = False,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Measure a clip: penetration, realism, smoothness, contacts. Numbers without a verdict.

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        contact_distance_mm: Gap up to which a capsule touches, for the published metric, mm.
        sliding_speed: Speed above which a contact slides, for the published metric, m/s.
        all_frames: Also count frames in which the body rests on the surroundings, for the same.
        cone: Where the edges of its friction pyramids lie: on the cone, or on the square around it.
        sweep: Also show how the realism changes with each of these.
        json: Print one JSON object instead of a table.
    """
    from handwright.evidence import PublishedConventions
    from handwright.evidence import evaluate as measure
    from handwright.evidence.metrics.sweep import sweep_conventions
    from handwright.io.clip.npz_file import load_npz

    loaded = load_npz(clip)
    conventions = PublishedConventions(
        contact_distance=1e-3 * contact_distance_mm,
        sliding_speed=sliding_speed,
        only_airborne=not all_frames,
        cone=cone,
    )
    report = measure(loaded, conventions=conventions)
    swept = {
        name: sweep_conventions(loaded, name, conventions)
        for name in (loaded.bodies if sweep else ())
    }
    if json:
        document = json_module.loads(report.to_json())
        if sweep:
            document["sweep"] = {
                name: [row.plain() for row in rows] for name, rows in swept.items()
            }
        print(json_module.dumps(document, allow_nan=False))
        return
    print(report)
    for name, rows in swept.items():
        for row in rows:
            print(f"{name}: realism with {row}")


def export(
    clip: ClipPath,
    out: Annotated[Positional[Path], tyro.conf.arg(metavar="FILE")],
    /,
) -> None:
    """Write a clip in another format, chosen by the suffix.

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        out: Such as turn.glb, turn.bvh, turn.usd, turn.csv; turn.mp4, turn.gif, turn.png.
    """
    from handwright.io.clip.npz_file import load_npz
    from handwright.render.film import export as write

    writable_folder(out.parent)
    write(load_npz(clip), out)
    make_console().print(f"Wrote {out}.", soft_wrap=True, highlight=False)


@dataclass(frozen=True, slots=True)
class FilmOptions:
    """How a film or a strip of stills looks."""

    width: int = 640
    """Pixels, even."""
    height: int = 480
    """Pixels, even."""
    fps: float = 30.0
    """Frames of the film for each second of the motion."""
    stills: int = 8
    """Number of pictures in a strip."""
    azimuth: float | None = None
    """Where the camera stands, turning anticlockwise about the vertical, degrees; -60 if not given,
    or in front of people with arms."""
    elevation: float | None = None
    """Height of the camera above the horizon, degrees; 25 if not given."""
    plain: FlagCreatePairsOff[bool] = False
    """Leave out contact points and force arrows."""
    no_figure: FlagCreatePairsOff[bool] = False
    """Leave out the upper body behind hands with arms."""
    beside: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE.npz ...")] = ()
    """More clips, to be seen beside the first."""
    labels: Annotated[tuple[str, ...], tyro.conf.arg(metavar="TEXT ...")] = ()
    """What is written below each of several clips; the names of their files if not given."""


def render(
    clip: ClipPath,
    out: Annotated[Positional[Path], tyro.conf.arg(metavar="OUT")],
    /,
    *,
    film: Annotated[FilmOptions, tyro.conf.arg(name="")],
) -> None:
    """Film a clip (.mp4, .gif), or several beside each other, or draw stills (.png).

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        out: The film or picture to write.
        film: How it looks.
    """
    import math

    from handwright.io.clip.npz_file import load_npz
    from handwright.render.camera import Camera
    from handwright.render.clip_scene import Overlay
    from handwright.render.film import FilmSettings, render_clip
    from handwright.render.side_by_side import render_side_by_side

    files = (clip, *film.beside)
    labels = film.labels or tuple(file.stem for file in files)
    if not len(labels) == len(set(labels)) == len(files):
        raise InvalidValueError(
            f"There are {len(files)} clips and the labels {', '.join(labels)}; expected one for "
            "each, all different. Pass --labels."
        )
    usual = Camera()
    azimuth = usual.azimuth if film.azimuth is None else math.radians(film.azimuth)
    elevation = usual.elevation if film.elevation is None else math.radians(film.elevation)
    is_told = film.azimuth is not None or film.elevation is not None
    settings = FilmSettings(
        width=film.width,
        height=film.height,
        fps=film.fps,
        stills=film.stills,
        camera=Camera(azimuth, elevation) if is_told else None,
        overlay=Overlay(contacts=not film.plain, forces=not film.plain, figure=not film.no_figure),
    )
    writable_folder(out.parent)
    if len(files) == 1:
        render_clip(load_npz(clip), out, settings)
    else:
        clips = {label: load_npz(file) for label, file in zip(labels, files, strict=True)}
        render_side_by_side(clips, out, settings)
    make_console().print(f"Wrote {out}.", soft_wrap=True, highlight=False)


def reproduce(clip: ClipPath, /) -> None:
    """Make the motion of a clip again from its provenance: do the same bytes come out?

    The problem, the method, its settings and the seed are taken from the file. Ends with exit code
    1 if no motion with the same bytes comes out.

    Args:
        clip: A clip file that 'handwright synth' or hw.synthesize made (.npz).
    """
    from handwright.cli.reproduction import reproduce_clip
    from handwright.io.clip.file import load_certificate, load_clip

    judged = load_certificate(clip)
    found = reproduce_clip(load_clip(clip), was_refused=judged is not None and not judged.passed)
    console = make_console()
    for text in found.lines():
        console.print(text, soft_wrap=True, highlight=False, markup=False)
    if found.number is None:
        raise SystemExit(1)
