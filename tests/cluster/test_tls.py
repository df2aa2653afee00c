"""A cluster on TLS: its own certificates, arrays between workers encrypted; a relay between the workers looks on."""

import contextlib
import datetime
import ipaddress
import shutil
import socket
import ssl
import subprocess
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hpgraph as hpg

distributed = pytest.importorskip("distributed")

from hpgraph.cluster.listener import Encryption, Listener  # noqa: E402


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key: by the package cryptography, else by the command openssl."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ImportError:
        if shutil.which("openssl") is None:
            pytest.skip("neither cryptography nor openssl makes certificates here")
        words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=hpgraph"
        subprocess.run([*words.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
        return certificate, key
    made = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hpgraph")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, made.public_key(), x509.random_serial_number(), now)
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(made, hashes.SHA256())
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    key.write_bytes(made.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return certificate, key


def _security(folder: Path) -> Any:
    certificate, key = map(str, _certificate(folder))
    roles = {f"tls_{role}_{what}": path for role in ("client", "scheduler", "worker")
             for what, path in (("cert", certificate), ("key", key))}  # fmt: skip
    return distributed.Security(tls_ca_file=certificate, require_encryption=True, **roles)


class Relay:
    """A port that passes everything on to another, and remembers it."""

    def __init__(self, host: str, port: int) -> None:
        self.seen, self._to = bytearray(), (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                one, _ = self._listener.accept()
                other = socket.create_connection(self._to)
                for ends in ((one, other), (other, one)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.seen += data
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()


def _announce(ports: dict[int, int]) -> None:
    """Have this worker's listener name a relay's port for its own; relays by the port that they lead to."""
    from hpgraph.cluster.listener import listeners

    for one in listeners():
        one.address = one.address[0], ports.get(one.address[1], one.address[1])


def _ports(dask_worker: Any = None) -> tuple[str, int]:
    from hpgraph.cluster.listener import listener

    return listener(dask_worker).address


@contextlib.contextmanager
def _watched(client: Any) -> Iterator[list[Relay]]:
    relays = [Relay(*address) for address in client.run(_ports).values()]
    client.run(_announce, {relay._to[1]: relay.port for relay in relays})
    try:
        yield relays
    finally:
        for relay in relays:
            relay.close()


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_bfs_and_pagerank(protocol: str, tmp_path: Path) -> None:
    graph = hpg.datasets.kron(12)
    source = int(graph.out_degree.argmax())
    security = {"security": _security(tmp_path)} if protocol == "tls" else {}
    with hpg.cluster.local(n_workers=2, threads=1, memory_limit="2 GiB", **security) as client:
        assert all(worker.startswith(f"{protocol}://") for worker in client.scheduler_info()["workers"])
        with _watched(client) as relays:
            divided = hpg.cluster.Graph.from_graph(client, graph)
            assert np.array_equal(divided.bfs(source).level, hpg.bfs(graph, source).level)
            # A few iterations send what all do.
            few = {"max_iteration": 3, "tol": 0}
            assert np.allclose(divided.pagerank(**few).rank, hpg.pagerank(graph, **few).rank, atol=1e-6)
            seen = b"".join(relay.seen for relay in relays)
    assert len(seen) > 50_000
    # Plain messages have their marks and repeat themselves; what is encrypted has no pattern to compress.
    plain = protocol == "tcp"
    assert (b"hpgS" in seen, b"hpg1" in seen) == (plain, plain)
    assert (len(zlib.compress(seen)) < 0.9 * len(seen)) == plain


def test_only_the_clusters_certificates_are_let_in(tmp_path: Path) -> None:
    def encryption(folder: str) -> Encryption:
        (tmp_path / folder).mkdir()
        security = _security(tmp_path / folder)
        both = security.get_listen_args("worker"), security.get_connection_args("worker")
        return Encryption(*(arguments["ssl_context"] for arguments in both))

    ours, another = encryption("ours"), encryption("another")
    listener, token = Listener("127.0.0.1", ours), b"t" * 16
    Listener("127.0.0.1", ours).call(listener.address, token, 1, 0, 20).close()
    listener.take(token, 0, 1, 20).close()
    for wrong in (None, another):
        with contextlib.suppress(hpg.cluster.ClusterError, ssl.SSLError):
            Listener("127.0.0.1", wrong).call(listener.address, token, 2, 0, 20)
        with pytest.raises(hpg.cluster.ClusterTimeoutError):
            listener.take(token, 0, 2, 0.5)
