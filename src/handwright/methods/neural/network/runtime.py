"""Trained networks: their loading, and their outputs for features.

A model is a folder. A network that goes from frame to frame is ``network.onnx`` there; the two
passes of a windowed one are ``first_pass.onnx`` and ``second_pass.onnx``, plain files each, so that
other programs can run them too. What is said of inputs and outputs here holds for all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

from handwright.errors import InvalidValueError
from handwright.methods.neural.network.facts import (
    FEATURE_VERSION,
    PARTS,
    NetworkFacts,
    Part,
    check_facts,
)
from handwright.methods.neural.network.graph import Graph
from handwright.methods.neural.sensing.joints import JOINTS
from handwright.methods.neural.sensing.motion import RATE
from handwright.methods.neural.sensing.sensors import FINGER_SIZE
from handwright.methods.neural.sensing.table import FIXED_SIZE, NUM_FEATURES

SHIPPED = "shipped"
"""Name of the model that comes with the package."""
SHIPPED_FOLDER = Path(__file__).parent.parent / "weights"
"""Where that is; its README.md is its card."""


class Network:
    """A network that sees the features of one frame and says the next one.

    Args:
        path: Its file.
    """

    kind = "autoregressive"

    def __init__(self, path: Path) -> None:
        self._graph = _checked(path, "network", ("features",), ("outputs",))
        self.facts = self._graph.facts

    def predict(self, features: Float32[np.ndarray, "B F"]) -> Float32[np.ndarray, "B 220"]:
        """Outputs for frames that know nothing of each other, such as those of two hands.

        Args:
            features: All features of each, in the order of the feature table.
        """
        _check_size("features", features, NUM_FEATURES)
        return self._graph.run({"features": features})[0]


class FirstOutputs(NamedTuple):
    """What the first pass says."""

    outputs: Float32[np.ndarray, "B T 220"]
    context: Float32[np.ndarray, "B T C"]
    """What it made of its frames, for the second pass."""
    memory: Float32[np.ndarray, "B M W"]
    """What it has to know of these frames when the next ones come."""


class SecondOutputs(NamedTuple):
    """What the second pass says."""

    outputs: Float32[np.ndarray, "B T 220"]
    memory: Float32[np.ndarray, "B M W"]
    """As of the first pass."""


class WindowedNetwork:
    """A network of two passes, without feedback.

    Each pass takes any number of frames at a time. With the memory that the frames before have
    left, single frames give what the whole track gives. Without one, the first frame is taken to
    have been there for ever.

    Args:
        folder: Where its two files are.
    """

    kind = "windowed"

    def __init__(self, folder: Path) -> None:
        self._first = _checked(
            folder / "first_pass.onnx",
            "first_pass",
            ("fixed", "memory"),
            ("outputs", "context", "memory_after"),
        )
        self._second = _checked(
            folder / "second_pass.onnx",
            "second_pass",
            ("context", "finger", "memory"),
            ("outputs", "memory_after"),
        )
        self.facts = self._first.facts

    def first(
        self,
        fixed: Float32[np.ndarray, "B T F"],
        memory: Float32[np.ndarray, "B M W"] | None = None,
    ) -> FirstOutputs:
        """Outputs from what does not depend on fingers.

        Args:
            fixed: Trajectory and ambient features of successive frames of one or more tracks.
            memory: What the frames before have left; None at the start of tracks.
        """
        _check_size("fixed", fixed, FIXED_SIZE)
        if memory is None:
            held = np.repeat(fixed[:, :1], self.facts.memory, axis=1)
            memory = self._first.run({"fixed": held, "memory": self._nothing(len(fixed))})[-1]
        return FirstOutputs(*self._first.run({"fixed": fixed, "memory": memory}))

    def second(
        self,
        context: Float32[np.ndarray, "B T C"],
        finger: Float32[np.ndarray, "B T F"],
        memory: Float32[np.ndarray, "B M W"] | None = None,
    ) -> SecondOutputs:
        """Outputs from what the sensors read at the fingers of the first pass.

        Args:
            context: From the first pass, of the same frames.
            finger: Pose, proximity, distances and normals, measured at fitted fingers.
            memory: What the frames before have left; None at the start of tracks.
        """
        _check_size("finger", finger, FINGER_SIZE)
        if memory is None:
            held = {
                "context": np.repeat(context[:, :1], self.facts.memory, axis=1),
                "finger": np.repeat(finger[:, :1], self.facts.memory, axis=1),
                "memory": self._nothing(len(finger)),
            }
            memory = self._second.run(held)[-1]
        found = self._second.run({"context": context, "finger": finger, "memory": memory})
        return SecondOutputs(*found)

    def _nothing(self, num_tracks: int) -> Float32[np.ndarray, "B M W"]:
        return np.zeros((num_tracks, self.facts.memory, self.facts.width), dtype=np.float32)


def load_network(path: str | Path) -> Network | WindowedNetwork:
    """A trained network.

    Args:
        path: The folder of a model, one of the network's files in it, or ``shipped``.
    """
    path = SHIPPED_FOLDER if str(path) == SHIPPED else Path(path)
    folder = path if path.is_dir() else path.parent
    if not path.exists():
        raise InvalidValueError(
            f"{path}: is not there; expected the folder of a trained network. "
            f"Make one with 'handwright train', or say '{SHIPPED}' for the one of the package."
        )
    if path.is_file() and path.stem not in PARTS["windowed"]:
        return Network(path)
    if (folder / "network.onnx").is_file():
        return Network(folder / "network.onnx")
    if (folder / "first_pass.onnx").is_file():
        return WindowedNetwork(folder)
    raise InvalidValueError(
        f"{folder}: holds neither network.onnx nor first_pass.onnx; expected the folder of a "
        "trained network. Make one with 'handwright train', or wait until its first epoch is over."
    )


def current_facts(part: Part) -> NetworkFacts:
    """Facts of a graph for this version's features, to be filled in by its maker."""
    kind = next(kind for kind, parts in PARTS.items() if part in parts)
    return NetworkFacts(
        kind=kind,
        part=part,
        feature_version=FEATURE_VERSION,
        joints=JOINTS,
        rate=RATE,
        horizon=0.5,
        width=0,
        memory=0,
        license="",
    )


def _checked(path: Path, part: Part, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Graph:
    graph = Graph(path)
    check_facts(path, graph.facts, current_facts(part))
    graph.check_names(inputs, outputs)
    return graph


def _check_size(name: str, rows: Float32[np.ndarray, "... F"], size: int) -> None:
    if rows.shape[-1] != size or rows.dtype != np.float32:
        raise InvalidValueError(
            f"{name} has shape {rows.shape} and type {rows.dtype}; expected (..., {size}) of "
            "float32. Use the functions of methods.neural.sensing.features."
        )
