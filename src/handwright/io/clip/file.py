"""Clip files (.npz): a motion with its whole problem, exact to the last bit.

An archive holds ``clip.json`` and one .npy member for each array, named by its place in the clip:
``times``, ``hands/right/q``, ``problem/bodies/mug/vertices``. ``numpy.load`` opens it too. Text
and single numbers are in the JSON document, whose ``version`` grows when the layout
or the nouns change; files of later versions are refused. Beside the clip the document may hold its
``certificate``: the verdict, the checks and the tolerances, not the records of every frame, which
``certify`` makes again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from handwright.core.certificate import Certificate
from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT
from handwright.errors import FileFormatError, InvalidValueError
from handwright.geometry.mesh.checking import check_mesh
from handwright.io.clip.noun_codec import VERSION, Decoder, encode
from handwright.io.clip.npy_archive import header_of, open_archive, write_archive
from handwright.math.pose import UNIT_TOLERANCE

FORMAT = "handwright clip"
_DOCUMENT = "clip.json"
_MISSING, _UNKNOWN = " is missing", " is not known"
_FEW, _DEPTH = 3, 3
"""More missing parts than so many are told in one line, by what they are parts of: a hand or a
body, that many folders deep."""
_MAX_LISTED = 30


def save_clip(clip: Clip, path: str | Path, *, certificate: Certificate | None = None) -> None:
    """Writes a clip file, whole or not at all.

    Settings in the provenance must be plain JSON values; tuples come back as lists.

    Args:
        clip: What to keep.
        path: Usually ends in ``.npz``.
        certificate: What the clip was found to be worth, which ``load_certificate`` gives back.
    """
    arrays: dict[str, np.ndarray] = {}
    body = encode(clip, Clip, "", arrays)
    headers = {name: header_of(array) for name, array in arrays.items()}
    # What could not be read again is not written.
    check = Decoder(headers)
    check.decode(body, Clip)
    problems = check.problems or _build(body, headers, arrays)[1]
    if problems:
        raise InvalidValueError(f"{path}: this clip cannot be saved:{_listed(problems)}")
    document = {"format": FORMAT, "version": VERSION, "clip": body}
    if certificate is not None:
        document["certificate"] = encode(certificate.without_frames(), Certificate, "", {})
    try:
        write_archive(path, _DOCUMENT, document, arrays)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(
            f"{path}: provenance/settings hold something that JSON cannot ({error}). "
            "Use text, numbers, lists and dictionaries."
        ) from error


def load_clip(path: str | Path) -> Clip:
    """Reads a clip file.

    Sizes and shapes are checked from headers before any array is read; nothing in a file is ever
    run. All that is wrong with a file is listed in one ``FileFormatError``.

    Args:
        path: A file written by ``save_clip``.
    """
    with open_archive(path, _DOCUMENT) as archive:
        version, body = _checked_body(path, archive.document)
        headers, problems = archive.headers(_DOCUMENT)
        check = Decoder(headers, version=version)
        check.decode(body, Clip)
        # An array with a bad header was already listed; it is not missing as well.
        named = {problem.split(" ", 1)[0] for problem in problems}
        problems += [
            text
            for text in check.problems
            if not (text.endswith(_MISSING) and text.removesuffix(_MISSING) in named)
        ]
        problems += [f"{name}{_UNKNOWN}" for name in sorted(headers.keys() - check.used)]
        problems = _told_once(problems)
        if problems:
            raise FileFormatError(f"{path}: cannot be loaded:{_listed(problems)}")
        arrays = {name: archive.array(name, headers[name]) for name in sorted(check.used)}
    clip, problems = _build(body, headers, arrays, version)
    if clip is None or problems:
        raise FileFormatError(f"{path}: cannot be loaded:{_listed(problems)}")
    return clip


def load_certificate(path: str | Path) -> Certificate | None:
    """The certificate that was stored with a clip, without the records of its frames.

    It says what was found when the file was written; ``certify`` judges the clip anew.

    Args:
        path: A file written by ``save_clip``.

    Returns:
        None if the file holds none, as those of earlier versions.
    """
    with open_archive(path, _DOCUMENT) as archive:
        version, _ = _checked_body(path, archive.document)
        stored = archive.document.get("certificate")
    if stored is None:
        return None
    decoder = Decoder({}, {}, version)
    certificate: Certificate | None = decoder.decode(stored, Certificate, "certificate")
    if certificate is None or decoder.problems:
        raise FileFormatError(f"{path}: cannot be loaded:{_listed(decoder.problems)}")
    return certificate


def _checked_body(path: str | Path, document: Any) -> tuple[int, Any]:  # noqa: ANN401  any JSON
    """The version of a file, and the clip in it."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(f"{path}: {_DOCUMENT} is not that of a {FORMAT}.")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise FileFormatError(f"{path}: version is {version!r}; expected 1 to {VERSION}.")
    if version > VERSION:
        raise FileFormatError(
            f"{path}: version is {version}, newer than {VERSION}, the last one known here. "
            "Update handwright: pip install --upgrade handwright"
        )
    return version, document.get("clip")


def _build(
    body: Any,  # noqa: ANN401  whatever JSON holds
    headers: dict[str, Any],
    arrays: dict[str, np.ndarray],
    version: int = VERSION,
) -> tuple[Clip | None, list[str]]:
    decoder = Decoder(headers, arrays, version)
    clip = decoder.decode(body, Clip)
    if clip is None or decoder.problems:
        return None, decoder.problems
    return clip, _trusted_problems(clip)


def _trusted_problems(clip: Clip) -> list[str]:
    """What the nouns trust their makers with, but a file may get wrong."""
    problems = []
    for name, model in clip.problem.hands.items():
        with np.errstate(over="ignore"):
            norm = np.linalg.norm(model.frames.wxyz, axis=-1)
        if np.any(np.abs(norm - 1.0) > UNIT_TOLERANCE):
            problems.append(f"problem/hands/{name}/frames/wxyz has rows that are not unit long")
        for part in (model.frames, model.capsules):
            if len(part.names) != len(part.link):
                kind = type(part).__name__.lower()
                problems.append(
                    f"problem/hands/{name}/{kind} has {len(part.names)} names for "
                    f"{len(part.link)} rows"
                )
    for name, body in clip.problem.bodies.items():
        # An inside or an outside that is not the one meant would fool every judge.
        wrong = check_mesh(body.vertices, body.faces, allow_any_size=True)
        problems += [f"problem/bodies/{name}: {text}" for text in wrong]
    known = {*clip.problem.hands, *clip.problem.bodies, ENVIRONMENT}
    problems += [
        f"contacts/touchers names '{name}'; expected a hand, a body or '{ENVIRONMENT}'"
        for name in clip.contacts.touchers
        if name not in known
    ]
    problems += [
        f"contacts/bodies names '{name}', which is no body"
        for name in clip.contacts.bodies
        if name not in clip.problem.bodies
    ]
    return problems


def _told_once(problems: list[str]) -> list[str]:
    """Problems without those that follow from others, and parts of one thing in one line."""
    missing = {text.removesuffix(_MISSING) for text in problems if text.endswith(_MISSING)}
    kept: list[str] = []
    lost: dict[str, list[str]] = {}
    for text in problems:
        path = text.removesuffix(_UNKNOWN)
        if path != text and any(path.startswith(f"{part}/") for part in missing):
            continue  # What was to be made of it is missing.
        if text.endswith(_MISSING):
            whole = "/".join(text.removesuffix(_MISSING).split("/")[:-1][:_DEPTH])
            lost.setdefault(whole, []).append(text)
            continue
        kept.append(text)
    for whole, texts in lost.items():
        if len(texts) <= _FEW or whole.count("/") < _DEPTH - 1:
            kept += texts
            continue
        first = texts[0].removesuffix(_MISSING).removeprefix(f"{whole}/")
        kept.append(f"{whole}: {len(texts)} parts are missing, such as {first}")
    return kept


def _listed(problems: list[str]) -> str:
    lines = [f"\n  - {problem}" for problem in problems[:_MAX_LISTED]]
    if len(problems) > _MAX_LISTED:
        lines.append(f"\n  - and {len(problems) - _MAX_LISTED} more")
    return "".join(lines)
