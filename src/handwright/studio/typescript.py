"""The studio's messages as TypeScript, for its page.

``python -m handwright.studio.typescript [FILE]`` prints them, or writes them to the file.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

from handwright.studio import live_messages, messages
from handwright.studio.messages import Message

HEADER = "// Made by `python -m handwright.studio.typescript`. Change messages.py, not this file.\n"

FROM_THE_PAGE = ("JobRequest", "FavouriteRequest", "SceneFromTracks", "LiveCommand")
"""What the page makes. It may leave out what has a default, there and in what they hold."""

_PLAIN = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
}


def message_classes() -> list[type[Message]]:
    """Every message, in the order of their files."""
    members = [*vars(messages).values(), *vars(live_messages).values()]
    classes = [m for m in members if inspect.isclass(m) and issubclass(m, Message)]
    return [cls for cls in classes if cls is not Message]


def typescript() -> str:
    """The text of the page's ``messages.ts``."""
    may_leave_out = _made_by_page()
    parts = [_interface(cls, cls.__name__ in may_leave_out) for cls in message_classes()]
    return HEADER + "\n" + "\n".join(parts)


def _made_by_page() -> set[str]:
    """Names of the messages that the page makes, with those inside them."""
    names: set[str] = set()
    for cls in message_classes():
        if cls.__name__ in FROM_THE_PAGE:
            names |= {cls.__name__, *_schema(cls).get("$defs", {})}
    return names


def _schema(cls: type[Message]) -> dict[str, Any]:
    return cls.model_json_schema(by_alias=False)


def _interface(cls: type[Message], may_leave_out: bool) -> str:
    schema = _schema(cls)
    required = set(schema.get("required", []))
    lines = [_comment(schema.get("description", "")), f"export interface {cls.__name__} {{\n"]
    for name, field in schema["properties"].items():
        mark = "?" if may_leave_out and name not in required else ""
        text = field.get("description", "")
        lines.append(indent(f"{_comment(text)}{name}{mark}: {_type(field)};\n", "  "))
    return "".join(lines) + "}\n"


def _comment(text: str) -> str:
    plain = " ".join(text.split()).replace("``", "`")
    return f"/** {plain} */\n" if plain else ""


def _type(schema: dict[str, Any]) -> str:
    """The TypeScript type of a part of a JSON schema."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(part) for part in schema["anyOf"]))
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return " | ".join(_literal(value) for value in schema["enum"])
    return _by_kind(schema)


def _by_kind(schema: dict[str, Any]) -> str:
    kind = schema["type"]
    if kind == "array":
        item = _type(schema["items"])
        low, high = schema.get("minItems"), schema.get("maxItems")
        if low is not None and low == high:
            return f"[{', '.join([item] * low)}]"
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object":
        return f"Record<string, {_type(schema['additionalProperties'])}>"
    return _PLAIN[kind]


def _literal(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def main(arguments: list[str]) -> None:
    """Prints the types, or writes them to the file that is named."""
    if arguments:
        Path(arguments[0]).write_text(typescript(), encoding="utf-8")
    else:
        sys.stdout.write(typescript())


if __name__ == "__main__":
    main(sys.argv[1:])
