"""One window of a recording: contact sampling by itself or guided, on raw or corrected tracks."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from benchmarks.sampling.figures import certificates_of
from handwright.conditioning import Corrected, corrected
from handwright.core.clip import Clip
from handwright.core.hand import Side
from handwright.core.problem import Problem
from handwright.core.result import Result
from handwright.errors import FileFormatError
from handwright.evidence import Tolerances, smoothness
from handwright.evidence.certificate.penetration import penetration_of
from handwright.evidence.metrics.realism import capsule_contacts
from handwright.io.manipnet.dataset import Recording, read_recording
from handwright.io.strict_json import parse_json
from handwright.kinematics import posed_tips
from handwright.methods import ContactSampling
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import load_network
from handwright.synthesis import synthesize

FPS = 30.0
SOFT_TISSUE = 0.004
"""Depth of the pads that the certificate allows beyond its own, m."""
SKIN_SHEAR = 0.002
"""How far skin gives way before it slides, m; that of a fingertip does by 1 to 3 mm."""
SMOOTHING_HZ = 8.0
FINGER_SPEED = 10.5
"""rad/s; 0.35 rad a frame."""
RELOCATION_TIME = 0.1
"""s; fingers that turn a body in the hand come down again within three frames."""
NUM_SOLUTIONS = 10
_TOUCHING = 0.002


class Window(NamedTuple):
    """A part of a recording."""

    recording: str
    kind: str
    """``single`` or ``staggered`` for one hand, ``assisted`` if the other one helps."""
    hand: str
    start: int
    """First frame, counted as in the file."""
    stop: int
    """Frame after the last."""

    @property
    def name(self) -> str:
        """Such as ``mug1 1010-1250 right``."""
        return f"{self.recording} {self.start}-{self.stop} {self.hand}"

    @property
    def sides(self) -> tuple[Side, ...]:
        """The hands that take part."""
        if self.kind == "assisted":
            return ("left", "right")
        return ("left",) if self.hand == "left" else ("right",)


def read_windows(data: Path) -> list[Window]:
    """The windows of ``windows.json``, in their order."""
    path = data / "windows.json"
    if not path.is_file():
        raise FileFormatError(
            f"{path}: there is no such file. Pass --data FOLDER, the folder that holds "
            "windows.json and sequences/."
        )
    try:
        listed = parse_json(path.read_bytes())
        return [
            Window(name, str(row["kind"]), str(row["hand"]), int(row["start"]), int(row["stop"]))
            for name, rows in listed["windows"].items()
            for row in rows
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            f"{path}: expected windows by recording, each with kind, hand, start and stop "
            f"({type(error).__name__}: {error})."
        ) from error


@lru_cache(maxsize=2)
def _recording(path: Path) -> Recording:
    """The hands are fitted to the bones of the whole recording, which takes a while."""
    return read_recording(path)


def fingertip_distance(clip: Clip, other: Clip) -> float:
    """Mean distance of the tips of all digits in two clips of the same hands and frames, m."""
    apart = [
        np.linalg.norm(_tips(clip, name) - _tips(other, name), axis=-1).ravel()
        for name in clip.hands
    ]
    return float(np.concatenate(apart).mean())


def _tips(clip: Clip, name: str) -> Float[np.ndarray, "T D 3"]:
    motion = clip.hands[name]
    return posed_tips(clip.problem.hands[name], motion.q, motion.root).position


def fingers_in_contact(clip: Clip) -> float:
    """Digits with a capsule within 2 mm of the body, mean over the frames."""
    total = 0.0
    for body in clip.bodies:
        near = capsule_contacts(clip, body, reach=2.0 * _TOUCHING).gap <= _TOUCHING
        shift = 0
        for name in clip.hands:
            digit = clip.problem.hands[name].capsules.digit
            own = near[:, shift : shift + len(digit)]
            shift += len(digit)
            total += sum(
                own[:, digit == number].any(axis=1).mean()
                for number in np.unique(digit[digit >= 0])
            )
    return float(total)


def plain_cause(message: str) -> str:
    """The cause out of a message, without the numbers of frames and attempts."""
    text = re.split(r"\((?:once|\d+ times)\): ", message)[-1]
    text = re.sub(r"(?:around|at|from) frame \d+(?: to \d+)?,? ?", "", text)
    return text.strip()


def window_figures(
    result: Result, recorded: Clip, seconds: float, tolerances: Tolerances
) -> dict[str, Any]:
    """Figures of the certified motions of a window beside the recorded fingers.

    Args:
        result: Of contact sampling.
        recorded: The same frames with the recorded fingers.
        seconds: That it took.
        tolerances: Of the certificate.
    """
    certificates = certificates_of(result, tolerances)
    pairs = list(zip(result.clips, certificates, strict=True))
    good = [(clip, one) for clip, one in pairs if one.passed]
    real = smoothness(recorded, fps=FPS).acceleration
    figures: dict[str, Any] = {
        "is_solved": bool(good),
        "clips": len(pairs),
        "certified": len(good),
        "seconds": seconds,
        "status": result.status.name,
        "message": result.message,
        "cause": None if good else _cause(result, [one.reasons for one in certificates]),
        "refused": dict(result.refused),
        "verdict": good[0][1].verdict if good else None,
        "fingers_recorded": fingers_in_contact(recorded),
        "acceleration_recorded": real,
        "pen_mm_p95": None,
        "pen_mm_max": None,
        "fingers": None,
        "fingertip_mm": None,
        "acceleration": None,
        "acceleration_ratio": None,
    }
    if good:
        depth = np.concatenate([penetration_of(one) for _, one in good])
        apart = [fingertip_distance(clip, recorded) for clip, _ in good]
        best = good[int(np.argmin(apart))][0]
        jolt = smoothness(best, fps=FPS).acceleration
        figures |= {
            "pen_mm_p95": 1e3 * float(np.percentile(depth, 95)),
            "pen_mm_max": 1e3 * float(depth.max()),
            "fingers": fingers_in_contact(best),
            "fingertip_mm": 1e3 * min(apart),
            "acceleration": jolt,
            "acceleration_ratio": jolt / real if real > 0.0 else None,
        }
    return figures


def _cause(result: Result, reasons: Sequence[Sequence[str]]) -> str:
    if reasons:
        names = sorted({name for one in reasons for name in one})
        return f"the certificate refused: {', '.join(names)}"
    return plain_cause(result.message) or result.status.value


class Wishes(NamedTuple):
    """How windows are solved."""

    budget: float
    """Processor time of the search, s."""
    num: int = NUM_SOLUTIONS
    """Motions that are looked for."""
    guided: bool = False
    """Whether the recorded fingers guide the search."""
    model: str | None = None
    """Network whose fingers guide it instead: a folder, or ``shipped``."""
    corrected: bool = False
    """Whether tracks are corrected first."""
    seed: int = 0


def window_problem(recording: Recording, window: Window, is_fine: bool) -> Problem:
    """Wrists and body of a window, with tracks at the rate of the frames or at the file's."""
    coarse = recording.problem(window.start, window.stop, sides=window.sides, fps=FPS)
    if not is_fine:
        return coarse
    fine = recording.problem(window.start, window.stop, sides=window.sides, fps=recording.fps)
    return replace(coarse, tracks=fine.tracks)


def correction_figures(found: Corrected) -> dict[str, float]:
    """Largest moves, mm, and turns, degrees, of wrists that left bodies, and by the low-pass."""
    figures = {}
    for part in ("wrist", "smoothed"):
        own = [one for one in found.corrections if one.part == part]
        figures[f"{part}_mm"] = 1e3 * max((one.shift for one in own), default=0.0)
        figures[f"{part}_deg"] = math.degrees(max((one.turn for one in own), default=0.0))
    return figures


def measure_window(data: Path, window: Window, wishes: Wishes) -> dict[str, Any]:
    """Solves one window and measures what comes out.

    Args:
        data: Folder with the recordings.
        window: Which part of which recording.
        wishes: How.
    """
    recording = _recording(data / "sequences" / f"{window.recording}.npz")
    # What is smoothed is smoothed at the file's rate.
    problem = window_problem(recording, window, is_fine=wishes.corrected)
    found = corrected(problem) if wishes.corrected else Corrected(problem, problem, ())
    method = ContactSampling(
        num_solutions=wishes.num,
        time_budget=wishes.budget,
        soft_tissue=SOFT_TISSUE,
        skin_stretch=SKIN_SHEAR,
        smoothing_hz=SMOOTHING_HZ,
        finger_speed=FINGER_SPEED,
        relocation_time=RELOCATION_TIME,
        treat_as_solid=True,
        corrected=wishes.corrected,
    )
    recorded = recording.clip(window.start, window.stop, sides=window.sides, fps=FPS)
    if wishes.guided:
        method = method.guided_by(recorded)
    begin = time.perf_counter()
    if wishes.model is not None:
        method = method.guided_by(learned_motion(found.problem, load_network(wishes.model)))
    result = synthesize(problem, method, seed=wishes.seed)
    seconds = time.perf_counter() - begin
    tolerances = Tolerances(
        soft_tissue=SOFT_TISSUE, skin_stretch=SKIN_SHEAR, smoothing_hz=SMOOTHING_HZ
    )
    figures = window_figures(result, recorded, seconds, tolerances)
    kind = "both" if window.kind == "assisted" else "single"
    return {"kind": kind, **figures, **correction_figures(found)}
