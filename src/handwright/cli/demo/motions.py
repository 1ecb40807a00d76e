"""Ten ways to turn a milk box, made, verified, written and drawn: ``handwright demo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from handwright.cli.console import make_console, make_table
from handwright.cli.interrupts import INTERRUPTED
from handwright.cli.progress import ProgressLine
from handwright.core.clip import Clip
from handwright.core.result import NoSolutionError, Status
from handwright.evidence import Certificate, certify
from handwright.evidence.certificate.penetration import penetration_of
from handwright.evidence.metrics.smoothness import smoothness
from handwright.evidence.metrics.strategies import count_strategies, digits_touching
from handwright.io.clip.file import save_clip
from handwright.io.gltf.write import save_glb
from handwright.methods import ContactSampling
from handwright.render.motion_sheet import ROWS, motion_sheet
from handwright.render.scene import write_png
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

SCENE = "milk_box_turn"


class Figures(NamedTuple):
    """One motion in numbers."""

    verdict: str
    penetration: float
    """Deepest skin or body, m."""
    digits: float
    """Digits in contact, mean over the frames with contact."""
    slides: int
    relocations: int
    acceleration: float
    """Of the finger joints, cm/s^2."""


def figures_of(clip: Clip, certificate: Certificate) -> Figures:
    """What the demo tells of a motion; nothing is taken from the method that made it."""
    touching, counts = digits_touching(clip), count_strategies(clip)
    return Figures(
        certificate.verdict,
        float(penetration_of(certificate).max(initial=0.0)),
        float(touching[touching > 0].mean()) if touching.any() else 0.0,
        counts["slide"],
        counts["relocate"],
        smoothness(clip).acceleration,
    )


def run(out: Path, *, num_solutions: int = 10, num_workers: int = 2, seed: int = 0) -> None:
    """Makes motions of a hand that turns a milk box, and shows what they are worth.

    Args:
        out: Folder for the results.
        num_solutions: How many motions.
        num_workers: Processes.
        seed: Of everything random.
    """
    begin = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    console = make_console()
    method = ContactSampling(num_solutions=num_solutions, num_workers=num_workers)
    with ProgressLine(wanted=num_solutions) as line:
        result = synthesize(load_scene(SCENE), method, seed=seed, on_progress=line)
    is_stopped = result.status is Status.CANCELLED
    if is_stopped and not result.clips:
        raise KeyboardInterrupt
    if not result.clips:
        raise NoSolutionError(result)
    found = time.perf_counter() - begin
    table = make_table(
        ">solution", "certified", ">penetration mm", ">digits in contact", ">slides",
        ">relocations", ">acceleration cm/s²",
    )  # fmt: skip
    certified = 0
    for number, clip in enumerate(result.clips):
        certificate = result.certificates[number] if result.certificates else certify(clip)
        save_clip(clip, out / f"{SCENE}_{number:02d}.npz", certificate=certificate)
        save_glb(clip, out / f"{SCENE}_{number:02d}.glb")
        certified += certificate.passed
        own = figures_of(clip, certificate)
        table.add_row(
            f"{number:02d}",
            "yes" if certificate.passed else own.verdict,
            f"{1e3 * own.penetration:.2f}",
            f"{own.digits:.1f}",
            str(own.slides),
            str(own.relocations),
            f"{own.acceleration:.0f}",
        )
    sheet = write_png(motion_sheet(result.clips), out / f"{SCENE}.png")
    console.print(table)
    total = time.perf_counter() - begin
    first = out / f"{SCENE}_00.npz"
    lines = [
        f"\n{certified} of {len(result.clips)} motions certified; found in {found:.0f} s, "
        f"{total:.0f} s in all." + (f" {result.message}" if result.message else ""),
        f"Picture: {sheet}, a row for each of {min(ROWS, len(result.clips))} motions.",
        f"Motions: {out / SCENE}_*.npz, and *.glb for Blender, Unity and Unreal.",
        f"Next: handwright render {first} {out / 'turn.gif'}   # a film",
        f"      handwright verify {first}   # the proof, frame by frame",
    ]
    console.print("\n".join(lines), soft_wrap=True, highlight=False, markup=False)
    if is_stopped:
        raise SystemExit(INTERRUPTED)
