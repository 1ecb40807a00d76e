"""Commands that list what there is: hands, shapes, scenes, methods, papers; and draw some of it."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from tyro.conf import FlagCreatePairsOff, Positional

from handwright.cli.console import make_console, make_table, unset, writable_folder
from handwright.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from handwright.methods import Method


def hands() -> None:
    """List the hands."""
    from handwright.hands.registry import HANDS, make_hand, straight_length

    table = make_table("hand", ">joints", ">capsules", ">length mm", "what it is")
    for name, entry in HANDS.items():
        model = make_hand(name)
        length = f"{1000.0 * straight_length(model):.0f}"
        counts = (str(model.num_joints), str(len(model.capsules)))
        table.add_row(name, *counts, length, entry.summary)
    make_console().print(table)


def shapes() -> None:
    """List the parametric bodies."""
    from handwright.geometry.shapes import SHAPES

    table = make_table("shape", "what it is")
    for name, shape in SHAPES.items():
        table.add_row(name, shape.summary)
    make_console().print(table)


def scenes(*, json: FlagCreatePairsOff[bool] = False) -> None:
    """List the scenes: named problems with tracks of wrists and bodies, goals, or tosses.

    Args:
        json: Print one JSON object instead of a table.
    """
    from handwright.scenes import SCENES, goal_scenes, toss_scenes

    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "frames": scene.num_frames,
            "hands": list(scene.hands),
            "bodies": list(scene.bodies),
            "gives": gives,
            "summary": scene.summary,
        }
        for gives, listed in (
            ("tracks", SCENES),
            ("goals", goal_scenes()),
            ("tosses", toss_scenes()),
        )
        for name, scene in listed.items()
    ]
    if json:
        print(json_module.dumps({"scenes": rows}))
        return
    table = make_table("scene", ">frames", "hands", "bodies", "gives", "what happens")
    for row in rows:
        who, what = ", ".join(row["hands"]), ", ".join(row["bodies"])
        table.add_row(row["name"], str(row["frames"]), who, what, row["gives"], row["summary"])
    make_console().print(table)


def methods(
    name: Annotated[Positional[str | None], unset("METHOD")] = None,
    /,
    *,
    json: FlagCreatePairsOff[bool] = False,
) -> None:
    """List the methods, what each suits and the paper it follows; or the settings of one.

    Args:
        name: A method whose settings are listed, with unit, range and default.
        json: Print one JSON object instead of a table.
    """
    from handwright.core.settings import settings_of
    from handwright.methods import loaded_methods
    from handwright.methods.about import about_method

    if name is not None:
        _settings_of_method(_method(name), json)
        return
    rows: list[dict[str, Any]] = [
        {
            "name": key,
            "title": about.title,
            "papers": [paper.short for paper in about.papers],
            "suited_to": about.suited_to,
            "settings": [item.name for item in settings_of(cls)],
        }
        for key, cls, about in (
            (key, cls, about_method(cls)) for key, cls in loaded_methods().items()
        )
    ]
    if json:
        print(json_module.dumps({"methods": rows}))
        return
    table = make_table("method", "paper", "what it suits", ">settings")
    for row in rows:
        papers = ", ".join(row["papers"]) or "none"
        table.add_row(row["name"], papers, row["suited_to"], str(len(row["settings"])))
    console = make_console()
    console.print(table, highlight=False)
    console.print("'handwright methods METHOD' lists the settings of one.", highlight=False)


def _settings_of_method(cls: type[Method], json: bool) -> None:
    from handwright.core.settings import settings_of

    rows = [
        {
            "name": item.name,
            "default": item.default if json else item.default_text,
            "unit": item.about.unit,
            "expected": item.wanted,
            "help": item.about.help,
        }
        for item in settings_of(cls)
    ]
    if json:
        print(json_module.dumps({"method": cls.name, "settings": rows}))
        return
    table = make_table("setting", "default", "unit", "expected", "what it is")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    make_console().print(table, highlight=False, markup=False)


def cite(what: Annotated[Positional[str | None], unset("METHOD|CLIP")] = None, /) -> None:
    """Print the papers behind a method or a clip, and BibTeX entries to cite them.

    Args:
        what: A method, or a clip file (.npz), whose method is taken; all methods if left out.
    """
    from handwright.methods import loaded_methods
    from handwright.methods.about import about_method

    if what is None:
        chosen = list(loaded_methods().values())
    elif what.endswith(".npz"):
        from handwright.io.clip.file import load_clip

        chosen = [_method(load_clip(what).provenance.method)]
    else:
        chosen = [_method(what)]
    for cls in chosen:
        listed = "; ".join(str(paper) for paper in about_method(cls).papers)
        print(f"% {cls.name}: {listed or 'follows no paper.'}")
    papers = {paper.key: paper for cls in chosen for paper in about_method(cls).papers}
    for paper in papers.values():
        print(f"\n{paper.bibtex}")
    print(f"\n{_own_entry()}")


def _own_entry() -> str:
    from importlib.metadata import version

    title = "handwright: dexterous hand-object manipulation with a force certificate"
    entries = f"  title = {{{{{title}}}}},\n  version = {{{version('handwright')}}},\n"
    return f"@software{{handwright,\n{entries}}}"


def _method(name: str) -> type[Method]:
    from handwright.methods import METHODS

    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def show(
    name: Annotated[Positional[str], tyro.conf.arg(metavar="NAME")],
    out: Annotated[Positional[Path], tyro.conf.arg(metavar="OUT.png")],
    /,
    *,
    pose: str = "rest",
    views: int = 8,
    size: int = 320,
) -> None:
    """Draw a hand or a shape from all round. Takes a name, not a clip.

    Args:
        name: A hand or a shape; see the commands hands and shapes.
        out: The picture to write.
        pose: Named pose of a hand, or all for one row each.
        views: Number of views round it.
        size: Width and height of each view, pixels.
    """
    from handwright.hands.registry import HANDS
    from handwright.render.camera import Camera
    from handwright.render.scene import check_png, write_png
    from handwright.render.sheet import contact_sheet, sheet_rows, turntable

    writable_folder(check_png(out).parent)
    for option, value in (("--views", views), ("--size", size)):
        if value < 1:
            raise InvalidValueError(f"{option} is {value}; expected 1 or more.")
    # A hand is seen palm first, a thing a little from above.
    camera = Camera(azimuth=0.0, elevation=0.2) if name in HANDS else Camera()
    images, labels = [], []
    for row, items in sheet_rows(name, pose).items():
        images += turntable(items, views, camera=camera, width=size, height=size)
        labels += [f"{row}, {360.0 * view / views:.0f}°" for view in range(views)]
    columns = views if len(images) > views else min(views, 4)
    write_png(contact_sheet(images, columns, labels), out)
    make_console().print(f"Wrote {out}.", soft_wrap=True, highlight=False)
