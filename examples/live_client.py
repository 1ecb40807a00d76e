"""A client of 'handwright live': a cup is reached for, lifted and turned, and gets fingers.

Needs the package websockets and nothing else; the motion stands for that of a tracker.
First, in another window: handwright live --object mug sphere
Run: python examples/live_client.py [ADDRESS] [SECONDS]
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

from websockets.sync.client import ClientConnection, connect

ADDRESS = "ws://127.0.0.1:8765"
RATE = 60.0
HELLO = {"type": "hello", "protocol": 1, "axes": "z_up", "hands": ["right"]}
# The OpenXR wrist with -z to the fingers (ahead, +y), y out of the back of the hand (right, +x).
WRIST_TURN = [0.5, 0.5, -0.5, 0.5]


def poses(moment: float) -> dict[str, Any]:
    """What a tracker would see at a moment, s: poses in a world with Z up, m."""
    reach = 0.5 - 0.5 * math.cos(math.pi * min(moment, 1.5) / 1.5)
    lift = 0.5 - 0.5 * math.cos(math.pi * min(max(moment - 2.0, 0.0), 1.0))
    sway = lift * math.sin(2.0 * math.pi * 0.5 * moment)
    cup = [0.1 * sway, 0.3, 0.85 + 0.15 * lift]
    away = 0.25 * (1.0 - reach)
    wrist = [cup[0] + 0.06 + away, cup[1] - 0.09 - away, cup[2]]
    return {
        "type": "poses",
        "time": moment,
        "wrists": {"right": {"position": wrist, "xyzw": WRIST_TURN}},
        "object": {"position": cup, "xyzw": [0.0, 0.0, 0.0, 1.0]},
    }


def hear(socket: ClientConnection) -> list[dict[str, Any]]:
    """All messages that have come."""
    heard: list[dict[str, Any]] = []
    while True:
        try:
            heard.append(json.loads(socket.recv(timeout=0)))
        except TimeoutError:
            return heard


def main(address: str = ADDRESS, seconds: float = 10.0) -> list[dict[str, Any]]:
    """Sends the motion at 60 frames a second, prints and returns the frames that come back."""
    frames: list[dict[str, Any]] = []
    with connect(address) as socket:
        socket.send(json.dumps(HELLO))
        welcome = json.loads(socket.recv())
        if welcome["type"] == "error":
            raise SystemExit(welcome["message"])
        objects = welcome["objects"]
        print(f"{welcome['server']}: {', '.join(objects)}; {welcome['delay']:.2f} s behind")
        begin = time.monotonic()
        for number in range(int(seconds * RATE)):
            time.sleep(max(begin + number / RATE - time.monotonic(), 0.0))
            socket.send(json.dumps(poses(number / RATE)))
            if number % 300 == 299:
                name = objects[(number // 300 + 1) % len(objects)]
                socket.send(json.dumps({"type": "swap", "object": name}))
            for message in hear(socket):
                if message["type"] == "frame":
                    frames.append(message)
                    if len(frames) % 30 == 1:
                        show(message)
                else:
                    print(message)
    return frames


def show(frame: dict[str, Any]) -> None:
    """Prints one frame."""
    hand = frame["hands"]["right"]
    tip = ", ".join(f"{x:.3f}" for x in hand["joints"]["index_tip"]["position"])
    counts = {name: count for name, count in frame["counts"].items() if count}
    touching = " ".join(hand["touching"]) or "nothing"
    print(f"{frame['time']:6.2f} s  index tip ({tip}) m  touching {touching}  {counts}")


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else ADDRESS
    main(chosen, float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
