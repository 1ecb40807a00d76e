"""Recipes: every setting of a training run, and the three that have names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from handwright.core.settings import check_settings, setting

Architecture = Literal["dense", "resnet", "mlp", "windowed"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is built and taught."""

    architecture: Architecture = setting(
        "dense",
        help="dense, resnet and mlp see one frame and say the next (the paper's network and its "
        "two variants); windowed sees a second of the past and says each frame twice, without "
        "feedback.",
    )
    width: int = setting(
        384,
        at_least=3,
        at_most=8192,
        help="Of the hidden layers; the paper has 1536, and weighs 44 MB.",
    )
    output: Literal["change", "absolute"] = setting(
        "change",
        help="Whether a pose is said as its change from the pose that went in, which is smoother, "
        "or as it is, which forgets errors sooner.",
    )
    ambient: bool = setting(True, help="Whether the network sees the coarse shape of the object.")
    distance: bool = setting(
        True, help="Whether the network sees proximity rays and distances of the joints."
    )
    horizon: Literal["0.5", "0.1"] = setting(
        "0.5", unit="s", help="How far ahead the network looks; live use waits as long."
    )
    dropout: float = setting(
        0.3, at_least=0.0, at_most=0.9, help="Share of hidden values dropped in training."
    )
    optimizer: Literal["adamw", "adam"] = setting("adamw", help="How weights are changed.")
    schedule: Literal["one-cycle", "constant"] = setting(
        "one-cycle", help="How the learning rate goes: up and down again, or as it is."
    )
    learning_rate: float = setting(4e-4, above=0.0, at_most=1.0, help="Largest learning rate.")
    weight_decay: float = setting(
        0.01, at_least=0.0, at_most=1.0, help="Pull of weights to zero; only with adamw."
    )
    batch: int = setting(
        128,
        at_least=1,
        help="Frames for each step; windows of frames for the windowed network.",
    )
    epochs: int = setting(15, at_least=1, help="How often all frames are seen.")
    pose_noise: float = setting(
        0.12,
        unit="rad",
        at_least=0.0,
        at_most=1.0,
        help="Standard deviation of what is added to the joint values that sensors are read at.",
    )
    rollout_share: float = setting(
        0.6,
        at_least=0.0,
        at_most=1.0,
        help="Share of an epoch that starts from poses which the network itself has led to; from "
        "the second epoch on. Not for the windowed network.",
    )
    chains: int = setting(256, at_least=1, help="How many such roll-outs go on side by side.")
    restart_chance: float = setting(
        1.0 / 150.0,
        above=0.0,
        at_most=1.0,
        help="Chance of each roll-out, at each step, to begin again elsewhere.",
    )
    restart_error: float = setting(
        60.0, unit="mm", above=0.0, help="Mean error of the joints above which it begins again."
    )
    correction: Literal["none", "algorithm1", "contact"] = setting(
        "none",
        help="What is done to fitted fingers in roll-outs, those of the training and those of the "
        "validation: nothing, the paper's Algorithm 1, or contact-keeping.",
    )
    position_weight: float = setting(
        1.0, at_least=0.0, help="Of the joints' places in what is minimised."
    )
    rotation_weight: float = setting(
        1.0, at_least=0.0, help="Of the joints' directions in what is minimised."
    )
    distance_weight: float = setting(
        0.5, at_least=0.0, help="Of the distances to the object in what is minimised."
    )
    velocity_weight: float = setting(
        0.0,
        at_least=0.0,
        help="Of the change of the pose from frame to frame in what is minimised.",
    )
    window: int = setting(
        96, unit="frames", at_least=1, help="Frames in a window of the windowed network."
    )
    validation_seconds: float = setting(
        120.0,
        unit="s",
        above=0.0,
        help="Motion of hands, from the validation split, that closed-loop figures are taken of "
        "after each epoch.",
    )

    def __post_init__(self) -> None:
        check_settings(self)


RECIPES: dict[str, Recipe] = {
    "ours": Recipe(),
    "paper": Recipe(
        width=1536,
        output="absolute",
        optimizer="adam",
        schedule="constant",
        learning_rate=1e-4,
        weight_decay=0.0,
        batch=32,
        epochs=500,
        pose_noise=0.0,
        rollout_share=0.0,
        distance_weight=1.0,
    ),
    "windowed": Recipe(
        architecture="windowed",
        width=256,
        dropout=0.1,
        learning_rate=1e-3,
        batch=6,
        window=48,
        epochs=8,
        velocity_weight=0.02,
    ),
}
"""By name: ours, against drift; the paper's; and the two-pass network."""
