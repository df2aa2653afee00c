"""The bundled graph and the generators, against SciPy, NetworkX-free counting and definitions written another way."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.kernels.sampling.recursive import recursion
from wheels import debian as make_debian

GENERATORS = {
    "kron": lambda **options: hpg.datasets.kron(10, 8, **options),
    "social": lambda **options: hpg.datasets.social(10, 8, **options),
    "uniform": lambda **options: hpg.datasets.uniform(10, 8, **options),
    "grid": lambda **options: hpg.datasets.grid(32, **options),
}


def arrays(G: hpg.Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    csr = G.out_csr
    return to_device(csr.indptr, "cpu"), to_device(csr.indices, "cpu"), to_device(csr.data, "cpu")


def matrix(G: hpg.Graph) -> scipy.sparse.csr_array:
    indptr, indices, data = arrays(G)
    data = np.ones(indices.size) if data is None else data
    return scipy.sparse.csr_array((data, indices, indptr), shape=(G.n_vertices,) * 2)


@pytest.fixture(scope="module")
def debian() -> hpg.Graph:
    return hpg.datasets.debian()


class TestDebian:
    def test_size_and_names(self, debian):
        assert (debian.n_vertices, debian.n_edges, debian.directed, debian.weighted) == (63436, 275492, True, False)
        names = [str(name) for name in debian.names]
        assert names == sorted(names)
        assert len(set(names)) == len(names)
        assert debian.index_of("libc6") == names.index("libc6")

    def test_arcs_are_those_of_the_package_list(self, debian):
        """Facts that ``apt-cache show`` on bookworm shows."""
        S = matrix(debian)

        def needs(name):
            row = S[[debian.index_of(name)], :]
            return {str(debian.names[j]) for j in row.indices}

        assert needs("libc6") == {"libgcc-s1"}
        assert {"libc6", "libgtk-3-0", "libnss3", "procps"} <= needs("firefox-esr")
        # awk is virtual: every package that provides it satisfies base-files.
        assert {"mawk", "gawk", "original-awk"} <= needs("base-files")
        assert needs("0ad-data-common") >= {"fonts-dejavu-core", "dpkg"}

    def test_no_loops_no_duplicates_sorted(self, debian):
        S = matrix(debian)
        assert S.has_canonical_format
        assert S.diagonal().sum() == 0

    def test_weaker_kinds_only_add(self, debian):
        more = hpg.datasets.debian(recommends=True)
        most = hpg.datasets.debian(recommends=True, suggests=True)
        assert (more.n_edges, most.n_edges) == (275492 + 34004, 275492 + 34004 + 30512)
        missing = matrix(debian) - matrix(debian).multiply(matrix(most))
        assert abs(missing).sum() == 0

    def test_weights_are_the_targets_size(self):
        G = hpg.datasets.debian(weighted=True)
        S = matrix(G)
        assert S.data.min() >= 1
        assert np.array_equal(S.data, np.rint(S.data))
        # One weight per target, for all its in-arcs.
        columns = S.tocsc()
        for name in ("libc6", "perl"):
            j = G.index_of(name)
            assert np.unique(columns.data[columns.indptr[j] : columns.indptr[j + 1]]).size == 1

    def test_on_the_device(self, debian, device):
        G = hpg.datasets.debian(device=device)
        assert G.device == device
        for ours, theirs in zip(arrays(G), arrays(debian), strict=True):
            assert (ours is None and theirs is None) or np.array_equal(ours, theirs)


class TestMakeDebian:
    LIST = """\
Package: shell
Version: 2
Installed-Size: 10
Depends: lib (>= 1.0), awk
Recommends: lib, editor | viewer:any
Provides: sh (= 2)

Package: shell
Version: 10
Installed-Size: 11
Depends: lib (>= 1.0),
 awk, shell, gone
Recommends: lib, editor | viewer:any
Suggests: editor

Package: lib
Version: 1
Pre-Depends: sh

Package: gawk
Version: 1
Provides: awk

Package: mawk
Version: 1
Provides: awk, sh

Package: editor
Version: 1
Depends: viewer [amd64]

Package: viewer
Version: 1
"""

    def graph(self, monkeypatch):
        # dpkg's order of versions, for this list, is that of the integers.
        monkeypatch.setattr(make_debian, "_is_later", lambda version, other: int(version) > int(other))
        packages = make_debian.newest(make_debian.parse_records(self.LIST))
        names = list(packages)
        return {(names[i], names[j], int(k)) for i, j, k in zip(*make_debian.relations(packages), strict=True)}

    def test_relations(self, monkeypatch):
        assert self.graph(monkeypatch) == {
            ("shell", "lib", 0), ("shell", "gawk", 0), ("shell", "mawk", 0), ("shell", "editor", 1),
            ("shell", "viewer", 1), ("lib", "mawk", 0), ("editor", "viewer", 0),
        }  # fmt: skip

    def test_file(self, monkeypatch, tmp_path):
        monkeypatch.setattr(make_debian, "_is_later", lambda version, other: int(version) > int(other))
        make_debian.make(self.LIST, tmp_path / "graph.npz")
        with np.load(tmp_path / "graph.npz") as stored:
            assert stored["names"].tobytes().decode().split() == ["editor", "gawk", "lib", "mawk", "shell", "viewer"]
            assert stored["out_degree"].tolist() == [1, 0, 1, 0, 5, 0]
            assert stored["indices"].tolist() == [5, 3, 0, 1, 2, 3, 5]
            assert stored["kind"].tolist() == [0, 0, 1, 0, 0, 0, 1]
            assert stored["installed_size"].tolist() == [0, 0, 0, 0, 11, 0]


class TestGenerators:
    @pytest.mark.parametrize("name", GENERATORS)
    def test_undirected_without_loops_or_duplicates(self, name, device):
        G = GENERATORS[name](device=device)
        S = matrix(G)
        assert (G.n_vertices, G.directed, G.device, G.weighted) == (1024, False, device, False)
        assert S.has_canonical_format and S.nnz == G.n_edges
        assert abs(S - S.T).sum() == 0
        assert S.diagonal().sum() == 0

    @pytest.mark.parametrize("name", GENERATORS)
    def test_weights(self, name, device):
        G = GENERATORS[name](device=device, weighted=True)
        S = matrix(G)
        assert G.weighted and S.dtype == np.float32
        assert abs(S - S.T).max() == 0
        assert np.array_equal(np.unique(S.data), np.arange(1, 65))
        indptr, indices, _ = arrays(GENERATORS[name](device=device))
        assert np.array_equal(indices, S.indices) and np.array_equal(indptr, S.indptr)

    @pytest.mark.parametrize("name", GENERATORS)
    def test_seed(self, name, device):
        first, again, other = (arrays(GENERATORS[name](device=device, seed=seed))[1] for seed in (11, 11, 12))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)

    @pytest.mark.parametrize("chances", [(0.57, 0.19, 0.19), (0.25, 0.25, 0.25), (0.5, 0.5, 0), (1, 0, 0), (0.1, 0, 0)])
    def test_paths_by_their_chances(self, chances):
        """The table's shares add up to the products of the chances of four levels."""
        found = np.zeros(256)
        for path, entry in enumerate(recursion(9, chances, 1).table.tolist()):
            found[path] += (entry >> 8) / 2**32
            found[entry % 256] += 1 / 256 - (entry >> 8) / 2**32
        for path in range(256):
            bits = [(path >> 4 + level & 1) * 2 + (path >> level & 1) for level in range(4)]
            expected = np.prod([[*chances, 1 - sum(chances)][bit] for bit in bits])
            assert found[path] == pytest.approx(expected, abs=1e-7)

    def test_kron_by_its_definition(self, device):
        """Edge by edge in plain Python, from the same random numbers."""
        scale, m, arcs = 9, 4 << 9, set()
        how = recursion(scale, (0.57, 0.19, 0.19), 2)
        for e in range(m):
            i = j = 0
            for word in range(2):
                h = (how.seed + (4 * e + word) * 0x9E3779B97F4A7C15) % 2**64
                h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 % 2**64
                h = (h ^ h >> 27) * 0x94D049BB133111EB % 2**64
                h ^= h >> 31
                for draw in (h % 2**32, h >> 32):
                    entry = int(how.table[draw % 256])
                    path = (draw if draw >> 8 < entry >> 8 else entry) % 256
                    i, j = 16 * i + path // 16, 16 * j + path % 16
            i, j = i >> 7, j >> 7
            for factor in how.factors:
                i, j = ((end * factor + (factor >> 32)) % 512 for end in (i, j))
                i, j = i ^ i >> 5, j ^ j >> 5
            if i != j:
                arcs |= {(i, j), (j, i)}
        S = matrix(hpg.datasets.kron(scale, 4, device=device)).tocoo()
        assert set(zip(S.row.tolist(), S.col.tolist(), strict=True)) == arcs

    @pytest.mark.parametrize("device", ["cuda"], indirect=True)
    @pytest.mark.parametrize("scale", [1, 4, 14, 17])
    def test_same_graph_on_both_devices(self, scale, device):
        one, other = (hpg.datasets.social(scale, 9, device=where) for where in ("cpu", device))
        assert all(map(np.array_equal, arrays(one), arrays(other)))

    def test_weights_by_their_definition(self):
        S = matrix(hpg.datasets.uniform(6, 4, weighted=True)).tocoo()
        for i, j, w in zip(S.row.tolist(), S.col.tolist(), S.data.tolist(), strict=True):
            h = (min(i, j) * 0x9E3779B97F4A7C15 ^ max(i, j) * 0xC2B2AE3D27D4EB4F) % 2**64
            h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9 % 2**64
            assert w == (h ^ h >> 32) % 64 + 1

    def test_degrees_distinguish_the_families(self, device):
        largest = {name: int(make(device=device).out_degree.max()) for name, make in GENERATORS.items()}
        assert largest["kron"] > largest["social"] > largest["uniform"] > largest["grid"]
        assert largest["grid"] <= 4

    def test_grid(self, device):
        full = matrix(hpg.datasets.grid(5, removed=0, device=device))
        expected = scipy.sparse.kronsum(*[scipy.sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(5, 5))] * 2)
        assert abs(full - expected).sum() == 0
        assert hpg.datasets.grid(5, removed=1, device=device).n_edges == 0
        share = hpg.datasets.grid(100, removed=0.3, device=device).n_edges / (4 * 100 * 99)
        assert abs(share - 0.7) < 0.02
        assert hpg.datasets.grid(1, device=device).n_vertices == 1

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: hpg.datasets.kron(0), ValueError, "scale must be from 1 to 31, not 0"),
            (lambda: hpg.datasets.kron(32), ValueError, "scale must be from 1 to 31"),
            (lambda: hpg.datasets.kron(10.0), TypeError, "scale must be a whole number, not 10.0"),
            (lambda: hpg.datasets.uniform(10, -1), ValueError, "edge_factor must be from 0"),
            (lambda: hpg.datasets.social(10, True), TypeError, "edge_factor must be a whole number, not True"),
            (lambda: hpg.datasets.grid(0), ValueError, "side must be from 1"),
            (lambda: hpg.datasets.grid(10, removed=1.5), ValueError, "removed must be a share from 0 to 1"),
            (lambda: hpg.datasets.kron(10, device="tpu"), ValueError, "device must be"),
            (lambda: hpg.datasets.kron(31, 1 << 20), hpg.DeviceMemoryError, "random graph needs"),
        ],
    )
    def test_bad_input(self, call, error, message):
        raises(error, message, call)

    def test_no_edges(self, device):
        assert hpg.datasets.kron(4, 0, device=device).n_edges == 0


def test_contacts():
    """Most of them within a class, in the hours of school days; runs of readings as badges give them."""
    T = hpg.datasets.contacts(40, 3000, classes=4, days=2, seed=1)
    assert (T.n_vertices, T.n_edges, T.directed, T.weight) == (40, 3000, False, None)
    assert (T.source != T.target).all() and (T.time % 20 == 0).all()
    assert 0.75 < (T.source % 4 == T.target % 4).mean() < 0.95
    assert ((T.time % 86400) < 8 * 3600 + 60 * 20).all() and set((T.time // 86400).tolist()) == {0, 1}
    pair = T.source * 40 + T.target
    order = np.argsort(pair, kind="stable")
    after = (np.diff(pair[order]) == 0) & (np.diff(T.time[order]) == 20)
    assert after.mean() > 0.2
    same = hpg.datasets.contacts(40, 3000, classes=4, days=2, seed=1)
    other = hpg.datasets.contacts(40, 3000, classes=4, days=2, seed=2)
    assert (T.source == same.source).all() and not (T.source == other.source).all()
    assert hpg.datasets.contacts(2, 0).n_edges == 0
    raises(ValueError, "people must be at least 2", hpg.datasets.contacts, 1)
    raises(TypeError, "days", hpg.datasets.contacts, days=1.5)
