"""The command that teaches a network to pose fingers."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from tyro.conf import FlagCreatePairsOff, Positional

from handwright.cli.console import make_console, make_table, unset, writable_folder
from handwright.cli.options import setting_option
from handwright.core.settings import settings_of
from handwright.errors import InvalidValueError, require
from handwright.learning.throwing.recipe import TASKS, PolicyRecipe
from handwright.learning.training.recipe import RECIPES, Recipe

if TYPE_CHECKING:
    from rich.console import Console

    from handwright.learning.training.records.checkpoints import Epoch
    from handwright.learning.training.training import TrainingProgress

RecipeName = Literal["ours", "paper", "windowed"]


def _recipe_options() -> type:
    """A dataclass for tyro: an option for each setting of a recipe; None stands for "not given"."""
    rows = []
    for item in settings_of(Recipe):
        having = {
            name: dataclasses.replace(item, default=getattr(recipe, item.name))
            for name, recipe in RECIPES.items()
        }
        is_same = len({one.default for one in having.values()}) == 1
        rows.append(setting_option(item.name, {"": item} if is_same else having))
    about = {"__doc__": "What a recipe says; its own values stand where nothing is given."}
    return dataclasses.make_dataclass("RecipeOptions", rows, frozen=True, namespace=about)


RecipeOptions = _recipe_options()


def train(
    motions: Annotated[Positional[Path | None], unset("DIR")] = None,
    /,
    *,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="MODEL")] = Path("out/model"),
    recordings: Annotated[Path | None, unset("FOLDER")] = None,
    recipe: RecipeName = "ours",
    seed: int = 0,
    resume: FlagCreatePairsOff[bool] = False,
    threads: Annotated[int | None, unset("INT")] = None,
    throws: Annotated[int | None, unset("INT")] = None,
    drive: Literal["pd", "computed_torque"] = "pd",
    options: Annotated[RecipeOptions, tyro.conf.arg(name="")],
) -> None:
    """Teach a network to pose fingers, from motions that 'handwright data' has made.

    The network sees the wrist, the object and what sensors on the hand read, and says the pose of
    the fingers (ManipNet, Zhang et al. 2021). Three recipes are there. 'ours' goes from frame to
    frame and is taught against drift: with noise, and from poses that it got to by itself. 'paper'
    is the paper's, at its width and with its 500 epochs: it takes a day. 'windowed' says the
    fingers of each frame from a second of the past, reads the sensors there, and says them again;
    it has no feedback and hence no drift.

    After each epoch MODEL holds the best network so far: its ONNX files, which run without torch,
    README.md and model.json with recipe, seed, data and figures, and curves.png. The best epoch is
    that with the least joint error and penetration when the network, on motions kept for
    validation, goes on from its own poses. Motions of the test split are not looked at. Ctrl-C ends
    a run after its last whole epoch; with --resume, and the same options, it goes on as if nothing
    had been.

    In place of a folder, throw-height, hit-box and flip-can name a task of the simulated arm that
    throws; a policy for it is learned with DDPG as in Luo 2024. MODEL then holds policy.zip of
    stable-baselines3, its memory, and run.json with recipe, seed and how it went. Of the options,
    --out, --seed, --resume, --threads, --throws and --drive are for these.

    Needs the extra learn: pip install torch, then pip install "handwright[learn]".

    Args:
        motions: Folder of taught motions, or a folder of such folders; or throw-height, hit-box or
            flip-can.
        out: Folder of the model; made if it is not there.
        recordings: Instead of DIR: recordings of the ManipNet data set (CC-BY-NC), of which the
            first four fifths are learned. Such a network is for comparisons, not for distribution.
        recipe: What the options below start from.
        seed: Random seed; the same seed, motions and number of threads give the same network.
        resume: Go on with the run that MODEL holds.
        threads: How many cores torch takes; all if not given.
        throws: From how many throws a task is learned, those before --resume included; 800 if not
            given.
        drive: How joints follow their targets while a task is learned: the springs of the thesis,
            or computed torques.
        options: Settings that differ from those of the recipe.
    """
    if str(motions) in TASKS and recordings is None:
        recipe_of_task = PolicyRecipe(str(motions), throws=throws or 800, drive=drive)
        _train_task(recipe_of_task, out, options, seed=seed, resume=resume, threads=threads)
        return
    if throws is not None:
        raise InvalidValueError(
            f"--throws is for the tasks {', '.join(TASKS)}; 'handwright train' was given none."
        )
    if (motions is None) == (recordings is None):
        raise InvalidValueError(
            "'handwright train' was given "
            + ("no motions" if motions is None else "both motions and recordings")
            + "; expected a folder of taught motions, or --recordings FOLDER."
        )
    torch: Any = require("torch", extra="learn", feature="'handwright train'")
    require("onnx", extra="learn", feature="'handwright train'")
    from handwright.learning.training.lessons.sources import recorded_motions, taught_motions
    from handwright.learning.training.records.card import FREE, NOT_FREE, Material
    from handwright.learning.training.training import train as run

    if threads is not None:
        if threads < 1:
            raise InvalidValueError(f"--threads is {threads}; expected 1 or more.")
        torch.set_num_threads(threads)
    wanted = dataclasses.replace(RECIPES[recipe], **_given(options))
    writable_folder(out)
    if recordings is None:
        assert motions is not None
        found = taught_motions(motions)
        taught = sum(split == "train" for _, split in found)
        source, license_text = f"{taught} motions of '{motions.name}'", FREE
    else:
        found = recorded_motions(recordings)
        source, license_text = "recordings of the ManipNet data set", NOT_FREE
    material = Material(source, license_text, command=_command())
    console = make_console()
    with _Bar(console) as bar:
        history = run(
            found, wanted, out, material=material, seed=seed, resume=resume, watch=bar.show
        )
    console.print(_table(history))
    console.print(f"The model is in {out}; its README.md says what it can do.", highlight=False)


def _train_task(
    recipe: PolicyRecipe,
    out: Path,
    options: object,
    *,
    seed: int,
    resume: bool,
    threads: int | None,
) -> None:
    """Learns a policy for a task of the arm that throws."""
    foreign = _given(options)
    if foreign:
        raise InvalidValueError(
            f"'handwright train {recipe.task}' does not take {', '.join(sorted(foreign))}; these "
            "are for networks that pose fingers."
        )
    if recipe.throws < 1:
        raise InvalidValueError(f"--throws is {recipe.throws}; expected 1 or more.")
    torch: Any = require("torch", extra="learn", feature="'handwright train'")
    require("gymnasium", extra="learn", feature="'handwright train'")
    from handwright.learning.throwing.training import PolicyFigures, train_policy

    torch.set_num_threads(threads or 1)
    writable_folder(out)
    console = make_console()

    def tell(figures: PolicyFigures) -> None:
        console.print(
            f"{figures.throws} throws: reward {figures.reward:.2f}, "
            f"{100.0 * figures.caught:.0f} % caught",
            highlight=False,
        )

    train_policy(recipe, out, seed=seed, resume=resume, tell=tell)
    console.print(f"The policy is in {out}; --resume goes on with it.", highlight=False)


def _given(options: object) -> dict[str, Any]:
    """Settings that were given on the command line, by name."""
    return {
        item.name: value
        for item in dataclasses.fields(RecipeOptions)
        if (value := getattr(options, item.name)) != item.default
    }


def _command() -> str:
    """This command as one would type it, without places of the machine."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return shlex.join(["handwright", *words])


class _Bar:
    """How far a run has come: a bar on a terminal, and a line for each epoch."""

    def __init__(self, console: Console) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._told = 0
        self._is_terminal = console.is_terminal
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeRemainingColumn(),
            console=RichConsole(stderr=True),
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("features of the motions", total=None)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, progress: TrainingProgress) -> None:
        """Shows how far the run has come."""
        last = progress.last
        if last is not None and last.number != self._told:
            self._told = last.number
            self._bar.console.print(epoch_line(last), highlight=False)
        self._bar.update(
            self._task,
            description=f"epoch {progress.epoch} of {progress.num_epochs}",
            completed=progress.epoch - 1 + progress.share,
            total=progress.num_epochs,
        )


def epoch_line(epoch: Epoch) -> str:
    """What an epoch came to, on one line."""
    figures = epoch.figures
    return (
        f"epoch {epoch.number}: loss {epoch.loss:.4f}; closed loop: joint error "
        f"{figures.error:.2f} mm, penetration {figures.penetration:.2f} mm, acceleration "
        f"{figures.smoothness:.0f} cm/s^2; {epoch.seconds:.0f} s"
    )


def _table(history: list[Epoch]) -> object:
    from handwright.learning.training.records.checkpoints import best_of

    table = make_table(
        "", ">epoch", ">loss", ">error mm", ">penetration mm", ">acceleration cm/s^2"
    )
    best = best_of(history)
    for name, epoch in (("first", history[0]), ("last", history[-1]), ("best", best)):
        if epoch is not None:
            error, depth, bend = epoch.figures
            table.add_row(
                name,
                str(epoch.number),
                f"{epoch.loss:.4f}",
                f"{error:.2f}",
                f"{depth:.2f}",
                f"{bend:.0f}",
            )
    return table
