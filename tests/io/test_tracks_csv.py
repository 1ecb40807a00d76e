from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.core.clip import Clip
from handwright.core.track import Track
from handwright.errors import FileFormatError, InvalidValueError
from handwright.io.tracks_csv import load_tracks, save_clip_tracks, save_tracks
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.read_limits import ReadLimits, reading_with

HEADER = "time,x,y,z,qw,qx,qy,qz\n"


def assert_same(ours: Track, theirs: Track) -> None:
    for a, b in (
        (ours.times, theirs.times),
        (ours.pose.position, theirs.pose.position),
        (ours.pose.wxyz, theirs.pose.wxyz),
    ):
        assert a.tobytes() == b.tobytes()


def load_text(tmp_path: Path, text: str | bytes) -> dict[str, Track]:
    path = tmp_path / "wrist.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_tracks(path)


def test_a_clip_round_trips_exactly(human_clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "clip.csv"
    save_clip_tracks(human_clip, path)
    tracks = load_tracks(path)
    assert list(tracks) == ["right", "ball"]
    assert_same(Track(human_clip.times, human_clip.hands["right"].root), tracks["right"])
    assert_same(Track(human_clip.times, human_clip.bodies["ball"]), tracks["ball"])


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-12, 1.0, 1e4]),
    name=st.text(min_size=1, max_size=12).filter(
        lambda t: t == t.strip() and t.isprintable() and not t.startswith("#")
    ),
)
def test_any_track_round_trips_exactly(
    tmp_path_factory: pytest.TempPathFactory, seed: int, scale: float, name: str
) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(1.1e-5, 1.0, 7))
    track = Track(times, Pose(scale * rng.standard_normal((7, 3)), rotation.random(rng, 7)))
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    save_tracks({name: track}, path)
    (loaded,) = load_tracks(path).items()
    assert loaded[0] == name
    assert_same(track, loaded[1])


def test_units_order_marks_and_comments(tmp_path: Path) -> None:
    text = (
        "\ufeffqw,qx,qy,qz, X [cm] ,y [mm],z,time [ms]\n# by hand\n\n0.7071,0.7071,0,0,1,2,3,500\n"
    )
    track = load_text(tmp_path, text)["wrist"]
    assert track.times.tolist() == [0.5]
    np.testing.assert_allclose(track.pose.position, [[0.01, 0.002, 3.0]])
    np.testing.assert_allclose(track.pose.wxyz, [[np.sqrt(0.5), np.sqrt(0.5), 0, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"is empty; expected a header"),
        (HEADER, r"has a header but no rows"),
        ("time,x,y,z,qw,qx,qy\n", r"line 1: column 'qz' is missing\. Expected a header"),
        ("time,x,y,z,qw,qx,qy,qz,w,x\n", r"column 'w' is not known; column 'x' is there twice"),
        ("time [h],x,y,z,qw,qx,qy,qz\n", r"unit 'h' of time is not known \(known: s, ms\)"),
        ("time,x,y,z,qw [m],qx,qy,qz\n", r"unit 'm' of qw is not known \(known: none\)"),
        (HEADER + "0,0,0,0,1,0,0\n", r"line 2: has 7 cells; expected 8"),
        (HEADER + "0,0,0,0,1,0,0,0\n\n1,a,0,0,1,0,0,0\n", r"line 4: x is 'a'; expected a finite"),
        (HEADER + "0,0,0,nan,1,0,0,0\n", r"line 2: z is 'nan'; expected a finite number"),
        (HEADER + "0,0,0,1_0,1,0,0,0\n", r"line 2: z is '1_0'; expected a finite number"),
        (HEADER + "0,0,0,1e999,1,0,0,0\n", r"line 2: z is '1e999'; expected a finite number"),
        (HEADER + "0,0,0,0,1,1,0,0\n", r"line 2: the quaternion has length 1\.414; expected 1"),
        (HEADER + 2 * "3,0,0,0,1,0,0,0\n", r"line 3: time is 3 s after 3 s; expected it to incr"),
        (HEADER.encode() + b"0,0,0,\xff,1,0,0,0\n", r"line 2: is not UTF-8 text"),
        ("name," + HEADER + '"a', r"line 2: has 1 cells"),
    ],
)
def test_mistakes_are_named_with_their_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        load_text(tmp_path, text)
    assert "wrist.csv" in str(caught.value)


def test_too_many_frames_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEADER + "".join(f"{k},0,0,0,1,0,0,0\n" for k in range(4))
    with (
        reading_with(ReadLimits(frames=3)),
        pytest.raises(FileFormatError, match="line 5: track 'wrist' has more than 3 frames"),
    ):
        load_text(tmp_path, text)
    monkeypatch.setattr("handwright.io.tracks_csv.MAX_CSV_BYTES", 10)
    with pytest.raises(FileFormatError, match="is larger than"):
        load_text(tmp_path, text)


def test_what_cannot_be_read_is_not_written(tmp_path: Path, human_clip: Clip) -> None:
    track = Track(human_clip.times, human_clip.bodies["ball"])
    for name in ("", " a", "#a", "a\nb"):
        with pytest.raises(InvalidValueError, match="a track is named"):
            save_tracks({name: track}, tmp_path / "a.csv")
    with pytest.raises(InvalidValueError, match="there is no track to write"):
        save_tracks({}, tmp_path / "a.csv")
    with pytest.raises(FileFormatError, match="there is no such file"):
        load_tracks(tmp_path / "a.csv")
