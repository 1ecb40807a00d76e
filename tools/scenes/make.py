"""Rewrites the data of the scenes: ``python -m tools.scenes.make [--search] [SCENE ...]``.

Problem files and tracks are made from the stored holds. With ``--search`` the holds of the scenes
are found anew, which takes a minute for each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from handwright.errors import UnknownNameError
from handwright.scenes.catalogue import TRACKS
from tools.scenes.files import load_holds, save_holds, save_person, save_problem, save_tracks
from tools.scenes.problem_text import problem_text
from tools.scenes.registry import SCENES


def main(arguments: Sequence[str], folder: Path = TRACKS) -> None:
    """Makes the data of the named scenes, or of all.

    Args:
        arguments: Names of scenes, and ``--search``.
        folder: Where to write problem files and tracks.
    """
    names = [word for word in arguments if word != "--search"] or list(SCENES)
    unknown = [name for name in names if name not in SCENES]
    if unknown:
        raise UnknownNameError("scene", unknown[0], SCENES)
    holds = load_holds()
    for name in names:
        scene = SCENES[name]
        if "--search" in arguments:
            for hold, find in scene.finders.items():
                holds[hold] = find()
                sys.stdout.write(f"{hold}: cost {holds[hold].cost:.2f}\n")
            save_holds(holds)
            # As they are in the file, rounded, so that the tracks can be made again from it.
            holds = load_holds()
        tracks = scene.make_tracks(holds)
        if scene.make_person is not None:
            person = save_person(name, scene.make_person(tracks), folder)
            sys.stdout.write(f"{person.name}: {person.stat().st_size} bytes\n")
            # The wrists are read from the body.
            tracks = {key: track for key, track in tracks.items() if key not in scene.hands}
        for path in (
            save_tracks(name, tracks, folder),
            save_problem(name, problem_text(scene), folder),
        ):
            sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
