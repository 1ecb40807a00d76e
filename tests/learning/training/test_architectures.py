"""Networks are those of the paper: their equations, their sizes, and what they see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from handwright.learning.training.columns import (
    DISTANCES,
    FEATURE_GROUPS,
    FINGER_GROUPS,
    FIXED_GROUPS,
    POSE,
    finger_columns,
    fixed_columns,
    frame_columns,
)
from handwright.learning.training.networks.architectures import (
    LARGEST_INPUT,
    FrameNetwork,
    ResidualBlock,
    as_tensor,
    count_parameters,
)
from handwright.learning.training.networks.normalisation import (
    LEAST_SHARE,
    Moments,
    Normalisation,
    column_normalisation,
    group_normalisation,
)
from handwright.learning.training.recipe import RECIPES, Recipe
from handwright.methods.neural.sensing.features import assembled

PLAIN_INPUTS = Normalisation(np.zeros(2356), np.ones(2356))
PLAIN_OUTPUTS = Normalisation(np.zeros(220), np.ones(220))


def network(recipe: Recipe, inputs=PLAIN_INPUTS, outputs=PLAIN_OUTPUTS) -> FrameNetwork:
    torch.manual_seed(0)
    return FrameNetwork(
        frame_columns(recipe),
        inputs,
        outputs,
        width=recipe.width,
        connections=recipe.architecture,
        dropout=recipe.dropout,
        pose=POSE if recipe.output == "change" else slice(0, 0),
        distances=DISTANCES,
    ).eval()


def test_the_papers_network_has_as_many_parameters_as_its_layers_give():
    encoders = (198 + 1) * 512 + (336 + 1) * 512 + (1822 + 1) * 512
    blocks = 4 * (1536 * 1536 + 1536)
    decoder = (1536 + 1) * 220
    made = network(RECIPES["paper"])
    assert count_parameters([made]) == encoders + blocks + decoder == 10_989_276


@pytest.mark.parametrize("connections", ["dense", "resnet", "mlp"])
def test_blocks_compute_the_equations_of_the_paper(connections):
    torch.manual_seed(1)
    block = ResidualBlock(6, connections, 0.3).double().eval()
    rng = np.random.default_rng(0)
    before = rng.standard_normal((4, 6))
    w0, b0 = (p.detach().numpy() for p in block.first.parameters())
    w1, b1 = (p.detach().numpy() for p in block.second.parameters())
    r0 = np.maximum(before, 0.0)
    inner, outer = connections != "mlp", connections == "dense"
    h1 = r0 @ w0.T + b0 + inner * r0
    r1 = np.maximum(h1, 0.0)
    h2 = r1 @ w1.T + b1 + inner * r1 + outer * r0
    np.testing.assert_allclose(block(torch.from_numpy(before)).detach().numpy(), h2, atol=1e-12)


def test_outputs_of_a_change_follow_the_pose_and_others_do_not():
    features = np.random.default_rng(0).standard_normal((3, 2356))
    for output, share in (("change", 1.0), ("absolute", 0.0)):
        made = network(Recipe(width=12, output=output))
        torch.nn.init.zeros_(made.decoder.dense.weight)
        torch.nn.init.zeros_(made.decoder.dense.bias)
        said = made(as_tensor(features)).detach().numpy()
        np.testing.assert_allclose(said[:, POSE], share * features[:, POSE], rtol=1e-6)


def test_distances_are_never_negative_once_training_is_over():
    made = network(Recipe(width=12))
    torch.nn.init.constant_(made.decoder.dense.bias, -50.0)
    features = torch.zeros(2, 2356)
    assert (made(features)[:, DISTANCES] == 0.0).all()
    assert (made.train()(features)[:, DISTANCES] < 0.0).all()


def test_units_of_features_and_outputs_do_not_matter():
    rng = np.random.default_rng(2)
    features = rng.standard_normal((3, 2356))
    shift, scale = rng.standard_normal(2356), np.exp(rng.standard_normal(2356))
    recipe = Recipe(width=12, output="absolute")
    plain = network(recipe)(as_tensor(features)).detach().numpy()
    other = network(
        recipe,
        Normalisation(shift, scale),
        Normalisation(np.full(220, 0.5), np.full(220, 2.0)),
    )
    said = other(as_tensor(features * scale + shift)).detach().numpy()
    pose = slice(0, DISTANCES.start)
    np.testing.assert_allclose(said[:, pose], 0.5 + 2.0 * plain[:, pose], atol=2e-5)


def test_features_far_outside_of_what_was_taught_are_seen_at_its_edge():
    made = network(Recipe(width=12, output="absolute"))
    far = as_tensor(np.full((1, 2356), 1e6))
    edge = as_tensor(np.full((1, 2356), LARGEST_INPUT))
    assert torch.equal(made(far), made(edge))


@pytest.mark.parametrize(
    ("changes", "sizes"),
    [
        ({}, {"pose": 198, "trajectory": 336, "sensors": 1822}),
        ({"ambient": False}, {"pose": 198, "trajectory": 336, "sensors": 822}),
        ({"distance": False}, {"pose": 198, "trajectory": 336, "sensors": 1000}),
        ({"ambient": False, "distance": False}, {"pose": 198, "trajectory": 336}),
        # 13 moments of 13 numbers each and 12 of 3; 2 moments of rays and distances, and normals.
        (
            {"horizon": "0.1"},
            {"pose": 198, "trajectory": 13 * 13 + 12 * 3, "sensors": 1000 + 2 * 104 + 2 * 22 + 66},
        ),
    ],
)
def test_ablations_take_features_away(changes, sizes):
    recipe = replace(Recipe(width=12), **changes)
    columns = frame_columns(recipe)
    assert {name: len(where) for name, where in columns.items()} == sizes
    seen = np.concatenate(list(columns.values()))
    assert len(set(seen)) == len(seen)
    features = np.random.default_rng(0).standard_normal((1, 2356))
    hidden = np.setdiff1d(np.arange(2356), seen)
    blind = features.copy()
    blind[:, hidden] += 1.0
    made = network(recipe)
    assert torch.equal(made(as_tensor(features)), made(as_tensor(blind)))


def test_a_short_horizon_ends_a_tenth_of_a_second_ahead():
    columns = frame_columns(Recipe(horizon="0.1"))["trajectory"]
    place = FEATURE_GROUPS["wrist_position"].start
    # 21 moments from -0.5 to 0.5 s: the last one that is seen is number 12.
    assert place + 3 * 12 + 2 in columns
    assert place + 3 * 13 not in columns


def test_columns_of_both_passes_together_are_all_features():
    recipe = Recipe(architecture="windowed")
    everything = np.arange(2356.0)[None]
    pose, fixed, rest = np.split(everything, [198, 198 + 1336], axis=1)
    finger = np.concatenate([pose, rest], axis=1)
    np.testing.assert_array_equal(assembled(fixed, finger), everything)
    seen = [fixed[0, where] for where in fixed_columns(recipe).values()]
    seen += [finger[0, where] for where in finger_columns(recipe).values()]
    np.testing.assert_array_equal(np.sort(np.concatenate(seen)), everything[0])
    for groups, part in ((FIXED_GROUPS, fixed), (FINGER_GROUPS, finger)):
        for name, where in groups.items():
            np.testing.assert_array_equal(part[0, where], everything[0, FEATURE_GROUPS[name]])


def test_spreads_have_a_floor_by_their_group():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 6)) * [1.0, 2.0, 0.0, 5.0, 0.0, 0.0] + 3.0
    moments = Moments(6)
    moments.add(rows[:200])
    moments.add(rows[200:])
    groups = {"lively": slice(0, 4), "dead": slice(4, 6)}
    found = column_normalisation(moments, groups)
    deviation = rows.std(axis=0)
    typical = np.sqrt(np.mean(deviation[:4] ** 2))
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.spread[[0, 1, 3]], deviation[[0, 1, 3]], rtol=1e-6)
    np.testing.assert_allclose(found.spread[2], LEAST_SHARE * typical, rtol=1e-6)
    assert (found.spread[4:] > 0.0).all()
    np.testing.assert_allclose(group_normalisation(moments, groups).spread[:4], typical, rtol=1e-6)
