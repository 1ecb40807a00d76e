from __future__ import annotations

import json
import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from handwright.cli.main import main

from .conftest import HELLO

ROOT = Path(__file__).resolve().parents[2]
# The command with a model that needs no network file.
CODE = """
import sys
from stand_in_fingers import ClosingFingers
from handwright.cli.main import main
from handwright.methods.neural.live import network_fingers
from handwright.methods.neural.network import runtime
runtime.load_network = lambda path: None
network_fingers.finger_model = lambda network: ClosingFingers()
sys.exit(main())
"""
LINE = "handwright: interrupted; nothing was left half written."
PATIENCE = 60.0


@pytest.fixture
def command():
    """The command at work, and its address."""
    arguments = ["live", "--model", "any", "--object", "cylinder", "sphere", "--port", "0"]
    fixtures = str(ROOT / "tests" / "fixtures")
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([fixtures, *sys.path])},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"for cylinder, sphere at (ws://127\.0\.0\.1:\d+) ", line):
            break
    else:
        pytest.fail(process.communicate()[1])
    yield process, found.group(1)
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_example_is_served_and_an_interrupt_ends_in_order(command, number, capsys):
    process, address = command
    if number == signal.SIGTERM:
        example = runpy.run_path(str(ROOT / "examples" / "live_client.py"))
        frames = example["main"](address, 0.9)
        assert len(frames) >= 10
        assert set(frames[0]["hands"]) == {"right"}
        assert "cylinder, sphere; 0.50 s behind" in capsys.readouterr().out
    with connect(address) as socket:
        socket.send(json.dumps(HELLO))
        assert json.loads(socket.recv(timeout=PATIENCE))["type"] == "welcome"
        process.send_signal(number)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1001
    out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert error.strip() == LINE
    assert "Traceback" not in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--object", "cilinder"], "Unknown shape 'cilinder'. Did you mean 'cylinder'?"),
        (["--object", "cylinder", "cylinder"], "two objects 'cylinder'"),
        (["--object", "nothing.obj"], "nothing.obj"),
        (["--object", "cylinder", "--port", "99999"], "port 99999"),
    ],
)
def test_mistakes_are_told(arguments, told, capsys, monkeypatch):
    from handwright.methods.neural.live import network_fingers
    from handwright.methods.neural.network import runtime

    monkeypatch.setattr(runtime, "load_network", lambda path: None)
    monkeypatch.setattr(network_fingers, "finger_model", lambda network: None)
    assert main(["live", "--model", "any", *arguments]) == 1
    assert told in capsys.readouterr().err


def test_a_model_that_is_not_there_is_told(capsys, tmp_path):
    assert main(["live", "--model", str(tmp_path / "none"), "--object", "cylinder"]) == 1
    assert "is not there; expected the folder of a trained network" in capsys.readouterr().err
