"""Whole training runs: epochs, closed-loop figures, checkpoints, and the model that comes out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError
from handwright.learning.training.frame_training import FrameTraining
from handwright.learning.training.lessons.corpus import Corpus, Lesson, lessons_of
from handwright.learning.training.lessons.measures import Figures, figures_of
from handwright.learning.training.networks.architectures import count_parameters
from handwright.learning.training.recipe import Recipe
from handwright.learning.training.records.card import Material, write_card
from handwright.learning.training.records.checkpoints import (
    BEST,
    FOLDER,
    LAST,
    Epoch,
    RunIdentity,
    best_of,
    load_checkpoint,
    save_checkpoint,
)
from handwright.learning.training.records.curves import write_curves
from handwright.learning.training.windowed_training import WindowedTraining
from handwright.methods.neural.sensing.motion import RATE

if TYPE_CHECKING:
    from handwright.learning.data import Split


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """How far a run has come."""

    epoch: int
    """From 1 on."""
    num_epochs: int
    share: float
    """Of this epoch, from 0 to 1."""
    last: Epoch | None
    """The epoch before."""


Watch = Callable[[TrainingProgress], None]


def train(
    motions: Sequence[tuple[Clip, Split]],
    recipe: Recipe,
    folder: str | Path,
    *,
    material: Material,
    seed: int = 0,
    resume: bool = False,
    watch: Watch | None = None,
) -> list[Epoch]:
    """Teaches a network, and writes the model with the best closed-loop figures.

    After each epoch the folder holds ``checkpoints/last.pt``, from which a run goes on, and the
    model so far: its ONNX files, ``model.json``, ``README.md`` and ``curves.png``.

    Args:
        motions: With their splits; those of the test split are not looked at.
        recipe: How.
        folder: Of the model; made if it is not there.
        material: For the card; its counts are filled in.
        seed: Of everything that is random.
        resume: Whether to go on with the run that the folder holds.
        watch: Is told how far the run has come.

    Returns:
        What the epochs came to.
    """
    taught, kept = (_of_split(motions, split) for split in ("train", "validation"))
    corpus = Corpus(_lessons(taught))
    validation = Corpus(_limited(_lessons(kept), recipe.validation_seconds))
    material = replace(
        material,
        num_lessons=len(corpus.lessons),
        num_frames=len(corpus),
        num_validation_frames=len(validation),
    )
    identity = RunIdentity(recipe, seed, f"{corpus.digest}-{validation.digest}")
    kind = WindowedTraining if recipe.architecture == "windowed" else FrameTraining
    folder = Path(folder)
    if not resume and (folder / FOLDER / LAST).exists():
        raise InvalidValueError(
            f"{folder}: holds a training run already. Go on with it (--resume), or choose another "
            "folder."
        )
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    history: list[Epoch] = []
    training = kind(recipe, corpus, seed)
    if resume:
        history, state = load_checkpoint(folder / FOLDER / LAST, identity)
        training.restore(state)
    for number in range(len(history) + 1, training.num_epochs + 1):
        began = time.perf_counter()

        def tell(share: float, epoch: int = number) -> None:
            if watch is not None:
                last = history[-1] if history else None
                watch(TrainingProgress(epoch, training.num_epochs, share, last))

        loss = training.run_epoch(number - 1, tell)
        if not math.isfinite(loss):
            raise InvalidValueError(
                f"The loss of epoch {number} is {loss}: the training has gone astray. Lower the "
                "learning rate; --resume would go on from the epoch before."
            )
        figures = closed_loop_figures(training, validation)
        seconds = time.perf_counter() - began
        history.append(Epoch(number, loss, figures, training.can_be_exported, seconds))
        if best_of(history) is history[-1]:
            training.export(folder, material.license)
            save_checkpoint(folder / FOLDER / BEST, identity, history, training.state())
        write_curves(history, folder / "curves.png")
        write_card(folder, identity, material, history, count_parameters(_modules(training)))
        # Last of all: what a run goes on from has everything else beside it.
        save_checkpoint(folder / FOLDER / LAST, identity, history, training.state())
    return history


def closed_loop_figures(training: FrameTraining | WindowedTraining, corpus: Corpus) -> Figures:
    """Figures of what a network makes of other lessons, without their fingers.

    Args:
        training: With the network as it is.
        corpus: The lessons.
    """
    return figures_of(corpus, training.roll_out(corpus))


def _of_split(motions: Sequence[tuple[Clip, Split]], wanted: Split) -> list[Clip]:
    """At least one."""
    clips = [clip for clip, split in motions if split == wanted]
    if not clips:
        raise InvalidValueError(
            f"None of the {len(motions)} motions is in the {wanted} split; expected one or more. "
            f"Make more motions, or some of that split: handwright data make SET --split {wanted} "
            "-o DIR, into the same folder."
        )
    return clips


def _lessons(clips: list[Clip]) -> list[Lesson]:
    # Motions of one body follow each other, so that its distance grids are held only once.
    clips.sort(key=lambda clip: sorted(body.content_hash for body in clip.problem.bodies.values()))
    return [lesson for clip in clips for lesson in lessons_of(clip)]


def _limited(lessons: Sequence[Lesson], seconds: float) -> list[Lesson]:
    """Lessons, evenly spread over all, that last so long together; at least one."""
    order = np.random.default_rng(0).permutation(len(lessons))
    frames = np.cumsum([len(lessons[n]) for n in order])
    count = max(int(np.searchsorted(frames, seconds * RATE, side="right")), 1)
    return [lessons[n] for n in sorted(order[:count])]


def _modules(training: FrameTraining | WindowedTraining) -> list[nn.Module]:
    if isinstance(training, FrameTraining):
        return [training.network]
    return [training.first, training.second]
