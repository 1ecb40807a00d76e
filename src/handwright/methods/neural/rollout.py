"""Fingers for whole tracks: a network in closed loop, or in two passes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.methods.neural.fitting import (
    Correction,
    FittedHand,
    Fitter,
    Grips,
    fit_posture,
    seen_at,
)
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.sensing.features import assembled, finger_features, fixed_features
from handwright.methods.neural.sensing.view import HandView
from handwright.methods.neural.style import Style, shown

Fingers = dict[str, Float[np.ndarray, "T J"]]
"""Joint values of each hand at the frames of its view, rad."""
START = "neutral"
"""Named pose that fingers start from unless they are told otherwise (section 6.4)."""


def rolled_out(
    network: Network | WindowedNetwork,
    views: Mapping[str, HandView],
    *,
    start: Mapping[str, Float[np.ndarray, " J"]] | None = None,
    correction: Correction = "grip",
    frames: tuple[int, int] | None = None,
    style: Style | None = None,
) -> Fingers:
    """Fingers of all hands over the frames of their views.

    Args:
        network: Trained.
        views: Hands and their objects by the names of the hands, all over the same times.
        start: Joint values in the first frame, by hand, rad; the neutral pose where not given. A
            network of two passes does not look at them.
        correction: What is done to the network's poses; see ``Fitter``.
        frames: The first frame that is wanted and the one after the last; all if not given.
        style: Angles by which the fingers that the network is shown are off, by hand, rad; see
            ``drawn_style``.
    """
    lengths = {len(view) for view in views.values()}
    if len(lengths) != 1:
        raise InvalidValueError(
            f"Views of {', '.join(views) or 'no hand'} have {sorted(lengths)} frames; expected one "
            "hand or more, all over the same times."
        )
    fitters = {
        name: Fitter(
            FittedHand(view.model), (start or {}).get(name, view.model.pose(START)), correction
        )
        for name, view in views.items()
    }
    first, end = frames or (0, lengths.pop())
    off = {} if style is None else style
    if isinstance(network, Network):
        return _fed_back(network, views, fitters, range(first, end), off)
    whole = _in_two_passes(network, views, fitters, off)
    return {name: q[first:end] for name, q in whole.items()}


def _fed_back(
    network: Network,
    views: Mapping[str, HandView],
    fitters: Mapping[str, Fitter],
    frames: range,
    off: Style,
) -> Fingers:
    """Frame by frame: what comes out of one goes into the next."""
    fixed = {name: fixed_features(view) for name, view in views.items()}
    found = {name: [fitter.posture] for name, fitter in fitters.items()}
    grips = Grips()
    for frame in frames[1:]:
        before = np.array([frame - 1])
        # Both hands at once: reading the weights takes most of the time.
        rows = [
            assembled(
                fixed[name][frame - 1 : frame],
                finger_features(view, before, shown(view, found[name][-1], off.get(name))[None]),
            )
            for name, view in views.items()
        ]
        outputs = dict(zip(views, network.predict(np.concatenate(rows)), strict=True))
        for name, q in _stepped(views, frame, fitters, outputs, grips).items():
            found[name].append(q)
    return {name: np.stack(rows) for name, rows in found.items()}


def _in_two_passes(
    network: WindowedNetwork,
    views: Mapping[str, HandView],
    fitters: Mapping[str, Fitter],
    off: Style,
) -> Fingers:
    """All frames at once, then again with sensors at the fingers of the first pass."""
    outputs = {}
    for name, view in views.items():
        fitter, frames = fitters[name], np.arange(len(view))
        first = network.first(fixed_features(view)[None])
        starts = np.tile(fitter.posture, (len(view), 1))
        q = fit_posture(fitter.hand, first.outputs[0], starts)
        finger = finger_features(view, frames, shown(view, q, off.get(name)))
        outputs[name] = network.second(first.context, finger[None]).outputs[0]
        # Not from the posture that all start from, which may be far: from the first pass's own.
        fitter.reset(q[0])
    grips, steps = Grips(), []
    for frame in range(len(next(iter(views.values())))):
        said = {name: rows[frame] for name, rows in outputs.items()}
        steps.append(_stepped(views, frame, fitters, said, grips))
    return {name: np.stack([step[name] for step in steps]) for name in views}


def _stepped(
    views: Mapping[str, HandView],
    frame: int,
    fitters: Mapping[str, Fitter],
    outputs: Mapping[str, Float[np.ndarray, " 220"]],
    grips: Grips,
) -> dict[str, Float[np.ndarray, " J"]]:
    """Fitted and corrected postures of all hands at a frame, rad."""
    seen = {name: seen_at(view, np.array(frame)) for name, view in views.items()}
    gripping = {name: view for name, view in views.items() if fitters[name].mode == "grip"}
    asked = grips.asked(
        gripping,
        frame,
        lambda name: fitters[name].shown(seen_at(views[name], np.array(frame - 1))),
        lambda name: fitters[name].touches(seen[name], outputs[name]),
    )
    return {
        name: fitter.step(seen[name], outputs[name], asked.get(name))
        for name, fitter in fitters.items()
    }
