from __future__ import annotations

import asyncio
import json
import threading

import pytest
from stand_in_fingers import ClosingFingers
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from handwright.errors import InvalidValueError
from handwright.live import server as server_module
from handwright.live.server import LARGEST_MESSAGE, MOST_UNSENT, Line, LiveServer, listen

from .conftest import HELLO, poses

PATIENCE = 60.0


class Served:
    """A server in a thread of its own."""

    def __init__(self, stage) -> None:
        self._listener = listen(0)
        self.port = self._listener.getsockname()[1]
        self.address = f"ws://127.0.0.1:{self.port}"
        self.server = LiveServer(stage)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self.server.run(self._listener)), daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        self.server.stop_soon()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def served(stage):
    one = Served(stage)
    yield one
    one.end()


def hear(socket) -> dict:
    return json.loads(socket.recv(timeout=PATIENCE))


def greeted(socket, **hello) -> dict:
    socket.send(json.dumps(HELLO | hello))
    return hear(socket)


def test_clients_are_served_one_after_another(served):
    for _ in range(2):
        with connect(served.address) as socket:
            assert greeted(socket)["type"] == "welcome"
            with connect(served.address) as second:
                assert hear(second) == {
                    "type": "error",
                    "message": "Another client is served. Try again when it has left.",
                    "closing": True,
                }
                with pytest.raises(ConnectionClosed) as closed:
                    second.recv(timeout=PATIENCE)
                assert closed.value.rcvd.code == 1013
            for n in range(45):
                socket.send(json.dumps(poses(n / 60)))
            # On a busy machine some are left out, but none is late.
            while (frame := hear(socket))["time"] < 14 / 60 - 1e-6:
                assert frame["type"] == "frame"
    assert frame["counts"]["restarts"] == 1


def test_mistakes_are_told_and_end_what_cannot_go_on(served):
    with connect(served.address) as socket:
        assert greeted(socket, axes="sideways")["closing"] is True
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1008
    with connect(served.address) as socket:
        greeted(socket)
        socket.send("{}")
        assert "cannot be used" in hear(socket)["message"]
        socket.send(" " * (LARGEST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/other", {}, 404),
        ("/", {"Origin": "https://example.org"}, 403),
        ("/", {"Origin": "null"}, 403),
        ("/", {"Origin": "http://127.0.0.1.example.org"}, 403),
        ("/", {"Origin": "http://[::1"}, 403),
    ],
)
def test_other_sites_are_refused(served, path, headers, status):
    with pytest.raises(InvalidStatus) as refused:
        connect(served.address + path, additional_headers=headers)
    assert refused.value.response.status_code == status


def test_pages_of_this_machine_are_let_in(served):
    with connect(served.address, origin="http://localhost:5173") as socket:
        assert greeted(socket)["type"] == "welcome"


def test_names_that_were_made_to_point_here_are_refused(served):
    import socket

    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as plain:
        plain.sendall(
            b"GET / HTTP/1.1\r\nHost: rebound.example.org\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert b"403" in plain.recv(1000).split(b"\r\n")[0]


def test_a_client_is_told_that_the_server_goes_away(stage):
    served = Served(stage)
    with connect(served.address) as socket:
        greeted(socket)
        served.end()
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1001


def test_a_server_that_is_stopped_before_it_runs_ends_at_once(stage):
    server = LiveServer(stage)
    server.stop_soon()
    asyncio.run(asyncio.wait_for(server.run(listen(0)), PATIENCE))


def test_a_port_that_is_taken_is_told():
    with (
        listen(0) as taken,
        pytest.raises(InvalidValueError, match="Choose another with --port"),
    ):
        listen(taken.getsockname()[1])


class FakeClient:
    """The end of a line that is read from only when it is told to."""

    def __init__(self, messages) -> None:
        self.coming = list(messages)
        self.sent, self.closed = [], None
        self.reads = asyncio.Event()
        self.reads.set()

    async def recv(self):
        await asyncio.sleep(0)
        if not self.coming:
            await asyncio.Event().wait()
        return json.dumps(self.coming.pop(0))

    async def send(self, text):
        message = json.loads(text)
        if message["type"] == "frame":
            await self.reads.wait()
        self.sent.append(message)

    async def close(self, code, reason):
        self.closed = code


def run_line(stage, client, until):
    """Runs a line until something is so."""

    async def run():
        task = asyncio.create_task(Line(client, stage).run())
        while not until() and not task.done():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_a_client_that_does_not_read_makes_nothing_grow(stage):
    client = FakeClient([HELLO, *(poses(n / 60) for n in range(120))])
    client.reads.clear()
    model = stage._model

    def until():
        # When all frames are computed, the client begins to read.
        if len(model.views) >= 90:
            client.reads.set()
        return any(m["type"] == "frame" and m["time"] > 1.48 for m in client.sent)

    run_line(stage, client, until)
    frames = [message for message in client.sent if message["type"] == "frame"]
    # One was on its way, the newest few waited, all between them were dropped.
    assert len(frames) == MOST_UNSENT + 1
    assert frames[0]["time"] == 0.0
    assert [round(60 * frame["time"]) for frame in frames[1:]] == list(range(82, 90))
    # It does not know yet of the one that it takes the place of.
    assert frames[-1]["counts"]["unsent"] == 90 - len(frames) - 1


@pytest.mark.parametrize("messages", [[], [HELLO]])
def test_who_says_nothing_makes_room(stage, monkeypatch, messages):
    monkeypatch.setattr(server_module, "HELLO_WITHIN", 0.01)
    monkeypatch.setattr(server_module, "IDLE_AFTER", 0.01)
    client = FakeClient(messages)
    run_line(stage, client, lambda: False)
    assert client.closed == 1008
    assert "Nothing came for 0.01 s" in client.sent[-1]["message"]


def test_frames_that_are_overdue_come_without_a_message(stage):
    client = FakeClient([HELLO, *(poses(n / 60) for n in range(31))])
    run_line(stage, client, lambda: len(client.sent) > 5)
    frames = [message for message in client.sent if message["type"] == "frame"]
    assert frames[0]["time"] == 0.0
    assert len(frames) >= 5


def test_a_fault_of_the_model_ends_the_line_and_is_not_hidden(stage):
    class Faulty(ClosingFingers):
        def step(self, views, before):
            raise ZeroDivisionError

    stage._model = Faulty()
    client = FakeClient([HELLO, *(poses(n / 60) for n in range(40))])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(Line(client, stage).run())
