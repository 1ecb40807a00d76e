"""Frozen nouns to JSON and arrays, and back, guided by their annotations.

An array annotated ``Float[np.ndarray, "J 3"]`` becomes a member of an archive named by its path,
such as ``problem/hands/right/joints/offset``; everything else goes into one JSON document. The
annotations also say what to expect when reading: type, number of axes, and which lengths agree.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

import jaxtyping
import numpy as np

from handwright.core.certificate import Certificate
from handwright.core.clip import Provenance
from handwright.core.contact import ContactTrack
from handwright.core.goal import Goal
from handwright.core.problem import Problem
from handwright.core.tolerances import Tolerances
from handwright.errors import HandwrightError
from handwright.io.clip.npy_archive import ArrayHeader, type_problem
from handwright.math.pose import Pose
from handwright.printable import is_printable, printable
from handwright.read_limits import over_limit

# Axes whose lengths are bounded, and the limits.
_LIMITED = {"T": "frames", "V": "vertices", "F": "faces"}
_ANY_AXIS = "_"
_KINDS = {jaxtyping.Float: "f", jaxtyping.Int: "i", jaxtyping.Bool: "b"}
_KIND_NAMES = {"f": "floating-point numbers", "i": "whole numbers", "b": "true or false"}
# A force that no method has given is NaN.
_MAY_BE_NAN = {(ContactTrack, "force")}
_LIMITS_SINCE_7 = (
    "least_frames", "shortest_step", "longest_step", "body_speed", "wrist_speed",
    "wrist_acceleration", "wrist_spin", "shakes", "joint_speed", "impacts", "hand_force",
    "wrist_moment", "size_share",
)  # fmt: skip
VERSION = 9
"""Of the nouns' fields; the first had all but those listed below."""
_SINCE: dict[tuple[type, str], int] = {
    (Goal, "spin"): 2,
    (Problem, "start"): 2,
    (Problem, "postures"): 2,
    (Problem, "touches"): 2,
    (Problem, "is_cyclic"): 2,
    (Problem, "strokes"): 3,
    (Problem, "grips"): 4,
    (Problem, "pushes"): 4,
    (Goal, "velocity"): 5,
    (Goal, "axes"): 5,
    (Goal, "axis"): 5,
    (Provenance, "kept"): 6,
    (Provenance, "is_certified"): 6,
    (Certificate, "assumptions"): 7,
    (Certificate, "unjudged"): 7,
    **dict.fromkeys([(Tolerances, name) for name in _LIMITS_SINCE_7], 7),
    (Provenance, "guide"): 8,
    (Problem, "tosses"): 9,
}


def child(path: str, name: str) -> str:
    """Path of a part; any name gives a safe one, and different names different ones."""
    safe = quote(name, safe="").replace(".", "%2E")
    return f"{path}/{safe}" if path else safe


@functools.cache
def _hints(noun: type) -> dict[str, Any]:
    hints = get_type_hints(noun)
    return {item.name: hints[item.name] for item in fields(noun)}


def _is_array(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, jaxtyping.AbstractArray)


def _is_noun(hint: object) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


def encode(value: Any, hint: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:  # noqa: ANN401
    """JSON for a value; its arrays are put into ``arrays`` under their paths."""
    if _is_array(hint):
        arrays[path] = np.asarray(value)
        return None
    if hint is Pose:
        arrays[child(path, "position")] = value.position
        arrays[child(path, "wxyz")] = value.wxyz
        return None
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _encode_choice(value, hint, path, arrays)
    if origin is tuple:
        return [
            encode(item, _item_hint(hint, k), child(path, str(k)), arrays)
            for k, item in enumerate(value)
        ]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item_hint = get_args(hint)[1]
        if item_hint is Any:
            return dict(value)
        return [
            [name, encode(item, item_hint, child(path, name), arrays)]
            for name, item in value.items()
        ]
    if _is_noun(hint):
        return {
            name: encode(getattr(value, name), part, child(path, name), arrays)
            for name, part in _hints(hint).items()
        }
    return value if origin is Literal else hint(value)


def _encode_choice(value: Any, hint: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:  # noqa: ANN401
    if value is None:
        return None
    options = [option for option in get_args(hint) if option is not types.NoneType]
    option = options[0] if len(options) == 1 else type(value)
    return {"kind": _kind(option), "value": encode(value, option, path, arrays)}


def _kind(option: Any) -> str:  # noqa: ANN401
    return "array" if _is_array(option) else str(option.__name__)


def _item_hint(hint: Any, number: int) -> Any:  # noqa: ANN401
    args = get_args(hint)
    return args[0] if len(args) == 2 and args[1] is Ellipsis else args[number]


@dataclass(slots=True)
class Decoder:
    """Reads nouns back: first a check of the whole from headers alone, then the building."""

    headers: Mapping[str, ArrayHeader]
    arrays: Mapping[str, np.ndarray] | None = None
    """None while checking."""
    version: int = VERSION
    """Of the file; fields that came later keep their defaults."""
    problems: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def decode(self, value: Any, hint: Any, path: str = "") -> Any:  # noqa: ANN401
        """The value at a path; None, and an entry in ``problems``, if it cannot be had."""
        return self._any(value, hint, path, {})

    def _say(self, path: str, text: str) -> None:
        self.problems.append(f"{path or 'the document'} {text}")

    def _any(self, value: Any, hint: Any, path: str, sizes: dict[str, int]) -> Any:  # noqa: ANN401
        if _is_array(hint):
            kind = _KINDS[hint.dtype]
            return self._array(path, kind, tuple(hint.dim_str.split()), sizes)
        if hint is Pose:
            return self._pose(path)
        origin = get_origin(hint)
        if origin in (Union, types.UnionType):
            return self._choice(value, hint, path, sizes)
        if origin is tuple:
            return self._tuple(value, hint, path, sizes)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(value, get_args(hint)[1], path, sizes)
        if _is_noun(hint):
            return self._noun(value, hint, path)
        return self._plain(value, hint, path)

    def _array(
        self,
        path: str,
        kind: str,
        dims: tuple[str, ...],
        sizes: dict[str, int],
        may_be_nan: bool = False,
    ) -> np.ndarray | None:
        header = self.headers.get(path)
        self.used.add(path)
        if header is None:
            self._say(path, "is missing")
            return None
        if problem := type_problem(header.dtype):
            self._say(path, problem)
            return None
        if np.dtype(header.dtype).kind != kind:
            self._say(path, f"has type '{header.dtype}'; expected {_KIND_NAMES[kind]}")
            return None
        self._check_shape(path, header.shape, dims, sizes)
        if self.arrays is None:
            return None
        array = self.arrays[path]
        if kind == "f" and not may_be_nan and not np.isfinite(array).all():
            self._say(path, "holds NaN or infinity")
        return array

    def _check_shape(
        self, path: str, shape: tuple[int, ...], dims: tuple[str, ...], sizes: dict[str, int]
    ) -> None:
        expected = ", ".join(f"{dim}={sizes[dim]}" if dim in sizes else dim for dim in dims)
        is_same = len(shape) == len(dims)
        for size, dim in zip(shape, dims, strict=False):
            if dim == _ANY_AXIS:
                continue
            want = int(dim) if dim.isdigit() else sizes.setdefault(dim, size) if is_same else size
            is_same &= size == want
            if dim in _LIMITED and (over := over_limit(_LIMITED[dim], size)):
                self._say(path, f"has {over}")
        if not is_same:
            self._say(path, f"has shape {shape}; expected ({expected})")

    def _pose(self, path: str) -> Pose | None:
        names = child(path, "position"), child(path, "wxyz")
        shapes = [self.headers[name].shape if name in self.headers else () for name in names]
        leading = ("T",) if len(shapes[0]) > 1 else ()
        sizes: dict[str, int] = {}
        position = self._array(names[0], "f", (*leading, "3"), sizes)
        wxyz = self._array(names[1], "f", (*leading, "4"), sizes)
        if self.arrays is None or position is None or wxyz is None:
            return None
        return self._make(Pose, {"position": position, "wxyz": wxyz}, path)

    def _choice(self, value: Any, hint: Any, path: str, sizes: dict[str, int]) -> Any:  # noqa: ANN401
        options = {_kind(option): option for option in get_args(hint)}
        if value is None and "NoneType" in options:
            return None
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in options or "value" not in value:
            self._say(path, f"is of no known kind; expected one of {', '.join(sorted(options))}")
            return None
        return self._any(value["value"], options[kind], path, sizes)

    def _tuple(self, value: Any, hint: Any, path: str, sizes: dict[str, int]) -> Any:  # noqa: ANN401
        args = get_args(hint)
        is_open = len(args) == 2 and args[1] is Ellipsis
        if not isinstance(value, list) or not (is_open or len(value) == len(args)):
            self._say(path, "is no list" if is_open else f"is no list of {len(args)}")
            return None
        return tuple(
            self._any(item, _item_hint(hint, k), child(path, str(k)), sizes)
            for k, item in enumerate(value)
        )

    def _mapping(self, value: Any, hint: Any, path: str, sizes: dict[str, int]) -> Any:  # noqa: ANN401
        if hint is Any:
            if not isinstance(value, dict):
                self._say(path, "is no object with names")
            return value
        pairs: list[Any] = value if isinstance(value, list) else [None]
        if not all(isinstance(p, list) and len(p) == 2 and isinstance(p[0], str) for p in pairs):
            self._say(path, "is no list of pairs of a name and a value")
            return None
        if not all(is_printable(pair[0]) for pair in pairs):
            self._say(path, "holds a name with control characters")
            return None
        if len({pair[0] for pair in pairs}) != len(pairs):
            self._say(path, "holds a name twice")
        # Arrays by name share the lengths of the noun that holds them; nouns have their own.
        return {name: self._any(item, hint, child(path, name), sizes) for name, item in pairs}

    def _noun(self, value: Any, noun: type, path: str) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            self._say(path, f"is no {noun.__name__}")
            return None
        sizes: dict[str, int] = {}
        parts = {}
        for name, hint in _hints(noun).items():
            place = child(path, name)
            if (noun, name) in _MAY_BE_NAN:
                dims = tuple(hint.dim_str.split())
                parts[name] = self._array(place, "f", dims, sizes, may_be_nan=True)
            elif name in value or _is_array(hint) or hint is Pose:
                parts[name] = self._any(value.get(name), hint, place, sizes)
            elif _SINCE.get((noun, name), 1) <= self.version:
                self._say(place, "is missing")
        for name in value.keys() - _hints(noun).keys():
            self._say(child(path, name), f"is not known in a {noun.__name__}")
        return None if self.arrays is None else self._make(noun, parts, path)

    def _make(self, noun: type, parts: dict[str, Any], path: str) -> Any:  # noqa: ANN401
        if self.problems:
            return None
        try:
            # Absurdly large numbers are found by the nouns' checks; numpy need not warn as well.
            with np.errstate(all="ignore"):
                return noun(**parts)
        except (HandwrightError, IndexError, ValueError) as error:
            # The nouns trust some of their indices and lengths, and leave numpy to complain.
            self._say(path, f"cannot be used: {error}")
            return None

    def _plain(self, value: Any, hint: Any, path: str) -> Any:  # noqa: ANN401
        if get_origin(hint) is Literal:
            if value not in get_args(hint) or not isinstance(value, str):
                self._say(path, f"is {value!r}; expected one of {', '.join(get_args(hint))}")
            return value
        if hint is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) < 2**53 else math.inf
        if type(value) is not hint or (hint is float and not math.isfinite(value)):
            self._say(path, f"is {str(value)[:40]!r}; expected a {hint.__name__}")
            return None
        if hint is str and not is_printable(value):
            self._say(path, f"is '{printable(value)[:40]}'; expected no control characters")
        if hint is int and abs(value) >= 2**63:
            self._say(path, "is a whole number of more than 64 bits")
        return value
