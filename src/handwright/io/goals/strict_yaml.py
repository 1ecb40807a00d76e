"""YAML without its traps: numbers as written, no repeated keys, and a line for every value."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from handwright.errors import FileFormatError
from handwright.io.input_files import check_file

MAX_BYTES = 1_000_000
"""Largest file that is read."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml is untyped
    """The plain words of YAML 1.2: ``no`` and ``on`` are text, ``1e-3`` is a number."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  filled in below

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # A chain of aliases can unfold to more than any memory holds.
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not taken", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        scalars = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in scalars:
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"'{key.value}' is given twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


for _tag, _pattern, _first in (
    ("null", r"(?:~|null|)", "~n"),
    ("bool", r"(?:true|false)", "tf"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"^{_pattern}$"), [*_first, ""]
    )


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """What a YAML file holds, and where."""

    value: Any
    """Dictionaries, lists, text, numbers."""
    root: yaml.Node | None

    def line_of(self, place: tuple[str | int, ...]) -> int:
        """Line, from 1, of the value that keys and numbers lead to, or of what holds it."""
        node = self.root
        line = 1 if node is None else node.start_mark.line + 1
        for step in place:
            if isinstance(node, yaml.MappingNode):
                pairs = [(key, item) for key, item in node.value if key.value == step]
                if not pairs:
                    break
                key, node = pairs[0]
                line = key.start_mark.line + 1
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                if step >= len(node.value):
                    break
                node = node.value[step]
                line = node.start_mark.line + 1
            else:
                break
        return line


def read_yaml(path: str | Path) -> YamlDocument:
    """Reads a YAML file of one document.

    Args:
        path: The file, UTF-8.

    Raises:
        FileFormatError: There is no such file, or it is no YAML; the text says where.
    """
    check_file(Path(path), "a YAML file")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from error
    if len(data) > MAX_BYTES:
        raise FileFormatError(
            f"{path}: has {len(data)} bytes; expected at most {MAX_BYTES}. Is it the right file?"
        )
    try:
        loader = _Loader(data.decode("utf-8"))
        try:
            root = loader.get_single_node()
            value = None if root is None else loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise FileFormatError(f"{path}: {where}{error.problem}.") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise FileFormatError(f"{path}: is no YAML text ({error}).") from error
    return YamlDocument(value, root)
