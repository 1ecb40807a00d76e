"""Settings that are written once: name, default, unit, range, label and help in a dataclass field.

Range checks, the command line, the forms of the studio, ``docs/settings.md`` and what a clip file
says about how it was made all come from the fields::

    @dataclass(frozen=True, slots=True)
    class Squeezing:
        max_force: float = setting(8.0, unit="N", above=0.0, help="Largest normal force.")

        def __post_init__(self) -> None:
            check_settings(self)
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from handwright.deprecated import WAS, current_names
from handwright.errors import InvalidValueError, UnknownNameError

Kind = Literal["integer", "number", "boolean", "choice", "text", "object"]
_T = TypeVar("_T")
_KINDS: dict[object, Kind] = {bool: "boolean", int: "integer", float: "number", str: "text"}
_WANTED: dict[Kind, str] = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "True or False",
    "text": "a name",
    "object": "a tuple",
}
_PLURALS = ("frames", "weights")
_KEY = "setting"
_DATA = "is_data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a field says about its setting; every part may be left out."""

    unit: str = ""
    """Unit of the value, as in ``rad/s``."""
    above: int | float | None = None
    """Values have to be larger than this."""
    at_least: int | float | None = None
    """Values have to be at least as large as this."""
    at_most: int | float | None = None
    """Values have to be at most as large as this."""
    choices: tuple[Any, ...] = ()
    """Values that are allowed; a ``Literal`` in the annotation says the same."""
    suggestions: Callable[[], Sequence[str]] | None = None
    """Gives values that a form offers, where others may be allowed too."""
    label: str = ""
    """Name for people; made from the name of the field if empty."""
    help: str = ""
    """Sentences that stand alone."""
    basic: bool = False
    """Whether forms show it at first sight."""
    from_words: Callable[[tuple[str, ...]], Any] | None = None
    """Makes the value from words of the command line, for values that are no single word."""
    words: str = ""
    """What these words are, for the help of the command line."""


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting of a dataclass: its field and what that says about it."""

    name: str
    default: Any
    hint: Any
    """Annotation, without None."""
    is_optional: bool
    """Whether the value may be None."""
    about: Description
    was: tuple[str, ...] = ()
    """Deprecated names."""

    @property
    def choices(self) -> tuple[Any, ...]:
        """Values that are allowed; empty if these are not listed."""
        return get_args(self.hint) if get_origin(self.hint) is Literal else self.about.choices

    @property
    def kind(self) -> Kind:
        """What a form or a command line needs for it."""
        return "choice" if self.choices else _KINDS.get(self.hint, "object")

    @property
    def label(self) -> str:
        """Name for people."""
        return self.about.label or self.name.replace("_", " ").capitalize()

    @property
    def default_text(self) -> str:
        """The default for people."""
        if isinstance(self.default, bool):
            return "on" if self.default else "off"
        if isinstance(self.default, float):
            return f"{self.default:g}"
        return "none" if self.default in (None, ()) else str(self.default)

    @property
    def wanted(self) -> str:
        """What values are expected, as in "above 0, up to 1"."""
        text = _list(self.choices) if self.choices else self._range()
        return f"{text}, or None" if self.is_optional else text

    def _range(self) -> str:
        about = self.about
        low, high = about.above if about.at_least is None else about.at_least, about.at_most
        if low is None and high is None:
            return _WANTED[self.kind]
        if low is None or high is None:
            if low is None:
                return f"{self._amount(high)} or less"
            most = self._amount(low)
            return f"above {most}" if about.at_least is None else f"{most} or more"
        joined = f"above {low:g}, up to" if about.at_least is None else f"{low:g} to"
        return f"{joined} {self._amount(high)}"

    def _amount(self, value: int | float | None) -> str:
        unit = self.about.unit
        if value == 1 and unit in _PLURALS:
            unit = unit[:-1]
        return f"{value:g} {unit}".rstrip()

    def fault(self, value: object) -> str:
        """What was expected instead of a value; empty if the value can be used."""
        if value is None:
            return "" if self.is_optional else self.wanted
        if self.choices:
            # True is 1 for Python, and no choice for anybody else.
            fits = not isinstance(value, bool) and value in self.choices
            return "" if fits else self.wanted
        if self.kind == "boolean":
            return "" if isinstance(value, bool) else self.wanted
        if self.kind in ("integer", "number"):
            return self._number_fault(value)
        if get_origin(self.hint) is tuple and not isinstance(value, (tuple, list)):
            return f"a tuple: ({type(value).__name__}(...),)"
        return ""

    def _number_fault(self, value: object) -> str:
        if self.kind == "integer" and (isinstance(value, bool) or not isinstance(value, Integral)):
            return "a whole number"
        if isinstance(value, bool) or not isinstance(value, Real):
            return "a number"
        number, about = float(value), self.about
        if not math.isfinite(number):
            return "a finite number"
        fits = about.above is None or number > about.above
        fits &= about.at_least is None or number >= about.at_least
        fits &= about.at_most is None or number <= about.at_most
        return "" if fits else self.wanted


def setting(default: _T, *, was: str | tuple[str, ...] = (), **about: Any) -> _T:  # noqa: ANN401
    """A dataclass field that is a setting.

    Args:
        default: Its default.
        was: Deprecated names; the decorator ``deprecated.renamed_fields`` makes them work.
        about: Parts of a ``Description``.
    """
    names = (was,) if isinstance(was, str) else was
    metadata = {_KEY: Description(**about), WAS: names}
    made: _T = field(default=default, metadata=metadata)
    return made


def data_field(default: _T) -> _T:
    """A dataclass field of a method that holds arrays and is therefore no setting.

    It has no place on the command line, in forms and in ``Provenance.settings``.
    """
    made: _T = field(default=default, metadata={_DATA: True})
    return made


@functools.cache
def settings_of(cls: type) -> tuple[SettingField, ...]:
    """The settings of a dataclass, in the order of its fields."""
    hints = get_type_hints(cls)
    found = []
    for item in dataclasses.fields(cls):
        if item.metadata.get(_DATA, False):
            continue
        hint, is_optional = _without_none(hints[item.name])
        default = None if item.default is dataclasses.MISSING else item.default
        about = item.metadata.get(_KEY, Description())
        was = item.metadata.get(WAS, ())
        found.append(SettingField(item.name, default, hint, is_optional, about, was))
    return tuple(found)


def check_settings(settings: object, more: Sequence[str] = ()) -> None:
    """Refuses settings that are out of range; the error names all of them at once.

    Args:
        settings: A dataclass of settings; its ``__post_init__`` calls this.
        more: Other faults, as in "start is 3, expected less than end".
    """
    cls: type = type(settings)
    faults = [
        f"{item.name} is {_given(item, value)}, expected {wanted}"
        for item in settings_of(cls)
        if (wanted := item.fault(value := getattr(settings, item.name)))
    ]
    faults += more
    if faults:
        raise InvalidValueError(f"{cls.__name__}: {'; '.join(faults)}.")


def plain_settings(settings: object) -> dict[str, Any]:
    """Settings as JSON holds them, by name."""
    cls: type = type(settings)
    return {item.name: _plain(getattr(settings, item.name)) for item in settings_of(cls)}


def from_plain_settings(cls: type, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Values for the constructor of a dataclass of settings, from what JSON holds.

    Names that an earlier release used are replaced by current ones. Earlier releases also listed
    fields of data among the settings, always empty, because files could not hold them.

    Args:
        cls: The dataclass.
        plain: What ``plain_settings`` has given, perhaps in an earlier release.
    """
    known = {item.name: item for item in settings_of(cls)}
    data = {item.name for item in dataclasses.fields(cls) if item.metadata.get(_DATA, False)}
    values = {}
    for name, value in current_names(cls, plain).items():
        if name in data and not value:
            continue
        if name not in known:
            raise UnknownNameError(f"setting of {cls.__name__}", name, known)
        values[name] = _from_plain(known[name].hint, value)
    return values


def _given(item: SettingField, value: object) -> str:
    if get_origin(item.hint) is tuple:
        return f"a single {type(value).__name__}"
    return repr(value) if isinstance(value, str) else str(value)


def _list(choices: Sequence[Any]) -> str:
    texts = [str(choice) for choice in choices]
    if all(isinstance(choice, str) for choice in choices):
        return f"one of {', '.join(texts)}"
    return f"{', '.join(texts[:-1])} or {texts[-1]}"


def _without_none(hint: Any) -> tuple[Any, bool]:  # noqa: ANN401  any annotation
    if get_origin(hint) in (Union, types.UnionType):
        others = [part for part in get_args(hint) if part is not types.NoneType]
        if len(others) == 1:
            return others[0], len(get_args(hint)) > 1
    return hint, False


def _plain(value: Any) -> Any:  # noqa: ANN401  any value of a setting
    if dataclasses.is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value


def _from_plain(hint: Any, value: Any) -> Any:  # noqa: ANN401  any value of a setting
    """A value from JSON, guided by its annotation."""
    if get_origin(hint) in (Union, types.UnionType):
        nouns = [part for part in get_args(hint) if dataclasses.is_dataclass(part)]
        return _from_plain(nouns[0], value) if isinstance(value, dict) and nouns else value
    if get_origin(hint) is tuple and isinstance(value, list):
        parts = get_args(hint)
        each = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return tuple(_from_plain(part, item) for part, item in zip(each, value, strict=True))
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = get_type_hints(hint)
        given = {name: _from_plain(hints[name], part) for name, part in value.items()}
        return hint(**given)  # type: ignore[operator]
    return value
