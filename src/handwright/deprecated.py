"""Old public names, which keep working for one release and say what they are called now.

There is one mechanism for each place where a name can occur: fields of a dataclass, keywords of a
function, attributes of a module, and options of the command line.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ParamSpec, TypeVar

WAS = "was"
"""Key of a dataclass field's metadata under which its old names are kept, as a tuple."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C")


def warn_renamed(kind: str, old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warns that a name is deprecated, and says which one replaces it.

    Args:
        kind: What has the name, as in "The setting".
        old: The deprecated name.
        new: The name to use.
        stacklevel: Frames between this function and the caller who used the name, as in
            ``warnings.warn``.
    """
    text = f"{kind} '{old}' is deprecated and will be removed in the next release; use '{new}'."
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel)


def old_names(cls: type) -> dict[str, str]:
    """Current names of the fields of a dataclass, by their old names."""
    return {old: item.name for item in fields(cls) for old in item.metadata.get(WAS, ())}


def current_names(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by field name, with old names replaced by current ones, without a warning.

    It is for what was written by an earlier release, such as clip files, which nobody can mend.
    """
    renamed = old_names(cls)
    return {renamed.get(name, name): value for name, value in values.items()}


def renamed_fields(cls: type[_C]) -> type[_C]:
    """Makes a dataclass take and give the values of its renamed fields under their old names too.

    Fields name their old names in their metadata, under ``WAS``. This decorator goes above
    ``dataclass``. Where both names are given, the old one counts, because ``dataclasses.replace``
    passes on every field under its current name.
    """
    renamed, init = old_names(cls), cls.__init__

    @functools.wraps(init)
    def accept(self: _C, *args: Any, **given: Any) -> None:  # noqa: ANN401  values of any field
        for old in [name for name in given if name in renamed]:
            warn_renamed(f"{cls.__name__}: the field", old, renamed[old])
            given[renamed[old]] = given.pop(old)
        init(self, *args, **given)

    # Tools that check calls against signatures have to let the old names pass.
    signature = inspect.signature(init)
    others = inspect.Parameter("deprecated", inspect.Parameter.VAR_KEYWORD)
    shown = signature.replace(parameters=[*signature.parameters.values(), others])
    accept.__signature__ = shown  # type: ignore[attr-defined]
    cls.__init__ = accept  # type: ignore[assignment]
    for old, new in renamed.items():
        setattr(cls, old, _old_property(cls.__name__, old, new))
    return cls


def _old_property(owner: str, old: str, new: str) -> property:
    def read(self: object) -> Any:  # noqa: ANN401  values of any field
        warn_renamed(f"{owner}: the field", old, new)
        return getattr(self, new)

    return property(read, doc=f"Deprecated name of ``{new}``.")


def renamed_keywords(**renamed: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Makes a function accept old names of its keywords.

    Args:
        renamed: Current names by old names.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def accept(*args: _P.args, **given: _P.kwargs) -> _R:
            for old in [name for name in given if name in renamed]:
                new = renamed[old]
                if new in given:
                    raise TypeError(f"{function.__name__}() got both '{old}' and '{new}'")
                warn_renamed(f"{function.__name__}(): the keyword", old, new)
                given[new] = given.pop(old)
            return function(*args, **given)

        return accept

    return decorate


def renamed_attributes(module: str, renamed: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module with deprecated names.

    Args:
        module: Name of the module.
        renamed: By deprecated name, where the object is now: ``package.module.name``.
    """

    def fetch(name: str) -> Any:  # noqa: ANN401  any object
        if name not in renamed:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        warn_renamed("The name", f"{module}.{name}", renamed[name])
        home, _, current = renamed[name].rpartition(".")
        return getattr(importlib.import_module(home), current)

    return fetch


def renamed_options(
    arguments: Sequence[str], renamed: Mapping[str, str], tell: Callable[[str], None]
) -> list[str]:
    """Arguments of the command line with old options replaced by current ones.

    Args:
        arguments: As given, such as ``--keep-off little`` or ``--hold=handle``.
        renamed: Current options by old options, both with their dashes.
        tell: Called with a sentence about each old option.
    """
    current = []
    for argument in arguments:
        option, mark, value = argument.partition("=")
        if option in renamed:
            tell(f"The option {option} is deprecated; use {renamed[option]}.")
            option = renamed[option]
        current.append(option + mark + value)
    return current


def option_renames(classes: Iterable[type]) -> dict[str, str]:
    """Current options of the command line by old options, for fields that were renamed."""
    pairs = (pair for cls in classes for pair in old_names(cls).items())
    return {option_of(old): option_of(new) for old, new in pairs}


def option_of(name: str) -> str:
    """The option of the command line for a name of Python: ``max_force`` as ``--max-force``."""
    return "--" + name.replace("_", "-")
