"""Where results of judging are kept, and what the list of clips needs of them."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from pydantic import BaseModel

from handwright.studio.library.folder import Folder, Found, content_digest
from handwright.studio.messages import Figure, Strategies

MODEL, TIMELINE, SUMMARY, POSES = "model.glb", "timeline.json", "summary.json", "poses.npy"


class JudgedClip(BaseModel):
    """What the list of clips says of one that was judged."""

    is_certified: bool
    verdict: str
    figures: list[Figure]
    strategies: Strategies


@functools.cache
def judge_salt() -> str:
    """Changes with the sources that results depend on, so that old results are not shown."""
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for part in (
        "math",
        "core",
        "evidence",
        "studio",
        "io",
        "mechanics",
        "geometry",
        "kinematics",
        "hands",
    ):
        for path in sorted((package / part).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def results_folder(folder: Folder, found: Found) -> Path:
    """Where results of judging a file are, or will be."""
    salt = judge_salt() + found.file
    return folder.judged / content_digest(folder.path(found.file), salt)


def read_judged(folder: Path) -> JudgedClip | None:
    """What was found earlier; None if nothing was. What is damaged is deleted, to be made anew."""
    path = folder / SUMMARY
    if not path.is_file():
        return None
    try:
        folder.touch()  # Somebody wants it.
        return JudgedClip.model_validate_json(path.read_bytes())
    except ValueError:
        path.unlink(missing_ok=True)
        return None
