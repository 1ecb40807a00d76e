"""Networks at work: equal to what was trained, and refused with a reason where they do not fit."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx
import torch

from handwright.errors import FileFormatError, InvalidValueError, MissingExtraError
from handwright.learning.training.columns import (
    DISTANCES,
    POSE,
    finger_columns,
    fixed_columns,
    frame_columns,
)
from handwright.learning.training.networks.architectures import FrameNetwork, as_tensor
from handwright.learning.training.networks.export import export_frame_network, export_passes
from handwright.learning.training.networks.normalisation import Normalisation
from handwright.learning.training.networks.windowed import (
    MEMORY,
    FirstPass,
    SecondPass,
    empty_memory,
)
from handwright.learning.training.recipe import Recipe
from handwright.methods.neural.network.facts import FORMAT
from handwright.methods.neural.network.runtime import load_network

WIDTH = 12
RNG = np.random.default_rng(5)
OUTPUTS = Normalisation(RNG.standard_normal(220), np.full(220, 0.02))


def normalisation(size: int) -> Normalisation:
    return Normalisation(RNG.standard_normal(size), np.exp(RNG.standard_normal(size)))


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module", params=["change", "absolute"])
def frame_model(request, tmp_path_factory):
    """A network from frame to frame in torch, and its folder."""
    torch.manual_seed(0)
    recipe = Recipe(width=WIDTH, output=request.param)
    network = FrameNetwork(
        frame_columns(recipe),
        normalisation(2356),
        OUTPUTS,
        width=WIDTH,
        connections="dense",
        dropout=0.3,
        pose=POSE if request.param == "change" else slice(0, 0),
        distances=DISTANCES,
    )
    folder = tmp_path_factory.mktemp("frame")
    export_frame_network(network, recipe, folder, "Apache-2.0")
    return network, folder


@pytest.fixture(scope="module")
def windowed_model(tmp_path_factory):
    """The two passes in torch, and their folder."""
    torch.manual_seed(0)
    recipe = Recipe(architecture="windowed", width=WIDTH, horizon="0.1")
    plain = {"width": WIDTH, "dropout": 0.3, "distances": DISTANCES}
    first = FirstPass(fixed_columns(recipe), normalisation(1336), OUTPUTS, **plain)
    second = SecondPass(finger_columns(recipe), normalisation(1020), OUTPUTS, pose=POSE, **plain)
    folder = tmp_path_factory.mktemp("windowed")
    export_passes(first, second, recipe, folder, "Apache-2.0")
    return first, second, folder


@pytest.mark.parametrize("hands", [1, 2, 7])
def test_outputs_equal_those_of_torch(frame_model, hands):
    network, folder = frame_model
    loaded = load_network(folder)
    assert (loaded.kind, loaded.facts.width, loaded.facts.horizon) == ("autoregressive", WIDTH, 0.5)
    features = rows(hands, 2356)
    with torch.no_grad():
        wanted = network.eval()(as_tensor(features)).numpy()
    np.testing.assert_allclose(loaded.predict(features), wanted, atol=1e-5)


def test_whole_tracks_equal_those_of_torch_that_hold_the_first_frame(windowed_model):
    first, second, folder = windowed_model
    loaded = load_network(folder)
    assert (loaded.kind, loaded.facts.memory, loaded.facts.horizon) == ("windowed", MEMORY, 0.1)
    fixed, finger = rows(2, 9, 1336), rows(2, 9, 1020)
    held = np.concatenate([np.zeros(MEMORY, dtype=int), np.arange(9)])
    nothing = empty_memory(2, WIDTH)
    with torch.no_grad():
        wanted, context, _ = first.eval()(as_tensor(fixed[:, held]), nothing)
        seen = context[:, MEMORY:][:, held], as_tensor(finger[:, held])
        refined, _ = second.eval()(*seen, nothing)
    said = loaded.first(fixed)
    np.testing.assert_allclose(said.outputs, wanted[:, MEMORY:].numpy(), atol=1e-5)
    again = loaded.second(said.context, finger)
    np.testing.assert_allclose(again.outputs, refined[:, MEMORY:].numpy(), atol=1e-5)


def test_a_stream_equals_the_whole_track(windowed_model):
    loaded = load_network(windowed_model[-1])
    fixed, finger = rows(2, 90, 1336), rows(2, 90, 1020)
    whole = loaded.first(fixed)
    refined = loaded.second(whole.context, finger)
    memory = after = None
    # Pieces of several lengths: none, one and many frames longer than the memory.
    for start, stop in ((0, 1), (1, 2), (2, 10), (10, 11), (11, 89), (89, 90)):
        part = slice(start, stop)
        said = loaded.first(fixed[:, part], memory)
        again = loaded.second(said.context, finger[:, part], after)
        memory, after = said.memory, again.memory
        np.testing.assert_allclose(said.outputs, whole.outputs[:, part], atol=1e-5)
        np.testing.assert_allclose(again.outputs, refined.outputs[:, part], atol=1e-5)


def test_networks_can_be_loaded_by_their_files(frame_model, windowed_model):
    assert load_network(frame_model[-1] / "network.onnx").kind == "autoregressive"
    assert load_network(windowed_model[-1] / "second_pass.onnx").kind == "windowed"


def test_a_missing_extra_is_named(frame_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r'"handwright\[neural\]"'):
        load_network(frame_model[-1])


def test_missing_files_are_named(tmp_path, windowed_model):
    with pytest.raises(InvalidValueError, match="nothing: is not there"):
        load_network(tmp_path / "nothing")
    with pytest.raises(InvalidValueError, match=r"neither network\.onnx nor first_pass\.onnx"):
        load_network(tmp_path)
    half = windowed_model[-1] / "first_pass.onnx"
    (tmp_path / "first_pass.onnx").write_bytes(half.read_bytes())
    with pytest.raises(InvalidValueError, match=r"second_pass\.onnx: there is no such file"):
        load_network(tmp_path)


def test_files_that_are_no_networks_are_refused(tmp_path):
    for content in (b"", b"some text", b"\x08\x07" * 50):
        path = tmp_path / "network.onnx"
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"network\.onnx: is no ONNX file that can be"):
            load_network(path)


def changed(folder, target, **facts) -> None:
    """A network whose metadata say something else; None takes a fact away."""
    model = onnx.load(folder / "network.onnx")
    kept = {prop.key: prop.value for prop in model.metadata_props} | facts
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, {k: v for k, v in kept.items() if v is not None})
    onnx.save(model, target / "network.onnx")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"format": None}, f"does not say what it is for; expected '{FORMAT}'"),
        ({"format": "something else"}, "says 'something else'"),
        ({"feature_version": "0"}, "its feature version is 0, expected 1"),
        ({"joints": "wrist,palm"}, r"its joints is \('wrist', 'palm'\)"),
        ({"rate": "30.0"}, "its rate is 30.0, expected 60.0"),
        ({"part": "first_pass"}, "its part is 'first_pass', expected 'network'"),
        ({"kind": "oracle"}, "of kind 'oracle', which is unknown"),
        ({"width": "wide"}, "its metadata are damaged"),
    ],
)
def test_networks_for_something_else_are_refused(frame_model, tmp_path, facts, words):
    changed(frame_model[-1], tmp_path, **facts)
    with pytest.raises(FileFormatError, match=words):
        load_network(tmp_path)


def test_a_graph_with_other_inputs_is_refused(frame_model, tmp_path):
    model = onnx.load(frame_model[-1] / "network.onnx")
    for node in model.graph.node:
        node.input[:] = ["sight" if name == "features" else name for name in node.input]
    model.graph.input[0].name = "sight"
    onnx.save(model, tmp_path / "network.onnx")
    with pytest.raises(FileFormatError, match="its inputs are sight; expected features"):
        load_network(tmp_path)


def test_features_of_another_size_or_type_are_refused(frame_model, windowed_model):
    network = load_network(frame_model[-1])
    with pytest.raises(InvalidValueError, match=r"features has shape \(1, 5\)"):
        network.predict(rows(1, 5))
    with pytest.raises(InvalidValueError, match="type float64; expected"):
        network.predict(rows(1, 2356).astype(float))
    with pytest.raises(InvalidValueError, match=r"fixed has shape \(1, 2, 2356\)"):
        load_network(windowed_model[-1]).first(rows(1, 2, 2356))


def test_running_a_network_imports_no_torch(frame_model):
    code = (
        "import sys; from handwright.methods.neural.network.runtime import load_network; "
        f"load_network({str(frame_model[-1])!r}); "
        "print([name for name in ('torch', 'onnx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_facts_survive_the_way_to_text_and_back(frame_model, tmp_path):
    facts = load_network(frame_model[-1]).facts
    changed(frame_model[-1], tmp_path, **replace(facts, license="free for all").as_text())
    assert load_network(tmp_path).facts == replace(facts, license="free for all")
