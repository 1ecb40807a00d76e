"""Training runs on disk, so that they can be taken up again where they were left."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from handwright.core.settings import from_plain_settings, plain_settings
from handwright.errors import FileFormatError, InvalidValueError
from handwright.io.atomic import written_whole
from handwright.learning.training.lessons.measures import Figures
from handwright.learning.training.recipe import Recipe

FOLDER = "checkpoints"
LAST, BEST = "last.pt", "best.pt"
_FORMAT = "handwright training 1"


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch came to."""

    number: int
    """From 1 on."""
    loss: float
    """Mean over the epoch."""
    figures: Figures
    """Closed loop, on the validation split, after it."""
    is_whole: bool
    """Whether there is a network to be used; not before the second pass of two."""
    seconds: float


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """What has to be the same for a run to go on."""

    recipe: Recipe
    seed: int
    data: str
    """Digest of the training and the validation data."""

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"recipe": plain_settings(self.recipe), "seed": self.seed, "data": self.data}


def best_of(history: list[Epoch]) -> Epoch | None:
    """The epoch with the best closed-loop figures; None before there is a whole network."""
    whole = [epoch for epoch in history if epoch.is_whole]
    return min(whole, key=lambda epoch: epoch.figures.score) if whole else None


def save_checkpoint(
    path: Path, identity: RunIdentity, history: list[Epoch], state: dict[str, Any]
) -> None:
    """Writes all that a run needs to go on.

    Args:
        path: The file.
        identity: Which run it is.
        history: What its epochs came to.
        state: Of the training.
    """
    about = {
        "format": _FORMAT,
        **identity.plain(),
        "history": [asdict(epoch) | {"figures": list(epoch.figures)} for epoch in history],
    }
    with written_whole(path) as file:
        torch.save({"about": json.dumps(about), "state": state}, file)


def load_checkpoint(path: Path, identity: RunIdentity) -> tuple[list[Epoch], dict[str, Any]]:
    """History and state of a run.

    Args:
        path: The file.
        identity: The run that is to go on.
    """
    if not path.is_file():
        raise InvalidValueError(
            f"{path}: is not there, so no training can go on. Leave --resume out to begin one."
        )
    try:
        held = torch.load(path, weights_only=True)
        about = json.loads(held["about"])
        is_ours = about["format"] == _FORMAT
    # Damaged archives make torch raise errors of many kinds.
    except Exception as error:
        raise FileFormatError(
            f"{path}: cannot be read ({str(error).strip()[:200]}). Begin again without --resume."
        ) from error
    if not is_ours:
        raise FileFormatError(f"{path}: is of another version. Begin again without --resume.")
    _check_same(path, about, identity)
    history = [Epoch(**(row | {"figures": Figures(*row["figures"])})) for row in about["history"]]
    return history, held["state"]


def _check_same(path: Path, about: dict[str, Any], identity: RunIdentity) -> None:
    kept = Recipe(**from_plain_settings(Recipe, about["recipe"]))
    wanted = identity.recipe
    differs = [
        f"{name} was {getattr(kept, name)!r} and is {getattr(wanted, name)!r}"
        for name in plain_settings(wanted)
        if getattr(kept, name) != getattr(wanted, name)
    ]
    if about["seed"] != identity.seed:
        differs.append(f"the seed was {about['seed']} and is {identity.seed}")
    if about["data"] != identity.data:
        differs.append("the motions are others")
    if differs:
        raise InvalidValueError(
            f"{path}: belongs to another run: {'; '.join(differs)}. Give the same recipe, seed and "
            "motions, or begin another run in another folder."
        )
