"""The server: one bench for each browser, on this machine alone unless told otherwise."""

import contextlib
import hmac
import io
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stiction._base.errors import InputError, RunError
from stiction.engines import Trajectory
from stiction.scenes import Scene
from stiction.studio.guard import LOOPBACK, only_own_pages, take_no_uploads

if TYPE_CHECKING:
    import viser


def _quiet() -> contextlib.AbstractContextManager:
    """viser prints a table of addresses when it begins, and when it ends that it did."""
    return contextlib.redirect_stdout(io.StringIO())


class Studio:
    """A studio that is being served.

    Attributes:
        address: Where a browser finds it.
        token: What a browser must give first; None on this machine alone.
    """

    def __init__(self, server: "viser.ViserServer", address: str, token: str | None):
        self.address, self.token = address, token
        self._server = server

    def stop(self) -> None:
        """End it."""
        with _quiet():
            self._server.stop()


@contextlib.contextmanager
def start_studio(
    scene: Scene,
    run: Trajectory | None = None,
    *,
    ghosts: dict[str, Trajectory] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> Iterator[Studio]:
    """Serve a scene; the studio ends with the block.

    Args:
        scene: What is on the bench of every browser at first.
        run: Its run, if there is one.
        ghosts: Other runs to compare with, by their names.
        host: Address to listen on. Others than this machine's own need a token, which is made.
        port: Port, or the next that is free.
    """
    try:
        import mjviser  # noqa: F401
        import viser
    except ImportError as error:
        raise InputError(
            f"the studio needs {error.name}; install it: pip install 'stiction[studio]'"
        ) from None
    from stiction.studio.bench import Bench
    from stiction.studio.controls import Controls

    first = Bench(scene, run)  # a scene that does not run fails here, before anything is served
    try:
        socket.getaddrinfo(host, port)
        with only_own_pages(local=host in LOOPBACK), _quiet():
            server = viser.ViserServer(host=host, port=port, label="stiction", verbose=False)
    except OSError as error:
        raise RunError(f"`--host` {host} cannot be listened on ({error}); choose another") from None
    token = None if host in LOOPBACK else secrets.token_urlsafe(12)
    open_ones: dict[int, Any] = {}
    lock = threading.Lock()

    def begin(client: "viser.ClientHandle") -> None:
        bench = Bench(scene, first.run)
        bench.ghosts = dict(ghosts or {})
        with lock:
            open_ones[client.client_id] = Controls(client, bench)

    @server.on_client_connect
    def _(client: "viser.ClientHandle") -> None:
        take_no_uploads(client)
        client.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        if token is None:
            begin(client)
        else:
            ask_token(client, token, begin)

    @server.on_client_disconnect
    def _(client: "viser.ClientHandle") -> None:
        with lock:
            controls = open_ones.pop(client.client_id, None)
        if controls is not None:
            controls.close()

    studio = Studio(server, f"http://{host}:{server.get_port()}", token)
    try:
        yield studio
    finally:
        for controls in list(open_ones.values()):
            controls.close()
        studio.stop()


def ask_token(client: Any, token: str, begin: Any) -> None:
    """Show nothing until the browser has given the token."""
    field = client.gui.add_text("token", "")
    wrong = client.gui.add_markdown("The token stands in the terminal that started the studio.")

    def check(_) -> None:
        if hmac.compare_digest(str(field.value).strip().encode(), token.encode()):
            client.gui.reset()
            begin(client)
        else:
            wrong.content = "**Not the token.** It stands in the terminal."

    client.gui.add_button("Enter").on_click(check)
