"""TCP listener, one a process, to which the other workers of a run connect; over TLS if the cluster's protocol is that.

A connection begins with the token of its run, 16 random bytes that the client sends to workers through Dask. A
connection without a known token is closed. Over TLS both sides show the certificates that Dask gave the workers.
"""

import contextlib
import socket
import ssl
import struct
import threading
import time
from typing import Any, NamedTuple

from hpgraph.cluster.errors import ClusterError, ClusterTimeoutError, PeerLostError

_HELLO = struct.Struct("<4s16sII")
_MAGIC = b"hpgS"
# Seconds after which a connection without a token, or one that no run claims, is closed.
_HELLO_SECONDS, _WAITING_SECONDS = 10.0, 300.0
_MAX_WAITING = 65536
# Seconds between two attempts to accept a connection after a failure.
_PAUSE_SECONDS = 0.1


class Encryption(NamedTuple):
    """TLS contexts of a worker's accepted and opened connections."""

    accepting: ssl.SSLContext
    opening: ssl.SSLContext


class Listener:
    """The listening socket of this process, and the accepted connections that no run has claimed yet."""

    def __init__(self, host: str, encryption: Encryption | None = None) -> None:
        self._encryption = encryption
        try:
            family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
            self._listener = socket.create_server((host, 0), family=family, backlog=1024)
        except OSError as error:
            raise ClusterError(
                f"a worker cannot listen at {host}, its own address in the cluster ({error}): start it with "
                "--host ADDRESS, or Worker(host=...), an address of its machine that the other workers reach"
            ) from None
        self.address: tuple[str, int] = host, self._listener.getsockname()[1]
        self._arrived: dict[tuple[bytes, int, int], tuple[socket.socket, float]] = {}
        self._condition = threading.Condition()
        self._open: dict[bytes, list[socket.socket]] = {}
        self._abandoned: dict[bytes, None] = {}
        threading.Thread(target=self._accept, name="hpgraph-listener", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                # Out of descriptors or memory; connections that end free some.
                time.sleep(_PAUSE_SECONDS)
                continue
            try:
                threading.Thread(target=self._accept_peer, args=(connection,), daemon=True).start()
            except RuntimeError:  # no more threads: the connection is refused, and its epoch restarts
                connection.close()
                time.sleep(_PAUSE_SECONDS)

    def _accept_peer(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(_HELLO_SECONDS)
            if self._encryption is not None:
                connection = self._encryption.accepting.wrap_socket(connection, server_side=True)
            hello = b""
            while len(hello) < _HELLO.size:
                more = connection.recv(_HELLO.size - len(hello))
                if not more:
                    raise ConnectionError("closed before it sent its token")
                hello += more
        except OSError:
            connection.close()
            return
        magic, token, caller, called = _HELLO.unpack(hello)
        now = time.monotonic()
        with self._condition:
            for key in [key for key, (_, since) in self._arrived.items() if now - since > _WAITING_SECONDS]:
                self._arrived.pop(key)[0].close()
            if magic != _MAGIC or token in self._abandoned or len(self._arrived) >= _MAX_WAITING:
                connection.close()
                return
            self._arrived[token, called, caller] = connection, now
            self._condition.notify_all()

    def call(self, address: tuple[str, int], token: bytes, caller: int, called: int, seconds: float) -> socket.socket:
        """Connect one block of a run to another block, at another listener."""
        try:
            connection = socket.create_connection(address, timeout=seconds)
            if self._encryption is not None:
                connection = self._encryption.opening.wrap_socket(connection)
            connection.sendall(_HELLO.pack(_MAGIC, token, caller, called))
        except OSError as error:
            raise PeerLostError(called, f"no answer at {address[0]}:{address[1]} ({error})") from None
        self._keep(token, connection)
        return connection

    def take(self, token: bytes, called: int, caller: int, seconds: float) -> socket.socket:
        """Wait for the connection of another block to this one."""
        key, deadline = (token, called, caller), time.monotonic() + seconds
        with self._condition:
            while key not in self._arrived:
                if token in self._abandoned:
                    raise PeerLostError(caller, "the run was abandoned")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ClusterTimeoutError("connect", seconds, f"block {caller} to connect to block {called}")
                self._condition.wait(left)
            connection = self._arrived.pop(key)[0]
        self._keep(token, connection)
        return connection

    def _keep(self, token: bytes, connection: socket.socket) -> None:
        with self._condition:
            abandoned = token in self._abandoned
            self._open.setdefault(token, []).append(connection)
        if abandoned:
            _close_connection(connection)

    def leave(self, token: bytes) -> None:
        """Drop the connections of a run that has ended; their users close them."""
        with self._condition:
            self._open.pop(token, None)

    def abandon(self, token: bytes) -> None:
        """End a run in this process: pending receives find their connections closed."""
        with self._condition:
            self._abandoned[token] = None
            while len(self._abandoned) > 1024:
                del self._abandoned[next(iter(self._abandoned))]
            for connection in self._open.pop(token, []):
                _close_connection(connection)
            self._condition.notify_all()


def _close_connection(connection: socket.socket) -> None:
    # Wakes threads that wait for it; closing it here would let its descriptor be reused. `SSLSocket.shutdown` would end
    # the encryption first, and what another thread sends in between would be readable.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


_listeners: dict[tuple[str, bool], Listener] = {}
_lock = threading.Lock()


def listener(worker: Any) -> Listener:
    """The listener of this process for a worker in it; opened on first use."""
    host, encrypted = place_of(worker.address)
    with _lock:
        found = _listeners.get((host, encrypted))
        if found is None:
            found = _listeners[host, encrypted] = Listener(host, _encryption(worker) if encrypted else None)
        return found


def _encryption(worker: Any) -> Encryption:
    security = worker.security
    accepting, opening = security.get_listen_args("worker"), security.get_connection_args("worker")
    found = Encryption(accepting["ssl_context"], opening["ssl_context"])
    if None in found:
        raise ClusterError(
            f"worker {worker.address} has TLS but no certificate to show other workers: give its Security tls_ca_file, "
            "tls_worker_cert and tls_worker_key"
        )
    return found


def place_of(address: str) -> tuple[str, bool]:
    """The host at which other workers reach a worker's listener, and whether connections to it are encrypted."""
    protocol, _, rest = address.rpartition("://")
    if protocol == "inproc":  # all workers are in one process
        return "127.0.0.1", False
    host = rest.rpartition(":")[0].strip("[]")
    # UCX is used for Dask's own messages only: kernels wait so little for the network that sockets suffice.
    if protocol not in ("tcp", "tls", "ucx", "ucxx") or not host:
        raise ClusterError(
            f"worker {address}: hpgraph's workers exchange messages over TCP or TLS, and find each other by addresses "
            "such as tcp://10.0.0.7:40123, tls://[fd00::7]:40123 or ucx://10.0.0.7:40123: start the cluster with "
            'protocol="tcp" or "tls"'
        )
    return host, protocol == "tls"


def listeners() -> list[Listener]:
    """All listeners of this process."""
    with _lock:
        return list(_listeners.values())
