"""The connections of one block to the blocks of its row and its column, and the exchange of messages over them.

Plain TCP between workers, in the thread of the run: a superstep of a road network sends only a few bytes, so latency
matters. Sending and receiving are interleaved, so that no two blocks wait for each other with full buffers.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable
from typing import Any

from hpgraph.cluster.errors import ClusterTimeoutError, PeerLostError
from hpgraph.cluster.limits import Limits
from hpgraph.cluster.listener import Listener
from hpgraph.cluster.messages import HEADER_BYTES, Header, parsed

# Returns the arrays that receive a message, or raises to refuse it.
Receiver = Callable[[Header], list[Any]]
# Maximum number of buffers of one call (IOV_MAX of Linux is 1024).
_TOGETHER = 64


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
        waiting: dict[int, _Transfer] = {}
        poll = select.poll()
        for peer in {*outgoing, *receivers}:
            connection = self._sockets[peer]
            transfer = _Transfer(peer, connection, outgoing.get(peer, []), receivers.get(peer))
            transfer.go_on(select.POLLOUT)
            if transfer.events:
                waiting[connection.fileno()] = transfer
                poll.register(connection, transfer.events)
        seconds = self._limits.exchange
        deadline = time.monotonic() + seconds
        while waiting:
            ready = poll.poll(max(deadline - time.monotonic(), 0) * 1000)
            if not ready:
                names = ", ".join(str(transfer.peer) for transfer in waiting.values())
                raise ClusterTimeoutError("exchange", seconds, f"a message of block {names}")
            deadline = time.monotonic() + seconds
            for number, event in ready:
                transfer = waiting[number]
                transfer.go_on(event)
                if transfer.events:
                    poll.modify(number, transfer.events)
                else:
                    poll.unregister(number)
                    del waiting[number]

    def close(self) -> None:
        """Close all connections: blocks that wait for this one leave, too."""
        self._listener.leave(self._token)
        for connection in self._sockets.values():
            connection.close()
        self._sockets.clear()


class _Transfer:
    """The rest of the message to a peer, and of the one from it: its header, then its arrays."""

    def __init__(
        self, peer: int, connection: socket.socket, buffers: list[Any], receiver: Receiver | None
    ) -> None:
        self.peer, self._connection, self._receiver = peer, connection, receiver
        self._outgoing = [memoryview(buffer) for buffer in buffers]
        self._header = bytearray(HEADER_BYTES)
        self._incoming = [] if receiver is None else [memoryview(self._header)]

    @property
    def events(self) -> int:
        """The events that it waits for; 0 at the end."""
        return (select.POLLOUT if self._outgoing else 0) | (select.POLLIN if self._incoming else 0)

    def go_on(self, event: int) -> None:
        """Receive and send what is possible without waiting."""
        try:
            if event & ~select.POLLOUT:
                self._receive()
            if event & ~select.POLLIN:
                self._send()
        except OSError as error:
            raise PeerLostError(self.peer, f"its connection ended ({error.strerror or error})") from None

    def _send(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._outgoing:
                _remove(self._outgoing, self._connection.sendmsg(self._outgoing[:_TOGETHER]))

    def _receive(self) -> None:
        with contextlib.suppress(BlockingIOError):
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
