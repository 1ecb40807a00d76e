"""The method: fingers that a network has learned, for given tracks of wrists and bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from handwright.core.clip import Clip
from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.core.settings import check_settings, setting
from handwright.core.tolerances import Tolerances
from handwright.methods.about import Paper
from handwright.methods.base import (
    Method,
    Search,
    advice_on_goals,
    num_workers_setting,
    time_budget_setting,
    untracked,
)
from handwright.methods.neural.fitting import Correction
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import SHIPPED, load_network
from handwright.methods.neural.retargeting import needs_stand_in, unfit
from handwright.methods.neural.searches import GuidedSearches, PlainMotions
from handwright.methods.table import METHODS

_PAPER = Paper(
    key="Zhang2021",
    authors=("He Zhang", "Yuting Ye", "Takaaki Shiratori", "Taku Komura"),
    title="ManipNet: Neural Manipulation Synthesis with a Hand-Object Spatial Representation",
    venue="ACM Transactions on Graphics",
    year=2021,
    doi="10.1145/3450626.3459830",
    details=(("volume", "40"), ("number", "4"), ("articleno", "121")),
)


@dataclass(frozen=True, slots=True)
class NeuralFingers(Method):
    """Finger motions for given tracks of wrists and bodies, learned as in Zhang et al. 2021."""

    name: ClassVar[str] = "neural"

    title: ClassVar[str] = "Learned fingers"
    suited_to: ClassVar[str] = "Tracks of all wrists and bodies are given; fingers in real time."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    num_solutions: int = setting(
        1,
        at_least=1,
        label="Motions",
        basic=True,
        help="How many motions to look for: one of each model as it is, then others with noise.",
    )
    time_budget: float = time_budget_setting()
    finish: Literal["certified", "plain"] = setting(
        "certified",
        basic=True,
        help="Whether the network's motion guides contact sampling, so that forces hold what is "
        "carried, or is taken as it is, in a few milliseconds a frame; the certificate refuses "
        "most plain ones.",
    )
    model: str = setting(
        SHIPPED,
        basic=True,
        help="Folder of a network made by 'handwright train', or the one of the package. Folders "
        "with commas between them take turns, so that several networks give several motions.",
    )
    style_noise: float = setting(
        0.05,
        unit="rad",
        at_least=0.0,
        at_most=1.0,
        help="Standard deviation of the angles by which joints that a network is shown are off, "
        "for all motions after the first of each model; with 0 there are no others.",
    )
    correction: Correction = setting(
        "grip",
        help="What is done to the network's poses: nothing; the paper's Algorithm 1; digits taken "
        "out of the body, and laid onto it where the network says that they touch; or these and "
        "contacts without which no forces could carry the body.",
    )
    guide_weight: float = setting(
        1.0, above=0.0, help="How closely a certified motion keeps to the network's."
    )
    soft_tissue: float = setting(
        0.0,
        unit="m",
        at_least=0.0,
        at_most=0.02,
        help="Depth to which pads may sink in beyond the certificate's limit; for recorded tracks.",
    )
    skin_stretch: float = setting(
        0.0,
        unit="m",
        at_least=0.0,
        at_most=0.01,
        help="Tangential stretch of the skin before a contact counts as sliding; for recorded "
        "tracks.",
    )
    smoothing_hz: float | None = setting(
        None,
        unit="Hz",
        above=0.0,
        label="Smoothing",
        help="Cut-off of a low-pass for the accelerations of noisy body tracks; 8 Hz suits motion "
        "capture.",
    )
    num_workers: int = num_workers_setting()

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def suits(cls, problem: Problem) -> float:
        """As contact sampling does, a little less; not at all hands that no network can move."""
        if any(_unmoved(model) for model in problem.hands.values()):
            return 0.0
        return 0.4 if not untracked(problem) else 0.05

    def tolerances(self, problem: Problem) -> Tolerances:
        """Noisy tracks are judged by what these settings say of the noise and of the skin."""
        del problem
        return Tolerances(
            soft_tissue=self.soft_tissue,
            skin_stretch=self.skin_stretch,
            smoothing_hz=self.smoothing_hz,
        )

    def lacks(self, problem: Problem) -> str:
        """Needs tracks for all hands and bodies, and hands that are human or have such digits."""
        missing = untracked(problem)
        if missing or not problem.hands:
            lacks = [f"a track of '{name}'" for name in missing] or ["a hand"]
            return f"Learned fingers need {', '.join(lacks)}. Add it.{advice_on_goals(problem)}"
        for name, model in problem.hands.items():
            why = _unmoved(model)
            if why:
                return f"Learned fingers cannot be given to hand '{name}': {why}"
        return str(self._sampling().lacks(problem)) if self.finish == "certified" else ""

    def search(self, problem: Problem) -> Search:
        """Contact sampling around the network's motions, or these motions alone."""
        networks = [load_network(folder.strip()) for folder in self.model.split(",")]

        def make(seed: int, number: int) -> Clip:
            # Noise begins when every model has had its turn.
            noise = self.style_noise if number >= len(networks) else 0.0
            return learned_motion(
                problem,
                networks[number % len(networks)],
                self.correction,
                style_noise=noise,
                rng=np.random.default_rng([seed, number]),
            )

        count = self.num_solutions
        if self.style_noise == 0.0:
            count = min(count, len(networks))
        if self.finish == "plain":
            return PlainMotions(make, count)

        def guided(made: Clip) -> Search:
            search: Search = self._sampling().guided_by(made, self.guide_weight).search(problem)
            return search

        return guided(make(0, 0)) if count == 1 else GuidedSearches(make, count, guided)

    def _sampling(self) -> Any:  # noqa: ANN401  families know each other by name only
        cls: Any = METHODS["sampling"]
        return cls(
            num_solutions=self.num_solutions,
            time_budget=self.time_budget,
            num_workers=self.num_workers,
            soft_tissue=self.soft_tissue,
            skin_stretch=self.skin_stretch,
            smoothing_hz=self.smoothing_hz,
        )


def _unmoved(model: HandModel) -> str:
    """Why a network cannot move the fingers of a hand, with the remedy; empty if it can."""
    if not needs_stand_in(model):
        return (
            f"'{model.name}' has an arm, and its wrist is wanted. Give the hand without the arm."
            if model.wrist_link != 0
            else ""
        )
    return unfit(model)
