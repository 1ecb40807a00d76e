"""Trained networks as ONNX files, which run without torch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from handwright.errors import require
from handwright.io.atomic import written_whole

_OPSET = 17


def export_onnx(
    module: nn.Module,
    examples: Mapping[str, Tensor],
    outputs: Sequence[str],
    *,
    free: Mapping[str, Mapping[int, str]],
    facts: Mapping[str, str],
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
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # The exporter by tracing; its successor needs another package and says the same graph.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            module,
            tuple(examples.values()),
            buffer,
            input_names=list(examples),
            output_names=list(outputs),
            dynamic_axes={name: dict(axes) for name, axes in free.items()},
            opset_version=_OPSET,
            dynamo=False,
        )
    model = onnx.load_from_string(buffer.getvalue())
    onnx.helper.set_model_props(model, dict(facts))
    onnx.checker.check_model(model)
    with written_whole(path) as file:
        file.write(model.SerializeToString())
