"""Settings of methods as forms, made from their dataclasses, and settings from filled-in forms."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal, cast

from handwright.core.settings import SettingField, settings_of
from handwright.deprecated import current_names
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.methods import METHODS, Method, loaded_methods
from handwright.methods.about import about_method
from handwright.studio.messages import MethodInfo, Setting

_FormKind = Literal["integer", "number", "boolean", "choice"]


def method_infos() -> list[MethodInfo]:
    """Every method, with a form for its settings."""
    return [_info(name, cls) for name, cls in loaded_methods().items()]


def _info(name: str, cls: type[Method]) -> MethodInfo:
    about = about_method(cls)
    return MethodInfo(name=name, title=about.title, paper=about.short_papers, settings=form(cls))


@functools.cache
def form(cls: type[Method]) -> list[Setting]:
    """The settings of a method that a form can hold: numbers, switches and choices."""
    made = (_entry(item) for item in settings_of(cls))
    return [entry for entry in made if entry is not None]


def _entry(item: SettingField) -> Setting | None:
    """A row of a form; None for pins, regions and the like, which the page shows elsewhere."""
    choices = [*item.choices, *(item.about.suggestions() if item.about.suggestions else ())]
    kind = "choice" if choices else item.kind
    if kind in ("text", "object"):
        return None
    return Setting(
        name=item.name,
        label=item.label,
        kind=cast(_FormKind, kind),
        default=item.default,
        choices=choices,
        is_optional=item.is_optional,
        unit=item.about.unit,
        help=item.about.help,
        is_basic=item.about.basic,
    )


def make_method(
    name: str, values: Mapping[str, int | float | bool | str | None], extra: Mapping[str, Any]
) -> Method:
    """A method with settings from a form.

    Args:
        name: A key of ``METHODS``.
        values: Settings of its form that are not the default. Jobs that an earlier release wrote
            down may use names that have been replaced since.
        extra: Settings that no form holds.
    """
    known = {setting.name: setting for setting in form(METHODS[name])}
    given = current_names(METHODS[name], values)
    for key, value in given.items():
        if key not in known:
            raise UnknownNameError(f"setting of '{name}'", key, known)
        problem = _problem(known[key], value)
        if problem:
            raise InvalidValueError(f"'{key}' of '{name}' is {value!r}; expected {problem}.")
    numbers = {
        key: float(value) if known[key].kind == "number" and value is not None else value
        for key, value in given.items()
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
