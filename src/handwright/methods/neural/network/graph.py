"""One ONNX graph, run by onnxruntime on one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32

from handwright.errors import FileFormatError, InvalidValueError, require
from handwright.methods.neural.network.facts import NetworkFacts, facts_of


class Graph:
    """A graph that is ready to run.

    Args:
        path: Its file.
    """

    def __init__(self, path: Path) -> None:
        runtime: Any = require("onnxruntime", extra="neural", feature="A trained network")
        if not path.is_file():
            raise InvalidValueError(
                f"{path}: there is no such file; expected a trained network. "
                "Give the folder that 'handwright train' has written."
            )
        options = runtime.SessionOptions()
        # The network is small and memory-bound: more threads on a busy machine only wait.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = runtime.InferenceSession(
                path.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        # onnxruntime's errors have no base of their own.
        except Exception as error:
            raise FileFormatError(
                f"{path}: is no ONNX file that can be run ({str(error).strip()[:200]}). "
                "Give a network that 'handwright train' has written."
            ) from error
        self.path = path
        self.facts: NetworkFacts = facts_of(path, self._session.get_modelmeta().custom_metadata_map)

    def check_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Refuses a graph with other inputs or outputs."""
        for what, found, wanted in (
            ("inputs", self._session.get_inputs(), inputs),
            ("outputs", self._session.get_outputs(), outputs),
        ):
            names = [one.name for one in found]
            if names != list(wanted):
                raise FileFormatError(
                    f"{self.path}: its {what} are {', '.join(names)}; expected "
                    f"{', '.join(wanted)}. Give a network that 'handwright train' has written."
                )

    def run(
        self, inputs: Mapping[str, Float32[np.ndarray, "..."]]
    ) -> list[Float32[np.ndarray, "..."]]:
        """Outputs, in the order of the graph.

        Args:
            inputs: By name.
        """
        found: list[np.ndarray] = self._session.run(None, dict(inputs))
        return found
