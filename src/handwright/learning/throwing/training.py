"""DDPG as in the thesis, with two layers of 64, on one of the environments."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from handwright.errors import InvalidValueError, require
from handwright.learning.throwing.recipe import TASKS, PolicyRecipe
from handwright.learning.throwing.registration import register_environments

_POLICY, _MEMORY, _RUN = "policy.zip", "memory.pkl", "run.json"


class PolicyFigures(NamedTuple):
    """What the last throws were worth."""

    throws: int
    reward: float
    caught: float
    """Share."""


def train_policy(
    recipe: PolicyRecipe,
    folder: Path,
    *,
    seed: int,
    resume: bool,
    tell: Callable[[PolicyFigures], None],
) -> list[PolicyFigures]:
    """Learns a policy, or goes on with one; the folder always holds the last saved state.

    Args:
        recipe: What is learned and how.
        folder: Where the policy is kept.
        seed: Of all that is random.
        resume: Whether to go on with what the folder holds.
        tell: Told how it goes each time that the policy is saved.
    """
    sb3: Any = require("stable_baselines3", extra="learn", feature="'handwright train'")
    register_environments()
    env = gymnasium.make(TASKS[recipe.task], drive=recipe.drive)
    folder.mkdir(parents=True, exist_ok=True)
    history: list[PolicyFigures] = []
    if resume:
        history = _history(folder, recipe, seed)
        model = sb3.DDPG.load(folder / _POLICY, env=env)
        model.load_replay_buffer(folder / _MEMORY)
    else:
        model = _new_model(sb3, env, recipe, seed)
    watcher = _watcher(sb3)
    while model.num_timesteps < recipe.throws:
        part = min(recipe.save_every, recipe.throws - model.num_timesteps)
        model.learn(part, callback=watcher, reset_num_timesteps=False)
        rewards, caught = watcher.taken()
        figures = PolicyFigures(
            model.num_timesteps, float(np.mean(rewards)), float(np.mean(caught))
        )
        history.append(figures)
        _save(model, folder, recipe, seed, history)
        tell(figures)
    return history


def _new_model(
    sb3: Any,  # noqa: ANN401
    env: gymnasium.Env[Any, Any],
    recipe: PolicyRecipe,
    seed: int,
) -> Any:  # noqa: ANN401
    import torch
    from stable_baselines3.common.noise import NormalActionNoise

    size = 7
    noise = NormalActionNoise(np.zeros(size), np.full(size, recipe.noise))
    model = sb3.DDPG(
        "MlpPolicy",
        env,
        learning_rate=recipe.learning_rate,
        gamma=recipe.discount,
        buffer_size=20_000,
        learning_starts=0,
        batch_size=64,
        train_freq=(1, "step"),
        gradient_steps=4,
        action_noise=noise,
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.ReLU},
        seed=seed,
    )
    # A policy that begins with no action does not have to unlearn chance first.
    for actor in (model.policy.actor, model.policy.actor_target):
        last = [layer for layer in actor.mu if isinstance(layer, torch.nn.Linear)][-1]
        torch.nn.init.zeros_(last.weight)
        torch.nn.init.zeros_(last.bias)
    return model


def _watcher(sb3: Any) -> Any:  # noqa: ANN401
    class Watcher(sb3.common.callbacks.BaseCallback):  # type: ignore[misc]
        """Keeps rewards and catches until they are taken."""

        def __init__(self) -> None:
            super().__init__()
            self._rewards: list[float] = []
            self._caught: list[bool] = []

        def _on_step(self) -> bool:
            self._rewards.append(float(self.locals["rewards"][0]))
            self._caught.append(bool(self.locals["infos"][0]["is_caught"]))
            return True

        def taken(self) -> tuple[list[float], list[bool]]:
            """What was kept since the last time."""
            found = self._rewards, self._caught
            self._rewards, self._caught = [], []
            return found

    return Watcher()


def _save(
    model: Any,  # noqa: ANN401
    folder: Path,
    recipe: PolicyRecipe,
    seed: int,
    history: list[PolicyFigures],
) -> None:
    model.save(folder / _POLICY)
    model.save_replay_buffer(folder / _MEMORY)
    about = {
        "recipe": asdict(recipe),
        "seed": seed,
        "history": [figures._asdict() for figures in history],
    }
    (folder / _RUN).write_text(json.dumps(about, indent=1))


def _history(folder: Path, recipe: PolicyRecipe, seed: int) -> list[PolicyFigures]:
    """What was told so far, of a run that this one goes on with."""
    if not (folder / _RUN).is_file():
        raise InvalidValueError(
            f"'{folder}' holds no policy to go on with; leave out --resume to begin one."
        )
    about = json.loads((folder / _RUN).read_text())
    wanted = asdict(recipe)
    differing = [
        f"{name} {about['recipe'].get(name)!r} and not {value!r}"
        for name, value in {**wanted, "seed": seed}.items()
        if name not in ("throws", "save_every")
        and ({**about["recipe"], "seed": about["seed"]}).get(name) != value
    ]
    if differing:
        raise InvalidValueError(
            f"The policy in '{folder}' was begun with {'; '.join(differing)}. "
            "Give the same options, or another folder."
        )
    return [PolicyFigures(**row) for row in about["history"]]
