"""Puts a trained network into the package, with its card and its figures on a small set of motions.

``python -m tools.ship_weights MODEL [--data COMMAND ...] [--bench FILE.json]``, with the folder of
'handwright train', the commands that made its motions, and what 'handwright bench neural --json'
printed of it. A test measures the figures of the small set anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.neural.figures import mean_of, measured, with_fingers
from handwright.learning.data.motion import load_motions
from handwright.methods.neural.network.runtime import SHIPPED_FOLDER, Network, load_network
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.view import hand_views

SMALL_SET = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "taught"
"""Motions of the test split that the repository keeps."""
_COLUMNS = {
    "realism": "realism %",
    "realism_published": "realism at 0.35 %",
    "penetration": "penetration cm",
    "in_table": "in table cm",
    "smoothness_ratio": "acceleration / teacher's",
    "joint_error": "joint error mm",
}


def small_set_figures(network: Network) -> dict[str, float]:
    """Figures of a network in closed loop, from the neutral pose, on the small set.

    Args:
        network: Trained.
    """
    parts = []
    for motion in load_motions(SMALL_SET):
        fingers = rolled_out(network, hand_views(motion.clip.problem))
        parts.append(measured(with_fingers(motion.clip, fingers), motion.clip))
    mean = mean_of(parts)
    return {
        name: float(getattr(mean, name))
        for name in ("realism", "penetration", "smoothness", "joint_error")
    }


def main(model: Path, data: Sequence[str], bench: Path | None) -> None:
    """Copies, measures, and writes the card."""
    network = load_network(model)
    if not isinstance(network, Network):
        raise SystemExit(f"{model}: is a {network.kind} network; expected one that sees a frame.")
    SHIPPED_FOLDER.mkdir(exist_ok=True)
    shutil.copy(model / "network.onnx", SHIPPED_FOLDER)
    card = json.loads((model / "model.json").read_text())
    card |= {"data_commands": list(data), "small_set": small_set_figures(network)}
    (SHIPPED_FOLDER / "model.json").write_text(json.dumps(card, indent=1) + "\n")
    # The picture of the curves stays with the run: the package is kept small.
    text = (model / "README.md").read_text().replace("\n![curves](curves.png)\n", "")
    text = text.replace(f"# {model.name}\n", "# The network of the package\n", 1)
    if data:
        text = text.replace("- **Command**:", f"- **Motions by**: {_code(data)}\n- **Command**:", 1)
    if bench is not None:
        text += _figures(json.loads(bench.read_text()))
    (SHIPPED_FOLDER / "README.md").write_text(text)


def _code(commands: Sequence[str]) -> str:
    return ", ".join(f"`{command}`" for command in commands)


def _figures(found: dict[str, Any]) -> str:
    """Tables of the benchmark in Markdown."""
    lines = ["", "## On motions that it has not seen", ""]
    lines += ["Closed loop, from the neutral pose; `handwright bench neural`.", ""]
    for group, rows in found["tables"].items():
        lines += [f"### {group.capitalize()}", f"| fingers | {' | '.join(_COLUMNS.values())} |"]
        lines.append("|---" * (1 + len(_COLUMNS)) + "|")
        for name, row in rows.items():
            cells = ("-" if row[key] is None else f"{row[key]:.3g}" for key in _COLUMNS)
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", nargs="*", default=[], metavar="COMMAND")
    parser.add_argument("--bench", type=Path, metavar="FILE.json")
    given = parser.parse_args()
    main(given.model, given.data, given.bench)
