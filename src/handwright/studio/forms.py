"""Settings of methods as forms, made from their dataclasses, and settings from filled-in forms."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import textwrap
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.hands import human
from handwright.methods import METHODS, Method
from handwright.studio.labels import in_words
from handwright.studio.messages import MethodInfo, Setting

_TITLES = {
    "scripted": ("Scripted fingers", ""),
    "sampling": ("Contact sampling", "Ye & Liu 2012"),
    "trajopt": ("Contact-invariant optimisation", "Mordatch, Popović & Todorov 2012"),
    "stepwise": ("Interactive stepping", "Liu 2008"),
}
_LABELS = {
    "num_solutions": "Motions",
    "time_budget": "Time",
    "window": "Time between changes",
    "leave_free": "Chance of a free finger",
    "idle_force_price": "Price of idle fingers' force",
    "max_force": "Largest force",
    "finger_speed": "Fastest joint",
    "friction_margin": "Share of friction used",
    "smoothing_hz": "Smoothing",
    "max_frames": "Frames of an attempt",
    "baseline": "Plain search of the paper",
    "num_workers": "Processes",
    "max_attempts": "Attempts",
    "phase_time": "Time between keys",
    "samples_per_phase": "Moments between keys",
    "pushes": "Ready for pushes",
    "push_force": "Strongest push",
    "free_times": "Keys may move in time",
    "coupled": "Last joints bend together",
    "fills_hollows": "Hollows count as solid",
    "hold": "Held by",
    "torque": "Price of torque",
    "keep": "Price of lost contacts",
    "arm": "Price of the arm's posture",
    "finger": "Price of fingers' posture",
    "speed": "Price of speed",
    "force": "Price of force",
    "sliding": "Grip while sliding",
}
"""Of settings whose names do not say it."""
_BASIC = {"num_solutions", "time_budget", "strategy", "grip", "hold", "pose", "end_pose", "pushes"}
_UNITS = {
    "time_budget": "s",
    "phase_time": "s",
    "window": "frames",
    "finger_speed": "rad/s",
    "relocation_time": "s",
    "soft_tissue": "m",
    "skin_shear": "m",
    "smoothing_hz": "Hz",
    "max_frames": "frames",
    "max_force": "weights",
    "squeeze": "weights",
    "push_force": "N",
}
_KINDS: dict[type, Literal["integer", "number", "boolean"]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
}


def method_infos() -> list[MethodInfo]:
    """Every method, with a form for its settings."""
    return [_info(name, cls) for name, cls in METHODS.items()]


def _info(name: str, cls: type[Method]) -> MethodInfo:
    title, paper = _TITLES.get(name, (name.capitalize(), ""))
    return MethodInfo(name=name, title=title, paper=paper, settings=form(cls))


@functools.cache
def form(cls: type[Method]) -> list[Setting]:
    """The settings of a method that a form can hold: numbers, switches and choices."""
    hints, texts = get_type_hints(cls), _docstrings(cls)
    settings = []
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        plain, is_optional = _without_none(hints[item.name])
        choices = _choices(item.name, plain)
        kind: Literal["integer", "number", "boolean", "choice"]
        if choices:
            kind = "choice"
        elif plain in _KINDS:
            kind = _KINDS[plain]
        else:
            continue  # Pins, regions and the like have places of their own on the page.
        settings.append(
            Setting(
                name=item.name,
                label=_LABELS.get(item.name, in_words(item.name)),
                kind=kind,
                default=None if item.default is dataclasses.MISSING else item.default,
                choices=choices,
                is_optional=is_optional,
                unit=_UNITS.get(item.name, ""),
                help=texts.get(item.name, ""),
                is_basic=item.name in _BASIC,
            )
        )
    return settings


def make_method(
    name: str, values: Mapping[str, int | float | bool | str | None], extra: Mapping[str, Any]
) -> Method:
    """A method with settings from a form.

    Args:
        name: A key of ``METHODS``.
        values: Settings of its form that are not the default.
        extra: Settings that no form holds.
    """
    known = {setting.name: setting for setting in form(METHODS[name])}
    for key, value in values.items():
        if key not in known:
            raise UnknownNameError(f"setting of '{name}'", key, known)
        problem = _problem(known[key], value)
        if problem:
            raise InvalidValueError(f"'{key}' of '{name}' is {value!r}; expected {problem}.")
    numbers = {
        key: float(value) if known[key].kind == "number" and value is not None else value
        for key, value in values.items()
    }
    return METHODS[name](**{**numbers, **extra})


def _problem(setting: Setting, value: int | float | bool | str | None) -> str:
    """What was expected instead; empty if the value fits."""
    if value is None:
        return "" if setting.is_optional else "a value"
    if setting.kind == "choice":
        fits = not isinstance(value, bool) and value in setting.choices
        return "" if fits else f"one of {', '.join(map(str, setting.choices))}"
    if setting.kind == "boolean":
        return "" if isinstance(value, bool) else "true or false"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if setting.kind == "integer":
        return "" if is_number and isinstance(value, int) else "a whole number"
    return "" if is_number else "a number"


def _without_none(hint: Any) -> tuple[Any, bool]:  # noqa: ANN401  any annotation
    if get_origin(hint) in (Union, types.UnionType):
        others = [part for part in get_args(hint) if part is not type(None)]
        if len(others) == 1 and len(others) < len(get_args(hint)):
            return others[0], True
    return hint, False


def _choices(name: str, hint: Any) -> list[str | int]:  # noqa: ANN401  any annotation
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if name == "pushes":
        return [0, 4, 6]
    # Poses are those of the human hand; other hands have theirs, and say so.
    return sorted(human().poses) if name in ("pose", "end_pose") else []


def _docstrings(cls: type) -> dict[str, str]:
    """Texts under the fields of a dataclass and its bases."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        if not isinstance(body, ast.ClassDef):
            continue
        for item, after in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(item, ast.AnnAssign)
                and isinstance(item.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                texts[item.target.id] = " ".join(after.value.value.split()).replace("``", "")
    return texts
