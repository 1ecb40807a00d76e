"""What ``handwright studio`` does: serves a folder of clips until it is interrupted."""

from __future__ import annotations

import socket
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from handwright.errors import require
from handwright.listening import listening_socket
from handwright.studio.library.folder import Folder

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

DEFAULT_PORT = 8642
_NUM_PORTS = 20
# How late a page may answer that it is there, s: one that draws by software on a busy machine is
# slow, not gone.
_PATIENCE = 180.0


def serve(
    root: Path,
    listener: socket.socket,
    *,
    host: str,
    opens_browser: bool,
    jobs_at_once: int | None,
    fingers: str,
) -> None:
    """Serves until it is interrupted.

    Args:
        root: Folder of clips.
        listener: From ``listen``.
        host: Address that it listens on.
        opens_browser: Whether to show the page at once.
        jobs_at_once: Processes that do jobs; half the cores if None.
        fingers: Folder of the network for learned fingers, or ``shipped``.
    """
    import uvicorn

    from handwright.studio.server.app import make_app
    from handwright.studio.server.guard import Access

    access = Access.of(host)
    folder = Folder(root.resolve())
    app = make_app(folder, access, jobs_at_once=jobs_at_once, fingers=fingers)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, ws="websockets-sansio",
        timeout_graceful_shutdown=2, server_header=False, ws_max_size=1 << 20,
        ws_ping_timeout=_PATIENCE,
    )  # fmt: skip
    address = page_address(host, listener.getsockname()[1], access.token)
    print(f"The studio shows {root} at {address} (Ctrl-C ends it).", flush=True)  # noqa: T201
    if opens_browser:
        threading.Timer(1.0, webbrowser.open, (address,)).start()
    _server(config, app).run(sockets=[listener])


def _server(config: uvicorn.Config, app: FastAPI) -> uvicorn.Server:
    """A server that lets pages go before it ends; uvicorn alone would cut them off, loudly."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.studio.let_go()
            await super().shutdown(sockets)

    return Server(config)


def page_address(host: str, port: int, token: str | None) -> str:
    """The address to open."""
    shown = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    name = f"[{shown}]" if ":" in shown else shown
    end = "" if token is None else f"?token={quote(token)}"
    return f"http://{name}:{port}/{end}"


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; says what is wrong with the address if it cannot.

    Args:
        host: Address to listen on.
        port: To listen on; the first free one from ``DEFAULT_PORT`` on if None.
    """
    for module in ("fastapi", "uvicorn", "websockets"):
        require(module, extra="studio", feature="'handwright studio'")
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _NUM_PORTS) if port is None else [port]
    return listening_socket(host, ports, remedy="Choose another with --port or --host.")
