"""Trained networks as ONNX files, which run without torch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from handwright.errors import require
from handwright.io.atomic import whole_path
from handwright.learning.training.networks.architectures import FrameNetwork
from handwright.learning.training.networks.windowed import (
    MEMORY,
    FirstPass,
    SecondPass,
    empty_memory,
)
from handwright.learning.training.recipe import Recipe
from handwright.methods.neural.network.facts import NetworkFacts, Part
from handwright.methods.neural.network.runtime import current_facts
from handwright.methods.neural.sensing.sensors import FINGER_SIZE
from handwright.methods.neural.sensing.table import FIXED_SIZE, NUM_FEATURES

_OPSET = 17


def export_frame_network(
    network: FrameNetwork, recipe: Recipe, folder: Path, license_text: str
) -> None:
    """Writes ``network.onnx``.

    Args:
        network: Put into evaluation.
        recipe: That it was made by.
        folder: Where.
        license_text: Kept in the file.
    """
    _export(
        network,
        {"features": torch.zeros(2, NUM_FEATURES)},
        ["outputs"],
        free={"features": {0: "hands"}, "outputs": {0: "hands"}},
        facts=_facts("network", recipe, license_text),
        path=folder / "network.onnx",
    )


def export_passes(
    first: FirstPass, second: SecondPass, recipe: Recipe, folder: Path, license_text: str
) -> None:
    """Writes ``first_pass.onnx`` and ``second_pass.onnx``.

    Args:
        first: Put into evaluation.
        second: Put into evaluation.
        recipe: That they were made by.
        folder: Where.
        license_text: Kept in the files.
    """
    memory = empty_memory(2, recipe.width)
    tracks, whole = {0: "tracks", 1: "frames"}, {0: "tracks"}
    free = {"memory": whole, "memory_after": whole, "outputs": tracks, "context": tracks}
    _export(
        first,
        {"fixed": torch.zeros(2, 3, FIXED_SIZE), "memory": memory},
        ["outputs", "context", "memory_after"],
        free={"fixed": tracks, **free},
        facts=replace(_facts("first_pass", recipe, license_text), memory=MEMORY),
        path=folder / "first_pass.onnx",
    )
    seen = {
        "context": torch.zeros(2, 3, 2 * recipe.width),
        "finger": torch.zeros(2, 3, FINGER_SIZE),
        "memory": memory,
    }
    _export(
        second,
        seen,
        ["outputs", "memory_after"],
        free={"finger": tracks, **free},
        facts=replace(_facts("second_pass", recipe, license_text), memory=MEMORY),
        path=folder / "second_pass.onnx",
    )


def _facts(part: Part, recipe: Recipe, license_text: str) -> NetworkFacts:
    return replace(
        current_facts(part),
        width=recipe.width,
        horizon=float(recipe.horizon),
        license=license_text,
    )


def _export(
    module: nn.Module,
    examples: Mapping[str, Tensor],
    outputs: Sequence[str],
    *,
    free: Mapping[str, Mapping[int, str]],
    facts: NetworkFacts,
    path: Path,
) -> None:
    """Writes a network as an ONNX file.

    Args:
        module: The network; put into evaluation.
        examples: Inputs to trace it with, by name and in order.
        outputs: Names of what it returns.
        free: Axes of inputs and outputs whose length is free, by name, with names for them.
        facts: Kept in the file as metadata.
        path: The file to write.
    """
    onnx: Any = require("onnx", extra="learn", feature="Writing a trained network")
    module.eval()
    with whole_path(path) as temporary:
        with warnings.catch_warnings():
            # The exporter by tracing: its successor needs one more package for the same graph.
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.onnx.export(
                module,
                tuple(examples.values()),
                temporary,
                input_names=list(examples),
                output_names=list(outputs),
                dynamic_axes={name: dict(axes) for name, axes in free.items()},
                opset_version=_OPSET,
                dynamo=False,
            )
        model = onnx.load(temporary)
        onnx.helper.set_model_props(model, facts.as_text())
        onnx.checker.check_model(model)
        onnx.save(model, temporary)
