"""The connections of one block to the blocks of its row and its column, and the exchange of messages over them.

Sockets between workers, in the thread of the run: a superstep of a road network sends only a few bytes, so latency
matters. Sending and receiving are interleaved, so that no two blocks wait for each other with full buffers.
"""

import contextlib
import selectors
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

from hpgraph.cluster.errors import ClusterTimeoutError, Limits, PeerLostError
from hpgraph.cluster.listener import Listener
from hpgraph.cluster.messages import HEADER_BYTES, Header, parsed

# Returns the arrays that receive a message, or raises to refuse it.
Receiver = Callable[[Header], list[Any]]
# Maximum number of buffers of one call (IOV_MAX of Linux is 1024).
_MAX_BUFFERS = 64
# If one call sends one buffer, messages of up to this many bytes are joined: the maximum of a TLS record.
_JOINED = 16384
_WRITE, _READ = selectors.EVENT_WRITE, selectors.EVENT_READ
# Raised by a call that would block.
_WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
# A selector without a file descriptor of its own, since every exchange creates one.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class Mesh:
    """Connections of a block to its peers; ``sent``: bytes sent so far, including headers."""

    def __init__(
        self, listener: Listener, token: bytes, block: int, peers: dict[int, tuple[str, int]], limits: Limits
    ) -> None:
        self._listener, self._token, self._limits, self.sent = listener, token, limits, 0
        self._sockets: dict[int, socket.socket] = {}
        try:
            # The lower number connects, the higher accepts.
            for peer in sorted(peers, key=lambda peer: (peer < block, peer)):
                if peer > block:
                    connection = listener.call(peers[peer], token, block, peer, limits.connect)
                else:
                    connection = listener.take(token, block, peer, limits.connect)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.setblocking(False)
                self._sockets[peer] = connection
        except BaseException:
            self.close()
            raise

    def exchange(self, outgoing: dict[int, list[Any]], receivers: dict[int, Receiver]) -> None:
        """Send a message to some peers and receive one from each of some."""
        self.sent += sum(len(buffer) for buffers in outgoing.values() for buffer in buffers)
        with _Selector() as waiting:
            for peer in {*outgoing, *receivers}:
                transfer = _Transfer(peer, self._sockets[peer], outgoing.get(peer, []), receivers.get(peer))
                transfer.begin()
                if transfer.events:
                    waiting.register(self._sockets[peer], transfer.events, transfer)
            seconds = self._limits.exchange
            deadline = time.monotonic() + seconds
            while waiting.get_map():
                ready = waiting.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    names = ", ".join(str(key.data.peer) for key in waiting.get_map().values())
                    raise ClusterTimeoutError("exchange", seconds, f"a message of block {names}")
                deadline = time.monotonic() + seconds
                for key, event in ready:
                    key.data.go_on(event)
                    if not key.data.events:
                        waiting.unregister(key.fileobj)
                    elif key.data.events != key.events:
                        waiting.modify(key.fileobj, key.data.events, key.data)

    def close(self) -> None:
        """Close all connections, which ends the run of blocks that wait for this one."""
        self._listener.leave(self._token)
        for connection in self._sockets.values():
            connection.close()
        self._sockets.clear()


class _Transfer:
    """The unsent rest of the message to a peer, and the missing rest of the one from it: header, then arrays."""

    def __init__(self, peer: int, connection: socket.socket, buffers: list[Any], receiver: Receiver | None) -> None:
        self.peer, self._connection, self._receiver = peer, connection, receiver
        self._encrypted = isinstance(connection, ssl.SSLSocket)
        self._one_by_one = self._encrypted or not hasattr(connection, "sendmsg")
        if self._one_by_one and sum(map(len, buffers)) <= _JOINED:
            buffers = [b"".join(buffers)] if buffers else []
        self._outgoing = [memoryview(buffer) for buffer in buffers]
        self._header = bytearray(HEADER_BYTES)
        self._incoming = [] if receiver is None else [memoryview(self._header)]

    @property
    def events(self) -> int:
        """The events to wait for; 0 at the end."""
        return (_WRITE if self._outgoing else 0) | (_READ if self._incoming else 0)

    def begin(self) -> None:
        """Send as much as possible, and receive data already decrypted with the last message, which raises no event."""
        self.go_on(_WRITE | (_READ if self._encrypted else 0))

    def go_on(self, event: int) -> None:
        """Receive and send as much as possible without blocking."""
        try:
            if event & _READ:
                self._receive()
            if event & _WRITE:
                self._send()
        except OSError as error:
            raise PeerLostError(self.peer, f"its connection ended ({error.strerror or error})") from None

    def _send(self) -> None:
        with contextlib.suppress(*_WOULD_BLOCK):
            while self._outgoing:
                count = (
                    self._connection.send(self._outgoing[0]) if self._one_by_one
                    else self._connection.sendmsg(self._outgoing[:_MAX_BUFFERS])
                )  # fmt: skip
                _remove(self._outgoing, count)

    def _receive(self) -> None:
        with contextlib.suppress(*_WOULD_BLOCK):
            while self._incoming:
                count = self._connection.recv_into(self._incoming[0])
                if count == 0:
                    raise PeerLostError(self.peer, "its connection ended")
                _remove(self._incoming, count)
                if not self._incoming and self._receiver is not None:
                    arrays = self._receiver(parsed(bytes(self._header)))
                    self._receiver, self._incoming = None, [memoryview(b).cast("B") for b in arrays if len(b)]


def _remove(buffers: list[memoryview], count: int) -> None:
    """Remove bytes from the front of buffers."""
    while count and count >= len(buffers[0]):
        count -= len(buffers.pop(0))
    if count:
        buffers[0] = buffers[0][count:]
