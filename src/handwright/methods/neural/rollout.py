"""Fingers for whole tracks: a network in closed loop, or in two passes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.methods.neural.fitting.fitter import Correction, Fitter
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.sensing.features import assembled, finger_features, fixed_features
from handwright.methods.neural.sensing.view import HandView

Fingers = dict[str, Float[np.ndarray, "T J"]]
"""Joint values of each hand at the frames of its view, rad."""
START = "neutral"
"""Named pose that fingers start from unless they are told otherwise (section 6.4)."""


def rolled_out(
    network: Network | WindowedNetwork,
    views: Mapping[str, HandView],
    *,
    start: Mapping[str, Float[np.ndarray, " J"]] | None = None,
    correction: Correction = "contact",
) -> Fingers:
    """Fingers of all hands over the frames of their views.

    Args:
        network: Trained.
        views: Hands and their objects by the names of the hands, all over the same times.
        start: Joint values in the first frame, by hand, rad; the neutral pose where not given. A
            network of two passes does not look at them.
        correction: What is done to the network's poses; see ``Fitter``.
    """
    lengths = {len(view) for view in views.values()}
    if len(lengths) != 1:
        raise InvalidValueError(
            f"Views of {', '.join(views) or 'no hand'} have {sorted(lengths)} frames; expected one "
            "hand or more, all over the same times."
        )
    fitters = {name: Fitter(view, correction) for name, view in views.items()}
    begin = {
        name: np.array((start or {}).get(name, view.model.pose(START)), dtype=np.float64)
        for name, view in views.items()
    }
    if isinstance(network, Network):
        return _fed_back(network, views, fitters, begin)
    return _in_two_passes(network, views, fitters, begin)


def _fed_back(
    network: Network,
    views: Mapping[str, HandView],
    fitters: Mapping[str, Fitter],
    begin: Mapping[str, Float[np.ndarray, " J"]],
) -> Fingers:
    """Frame by frame: what comes out of one goes into the next."""
    names, count = list(views), len(next(iter(views.values())))
    fixed = {name: fixed_features(view) for name, view in views.items()}
    found = {name: np.empty((count, len(begin[name]))) for name in names}
    for name in names:
        found[name][0] = begin[name]
    for frame in range(1, count):
        before = np.array([frame - 1])
        # Both hands at once: reading the weights takes most of the time.
        rows = [
            assembled(
                fixed[name][frame - 1 : frame],
                finger_features(views[name], before, found[name][frame - 1 : frame]),
            )
            for name in names
        ]
        outputs = network.predict(np.concatenate(rows))
        for name, output in zip(names, outputs, strict=True):
            found[name][frame] = fitters[name].step(frame, output, found[name][frame - 1])
    return found


def _in_two_passes(
    network: WindowedNetwork,
    views: Mapping[str, HandView],
    fitters: Mapping[str, Fitter],
    begin: Mapping[str, Float[np.ndarray, " J"]],
) -> Fingers:
    """All frames at once, then again with sensors at the fingers of the first pass."""
    found = {}
    for name, view in views.items():
        frames = np.arange(len(view))
        first = network.first(fixed_features(view)[None])
        q = fitters[name].fitted(first.outputs[0], begin[name])
        finger = finger_features(view, frames, q)
        outputs = network.second(first.context, finger[None]).outputs[0]
        found[name] = fitters[name].track(outputs, begin[name])
    return found
