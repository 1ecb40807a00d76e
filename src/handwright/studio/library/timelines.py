"""A certificate and the contacts of a clip, as what is shown under the stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handwright.core.clip import Clip
from handwright.evidence import Certificate, FrameRecord
from handwright.evidence.certificate.speeds import joint_speeds
from handwright.studio.labels import CHECK_LABELS, finite, scale_of
from handwright.studio.library.contact_rows import ContactRows, contact_rows
from handwright.studio.messages import CheckInfo, ContactTable, Curve, Strip, Timeline

_CURVES: tuple[tuple[str, str, str | None, Callable[[FrameRecord], float | None]], ...] = (
    ("force_residual", "Unexplained force", "force_residual",
     lambda f: max((b.force_residual for b in f.bodies.values()), default=0.0)),
    ("moment_residual", "Unexplained moment", "moment_residual",
     lambda f: max((b.moment_residual for b in f.bodies.values()), default=0.0)),
    ("penetration", "Penetration", "penetration",
     lambda f: max((b.penetration for b in f.bodies.values()), default=0.0)),
    ("gap", "Gap at a contact", "gap",
     lambda f: max((b.gap for b in f.bodies.values()), default=0.0)),
    ("slip", "Slip of static contacts", "slip",
     lambda f: max((b.drift for b in f.bodies.values()), default=0.0)),
    ("finger_finger", "Fingers in each other", "finger_finger", lambda f: f.finger_finger),
    ("joint_limits", "Beyond joint limits", "joint_limits", lambda f: f.joint_excess),
    ("strength", "Joint torque", "strength", lambda f: f.torque_share),
    ("stored_balance", "Left by stored forces", "stored_balance", lambda f: f.stored_residual),
    ("friction_margin", "Friction margin", None,
     lambda f: min((b.friction_margin for b in f.bodies.values()), default=1.0)),
)  # fmt: skip
"""Name, label, check whose limit and unit it has, and its value in a frame."""


def make_timeline(clip: Clip, certificate: Certificate, *, name: str) -> Timeline:
    """What is shown under a stage.

    Args:
        clip: The motion.
        certificate: Of it.
        name: Identifier of the clip.
    """
    rows, note = contact_rows(clip, certificate)
    curves = [_curve(certificate, *entry) for entry in _CURVES] + _speeds(clip)
    by_name = {curve.name: curve for curve in curves}
    return Timeline(
        id=name,
        times=[_plain(time) for time in clip.times - clip.times[0]],
        strips=_strips(clip, rows),
        failed=[_failures(certificate, frame, by_name) for frame in certificate.frames],
        curves=curves,
        checks=_checks(certificate),
        contacts=_table(rows),
        verdict=certificate.verdict,
        notes=[*certificate.notes, *([note] if note else [])],
    )


def _plain(value: float) -> float:
    return finite(float(value)) or 0.0


def _curve(
    certificate: Certificate,
    name: str,
    label: str,
    check: str | None,
    value: Callable[[FrameRecord], float | None],
) -> Curve:
    scale = scale_of("" if check is None else certificate.check(check).unit)
    values = [value(frame) for frame in certificate.frames]
    allowed = None if check is None else certificate.check(check).allowed
    return Curve(
        name=name,
        label=label,
        unit=scale.unit,
        values=[None if v is None else finite(scale.factor * v) for v in values],
        allowed=None if allowed is None else finite(scale.factor * allowed),
    )


def _speeds(clip: Clip) -> list[Curve]:
    """How fast bodies and joints are, from one frame to the next."""
    steps = np.diff(clip.times)
    curves = []

    def add(name: str, label: str, unit: str, fast: np.ndarray) -> None:
        values = [finite(float(v)) for v in np.append(fast, fast[-1:])]
        curves.append(Curve(name=name, label=label, unit=unit, values=values, allowed=None))

    if not len(steps):
        return []
    for name, pose in clip.bodies.items():
        way = np.linalg.norm(np.diff(pose.position, axis=0), axis=1)
        add(f"speed.{name}", f"Speed of {name}", "m/s", way / steps)
    fastest = [joint_speeds(m.q, clip.times).max(axis=1, initial=0.0) for m in clip.hands.values()]
    if fastest:
        top = np.max(fastest, axis=0)
        add("joint_speed", "Fastest joint", "rad/s", top[: len(steps)])
    return curves


def _failures(certificate: Certificate, frame: FrameRecord, curves: dict[str, Curve]) -> list[str]:
    texts = []
    for name in frame.failed:
        check, label = certificate.check(name), CHECK_LABELS.get(name, name)
        value = curves[name].values[frame.frame] if name in curves else None
        scale = scale_of(check.unit)
        allowed = scale.factor * check.allowed
        if value is not None and value > allowed:
            texts.append(f"{label}: {value:.3g} {scale.unit}, at most {allowed:.3g} allowed")
        else:
            texts.append(f"{label}: {check.detail}" if check.detail else label)
    return texts


def _checks(certificate: Certificate) -> list[CheckInfo]:
    return [
        CheckInfo(
            name=check.name,
            label=CHECK_LABELS.get(check.name, check.name),
            is_passed=check.passed,
            worst=_plain(scale_of(check.unit).factor * check.worst),
            allowed=_plain(scale_of(check.unit).factor * check.allowed),
            unit=scale_of(check.unit).unit,
            num_failing=len(check.frames),
            detail=check.detail,
        )
        for check in certificate.checks
    ]


def _strips(clip: Clip, rows: ContactRows) -> list[Strip]:
    """Every digit that touches a body, in the order of hands and digits."""
    strips = []
    for hand, model in clip.problem.hands.items():
        for digit in (*(d.name for d in model.digits), "palm"):
            for body in clip.problem.bodies:
                own = [
                    n
                    for n in range(len(rows.frame))
                    if (rows.toucher[n], rows.digit[n], rows.body[n]) == (hand, digit, body)
                ]
                if own:
                    strips.append(_strip(clip, rows, own, (hand, digit, body)))
    return strips


def _strip(clip: Clip, rows: ContactRows, own: list[int], key: tuple[str, str, str]) -> Strip:
    mode, force = [-1] * clip.num_frames, np.zeros((clip.num_frames, 3))
    strongest = np.full(clip.num_frames, -1.0)
    for n in own:
        frame, size = rows.frame[n], float(np.nan_to_num(np.linalg.norm(rows.force[n])))
        force[frame] += np.nan_to_num(rows.force[n])
        # Of several contacts, the one that carries most says what the digit does.
        if size > strongest[frame]:
            strongest[frame], mode[frame] = size, rows.mode[n]
    sizes = [_plain(size) for size in np.linalg.norm(force, axis=1)]
    hand, digit, body = key
    return Strip(hand=hand, digit=digit, body=body, mode=mode, force=sizes)


def _table(rows: ContactRows) -> ContactTable:
    known = [bool(np.isfinite(force).all()) for force in rows.force]
    margins = rows.margins()
    return ContactTable(
        frame=rows.frame,
        toucher=rows.toucher,
        digit=rows.digit,
        body=rows.body,
        mode=rows.mode,
        point=[[_plain(x) for x in point] for point in rows.point],
        normal=[[_plain(x) for x in normal] for normal in rows.normal],
        force=[
            [_plain(x) for x in force] if is_known else None
            for force, is_known in zip(rows.force, known, strict=True)
        ],
        margin=[
            finite(float(margin)) if is_known else None
            for margin, is_known in zip(margins, known, strict=True)
        ],
        friction=[_plain(friction) for friction in rows.friction],
    )
