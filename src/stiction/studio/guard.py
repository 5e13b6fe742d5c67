"""Who may talk to the studio: its own pages, and nobody who sends it files.

A page of any web site that is open in the same browser can reach a server on this machine. It says
where it comes from, in the header Origin, which must name the server itself; and the name under
which the server was asked for (Host) must be this machine's own, or a foreign name could be made to
point here. viser asks for neither.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_BYTES = 2**20  # of one message of a browser: sliders and clicks


@contextlib.contextmanager
def only_own_pages(*, local: bool) -> Iterator[None]:
    """Servers that are started in the block refuse requests of foreign pages.

    Args:
        local: Whether they serve this machine alone.
    """
    from websockets.asyncio import server

    serve = server.serve

    def guarded(*args: Any, process_request: Callable | None = None, **kwargs: Any) -> Any:
        def check(connection: Any, request: Any) -> Any:
            if not is_own(request.headers.get("Host"), request.headers.get("Origin"), local=local):
                return connection.respond(403, "this page is none of the studio's\n")
            return None if process_request is None else process_request(connection, request)

        return serve(*args, process_request=check, **kwargs | {"max_size": MOST_BYTES})

    server.serve = guarded  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        server.serve = serve  # type: ignore[misc]


def is_own(host: str | None, origin: str | None, *, local: bool) -> bool:
    """Whether a request is one of a page of the server itself, or of no page."""
    try:
        name = urlsplit(f"//{host or ''}").hostname
        own = origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False
    return own and (not local or name in LOOPBACK)


def take_no_uploads(client: Any) -> None:
    """Drop files that a browser sends, which viser would keep whether asked for or not."""
    from viser import _messages

    for message in (_messages.FileTransferStartUpload, _messages.FileTransferPart):
        with contextlib.suppress(AssertionError):  # there is no handler
            client.gui._websock_interface.unregister_handler(message)
