from __future__ import annotations

import dataclasses
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.core.clip import Clip, HandMotion
from handwright.core.surface import HalfSpace
from handwright.core.tolerances import Tolerances
from handwright.errors import FileFormatError, InvalidValueError
from handwright.evidence import certify
from handwright.hands import skin_of
from handwright.io.clip.file import load_certificate, load_clip, save_clip
from handwright.io.clip.noun_codec import Decoder
from handwright.io.clip.npy_archive import header_of
from handwright.read_limits import ReadLimits, reading_with

Members = dict[str, bytes]


def assert_same(a: Any, b: Any, path: str = "clip") -> int:
    """Demands equal types and bits all the way down; counts what was compared."""
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, path
        assert a.shape == b.shape, path
        assert a.tobytes() == b.tobytes(), path
        assert not b.flags.writeable, path
        return 1
    if isinstance(a, Mapping):
        assert list(a) == list(b), path
        return sum(assert_same(a[key], b[key], f"{path}/{key}") for key in a)
    if isinstance(a, tuple | list):
        assert len(a) == len(b), path
        return sum(
            assert_same(x, y, f"{path}/{k}") for k, (x, y) in enumerate(zip(a, b, strict=True))
        )
    assert type(a) is type(b), path
    if dataclasses.is_dataclass(a):
        names = [item.name for item in dataclasses.fields(a)]
        return sum(assert_same(getattr(a, n), getattr(b, n), f"{path}/{n}") for n in names)
    assert a == b, path
    return 1


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path: Path, members: Members) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def npy(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


@pytest.fixture
def saved(tiny_clip: Clip, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.npz"
    save_clip(tiny_clip, path)
    return path


@pytest.fixture
def edited(saved: Path, tmp_path: Path) -> Callable[[Callable[[Members], None]], Path]:
    """Makes a damaged copy of a clip file."""

    def edit(change: Callable[[Members], None]) -> Path:
        members = members_of(saved)
        change(members)
        return write_members(tmp_path / "edited.npz", members)

    return edit


def with_document(members: Members, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(members["clip.json"])
    change(document)
    members["clip.json"] = json.dumps(document).encode()


@pytest.mark.parametrize("name", ["human_clip", "tiny_clip", "two_hands_clip"])
def test_round_trip_is_exact(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    clip = request.getfixturevalue(name)
    path = tmp_path / "clip.npz"
    save_clip(clip, path)
    loaded = load_clip(path)
    assert assert_same(clip, loaded) > 100
    again = tmp_path / "again.npz"
    save_clip(loaded, again)
    assert again.read_bytes() == path.read_bytes()


def test_a_certificate_is_kept_without_its_frames(tiny_clip: Clip, tmp_path: Path) -> None:
    certificate = certify(tiny_clip, tolerances=Tolerances(soft_tissue=0.001))
    plain, certified = tmp_path / "plain.npz", tmp_path / "certified.npz"
    save_clip(tiny_clip, plain)
    save_clip(tiny_clip, certified, certificate=certificate)
    assert load_certificate(plain) is None
    stored = load_certificate(certified)
    assert stored is not None
    assert stored.frames == ()
    assert stored.checks == certificate.checks
    assert stored.tolerances == certificate.tolerances
    assert (stored.verdict, stored.notes) == (certificate.verdict, certificate.notes)
    assert str(stored) == str(certificate)
    assert certified.stat().st_size < plain.stat().st_size + 4000
    assert_same(load_clip(certified), load_clip(plain))


def test_a_damaged_certificate_is_named(tiny_clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "certified.npz"
    save_clip(tiny_clip, path, certificate=certify(tiny_clip))
    members = members_of(path)
    with_document(members, lambda document: document["certificate"].pop("checks"))
    with pytest.raises(FileFormatError, match="certificate/checks is missing"):
        load_certificate(write_members(path, members))


def test_skin_of_a_loaded_hand_is_the_same(human_clip: Clip, tmp_path: Path) -> None:
    save_clip(human_clip, tmp_path / "clip.npz")
    loaded = load_clip(tmp_path / "clip.npz")
    ours, theirs = (skin_of(clip.problem.hands["right"]) for clip in (human_clip, loaded))
    assert ours.vertices.tobytes() == theirs.vertices.tobytes()


@settings(max_examples=30)
@given(values=st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8), seed=st.integers(0, 2**62))
def test_any_joint_values_come_back_bit_for_bit(
    tiny_clip: Clip, tmp_path_factory: pytest.TempPathFactory, values: list[float], seed: int
) -> None:
    q = np.tile(np.array(values), (5, 1))
    hands = {"claw": HandMotion(tiny_clip.hands["claw"].root, q)}
    stamp = dataclasses.replace(tiny_clip.provenance, seed=seed, settings={"a": values})
    clip = dataclasses.replace(tiny_clip, hands=hands, provenance=stamp)
    path = tmp_path_factory.mktemp("any") / "clip.npz"
    save_clip(clip, path)
    assert_same(clip, load_clip(path))


@given(st.integers(0, 2**32 - 1))
def test_a_unit_normal_is_kept_as_it_is(seed: int) -> None:
    first = HalfSpace(np.random.default_rng(seed).standard_normal(3), 0.0)
    assert HalfSpace(first.normal, 0.0).normal.tobytes() == first.normal.tobytes()


@pytest.mark.parametrize("name", ["../x", "a.b", "ä/ö", "con", " ", "x" * 80, "%2E"])
def test_any_name_of_a_body_is_safe(tiny_clip: Clip, tmp_path: Path, name: str) -> None:
    body = tiny_clip.problem.bodies["block"]
    problem = dataclasses.replace(tiny_clip.problem, bodies={name: body, "other": body})
    pose = tiny_clip.bodies["block"]
    clip = dataclasses.replace(
        tiny_clip,
        problem=problem,
        bodies={name: pose, "other": pose},
        contacts=dataclasses.replace(tiny_clip.contacts, bodies=(name,)),
    )
    save_clip(clip, tmp_path / "clip.npz")
    assert_same(clip, load_clip(tmp_path / "clip.npz"))
    assert not any(".." in member for member in members_of(tmp_path / "clip.npz"))


def test_numpy_opens_it_too(saved: Path, tiny_clip: Clip) -> None:
    with np.load(saved, allow_pickle=False) as arrays:
        assert np.array_equal(arrays["hands/claw/q"], tiny_clip.hands["claw"].q)


def test_a_failed_write_leaves_the_old_file(
    saved: Path, tiny_clip: Clip, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("handwright.io.clip.npy_archive.np.lib.format.write_array", stop)
    with pytest.raises(KeyboardInterrupt):
        save_clip(tiny_clip, saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_settings_that_json_cannot_hold_are_refused(tiny_clip: Clip, tmp_path: Path) -> None:
    for plain in ({"a": object()}, {"a": float("nan")}):
        stamp = dataclasses.replace(tiny_clip.provenance, settings=plain)
        clip = dataclasses.replace(tiny_clip, provenance=stamp)
        with pytest.raises(InvalidValueError, match="provenance/settings hold something"):
            save_clip(clip, tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tiny_clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="there is no folder"):
        save_clip(tiny_clip, tmp_path / "nowhere" / "x.npz")
    with pytest.raises(FileFormatError, match="there is no such file"):
        load_clip(tmp_path / "x.npz")


def test_a_newer_version_is_refused(edited: Any) -> None:
    path = edited(lambda m: with_document(m, lambda d: d.update(version=99)))
    with pytest.raises(FileFormatError, match=r"edited\.npz: version is 99, newer than 9"):
        load_clip(path)


def test_files_of_the_first_version_are_read(edited: Any, tiny_clip: Clip) -> None:
    """They have no starts, postures, touches, rounds and spins."""

    def make_old(members: Members) -> None:
        def change(document: dict[str, Any]) -> None:
            document["version"] = 1
            problem = document["clip"]["problem"]
            for name in ("start", "postures", "touches", "is_cyclic"):
                del problem[name]
            for name in ("spin", "velocity", "axes", "axis"):
                del problem["goals"][0][name]

        with_document(members, change)
        gone = ("spin.npy", "velocity.npy")
        for name in [name for name in members if "postures" in name or name.endswith(gone)]:
            del members[name]

    asked = tiny_clip.problem
    old = dataclasses.replace(
        asked,
        goals=(dataclasses.replace(asked.goals[0], spin=None, velocity=None, axes="xyz"),),
        postures={},
        touches=(),
        is_cyclic=False,
    )
    path = edited(make_old)
    assert_same(dataclasses.replace(tiny_clip, problem=old), load_clip(path))
    again = members_of(path)
    with_document(again, lambda document: document.update(version=2))
    with pytest.raises(FileFormatError) as caught:
        load_clip(write_members(path, again))
    assert str(caught.value).splitlines()[1:] == [
        "  - problem/goals/0/spin is missing",
        *(f"  - problem/{name} is missing" for name in ("start", "postures", "touches")),
        "  - problem/is_cyclic is missing",
    ]


def test_every_truncation_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for size in range(0, len(data), max(1, len(data) // 100)):
        saved.write_bytes(data[:size])
        with pytest.raises(FileFormatError, match=r"tiny\.npz: "):
            load_clip(saved)


def test_all_problems_are_listed_at_once(edited: Any, tiny_clip: Clip) -> None:
    def damage(members: Members) -> None:
        del members["times.npy"]
        members["bodies/block/position.npy"] = npy(np.zeros((5, 2)))
        members["problem/hands/claw/joints/parent.npy"] = npy(np.zeros(8))
        members["problem/hands/claw/joints/axis.npy"] = npy(np.zeros((7, 3)))
        members["extra.npy"] = npy(np.zeros(1))

        def change(document: dict[str, Any]) -> None:
            del document["clip"]["provenance"]["seed"]
            document["clip"]["problem"]["hands"][0][1]["side"] = "middle"
            document["clip"]["problem"]["bodies"][0][1]["mass"] = "heavy"

        with_document(members, change)

    with pytest.raises(FileFormatError) as caught:
        load_clip(edited(damage))
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("edited.npz: cannot be loaded:")
    assert sorted(lines[1:]) == sorted(
        [
            "  - times is missing",
            "  - bodies/block/position has shape (5, 2); expected (T, 3)",
            "  - problem/hands/claw/joints/parent has type '<f8'; expected whole numbers",
            "  - problem/hands/claw/joints/axis has shape (7, 3); expected (J=8, 3)",
            "  - extra is not known",
            "  - provenance/seed is missing",
            "  - problem/hands/claw/side is 'middle'; expected one of right, left, none",
            "  - problem/bodies/block/mass is 'heavy'; expected a float",
        ]
    )


@pytest.mark.parametrize(
    "name", ["times", "hands/claw/q", "problem/bodies/block/vertices", "contacts/gap"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_is_refused(edited: Any, name: str, value: float) -> None:
    def damage(members: Members) -> None:
        array = np.load(io.BytesIO(members[f"{name}.npy"]))
        array.flat[-1] = value
        members[f"{name}.npy"] = npy(array)

    with pytest.raises(FileFormatError, match=f"{name} holds NaN or infinity"):
        load_clip(edited(damage))


class _Bomb:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return pytest.fail, ("code of a file was run",)


@pytest.mark.parametrize("name", ["times", "extra"])
def test_pickled_arrays_are_refused(edited: Any, name: str) -> None:
    data = npy(np.array([_Bomb()], dtype=object), allow_pickle=True)
    path = edited(lambda members: members.update({f"{name}.npy": data}))
    with pytest.raises(FileFormatError, match=f"{name} holds pickled Python objects"):
        load_clip(path)


def test_a_million_frames_are_refused_unread(edited: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = edited(lambda m: m.update({"times.npy": npy(np.arange(1e6))}))
    monkeypatch.setattr("handwright.io.clip.npy_archive.Archive.array", pytest.fail)
    with pytest.raises(FileFormatError, match="times has 1,000,000 frames; expected at"):
        load_clip(path)


def test_a_file_that_unpacks_to_too_much_is_refused_unread(
    edited: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = edited(lambda m: m.update({"times.npy": npy(np.zeros(400_000))}))
    monkeypatch.setattr("handwright.io.clip.npy_archive.zipfile.ZipFile.open", pytest.fail)
    with (
        reading_with(ReadLimits(file_bytes=1024**2)),
        pytest.raises(FileFormatError, match="file bytes; expected at most 1,048,576"),
    ):
        load_clip(path)


def test_a_shape_that_lies_about_its_size_is_refused(edited: Any) -> None:
    data = npy(np.zeros(5))
    lie = data.replace(b"'shape': (5,), }        ", b"'shape': (99999,), }    ")
    assert lie != data
    path = edited(lambda members: members.update({"times.npy": lie}))
    with pytest.raises(FileFormatError, match=r"times says it has shape \(99999,\)"):
        load_clip(path)


def test_a_size_that_lies_in_the_directory_is_refused(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    entry = data.rindex(b"times.npy") - 46
    assert data[entry : entry + 4] == b"PK\x01\x02"
    data[entry + 24 : entry + 28] = (10_000).to_bytes(4, "little")
    saved.write_bytes(data)
    with pytest.raises(FileFormatError):
        load_clip(saved)


@pytest.mark.parametrize(
    ("name", "array", "text"),
    [
        ("problem/hands/claw/joints/leader", np.full(8, 99), "cannot be used"),
        ("problem/hands/claw/capsules/digit", None, "a capsule belongs to a digit outside"),
        ("problem/hands/claw/capsules/link", None, "a capsule sits on a link outside"),
        ("problem/hands/claw/frames/wxyz", None, "frames/wxyz has rows that are not unit long"),
        ("bodies/block/wxyz", np.ones((5, 4)), "bodies/block cannot be used: Pose: wxyz"),
        ("times", np.zeros(5), "times do not increase"),
        ("problem/bodies/block/faces", np.full((4, 3), 77), "points to vertices 77"),
        ("contacts/mode", None, "mode must be 0 to 3"),
    ],
)
def test_indices_and_units_are_checked(
    edited: Any, name: str, array: np.ndarray | None, text: str
) -> None:
    def damage(members: Members) -> None:
        old = np.load(io.BytesIO(members[f"{name}.npy"]))
        new = np.full(old.shape, 99, dtype=old.dtype) if array is None else array
        assert new.shape == old.shape
        members[f"{name}.npy"] = npy(new)

    with pytest.raises(FileFormatError, match=re.escape(text)):
        load_clip(edited(damage))


def test_names_are_checked(edited: Any) -> None:
    def change(document: dict[str, Any]) -> None:
        document["clip"]["contacts"]["touchers"][1] = "foot"
        document["clip"]["contacts"]["bodies"][0] = "moon"
        document["clip"]["problem"]["hands"][0][1]["frames"]["names"].append("more")

    with pytest.raises(FileFormatError) as caught:
        load_clip(edited(lambda members: with_document(members, change)))
    assert str(caught.value).splitlines()[1:] == [
        "  - problem/hands/claw/frames has 12 names for 11 rows",
        "  - contacts/touchers names 'foot'; expected a hand, a body or 'environment'",
        "  - contacts/bodies names 'moon', which is no body",
    ]


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"format": "handwright clip", "version": 1}',
        b'{"format": "handwright clip", "version": 1, "clip": {"times": NaN}}',
        b'{"format": "handwright clip", "version": true, "clip": 1}',
    ],
)
def test_damaged_documents_are_refused(edited: Any, document: bytes) -> None:
    path = edited(lambda members: members.update({"clip.json": document}))
    with pytest.raises(FileFormatError, match=r"edited\.npz: "):
        load_clip(path)


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Ways to all values of a JSON document; null stands for arrays and is left out."""
    if value is None:
        return []
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    return [path, *(place for key, item in items for place in places_in(item, (*path, key)))]


def test_every_value_of_the_document_is_checked(saved: Path) -> None:
    text = members_of(saved)["clip.json"]
    with np.load(saved, allow_pickle=False) as file:
        headers = {name: header_of(file[name]) for name in file.files if name != "clip.json"}
    places = [
        place
        for place in places_in(json.loads(text)["clip"])
        if place and place[:2] != ("provenance", "settings")
    ]
    assert len(places) > 50
    for place in places:
        body = json.loads(text)["clip"]
        target = body
        for key in place[:-1]:
            target = target[key]
        target[place[-1]] = {"a": [1]}
        decoder = Decoder(headers)
        decoder.decode(body, Clip)
        assert decoder.problems, place
