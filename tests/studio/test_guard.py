"""The studio talks to its own pages alone, takes no files, and shows none but its own."""

import http.client
import threading

import pytest

import stiction
from stiction.studio.guard import MOST_BYTES, is_own

pytest.importorskip("viser")
pytest.importorskip("mjviser")


@pytest.fixture(scope="module")
def address():
    from stiction.studio import start_studio

    scene = stiction.scene("bouncing-ball", until=0.3, samples=11)
    with start_studio(scene, port=8941) as studio:
        assert studio.token is None
        yield studio.address.removeprefix("http://")


def get(address: str, path: str = "/", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    return response.status, response.read()


UPGRADE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


def test_its_own_page_is_served(address):
    status, page = get(address)
    assert status == 200
    assert b"<html" in page.lower()


@pytest.mark.parametrize("upgrade", [{}, UPGRADE])
def test_foreign_pages_are_refused(address, upgrade):
    """Plain requests, and the sockets over which everything else goes."""
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"},
                    {"Origin": "null"}, {"Origin": f"http://{address}.evil.example"}):  # fmt: skip
        assert get(address, **headers, **upgrade)[0] == 403, headers


def test_a_socket_of_its_own_page_is_taken_and_of_others_not(address):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    with connect(f"ws://{address}", origin=f"http://{address}", subprotocols=["viser-v1"]):
        pass
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{address}", origin="https://evil.example")


def test_messages_without_end_close_the_connection(address):
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    def send_and_wait(socket):
        socket.send(b"x" * (MOST_BYTES + 1))
        for _ in range(200):
            socket.recv(timeout=5)

    open_one = connect(f"ws://{address}", origin=f"http://{address}")
    with open_one as socket, pytest.raises(ConnectionClosed):
        send_and_wait(socket)


@pytest.mark.parametrize(
    "path", ["/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
             "/..%2f..%2f..%2fetc%2fpasswd", "/assets/../../../../../../etc/passwd"]
)  # fmt: skip
def test_no_path_leads_outside(address, path):
    status, content = get(address, path)
    assert status != 200 or b"<html" in content.lower()
    assert b"root:" not in content


def test_uploads_are_dropped(address):
    """viser keeps what a browser sends, whether there is a field for it or not."""
    from viser import _messages

    from stiction.studio.guard import take_no_uploads

    class Interface:
        dropped: list = []

        def unregister_handler(self, message):
            self.dropped.append(message)

    class Client:
        class gui:
            _websock_interface = Interface()

    take_no_uploads(Client)
    assert set(Interface.dropped) == {_messages.FileTransferStartUpload, _messages.FileTransferPart}


@pytest.mark.parametrize(
    ("host", "origin", "local", "own"),
    [
        ("localhost:8080", None, True, True),
        ("localhost:8080", "http://localhost:8080", True, True),
        ("[::1]:8080", "http://[::1]:8080", True, True),
        ("localhost:8080", "http://localhost:9090", True, False),
        ("rebound.example:8080", "http://rebound.example:8080", True, False),
        ("lab.example:8080", "http://lab.example:8080", False, True),
        ("lab.example:8080", "http://evil.example", False, False),
        (None, None, True, False),
        ("[", None, True, False),
    ],
)
def test_who_is_own(host, origin, local, own):
    assert is_own(host, origin, local=local) is own


def test_many_requests_at_once_are_answered(address):
    found = []
    threads = [threading.Thread(target=lambda: found.append(get(address)[0])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * 20


def test_nothing_is_printed_but_what_the_command_says(capsys):
    """viser has a table of addresses, which would stand before the object of --json."""
    from stiction.studio import start_studio

    with start_studio(stiction.scene("bouncing-ball", until=0.3, samples=11), port=8951):
        pass
    assert capsys.readouterr().out == ""
