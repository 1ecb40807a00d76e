from __future__ import annotations

import asyncio

import httpx
import pytest

from handwright.listening import is_loopback
from handwright.studio.library.folder import Folder
from handwright.studio.server.app import make_app
from handwright.studio.server.guard import Access
from handwright.studio.server.serving import page_address
from handwright.studio.uploads.files import MAX_BYTES


class Asked:
    """An application without a server around it."""

    def __init__(self, app) -> None:
        self._app = app

    def get(self, path: str, **options) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            base = "http://192.0.2.7:8642"
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                return await client.get(path, **options)

        return asyncio.run(ask())

    def connect(self, query: str, headers: dict[str, str]) -> list[dict]:
        """What a websocket is told."""
        sent = []
        listed = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "websocket", "path": "/api/live", "raw_path": b"/api/live", "scheme": "ws",
            "query_string": query.encode(), "subprotocols": [], "app": self._app,
            "headers": [(b"host", b"192.0.2.7:8642"), *listed],
        }  # fmt: skip

        async def receive() -> dict:
            return {"type": "websocket.connect"}

        async def send(message: dict) -> None:
            sent.append(message)

        asyncio.run(self._app(scope, receive, send))
        return sent


@pytest.fixture
def remote(tmp_path):
    """A server on another address than loopback; nothing behind the guard is started."""
    access = Access.of("192.0.2.7")
    return access, Asked(make_app(Folder(tmp_path), access))


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/..%2f..%2fpyproject.toml",
        "/assets/../../../../pyproject.toml",
        "/assets/..%2f..%2f..%2f__init__.py",
        "/%2e%2e/%2e%2e/messages.py",
        "//etc/passwd",
        "/built-from.txt/../../messages.py",
        "/api/clips/..%2f..%2fetc%2fpasswd",
        "/api/clips/..%2Fball_0.npz/model.glb",
        "/api/scenes/..%2f..%2fetc%2fpasswd/model.glb",
        "/api/live/..%2f..%2fx/model.glb",
        "/api/jobs/..%2f..",
    ],
)
def test_no_path_leads_out_of_the_folder(served, path):
    answer = served.client.get(served.url + path)
    assert answer.status_code in (404, 422)
    assert "message" in answer.json()
    assert b"root:" not in answer.content


def test_links_that_lead_out_of_the_folder_are_not_shown(served, tmp_path):
    outside = tmp_path / "secret.npz"
    outside.write_bytes((served.root / "ball_0.npz").read_bytes())
    link = served.root / "link.npz"
    link.symlink_to(outside)
    try:
        assert "link.npz" not in {found.file for found in Folder(served.root.resolve()).listed()}
    finally:
        link.unlink()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
    ],
)
def test_pages_of_other_sites_are_refused(served, headers):
    body = {"scene": "milk_box_turn", "method": "scripted"}
    before = len(served.get("/api/jobs").json())
    answer = served.client.post("/api/jobs", json=body, headers=headers)
    assert answer.status_code == 403
    assert "may not use this server" in answer.json()["message"]
    assert len(served.get("/api/jobs").json()) == before


def test_a_name_that_was_made_to_point_here_is_refused(served):
    answer = served.get("/api/clips", headers={"Host": f"rebound.example:{served.port}"})
    assert answer.status_code == 403
    assert "rebound.example" in answer.json()["message"]


def test_own_pages_are_welcome(served):
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{served.port}"
        headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        answer = served.client.put("/api/clips/none/favourite", json={"is_favourite": True},
                                   headers=headers)  # fmt: skip
        assert answer.status_code == 404


def test_the_page_is_kept_to_itself(served):
    headers = served.get("/api/about").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("wrong", [None, "", "guessed", "\u00e9"])
def test_without_the_token_nothing_is_answered(remote, wrong):
    _, client = remote
    params = {} if wrong is None else {"token": wrong}
    for path in ("/", "/api/about", "/api/clips", "/openapi.json", "/api/events"):
        answer = client.get(path, params=params)
        assert answer.status_code == 401
        assert "token" in answer.json()["message"]
        assert "set-cookie" not in answer.headers
    for headers in ({"Cookie": f"handwright_token={wrong}"}, {"Authorization": f"Bearer {wrong}"}):
        encoded = {name: value.encode() for name, value in headers.items()}
        assert client.get("/openapi.json", headers=encoded).status_code == 401


def test_the_token_of_the_address_becomes_a_cookie(remote):
    access, client = remote
    answer = client.get("/", params={"token": access.token})
    assert answer.status_code in (200, 503)  # 503 where the page is not built
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    kept = {"Cookie": cookie.partition(";")[0]}
    assert client.get("/openapi.json", headers=kept).status_code == 200
    bearer = {"Authorization": f"Bearer {access.token}"}
    assert client.get("/openapi.json", headers=bearer).status_code == 200


def test_websockets_are_guarded_too(remote):
    access, client = remote
    good = f"token={access.token}"
    for query, origin in (("", "http://192.0.2.7:8642"), (good, "http://evil.example")):
        sent = client.connect(query, {"Origin": origin})
        assert [message["type"] for message in sent] == ["websocket.close"]


def test_only_other_addresses_than_loopback_have_a_token():
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert Access.of("127.0.0.1").token is None
    first, second = Access.of("0.0.0.0").token, Access.of("0.0.0.0").token
    assert first
    assert first != second
    assert page_address("192.0.2.7", 8642, "a_b") == "http://192.0.2.7:8642/?token=a_b"


def test_an_oversized_upload_is_refused(served):
    answer = served.client.post(
        "/api/uploads", params={"name": "big.stl"}, content=(b"\0" * 2**20 for _ in range(65))
    )
    assert MAX_BYTES == 64 * 2**20
    assert answer.status_code == 413
    assert "64 MB" in answer.json()["message"]
