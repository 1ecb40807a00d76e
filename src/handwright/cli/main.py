"""The command line: ``handwright COMMAND``.

Nothing heavy is imported at module level, so that help comes at once; each command imports what it
needs. A user's mistake is printed without a traceback and ends with exit code 1; a command line
that cannot be read ends with 2.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import FlagCreatePairsOff, Positional

from handwright.cli.arguments import ClipPath, make_console, unset, writable_folder
from handwright.cli.benchmarks import load_benchmark
from handwright.cli.reactions import push, replay
from handwright.cli.studio import report, studio
from handwright.errors import HandwrightError, InvalidValueError, require

_DESCRIPTION = """Synthesises dexterous hand-object manipulation.

With any command, --debug shows the traceback of an error. --version prints the version."""
_INTERRUPTED = 130
_CLOSED_PIPE = 141


_Strategy = Literal["mixed", "static", "slide", "relocate"]
_Hold = Literal["anywhere", "handle", "inside", "outside"]


def hands() -> None:
    """List the hands."""
    from rich.table import Table

    from handwright.hands.registry import HANDS, make_hand, straight_length

    table = Table("hand", box=None, pad_edge=False)
    for heading in ("joints", "capsules", "length mm"):
        table.add_column(heading, justify="right")
    table.add_column("what it is")
    for name, entry in HANDS.items():
        model = make_hand(name)
        length = f"{1000.0 * straight_length(model):.0f}"
        counts = (str(model.num_joints), str(len(model.capsules)))
        table.add_row(name, *counts, length, entry.summary)
    make_console().print(table)


def shapes() -> None:
    """List the parametric bodies."""
    from rich.table import Table

    from handwright.geometry.shapes import SHAPES

    table = Table("shape", "what it is", box=None, pad_edge=False)
    for name, shape in SHAPES.items():
        table.add_row(name, shape.summary)
    make_console().print(table)


def scenes() -> None:
    """List the scenes: named problems with tracks of wrists and bodies, or with goals."""
    from rich.table import Table

    from handwright.scenes import SCENES, goal_scenes

    table = Table("scene", box=None, pad_edge=False)
    table.add_column("frames", justify="right")
    for heading in ("hands", "bodies", "gives", "what happens"):
        table.add_column(heading)
    for gives, listed in (("tracks", SCENES), ("goals", goal_scenes())):
        for name, scene in listed.items():
            who, what = ", ".join(scene.hands), ", ".join(scene.bodies)
            table.add_row(name, str(scene.num_frames), who, what, gives, scene.summary)
    make_console().print(table)


def show(
    name: Annotated[Positional[str], tyro.conf.arg(metavar="NAME")],
    out: Annotated[Positional[Path], tyro.conf.arg(metavar="OUT.png")],
    /,
    *,
    pose: str = "rest",
    views: int = 8,
    size: int = 320,
) -> None:
    """Draw a hand or a shape from all round.

    Args:
        name: A hand or a shape; see the commands hands and shapes.
        out: The picture to write.
        pose: Named pose of a hand, or all for one row each.
        views: Number of views round it.
        size: Width and height of each view, pixels.
    """
    from handwright.hands.registry import HANDS
    from handwright.render.camera import Camera
    from handwright.render.named import sheet_rows
    from handwright.render.sheet import contact_sheet, turntable
    from handwright.render.still import check_png, write_png

    writable_folder(check_png(out).parent)
    for option, value in (("--views", views), ("--size", size)):
        if value < 1:
            raise InvalidValueError(f"{option} is {value}; expected 1 or more.")
    # A hand is seen palm first, a thing a little from above.
    camera = Camera(azimuth=0.0, elevation=0.2) if name in HANDS else Camera()
    images, labels = [], []
    for row, items in sheet_rows(name, pose).items():
        images += turntable(items, views, camera=camera, width=size, height=size)
        labels += [f"{row}, {360.0 * view / views:.0f}°" for view in range(views)]
    columns = views if len(images) > views else min(views, 4)
    write_png(contact_sheet(images, columns, labels), out)
    make_console().print(f"Wrote {out}.", soft_wrap=True, highlight=False)


_BenchName = Literal[
    "kernels",
    "forces",
    "verify",
    "sampling",
    "spread",
    "preferences",
    "trajopt",
    "stepwise",
    "recordings",
    "recorded-hand",
    "metrics",
    "studio",
]


def bench(
    name: Annotated[Positional[_BenchName], tyro.conf.arg(metavar="NAME")] = "kernels",
    /,
    *,
    data: Annotated[Path | None, unset("FOLDER")] = None,
    scenes: Annotated[str | None, unset("NAMES")] = None,
    scene: Annotated[str | None, unset("NAME")] = None,
    num: Annotated[int | None, unset("INT")] = None,
    seeds: Annotated[int | None, unset("INT")] = None,
    budget: Annotated[float | None, unset("SECONDS")] = None,
    windows: Annotated[int | None, unset("INT")] = None,
    frames: Annotated[int | None, unset("INT")] = None,
    figure: Annotated[Path | None, unset("FILE.png")] = None,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Measure speed and exactness against the tools and recordings one would compare with.

    kernels times kinematics, distances, inverse kinematics and ray casts beside mujoco, libigl and
    mink. forces times the contact force solvers beside Clarabel. verify times the certificate on a
    clip that passes, and on faults. sampling times contact sampling on the five scenes of its
    paper, checks every motion, and times the test of one frame beside SLSQP and Clarabel. spread
    shows how much wider its search roams than the paper's plain one. preferences counts what wishes
    and edited problems change. trajopt makes motions for the scenes with goals, checks them, and
    times the solver beside L-BFGS-B with finite differences. stepwise steps through the scenes with
    grips, holds their ends, and pushes them beside a simulated hand with servos. recordings solves
    windows of the ManipNet recordings without their fingers and compares with them. recorded-hand
    fits the bones of the subject of these recordings and reports how far the recorded joints are
    missed, mm. metrics evaluates four of these recordings beside an independent implementation's
    figures. studio serves fifty clients and two hundred jobs, and measures the server while twelve
    clips are played. Benchmarks are run from a source checkout; the installed package has none.

    Args:
        name: What to measure; see above.
        data: Folder with the ManipNet recordings, for recordings, recorded-hand and metrics.
        scenes: Some scenes with commas between them, for sampling, trajopt and stepwise.
        scene: The scene of spread.
        num: Motions for each scene or run, for sampling and preferences.
        seeds: Runs of each scene, for trajopt.
        budget: Search for each scene, run or window, s, for sampling, preferences and recordings.
        windows: Only so many windows, for recordings.
        frames: Explored by each search, for spread.
        figure: Picture (.png) to write, for spread.
        json: Print one JSON object instead of a table.
    """
    import json as json_module

    module = load_benchmark(name)
    options = {
        "data": data,
        "scenes": scenes,
        "scene": scene,
        "num": num,
        "seeds": seeds,
        "budget": budget,
        "windows": windows,
        "frames": frames,
        "figure": figure,
    }
    given = {key: value for key, value in options.items() if value is not None}
    known = inspect.signature(module.run).parameters
    foreign = [f"--{key}" for key in given if key not in known]
    if foreign:
        own = [f"--{key}" for key in options if key in known]
        raise InvalidValueError(
            f"'handwright bench {name}' was given {', '.join(foreign)}, which it does not take. "
            f"It takes {', '.join(own) or 'none of these options'}."
        )
    if "data" in known and data is None:
        raise InvalidValueError(
            f"'handwright bench {name}' was given no recordings. "
            "Pass --data FOLDER, the folder that holds sequences/cube_med2.npz."
        )
    if name == "kernels":
        for peer in ("mink", "daqp"):
            require(peer, extra="dev", feature=f"'handwright bench {name}'")
    result = module.run(**given)
    if json:
        print(json_module.dumps(result))
    else:
        make_console().print(module.describe(result))


def demo(
    *,
    out: Path = Path("out/demo"),
    num_solutions: int = 10,
    num_workers: int = 2,
    seed: int = 0,
    shapes: FlagCreatePairsOff[bool] = False,
) -> None:
    """Make ten certified ways to turn a milk box, and draw them.

    Writes every motion as a clip (.npz) and for Blender and game engines (.glb), a picture of
    some of them, and prints what they are worth. The first run on a machine also compiles.

    Args:
        out: Folder for the results; made if it is not there.
        num_solutions: How many different motions.
        num_workers: Processes; the motions do not depend on it.
        seed: Of everything random.
        shapes: Pose the hand on ten shapes and draw it instead.
    """
    folder = writable_folder(out)
    if shapes:
        importlib.import_module("handwright.cli.demo_shapes").run(folder)
        return
    importlib.import_module("handwright.cli.demo").run(
        folder, num_solutions=num_solutions, num_workers=num_workers, seed=seed
    )


def synth(
    problem: Annotated[Positional[str], tyro.conf.arg(metavar="SCENE|GOALS.yaml")],
    /,
    *,
    method: Annotated[str | None, unset("NAME")] = None,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/synth"),
    num_solutions: Annotated[int | None, unset("INT")] = None,
    strategy: Annotated[_Strategy | None, unset("{mixed,static,slide,relocate}")] = None,
    grip: Annotated[Literal["any", "power", "precision"] | None, unset("{power,precision}")] = None,
    hold: Annotated[_Hold | None, unset("{handle,inside,outside}")] = None,
    keep_off: Annotated[tuple[str, ...], unset("[DIGIT ...]")] = (),
    pushes: Annotated[Literal[0, 4, 6] | None, unset("{4,6}")] = None,
    push_force: Annotated[float | None, unset("NEWTONS")] = None,
    free_times: FlagCreatePairsOff[bool] = False,
    time_budget: Annotated[float | None, unset("SECONDS")] = None,
    num_workers: Annotated[int | None, unset("INT")] = None,
    seed: int = 0,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Make motions for a scene or a file of goals, and write them as clips.

    Every motion is certified before it is written, as SCENE_s0_00.npz for seed 0, SCENE_s0_01.npz
    and so on; files that are there already are left alone. The first run on a machine compiles,
    which takes some minutes. Ctrl-C and SIGTERM end the search; what it has found by then is kept.
    Pins, forbidden regions, fixed joints, edited bodies and tracks of your own are for Python:
    docs/how-to/direct-a-motion.md.

    Ends with exit code 0 if all motions asked for were found, 1 if fewer or none were, and 130 if
    it was stopped.

    Args:
        problem: One of those that 'handwright scenes' lists, or a file of goals.
        method: How: sampling where tracks are given, trajopt where goals are; these by default.
        out: Folder for the clips; made if it is not there.
        num_solutions: How many different motions to look for.
        strategy: Where forces leave a choice, fingers hold, slide or move elsewhere; sampling.
        grip: With palm and near phalanges (power), or few fingertips (precision); sampling.
        hold: By the handle, from inside (over the rim), or from outside; sampling.
        keep_off: Digits that must not press, as in little ring or left.little; sampling.
        pushes: Grasps that take pushes at the body's tip, by so many sets of forces; trajopt.
        push_force: Up to which they do so from any side, N, 0.25 by default; trajopt.
        free_times: Contacts may change at any time, not every half second; trajopt.
        time_budget: Processor time of the search, s, without preparing, compiling and certifying;
            60 by default.
        num_workers: Processes; the motions do not depend on it unless time runs out.
        seed: Random seed; the same seed gives the same motions.
        json: Print one JSON object: status, clips with their verdicts, refusals, timings.
    """
    from handwright.cli.synth import (
        load_problem,
        make_method,
        print_result,
        result_json,
        write_clips,
    )
    from handwright.core.result import NoSolutionError, Status
    from handwright.methods.sampling import KeepOff

    name, loaded = load_problem(problem)
    options = {
        "num_solutions": num_solutions,
        "strategy": strategy,
        "grip": grip,
        "hold": hold,
        "keep_off": (KeepOff(keep_off),) if keep_off else None,
        "pushes": pushes,
        "push_force": push_force,
        "free_times": free_times or None,
        "time_budget": time_budget,
        "num_workers": num_workers,
    }
    chosen = make_method(method, loaded, options)
    folder = writable_folder(out)
    result, files = write_clips(name, loaded, chosen, folder, seed=seed)
    if json:
        print(result_json(result, files, seed=seed))
    else:
        console = make_console()
        print_result(result, files, console)
        if result.status is Status.CANCELLED:
            console.print(f"Stopped; motions found by then and written: {len(result.clips)}.")
        elif not result.clips:
            raise NoSolutionError(result)
        elif result.message:
            told = f"{result.status.name}: {result.message}"
            console.print(told, soft_wrap=True, highlight=False)
    if result.status is Status.CANCELLED:
        raise SystemExit(_INTERRUPTED)
    if result.status is not Status.SOLVED:
        raise SystemExit(1)


def verify(
    clip: ClipPath,
    /,
    *,
    smoothing_hz: Annotated[float | None, unset("HZ")] = None,
    soft_tissue_mm: float = 0.0,
    skin_shear_mm: float = 0.0,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """Check that contact forces can move the bodies of a clip as shown, frame by frame.

    Everything is judged anew from poses, shapes, mass and friction; nothing is taken from the
    method that made the clip. Ends with exit code 1 if the clip is not certified.

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        smoothing_hz: Cut-off of a low-pass over body tracks, for recorded motion, Hz.
        soft_tissue_mm: Depth by which soft pads may sink in, mm.
        skin_shear_mm: How far skin that sticks gives way before it slides, mm.
        json: Print one JSON object with every frame instead of a table.
    """
    from handwright.evidence import Tolerances, certify
    from handwright.io.clip.npz_file import load_npz

    tolerances = Tolerances(
        smoothing_hz=smoothing_hz,
        soft_tissue=1e-3 * soft_tissue_mm,
        skin_shear=1e-3 * skin_shear_mm,
    )
    certificate = certify(load_npz(clip), tolerances=tolerances)
    print(certificate.to_json() if json else certificate)
    if not certificate.passed:
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
    """Measure a clip: penetration, physical realism, smoothness, contacts, limits.

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        contact_distance_mm: Gap up to which a capsule touches, for the published metric, mm.
        sliding_speed: Speed above which a contact slides, for the published metric, m/s.
        all_frames: Also count frames in which the body rests on the surroundings, for the same.
        cone: Where the edges of its friction pyramids lie: on the cone, or on the square around it.
        sweep: Also show how the realism changes with each of these.
        json: Print one JSON object instead of a table.
    """
    import json as json_module

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
    from handwright.render.exporting import export as write

    writable_folder(out.parent)
    write(load_npz(clip), out)
    make_console().print(f"Wrote {out}.", soft_wrap=True, highlight=False)


def render(
    clip: ClipPath,
    out: Annotated[Positional[Path], tyro.conf.arg(metavar="OUT")],
    /,
    *,
    width: int = 640,
    height: int = 480,
    fps: float = 30.0,
    stills: int = 8,
    azimuth: float = -60.0,
    elevation: float = 25.0,
    plain: FlagCreatePairsOff[bool] = False,
) -> None:
    """Film a clip (.mp4, .gif) or draw a strip of stills (.png).

    Args:
        clip: A clip file or a ManipNet recording (.npz).
        out: The film or picture to write.
        width: Pixels, even.
        height: Pixels, even.
        fps: Frames of the film for each second of the motion.
        stills: Number of pictures in a strip.
        azimuth: Where the camera stands, turning anticlockwise about the vertical, degrees.
        elevation: Height of the camera above the horizon, degrees.
        plain: Leave out contact points and force arrows.
    """
    import math

    from handwright.io.clip.npz_file import load_npz
    from handwright.render.camera import Camera
    from handwright.render.clip_scene import Overlay
    from handwright.render.film import FilmSettings, render_clip

    settings = FilmSettings(
        width=width,
        height=height,
        fps=fps,
        stills=stills,
        camera=Camera(azimuth=math.radians(azimuth), elevation=math.radians(elevation)),
        overlay=Overlay(contacts=not plain, forces=not plain),
    )
    writable_folder(out.parent)
    render_clip(load_npz(clip), out, settings)
    make_console().print(f"Wrote {out}.", soft_wrap=True, highlight=False)


def info(file: Annotated[Positional[Path], tyro.conf.arg(metavar="FILE")], /) -> None:
    """Say what is in a clip file or a ManipNet recording.

    Args:
        file: A clip file or a recording (.npz).
    """
    from rich.table import Table

    from handwright.io.clip.file import load_certificate, load_clip
    from handwright.io.clip.summary import clip_rows
    from handwright.io.manipnet.dataset import is_recording, read_recording

    if is_recording(file):
        print(read_recording(file))
        return
    table = Table("what", "value", box=None, pad_edge=False)
    for row in clip_rows(load_clip(file), load_certificate(file)):
        table.add_row(*row)
    make_console().print(table, highlight=False, markup=False)


COMMANDS: dict[str, Callable[..., None]] = {
    "hands": hands,
    "shapes": shapes,
    "scenes": scenes,
    "synth": synth,
    "show": show,
    "info": info,
    "verify": verify,
    "evaluate": evaluate,
    "replay": replay,
    "push": push,
    "export": export,
    "render": render,
    "studio": studio,
    "report": report,
    "bench": bench,
    "demo": demo,
}
"""Every command, in the order in which help lists them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code; reads ``sys.argv`` if none is given."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    if given[:1] == ["--version"]:
        from importlib.metadata import version

        print(f"handwright {version('handwright')}")
        return 0
    try:
        tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="handwright", description=_DESCRIPTION, args=given or ["--help"]
        )
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("handwright: interrupted; nothing was left half written.", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has had enough. Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except (HandwrightError, OSError) as error:
        if is_debug:
            raise
        print(f"handwright: {error}", file=sys.stderr)
        return 1
    return 0
