"""The card of a model: what it is, how it was made, what it can do, and who may use it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from handwright.io.atomic import written_whole
from handwright.learning.training.records.checkpoints import Epoch, RunIdentity, best_of

FREE = "Apache-2.0"
NOT_FREE = "trained on CC-BY-NC recordings: not for distribution"


@dataclass(frozen=True, slots=True)
class Material:
    """What a network was taught with, for its card."""

    source: str
    """Where the motions came from, in a sentence."""
    license: str
    """Under which the network may be used."""
    num_lessons: int = 0
    """Hands of motions, each seen as a right one."""
    num_frames: int = 0
    """Frames of these, at 60 a second."""
    num_validation_frames: int = 0
    command: str = ""
    """That trained it."""


def write_card(
    folder: Path,
    identity: RunIdentity,
    material: Material,
    history: Sequence[Epoch],
    num_parameters: int,
) -> None:
    """Writes the card as ``model.json`` and ``README.md``.

    Args:
        folder: Of the model.
        identity: Recipe, seed and data.
        material: What it was taught with.
        history: What the epochs came to.
        num_parameters: Numbers that training has set.
    """
    best = best_of(list(history))
    card: dict[str, Any] = {
        **identity.plain(),
        "command": material.command,
        "source": material.source,
        "license": material.license,
        "lessons": material.num_lessons,
        "frames": material.num_frames,
        "validation_frames": material.num_validation_frames,
        "parameters": num_parameters,
        "bytes": sum(file.stat().st_size for file in folder.glob("*.onnx")),
        "versions": {"handwright": version("handwright"), "torch": torch.__version__},
        "epochs": [
            {"epoch": one.number, "loss": one.loss, "seconds": one.seconds, **_figures(one)}
            for one in history
        ],
        "best": None if best is None else {"epoch": best.number, **_figures(best)},
    }
    with written_whole(folder / "model.json") as file:
        file.write(json.dumps(card, indent=1).encode())
    with written_whole(folder / "README.md") as file:
        file.write(_markdown(folder.name, card).encode())


def _figures(epoch: Epoch) -> dict[str, float]:
    return {
        "error_mm": epoch.figures.error,
        "penetration_mm": epoch.figures.penetration,
        "acceleration_cm_s2": epoch.figures.smoothness,
    }


def _markdown(name: str, card: dict[str, Any]) -> str:
    best = card["best"]
    settings = "\n".join(f"| {key} | {value} |" for key, value in card["recipe"].items())
    seconds = sum(one["seconds"] for one in card["epochs"])
    figures = (
        "There is no whole network yet."
        if best is None
        else f"Closed loop on the validation split, each hand from its first taught pose: joint "
        f"error {best['error_mm']:.1f} mm over the joints that move, deepest sensor site "
        f"{best['penetration_mm']:.2f} mm in the mean, acceleration "
        f"{best['acceleration_cm_s2']:.0f} cm/s^2. Epoch {best['epoch']} is the best of "
        f"{len(card['epochs'])} by error and penetration; it is the one in the ONNX files."
    )
    return f"""# {name}

Fingers from tracks of wrists and objects, after ManipNet (Zhang et al. 2021); made by handwright
{card["versions"]["handwright"]}. `model.json` has all of this for programs.

- **Licence**: {card["license"]}
- **Taught with**: {card["source"]}; {card["lessons"]} hands, {card["frames"]} frames at 60 a second
- **Command**: `{card["command"] or "none: trained by a program"}`
- **Seed**: {card["seed"]}; data {card["data"]}; torch {card["versions"]["torch"]}
- **Size**: {card["parameters"]} parameters, {card["bytes"] / 1e6:.1f} MB
- **Time**: {seconds / 60.0:.1f} minutes

## Figures
{figures}

![curves](curves.png)

## Recipe
| setting | value |
|---|---|
{settings}
"""
