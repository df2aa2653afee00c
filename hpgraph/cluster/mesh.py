"""The connections of one block to the blocks of its row and its column, and the exchange of messages over them.

Plain TCP between workers, in the thread of the run: a superstep of a road network sends only a few bytes, so latency
matters. Sending and receiving are interleaved, so that no two blocks wait for each other with full buffers.
"""

from __future__ import annotations

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
    """Connections of a block to its peers.

    Attributes
    ----------
    sent : int
        Bytes sent so far, including headers.
    """

    def __init__(
        self, listener: Listener, token: bytes, block: int, peers: dict[int, tuple[str, int]], limits: Limits
    ) -> None:
        self._station, self._token, self._limits = listener, token, limits
        self.block, self.sent = block, 0
        self._sockets: dict[int, socket.socket] = {}
        try:
            # The lower number connects, the higher accepts.
            for peer in sorted(peers):
                if peer > block:
                    self._add(peer, listener.call(peers[peer], token, block, peer, limits.connect))
            for peer in sorted(peers):
                if peer < block:
                    self._add(peer, listener.take(token, block, peer, limits.connect))
        except BaseException:
            self.close()
            raise

    def _add(self, peer: int, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        self._sockets[peer] = connection

    def exchange(self, outgoing: dict[int, list[Any]], receivers: dict[int, Receiver]) -> None:
        """Send a message to some peers and receive one from each of some."""
        waiting: dict[int, tuple[int, _Sending | None, _Receiving | None]] = {}
        poll = select.poll()
        for peer in {*outgoing, *receivers}:
            connection = self._sockets[peer]
            sending = _Sending(outgoing[peer]) if peer in outgoing else None
            if sending is not None:
                self.sent += sum(len(buffer) for buffer in outgoing[peer])
                sending = self._send(peer, connection, sending)
            receiving = _Receiving(receivers[peer]) if peer in receivers else None
            if sending or receiving:
                waiting[connection.fileno()] = peer, sending, receiving
                poll.register(connection, _events(sending, receiving))
        seconds = self._limits.exchange
        deadline = time.monotonic() + seconds
        while waiting:
            ready = poll.poll(max(deadline - time.monotonic(), 0) * 1000)
            if not ready:
                names = ", ".join(str(peer) for peer, _, _ in waiting.values())
                raise ClusterTimeoutError("exchange", seconds, f"a message of block {names}")
            deadline = time.monotonic() + seconds
            for number, event in ready:
                peer, sending, receiving = waiting[number]
                connection = self._sockets[peer]
                if receiving is not None and event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                    receiving = self._receive(peer, connection, receiving)
                if sending is not None and event & (select.POLLOUT | select.POLLHUP | select.POLLERR):
                    sending = self._send(peer, connection, sending)
                if sending is None and receiving is None:
                    poll.unregister(number)
                    del waiting[number]
                else:
                    waiting[number] = peer, sending, receiving
                    poll.modify(number, _events(sending, receiving))

    def _send(self, peer: int, connection: socket.socket, sending: _Sending) -> _Sending | None:
        try:
            while sending.left:
                sending.advance(connection.sendmsg(sending.left[:_TOGETHER]))
        except BlockingIOError:
            return sending
        except OSError as error:
            raise PeerLostError(peer, f"its connection ended ({error.strerror or error})") from None
        return None

    def _receive(self, peer: int, connection: socket.socket, receiving: _Receiving) -> _Receiving | None:
        try:
            while receiving.left:
                got = connection.recv_into(receiving.left[0])
                if got == 0:
                    raise PeerLostError(peer, "its connection ended")
                receiving.advance(got)
        except BlockingIOError:
            return receiving
        except OSError as error:
            raise PeerLostError(peer, f"its connection ended ({error.strerror or error})") from None
        return None

    def close(self) -> None:
        """Close all connections: blocks that wait for this one leave, too."""
        self._station.leave(self._token)
        for connection in self._sockets.values():
            connection.close()
        self._sockets.clear()


def _events(sending: _Sending | None, receiving: _Receiving | None) -> int:
    return (select.POLLOUT if sending else 0) | (select.POLLIN if receiving else 0)


class _Sending:
    """The rest of a message that is being sent."""

    def __init__(self, buffers: list[Any]) -> None:
        self.left = [memoryview(buffer) for buffer in buffers]

    def advance(self, count: int) -> None:
        while count and count >= len(self.left[0]):
            count -= len(self.left.pop(0))
        if count:
            self.left[0] = self.left[0][count:]


class _Receiving:
    """The rest of a message that is being received: its header, then its arrays."""

    def __init__(self, receiver: Receiver) -> None:
        self._header = bytearray(HEADER_BYTES)
        self._receiver: Receiver | None = receiver
        self.left = [memoryview(self._header)]

    def advance(self, count: int) -> None:
        if count < len(self.left[0]):
            self.left[0] = self.left[0][count:]
            return
        del self.left[0]
        if self._receiver is not None and not self.left:
            receiver, self._receiver = self._receiver, None
            self.left = [memoryview(b).cast("B") for b in receiver(parsed(bytes(self._header))) if len(b)]
