from __future__ import annotations

import socket

import pytest

from handwright.cli.main import main
from handwright.errors import InvalidValueError
from handwright.studio.server.serving import listen


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_port_that_cannot_be_leaves_no_folder_behind(tmp_path, monkeypatch, capsys, port):
    monkeypatch.chdir(tmp_path)
    assert main(["studio", "typo", "--no-browser", f"--port={port}"]) == 1
    assert f"port {port}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidValueError, match=f"port {port}.*Choose another with --port"):
            listen("127.0.0.1", port)
