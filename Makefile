# make demo     install into .venv and run everything once on the bundled graph
# make test     the tests                       make lint        ruff and mypy
# make docs     the site, into build/docs; warnings are errors
# make notebooks  run the notebooks and store what they print and draw
# make test-networkx  NetworkX's own tests, run on hpgraph
# make test-warmup  what README, guide and notebooks still compile after hpgraph warmup
# make test-matrix  the tests under every Python here, with the newest and the oldest versions
# make wheel    the wheel, into dist; the same for every system
# make kernels  a wheel of GPU kernels compiled ahead, for all architectures; no GPU needed
# make fuzz     some minutes of malformed files and the like   make fuzz-files N=10000 JOBS=16   forged graph files alone
# make bench    hpgraph beside its peers, CPU   make bench-gpu   the same on the GPU
#
# Where the GAP Benchmark Suite was built, make bench GAPBS_DIR=folder measures it too; python -m benchmarks lists the rest.
# PYTHON=python3.12 chooses the interpreter of a new .venv; ARGS=... goes to the command that is run.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# A driver of the 580 series or later runs CUDA 13; an older one CUDA 12, which the test extra does not go with.
DRIVER := $(shell nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 | cut -d. -f1)
ifeq ($(DRIVER),)
EXTRAS := test,plot
DEMO_EXTRAS := plot
else ifeq ($(shell test "$(DRIVER)" -ge 580 2>/dev/null && echo new),new)
EXTRAS := test,plot,cuda13
DEMO_EXTRAS := plot,cuda13
else
EXTRAS := check,plot,cuda12
DEMO_EXTRAS := plot,cuda12
endif

# On a terminal pip shows what it does; a log has its errors alone. Python makes bytecode of what is imported when it is:
# making it of all that is installed takes as long as the rest. Containers often tell it not to; then each of the hundreds
# of processes that the tests start would compile all of Numba anew, 2 s each.
unexport PYTHONDONTWRITEBYTECODE
PIP = $(BIN)/python -m pip install --disable-pip-version-check --no-compile $$(test -t 1 || echo --quiet)

.PHONY: install demo test test-networkx test-warmup test-matrix wheel kernels fuzz fuzz-files lint format docs notebooks bench bench-gpu clean

install: $(VENV)/installed $(VENV)/installed-tensors

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hpgraph needs Python 3.11 or later: make PYTHON=python3.12"; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module: apt-get install python3-venv"; exit 1; }

# UV=1 installs by uv, in half of pip's time; it does not read pip's settings, such as an index, and pip follows where it fails.
# A stamp is older than pyproject.toml exactly when what is installed may no longer be what is asked for.
$(VENV)/installed: pyproject.toml | $(BIN)/python
	@echo "installing hpgraph[$(EXTRAS)] into $(VENV)"
	@{ test "$(UV)" && $(PIP) 'uv>=0.5' && $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --editable '.[$(EXTRAS)]'; } || \
	  $(PIP) --editable '.[$(EXTRAS)]'
	@touch $@ $(VENV)/installed-demo

# What tests of hpgraph.torch and hpgraph.jax run on; they are skipped without. A plain torch for Linux brings gigabytes
# of CUDA libraries: its newest release for the CPU is installed there, which not every index has.
CPU_RELEASE = $(BIN)/python -m pip index --disable-pip-version-check versions torch 2>/dev/null | grep -o '[0-9.]*+cpu' | head -n 1
$(VENV)/installed-tensors: $(VENV)/installed
	@echo "installing PyTorch for the CPU, PyTorch Geometric and JAX into $(VENV)"
	@$(PIP) jax || echo "JAX cannot be installed here: its tests are skipped"
	@torch=torch; \
	  if test "$$(uname)" = Linux && ! $(BIN)/python -m pip show --quiet torch 2>/dev/null; \
	    then cpu=$$($(CPU_RELEASE)); torch=$${cpu:+torch==$$cpu}; fi; \
	  { test "$$torch" && $(PIP) "$$torch" torch_geometric; } || \
	    echo "PyTorch for the CPU cannot be installed here: its tests are skipped; rm $@ to try again"
	@touch $@

# A small part of what the tests need.
$(VENV)/installed-demo: pyproject.toml | $(BIN)/python
	@echo "installing hpgraph[$(DEMO_EXTRAS)] into $(VENV)"
	@$(PIP) --editable '.[$(DEMO_EXTRAS)]'
	@touch $@

demo: $(VENV)/installed-demo
	@$(BIN)/python -m hpgraph.demo $(ARGS)

# Half of the time goes into compiling kernels, one thread each: a process for every two cores, from two to eight, a file
# of tests at a time to each, in the order of tests/conftest.py, which has the longest first.
# Were one to die, pytest-xdist would hand on its files and then wait for tests that nobody has: the run ends there instead.
PROCESSES ?= $(shell n=$$(( $$(getconf _NPROCESSORS_ONLN) / 2 )); echo $$(( n < 2 ? 2 : n > 8 ? 8 : n )))
test: install
	@$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(ARGS)

# NetworkX's own tests, on its backend hpgraph: some twenty minutes.
test-networkx: install
	@$(BIN)/python -m tests.networkx_suite $(ARGS)

# In an empty cache of its own: some minutes.
test-warmup: install
	@$(BIN)/python -m tests.after_warmup $(ARGS)

# A virtual environment for each, in build/matrix: hours of processor time.
test-matrix: $(VENV)/installed
	@$(PIP) 'uv>=0.5'
	@$(BIN)/python -m tests.matrix $(ARGS)

wheel: $(BIN)/python
	@$(PIP) 'build>=1.2'
	@$(BIN)/python -m build --wheel --outdir dist

# For the compiler's release that is installed, and CuPy's version; python -m wheels.kernels record, on a GPU, lists what to compile.
kernels: install
	@$(BIN)/python -m wheels.kernels build $(ARGS)

fuzz: install
	@$(BIN)/python -m tests.fuzz $(ARGS)

# Each job is a process with an equal share of the cores; ARGS="--seed 1" for other files.
N ?= 10000
JOBS ?= 1
fuzz-files: install
	@$(BIN)/python -m tests.fuzz.forged_files --cases $(N) --jobs $(JOBS) $(ARGS)

# Of PyTorch and JAX mypy reads nothing.
lint: $(VENV)/installed
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m mypy --package hpgraph
	@$(BIN)/python -m mypy tests/typed_use.py

format: install
	@$(BIN)/python -m ruff check --fix . ; $(BIN)/python -m ruff format .

# From nothing each time, in some 20 s: what was made from a name that is gone must not stay.
docs: $(VENV)/installed-docs
	@rm -rf build/docs docs/reference/generated docs/notebooks
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d build/doctrees docs build/docs $(ARGS)
	@echo "build/docs/index.html"

notebooks: install
	@$(BIN)/python notebooks/store.py $(ARGS)

bench: $(VENV)/installed-bench
	@$(BIN)/python -m benchmarks cpu $(ARGS)

bench-gpu: install
	@$(BIN)/python -m benchmarks gpu --graphs + $(ARGS)

$(VENV)/installed-bench: $(VENV)/installed
	@echo "installing the peers into $(VENV)"
	@$(PIP) --editable '.[bench]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@echo "installing what builds the site into $(VENV)"
	@$(PIP) --editable '.[docs]'
	@touch $@

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache docs/reference/generated docs/notebooks $(VENV)
