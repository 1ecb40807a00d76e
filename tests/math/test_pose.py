from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.errors import InvalidValueError
from handwright.math import Pose, rotation

quick = settings(deadline=None, max_examples=35)
# Absolute, because numpy's default relative tolerance would hide most faults.
close = partial(np.testing.assert_allclose, rtol=0)
seeds = st.integers(0, 2**32 - 1)


def random_pose(rng, shape=()):
    return Pose(rng.standard_normal((*shape, 3)), rotation.random(rng, shape))


def assert_same(a, b, atol=1e-14):
    close(a.position, b.position, atol=atol)
    np.testing.assert_array_less(rotation.angle(a.wxyz, b.wxyz), atol)


@quick
@given(seeds, st.sampled_from([(), (4,), (2, 3), (0,)]))
def test_group_axioms(seed, shape):
    rng = np.random.default_rng(seed)
    a, b, c = (random_pose(rng, shape) for _ in range(3))
    assert_same((a @ b) @ c, a @ (b @ c))
    assert_same(a @ Pose.identity(), a)
    assert_same(Pose.identity(shape) @ a, a)
    assert_same(a @ a.inverse(), Pose.identity(shape))
    assert_same(a.inverse() @ a, Pose.identity(shape))
    assert_same((a @ b).inverse(), b.inverse() @ a.inverse())


@quick
@given(seeds)
def test_agrees_with_homogeneous_matrices(seed):
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng, (3,)), random_pose(rng, (3,))
    close((a @ b).matrix(), a.matrix() @ b.matrix(), atol=1e-14)
    close(a.inverse().matrix(), np.linalg.inv(a.matrix()), atol=1e-13)
    assert_same(Pose.from_matrix(a.matrix()), a)
    points = rng.standard_normal((3, 3))
    homogeneous = np.concatenate([points, np.ones((3, 1))], axis=-1)
    expected = np.einsum("nij,nj->ni", a.matrix(), homogeneous)
    close(a.apply(points), expected[:, :3], atol=1e-14)
    close(a.rotate(points), expected[:, :3] - a.position, atol=1e-14)
    close(a.apply(b.apply(points)), (a @ b).apply(points), atol=1e-14)


def test_batches_equal_loops():
    rng = np.random.default_rng(0)
    a, b, points = random_pose(rng, (5,)), random_pose(rng, (4, 1)), rng.standard_normal((7, 3))
    grid = b @ a
    assert grid.shape == (4, 5)
    every = a[:, None].apply(points)
    assert every.shape == (5, 7, 3)
    for i in range(4):
        for j in range(5):
            assert_same(grid[i, j], b[i, 0] @ a[j])
    for j in range(5):
        close(every[j], a[j].apply(points), atol=1e-15)
        assert_same(a.inverse()[j], a[j].inverse())


@quick
@given(seeds)
def test_interpolation_meets_its_ends_and_commutes_with_the_world(seed):
    rng = np.random.default_rng(seed)
    a, b, world = (random_pose(rng) for _ in range(3))
    t = np.linspace(0, 1, 5)
    path = a.interpolate(b, t)
    assert path.shape == (5,)
    assert_same(path[0], a)
    assert_same(path[4], b)
    assert_same((world @ a).interpolate(world @ b, t), world @ path, atol=1e-13)
    close(np.diff(path.position, n=2, axis=0), 0, atol=1e-14)
    steps = rotation.angle(path.wxyz[:-1], path.wxyz[1:])
    close(steps, rotation.angle(a.wxyz, b.wxyz) / 4, atol=1e-14)
    assert_same(path[1], a.interpolate(b, 0.25))


def test_indexing_never_reaches_the_components():
    pose = random_pose(np.random.default_rng(1), (4, 5))
    assert len(pose) == 4
    assert [p.shape for p in pose] == [(5,)] * 4
    assert pose[2, 3].shape == ()
    assert pose[..., 3].shape == (4,)
    assert pose[:, None].shape == (4, 1, 5)
    assert pose[np.array([True, False, True, False])].shape == (2, 5)
    assert pose[[0, 2], [1, 1]].shape == (2,)
    np.testing.assert_array_equal(pose[..., 3].position, pose.position[:, 3])
    np.testing.assert_array_equal(pose[1:3].wxyz, pose.wxyz[1:3])
    with pytest.raises(IndexError):
        pose[0, 0, 0]
    with pytest.raises(IndexError):
        pose[4]
    with pytest.raises(TypeError, match="single Pose has no length"):
        list(pose[0, 0])


def test_arrays_are_read_only_copies_even_after_pickling():
    position, wxyz = np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1))
    pose = Pose(position, wxyz)
    position[0] = 9.0
    wxyz[0] = 0.5
    np.testing.assert_array_equal(pose.position, 0.0)
    np.testing.assert_array_equal(pose.wxyz[0], [1, 0, 0, 0])
    for same in (pose, pose[0], pickle.loads(pickle.dumps(pose)), copy.deepcopy(pose)):
        with pytest.raises(ValueError, match="read-only"):
            same.position[..., 0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            same.wxyz[..., 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        pose.position = position
    moved = dataclasses.replace(pose, position=np.ones(3))
    assert moved.shape == (2,)


def test_construction_broadcasts_and_keeps_unit_quaternions_bit_for_bit():
    rng = np.random.default_rng(2)
    pose = random_pose(rng, (200,))
    again = Pose(pose.position, pose.wxyz)
    np.testing.assert_array_equal(again.wxyz, pose.wxyz)
    single = Pose.normalized(pose.position.astype(np.float32), pose.wxyz.astype(np.float32))
    assert single.wxyz.dtype == np.float64
    # Within tolerance is accepted, and made unit, so that the transform is rigid to rounding.
    loose = Pose(np.zeros(3), pose.wxyz * (1 + 5e-7))
    assert loose.shape == (200,)
    close(np.linalg.norm(loose.wxyz, axis=-1), 1, atol=1e-15)
    close(loose.wxyz, pose.wxyz, atol=1e-15)
    np.testing.assert_array_equal(Pose(loose.position, loose.wxyz).wxyz, loose.wxyz)


def test_long_chains_stay_unit():
    step = Pose(np.array([1e-3, 0, 0]), rotation.exp([0.1, 0.2, -0.3]) * (1 + 9e-7))
    pose = Pose.identity()
    for _ in range(500):
        pose = pose @ step
    assert abs(np.linalg.norm(pose.wxyz) - 1) < 1e-15
    assert rotation.angle(pose.wxyz, rotation.exp([50.0, 100.0, -150.0])) < 1e-12


def test_stack_and_identity():
    rng = np.random.default_rng(3)
    poses = [random_pose(rng, (2,)) for _ in range(3)]
    stacked = Pose.stack(poses)
    assert stacked.shape == (3, 2)
    np.testing.assert_array_equal(stacked[1].wxyz, poses[1].wxyz)
    assert Pose.identity(4).shape == (4,)
    np.testing.assert_array_equal(Pose.identity((2,)).matrix(), np.stack([np.eye(4)] * 2))
    with pytest.raises(InvalidValueError, match=r"shapes \[\(\), \(2,\)\]; expected.*one shape"):
        Pose.stack([poses[0], poses[0][0]])
    with pytest.raises(InvalidValueError, match="given no poses; expected one or more"):
        Pose.stack([])


def test_error_texts(user_view):
    one = [1.0, 0, 0, 0]
    with pytest.raises(InvalidValueError, match=r"wxyz\[17\] has norm 0\.93; expected 1 within 1e"):
        Pose(np.zeros((20, 3)), np.where(np.arange(20)[:, None] == 17, 0.93, 1.0) * one)
    with pytest.raises(InvalidValueError, match=r"wxyz has norm 2;.*Use Pose\.normalized\("):
        Pose([0, 0, 0], [0, 2.0, 0, 0])
    with pytest.raises(InvalidValueError, match=r"position\[1, 0\] is \[ ?nan.*finite metres"):
        Pose(np.where(np.arange(2)[:, None, None] == 1, np.nan, np.zeros((2, 1, 3))), one)
    with pytest.raises(InvalidValueError, match=r"wxyz is .*inf.*finite"):
        Pose([0, 0, 0], [np.inf, 0, 0, 0])
    with pytest.raises(InvalidValueError, match=r"position has shape \(4,\) and wxyz \(3,\)"):
        Pose(one, [0, 0, 0])
    with pytest.raises(InvalidValueError, match=r"\(2, 3\) and wxyz \(5, 4\).*broadcast"):
        Pose(np.zeros((2, 3)), np.tile(one, (5, 1)))
    batch = Pose.identity(5)
    with pytest.raises(InvalidValueError, match=r"shape \(5,\).*points.*\(7,\).*pose\[:, None\]"):
        batch.apply(np.zeros((7, 3)))
    with pytest.raises(InvalidValueError, match=r"other pose of leading shape \(7,\)"):
        batch @ Pose.identity(7)
    with pytest.raises(InvalidValueError, match=r"v has shape \(2,\); expected \(\.\.\., 3\)"):
        Pose.identity().apply([1, 2])
    with pytest.raises(InvalidValueError, match=r"M has shape \(3, 3\); expected \(\.\.\., 4, 4\)"):
        Pose.from_matrix(np.eye(3))
    transposed = np.eye(4)
    transposed[3, 0] = 0.3
    with pytest.raises(InvalidValueError, match=r"M has last row .*0\.3.*Transpose"):
        Pose.from_matrix(transposed)
    with pytest.raises(InvalidValueError, match="expected finite fractions"):
        batch.interpolate(batch, np.nan)
    with pytest.raises(TypeError):
        batch @ np.eye(4)
    with pytest.raises(TypeError):
        np.eye(4) @ batch
